//! Runs that measure the engine.

use super::instrumented::{StepCounts, WorkBalance};
use super::run::{RunError, Simulation};
use crate::results::{Discard, RunResult};
use warpmem_sim::Total;

impl Simulation<'_> {
    /// Runs the trace on one thread, with the machine divided as for the number of threads given, and
    /// measures the balance of work, which bounds the speed-up of threads.
    pub fn run_measuring_balance(self) -> Result<(RunResult, WorkBalance), RunError> {
        let mut system = self.system(&Discard)?;
        system.balance = Some(Box::new(WorkBalance::new(system.parts.len())));
        let result = self.run_system(&mut system, &mut Discard)?;
        Ok((result, *system.balance.expect("set before the run")))
    }

    /// Runs the trace and counts the unit steps that change nothing. Slow.
    pub fn run_counting_steps(self) -> Result<(RunResult, StepCounts), RunError> {
        let mut system = self.system(&Discard)?;
        system.parts.iter_mut().for_each(|part| part.step_counts = Some(Box::default()));
        let result = self.run_system(&mut system, &mut Discard)?;
        let mut all = StepCounts::default();
        system
            .parts
            .iter()
            .filter_map(|p| p.step_counts.as_deref())
            .for_each(|steps| all.add(steps));
        Ok((result, all))
    }
}
