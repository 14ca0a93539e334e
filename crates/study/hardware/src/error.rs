//! Errors of measuring and comparing.

use std::path::PathBuf;

use thiserror::Error;
use warpmem_capture::{CaptureError, Mismatch};
use warpmem_params::did_you_mean;

use crate::driver::DriverError;

#[derive(Debug, Error)]
pub enum HardwareError {
    #[error(transparent)]
    Driver(#[from] DriverError),
    #[error(transparent)]
    Plan(#[from] CaptureError),
    #[error("{}: textures cannot be measured; leave the launches that use them out", launch_file.display())]
    Textures { launch_file: PathBuf },
    #[error("the device computed wrong values{}", listed(.0))]
    Mismatches(Vec<Mismatch>),
    #[error("the built-in launch file of `{name}`: {what}")]
    BuiltIn { name: String, what: String },
    #[error("unknown measurement `{name}`{}; valid: {valid}", did_you_mean(*.nearest))]
    NoMeasurement { name: String, nearest: Option<&'static str>, valid: String },
    #[error(
        "the clock of the SMs could not be measured: {nanoseconds} ns and {cycles} cycles passed"
    )]
    Clock { nanoseconds: u64, cycles: u64 },
    #[error("interrupted")]
    Interrupted,
    #[error("failed to read {}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{} is not a result of `warpmem hardware`: {what}", path.display())]
    NoResults { path: PathBuf, what: String },
    #[error(
        "{} has format {found}, this version reads {known}: measure again, or use the version that wrote it", path.display()
    )]
    Format { path: PathBuf, found: u32, known: u32 },
    #[error("`{name}` has changed since it was measured, its launches or its PTX: measure again")]
    Changed { name: String },
}

fn listed(mismatches: &[Mismatch]) -> String {
    mismatches.iter().map(|mismatch| format!("\n  {mismatch}")).collect()
}
