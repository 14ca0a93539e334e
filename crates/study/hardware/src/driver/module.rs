//! PTX modules and their kernels.
#![allow(unsafe_code, reason = "the driver's functions are C")]

use std::ffi::{CString, c_void};
use std::ptr;

use warpmem_simt::Launch;

use super::error::DriverError;
use super::functions::Handle;
use super::gpu::Gpu;

/// Numbers of `CUjit_option`.
const ERROR_LOG: u32 = 5;
const ERROR_LOG_BYTES: u32 = 6;
/// Size of the compiler log, bytes.
const LOG_BYTES: usize = 16 << 10;

/// Dynamic shared memory, bytes, above which a kernel must opt in, and the attribute that does so:
/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
const SHARED_WITHOUT_ASKING: u32 = 48 << 10;
const MAX_DYNAMIC_SHARED: u32 = 8;

/// PTX compiled by the driver.
pub struct Module<'g> {
    gpu: &'g Gpu,
    handle: Handle,
    /// The parsed text, which declares the kernels' parameters.
    parsed: warpmem_ptx::Module,
}

/// A kernel of a module.
pub struct Function<'m> {
    gpu: &'m Gpu,
    handle: Handle,
    name: String,
    /// Size of each parameter, bytes.
    params: Vec<usize>,
}

impl<'g> Module<'g> {
    /// Compiles PTX; `parsed` is the same text.
    ///
    /// # Errors
    /// When the driver rejects the PTX, with the driver's log.
    pub fn load(
        gpu: &'g Gpu,
        text: &str,
        parsed: warpmem_ptx::Module,
    ) -> Result<Module<'g>, DriverError> {
        // PTX from a fat binary already ends with the zero byte that is added here.
        let text = CString::new(text.trim_end_matches('\0'))?;
        let mut log = vec![0u8; LOG_BYTES];
        let options = [ERROR_LOG, ERROR_LOG_BYTES];
        let mut values = [log.as_mut_ptr().cast(), ptr::without_provenance_mut(log.len())];
        let mut handle = ptr::null_mut();
        // SAFETY: the text ends with a zero byte, the log buffer has the stated length, and there are two
        // options and two values.
        let loaded = unsafe {
            (gpu.functions.load_module)(
                &raw mut handle,
                text.as_ptr().cast(),
                options.len() as u32,
                options.as_ptr(),
                values.as_mut_ptr(),
            )
        };
        if loaded != 0 {
            let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
            let log = String::from_utf8_lossy(&log[..end]).into_owned();
            return Err(DriverError::Compilation { what: gpu.functions.describe(loaded), log });
        }
        Ok(Module { gpu, handle, parsed })
    }

    /// Returns the kernel `name`.
    ///
    /// # Errors
    /// When the module has no such kernel.
    pub fn function(&self, name: &str) -> Result<Function<'_>, DriverError> {
        let text = CString::new(name)?;
        let mut handle = ptr::null_mut();
        let functions = &self.gpu.functions;
        // SAFETY: the module is loaded, the name ends with a zero byte, and `handle` is valid for writes.
        let found =
            unsafe { (functions.module_function)(&raw mut handle, self.handle, text.as_ptr()) };
        functions.check("cuModuleGetFunction", found).map_err(|error| match error {
            DriverError::Call { function, what } => {
                DriverError::Call { function, what: format!("kernel `{name}`: {what}") }
            }
            other => other,
        })?;
        Ok(Function { gpu: self.gpu, handle, name: name.to_owned(), params: self.params(name) })
    }

    fn params(&self, kernel: &str) -> Vec<usize> {
        let kernel = self.parsed.kernel(kernel).map(|id| self.parsed.function(id));
        let params = kernel.map_or(&[][..], |kernel| &kernel.params);
        params.iter().map(|&id| self.parsed.variable(id).bytes as usize).collect()
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: the module is loaded and unloaded exactly once.
        unsafe { (self.gpu.functions.unload_module)(self.handle) };
    }
}

impl Function<'_> {
    /// Launches the kernel and returns without waiting for it.
    ///
    /// # Errors
    /// When the arguments do not match the sizes of the parameters, or the driver refuses.
    pub fn launch(&self, launch: &Launch) -> Result<(), DriverError> {
        let mut arguments = launch.params.0.clone();
        let given: Vec<usize> = arguments.iter().map(Vec::len).collect();
        if given != self.params {
            let (kernel, wanted) = (self.name.clone(), self.params.clone());
            return Err(DriverError::Arguments { kernel, given, wanted });
        }
        let functions = &self.gpu.functions;
        if launch.dynamic_shared > SHARED_WITHOUT_ASKING {
            let bytes = launch.dynamic_shared as i32;
            // SAFETY: the kernel's module is loaded.
            let asked = unsafe {
                (functions.set_function_attribute)(self.handle, MAX_DYNAMIC_SHARED, bytes)
            };
            functions.check("cuFuncSetAttribute", asked)?;
        }
        let mut pointers: Vec<*mut c_void> =
            arguments.iter_mut().map(|bytes| bytes.as_mut_ptr().cast()).collect();
        let ([x, y, z], [bx, by, bz]) = (launch.grid, launch.block);
        // SAFETY: the kernel's module is loaded, and each parameter has an argument of its size. The user's
        // PTX decides what the kernel does to device memory; it cannot reach host memory, except on machines
        // whose device can access all of it.
        let launched = unsafe {
            (functions.launch)(
                self.handle,
                x,
                y,
                z,
                bx,
                by,
                bz,
                launch.dynamic_shared,
                ptr::null_mut(),
                pointers.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        functions.check("cuLaunchKernel", launched).map_err(|error| match error {
            DriverError::Call { function, what } => {
                DriverError::Call { function, what: format!("kernel `{}`: {what}", self.name) }
            }
            other => other,
        })
    }
}
