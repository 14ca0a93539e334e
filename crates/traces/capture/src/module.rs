//! The module whose kernels are launched.

use std::path::{Path, PathBuf};

use warpmem_ptx::{Function, FunctionId, Module, fatbin, listing};
use warpmem_simt::estimated_registers;
use warpmem_support::files::{input, text};

use crate::error::CaptureError;

/// Maximum module size, bytes; a device is endless.
const MAX_MODULE: u64 = 1 << 30;

/// A parsed module and its path.
#[derive(Clone, Debug)]
pub struct PtxModule {
    pub path: PathBuf,
    pub text: String,
    pub module: Module,
}

/// Properties of a kernel that a user checks before launching it.
#[derive(Clone, Debug, serde::Serialize)]
pub struct KernelSummary {
    pub name: String,
    /// Parameters as declared in PTX.
    pub parameters: Vec<String>,
    /// PTX instructions of the kernel, excluding called functions.
    pub instructions: usize,
    /// Estimated registers per thread.
    pub registers: u32,
    /// Unsupported features of the kernel itself: line and text.
    pub unsupported: Vec<String>,
}

impl PtxModule {
    /// Reads PTX from text, from a fat binary, or from a listing of `cuobjdump -ptx`; of several
    /// architectures it takes the highest.
    ///
    /// # Errors
    /// When the file cannot be read or has none of these formats.
    pub fn read(path: &Path) -> Result<PtxModule, CaptureError> {
        let failed = |source| CaptureError::File { action: "read", path: path.to_owned(), source };
        let bytes = input::read(path, MAX_MODULE).map_err(failed)?;
        let unreadable = |what: String| CaptureError::FatBinary { path: path.to_owned(), what };
        let text = match fatbin::is_container(&bytes) {
            true => fatbin::ptx(&bytes, u32::MAX).map_err(|error| unreadable(error.to_string()))?,
            false => text::decode(&bytes).map_err(failed)?.map_err(|error| {
                let at = error.utf8_error().valid_up_to();
                unreadable(format!(
                    "byte {at} is not text: the file is neither PTX nor a fat binary"
                ))
            })?,
        };
        let text = listing::ptx(text, u32::MAX).map_err(|error| unreadable(error.to_string()))?;
        PtxModule::of_text(path.to_owned(), text)
    }

    /// Parses PTX text that was read from `path`.
    ///
    /// # Errors
    /// When the text is invalid.
    pub fn of_text(path: PathBuf, text: String) -> Result<PtxModule, CaptureError> {
        match warpmem_ptx::parse(&text) {
            Ok(module) => Ok(PtxModule { path, text, module }),
            Err(source) => Err(CaptureError::Module { path, source }),
        }
    }

    /// Returns the kernels in declaration order.
    pub fn kernels(&self) -> Vec<KernelSummary> {
        let module = &self.module;
        let summary = |(id, kernel): (u32, &Function)| KernelSummary {
            name: kernel.name.clone(),
            registers: estimated_registers(module, FunctionId(id)),
            parameters: kernel.params.iter().map(|&id| module.variable(id).declared()).collect(),
            instructions: kernel.body.as_ref().map_or(0, |body| body.instructions.len()),
            unsupported: kernel
                .body
                .iter()
                .flat_map(|body| &body.unsupported)
                .map(ToString::to_string)
                .collect(),
        };
        (0..).zip(&module.functions).filter(|(_, f)| f.is_kernel).map(summary).collect()
    }
}
