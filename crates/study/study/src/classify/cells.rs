//! The runs that a class depends on: every trace on a machine, and on ideal ones.

use super::figures::{Classified, Ideal, Runs};
use crate::cells::{Cell, CellError, command};
use crate::traces::NamedTrace;
use warpmem_gpu::results::RunResult;
use warpmem_gpu::slots::Choices;
use warpmem_machine::Machine;
use warpmem_params::policy_name;

/// The machines that a trace runs on: as configured, and with each [`Ideal`].
pub const RUNS: usize = 1 + Ideal::ALL.len();

/// A machine that is ideal itself.
#[derive(Debug, thiserror::Error)]
#[error(
    "the machine has the ideal mode `{mode}`: expected `none`, which this command compares with"
)]
pub struct AlreadyIdeal {
    pub mode: String,
}

/// A machine for every run of a trace.
///
/// # Errors
/// If the machine is ideal itself.
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

/// Every trace on every machine, in this order. The machines are those called `name`, with these
/// policies and overrides.
///
/// # Errors
/// If a cell could not run.
pub fn cells<'a>(
    traces: &'a [NamedTrace],
    machines: &[Machine],
    name: &str,
    policies: &Choices,
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

/// The results of [`cells`], in their order, by trace.
pub fn classified(cells: &[Cell<'_>], results: Vec<RunResult>) -> Vec<Classified> {
    let mut results = results.into_iter();
    let mut classified = Vec::new();
    for cell in cells.iter().step_by(RUNS) {
        let [Some(plain), Some(dram), Some(l1), Some(l2)] = [(); RUNS].map(|()| results.next())
        else {
            break;
        };
        classified.push(Classified::new(cell.key.clone(), &Runs { plain, ideal: [dram, l1, l2] }));
    }
    classified
}
