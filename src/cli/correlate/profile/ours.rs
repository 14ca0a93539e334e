//! Our side: the trace on the machine, under the conditions of each profiler.

use crate::cli::exit::Interrupted;
use crate::cli::interrupt::Interrupt;
use crate::cli::output::note;
use crate::cli::progress::Board;
use crate::correlation::profile::{Metrics, PlannedProfile, run};
use crate::study::cells::CellError;
use crate::study::correlate::profile::Profiler;
use crate::study::traces::NamedTrace;
use std::collections::BTreeMap;

/// Runs the trace on each machine, one after another.
pub fn run_all(
    trace: &NamedTrace,
    machines: &BTreeMap<Profiler, PlannedProfile>,
    interrupt: Interrupt,
) -> anyhow::Result<BTreeMap<Profiler, Metrics>> {
    let runs = machines.len();
    let all = runs as u64;
    let board = Board::new(interrupt, runs, all * trace.ctas(), all * trace.warp_instructions());
    let ours =
        machines.iter().map(|(&profiler, planned)| Ok((profiler, run(trace, planned, &board)?)));
    let ours: Result<BTreeMap<Profiler, Metrics>, CellError> = ours.collect();
    let summary = board.finish();
    if ours.as_ref().is_err_and(CellError::is_interruption) {
        return Err(Interrupted { kept: "nothing is kept".to_owned() }.into());
    }
    note(&summary);
    Ok(ours?)
}
