//! The only device.

use std::ffi::{CStr, c_char};
use std::fs;

use crate::context::{self, Engine, Release, properties};
use crate::embedded;
use crate::host;
use crate::runtime::Address;
use crate::status::{Outcome, Status};

/// Reported PCI address.
pub const PCI_BUS_ID: &CStr = c"0000:01:00.0";

/// Initial limits by number, bytes: a thread's stack, the buffer of `printf`, the heap of `malloc`.
pub const DEVICE_LIMITS: [usize; 3] = [1024, 1 << 20, 8 << 20];

/// Fails for every device but the first.
pub fn check(device: i32) -> Outcome<()> {
    if device == 0 { Ok(()) } else { Err(Status::INVALID_DEVICE.into()) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaGetDeviceCount(to: *mut i32) -> Status {
    // SAFETY: guaranteed by the caller.
    context::run_and_note(|_, _| unsafe { host::put(to, 1) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaGetDevice(to: *mut i32) -> Status {
    // SAFETY: guaranteed by the caller.
    context::run_and_note(|_, _| unsafe { host::put(to, 0) })
}

#[unsafe(no_mangle)]
extern "C" fn cudaSetDevice(device: i32) -> Status {
    context::run_and_note(|_, _| check(device))
}

#[unsafe(no_mangle)]
extern "C" fn cudaInitDevice(device: i32, _flags: u32, _: u32) -> Status {
    context::run_and_note(|_, _| check(device))
}

#[unsafe(no_mangle)]
extern "C" fn cudaCtxResetPersistingL2Cache() -> Status {
    context::run_and_note(|engine, _| {
        engine.reset_l2();
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaChooseDevice(to: *mut i32, _wanted: Address) -> Status {
    // SAFETY: guaranteed by the caller.
    context::run_and_note(|_, _| unsafe { host::put(to, 0) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaDeviceGetAttribute(to: *mut i32, number: u32, device: i32) -> Status {
    context::run_and_note(|engine, _| {
        check(device)?;
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to, context::attribute(engine.device(), number)?) }
    })
}

/// Returns the runtime release of the program: the embedded runtime's, or else the one in the library name
/// under which the program found this library.
fn release() -> (Release, i32) {
    if let Some(number) = embedded::release() {
        let form = match number {
            13_000.. => Release::Cuda13,
            12_000.. => Release::Cuda12,
            _ => Release::Cuda11,
        };
        return (form, number);
    }
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let has = |name: &str| maps.contains(&format!("libcudart.so.{name}"));
    match () {
        () if has("13") => (Release::Cuda13, 13_000),
        () if has("12") => (Release::Cuda12, 12_090),
        () if has("11") => (Release::Cuda11, 11_080),
        () if has("10") || has("9") || has("8") || has("7") => (Release::Cuda11, 10_020),
        () => (Release::Cuda13, 13_000),
    }
}

/// Writes the device properties.
///
/// # Safety
/// `to` is null or points to the structure of the release.
unsafe fn put_properties(engine: &Engine, to: *mut u8, release: Release) -> Outcome<()> {
    let bytes = properties(engine.device(), release);
    // SAFETY: guaranteed by the caller.
    unsafe { host::copy(to, bytes.as_ptr(), bytes.len()) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaGetDeviceProperties(to: *mut u8, device: i32) -> Status {
    context::run_and_note(|engine, _| {
        check(device)?;
        // CUDA 12 has a separate function for its layout.
        let release = match release().0 {
            Release::Cuda13 => Release::Cuda13,
            Release::Cuda11 | Release::Cuda12 => Release::Cuda11,
        };
        // SAFETY: guaranteed by the caller.
        unsafe { put_properties(engine, to, release) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaGetDeviceProperties_v2(to: *mut u8, device: i32) -> Status {
    context::run_and_note(|engine, _| {
        check(device)?;
        // SAFETY: guaranteed by the caller.
        unsafe { put_properties(engine, to, Release::Cuda12) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaDriverGetVersion(to: *mut i32) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { host::put(to, 13_000) }.map_or_else(|failure| failure.status, |()| Status::SUCCESS)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaRuntimeGetVersion(to: *mut i32) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { host::put(to, release().1) }
        .map_or_else(|failure| failure.status, |()| Status::SUCCESS)
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceReset() -> Status {
    context::run_and_note(|engine, _| {
        engine.reset();
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaThreadExit() -> Status {
    cudaDeviceReset()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaDeviceCanAccessPeer(to: *mut i32, _device: i32, _peer: i32) -> Status {
    // SAFETY: guaranteed by the caller.
    context::run_and_note(|_, _| unsafe { host::put(to, 0) })
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceEnablePeerAccess(_peer: i32, _flags: u32) -> Status {
    context::run_and_note(|_, _| Err(Status::PEER_ACCESS.into()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceDisablePeerAccess(_peer: i32) -> Status {
    context::run_and_note(|_, _| Err(Status::PEER_ACCESS.into()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaDeviceGetPCIBusId(to: *mut c_char, length: i32, device: i32) -> Status {
    context::run_and_note(|_, _| {
        check(device)?;
        let name = PCI_BUS_ID.to_bytes_with_nul();
        if (length as usize) < name.len() {
            return Err(Status::INVALID_VALUE.into());
        }
        // SAFETY: guaranteed by the caller.
        unsafe { host::copy(to.cast(), name.as_ptr(), name.len()) }
    })
}

/// Writes a limit.
///
/// # Safety
/// `to` is null or valid for writes.
#[unsafe(no_mangle)]
unsafe extern "C" fn cudaDeviceGetLimit(to: *mut usize, limit: u32) -> Status {
    context::run_and_note(|_, _| {
        let value = DEVICE_LIMITS.get(limit as usize).copied().unwrap_or_default();
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to, value) }
    })
}

/// Defines functions that write 0 for an unset option.
macro_rules! zero {
    ($($name:ident),* $(,)?) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name(to: *mut u32) -> Status {
                // SAFETY: guaranteed by the caller.
                context::run_and_note(|_, _| unsafe { host::put(to, 0) })
            }
        )*
    };
}

zero!(cudaDeviceGetCacheConfig, cudaDeviceGetSharedMemConfig, cudaGetDeviceFlags);
