//! Runs that determine a class: every trace on a machine, and on idealized ones.

use super::figures::{Classified, Ideal, Runs};
use crate::cells::{Cell, CellError, command};
use crate::profile::{ProfileError, Progress, translation_divergence};
use crate::traces::NamedTrace;
use std::ops::ControlFlow;
use warpmem_gpu::results::RunResult;
use warpmem_gpu::slots::PolicyChoices;
use warpmem_machine::Machine;
use warpmem_params::policy_name;
use warpmem_trace::Trace;

/// Number of machines per trace: the configured one, and one with each [`Ideal`].
pub const RUNS: usize = 1 + Ideal::ALL.len();

/// The machine is already idealized.
#[derive(Debug, thiserror::Error)]
#[error("the machine has the ideal mode `{mode}`: expected `none`, the baseline of this command")]
pub struct AlreadyIdeal {
    pub mode: String,
}

/// Makes the machine of every run of a trace.
///
/// # Errors
/// If the machine is already idealized.
pub fn machines(mut plain: Machine) -> Result<[Machine; RUNS], AlreadyIdeal> {
    let mode = policy_name(&plain.policy.ideal);
    if mode != "none" {
        return Err(AlreadyIdeal { mode: mode.to_owned() });
    }
    let with = |mode: Ideal| {
        let mut machine = plain.clone();
        mode.policy().clone_into(&mut machine.policy.ideal);
        machine
    };
    let [dram, l1, l2] = Ideal::ALL.map(with);
    plain.run.count_row_sharing = true;
    Ok([plain, dram, l1, l2])
}

/// Makes cells of every trace on every machine, in this order. The machines are called `name`, with
/// these policies and overrides.
///
/// # Errors
/// If a cell cannot run.
pub fn cells<'a>(
    traces: &'a [NamedTrace],
    machines: &[Machine],
    name: &str,
    policies: &PolicyChoices,
    overrides: &[String],
) -> Result<Vec<Cell<'a>>, CellError> {
    let mut cells = Vec::new();
    for trace in traces {
        for machine in machines {
            let command = command(trace.trace.path(), name, policies, overrides);
            cells.push(Cell::new(trace, machine.clone(), overrides, command)?);
        }
    }
    Ok(cells)
}

/// Reads all records of a trace and returns its mean number of distinct 4 KiB pages per global or
/// local memory instruction; none without such instructions. `progress` receives the number of
/// records read, at intervals, and can stop the reading.
///
/// # Errors
/// If the trace is damaged, or `progress` stopped the reading.
pub fn small_pages_per_instruction(
    trace: &Trace,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Option<f64>, ProfileError> {
    let [small, ..] = translation_divergence(trace, progress)?;
    Ok(small.pages.mean)
}

/// Classifies each trace by the results of [`cells`], given in their order, and by the
/// [`small_pages_per_instruction`] of every trace.
pub fn classified(
    cells: &[Cell<'_>],
    results: Vec<RunResult>,
    small_pages: &[Option<f64>],
) -> Vec<Classified> {
    let mut results = results.into_iter();
    let mut classified = Vec::new();
    for (cell, &small_pages) in cells.iter().step_by(RUNS).zip(small_pages) {
        let [Some(plain), Some(dram), Some(l1), Some(l2)] = [(); RUNS].map(|()| results.next())
        else {
            break;
        };
        let runs = Runs { plain, ideal: [dram, l1, l2] };
        classified.push(Classified::new(cell.key.clone(), &runs, small_pages));
    }
    classified
}
