//! Table of the driver's functions, resolved by name when the library is loaded.
#![allow(unsafe_code, reason = "functions of C are found by name, and have the manual's types")]

use std::ffi::{CStr, OsStr, c_char, c_int, c_uint, c_void};
use std::mem::ManuallyDrop;
use std::ptr;

use libloading::Library;

use super::error::DriverError;

/// Result code of a driver function; 0 is success.
pub type Status = c_uint;
/// Address in device memory.
pub type Address = u64;
/// Handle of a context, module, kernel, event or stream.
pub type Handle = *mut c_void;

macro_rules! functions {
    ($($field:ident = $name:literal($($type:ty),* $(,)?);)*) => {
        /// The functions and the library that defines them. The library is never unloaded: a driver keeps
        /// threads and mappings that outlive a context.
        pub struct Functions {
            $(pub $field: unsafe extern "C" fn($($type),*) -> Status,)*
            _library: ManuallyDrop<Library>,
        }

        impl Functions {
            fn of(library: Library, path: &OsStr) -> Result<Functions, DriverError> {
                Ok(Functions {
                    $($field: {
                        // SAFETY: the type is the one that the manual gives for this name.
                        let found = unsafe { library.get(concat!($name, "\0")) };
                        *found.map_err(|source| DriverError::NoFunction {
                            library: path.display().to_string(),
                            function: $name,
                            source,
                        })?
                    },)*
                    _library: ManuallyDrop::new(library),
                })
            }
        }
    };
}

functions! {
    init = "cuInit"(c_uint);
    driver_version = "cuDriverGetVersion"(*mut c_int);
    error_name = "cuGetErrorName"(Status, *mut *const c_char);
    error_text = "cuGetErrorString"(Status, *mut *const c_char);
    device_count = "cuDeviceGetCount"(*mut c_int);
    device = "cuDeviceGet"(*mut c_int, c_int);
    device_name = "cuDeviceGetName"(*mut c_char, c_int, c_int);
    device_attribute = "cuDeviceGetAttribute"(*mut c_int, c_uint, c_int);
    device_memory = "cuDeviceTotalMem_v2"(*mut usize, c_int);
    retain_context = "cuDevicePrimaryCtxRetain"(*mut Handle, c_int);
    release_context = "cuDevicePrimaryCtxRelease_v2"(c_int);
    set_context = "cuCtxSetCurrent"(Handle);
    synchronize = "cuCtxSynchronize"();
    load_module = "cuModuleLoadDataEx"(
        *mut Handle, *const c_void, c_uint, *const c_uint, *mut *mut c_void,
    );
    unload_module = "cuModuleUnload"(Handle);
    module_function = "cuModuleGetFunction"(*mut Handle, Handle, *const c_char);
    set_function_attribute = "cuFuncSetAttribute"(Handle, c_uint, c_int);
    allocate = "cuMemAlloc_v2"(*mut Address, usize);
    free = "cuMemFree_v2"(Address);
    copy_to_device = "cuMemcpyHtoD_v2"(Address, *const c_void, usize);
    copy_to_host = "cuMemcpyDtoH_v2"(*mut c_void, Address, usize);
    create_event = "cuEventCreate"(*mut Handle, c_uint);
    record_event = "cuEventRecord"(Handle, Handle);
    elapsed = "cuEventElapsedTime"(*mut f32, Handle, Handle);
    destroy_event = "cuEventDestroy_v2"(Handle);
    launch = "cuLaunchKernel"(
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle,
        *mut *mut c_void, *mut *mut c_void,
    );
}

impl Functions {
    /// Loads the driver's library.
    ///
    /// # Errors
    /// When the library is missing or lacks a function, and in a static program.
    pub fn load(path: &OsStr) -> Result<Functions, DriverError> {
        if cfg!(target_feature = "crt-static") {
            return Err(DriverError::StaticProgram);
        }
        // SAFETY: loads the library that the user names as the driver, as every CUDA program does.
        let library = unsafe { Library::new(path) };
        let library = library.map_err(|source| DriverError::NoDriver {
            library: path.display().to_string(),
            source,
        })?;
        Functions::of(library, path)
    }

    /// Turns a failure status into an error that names the function.
    ///
    /// # Errors
    /// When the status is not success.
    pub fn check(&self, function: &'static str, status: Status) -> Result<(), DriverError> {
        match status {
            0 => Ok(()),
            status => Err(DriverError::Call { function, what: self.describe(status) }),
        }
    }

    /// Formats a status: `CUDA_ERROR_INVALID_PTX (218): a PTX JIT compilation failed`
    pub fn describe(&self, status: Status) -> String {
        let (mut name, mut text) = (ptr::null(), ptr::null());
        // SAFETY: both pointers are valid for writes; the driver writes null for an unknown status.
        unsafe {
            (self.error_name)(status, &raw mut name);
            (self.error_text)(status, &raw mut text);
        }
        let [name, text] = [name, text].map(|text| {
            // SAFETY: the driver's text is static and ends with a zero byte.
            let text = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) });
            text.map_or("unknown".into(), CStr::to_string_lossy)
        });
        format!("{name} ({status}): {text}")
    }
}
