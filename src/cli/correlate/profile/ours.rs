//! Our side: the trace on the machine, under the conditions of each profiler.

use super::Metrics;
use crate::cli::exit::Interrupted;
use crate::cli::interrupt::Interrupt;
use crate::cli::output::note;
use crate::cli::progress::Board;
use crate::gpu::results::Discard;
use crate::machine::Machine;
use crate::record::ncu_rows_json;
use crate::slots::PolicyChoices;
use crate::study::cells::{Cell, CellError, command};
use crate::study::correlate::profile::Profiler;
use crate::study::traces::NamedTrace;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

/// A machine with its name and the overrides that it includes.
pub struct Planned {
    pub name: String,
    pub machine: Machine,
    pub overrides: Vec<String>,
}

/// Runs the trace on each machine, one after another.
pub fn run_all(
    trace: &NamedTrace,
    machines: &BTreeMap<Profiler, Planned>,
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

fn run(trace: &NamedTrace, planned: &Planned, board: &Board) -> Result<Metrics, CellError> {
    let Planned { name, machine, overrides } = planned;
    let command = command(trace.trace.path(), name, &PolicyChoices::default(), overrides);
    let mut cell = Cell::new(trace, machine.clone(), overrides, command)?;
    cell.threads = available_parallelism().map_or(1, NonZeroUsize::get);
    let result = cell.simulate(&mut Discard, board)?;
    Ok(ncu_rows_json(&cell.key, &result))
}
