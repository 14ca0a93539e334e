//! Calls the C functions, found by name in the library that the loader returns for a release's name.

use std::ffi::{CStr, CString, c_char, c_void};

/// A library opened by the loader.
pub struct Library(*mut c_void);

impl Library {
    pub fn open(name: &CStr) -> Library {
        // SAFETY: the name ends with a zero byte; test libraries have no initializers that matter.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW) };
        assert!(!handle.is_null(), "{name:?} cannot be loaded");
        Library(handle)
    }

    /// Returns a function, as the type the caller gives.
    ///
    /// # Safety
    /// The function must have this type.
    pub unsafe fn function<T: Copy>(&self, name: &str) -> T {
        let name = CString::new(name).unwrap();
        // SAFETY: the library is open, and the name ends with a zero byte.
        let address = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        assert!(!address.is_null(), "there is no {name:?}");
        // SAFETY: a function pointer is as wide as an address, and the caller guarantees its type.
        unsafe { std::mem::transmute_copy(&address) }
    }
}

/// Calls a function of a library: `call!(library, "cudaFree"(address: u64))`, which returns a `u32`.
macro_rules! call {
    ($library:expr, $name:literal ($($value:expr => $type:ty),* $(,)?)) => {{
        type Function = unsafe extern "C" fn($($type),*) -> u32;
        // SAFETY: the manual gives the function this type.
        let function: Function = unsafe { $library.function($name) };
        // SAFETY: the arguments are as the manual requires.
        unsafe { function($($value),*) }
    }};
}
pub(crate) use call;

/// Opens the driver, with the primary context current.
pub fn open_driver() -> Library {
    let driver = Library::open(c"libcuda.so.1");
    let mut context = 0u64;
    assert_eq!(call!(driver, "cuInit"(0 => u32)), 0);
    call!(driver, "cuDevicePrimaryCtxRetain"(&raw mut context => *mut u64, 0 => i32));
    assert_eq!(call!(driver, "cuCtxSetCurrent"(context => u64)), 0);
    driver
}

/// Loads PTX; returns the status and the module.
pub fn load_module(driver: &Library, ptx: &str) -> (u32, u64) {
    let ptx = CString::new(ptx).unwrap();
    let mut module = 0;
    let status = call!(driver, "cuModuleLoadData"(&raw mut module => *mut u64, ptx.as_ptr() => *const c_char));
    (status, module)
}

/// Looks up a kernel; returns the status and its handle.
pub fn find_kernel(driver: &Library, module: u64, name: &CStr) -> (u32, usize) {
    let mut kernel = 0;
    let status = call!(driver, "cuModuleGetFunction"(
        &raw mut kernel => *mut usize, module => u64, name.as_ptr() => *const c_char
    ));
    (status, kernel)
}

/// Loads PTX; returns its kernel `name`.
pub fn load_kernel(driver: &Library, ptx: &str, name: &CStr) -> usize {
    let (loaded, module) = load_module(driver, ptx);
    let (found, kernel) = find_kernel(driver, module, name);
    assert_eq!((loaded, found), (0, 0));
    kernel
}

/// Allocates device memory.
pub fn allocate(driver: &Library, bytes: usize) -> u64 {
    let mut address = 0;
    assert_eq!(call!(driver, "cuMemAlloc_v2"(&raw mut address => *mut u64, bytes => usize)), 0);
    address
}

/// Copies values into new device memory.
pub fn upload<T>(driver: &Library, values: &[T]) -> u64 {
    let bytes = size_of_val(values);
    let address = allocate(driver, bytes);
    let copied = call!(driver, "cuMemcpyHtoD_v2"(
        address => u64, values.as_ptr().cast() => *const u8, bytes => usize
    ));
    assert_eq!(copied, 0);
    address
}

/// `cudaLaunchAttribute` and `CUlaunchAttribute`
#[repr(C)]
pub struct Attribute {
    pub kind: u32,
    pub padding: u32,
    pub value: [u32; 16],
}

/// `CUlaunchConfig`
#[repr(C)]
pub struct DriverConfig {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub stream: u64,
    pub attributes: *const Attribute,
    pub count: u32,
}
