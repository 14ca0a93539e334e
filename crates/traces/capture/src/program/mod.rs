//! Captures of whole programs: an unmodified program runs with a CUDA runtime that executes its
//! kernels here, and passes them on to be recorded.
//!
//! ```text
//!  executable ─▶ stage ─▶ process ──── socket ───▶ recording ─▶ .wmt
//!  (what it     (folder    (the program,           (messages of one
//!   is linked    of the     with the runtime)       process at a time)
//!   with)        runtime)
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
use crate::session::{Launched, Registers, Watch};

use executable::Executable;
use recording::Recording;
use stage::Stage;

/// A program to be run.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its name or path, and its arguments.
    pub command: Vec<OsString>,
    /// The shared library that is the CUDA runtime and driver.
    pub runtime: PathBuf,
}

/// How a program is captured.
#[derive(Clone, Debug)]
pub struct ProgramOptions {
    /// The trace; `None`: nothing is written.
    pub output: Option<PathBuf>,
    pub selection: Selection,
    pub registers: Registers,
    pub settings: Settings,
    /// The command line, for the trace's header.
    pub command: String,
}

/// What the capture of a program gave.
#[derive(Clone, Debug)]
pub struct ProgramCapture {
    pub status: ProgramStatus,
    /// Launches that ended, in their order.
    pub launches: Vec<Launched>,
    /// By kernel, in the order of their first launches; kernels of loaded modules that were not
    /// launched follow.
    pub kernels: Vec<KernelTally>,
    /// There is none if no kernel was recorded.
    pub trace: Option<TraceSummary>,
    /// What a user should know.
    pub notes: Vec<String>,
    /// The user stopped it.
    pub interrupted: bool,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramStatus {
    /// With an exit status.
    Exited(i32),
    /// By a signal.
    Killed(i32),
}

/// The launches of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KernelTally {
    pub kernel: String,
    pub launches: u64,
    pub recorded: u64,
    /// Of the launches that ended; PTX instructions, each counted once for every warp.
    pub warp_instructions: u64,
    /// Launches that failed, and why the first of them did.
    pub failed: u64,
    pub failure: Option<String>,
    /// What it needs that is not supported, line and text.
    pub unsupported: Vec<String>,
}

/// Runs a program and records its kernels.
///
/// # Errors
/// When the program cannot be captured or started, or the trace cannot be written. A program that
/// fails is no error: its status says so.
pub fn capture_program(
    program: &Program,
    options: &ProgramOptions,
    watch: &(dyn Watch + Sync),
) -> Result<ProgramCapture, CaptureError> {
    let executable = Executable::find(&program.command[0]);
    if let Some(executable) = &executable {
        executable.check(&program.runtime)?;
    }
    let stage = Stage::new(&program.runtime)?;
    let name = Path::new(&program.command[0]).file_name().unwrap_or_default();
    let recording = Recording::new(options, &name.to_string_lossy(), watch)?;
    let (status, recording) = listen::with_listener(&stage.socket(), recording, || {
        let carries_runtime = executable.as_ref().is_some_and(Executable::carries_runtime);
        let child = start(program, &stage.environment(carries_runtime))?;
        wait(child, watch)
    })?;
    let mut capture = recording.finish(status_of(status))?;
    capture.interrupted = watch.is_stopped();
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

/// Waits for the program's end. If the user wants to stop, the program is asked to, and after a
/// while made to.
fn wait(mut child: Child, watch: &dyn Watch) -> Result<ExitStatus, CaptureError> {
    const BETWEEN_LOOKS: Duration = Duration::from_millis(5);
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
        if watch.is_stopped() {
            // From a terminal, the program has the signal too.
            let since = asked.get_or_insert_with(Instant::now);
            if since.elapsed() > GRACE {
                child.kill().map_err(failed)?;
            }
        }
        thread::sleep(BETWEEN_LOOKS);
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
