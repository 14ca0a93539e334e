//! The captured programs. Each is a test that does nothing outside a capture.

use std::env;
use std::process::Command;
use std::ptr;

use crate::api::{Library, call};
use crate::common::is_captured;
use crate::fat_binary::{KERNELS, Wrapper, container};

const TO_DEVICE: u32 = 1;
const TO_HOST: u32 = 2;

/// `dim3`
#[repr(C)]
#[derive(Clone, Copy)]
struct Dim3(u32, u32, u32);

/// The runtime, and the handle of the registered fat binary.
struct Cuda {
    library: Library,
    binary: u64,
}

/// Stand-ins for the host functions and variables that a compiler emits.
static STUBS: [u8; 8] = [0; 8];

fn stub(number: usize) -> usize {
    ptr::from_ref(&STUBS[number]).expose_provenance()
}

const SAXPY: usize = 0;
const COUNT: usize = 1;
const SCALE: usize = 2;
const FETCH: usize = 3;
const UNKNOWN: usize = 4;
const COUNTER: usize = 5;
const FACTORS: usize = 6;

impl Cuda {
    /// Registers the fat binary, like the code that runs before `main`; `None` outside a capture.
    fn start() -> Option<Cuda> {
        if !is_captured() {
            return None;
        }
        let library = Library::open(c"libcudart.so.13");
        let wrapper = Wrapper::of(container(KERNELS, 70));
        // SAFETY: the manual gives the function this type.
        let register: unsafe extern "C" fn(*const Wrapper) -> u64 =
            unsafe { library.function("__cudaRegisterFatBinary") };
        // SAFETY: the wrapper is as compilers emit it.
        let binary = unsafe { register(wrapper) };
        let cuda = Cuda { library, binary };
        for (number, name) in [
            (SAXPY, c"saxpy"),
            (COUNT, c"count"),
            (SCALE, c"scale"),
            (FETCH, c"fetch"),
            (UNKNOWN, c"unknown"),
        ] {
            let null = ptr::null::<u8>();
            call!(cuda.library, "__cudaRegisterFunction"(
                binary => u64, stub(number) => usize, null => *const u8, name.as_ptr() => *const i8,
                -1 => i32, null => *const u8, null => *const u8, null => *const u8,
                null => *const u8, null => *const u8
            ));
        }
        for (number, name) in [(COUNTER, c"counter"), (FACTORS, c"factors")] {
            call!(cuda.library, "__cudaRegisterVar"(
                binary => u64, stub(number) => usize, ptr::null() => *const u8,
                name.as_ptr() => *const i8, 0 => i32, 4 => usize, 0 => i32, 0 => i32
            ));
        }
        call!(cuda.library, "__cudaRegisterFatBinaryEnd"(binary => u64));
        Some(cuda)
    }

    fn malloc(&self, bytes: usize) -> u64 {
        let mut address = 0;
        assert_eq!(
            call!(self.library, "cudaMalloc"(&raw mut address => *mut u64, bytes => usize)),
            0
        );
        address
    }

    fn upload(&self, values: &[f32]) -> u64 {
        let address = self.malloc(4 * values.len());
        let copied = call!(self.library, "cudaMemcpy"(
            address => u64, values.as_ptr() => *const f32, 4 * values.len() => usize,
            TO_DEVICE => u32
        ));
        assert_eq!(copied, 0);
        address
    }

    fn download(&self, address: u64, length: usize) -> Vec<f32> {
        let mut values = vec![0.0; length];
        let copied = call!(self.library, "cudaMemcpy"(
            values.as_mut_ptr() => *mut f32, address => u64, 4 * length => usize, TO_HOST => u32
        ));
        assert_eq!(copied, 0);
        values
    }

    fn launch(&self, kernel: usize, grid: u32, block: u32, arguments: &[*const u8]) -> u32 {
        call!(self.library, "cudaLaunchKernel"(
            stub(kernel) => usize, Dim3(grid, 1, 1) => Dim3, Dim3(block, 1, 1) => Dim3,
            arguments.as_ptr() => *const *const u8, 0 => usize, 0 => u64
        ))
    }

    fn saxpy(&self, a: f32, x: u64, y: u64, n: u32) -> u32 {
        let arguments = [
            ptr::from_ref(&a).cast(),
            ptr::from_ref(&x).cast(),
            ptr::from_ref(&y).cast(),
            ptr::from_ref(&n).cast(),
        ];
        self.launch(SAXPY, n.div_ceil(128), 128, &arguments)
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        call!(self.library, "__cudaUnregisterFatBinary"(self.binary => u64));
    }
}

#[test]
#[ignore = "runs only inside a capture"]
fn saxpy() {
    let Some(cuda) = Cuda::start() else { return };
    let x: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let (on_device, y) = (cuda.upload(&x), cuda.upload(&x));
    for _ in 0..3 {
        assert_eq!(cuda.saxpy(2.0, on_device, y, 1000), 0);
    }
    assert_eq!(cuda.launch(COUNT, 2, 32, &[]), 0);
    assert_eq!(call!(cuda.library, "cudaDeviceSynchronize"()), 0);
    let y = cuda.download(y, 1000);
    assert!(x.iter().zip(&y).all(|(x, y)| *y == 7.0 * x));
}

#[test]
#[ignore = "runs only inside a capture"]
fn everything() {
    let Some(cuda) = Cuda::start() else { return };
    variables(&cuda);
    memory(&cuda);
    texture(&cuda);
    times(&cuda);
    device(&cuda);
}

fn variables(cuda: &Cuda) {
    assert_eq!(cuda.launch(COUNT, 1, 32, &[]), 0);
    let mut counter = 0u32;
    let copied = call!(cuda.library, "cudaMemcpyFromSymbol"(
        &raw mut counter => *mut u32, stub(COUNTER) => usize, 4 => usize, 0 => usize, TO_HOST => u32
    ));
    assert_eq!((copied, counter), (0, 5 + 32));
    // The last of four factors is overwritten.
    let factor = 10f32;
    let copied = call!(cuda.library, "cudaMemcpyToSymbol"(
        stub(FACTORS) => usize, &raw const factor => *const f32, 4 => usize, 12 => usize,
        TO_DEVICE => u32
    ));
    assert_eq!(copied, 0);
    let y = cuda.upload(&[1.0; 4]);
    assert_eq!(cuda.launch(SCALE, 1, 4, &[ptr::from_ref(&y).cast()]), 0);
    assert_eq!(cuda.download(y, 4), [1.0, 2.0, 3.0, 10.0]);
    let mut size = 0usize;
    call!(cuda.library, "cudaGetSymbolSize"(&raw mut size => *mut usize, stub(FACTORS) => usize));
    assert_eq!(size, 16);
    // Beyond the variable, and an unknown variable.
    let beyond = call!(cuda.library, "cudaMemcpyToSymbol"(
        stub(FACTORS) => usize, &raw const factor => *const f32, 4 => usize, 16 => usize,
        TO_DEVICE => u32
    ));
    assert_eq!(beyond, 1);
    let none = call!(cuda.library, "cudaGetSymbolSize"(&raw mut size => *mut usize, 7 => usize));
    assert_eq!(none, 13);
}

fn memory(cuda: &Cuda) {
    // The host can access managed memory.
    let mut managed = 0u64;
    let made = call!(cuda.library, "cudaMallocManaged"(
        &raw mut managed => *mut u64, 32 => usize, 1 => u32
    ));
    assert_eq!(made, 0);
    let place = ptr::with_exposed_provenance_mut::<f32>(managed as usize);
    // SAFETY: the program owns 32 bytes there, and no kernel runs.
    unsafe { place.write(2.0) };
    let x = cuda.upload(&[1.0; 8]);
    assert_eq!(cuda.saxpy(3.0, x, managed, 8), 0);
    // SAFETY: as above.
    assert_eq!(unsafe { place.read() }, 5.0);
    // Rows of a rectangle.
    let (mut rows, mut pitch) = (0u64, 0usize);
    call!(cuda.library, "cudaMallocPitch"(
        &raw mut rows => *mut u64, &raw mut pitch => *mut usize, 12 => usize, 2 => usize
    ));
    assert!(pitch >= 12 && pitch.is_multiple_of(512));
    let from = [1f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let copied = call!(cuda.library, "cudaMemcpy2D"(
        rows => u64, pitch => usize, from.as_ptr() => *const f32, 12 => usize, 12 => usize,
        2 => usize, TO_DEVICE => u32
    ));
    assert_eq!(copied, 0);
    assert_eq!(cuda.download(rows + pitch as u64, 3), [4.0, 5.0, 6.0]);
    // Freed memory is allocated again; an unknown address cannot be freed.
    assert_eq!(call!(cuda.library, "cudaFree"(x => u64)), 0);
    assert_eq!(call!(cuda.library, "cudaFree"(x => u64)), 1);
    assert_eq!(call!(cuda.library, "cudaGetLastError"()), 1);
    assert_eq!(call!(cuda.library, "cudaGetLastError"()), 0);
    assert_eq!(cuda.malloc(32), x);
    assert_eq!(cuda.download(x, 8), [0.0; 8]);
    // The device has one pool with settable attributes.
    let (mut pool, threshold, mut pooled) = (0u64, u64::MAX, 0u64);
    let pools = &cuda.library;
    assert_eq!(call!(pools, "cudaDeviceGetDefaultMemPool"(&raw mut pool => *mut u64, 0 => i32)), 0);
    let set = call!(pools, "cudaMemPoolSetAttribute"(
        pool => u64, 4 => u32, &raw const threshold => *const u64
    ));
    let made = call!(pools, "cudaMallocFromPoolAsync"(
        &raw mut pooled => *mut u64, 8 => usize, pool => u64, 0 => u64
    ));
    assert_eq!((set, made, call!(pools, "cudaFreeAsync"(pooled => u64, 0 => u64))), (0, 0, 0));
    // Registered host memory has a device address.
    let host: &'static mut [f32] = vec![1.0; 8].leak();
    let (first, mut address) = (host.as_mut_ptr(), 0u64);
    call!(cuda.library, "cudaHostRegister"(first => *mut f32, 32 => usize, 0 => u32));
    call!(cuda.library, "cudaHostGetDevicePointer"(
        &raw mut address => *mut u64, first => *mut f32, 0 => u32
    ));
    assert_eq!(cuda.saxpy(3.0, address, address, 8), 0);
    assert_eq!(call!(cuda.library, "cudaHostUnregister"(first => *mut f32)), 0);
    // SAFETY: the device no longer uses the memory.
    assert_eq!(unsafe { first.read() }, 4.0);
}

/// `cudaResourceDesc` of an array.
#[repr(C)]
struct OfArray {
    kind: u32,
    array: u64,
    rest: [u64; 6],
}

fn texture(cuda: &Cuda) {
    // 32 bits of x, kind 2: floating point.
    let channels = [32i32, 0, 0, 0, 2];
    let mut array = 0u64;
    let made = call!(cuda.library, "cudaMallocArray"(
        &raw mut array => *mut u64, channels.as_ptr() => *const i32, 4 => usize, 2 => usize,
        0 => u32
    ));
    assert_eq!(made, 0);
    let texels = [0f32, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
    let copied = call!(cuda.library, "cudaMemcpy2DToArray"(
        array => u64, 0 => usize, 0 => usize, texels.as_ptr() => *const f32, 16 => usize,
        16 => usize, 2 => usize, TO_DEVICE => u32
    ));
    assert_eq!(copied, 0);
    let (resource, how, mut texture) = (
        OfArray { kind: 0, array, rest: [0; 6] },
        [1i32, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        0u64,
    );
    let made = call!(cuda.library, "cudaCreateTextureObject"(
        &raw mut texture => *mut u64, &raw const resource => *const OfArray,
        how.as_ptr() => *const i32, 0 => u64
    ));
    assert_eq!(made, 0);
    let y = cuda.upload(&[0.0; 4]);
    let arguments = [ptr::from_ref(&texture).cast(), ptr::from_ref(&y).cast()];
    assert_eq!(cuda.launch(FETCH, 1, 4, &arguments), 0);
    assert_eq!(cuda.download(y, 4), [4.0, 5.0, 6.0, 7.0]);
    assert_eq!(call!(cuda.library, "cudaDestroyTextureObject"(texture => u64)), 0);
    assert_eq!(call!(cuda.library, "cudaFreeArray"(array => u64)), 0);
}

fn times(cuda: &Cuda) {
    let (mut start, mut end, mut stream) = (0u64, 0u64, 0u64);
    call!(cuda.library, "cudaEventCreate"(&raw mut start => *mut u64));
    call!(cuda.library, "cudaEventCreate"(&raw mut end => *mut u64));
    assert_eq!(call!(cuda.library, "cudaStreamCreate"(&raw mut stream => *mut u64)), 0);
    assert_eq!(call!(cuda.library, "cudaEventRecord"(start => u64, stream => u64)), 0);
    assert_eq!(cuda.launch(COUNT, 1, 32, &[]), 0);
    assert_eq!(call!(cuda.library, "cudaEventRecord"(end => u64, stream => u64)), 0);
    let mut milliseconds = 0f32;
    let elapsed = call!(cuda.library, "cudaEventElapsedTime"(
        &raw mut milliseconds => *mut f32, start => u64, end => u64
    ));
    // The kernel takes a microsecond, plus a nanosecond for each of its two instructions.
    assert_eq!((elapsed, milliseconds), (0, 0.002_002));
    assert_eq!(call!(cuda.library, "cudaStreamDestroy"(stream => u64)), 0);
    assert_eq!(call!(cuda.library, "cudaStreamSynchronize"(stream => u64)), 400);
}

fn device(cuda: &Cuda) {
    let (mut properties, mut sms) = ([0u8; 1008], 0i32);
    call!(cuda.library, "cudaGetDeviceProperties"(properties.as_mut_ptr() => *mut u8, 0 => i32));
    assert!(properties.starts_with(b"a device of the tests\0"));
    call!(cuda.library, "cudaDeviceGetAttribute"(&raw mut sms => *mut i32, 16 => u32, 0 => i32));
    assert_eq!(sms, 7);
    assert_eq!(call!(cuda.library, "cudaSetDevice"(1 => i32)), 101);
    let mut room = 0u32;
    let asked = call!(cuda.library, "cudaOccupancyMaxActiveBlocksPerMultiprocessor"(
        &raw mut room => *mut u32, stub(SAXPY) => usize, 256 => u32, 0 => usize
    ));
    assert_eq!((asked, room), (0, 4));
}

#[test]
#[ignore = "runs only inside a capture"]
fn faulty() {
    let Some(cuda) = Cuda::start() else { return };
    let x = cuda.upload(&[1.0; 100]);
    assert_eq!(cuda.saxpy(1.0, x, x, 100), 0);
    // Not supported: the program gets a status and continues.
    assert_eq!(cuda.launch(UNKNOWN, 1, 1, &[]), 801);
    assert_eq!(cuda.saxpy(1.0, x, x, 100), 0);
    // Beyond the end of an allocation: every later call fails.
    assert_eq!(cuda.saxpy(1.0, x, x + (1 << 30), 100), 700);
    assert_eq!(cuda.saxpy(1.0, x, x, 100), 700);
    assert_eq!(call!(cuda.library, "cudaDeviceSynchronize"()), 700);
}

#[test]
#[ignore = "runs only inside a capture"]
fn crashing() {
    let Some(cuda) = Cuda::start() else { return };
    let x = cuda.upload(&[1.0; 100]);
    for _ in 0..2 {
        assert_eq!(cuda.saxpy(1.0, x, x, 100), 0);
    }
    std::process::abort();
}

/// Checks that a child of a process that has used the runtime cannot use it.
#[test]
#[ignore = "runs only inside a capture"]
fn forking() {
    let Some(cuda) = Cuda::start() else { return };
    let x = cuda.upload(&[1.0; 100]);
    assert_eq!(cuda.saxpy(1.0, x, x, 100), 0);
    // SAFETY: the child calls one function and exits.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let mut address = 0;
        let status = call!(cuda.library, "cudaMalloc"(&raw mut address => *mut u64, 4 => usize));
        // SAFETY: exits the child without the parent's exit handlers.
        unsafe { libc::_exit(status as i32) };
    }
    let mut status = 0;
    // SAFETY: waits for the child.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(libc::WEXITSTATUS(status), 3);
    assert_eq!(cuda.saxpy(1.0, x, x, 100), 0);
}

/// A recorded process that runs another, which is not recorded, and one that follows.
#[test]
#[ignore = "runs only inside a capture"]
fn several() {
    let Some(cuda) = Cuda::start() else { return };
    let other = || {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "program::saxpy", "--ignored", "--test-threads=1"]);
        assert!(command.status().unwrap().success());
    };
    // Before its first use of the runtime, this process is not the recorded one.
    other();
    let x = cuda.upload(&[1.0; 100]);
    assert_eq!(cuda.saxpy(1.0, x, x, 100), 0);
    other();
}
