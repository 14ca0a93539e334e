//! The page walkers: walks in progress, one load at a time.

use crate::counts::TranslationResult;
use crate::page_table::PageTable;
use crate::walk_cache::WalkCaches;
use crate::{SlicePorts, Vm};
use std::collections::VecDeque;
use warpmem_sim::{
    Context, Insertion, NetworkClock, NetworkCycle, Request, RequestKind, Stamps, Ticks, bits,
};

/// A completed load of a walk from the slices.
#[derive(Clone, Copy, Debug)]
pub struct WalkLoad {
    pub request: Request,
    pub stamps: Stamps,
    /// Arrival of its reply.
    pub ended: Ticks,
}

/// A walk in progress.
#[derive(Clone, Copy)]
struct Active {
    page: u64,
    /// Level of the entry that is being read.
    level: u32,
    started: NetworkCycle,
}

/// Destination of the loads of the walks.
enum Memory {
    /// The L2 slices: their ports, those with replies (one bit each), and the latency of the link,
    /// ticks.
    Slices { ports: Vec<SlicePorts>, waiting: [u64; 4], link_ticks: u64 },
    /// None: every load takes `latency` cycles. Loads in flight, with the cycle of their end.
    Fixed { latency: u64, ends: VecDeque<(NetworkCycle, u32)> },
}

pub(crate) struct Walkers {
    clock: NetworkClock,
    table: PageTable,
    caches: WalkCaches,
    memory: Memory,
    /// Walks by walker.
    active: Vec<Option<Active>>,
    /// Idle walkers.
    idle: Vec<u32>,
    /// Completed loads since the last [`Walkers::take_loads`], if they are recorded.
    log: Option<Vec<WalkLoad>>,
}

impl Walkers {
    pub fn new(vm: &Vm, clock: NetworkClock, ports: Vec<SlicePorts>) -> Walkers {
        let table = PageTable::new(vm.levels);
        let memory = if vm.walk.memory {
            let link_ticks = u64::from(vm.walk.link_latency) * clock.period();
            Memory::Slices { ports, waiting: [0; 4], link_ticks }
        } else {
            Memory::Fixed { latency: vm.walk.latency.into(), ends: VecDeque::new() }
        };
        Walkers {
            clock,
            table,
            caches: WalkCaches::new(table, vm.walk.cache_entries),
            memory,
            active: vec![None; vm.walk.walkers as usize],
            idle: (0..vm.walk.walkers).rev().collect(),
            log: None,
        }
    }

    /// Records completed loads from now on.
    pub fn record_loads(&mut self) {
        self.log = Some(Vec::new());
    }

    /// Takes the recorded loads.
    pub fn take_loads(&mut self) -> impl Iterator<Item = WalkLoad> {
        self.log.iter_mut().flat_map(|log| log.drain(..))
    }

    /// Reports the slices whose ports may have become non-empty, one bit each.
    pub fn arrived(&mut self, slices: [u64; 4]) {
        if let Memory::Slices { waiting, .. } = &mut self.memory {
            waiting.iter_mut().zip(slices).for_each(|(all, word)| *all |= word);
        }
    }

    /// Returns the number of walks in progress.
    pub fn busy(&self) -> usize {
        self.active.len() - self.idle.len()
    }

    pub fn has_idle(&self) -> bool {
        !self.idle.is_empty()
    }

    /// Returns the loads that a walk to `page` needs now.
    pub fn loads(&mut self, page: u64) -> u32 {
        self.table.last_level() + 1 - self.caches.first_level(page)
    }

    /// Starts a walk on an idle walker.
    pub fn start(
        &mut self,
        page: u64,
        cycle: NetworkCycle,
        counts: &mut TranslationResult,
        ctx: &mut Context,
    ) {
        let walker = self.idle.pop().expect("a walker is idle");
        let level = self.caches.first_level(page);
        self.load(walker, Active { page, level, started: cycle }, cycle, counts, ctx);
    }

    /// Reads the entry that a walk has reached.
    fn load(
        &mut self,
        walker: u32,
        walk: Active,
        cycle: NetworkCycle,
        counts: &mut TranslationResult,
        ctx: &mut Context,
    ) {
        counts.loads += 1;
        self.active[walker as usize] = Some(walk);
        match &mut self.memory {
            Memory::Fixed { latency, ends } => ends.push_back((cycle + *latency, walker)),
            Memory::Slices { ports, link_ticks, .. } => {
                let address = self.table.address(walk.page, walk.level);
                let place = ctx.map.locate(address);
                let load = Request::of_slice(address, RequestKind::Walk, place);
                let now = self.clock.at(cycle);
                let load = ctx.add(Request { access: walker, pc: walk.level, ..load }, now);
                let ready = Ticks(now.0 + *link_ticks);
                ctx.push(ports[place.slice.index()].requests, load, ready);
            }
        }
    }

    /// Takes the loads that have ended by `cycle`, and continues their walks. Adds the pages whose
    /// walks have ended to `ended`.
    pub fn advance(
        &mut self,
        cycle: NetworkCycle,
        ended: &mut Vec<u64>,
        counts: &mut TranslationResult,
        ctx: &mut Context,
    ) {
        while let Some(walker) = self.take_load(cycle, counts, ctx) {
            let walk = self.active[walker as usize].take().expect("it has a walk");
            if walk.level == self.table.last_level() {
                self.idle.push(walker);
                counts.walk_cycles += cycle.since(walk.started);
                ended.push(walk.page);
                continue;
            }
            self.caches.fill(walk.page, walk.level);
            let next = Active { level: walk.level + 1, ..walk };
            self.load(walker, next, cycle, counts, ctx);
        }
    }

    /// Takes a load that has ended by `cycle`; returns its walker.
    fn take_load(
        &mut self,
        cycle: NetworkCycle,
        counts: &mut TranslationResult,
        ctx: &mut Context,
    ) -> Option<u32> {
        match &mut self.memory {
            Memory::Fixed { ends, .. } => {
                ends.pop_front_if(|(end, _)| *end <= cycle).map(|(_, walker)| walker)
            }
            Memory::Slices { ports, waiting, .. } => {
                let now = self.clock.at(cycle);
                let replies = |slice: usize| ports.get(slice).map(|ports| ports.replies);
                let candidates = *waiting;
                let port = bits::members(&candidates).find_map(|slice| {
                    let head = replies(slice).map_or(Ticks::NEVER, |port| ctx.head_ready(port));
                    if head == Ticks::NEVER {
                        bits::remove(waiting, slice);
                    }
                    replies(slice).filter(|_| head <= now)
                })?;
                let id = ctx.pop(port, now);
                let request = *ctx.request(id);
                counts.offchip_loads += u64::from(request.offchip);
                counts.bypassing_loads += u64::from(request.insertion == Insertion::Nowhere);
                if let Some(log) = &mut self.log {
                    let stamps = *ctx.stamps(id);
                    let stamps = Stamps { l1_missed: stamps.created, ..stamps };
                    log.push(WalkLoad { request, stamps, ended: now });
                }
                ctx.remove(id);
                Some(request.access)
            }
        }
    }

    /// Returns the cycle in which the next load ends, as far as is known.
    pub fn next_end(&self, ctx: &Context) -> Option<NetworkCycle> {
        match &self.memory {
            Memory::Fixed { ends, .. } => ends.front().map(|&(end, _)| end),
            Memory::Slices { ports, waiting, .. } => {
                let slices = bits::members(waiting).filter_map(|slice| ports.get(slice));
                let next = slices.map(|ports| ctx.head_ready(ports.replies)).min()?;
                (next < Ticks::NEVER).then(|| self.clock.cycle_from(next))
            }
        }
    }
}
