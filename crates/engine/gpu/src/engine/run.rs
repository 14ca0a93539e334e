//! The run loop: from a machine and a trace to results.

use super::feeder::Feeder;
use super::intervals::Intervals;
use super::periods::Periods;
use super::system::{BuildError, FIRST_CYCLE, System};
use super::team::Team;
use super::warming::Warming;
use super::weights::Weights;
use crate::results::{KernelResult, LoadRow, RunResult, RunSink, SmResult};
use crate::slots::ChosenPolicies;
use std::borrow::Cow;
use warpmem_dram::scheduler::Family;
use warpmem_dram::{Command, CommandSink};
use warpmem_machine::Machine;
use warpmem_sim::{CoreClock, CoreCycle, Ticks};
use warpmem_trace::{Kernel, Trace, TraceError, WARP_SIZE};

/// Unit steps between two reports of progress.
const REPORT_STEPS: u64 = 1 << 17;
/// Unit steps between two transfers of logged commands.
const LOG_STEPS: u64 = 1 << 17;
/// Unit steps without progress after which a machine with events is declared stuck, if they also
/// took longer than the longest activity of a unit.
const STALL_STEPS: u64 = if cfg!(test) { 1 << 18 } else { 1 << 26 };

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgressReport {
    pub ctas_ended: u64,
    pub ctas: u64,
    /// Core cycles simulated.
    pub cycles: u64,
    pub warp_instructions: u64,
}

/// Observes a run.
pub trait Progress {
    /// Called periodically; `false` interrupts the run.
    fn report(&mut self, report: &ProgressReport) -> bool;
}

/// Ignores progress.
struct NoProgress;

impl Progress for NoProgress {
    fn report(&mut self, _: &ProgressReport) -> bool {
        true
    }
}

/// Reason for a run without results.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error("interrupted")]
    Interrupted,
    #[error(
        "deadlock at core cycle {cycle}: work remains and nothing can move; please report this with the \
         trace and the machine\n  {}",
        state.join("\n  ")
    )]
    Deadlock { cycle: u64, state: Vec<String> },
    #[error(
        "broken invariant at the end of the run: {what}; please report this with the trace and the machine\n  {}",
        state.join("\n  ")
    )]
    Invariant { what: String, state: Vec<String> },
}

impl RunError {
    /// Returns whether it is a fault of the engine, not of its input.
    pub fn is_fault(&self) -> bool {
        matches!(self, RunError::Deadlock { .. } | RunError::Invariant { .. })
    }
}

/// One run of a trace on a machine: inputs and options, then [`Simulation::run`].
///
/// The same inputs give the same results, bit for bit, whatever the number of threads.
pub struct Simulation<'a> {
    pub(super) machine: &'a Machine,
    pub(super) trace: &'a Trace,
    policies: Option<&'a ChosenPolicies>,
    threads: usize,
    schedulers: Option<&'a dyn Family>,
    every_cycle: bool,
    progress: Option<&'a mut dyn Progress>,
}

impl<'a> Simulation<'a> {
    /// A run on one thread under the policies that `machine` names.
    pub fn new(machine: &'a Machine, trace: &'a Trace) -> Simulation<'a> {
        Simulation {
            machine,
            trace,
            policies: None,
            threads: 1,
            schedulers: None,
            every_cycle: false,
            progress: None,
        }
    }

    /// Uses policies that were chosen for the machine before; by default the run chooses those that
    /// it names.
    pub fn policies(self, policies: &'a ChosenPolicies) -> Simulation<'a> {
        Simulation { policies: Some(policies), ..self }
    }

    /// Limits the run to `threads` threads. It uses fewer on a machine with fewer SMs or channels, and
    /// one where DRAM schedulers share state or tables, or where the sink samples requests.
    pub fn threads(self, threads: usize) -> Simulation<'a> {
        Simulation { threads, ..self }
    }

    /// Replaces the DRAM schedulers that the machine names.
    pub fn schedulers(self, schedulers: &'a dyn Family) -> Simulation<'a> {
        Simulation { schedulers: Some(schedulers), ..self }
    }

    /// Steps every unit in every cycle instead of only when it is due. Results are the same except
    /// [`RunResult::steps`]: a difference reveals a unit that slept through an event. Slow.
    pub fn every_cycle(self) -> Simulation<'a> {
        Simulation { every_cycle: true, ..self }
    }

    /// Reports to `progress`, which can interrupt the run.
    pub fn progress(self, progress: &'a mut dyn Progress) -> Simulation<'a> {
        Simulation { progress: Some(progress), ..self }
    }

    /// Runs the trace to its end; `sink` receives the rows that it wants.
    pub fn run(self, sink: &mut dyn RunSink) -> Result<RunResult, RunError> {
        let mut system = self.system(sink)?;
        self.run_system(&mut system, sink)
    }

    /// Runs the trace and returns the commands of each channel. The log is held in memory.
    pub fn run_with_commands(self) -> Result<(RunResult, Vec<Vec<Command>>), RunError> {
        let mut logs = CommandLogs(vec![Vec::new(); self.machine.dram.channels as usize]);
        let result = self.run(&mut logs)?;
        Ok((result, logs.0))
    }

    pub(super) fn system(&self, sink: &dyn RunSink) -> Result<System, BuildError> {
        let Simulation { machine, trace, threads, .. } = *self;
        let wanted = sink.wanted();
        let policies = &*match self.policies {
            Some(policies) => Cow::Borrowed(policies),
            None => Cow::Owned(ChosenPolicies::choose(machine)?),
        };
        let mut system = match self.schedulers {
            Some(schedulers) => {
                System::with_schedulers(machine, policies, trace, schedulers, &wanted, threads)
            }
            None => System::new(machine, policies, trace, &wanted, threads),
        }?;
        if self.every_cycle {
            system.step_every_cycle();
        }
        Ok(system)
    }

    pub(super) fn run_system(
        self,
        system: &mut System,
        sink: &mut dyn RunSink,
    ) -> Result<RunResult, RunError> {
        let progress: &mut dyn Progress = match self.progress {
            Some(progress) => progress,
            None => &mut NoProgress,
        };
        run_to_end(system, self.machine, self.trace, sink, progress)
    }
}

/// A command log per channel.
struct CommandLogs(Vec<Vec<Command>>);

impl RunSink for CommandLogs {
    fn load(&mut self, _: &LoadRow) {}

    fn commands(&mut self) -> Option<&mut dyn CommandSink> {
        Some(&mut self.0)
    }
}

/// Passes logged commands to the sink periodically, to bound their memory.
struct CommandLog {
    /// Unit steps.
    next_hand_over: u64,
}

impl CommandLog {
    /// Starts the logs if `sink` takes commands.
    fn start(system: &mut System, sink: &mut dyn RunSink) -> Option<CommandLog> {
        sink.commands()?;
        system.enable_command_logs();
        Some(CommandLog { next_hand_over: LOG_STEPS })
    }

    fn follow(&mut self, system: &mut System, sink: &mut dyn RunSink) {
        if system.steps() >= self.next_hand_over {
            self.next_hand_over = system.steps() + LOG_STEPS;
            hand_over_commands(system, sink);
        }
    }
}

fn hand_over_commands(system: &mut System, sink: &mut dyn RunSink) {
    if let Some(commands) = sink.commands() {
        system.take_command_logs(commands);
    }
}

fn run_to_end(
    system: &mut System,
    machine: &Machine,
    trace: &Trace,
    sink: &mut dyn RunSink,
    progress: &mut dyn Progress,
) -> Result<RunResult, RunError> {
    let mut log = CommandLog::start(system, sink);
    let core = CoreClock::new(machine.clocks.periods().core);
    let wanted = sink.wanted();
    let mut intervals = Intervals::new(&wanted, core);
    let mut periods = Periods::new(core);
    let mut weights = Weights::new(system);
    let mut warming = Warming::new(system, machine, trace);
    let mut result = RunResult::default();
    let end = std::thread::scope(|scope| {
        let mut feeder = Feeder::start(trace, !system.dispatcher().is_sampled(), scope);
        let team = Team::start(system.helpers(), scope);
        let mut watchdog = Watchdog::new(machine, core);
        let mut now = Ticks(0);
        // The dispatcher starts the first CTAs in cycle 0; the SMs see them in cycle 1.
        system.start_account(FIRST_CYCLE);
        while !system.dispatcher().is_done() {
            now = watchdog.next(system, progress)?;
            if let Some(intervals) = &mut intervals {
                intervals.follow(now, system, sink);
            }
            let next_period = periods.follow(now, system);
            if let (Some(weights), Some(next)) = (&mut weights, next_period) {
                weights.end_period(next, system);
            }
            system.step(now, &mut feeder, &team)?;
            if let Some(warming) = &mut warming {
                warming.follow(system)?;
            }
            if system.rows().is_full() {
                system.rows().flush(sink);
            }
            if let Some(log) = &mut log {
                log.follow(system, sink);
            }
        }
        system.rows().flush(sink);
        let ends = system.dispatcher().results().iter().map(|k| CoreCycle::new(k.end_cycle));
        let end = ends.max().unwrap_or(FIRST_CYCLE);
        result.core_cycles = end.since(FIRST_CYCLE);
        system.finish_sms(end, &mut result);
        system.end_prefetching(now);
        while !system.is_drained() {
            now = watchdog.next(system, progress)?;
            system.step(now, &mut feeder, &team)?;
        }
        system.rows().flush(sink);
        Ok::<Ticks, RunError>(now.max(core.at(end)))
    })?;
    system.finish_memory(end, machine, &mut result);
    system.take_record(&mut result);
    periods.finish(system, &mut result);
    check_end(system, trace, &result, machine.run.launch_instructions > 0)?;
    if let Some(intervals) = intervals {
        intervals.finish(&result, sink);
    }
    hand_over_commands(system, sink);
    if let Some(weights) = weights {
        weights.finish(system, &mut result);
        complete_kernels(trace, &mut result);
    }
    Ok(result)
}

/// Selects the next time, and detects deadlocks and interruptions.
struct Watchdog {
    core: CoreClock,
    now: Ticks,
    next_report: u64,
    /// Warp instructions of the last report.
    warp_instructions: u64,
    stall: Stall,
}

impl Watchdog {
    fn new(machine: &Machine, core: CoreClock) -> Watchdog {
        let (next_report, stall) = (REPORT_STEPS, Stall::new(machine));
        Watchdog { core, now: Ticks(0), next_report, warp_instructions: 0, stall }
    }

    fn next(&mut self, system: &System, progress: &mut dyn Progress) -> Result<Ticks, RunError> {
        let Some(now) = system.next_time() else {
            return Err(self.deadlock(system, self.now));
        };
        self.now = now;
        if system.steps() >= self.next_report {
            self.next_report = system.steps() + REPORT_STEPS;
            self.report(system, now, progress)?;
        }
        Ok(now)
    }

    fn report(
        &mut self,
        system: &System,
        now: Ticks,
        progress: &mut dyn Progress,
    ) -> Result<(), RunError> {
        if self.stall.is_over(system.progress(), system.steps(), now) {
            return Err(self.deadlock(system, now));
        }
        let dispatcher = system.dispatcher();
        // The counts of the SMs are taken at the end of the last CTA, before memory drains.
        self.warp_instructions = self.warp_instructions.max(system.warp_instructions());
        let report = ProgressReport {
            ctas_ended: dispatcher.ctas_ended(),
            ctas: dispatcher.ctas(),
            cycles: self.core.cycle_of(now).number(),
            warp_instructions: self.warp_instructions,
        };
        if progress.report(&report) { Ok(()) } else { Err(RunError::Interrupted) }
    }

    fn deadlock(&self, system: &System, now: Ticks) -> RunError {
        RunError::Deadlock { cycle: self.core.cycle_of(now).number(), state: system.describe() }
    }
}

/// Detects a machine that has events but makes no progress.
struct Stall {
    /// Longest time without progress of a healthy machine, ticks.
    patience: u64,
    progress: u64,
    /// Number of steps and time of the last progress.
    steps: u64,
    since: Ticks,
}

impl Stall {
    fn new(machine: &Machine) -> Stall {
        Stall { patience: longest_work(machine), progress: 0, steps: 0, since: Ticks(0) }
    }

    /// Returns whether there has been no `progress` for too many steps and too long.
    fn is_over(&mut self, progress: u64, steps: u64, now: Ticks) -> bool {
        if progress != self.progress {
            (self.progress, self.steps, self.since) = (progress, steps, now);
        }
        steps - self.steps > STALL_STEPS && now.since(self.since) > self.patience
    }
}

/// Returns the longest time between two events of progress on a healthy machine, ticks: a kernel is
/// launched, an atomic of a whole warp holds a slice, or a request crosses some units with the
/// largest latency that a key allows.
fn longest_work(machine: &Machine) -> u64 {
    const LATENCIES: u64 = 1_000_000;
    let periods = machine.clocks.periods();
    let slowest = periods.core.max(periods.network).max(periods.l2).max(periods.dram);
    let atomic = u64::from(machine.l2.atomic_cycles) * WARP_SIZE as u64;
    let launch = machine.cycles_between_kernels() + machine.cycles_before_first_cta();
    slowest.saturating_mul(LATENCIES + launch + atomic)
}

/// Gives the launches of which only parts were simulated the CTAs and instructions of the whole.
fn complete_kernels(trace: &Trace, result: &mut RunResult) {
    for kernel in result.kernels.iter_mut().filter(|kernel| kernel.extrapolated_cycles.is_some()) {
        let whole = &trace.kernels()[kernel.launch as usize];
        kernel.ctas = whole.ctas.into();
        kernel.warp_instructions = whole.warp_instructions;
        kernel.thread_instructions = whole.thread_instructions;
    }
}

/// Instructions according to the trace, the SMs and the kernels.
type Issued = (&'static str, fn(&Kernel) -> u64, fn(&SmResult) -> u64, fn(&KernelResult) -> u64);
const ISSUED: [Issued; 2] = [
    ("warp", |trace| trace.warp_instructions, |sm| sm.warp_instructions, |k| k.warp_instructions),
    (
        "thread",
        |trace| trace.thread_instructions,
        |sm| sm.thread_instructions,
        |k| k.thread_instructions,
    ),
];

/// Checks the invariants of a completed run. `is_limited`: kernels may have ended early.
fn check_end(
    system: &System,
    trace: &Trace,
    result: &RunResult,
    is_limited: bool,
) -> Result<(), RunError> {
    let broken = |what: String| RunError::Invariant { what, state: system.describe() };
    if !system.leftovers().is_empty() {
        return Err(broken("a queue is not empty".to_owned()));
    }
    for (what, of_trace, of_sm, of_kernel) in ISSUED {
        let expected = result.kernels.iter().map(|kernel| match kernel.extrapolated_cycles {
            Some(_) => of_kernel(kernel),
            None => of_trace(&trace.kernels()[kernel.launch as usize]),
        });
        let expected: u64 = expected.sum();
        let issued: u64 = result.sms.iter().map(of_sm).sum();
        let is_expected = if is_limited { issued <= expected } else { issued == expected };
        if !is_expected {
            // The header of the trace may disagree with its contents.
            trace.check_counts()?;
            return Err(broken(format!("{issued} of {expected} {what} instructions issued")));
        }
        let of_kernels: u64 = result.kernels.iter().map(of_kernel).sum();
        if of_kernels != issued {
            return Err(broken(format!("{issued} {what} instructions, {of_kernels} of kernels")));
        }
    }
    for (id, sm) in result.sms.iter().enumerate() {
        let cycles = sm.active_cycles
            + sm.no_warp_cycles
            + sm.memory_block_cycles
            + sm.dependency_stall_cycles
            + sm.structural_stall_cycles
            + sm.barrier_cycles;
        if cycles != result.core_cycles {
            return Err(broken(format!(
                "SM {id} accounts for {cycles} of {} cycles",
                result.core_cycles
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::machine;

    #[test]
    fn a_machine_without_progress_is_stuck_after_both_limits() {
        let patience = longest_work(&machine(&[]));
        let steps = STALL_STEPS + 1;
        let late = Ticks(patience + 1);
        assert!(Stall::new(&machine(&[])).is_over(0, steps, late));
        assert!(!Stall::new(&machine(&[])).is_over(0, steps - 1, late), "too few steps");
        assert!(!Stall::new(&machine(&[])).is_over(0, steps, Ticks(patience)), "too short a time");
        let mut stall = Stall::new(&machine(&[]));
        for times in 1..100 {
            let now = Ticks(late.0 * times);
            assert!(
                !stall.is_over(times, steps * times, now),
                "one request moves in each interval"
            );
        }
        assert!(stall.is_over(99, steps * 100, Ticks(late.0 * 100)));
    }

    #[test]
    fn patience_grows_with_the_longest_activity_of_a_unit() {
        let of = |overrides: &[&str]| longest_work(&machine(overrides));
        let (short, long) = (of(&["l2.atomic_cycles=1"]), of(&["l2.atomic_cycles=80000"]));
        assert!(long - short >= 32 * 79_999);
        assert!(of(&["run.launch_latency=100000000"]) > 100_000_000);
        // A tick is a fraction of the fastest clock's cycle, and the slowest clock decides.
        assert!(of(&["clocks.dram_mhz=10"]) >= 100 * short);
        let ends = ["clocks.core_mhz=1", "clocks.l2_mhz=99991", "clocks.dram_mhz=9973"];
        assert!(of(&ends) > 0, "and no sum overflows");
    }
}
