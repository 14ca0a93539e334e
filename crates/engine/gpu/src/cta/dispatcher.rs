//! The dispatcher starts kernels in launch order and launches their CTAs on SMs. It owns the free
//! resources of every SM and the state of every kernel; the CTA scheduler only chooses SMs.

mod cluster_launch;
mod kernels;
mod sampled;

use super::clusters::Clusters;
use super::residency::{ClusterError, ResidencyError};
use super::scheduler::{ChosenCtaScheduler, CtaScheduler, DispatchView, KernelStart};
use super::sms::SmTable;
use super::start_rate::StartRate;
use crate::results::KernelResult;
use crate::sampling::Sampling;
use crate::sm::{ClusterCta, Code, CtaEnd, CtaLaunch, IdleCycles};
use kernels::{Kernel, Running, State};
pub(crate) use sampled::{Gap, Period, Place};
use std::collections::VecDeque;
use std::sync::Arc;
use warpmem_machine::Machine;
use warpmem_params::{Counter, PolicyError};
use warpmem_sim::{CoreCycle, SmId, Times};
use warpmem_trace::{Chunk, TraceError};

/// Source of kernels' instructions and CTAs.
pub trait KernelSource {
    /// Returns the instructions of a starting kernel.
    fn code(&mut self, kernel: usize) -> Result<Arc<Code>, TraceError>;

    /// Returns a chunk of a kernel's CTAs.
    fn chunk(&mut self, kernel: usize, chunk: usize) -> Result<Arc<Chunk>, TraceError>;

    /// Returns the chunk that holds a CTA, and the index of the CTA in it. Chunks read ahead for its
    /// predecessors are no longer needed.
    fn seek(&mut self, kernel: usize, cta: u32) -> Result<(usize, usize), TraceError>;

    /// Releases a kernel whose chunks are no longer needed.
    fn end(&mut self, kernel: usize);
}

/// A CTA launched on an SM.
pub struct Launch {
    pub sm: SmId,
    pub cta: CtaLaunch,
}

/// Launches kernels and their CTAs as SMs have room.
pub struct Dispatcher {
    kernels: Vec<Kernel>,
    /// None if everything is simulated.
    sampling: Option<Sampling>,
    running: Vec<Running>,
    scheduler: Box<dyn CtaScheduler>,
    sms: SmTable,
    rate: StartRate,
    /// CTAs of clusters with resources allocated that await a start slot of their SM.
    held: VecDeque<Launch>,
    clusters: Clusters,
    /// All kernels before this one have finished.
    first_open: usize,
    concurrent: bool,
    /// Core cycles from the end of a kernel to the start of the next, and from the start of a kernel
    /// to its first CTA.
    between_kernels: u64,
    before_first_cta: u64,
    /// Warp instructions after which a kernel ends, 0 = no limit; and the most that all SMs issue
    /// in a cycle.
    instruction_limit: u64,
    issue_width: u64,
    /// First cycle in which the next kernel may start.
    next_start: CoreCycle,
    /// The period before the current one, and the current one.
    ended_period: Period,
    period: Period,
    /// Warp instructions of the run that were issued before the current step; only in a sampled run.
    issued: u64,
    /// Weight of the drawn parts of the kernel that ended last, in addition to their own.
    scale: Times,
    /// Launches or CTAs skipped before the last started CTA, until they are taken.
    gap: Option<Gap>,
    results: Vec<KernelResult>,
    ctas_ended: u64,
}

/// Reasons for which a dispatcher cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum DispatchError {
    #[error(transparent)]
    Policy(#[from] PolicyError),
    #[error(transparent)]
    Residency(#[from] ResidencyError),
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    #[error("run.fast_forward = {skipped} leaves none of {launches} launches; valid are 0 to {}", launches.saturating_sub(1))]
    NothingLeft { skipped: u32, launches: usize },
}

impl Dispatcher {
    /// Builds the dispatcher of `kernels`, in launch order.
    pub fn new(
        machine: &Machine,
        scheduler: &ChosenCtaScheduler,
        kernels: &[warpmem_trace::Kernel],
    ) -> Result<Dispatcher, DispatchError> {
        let (launches, skipped) = (kernels, machine.run.fast_forward);
        if skipped > 0 && skipped as usize >= launches.len() {
            return Err(DispatchError::NothingLeft { skipped, launches: launches.len() });
        }
        let results = kernels.iter().zip(0..).map(kernel_result).collect();
        let mut next_number = 0u32;
        let kernels = kernels
            .iter()
            .map(|kernel| {
                let first_number = next_number;
                // A gap of one number keeps CTAs of different kernels from being neighbours.
                next_number = next_number.saturating_add(kernel.ctas).saturating_add(1);
                Kernel::new(machine, kernel, first_number)
            })
            .collect::<Result<Vec<_>, DispatchError>>()?;
        let wave = |kernel: &Kernel| kernel.wave(machine.sm.count);
        let sampling = Sampling::new(machine, launches, kernels.iter().map(wave));
        let mut dispatcher = Dispatcher {
            kernels,
            sampling,
            running: Vec::new(),
            scheduler: scheduler.build(machine)?,
            sms: SmTable::new(machine),
            rate: StartRate::new(machine.sm.cta_dispatch_permille),
            held: VecDeque::new(),
            clusters: Clusters::default(),
            first_open: 0,
            concurrent: machine.run.concurrent_kernels,
            between_kernels: machine.cycles_between_kernels(),
            before_first_cta: machine.cycles_before_first_cta(),
            instruction_limit: u64::from(machine.run.launch_instructions),
            issue_width: u64::from(machine.sm.schedulers) * u64::from(machine.sm.count),
            next_start: CoreCycle::ZERO,
            ended_period: Period::FIRST,
            period: Period::FIRST,
            issued: 0,
            scale: Times::ONCE,
            gap: None,
            results,
            ctas_ended: 0,
        };
        dispatcher.fast_forward(skipped as usize);
        Ok(dispatcher)
    }

    /// Returns the number of each kernel's first CTA among all CTAs of the trace.
    pub fn first_ctas(&self, kernels: &[u32]) -> Arc<[u32]> {
        kernels.iter().map(|&kernel| self.kernels[kernel as usize].first_number).collect()
    }

    /// Retires a CTA that ended in core cycle `end.cycle`. `issued` returns the warp instructions
    /// issued by each CTA of its kernel still resident on this SM.
    pub fn cta_ended(&mut self, end: CtaEnd, issued: &dyn Fn() -> Vec<u64>) {
        let kernel = end.kernel as usize;
        let sm = self.sms.logical(end.sm);
        let end = CtaEnd { sm, ..end };
        if self.kernels[kernel].cluster > 1 {
            self.clusters.end(ClusterCta { kernel: end.kernel, cta: end.cta });
        }
        self.sms.release(sm, &self.kernels[kernel].needs);
        self.ctas_ended += 1;
        let at = self.running.iter().position(|r| r.kernel == kernel).expect("the kernel runs");
        self.running[at].ended += 1;
        self.running[at].issued += end.issued.warp;
        let result = &mut self.results[kernel];
        result.end_cycle = (end.cycle + 1).number();
        result.warp_instructions += end.issued.warp;
        result.thread_instructions += end.issued.thread;
        self.scheduler.cta_ended(&end, issued);
        self.end_kernel_if_over(at, end.cycle);
    }

    /// Ends running kernel `at` in `cycle` if none of its CTAs is left.
    fn end_kernel_if_over(&mut self, at: usize, cycle: CoreCycle) {
        let Running { kernel, ended, .. } = self.running[at];
        if ended == self.kernels[kernel].ctas {
            self.kernels[kernel].state = State::Done;
            let ended_kernel = self.running.remove(at);
            self.scheduler.kernel_ended(kernel as u32);
            self.next_start = cycle + 1 + self.between_kernels;
            self.end_sampled(ended_kernel);
        }
    }

    /// Returns a running kernel whose instructions must be counted in core cycle `cycle`, after
    /// the SMs' step.
    pub fn to_count(&self, cycle: CoreCycle) -> Option<u32> {
        let is_due = |running: &&Running| running.next_count.is_some_and(|due| due <= cycle);
        self.running.iter().find(is_due).map(|running| running.kernel as u32)
    }

    /// Counts the instructions of `kernel`; `resident`: warp instructions issued by its resident
    /// CTAs up to `cycle`. Returns whether the kernel has reached its limit: its CTAs must then
    /// end and no more start. Otherwise schedules the next count at the earliest cycle in which
    /// the limit can be reached.
    pub fn count_instructions(&mut self, kernel: u32, resident: u64, cycle: CoreCycle) -> bool {
        let at = self.running.iter().position(|r| r.kernel == kernel as usize);
        let at = at.expect("the kernel runs");
        let running = &mut self.running[at];
        let left = self.instruction_limit.saturating_sub(running.issued + resident);
        running.next_count = (left > 0).then(|| cycle + left.div_ceil(self.issue_width));
        if left == 0 {
            self.kernels[running.kernel].ctas = running.next_cta;
            self.end_held(kernel, cycle);
        }
        left == 0
    }

    /// Whether the CTA scheduler observes the SMs at core cycle `cycle`, before their step.
    pub fn observes(&self, cycle: CoreCycle) -> bool {
        let due = |interval| cycle.number().is_multiple_of(interval);
        !self.running.is_empty() && self.scheduler.interval().is_some_and(due)
    }

    /// Passes the idle cycles of an SM since the start of the run to the CTA scheduler.
    pub fn observe(&mut self, sm: SmId, idle: IdleCycles) {
        self.scheduler.observe(self.sms.logical(sm), idle);
    }

    /// Whether the CTA scheduler can pause CTAs.
    pub fn pauses(&self) -> bool {
        self.scheduler.interval().is_some()
    }

    /// Returns the number of CTAs of an SM that may issue. CTAs of a cluster never pause, as
    /// others wait for them.
    pub fn running_limit(&self, sm: SmId) -> u32 {
        if self.running.iter().any(|running| self.kernels[running.kernel].cluster > 1) {
            return u32::MAX;
        }
        self.scheduler.running_limit(self.sms.logical(sm))
    }

    /// Returns the counters of the CTA scheduler.
    pub fn counters(&self) -> Vec<Counter> {
        self.scheduler.counters()
    }

    /// Launches every kernel and CTA that can start at core cycle `cycle`; the SMs see them in the
    /// next cycle. Returns when to call again unless a CTA ends earlier.
    pub fn step(
        &mut self,
        cycle: CoreCycle,
        source: &mut dyn KernelSource,
        launches: &mut VecDeque<Launch>,
    ) -> Result<Option<CoreCycle>, TraceError> {
        self.start_kernels(cycle, source)?;
        self.sms.begin_cycle();
        for launch in std::mem::take(&mut self.held) {
            self.launch(launch, cycle, launches);
        }
        for at in 0..self.running.len() {
            while self.start_next(at, cycle, source, launches)? {}
        }
        let counts = self.running.iter().filter_map(|running| running.next_count);
        let first_ctas = self.running.iter().map(|running| running.first_cta);
        // Counts are read at the start of a period, which is an event even if no CTA starts then.
        let later = first_ctas.chain([self.period.start]).filter(|&at| at > cycle);
        let wants = [
            self.next_cta_start(cycle, !launches.is_empty()),
            self.next_kernel_start(cycle),
            self.next_observation(cycle),
        ];
        Ok(wants.into_iter().flatten().chain(counts).chain(later).min())
    }

    /// Returns when the next CTA may start, unless the end of a CTA starts it earlier. `started`: a
    /// CTA has started in `cycle`.
    fn next_cta_start(&self, cycle: CoreCycle, started: bool) -> Option<CoreCycle> {
        let may_wait = started || !self.held.is_empty() || !self.rate.allows(cycle);
        may_wait.then(|| self.rate.next_after(cycle))
    }

    /// Returns when the next kernel may start, unless the end of a CTA starts it earlier.
    fn next_kernel_start(&self, cycle: CoreCycle) -> Option<CoreCycle> {
        let waits = |kernel: &Kernel| kernel.state == State::Waiting;
        let any_waits = || self.kernels[self.first_open..].iter().any(waits);
        (self.next_start > cycle && any_waits()).then_some(self.next_start)
    }

    fn next_observation(&self, cycle: CoreCycle) -> Option<CoreCycle> {
        let interval = self.scheduler.interval().filter(|_| !self.running.is_empty())?;
        Some(CoreCycle::new((cycle.number() / interval + 1) * interval))
    }

    fn start_kernels(
        &mut self,
        cycle: CoreCycle,
        source: &mut dyn KernelSource,
    ) -> Result<(), TraceError> {
        while cycle >= self.next_start
            && let Some(kernel) = self.next_kernel()
        {
            let results = &mut self.results[kernel];
            results.start_cycle = (cycle + 1).number();
            results.end_cycle = results.start_cycle;
            if self.kernels[kernel].ctas == 0 {
                self.kernels[kernel].state = State::Done;
                self.skip_kernels(kernel + 1);
                continue;
            }
            self.kernels[kernel].state = State::Running;
            if self.running.is_empty() {
                self.begin_period(Period::of_launch(cycle + 1, self.results[kernel].stands_for));
            }
            self.scheduler.kernel_started(&KernelStart {
                kernel: kernel as u32,
                per_sm: self.kernels[kernel].per_sm,
                alone: self.running.is_empty(),
            });
            self.running.push(Running {
                kernel,
                code: source.code(kernel)?,
                chunk: None,
                next_chunk: 0,
                next_in_chunk: 0,
                next_cta: 0,
                ended: 0,
                issued: 0,
                next_count: (self.instruction_limit > 0).then_some(cycle + 1),
                first_cta: cycle + self.before_first_cta,
                parts: self.parts(kernel),
                start: cycle,
                before_part: self.work(cycle),
            });
        }
        Ok(())
    }

    /// Returns the first kernel that may start beside the running ones: all earlier kernels of its
    /// stream must have finished.
    fn next_kernel(&mut self) -> Option<usize> {
        let over = self.kernels[self.first_open..].iter().take_while(|k| k.state == State::Done);
        self.first_open += over.count();
        let first = self.first_open;
        if !self.concurrent {
            let next = self.kernels.get(first)?;
            return (next.state == State::Waiting).then_some(first);
        }
        (first..self.kernels.len()).find(|&k| {
            let stream = self.kernels[k].info.stream;
            self.kernels[k].state == State::Waiting
                && self.kernels[first..k]
                    .iter()
                    .all(|other| other.state == State::Done || other.info.stream != stream)
        })
    }

    /// Starts the next CTA of a running kernel, or its next cluster, if an SM has room.
    fn start_next(
        &mut self,
        at: usize,
        cycle: CoreCycle,
        source: &mut dyn KernelSource,
        launches: &mut VecDeque<Launch>,
    ) -> Result<bool, TraceError> {
        let Running { kernel, first_cta, .. } = self.running[at];
        if cycle < first_cta || !self.rate.allows(cycle) {
            return Ok(false);
        }
        let Some(sm) = self.pick(at) else { return Ok(false) };
        if !self.continue_parts(at, cycle, source)? {
            return Ok(false);
        }
        if self.kernels[kernel].cluster == 1 {
            let launch = self.start_cta(at, sm, None, cycle, source)?;
            self.launch(launch, cycle, launches);
            return Ok(true);
        }
        let Kernel { needs, cluster, .. } = &self.kernels[kernel];
        let cluster_sms = self.sms.of_cluster(sm, needs, *cluster);
        let sms: Arc<[SmId]> = cluster_sms.iter().map(|&sm| self.sms.physical(sm)).collect();
        self.clusters.start(kernel as u32, self.running[at].next_cta, Arc::clone(&sms));
        for sm in cluster_sms {
            let launch = self.start_cta(at, sm, Some(Arc::clone(&sms)), cycle, source)?;
            self.launch(launch, cycle, launches);
        }
        Ok(true)
    }

    /// Picks the SM of a running kernel's next CTA, or of the first CTA of its next cluster.
    fn pick(&mut self, at: usize) -> Option<SmId> {
        let running = &self.running[at];
        let kernel = &self.kernels[running.kernel];
        if running.next_cta == kernel.ctas {
            return None;
        }
        let view = DispatchView {
            kernel: running.kernel as u32,
            cta: running.next_cta,
            ctas: kernel.ctas,
            per_sm: kernel.per_sm,
            cluster: kernel.cluster,
            needs: &kernel.needs,
            sms: &self.sms,
        };
        let sm = self.scheduler.pick(&view)?;
        debug_assert!(view.may_start(sm), "a CTA scheduler picked an SM that has no room");
        Some(sm)
    }

    /// Starts the next CTA of a running kernel on `sm`, which has room. `cluster`: SMs of its
    /// cluster, by rank.
    fn start_cta(
        &mut self,
        at: usize,
        sm: SmId,
        cluster: Option<Arc<[SmId]>>,
        cycle: CoreCycle,
        source: &mut dyn KernelSource,
    ) -> Result<Launch, TraceError> {
        let running = &mut self.running[at];
        let kernel = &self.kernels[running.kernel];
        let flush = self.sms.allocate(sm, &kernel.needs, running.kernel);
        self.scheduler.cta_started(running.kernel as u32, sm);
        let chunk = running.next_in_chunk(kernel.chunks, source)?;
        kernel.check_warps(&chunk, running.next_in_chunk)?;
        let cta = CtaLaunch {
            kernel: running.kernel as u32,
            cta: running.next_cta,
            number: kernel.first_number.saturating_add(running.next_cta),
            code: Arc::clone(&running.code),
            cta_in_chunk: running.next_in_chunk,
            chunk,
            l1_bytes: kernel.l1_bytes,
            flush,
            cluster,
        };
        running.next_cta += 1;
        running.next_in_chunk += 1;
        self.results[running.kernel].ctas += 1;
        if running.next_cta == 1 && self.before_first_cta == 0 {
            self.results[running.kernel].start_cycle = (cycle + 1).number();
        }
        Ok(Launch { sm: self.sms.physical(sm), cta })
    }

    /// Whether every kernel has finished.
    pub fn is_done(&self) -> bool {
        self.running.is_empty()
            && self.kernels[self.first_open..].iter().all(|k| k.state == State::Done)
    }

    /// Returns the number of ended CTAs of all kernels.
    pub fn ctas_ended(&self) -> u64 {
        self.ctas_ended
    }

    /// Returns the number of CTAs of all simulated kernels.
    pub fn ctas(&self) -> u64 {
        self.kernels.iter().map(|k| u64::from(k.ctas)).sum()
    }

    /// Returns the kernels' results so far.
    pub fn results(&self) -> &[KernelResult] {
        &self.results
    }

    /// Describes each running kernel for the deadlock report.
    pub fn describe(&self) -> impl Iterator<Item = String> {
        self.running.iter().map(|r| {
            let kernel = &self.kernels[r.kernel];
            format!(
                "kernel {} `{}`: {} of {} CTAs started, {} ended",
                r.kernel, kernel.info.name, r.next_cta, kernel.ctas, r.ended
            )
        })
    }
}

/// Returns the result of a kernel before its start.
fn kernel_result((kernel, launch): (&warpmem_trace::Kernel, u32)) -> KernelResult {
    let name = kernel.info.name.clone();
    KernelResult { launch, name, like: launch, stands_for: 1, ..KernelResult::default() }
}
