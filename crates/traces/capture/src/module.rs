//! The module whose kernels are launched.

use std::path::{Path, PathBuf};

use warpmem_ptx::{Function, FunctionId, Module, fatbin, listing};
use warpmem_simt::estimated_registers;
use warpmem_support::files::{input, text};

use crate::error::CaptureError;

/// Longest module, bytes. A device has no end.
const MAX_MODULE: u64 = 1 << 30;

/// A parsed module and where it is from.
#[derive(Clone, Debug)]
pub struct PtxModule {
    pub path: PathBuf,
    pub text: String,
    pub module: Module,
}

/// What a user asks of a kernel before launching it.
#[derive(Clone, Debug, serde::Serialize)]
pub struct KernelSummary {
    pub name: String,
    /// The parameters as PTX declares them.
    pub parameters: Vec<String>,
    /// Of its PTX, without the functions that it calls.
    pub instructions: usize,
    /// Of a thread, estimated.
    pub registers: u32,
    /// What it needs that is not supported, in the kernel itself: line and text.
    pub unsupported: Vec<String>,
}

impl PtxModule {
    /// Reads PTX, as text, out of a fat binary, or out of a listing of `cuobjdump -ptx`. Of the
    /// architectures it takes the highest.
    ///
    /// # Errors
    /// When it cannot be read, or is neither.
    pub fn read(path: &Path) -> Result<PtxModule, CaptureError> {
        let failed = |source| CaptureError::File { action: "read", path: path.to_owned(), source };
        let bytes = input::read(path, MAX_MODULE).map_err(failed)?;
        let unreadable = |what: String| CaptureError::FatBinary { path: path.to_owned(), what };
        let text = match fatbin::is_container(&bytes) {
            true => fatbin::ptx(&bytes, u32::MAX).map_err(|error| unreadable(error.to_string()))?,
            false => text::decode(&bytes).map_err(failed)?.map_err(|error| {
                let at = error.utf8_error().valid_up_to();
                unreadable(format!("byte {at} is no text: it is neither PTX nor a fat binary"))
            })?,
        };
        let text = listing::ptx(text, u32::MAX).map_err(|error| unreadable(error.to_string()))?;
        PtxModule::of_text(path.to_owned(), text)
    }

    /// Parses PTX that is from `path`.
    ///
    /// # Errors
    /// When it cannot be parsed.
    pub fn of_text(path: PathBuf, text: String) -> Result<PtxModule, CaptureError> {
        match warpmem_ptx::parse(&text) {
            Ok(module) => Ok(PtxModule { path, text, module }),
            Err(source) => Err(CaptureError::Module { path, source }),
        }
    }

    /// Its kernels, in their order.
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
