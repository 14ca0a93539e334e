//! The shared part of address translation: the TLBs of groups, the second-level TLB, the walk queue
//! and the walkers.
//!
//! ```text
//!  L1 TLB of an SM ─▶ (TLB of its group) ─▶ second level ─ hit ───────────▶ back
//!                                                │ miss                        ▲
//!                                                ▼                             │ all requests
//!                                             misses ─▶ walk queue ─▶ walkers ─▶ fill
//!                                                                       │ ▲
//!                                                                    L2 slices
//! ```
//!
//! Every port holds as much as can be in flight, so that no unit waits for room in one.

use crate::counts::TranslationResult;
use crate::groups::Groups;
use crate::misses::Misses;
use crate::scheduler::{InstructionId, PendingWalk, WalkScheduler};
use crate::second_level::SecondLevel;
use crate::turns::{Head, Turns};
use crate::walk_queue::WalkQueue;
use crate::walkers::{WalkLoad, Walkers};
use crate::{SlicePorts, SmPorts, Vm};
use warpmem_sim::{Context, NetworkClock, NetworkCycle, Request, RequestId, Ticks};

/// The translation unit of a GPU. Cycles are network cycles.
pub struct Mmu {
    /// Number of its unit in the network domain.
    unit: usize,
    clock: NetworkClock,
    page_bits: u32,
    /// Lookups per cycle of a TLB that the SMs ask, and of the second level.
    lookups_per_turn: u32,
    lookups_per_cycle: u32,
    /// Latency of the link to an SM.
    link_latency: u64,
    /// By SM.
    sms: Vec<SmPorts>,
    /// SMs with requests, one bit each.
    waiting: [u64; 4],
    /// By TLB that the SMs ask.
    turns: Vec<Turns>,
    groups: Option<Groups>,
    second: SecondLevel,
    misses: Misses,
    queue: WalkQueue,
    walkers: Walkers,
    /// Pages whose walks end in this step.
    ended: Vec<u64>,
    counts: TranslationResult,
}

impl Mmu {
    /// Builds the unit with number `unit` in the network domain. `warps`: warp slots of an SM. `sms`
    /// and `slices`: its ports.
    pub fn new(
        vm: &Vm,
        warps: u32,
        unit: usize,
        clock: NetworkClock,
        scheduler: Box<dyn WalkScheduler>,
        sms: Vec<SmPorts>,
        slices: Vec<SlicePorts>,
    ) -> Mmu {
        let (group, l2) = (&vm.group, &vm.l2);
        let groups = Groups::new(vm, sms.len());
        let turns = match &groups {
            Some(groups) => groups.turns(sms.len()),
            None => vec![Turns::new(0..sms.len())],
        };
        let (lookups_per_turn, link_latency) = match &groups {
            Some(_) => (group.lookups_per_cycle, group.link_latency),
            None => (l2.lookups_per_cycle, l2.link_latency),
        };
        Mmu {
            unit,
            clock,
            page_bits: vm.page_bits(),
            lookups_per_turn,
            lookups_per_cycle: l2.lookups_per_cycle,
            link_latency: link_latency.into(),
            sms,
            waiting: [0; 4],
            turns,
            groups,
            second: SecondLevel::new(vm, warps),
            misses: Misses::new(l2.misses),
            queue: WalkQueue::new(scheduler),
            walkers: Walkers::new(vm, clock, slices),
            ended: Vec::new(),
            counts: TranslationResult::default(),
        }
    }

    /// Records completed loads of walks from now on.
    pub fn record_loads(&mut self) {
        self.walkers.record_loads();
    }

    /// Takes the recorded loads of walks, in the order of their ends.
    pub fn take_loads(&mut self) -> impl Iterator<Item = WalkLoad> {
        self.walkers.take_loads()
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
        self.fill_groups(cycle, ctx);
        let next_lookup = self.look_up(cycle, ctx);
        self.start_walks(cycle, ctx);
        let next_answer = self.groups.as_ref().and_then(Groups::next_answer);
        [next_lookup, next_answer, self.walkers.next_end(ctx)].into_iter().flatten().min()
    }

    /// Enters the translations of ended walks into the TLB, and answers the requests for them.
    fn end_walks(&mut self, cycle: NetworkCycle, ctx: &mut Context) {
        while let Some(page) = self.ended.pop() {
            let mut requests = self.misses.take(page);
            let warps = requests.iter().map(|&id| ctx.request(id).warp);
            self.counts.diverted += u64::from(self.second.fill(page, warps));
            for request in requests.drain(..) {
                self.reply(request, cycle, ctx);
            }
            self.misses.give_back(requests);
        }
    }

    /// Sends the translation of a page from the second level to its group or SM.
    fn reply(&mut self, request: RequestId, cycle: NetworkCycle, ctx: &mut Context) {
        match &mut self.groups {
            Some(groups) => groups.answer(request, cycle),
            None => self.to_sm(request, cycle, ctx),
        }
    }

    /// Sends the translation of a page to the SM that asked for it.
    fn to_sm(&self, request: RequestId, cycle: NetworkCycle, ctx: &mut Context) {
        let port = self.sms[ctx.request(request).sm.index()].replies;
        ctx.push(port, request, self.clock.at(cycle + self.link_latency));
    }

    /// Takes the translations that have arrived at the TLBs of groups.
    fn fill_groups(&mut self, cycle: NetworkCycle, ctx: &mut Context) {
        while let Some(id) = self.groups.as_mut().and_then(|groups| groups.take_answer(cycle)) {
            let (page, sm) = (self.page(id, ctx), ctx.request(id).sm.index());
            self.groups.iter_mut().for_each(|groups| groups.fill(sm, page));
            self.to_sm(id, cycle, ctx);
        }
    }

    /// Performs the lookups of a cycle at the TLBs that the SMs ask, then those of the groups'
    /// requests at the second level. Returns the cycle of the next one; none if there is none, or if
    /// misses must end first.
    fn look_up(&mut self, cycle: NetworkCycle, ctx: &mut Context) -> Option<NetworkCycle> {
        let mut next = None;
        for at in 0..self.turns.len() {
            next = earlier(next, self.look_up_in_turn(at, cycle, ctx));
        }
        if self.groups.is_some() {
            next = earlier(next, self.look_up_asked(cycle, ctx));
        }
        next
    }

    /// Performs the lookups of a cycle at one TLB, in turns over its SMs.
    fn look_up_in_turn(
        &mut self,
        at: usize,
        cycle: NetworkCycle,
        ctx: &mut Context,
    ) -> Option<NetworkCycle> {
        let now = self.clock.at(cycle);
        let mut left = self.lookups_per_turn;
        loop {
            let (port, sm) = match self.turns[at].next(&self.sms, &mut self.waiting, now, ctx) {
                Head::Ready(port, sm) => (port, sm),
                Head::At(Ticks::NEVER) => return None,
                Head::At(next) => return Some(self.clock.cycle_from(next).max(cycle + 1)),
            };
            if left == 0 {
                return Some(cycle + 1);
            }
            let id = ctx.ready(port, now).expect("its head is ready");
            if !self.serve_first(id, sm, cycle, ctx) {
                return None;
            }
            ctx.pop(port, now);
            left -= 1;
            self.turns[at].served(sm);
        }
    }

    /// Serves a request that has arrived from an SM, at the TLB of its group or at the second level.
    /// Returns whether there was room.
    fn serve_first(
        &mut self,
        id: RequestId,
        sm: usize,
        cycle: NetworkCycle,
        ctx: &mut Context,
    ) -> bool {
        let page = self.page(id, ctx);
        let Some(groups) = &mut self.groups else { return self.serve(id, cycle, ctx) };
        self.counts.group_lookups += 1;
        if groups.look_up(sm, page) {
            self.counts.group_hits += 1;
            self.to_sm(id, cycle, ctx);
        } else {
            groups.ask(id, cycle);
        }
        true
    }

    /// Performs the lookups of a cycle at the second level, in the order of arrival.
    fn look_up_asked(&mut self, cycle: NetworkCycle, ctx: &mut Context) -> Option<NetworkCycle> {
        for _ in 0..self.lookups_per_cycle {
            let groups = self.groups.as_ref().expect("a request has come from one");
            let Some(id) = groups.asked(cycle) else { return groups.next_asked() };
            if !self.serve(id, cycle, ctx) {
                return None;
            }
            self.groups.iter_mut().for_each(Groups::take_asked);
        }
        let next = self.groups.as_ref().and_then(Groups::next_asked)?;
        Some(next.max(cycle + 1))
    }

    fn page(&self, id: RequestId, ctx: &Context) -> u64 {
        ctx.request(id).address >> self.page_bits
    }

    /// Serves a request at the second level. Returns whether it was served: a miss needs room.
    fn serve(&mut self, id: RequestId, cycle: NetworkCycle, ctx: &mut Context) -> bool {
        let request = *ctx.request(id);
        let page = request.address >> self.page_bits;
        let hit = self.second.look_up(page);
        if hit {
            self.counts.hits += 1;
            self.reply(id, cycle, ctx);
        } else if self.misses.join(page, id) {
            self.counts.merges += 1;
        } else if self.misses.open(page, id) {
            self.counts.walks += 1;
            let walk = self.pending(&request, page, cycle, ctx.created(id));
            self.queue.push(page, walk);
        } else {
            return false;
        }
        self.counts.lookups += 1;
        self.second.count(hit);
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

    /// Whether no walk is pending or in progress, and no request is between two TLBs.
    pub fn is_idle(&self) -> bool {
        let in_flight = self.groups.as_ref().map_or(0, Groups::in_flight);
        self.queue.is_empty() && self.walkers.busy() == 0 && in_flight == 0
    }

    /// Describes the unit for the deadlock report.
    pub fn describe(&self) -> String {
        format!(
            "translation: {} requests between TLBs, {} pages missed, {} walks pending, {} in progress",
            self.groups.as_ref().map_or(0, Groups::in_flight),
            self.misses.len(),
            self.queue.len(),
            self.walkers.busy(),
        )
    }
}

/// Returns the earlier of two cycles.
fn earlier(one: Option<NetworkCycle>, other: Option<NetworkCycle>) -> Option<NetworkCycle> {
    [one, other].into_iter().flatten().min()
}
