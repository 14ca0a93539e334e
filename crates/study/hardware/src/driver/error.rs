//! Errors of the driver.

use thiserror::Error;

/// A failed driver call, or a driver or device that was not found.
#[derive(Debug, Error)]
pub enum DriverError {
    #[error(
        "failed to load the CUDA driver {library}; a machine with an NVIDIA GPU has it as \
         libcuda.so.1, and --driver names another"
    )]
    NoDriver { library: String, source: libloading::Error },
    #[error(
        "this program is static and loads no libraries, hence no driver; use the program for glibc"
    )]
    StaticProgram,
    #[error(
        "{library} is not a CUDA driver, or is older than CUDA 11: it lacks function {function}"
    )]
    NoFunction { library: String, function: &'static str, source: libloading::Error },
    #[error("the driver finds no GPU: {what}")]
    NoDevice { what: String },
    #[error("there is no device {ordinal}; the driver has {count}, numbered from 0")]
    NoSuchDevice { ordinal: u32, count: i32 },
    #[error("{function} failed: {what}")]
    Call { function: &'static str, what: String },
    #[error("the driver refuses the PTX: {what}{}", logged(.log))]
    Compilation { what: String, log: String },
    #[error("kernel `{kernel}`: arguments of {given:?} bytes are given, it takes {wanted:?}")]
    Arguments { kernel: String, given: Vec<usize>, wanted: Vec<usize> },
    #[error("{given} bytes do not fit in an allocation of {bytes}")]
    Bounds { given: usize, bytes: usize },
    #[error("a string for the driver contains a zero byte")]
    Text(#[from] std::ffi::NulError),
}

fn logged(log: &str) -> String {
    let lines = log.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| format!("\n  {line}")).collect()
}
