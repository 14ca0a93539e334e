//! Runs required by a paper's claims and figures.

use crate::cli::exit::Interrupted;
use crate::cli::interrupt::Interrupt;
use crate::cli::suite::get::generate;
use crate::cli::sweep::execute::{Options, complete, run_on};
use crate::study::reproduce::{Factorial, Paper};
use crate::study::suite::{Generation, Planned as Workload};
use crate::study::sweep::{Plan, generated};
use crate::study::traces::NamedTrace;
use std::path::{Path, PathBuf};
use warpmem_reproduce::{Planned, factorial_plan, plan};

/// Options of the runs.
pub struct Place<'a> {
    pub directory: &'a Path,
    /// Whether the directory is deleted when the command ends.
    pub is_temporary: bool,
    pub jobs: usize,
    pub interrupt: Interrupt,
}

impl Place<'_> {
    /// Returns a separate folder for a part of the runs.
    pub fn part(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Returns the same options with another results directory.
    pub fn within<'a>(&self, directory: &'a Path) -> Place<'a> {
        Place { directory, interrupt: self.interrupt.clone(), ..*self }
    }

    /// Returns the workloads of a paper, and generates missing ones.
    ///
    /// # Errors
    /// If a workload cannot be generated.
    pub fn generated(
        &self,
        paper: &Paper,
        planned: &[Workload],
    ) -> anyhow::Result<Vec<NamedTrace>> {
        let folder = self.directory.join("traces").join(paper.set_name());
        let generate = |work: &Generation<'_>| generate(work, &self.interrupt);
        Ok(generated(&paper.name, planned, &folder, self.jobs, &generate)?)
    }

    /// Runs every configuration of a paper on every trace, except runs with existing results.
    /// Traces that cannot run on the paper's machine are skipped.
    ///
    /// # Errors
    /// If a run fails, or results cannot be written.
    pub fn run(&self, paper: &Paper, traces: &[NamedTrace]) -> anyhow::Result<Vec<Planned>> {
        let (plan, planned) = plan(paper, traces)?;
        self.execute(&plan, traces)?;
        Ok(planned)
    }

    /// Runs every combination on every machine and trace, except runs with existing results.
    ///
    /// # Errors
    /// If a run fails, or results cannot be written.
    pub fn run_factorial(
        &self,
        paper: &Paper,
        factorial: &Factorial,
        traces: &[NamedTrace],
    ) -> anyhow::Result<()> {
        self.execute(&factorial_plan(paper, factorial), traces)
    }

    fn execute(&self, plan: &Plan, traces: &[NamedTrace]) -> anyhow::Result<()> {
        let options = Options { jobs: self.jobs, shard: None, cache: None, prune: false };
        let outcome = run_on(plan, traces, self.directory, &options, &self.interrupt)?;
        if outcome.interrupted && self.is_temporary {
            let (finished, cells) = (outcome.finished, outcome.cells);
            let kept = format!("{finished} of {cells} runs finished; --output would keep them");
            return Err(Interrupted { kept }.into());
        }
        complete(outcome, self.directory).map(drop)
    }
}
