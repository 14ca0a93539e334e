//! Our side of the comparison: a run of a reference's trace on our machine.

use super::error::NoColumn;
use super::figures::{Figures, KernelFigures};
use super::plan::Planned;
use crate::cells::{Cell, CellError, Watcher, command};
use crate::traces::NamedTrace;
use std::path::Path;
use warpmem_gpu::results::Discard;
use warpmem_gpu::slots::PolicyChoices;
use warpmem_record::run_row_json;
use warpmem_trace::{Trace, TraceError};

/// Reason why our side has no figures.
#[derive(Debug, thiserror::Error)]
pub enum OursError {
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error(transparent)]
    Cell(#[from] CellError),
    #[error(transparent)]
    Column(#[from] NoColumn),
}

impl OursError {
    pub fn is_interruption(&self) -> bool {
        matches!(self, OursError::Cell(error) if error.is_interruption())
    }
}

/// Computes the figures of a run in all its orders, the machine's own first.
///
/// # Errors
/// The first failure.
pub fn over_orders(
    own: Result<Figures, OursError>,
    others: impl Iterator<Item = Result<Figures, OursError>>,
) -> Result<Figures, OursError> {
    let own = own?;
    let others: Vec<Figures> = others.collect::<Result<_, _>>()?;
    Ok(own.over_orders(&others))
}

/// Returns the kernels of a trace, without cycles.
pub fn kernels_of(trace: &Trace) -> Vec<KernelFigures> {
    let kernel = |kernel: &warpmem_trace::Kernel| KernelFigures {
        name: kernel.info.name.clone(),
        thread_instructions: Some(kernel.thread_instructions),
        ..KernelFigures::default()
    };
    trace.kernels().iter().map(kernel).collect()
}

/// Runs the trace at `path`, starting with this SM. Opens the trace itself, so that the time
/// includes reading it.
///
/// # Errors
/// If the run fails or is stopped.
pub fn run(
    run: &Planned,
    path: &Path,
    first_sm: u32,
    watcher: &impl Watcher,
) -> Result<Figures, OursError> {
    if watcher.is_stopped() {
        return Err(CellError::Interrupted.into());
    }
    let begun = cpu_seconds();
    let trace = NamedTrace { name: run.trace.clone(), trace: Trace::open(path)? };
    let command = command(path, &run.machine_name, &PolicyChoices::default(), &run.overrides);
    let mut machine = run.machine.clone();
    machine.run.first_sm = first_sm;
    let cell = Cell::new(&trace, machine, &run.overrides, command)?;
    let result = cell.simulate(&mut Discard, watcher)?;
    let cpu_seconds = cpu_seconds().zip(begun).map(|(end, begun)| end - begun);
    let kernels = result.kernels.iter().map(KernelFigures::from).collect();
    let figures = Figures::of_row(&run_row_json(&cell.key, &result), kernels)?;
    Ok(Figures { cpu_seconds, ..figures })
}

/// Returns the CPU time of the process, including the helper thread that decompresses the trace.
#[cfg(unix)]
fn cpu_seconds() -> Option<f64> {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

#[cfg(not(unix))]
fn cpu_seconds() -> Option<f64> {
    None
}
