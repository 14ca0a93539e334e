//! Tests of a single SM; [`MemoryStub`] replaces the network, L2 and DRAM.

mod account;
mod banks;
mod barriers;
mod collectors;
mod early_ends;
mod groups;
mod issue;
mod memory;
mod pausing;
mod perfect;
mod pipeline;
mod policy;
mod side;
mod slots;
mod throttling;
mod wakeups;

use super::scheduler::{Needs, ResidentCta, SmContext, WARP_SCHEDULERS, WarpScheduler, WarpView};
use super::*;
use crate::engine::{Bench, Rows};
use crate::results::{LoadRow, WarpRow};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use warpmem_machine::Machine;
use warpmem_sim::{ChannelId, Request, RequestId, RequestKind, Stamps};
use warpmem_testing::{TestKernel, WarpSteps, compute, trace};
use warpmem_trace::{OpClass, Trace};

/// Cycles that an integer or control instruction of li2015 spends in the pipeline.
const PIPELINE: u64 = 4;

/// Cycle in which CTAs start and the first instruction can issue.
const START: u64 = 1;
/// Cycles from the arrival of a request at the stub to its reply.
const MEMORY_LATENCY: u64 = 100;
/// Cycles from a sector's entry into an L1 bank to the tags, in these tests.
const L1_LATENCY: u64 = 30;
/// Cycles from the issue of a load miss or write-through store to its arrival at the stub: to the
/// tags, and one in the miss queue.
const TO_MEMORY: u64 = L1_LATENCY + 1;
/// Cycles from the issue of a load miss to the issue of its first use.
const MISS: u64 = TO_MEMORY + MEMORY_LATENCY;

/// A request at its arrival at the stub. The network steps before the SM, so a request sent in one
/// cycle arrives in the next.
#[derive(Clone, Copy, Debug)]
struct Sent {
    cycle: u64,
    request: Request,
    stamps: Stamps,
    /// Critical Field of its instruction at that time.
    critical_field: u8,
}

/// Record of a run.
struct Outcome {
    /// Cycle and warp slot of each issue.
    issues: Vec<(u64, u32)>,
    sent: Vec<Sent>,
    load_ends: Vec<(u64, u32)>,
    ended: Vec<CtaEnd>,
    loads: Vec<LoadRow>,
    warps: Vec<WarpRow>,
    /// Counts from [`START`] through the end cycle of the last CTA.
    result: SmResult,
    /// Counters of the warp scheduler.
    counters: Vec<(&'static str, u64)>,
}

impl Outcome {
    /// Returns the issue cycles of a warp, relative to [`START`].
    fn offsets_of(&self, warp: u32) -> Vec<u64> {
        self.issues_of(warp).iter().map(|cycle| cycle - START).collect()
    }

    /// Returns the issue cycles of a warp.
    fn issues_of(&self, warp: u32) -> Vec<u64> {
        self.issues.iter().filter(|&&(_, w)| w == warp).map(|&(cycle, _)| cycle).collect()
    }

    /// Returns the warps in issue order.
    fn order(&self) -> Vec<u32> {
        self.issues.iter().map(|&(_, warp)| warp).collect()
    }

    /// Returns kind, address and cycle of each request.
    fn traffic(&self) -> Vec<(RequestKind, u64, u64)> {
        self.sent.iter().map(|s| (s.request.kind, s.request.address, s.cycle)).collect()
    }

    fn end_cycle(&self) -> u64 {
        self.ended.iter().map(|end| end.cycle.number()).max().expect("a CTA has ended")
    }
}

/// Returns the issue cycles of a single warp on `machine`.
fn issues(machine: &Machine, warp: WarpSteps) -> Vec<u64> {
    run(machine, vec![warp]).issues_of(0)
}

/// Returns the issue cycles of a single warp on `machine`, relative to [`START`].
fn offsets(machine: &Machine, warp: WarpSteps) -> Vec<u64> {
    issues(machine, warp).iter().map(|cycle| cycle - START).collect()
}

/// Returns `count` independent instructions.
fn work(count: usize) -> WarpSteps {
    vec![compute(OpClass::Integer, &[]); count]
}

/// Returns the first addresses of `count` consecutive lines.
fn lines(count: u64) -> Vec<u64> {
    (0..count).map(|n| n * 128).collect()
}

/// Runs one CTA of `warps`.
fn run(machine: &Machine, warps: Vec<WarpSteps>) -> Outcome {
    run_ctas(machine, vec![warps])
}

/// Runs `ctas`, launched together.
fn run_ctas(machine: &Machine, ctas: Vec<Vec<WarpSteps>>) -> Outcome {
    let mut rig = Rig::new(machine, MemoryStub::default());
    rig.launch(&trace(&[TestKernel::new(ctas)]), START);
    rig.run()
}

/// Answers every request in order, [`MEMORY_LATENCY`] cycles after its arrival.
#[derive(Default)]
struct MemoryStub {
    /// First cycle in which it accepts requests.
    closed_until: u64,
    sent: Vec<Sent>,
    /// Cycle and number of each load whose last request arrived or was answered in L1.
    load_ends: Vec<(u64, u32)>,
    due: VecDeque<(u64, RequestId)>,
}

impl MemoryStub {
    fn step(&mut self, cycle: u64, unit: UnitId, out: PortId, back: PortId, ctx: &mut Context) {
        let now = ctx.fabric.clock(Domain::Network).at(cycle);
        if cycle < self.closed_until {
            ctx.fabric.wake_cycle(unit, self.closed_until);
            return;
        }
        while let Some(id) = ctx.fabric.ready(out, now) {
            ctx.fabric.pop(out, now);
            let (request, stamps) = (*ctx.requests.get(id), *ctx.requests.stamps(id));
            let critical_field = ctx.side.fields.of(&request);
            self.sent.push(Sent { cycle, request, stamps, critical_field });
            self.enter(&request, cycle, ctx);
            match request.kind {
                RequestKind::Writeback => ctx.requests.remove(id),
                _ => self.due.push_back((cycle + MEMORY_LATENCY, id)),
            }
        }
        while let Some(&(due, id)) = self.due.front()
            && due <= cycle
            && ctx.fabric.room_or_wake(back)
        {
            self.due.pop_front();
            stamp_all(id, now, ctx);
            ctx.fabric.push(back, id, now);
        }
        if let Some((ready, _)) = ctx.fabric.head(out) {
            ctx.fabric.wake(unit, ready);
        }
        if let Some(&(due, _)) = self.due.front().filter(|&&(due, _)| due > cycle) {
            ctx.fabric.wake_cycle(unit, due);
        }
    }
}

impl MemoryStub {
    /// Passes a request to DRAM, a single channel, without delay.
    fn enter(&mut self, request: &Request, cycle: u64, ctx: &mut Context) {
        let loads = ctx.side.loads.as_mut().filter(|_| request.load != u32::MAX);
        if loads.is_some_and(|loads| loads.entered(request.load, ChannelId(0))) {
            self.load_ends.push((cycle, request.load));
        }
    }

    fn step_dram(&mut self, cycle: u64, ctx: &mut Context) {
        let now = ctx.fabric.clock(Domain::Dram).at(cycle);
        let Some(loads) = &mut ctx.side.loads else { return };
        while let Some(load) = loads.next_end(ChannelId(0), now) {
            self.load_ends.push((cycle, load));
        }
    }
}

/// Stamps a request as if the memory took no time.
fn stamp_all(id: RequestId, now: warpmem_sim::Ticks, ctx: &mut Context) {
    let stamps = ctx.requests.stamps_mut(id);
    for stamp in [&mut stamps.l2_arrived, &mut stamps.l2_served, &mut stamps.replied] {
        *stamp = now;
    }
}

/// Logs the picks of a scheduler.
struct PickLogger {
    inner: Box<dyn WarpScheduler>,
    picks: Arc<Mutex<Vec<u32>>>,
}

impl WarpScheduler for PickLogger {
    fn pick(&mut self, candidates: u64, view: &WarpView) -> Option<WarpSlot> {
        let pick = self.inner.pick(candidates, view);
        self.picks.lock().unwrap().extend(pick.map(|slot| u32::from(slot.0)));
        pick
    }

    fn changes_at(&self, cycle: CoreCycle) -> CoreCycle {
        self.inner.changes_at(cycle)
    }

    fn launched(&mut self, cta: &ResidentCta) {
        self.inner.launched(cta);
    }

    fn retired(&mut self, slot: WarpSlot) {
        self.inner.retired(slot);
    }

    fn needs(&self) -> Needs {
        self.inner.needs()
    }

    fn missed(&mut self, slot: WarpSlot, line: u64, cycle: CoreCycle) {
        self.inner.missed(slot, line, cycle);
    }

    fn evicted(&mut self, slot: WarpSlot, line: u64) {
        self.inner.evicted(slot, line);
    }

    fn counters(&self) -> Vec<Counter> {
        self.inner.counters()
    }
}

impl Sm {
    /// Replaces the machine's policy.
    fn set_policy(&mut self, policy: Box<dyn WarpScheduler>) {
        self.issue.needs = policy.needs();
        self.memory.report_l1_events(self.issue.needs.l1_events);
        self.issue.policy = policy;
    }
}

struct Rig {
    bench: Bench,
    sm: Sm,
    stub: MemoryStub,
    ports: (PortId, PortId),
    l1_bytes: u32,
    picks: Arc<Mutex<Vec<u32>>>,
    /// CTAs to launch, by cycle.
    launches: VecDeque<(u64, CtaLaunch)>,
    /// Limits of issuing CTAs, set after the SM's step of a cycle.
    limits: VecDeque<(u64, u32)>,
    /// Cycle after whose step kernel 0 is terminated early.
    early_end: Option<u64>,
    /// Steps the SM in every cycle, requested or not.
    every_cycle: bool,
}

impl Rig {
    fn new(machine: &Machine, stub: MemoryStub) -> Rig {
        let mut bench = Bench::new(machine, [1, 0, 1, 1]);
        let (core, network) = (unit(Domain::Core), unit(Domain::Network));
        let entries = (machine.l1.cache.miss_queue + machine.network.input_buffer) as usize;
        let out = bench.sim.region.fabric.add_port("out", 0, entries, core, network);
        let back = bench.sim.region.fabric.add_port("back", 0, 8, network, core);
        let clock = bench.sim.region.fabric.clock_of();
        let context = SmContext::of(machine, SmId(0));
        let policy = WARP_SCHEDULERS.build(&machine.policy.warp_scheduler, &context).unwrap();
        let mut sm = Sm::new(machine, SmId(0), clock, out, back, policy);
        if machine.policy.ideal == "perfect-l1" {
            sm = sm.with_perfect_l1();
        }
        let picks = Arc::<Mutex<Vec<u32>>>::default();
        let context = SmContext::of(machine, SmId(0));
        let inner = WARP_SCHEDULERS.build(&machine.policy.warp_scheduler, &context).unwrap();
        sm.set_policy(Box::new(PickLogger { inner, picks: Arc::clone(&picks) }));
        sm.start_account(CoreCycle::new(START));
        let l1_bytes = machine.l1.cache.size_bytes;
        let launches = VecDeque::new();
        let (ports, limits) = ((out, back), VecDeque::new());
        let (early_end, every_cycle) = (None, false);
        Rig { bench, sm, stub, ports, l1_bytes, picks, launches, limits, early_end, every_cycle }
    }

    /// Launches all CTAs of the first kernel of `trace` at `cycle`.
    fn launch(&mut self, trace: &Trace, cycle: u64) {
        let code = Arc::new(Code::new(&trace.instructions(0).unwrap()));
        let kernel = &trace.kernels()[0];
        let mut cta = 0;
        for chunk in 0..kernel.chunks.len() {
            let chunk = trace.chunk(0, chunk).unwrap();
            for cta_in_chunk in 0..chunk.ctas().len() {
                let launch = CtaLaunch {
                    kernel: 0,
                    cta,
                    number: cta,
                    code: Arc::clone(&code),
                    chunk: Arc::clone(&chunk),
                    cta_in_chunk,
                    l1_bytes: self.l1_bytes,
                    flush: self.launches.is_empty(),
                    cluster: None,
                };
                self.launches.push_back((cycle, launch));
                cta += 1;
            }
        }
        self.bench.sim.region.fabric.wake_cycle(self.sm.unit(), cycle);
    }

    /// Limits the issuing CTAs after the SM's step of `cycle`.
    fn limit(&mut self, cycle: u64, ctas: u32) {
        self.limits.push_back((cycle, ctas));
        self.bench.sim.region.fabric.wake_cycle(self.sm.unit(), cycle);
    }

    /// Terminates kernel 0 after the SM's step of `cycle`.
    fn end_early(&mut self, cycle: u64) {
        self.early_end = Some(cycle);
        self.bench.sim.region.fabric.wake_cycle(self.sm.unit(), cycle);
    }

    /// Runs to completion and checks that nothing is left in flight.
    fn run(mut self) -> Outcome {
        let (mut issues, mut ended) = (Vec::new(), Vec::new());
        let Rig { bench, sm, stub, ports, picks, launches, limits, early_end, every_cycle, .. } =
            &mut self;
        bench.run(|unit, cycle, ctx| match unit.domain {
            Domain::Core => {
                while launches.front().is_some_and(|&(start, _)| start <= cycle) {
                    let start = CoreCycle::new(cycle);
                    launches.pop_front().into_iter().for_each(|(_, cta)| sm.launch(cta, start));
                }
                sm.step(CoreCycle::new(cycle), ctx).unwrap();
                issues.extend(picks.lock().unwrap().drain(..).map(|warp| (cycle, warp)));
                ended.extend(std::iter::from_fn(|| sm.take_ended()));
                let ends = *early_end == Some(cycle) && sm.end_early(0);
                let limit = limits.pop_front_if(|&mut (at, _)| at == cycle);
                let limited = limit.is_some_and(|(_, ctas)| sm.limit_running(ctas));
                if ends || limited || *every_cycle && !sm.is_idle() {
                    ctx.fabric.wake_cycle(unit, cycle + 1);
                }
            }
            Domain::Dram => stub.step_dram(cycle, ctx),
            _ => stub.step(cycle, unit, ports.0, ports.1, ctx),
        });
        assert!(sm.is_idle(), "{}", sm.describe());
        assert_eq!(bench.sim.region.requests.in_flight(), 0);
        let last = ended.iter().map(|end: &CtaEnd| end.cycle).max().expect("a CTA has ended");
        let mut result = sm.finish(last + 1);
        sm.finish_memory(&mut result);
        let Rows { loads, warps } = bench.rows();
        let counters = sm.counters().iter().map(|c| (c.name, c.value)).collect();
        let MemoryStub { sent, load_ends, .. } = std::mem::take(stub);
        Outcome { issues, sent, load_ends, ended, loads, warps, result, counters }
    }
}

fn unit(domain: Domain) -> UnitId {
    UnitId { domain, index: 0 }
}
