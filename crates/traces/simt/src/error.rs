//! Errors that prevent or stop a launch.

use std::fmt;

use thiserror::Error;
use warpmem_ptx::PtxError;
use warpmem_trace::TraceError;

/// Reason why a kernel was not launched or did not complete.
#[derive(Debug, Error)]
pub enum LaunchError {
    #[error("there is no kernel `{name}` in the module; it has {known}")]
    NoKernel { name: String, known: String },
    #[error("kernel `{kernel}` needs unsupported features{}", listed(.unsupported))]
    Unsupported { kernel: String, unsupported: Vec<PtxError> },
    #[error("kernel `{kernel}` calls `{function}`, which the module only declares")]
    Undefined { kernel: String, function: String },
    #[error("kernel `{kernel}` takes {expected} arguments ({signature}), {found} are given")]
    ArgumentCount { kernel: String, expected: usize, found: usize, signature: String },
    #[error(
        "argument {number} of kernel `{kernel}`, `{name}`, has {expected} bytes, {found} are given"
    )]
    ArgumentSize { kernel: String, number: usize, name: String, expected: u64, found: u64 },
    #[error("{what} of {value:?}: {reason}")]
    Dimensions { what: &'static str, value: [u32; 3], reason: String },
    #[error(
        "kernel `{kernel}` needs {bytes} bytes of shared memory per CTA, the maximum of any SM is 232448"
    )]
    Shared { kernel: String, bytes: u32 },
    #[error(
        "kernel `{kernel}` needs {bytes} bytes of local memory per thread, the maximum of any device is 524288"
    )]
    Local { kernel: String, bytes: u64 },
    #[error("kernel `{kernel}`: {reason}")]
    Cluster { kernel: String, reason: String },
    #[error("variable `{name}` is defined in another module")]
    External { name: String },
    #[error("{bytes} bytes do not fit in device memory, of which {free} are free")]
    OutOfMemory { bytes: u64, free: u64 },
    #[error("the host cannot provide {bytes} bytes of device memory")]
    HostMemory { bytes: u64 },
    #[error("variable `{name}`: {reason}")]
    Variable { name: String, reason: Box<LaunchError> },
    #[error("kernel `{kernel}`: {fault}")]
    Fault { kernel: String, fault: Box<Fault> },
    #[error(
        "kernel `{kernel}` has executed {instructions} warp instructions, the limit; {waiting}"
    )]
    Limit { kernel: String, instructions: u64, waiting: String },
    #[error("kernel `{kernel}` is deadlocked: {waiting}")]
    Deadlock { kernel: String, waiting: String },
    #[error("stopped before the end")]
    Cancelled,
    #[error(transparent)]
    Trace(#[from] TraceError),
}

fn listed(errors: &[PtxError]) -> String {
    const SHOWN: usize = 5;
    let mut text: String = errors.iter().take(SHOWN).map(|error| format!("\n  {error}")).collect();
    if errors.len() > SHOWN {
        text.push_str(&format!("\n  and {} more", errors.len() - SHOWN));
    }
    text
}

/// Illegal action of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrapKind {
    /// An access outside allocated memory.
    Memory,
    /// A failed assertion.
    Assertion,
    Other,
}

/// Reason and location of a stopped kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub reason: String,
    pub kind: TrapKind,
    /// Coordinates of the CTA.
    pub cta: [u32; 3],
    /// Coordinates of the thread in its CTA.
    pub thread: [u32; 3],
    /// Byte address of the instruction in the kernel, as in the trace.
    pub pc: u64,
    /// Line of the PTX module.
    pub line: u32,
    /// Source file and line, if the module has debug information.
    pub source: Option<(String, u32)>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([cx, cy, cz], [tx, ty, tz]) = (self.cta, self.thread);
        write!(f, "{} at PC {:#x}, line {} of the PTX", self.reason, self.pc, self.line)?;
        if let Some((file, line)) = &self.source {
            write!(f, " ({file}:{line})")?;
        }
        write!(f, ", CTA ({cx}, {cy}, {cz}), thread ({tx}, {ty}, {tz})")
    }
}
