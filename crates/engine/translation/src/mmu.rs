//! The shared part of address translation: the second-level TLB, the walk queue and the walkers.
//!
//! ```text
//!  L1 TLB of an SM ─▶ lookups ── hit ──────────────────────────────▶ back to the SM
//!                       │ miss                                    ▲
//!                       ▼                                         │ all requests for the page
//!                     misses ─▶ walk queue ─▶ walkers ─▶ L2 slices ─▶ fill
//! ```
//!
//! Every port holds as much as can be in flight, so that no unit waits for room in one.

use crate::counts::TranslationResult;
use crate::misses::Misses;
use crate::scheduler::{InstructionId, PendingWalk, WalkScheduler};
use crate::tlb::Tlb;
use crate::walk_queue::WalkQueue;
use crate::walkers::Walkers;
use crate::{SlicePorts, SmPorts, Vm};
use warpmem_sim::{Context, NetworkClock, NetworkCycle, PortId, Request, RequestId, Ticks, bits};

/// The translation unit of a GPU. Cycles are network cycles.
pub struct Mmu {
    /// Number of its unit in the network domain.
    unit: usize,
    clock: NetworkClock,
    page_bits: u32,
    lookups_per_cycle: u32,
    link_latency: u64,
    /// By SM.
    sms: Vec<SmPorts>,
    /// SMs with requests, one bit each, and the one that is served first.
    waiting: [u64; 4],
    first: usize,
    tlb: Tlb,
    misses: Misses,
    queue: WalkQueue,
    walkers: Walkers,
    /// Pages whose walks end in this step.
    ended: Vec<u64>,
    counts: TranslationResult,
}

impl Mmu {
    /// Builds the unit with number `unit` in the network domain. `sms` and `slices`: its ports.
    pub fn new(
        vm: &Vm,
        unit: usize,
        clock: NetworkClock,
        scheduler: Box<dyn WalkScheduler>,
        sms: Vec<SmPorts>,
        slices: Vec<SlicePorts>,
    ) -> Mmu {
        let l2 = &vm.l2;
        Mmu {
            unit,
            clock,
            page_bits: vm.page_bits(),
            lookups_per_cycle: l2.lookups_per_cycle,
            link_latency: l2.link_latency.into(),
            sms,
            waiting: [0; 4],
            first: 0,
            tlb: Tlb::new(l2.entries, l2.ways, l2.pages_per_entry),
            misses: Misses::new(l2.misses),
            queue: WalkQueue::new(scheduler),
            walkers: Walkers::new(vm, clock, slices),
            ended: Vec::new(),
            counts: TranslationResult::default(),
        }
    }

    /// Simulates network cycle `cycle`: ends of loads, lookups, starts of walks. Returns the next
    /// cycle that must be simulated without an earlier arrival.
    pub fn step(&mut self, cycle: NetworkCycle, ctx: &mut Context) -> Option<NetworkCycle> {
        // An SM and a slice may have the same number; those without a request are dropped.
        let arrived = ctx.take_arrivals(self.unit);
        self.waiting.iter_mut().zip(arrived).for_each(|(all, word)| *all |= word);
        self.walkers.arrived(arrived);
        self.walkers.advance(cycle, &mut self.ended, &mut self.counts, ctx);
        self.end_walks(cycle, ctx);
        let next_lookup = self.look_up(cycle, ctx);
        self.start_walks(cycle, ctx);
        [next_lookup, self.walkers.next_end(ctx)].into_iter().flatten().min()
    }

    /// Enters the translations of ended walks into the TLB, and answers the requests for them.
    fn end_walks(&mut self, cycle: NetworkCycle, ctx: &mut Context) {
        while let Some(page) = self.ended.pop() {
            self.tlb.fill(page);
            let mut requests = self.misses.take(page);
            for request in requests.drain(..) {
                self.reply(request, cycle, ctx);
            }
            self.misses.give_back(requests);
        }
    }

    /// Sends the translation of a page to the SM that asked for it.
    fn reply(&self, request: RequestId, cycle: NetworkCycle, ctx: &mut Context) {
        let port = self.sms[ctx.request(request).sm.index()].replies;
        ctx.push(port, request, self.clock.at(cycle + self.link_latency));
    }

    /// Performs the lookups of a cycle, in turns over the SMs. Returns the cycle of the next one;
    /// none if there is none, or if misses must end first.
    fn look_up(&mut self, cycle: NetworkCycle, ctx: &mut Context) -> Option<NetworkCycle> {
        let now = self.clock.at(cycle);
        let mut left = self.lookups_per_cycle;
        let mut next = Ticks::NEVER;
        let waiting = self.waiting;
        for sm in after_and_before(&waiting, self.first) {
            let port = self.sms.get(sm).map(|ports| ports.requests);
            let ready = port.map_or(Ticks::NEVER, |port| ctx.head_ready(port));
            if ready == Ticks::NEVER {
                bits::remove(&mut self.waiting, sm);
                continue;
            }
            next = next.min(ready);
            if ready > now {
                continue;
            }
            if left == 0 {
                return Some(cycle + 1);
            }
            let port = port.expect("its head is ready");
            if !self.serve(port, cycle, ctx) {
                return None;
            }
            left -= 1;
            self.first = (sm + 1) % self.sms.len();
            next = next.min(ctx.head_ready(port));
        }
        (next < Ticks::NEVER).then(|| self.clock.cycle_from(next).max(cycle + 1))
    }

    /// Looks the first request of a port up. Returns whether it was served: a miss needs room.
    fn serve(&mut self, port: PortId, cycle: NetworkCycle, ctx: &mut Context) -> bool {
        let now = self.clock.at(cycle);
        let Some(id) = ctx.ready(port, now) else { return false };
        let request = *ctx.request(id);
        let page = request.address >> self.page_bits;
        if self.tlb.look_up(page) {
            self.counts.hits += 1;
            self.reply(ctx.pop(port, now), cycle, ctx);
        } else if self.misses.join(page, id) {
            self.counts.merges += 1;
            ctx.pop(port, now);
        } else if self.misses.open(page, id) {
            self.counts.walks += 1;
            ctx.pop(port, now);
            let walk = self.pending(&request, page, cycle, ctx.created(id));
            self.queue.push(page, walk);
        } else {
            return false;
        }
        self.counts.lookups += 1;
        true
    }

    fn pending(
        &mut self,
        request: &Request,
        page: u64,
        cycle: NetworkCycle,
        issued: Ticks,
    ) -> PendingWalk {
        PendingWalk {
            instruction: InstructionId { sm: request.sm, access: request.access },
            issued,
            arrived: cycle,
            loads: self.walkers.loads(page),
            instruction_loads: 0,
            overtaken: 0,
        }
    }

    fn start_walks(&mut self, cycle: NetworkCycle, ctx: &mut Context) {
        while self.walkers.has_idle() {
            let Some((page, walk)) = self.queue.take() else { return };
            self.counts.queue_cycles += cycle.since(walk.arrived);
            self.walkers.start(page, cycle, &mut self.counts, ctx);
        }
    }

    /// Returns the counts so far.
    pub fn so_far(&self) -> TranslationResult {
        let (waiting, overtakes) = (self.queue.waiting, self.queue.overtakes);
        TranslationResult { waiting, overtakes, ..self.counts.clone() }
    }

    /// Whether no walk is pending or in progress.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.walkers.busy() == 0
    }

    /// Describes the unit for the deadlock report.
    pub fn describe(&self) -> String {
        format!(
            "translation: {} pages missed, {} walks pending, {} in progress",
            self.misses.len(),
            self.queue.len(),
            self.walkers.busy(),
        )
    }
}

/// Returns the members of a set from `first` on, then those before it.
fn after_and_before(set: &[u64; 4], first: usize) -> impl Iterator<Item = usize> {
    let after = bits::members(set).filter(move |&member| member >= first);
    after.chain(bits::members(set).filter(move |&member| member < first))
}
