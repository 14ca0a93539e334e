//! Address translation in an SM: the first-level TLB, and the requests that wait for translations.
//!
//! ```text
//!  L1 miss ─▶ TLB ── hit ───────────────────────────────▶ request network
//!              │ miss                                 ▲
//!              ▼                                      │
//!           waiting ─▶ translation unit ─▶ fill ─▶ translated
//! ```
//!
//! Under `vm.l1.before_l1` an instruction waits in front of L1 for all its pages instead, and its
//! requests are not looked up again.

use super::access::{AccessId, Waits};
use super::sectors::Sector;
use crate::context::Context;
use crate::results::TlbCounts;
use std::collections::VecDeque;
use std::mem;
use warpmem_machine::Machine;
use warpmem_sim::{
    CoreClock, CoreCycle, Location, Request, RequestId, RequestKind, SmId, Ticks, WarpId,
};
use warpmem_translation::{Placement, SmPorts, Tlb};

/// A request, or the instruction in front of L1, that waits for a translation.
#[derive(Clone, Copy)]
pub(super) struct Waiting {
    /// [`RequestId::NONE`] for the instruction.
    pub request: RequestId,
    pub access: AccessId,
    pub warp: WarpId,
    /// First cycle of its wait.
    pub since: CoreCycle,
}

/// A page in flight, and those that wait for it.
struct Miss {
    page: u64,
    waiting: Vec<Waiting>,
}

/// The instruction in front of L1, under `vm.l1.before_l1`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InFront {
    /// Not looked up.
    New,
    /// Waits for this number of pages.
    Waits(u32),
    /// May enter L1 when all its pages have been looked up.
    Translated,
}

/// Address translation of one SM.
pub(super) struct Translation {
    sm: SmId,
    clock: CoreClock,
    ports: SmPorts,
    placement: Option<Placement>,
    page_bits: u32,
    /// Time from here to the lookup in the next TLB, ticks.
    ask_ticks: u64,
    /// Latency of a hit, core cycles.
    latency: u64,
    before_l1: bool,
    /// Lookups per cycle in front of L1.
    lookups_per_cycle: u64,
    tlb: Tlb,
    most_misses: usize,
    most_held: usize,
    misses: Vec<Miss>,
    /// Waiters that find no room among the misses, with their pages, in order.
    queued: VecDeque<(u64, Waiting)>,
    /// Translated requests that wait for the request port, in order.
    translated: VecDeque<Waiting>,
    /// Requests that wait for translations or for the port.
    held: usize,
    in_front: InFront,
    /// Cycle of the last lookup of its pages.
    looked_up: CoreCycle,
    /// Waits of its pages that have ended.
    front_waits: Waits,
    /// Page and instruction of the last lookup: further requests to it are not looked up.
    last: Option<(u64, AccessId)>,
    /// Empty lists, for new misses.
    spare: Vec<Vec<Waiting>>,
    counts: TlbCounts,
}

impl Translation {
    pub fn new(machine: &Machine, sm: SmId, clock: CoreClock, ports: SmPorts) -> Translation {
        let (vm, network) = (&machine.vm, machine.clocks.periods().network);
        let l1 = &vm.l1;
        Translation {
            sm,
            clock,
            ports,
            placement: Placement::new(vm),
            page_bits: vm.page_bits(),
            ask_ticks: u64::from(vm.first_lookup_latency()) * network,
            latency: l1.latency.into(),
            before_l1: l1.before_l1,
            lookups_per_cycle: l1.ports.into(),
            tlb: Tlb::new(l1.entries, l1.ways, l1.pages_per_entry),
            most_misses: l1.misses as usize,
            most_held: l1.waiting as usize,
            misses: Vec::new(),
            queued: VecDeque::new(),
            translated: VecDeque::new(),
            held: 0,
            in_front: InFront::New,
            looked_up: CoreCycle::ZERO,
            front_waits: Waits::default(),
            last: None,
            spare: Vec::new(),
            counts: TlbCounts::default(),
        }
    }

    /// Returns the virtual page of a physical address.
    #[inline]
    fn page(&self, address: u64) -> u64 {
        let address = self.placement.map_or(address, |placement| placement.virtual_of(address));
        address >> self.page_bits
    }

    /// Returns how many requests may be sent if the port has room for `room`.
    #[inline]
    pub fn room(&self, room: usize) -> usize {
        if self.held >= self.most_held { 0 } else { room.saturating_sub(self.translated.len()) }
    }

    /// Begins an instruction: counts the pages of its sectors.
    pub fn begin(&mut self, access: AccessId, sectors: &[Sector]) -> u32 {
        // The number may be that of an instruction that has completed.
        self.last = self.last.filter(|(_, last)| *last != access);
        let mut pages = 0;
        for (at, sector) in sectors.iter().enumerate() {
            let page = self.page(sector.address);
            let differs = |other: &Sector| self.page(other.address) != page;
            pages += u32::from(sectors[..at].iter().rev().all(differs));
        }
        self.counts.instructions += u64::from(pages > 0);
        self.counts.pages += u64::from(pages);
        pages
    }

    /// Looks a page up for an instruction.
    #[inline]
    fn look_up(&mut self, page: u64, access: AccessId) -> bool {
        let hit = self.tlb.look_up(page);
        if self.last != Some((page, access)) {
            self.last = Some((page, access));
            self.counts.lookups += 1;
            self.counts.hits += u64::from(hit);
        }
        hit
    }

    /// Translates a request that leaves L1 in cycle `leaves`. Returns the cycle of its departure for
    /// the network; none if it waits for its translation.
    pub fn translate(
        &mut self,
        id: RequestId,
        leaves: CoreCycle,
        ctx: &mut Context,
    ) -> Option<CoreCycle> {
        let &Request { address, access, kind, warp, .. } = ctx.requests.get(id);
        if self.before_l1 || kind == RequestKind::Writeback {
            return Some(leaves);
        }
        let (page, access) = (self.page(address), AccessId(access));
        if self.look_up(page, access) {
            return Some(leaves + self.latency);
        }
        self.held += 1;
        self.counts.held_requests += 1;
        self.wait(page, Waiting { request: id, access, warp, since: leaves }, leaves, ctx);
        None
    }

    /// Translates the pages of the instruction in front of L1. Returns its waits, once, if
    /// it may enter.
    pub fn admits(
        &mut self,
        access: AccessId,
        warp: WarpId,
        sectors: &[Sector],
        cycle: CoreCycle,
        ctx: &mut Context,
    ) -> Option<Waits> {
        if !self.before_l1 {
            return Some(Waits::default());
        }
        if self.in_front == InFront::New {
            self.look_up_all(access, warp, sectors, cycle, ctx);
        }
        match self.in_front {
            InFront::Translated if self.looked_up <= cycle => {
                Some(mem::take(&mut self.front_waits))
            }
            InFront::New | InFront::Waits(_) | InFront::Translated => None,
        }
    }

    /// Looks the pages of the instruction in front of L1 up, once each in the order of its sectors, as
    /// many per cycle as there are ports.
    fn look_up_all(
        &mut self,
        access: AccessId,
        warp: WarpId,
        sectors: &[Sector],
        cycle: CoreCycle,
        ctx: &mut Context,
    ) {
        let (mut pages, mut lookups) = (0, 0_u64);
        self.looked_up = cycle;
        self.front_waits = Waits::default();
        for (at, sector) in sectors.iter().enumerate() {
            let page = self.page(sector.address);
            if sectors[..at].iter().rev().any(|other| self.page(other.address) == page) {
                continue;
            }
            let since = cycle + lookups / self.lookups_per_cycle;
            lookups += 1;
            self.looked_up = since;
            if !self.look_up(page, access) {
                pages += 1;
                let request = RequestId::NONE;
                self.wait(page, Waiting { request, access, warp, since }, since, ctx);
            }
        }
        self.in_front = if pages == 0 { InFront::Translated } else { InFront::Waits(pages) };
    }

    /// Reports that the instruction in front of L1 has begun to enter.
    pub fn entered(&mut self) {
        self.in_front = InFront::New;
    }

    /// Whether the instruction in front of L1 waits for translations.
    pub fn holds_instruction(&self) -> bool {
        matches!(self.in_front, InFront::Waits(_))
    }

    /// Adds `waiting` to those that wait for a page, and asks for the page in `cycle` if it is not
    /// in flight.
    fn wait(&mut self, page: u64, waiting: Waiting, cycle: CoreCycle, ctx: &mut Context) {
        if !self.queued.is_empty() || !self.enter(page, waiting, cycle, ctx) {
            self.queued.push_back((page, waiting));
        }
    }

    /// Adds `waiting` to a miss, or opens one. Returns whether there was room.
    fn enter(&mut self, page: u64, waiting: Waiting, cycle: CoreCycle, ctx: &mut Context) -> bool {
        if let Some(miss) = self.misses.iter_mut().find(|miss| miss.page == page) {
            miss.waiting.push(waiting);
            return true;
        }
        if self.misses.len() == self.most_misses {
            return false;
        }
        let mut list = self.spare.pop().unwrap_or_default();
        list.push(waiting);
        self.misses.push(Miss { page, waiting: list });
        self.ask(page, waiting, cycle, ctx);
        true
    }

    /// Sends a request for the translation of a page. The port has an entry for every miss.
    fn ask(&mut self, page: u64, first: Waiting, cycle: CoreCycle, ctx: &mut Context) {
        self.counts.misses += 1;
        let now = self.clock.at(cycle);
        let address = page << self.page_bits;
        let blank = Request::of_slice(address, RequestKind::Translation, Location::ZERO);
        let Waiting { access, warp, .. } = first;
        let request = Request { sm: self.sm, access: access.0, warp, ..blank };
        let id = ctx.requests.add(request, now);
        ctx.fabric.push(self.ports.requests, id, Ticks(now.0 + self.ask_ticks));
    }

    /// Returns when the next translation arrives.
    #[inline]
    pub fn next_arrival(&self, ctx: &Context) -> Ticks {
        ctx.fabric.head_ready(self.ports.replies)
    }

    /// Whether a translation has arrived by `cycle`, or translated requests wait for the port.
    #[inline]
    pub fn has_work(&self, cycle: CoreCycle, ctx: &Context) -> bool {
        !self.translated.is_empty() || self.next_arrival(ctx) <= self.clock.at(cycle)
    }

    /// Takes the translations that have arrived by `cycle`.
    pub fn take_arrivals(&mut self, cycle: CoreCycle, ctx: &mut Context) {
        let now = self.clock.at(cycle);
        while let Some(id) = ctx.fabric.ready(self.ports.replies, now) {
            ctx.pop(self.ports.replies, now);
            let page = ctx.requests.get(id).address >> self.page_bits;
            ctx.requests.remove(id);
            self.tlb.fill(page);
            let at = self.misses.iter().position(|miss| miss.page == page);
            let mut miss = self.misses.swap_remove(at.expect("it was asked for"));
            miss.waiting.drain(..).for_each(|waiting| self.end_wait(waiting, cycle));
            self.spare.push(miss.waiting);
        }
        self.enter_queued(cycle, ctx);
    }

    /// Retries those that found no room among the misses.
    fn enter_queued(&mut self, cycle: CoreCycle, ctx: &mut Context) {
        while let Some(&(page, waiting)) = self.queued.front() {
            if self.tlb.look_up(page) {
                self.end_wait(waiting, cycle);
            } else if !self.enter(page, waiting, cycle.max(waiting.since), ctx) {
                return;
            }
            self.queued.pop_front();
        }
    }

    fn end_wait(&mut self, waiting: Waiting, cycle: CoreCycle) {
        if waiting.request != RequestId::NONE {
            return self.translated.push_back(waiting);
        }
        // Its lookup may be due later than the reply of a page in front of it in the queue.
        self.front_waits.add(Waits::one(cycle.since(waiting.since.min(cycle))));
        self.in_front = match self.in_front {
            InFront::Waits(pages) if pages > 1 => InFront::Waits(pages - 1),
            _ => InFront::Translated,
        };
    }

    /// Takes the next translated request, with the cycle of its departure: the one after `cycle`, as
    /// the fill takes one.
    pub fn take_translated(&mut self, cycle: CoreCycle) -> Option<(Waiting, CoreCycle)> {
        let waiting = self.translated.pop_front()?;
        let leaves = waiting.since.max(cycle + 1);
        self.held -= 1;
        self.counts.held_cycles += leaves.since(waiting.since);
        Some((waiting, leaves))
    }

    /// Whether a translated request waits for the port.
    pub fn has_translated(&self) -> bool {
        !self.translated.is_empty()
    }

    pub fn counts(&self) -> TlbCounts {
        self.counts
    }

    /// Describes the state for the deadlock report.
    pub fn describe(&self) -> String {
        format!(
            ", {} pages missed in the TLB, {} requests held for translation",
            self.misses.len(),
            self.held
        )
    }
}
