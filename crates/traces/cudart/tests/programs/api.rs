//! Calls the C functions, found by name in the library that the loader returns for a release's name.

use std::ffi::{CStr, CString, c_void};

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
