//! Captures of whole programs: an unmodified program runs with a CUDA runtime that executes its
//! kernels in the program's process and sends them to the capture, which records them.
//!
//! ```text
//!  executable ─▶ stage ─▶ process ──── socket ───▶ recording ─▶ .wmt
//!  (linked       (folder    (the program,           (messages of one
//!   libraries)    of the     with the runtime)       process at a time)
//!                 runtime)
//! ```

mod executable;
mod listen;
mod recording;
mod stage;
mod stub;

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

pub use crate::relay::{Device, Settings};
use serde::Serialize;
use warpmem_trace::TraceSummary;

use crate::error::CaptureError;
use crate::module::KernelSummary;
use crate::selection::Selection;
use crate::session::{Launched, Observer, Registers};

use executable::Executable;
use recording::Recording;
use stage::Stage;

/// A program to run.
#[derive(Clone, Debug)]
pub struct Program {
    /// Name or path, followed by arguments.
    pub command: Vec<OsString>,
    /// Shared library that replaces the CUDA runtime and driver.
    pub runtime: PathBuf,
}

/// Options of a program's capture.
#[derive(Clone, Debug)]
pub struct ProgramOptions {
    /// Path of the trace; `None` to write none.
    pub output: Option<PathBuf>,
    pub selection: Selection,
    pub registers: Registers,
    pub settings: Settings,
    /// Command line for the trace's header.
    pub command: String,
}

/// Result of a program's capture.
#[derive(Clone, Debug)]
pub struct ProgramCapture {
    pub status: ProgramStatus,
    /// Completed launches, in order.
    pub launches: Vec<Launched>,
    /// Kernels in order of their first launch, followed by the unlaunched kernels of loaded modules.
    pub kernels: Vec<KernelTally>,
    /// The trace; `None` if no kernel was recorded.
    pub trace: Option<TraceSummary>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// Whether the user stopped the capture.
    pub interrupted: bool,
}

/// Exit of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramStatus {
    /// Exit status.
    Exited(i32),
    /// Number of the signal that killed it.
    Killed(i32),
}

/// Launches of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KernelTally {
    pub kernel: String,
    pub launches: u64,
    pub recorded: u64,
    /// PTX warp instructions of completed launches.
    pub warp_instructions: u64,
    /// Failed launches, and the reason of the first failure.
    pub failed: u64,
    pub failure: Option<String>,
    /// Unsupported features: line and text.
    pub unsupported: Vec<String>,
}

/// Runs a program and records its kernels.
///
/// # Errors
/// When the program cannot be captured or started, or the trace cannot be written. A program that fails is
/// not an error: its status records the failure.
pub fn capture_program(
    program: &Program,
    options: &ProgramOptions,
    observer: &(dyn Observer + Sync),
) -> Result<ProgramCapture, CaptureError> {
    let executable = Executable::find(&program.command[0]);
    if let Some(executable) = &executable {
        executable.check(&program.runtime)?;
    }
    let stage = Stage::new(&program.runtime)?;
    let name = Path::new(&program.command[0]).file_name().unwrap_or_default();
    let recording = Recording::new(options, &name.to_string_lossy(), observer)?;
    let (status, recording) = listen::with_listener(&stage.socket(), recording, || {
        let embeds_runtime = executable.as_ref().is_some_and(Executable::embeds_runtime);
        let child = start(program, &stage.environment(embeds_runtime))?;
        wait(child, observer)
    })?;
    let mut capture = recording.finish(status_of(status))?;
    capture.interrupted = observer.is_stopped();
    if capture.kernels.is_empty()
        && let Some(hint) = executable.and_then(|executable| executable.hint())
    {
        capture.notes.push(hint);
    }
    Ok(capture)
}

fn start(
    program: &Program,
    environment: &[(&'static str, OsString)],
) -> Result<Child, CaptureError> {
    let mut command = Command::new(&program.command[0]);
    command.args(&program.command[1..]).envs(environment.iter().cloned());
    command.spawn().map_err(|error| CaptureError::Program {
        program: PathBuf::from(&program.command[0]),
        what: error.to_string(),
    })
}

/// Waits for the program's end. If the user wants to stop, first terminates the program, then kills it after
/// a grace period.
fn wait(mut child: Child, observer: &dyn Observer) -> Result<ExitStatus, CaptureError> {
    const POLL_INTERVAL: Duration = Duration::from_millis(5);
    const GRACE: Duration = Duration::from_secs(2);
    let failed = |source| CaptureError::File {
        action: "wait for",
        path: PathBuf::from("the program"),
        source,
    };
    let mut asked = None;
    loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            return Ok(status);
        }
        if observer.is_stopped() {
            // Run from a terminal, the program receives the interrupt signal as well.
            let since = asked.get_or_insert_with(Instant::now);
            if since.elapsed() > GRACE {
                child.kill().map_err(failed)?;
            }
        }
        thread::sleep(POLL_INTERVAL);
    }
}

fn status_of(status: ExitStatus) -> ProgramStatus {
    match status.code() {
        Some(code) => ProgramStatus::Exited(code),
        None => ProgramStatus::Killed(status.signal().unwrap_or_default()),
    }
}

impl KernelTally {
    fn of(summary: KernelSummary) -> KernelTally {
        KernelTally {
            kernel: summary.name,
            unsupported: summary.unsupported,
            ..KernelTally::default()
        }
    }
}
