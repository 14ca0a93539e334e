//! Runs required by a paper's claims and figures, with progress and messages.

use crate::cli::exit::Interrupted;
use crate::cli::interrupt::Interrupt;
use crate::cli::suite::get::generate;
use crate::cli::sweep::execute::{Options, complete, run_on};
use crate::study::suite::{GenerateError, Generation};
use crate::study::sweep::Plan;
use crate::study::traces::NamedTrace;
use std::path::Path;
use warpmem_reproduce::Worker;

/// Generates and runs for the command line.
pub struct Runs {
    /// Whether the directory is deleted when the command ends.
    pub is_temporary: bool,
    pub jobs: usize,
    pub interrupt: Interrupt,
}

impl Worker for Runs {
    fn generate(&self, work: &Generation<'_>) -> Result<(), GenerateError> {
        generate(work, &self.interrupt)
    }

    fn run(&self, plan: &Plan, traces: &[NamedTrace], directory: &Path) -> anyhow::Result<()> {
        let options = Options { jobs: self.jobs, shard: None, cache: None, prune: false };
        let outcome = run_on(plan, traces, directory, &options, &self.interrupt)?;
        if outcome.interrupted && self.is_temporary {
            let (finished, cells) = (outcome.finished, outcome.cells);
            let kept = format!("{finished} of {cells} runs finished; --output would keep them");
            return Err(Interrupted { kept }.into());
        }
        complete(outcome, directory).map(drop)
    }
}
