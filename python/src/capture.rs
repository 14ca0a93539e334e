//! Traces of CUDA kernels and programs, executed without a GPU.

use crate::error::{Error, OrRaise};
use crate::machine::Machine;
use crate::watched::{Board, watched};
use pyo3::prelude::*;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread::available_parallelism;
use warpmem::capture::{
    CaptureError, Captured, Observer, Options, Plan, Program, ProgramCapture, ProgramOptions,
    ProgramStatus, Registers, Selection, Settings, capture, capture_program as capture_whole,
};
use warpmem::device::device_of;
use warpmem::files::claims::Claims;
use warpmem::simt::Limits;

/// Observes a capture on behalf of a Python callback.
struct Capturing<'a>(&'a Board);

impl Observer for Capturing<'_> {
    fn launch(&self, _: usize, _: usize, _: &str, ctas: u64) {
        self.0.set(0, ctas);
    }

    fn advance(&self, ctas: u64, _: u64) -> bool {
        self.0.set_done(ctas);
        !self.0.is_stopped()
    }

    fn print(&self, text: &str) {
        Python::attach(|py| {
            let write = py.import("sys").and_then(|sys| sys.getattr("stdout"));
            // A closed standard output does not stop the capture.
            let _ = write.and_then(|stdout| stdout.call_method1("write", (text,)));
        });
    }

    fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }
}

fn threads() -> usize {
    available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Captures the launches of a launch file (TOML); returns the number of launches in the trace.
#[pyfunction]
pub fn capture_launches(
    py: Python<'_>,
    launch: PathBuf,
    output: PathBuf,
    progress: Option<Py<PyAny>>,
) -> PyResult<u64> {
    let plan = Plan::read(&launch).or_raise()?;
    let mut files = Claims::default();
    files.read("launch file", &launch);
    plan.claim_inputs(&mut files);
    plan.claim_outputs(&mut files);
    files.write("trace", &output);
    files.check().or_raise()?;
    let options = Options {
        output: Some(output),
        selection: Selection::all(),
        limits: Limits { threads: threads(), ..Limits::default() },
        registers: Registers::Estimated,
        command: format!("warpmem capture --launch {}", launch.display()),
    };
    let board = Board::default();
    let captured = watched(py, &board, progress, || capture(&plan, &options, &Capturing(&board)))?;
    let Captured { trace, mismatches, .. } = captured.or_raise()?;
    match mismatches.is_empty() {
        true => Ok(trace.map_or(0, |trace| trace.kernels)),
        false => Err(CaptureError::Mismatches(mismatches)).or_raise(),
    }
}

/// Captures a whole program with its arguments; returns the number of launches in the trace.
#[pyfunction]
pub fn capture_program(
    py: Python<'_>,
    command: Vec<OsString>,
    output: PathBuf,
    runtime: PathBuf,
    machine: &Machine,
    capability: (u32, u32),
    progress: Option<Py<PyAny>>,
) -> PyResult<u64> {
    let shown = command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let program = Program { command, runtime };
    let options = ProgramOptions {
        output: Some(output),
        selection: Selection::all(),
        registers: Registers::Estimated,
        settings: Settings {
            device: device_of(&machine.machine, capability),
            max_instructions: Limits::default().instructions,
            threads: threads(),
        },
        command: format!("warpmem capture -- {shown}"),
    };
    let board = Board::default();
    let captured =
        watched(py, &board, progress, || capture_whole(&program, &options, &Capturing(&board)))?;
    let ProgramCapture { status, trace, .. } = captured.or_raise()?;
    match (status, trace) {
        (ProgramStatus::Exited(0), Some(trace)) => Ok(trace.kernels),
        (ProgramStatus::Exited(0), None) => {
            Err(Error::new_err("no kernel was recorded; nothing is written"))
        }
        (ProgramStatus::Exited(status), _) => {
            Err(Error::new_err(format!("the program ended with status {status}")))
        }
        (ProgramStatus::Killed(signal), _) => {
            Err(Error::new_err(format!("the program was ended by signal {signal}")))
        }
    }
}
