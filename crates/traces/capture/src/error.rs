//! Errors of a capture.

use std::io;
use std::path::PathBuf;

use thiserror::Error;
use warpmem_ptx::PtxError;
use warpmem_simt::{LaunchError, TextureError};
use warpmem_trace::TraceError;

use crate::expectation::Mismatch;

/// A failed capture. No file is left under the output's name.
#[derive(Debug, Error)]
pub enum CaptureError {
    #[error("failed to {action} {path}")]
    File { action: &'static str, path: PathBuf, source: io::Error },
    #[error("{path}: {what}")]
    Array { path: PathBuf, what: String },
    #[error("{path}: {what}")]
    LaunchFile { path: PathBuf, what: String },
    #[error("failed to parse {path}")]
    Module { path: PathBuf, source: PtxError },
    #[error("{path}: {what}")]
    FatBinary { path: PathBuf, what: String },
    #[error("{name}: {what}")]
    Buffer { name: String, what: String },
    #[error("argument {number} of kernel `{kernel}`, `{param}` (.{ty}): {what}")]
    Argument { number: usize, kernel: String, param: String, ty: String, what: String },
    #[error("{user}: there is no buffer `{name}`; there {known}")]
    NoBuffer { user: String, name: String, known: String },
    #[error("texture `{name}`")]
    Texture { name: String, source: TextureError },
    #[error("{what}")]
    Selection { what: String },
    #[error("failed to run {program}: {what}")]
    Ptxas { program: PathBuf, what: String },
    #[error("cannot capture {program}: {what}")]
    Program { program: PathBuf, what: String },
    #[error("wrong values{}", listed(.0))]
    Mismatches(Vec<Mismatch>),
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// Failure of a GPU's memory.
    #[error("failed to use the device's memory")]
    Memory { source: Box<dyn std::error::Error + Send + Sync> },
    /// An output that could not be written.
    #[error(transparent)]
    Output(#[from] anyhow::Error),
}

fn listed(mismatches: &[Mismatch]) -> String {
    mismatches.iter().map(|mismatch| format!("\n  {mismatch}")).collect()
}
