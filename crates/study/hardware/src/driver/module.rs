//! Modules of PTX, and their kernels.
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
/// Room for why PTX is refused.
const LOG_BYTES: usize = 16 << 10;

/// Bytes of dynamic shared memory above which a kernel has to ask for them, and how: the number of
/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
const SHARED_WITHOUT_ASKING: u32 = 48 << 10;
const MOST_DYNAMIC_SHARED: u32 = 8;

/// PTX that the driver has compiled.
pub struct Module<'g> {
    gpu: &'g Gpu,
    handle: Handle,
    /// What the text says of its kernels' parameters.
    parsed: warpmem_ptx::Module,
}

/// A kernel.
pub struct Function<'m> {
    gpu: &'m Gpu,
    handle: Handle,
    name: String,
    /// Bytes of its parameters.
    params: Vec<usize>,
}

impl<'g> Module<'g> {
    /// Has PTX compiled; `parsed` is the same text.
    ///
    /// # Errors
    /// When it is refused, with the driver's log.
    pub fn load(
        gpu: &'g Gpu,
        text: &str,
        parsed: warpmem_ptx::Module,
    ) -> Result<Module<'g>, DriverError> {
        // PTX out of a fat binary ends with the zero byte that is added here.
        let text = CString::new(text.trim_end_matches('\0'))?;
        let mut log = vec![0u8; LOG_BYTES];
        let options = [ERROR_LOG, ERROR_LOG_BYTES];
        let mut values = [log.as_mut_ptr().cast(), ptr::without_provenance_mut(log.len())];
        let mut handle = ptr::null_mut();
        // SAFETY: the text ends with a zero byte, there is as much room for the log as is said, and
        // options and values are two.
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

    /// The kernel of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn function(&self, name: &str) -> Result<Function<'_>, DriverError> {
        let text = CString::new(name)?;
        let mut handle = ptr::null_mut();
        let functions = &self.gpu.functions;
        // SAFETY: the module is there, the name ends with a zero byte, and the handle is written.
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
        // SAFETY: the module is there, and unloaded once.
        unsafe { (self.gpu.functions.unload_module)(self.handle) };
    }
}

impl Function<'_> {
    /// Lets the device execute the kernel; it has not ended when this returns.
    ///
    /// # Errors
    /// When the arguments are not of the kernel's sizes, or the driver refuses.
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
            // SAFETY: the kernel is there.
            let asked = unsafe {
                (functions.set_function_attribute)(self.handle, MOST_DYNAMIC_SHARED, bytes)
            };
            functions.check("cuFuncSetAttribute", asked)?;
        }
        let mut pointers: Vec<*mut c_void> =
            arguments.iter_mut().map(|bytes| bytes.as_mut_ptr().cast()).collect();
        let ([x, y, z], [bx, by, bz]) = (launch.grid, launch.block);
        // SAFETY: the kernel is there, and there is an argument of its size for each parameter. What
        // the kernel does to device memory is as the user's PTX says; the host's is not in its reach,
        // except on machines where a device reads and writes all of the host's.
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
