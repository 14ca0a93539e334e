//! Closed forms of the translation unit: when replies arrive.

use crate::scheduler::WALK_SCHEDULERS;
use crate::{Mmu, SlicePorts, SmPorts, TranslationResult, Vm};
use warpmem_sim::{
    AddressMap, Clock, Context, Domain, Location, NetworkClock, NetworkCycle, Region, Request,
    RequestKind, SmId, Ticks, UnitId, test_map,
};

const SMS: u16 = 3;
/// Warp slots of an SM.
const WARPS: u32 = 10;
/// Ticks per network cycle.
const PERIOD: u64 = 2;
/// Cycles that the slice of the tests takes for a load.
const SLICE: u64 = 50;

/// A translation unit between SMs and one slice.
struct Rig {
    regions: Vec<Region>,
    map: AddressMap,
    mmu: Mmu,
    clock: NetworkClock,
    sms: Vec<SmPorts>,
    slice: SlicePorts,
    link: u64,
    /// Addresses of the loads that the slice has served.
    loads: Vec<u64>,
}

/// Returns the defaults of all keys.
pub fn defaults() -> Vm {
    toml::Table::new().try_into().unwrap()
}

fn vm() -> Vm {
    let mut vm = Vm { enabled: true, levels: 3, page_bytes: 4096, ..defaults() };
    vm.l2.link_latency = 10;
    vm.walk.link_latency = 7;
    vm
}

impl Rig {
    fn new(vm: &Vm, scheduler: &str) -> Rig {
        let clocks = [PERIOD; Domain::COUNT].map(Clock::new);
        let mut units = [1; Domain::COUNT];
        units[Domain::Core as usize] = SMS.into();
        let mut regions = vec![Region::new(0, clocks, units)];
        let unit = |domain, index| UnitId { domain, index };
        let own = unit(Domain::Network, 0);
        let fabric = &mut regions[0].fabric;
        let mut pair = |name, index: u16, other| SmPorts {
            requests: fabric.add_port(name, index.into(), 64, other, own),
            replies: fabric.add_port(name, index.into(), 64, own, other),
        };
        let sms: Vec<SmPorts> =
            (0..SMS).map(|sm| pair("sm", sm, unit(Domain::Core, sm.into()))).collect();
        let SmPorts { requests: replies, replies: requests } =
            pair("slice", 0, unit(Domain::L2, 0));
        let slice = SlicePorts { requests, replies };
        let clock = fabric.clock_of();
        let scheduler = WALK_SCHEDULERS.build(scheduler, &()).unwrap();
        Rig {
            mmu: Mmu::new(vm, WARPS, 0, clock, scheduler, sms.clone(), vec![slice]),
            map: test_map(1, 1),
            clock,
            sms,
            slice,
            link: u64::from(vm.walk.link_latency) * PERIOD,
            regions,
            loads: Vec::new(),
        }
    }

    /// Asks for a page in `cycle`, for instruction `access` of an SM.
    fn ask(&mut self, cycle: u64, sm: u16, access: u32, page: u64) {
        let Region { fabric, requests } = &mut self.regions[0];
        let blank = Request::of_slice(page << 12, RequestKind::Translation, Location::ZERO);
        let at = self.clock.at(NetworkCycle::new(cycle));
        let id = requests.add(Request { sm: SmId(sm), access, ..blank }, at);
        fabric.push(self.sms[usize::from(sm)].requests, id, at);
    }

    /// Runs until nothing is due; returns the arrival of each reply as (cycle, SM, page).
    fn run(&mut self) -> Vec<(u64, u16, u64)> {
        let mut replies = Vec::new();
        let mut next = Some(NetworkCycle::ZERO);
        for cycle in (0..20_000).map(NetworkCycle::new) {
            let now = self.clock.at(cycle);
            if next.is_some_and(|next| next <= cycle) || self.is_woken(now) {
                let ctx = &mut Context { regions: &mut self.regions, map: &self.map };
                next = self.mmu.step(cycle, ctx);
                assert!(next.is_none_or(|next| next > cycle));
            }
            self.serve_loads(now);
            self.take_replies(now, &mut replies);
        }
        assert!(self.mmu.is_idle(), "{}", self.mmu.describe());
        assert_eq!(self.regions[0].requests.in_flight(), 0);
        replies
    }

    fn is_woken(&mut self, now: Ticks) -> bool {
        let fabric = &mut self.regions[0].fabric;
        let heads = self.sms.iter().map(|ports| ports.requests).chain([self.slice.replies]);
        heads.map(|port| fabric.head_ready(port)).any(|ready| ready == now)
    }

    fn serve_loads(&mut self, now: Ticks) {
        let Region { fabric, requests } = &mut self.regions[0];
        while let Some(load) = fabric.ready(self.slice.requests, now) {
            fabric.pop(self.slice.requests, now);
            self.loads.push(requests.get(load).address);
            let ready = Ticks(now.0 + SLICE * PERIOD + self.link);
            fabric.push(self.slice.replies, load, ready);
        }
    }

    fn take_replies(&mut self, now: Ticks, replies: &mut Vec<(u64, u16, u64)>) {
        let Region { fabric, requests } = &mut self.regions[0];
        for ports in &self.sms {
            while let Some(id) = fabric.ready(ports.replies, now) {
                fabric.pop(ports.replies, now);
                let Request { sm, address, .. } = *requests.get(id);
                replies.push((now.0 / PERIOD, sm.0, address >> 12));
                requests.remove(id);
            }
        }
    }

    fn counts(&self) -> TranslationResult {
        self.mmu.so_far()
    }
}

/// Cycles of a load: to the slice, there, and back.
const LOAD: u64 = 7 + SLICE + 7;

#[test]
fn a_miss_takes_one_load_per_level_and_a_hit_only_the_way_back() {
    let mut rig = Rig::new(&vm(), "fcfs");
    rig.ask(5, 0, 1, 9);
    rig.ask(1000, 1, 1, 9);
    assert_eq!(rig.run(), [(5 + 3 * LOAD + 10, 0, 9), (1000 + 10, 1, 9)]);
    let counts = rig.counts();
    assert_eq!((counts.lookups, counts.hits, counts.walks, counts.loads), (2, 1, 1, 3));
    assert_eq!((counts.walk_cycles, counts.queue_cycles), (3 * LOAD, 0));
}

#[test]
fn walk_caches_save_the_loads_of_the_levels_that_they_hold() {
    let mut rig = Rig::new(&vm(), "fcfs");
    // The second page shares all tables with the first, the third only the root.
    for (cycle, page) in [(0, 0), (1000, 1), (2000, 512 * 5)] {
        rig.ask(cycle, 0, 1, page);
    }
    let ends = [3 * LOAD, 1000 + LOAD, 2000 + 2 * LOAD].map(|end| end + 10);
    assert_eq!(rig.run().iter().map(|reply| reply.0).collect::<Vec<_>>(), ends);
    let mut without = vm();
    without.walk.cache_entries = 0;
    let mut rig = Rig::new(&without, "fcfs");
    rig.ask(0, 0, 1, 0);
    rig.ask(1000, 0, 1, 1);
    assert_eq!(rig.run()[1].0, 1000 + 3 * LOAD + 10);
}

#[test]
fn requests_for_a_page_that_is_walked_merge() {
    let mut rig = Rig::new(&vm(), "fcfs");
    for (cycle, sm) in [(0, 2), (40, 0), (90, 1)] {
        rig.ask(cycle, sm, 1, 3);
    }
    let end = 3 * LOAD + 10;
    let mut replies = rig.run();
    replies.sort_unstable();
    assert_eq!(replies, [(end, 0, 3), (end, 1, 3), (end, 2, 3)]);
    assert_eq!((rig.counts().merges, rig.counts().walks), (2, 1));
}

#[test]
fn fixed_loads_take_their_latency() {
    let mut fixed = vm();
    fixed.walk.memory = false;
    fixed.walk.latency = 30;
    let mut rig = Rig::new(&fixed, "fcfs");
    rig.ask(0, 0, 1, 0);
    assert_eq!(rig.run(), [(3 * 30 + 10, 0, 0)]);
    assert!(rig.loads.is_empty());
}

#[test]
fn lookups_take_turns_over_the_sms() {
    let mut rig = Rig::new(&vm(), "fcfs");
    rig.ask(0, 0, 1, 0);
    rig.run();
    // Six hits, one per cycle.
    for sm in [0, 0, 1, 1, 2, 2] {
        rig.ask(100, sm, 1, 0);
    }
    let replies: Vec<(u64, u16)> = rig.run().iter().map(|&(at, sm, _)| (at - 110, sm)).collect();
    assert_eq!(replies, [(0, 1), (1, 2), (2, 0), (3, 1), (4, 2), (5, 0)]);
}

#[test]
fn a_lookup_waits_while_no_more_pages_may_be_in_flight() {
    let mut small = vm();
    small.l2.misses = 1;
    let mut rig = Rig::new(&small, "fcfs");
    for (sm, page) in [(0, 0), (1, 1), (1, 0)] {
        rig.ask(0, sm, 1, page);
    }
    // The last request would merge, but waits behind the miss.
    let walk = 3 * LOAD;
    let mut replies = rig.run();
    replies.sort_unstable();
    assert_eq!(replies, [(walk + 10, 0, 0), (walk + 11, 1, 0), (walk + LOAD + 10, 1, 1)]);
}

#[test]
fn one_walker_serves_walks_in_the_order_of_the_scheduler() {
    let mut one = vm();
    one.walk.walkers = 1;
    one.walk.cache_entries = 0;
    let order = |scheduler: &str| -> Vec<u64> {
        let mut rig = Rig::new(&one, scheduler);
        rig.ask(0, 0, 7, 0);
        // Instruction 1 has two walks, instruction 2 one.
        for (access, page) in [(1, 10), (2, 20), (1, 11)] {
            rig.ask(1, 0, access, page);
        }
        let replies = rig.run();
        assert_eq!(replies.last().unwrap().0, 4 * 3 * LOAD + 10);
        replies.iter().map(|reply| reply.2).collect()
    };
    assert_eq!(order("fcfs"), [0, 10, 20, 11]);
    assert_eq!(order("sjf"), [0, 20, 10, 11]);
    assert_eq!(order("simt-aware"), [0, 20, 10, 11]);
    assert_eq!(order("warp-oldest"), [0, 10, 20, 11]);
}

#[test]
fn a_walk_reads_the_entries_of_its_page() {
    let mut rig = Rig::new(&vm(), "fcfs");
    rig.ask(0, 0, 1, 512 * 3 + 2);
    rig.run();
    let offsets: Vec<u64> = rig.loads.iter().map(|address| address % (1 << 52)).collect();
    assert_eq!(offsets, [0, 3 * 8, (512 * 3 + 2) * 8]);
}

#[test]
fn a_group_of_sms_finds_the_translations_of_its_members() {
    let mut grouped = vm();
    (grouped.group.sms, grouped.group.link_latency) = (2, 3);
    let mut rig = Rig::new(&grouped, "fcfs");
    // SMs 0 and 1 share a TLB; SM 2 has the last one alone.
    for (cycle, sm) in [(5, 0), (1000, 1), (1000, 2)] {
        rig.ask(cycle, sm, 1, 9);
    }
    let up = u64::from(grouped.l2.link_latency + grouped.l2.latency);
    let (walk, back) = (3 * LOAD, 10 + 3);
    let ends = [(5 + up + walk + back, 0, 9), (1000 + 3, 1, 9), (1000 + up + back, 2, 9)];
    assert_eq!(rig.run(), ends);
    let counts = rig.counts();
    assert_eq!((counts.group_lookups, counts.group_hits), (3, 1));
    assert_eq!((counts.lookups, counts.hits, counts.walks), (2, 1, 1));
}

#[test]
fn each_group_performs_its_lookups_in_turns_over_its_sms() {
    let mut grouped = vm();
    (grouped.group.sms, grouped.group.link_latency) = (2, 3);
    let mut rig = Rig::new(&grouped, "fcfs");
    (0..3).for_each(|sm| rig.ask(0, sm, 1, 0));
    rig.run();
    for sm in [0, 0, 1, 1, 2, 2] {
        rig.ask(1000, sm, 1, 0);
    }
    let mut replies: Vec<(u64, u16)> =
        rig.run().iter().map(|&(at, sm, _)| (at - 1003, sm)).collect();
    replies.sort_unstable();
    assert_eq!(replies, [(0, 0), (0, 2), (1, 1), (1, 2), (2, 0), (3, 1)]);
}

#[test]
fn the_first_lookup_of_a_page_hits_a_warm_tlb() {
    let mut warm = vm();
    warm.l2.warm = true;
    (warm.l2.entries, warm.l2.ways) = (1, 1);
    let mut rig = Rig::new(&warm, "fcfs");
    for (cycle, page) in [(0, 7), (1000, 8), (2000, 7)] {
        rig.ask(cycle, 0, 1, page);
    }
    let ends: Vec<u64> = rig.run().iter().map(|reply| reply.0).collect();
    assert_eq!(ends, [10, 1010, 2000 + 3 * LOAD + 10], "the second page has replaced the first");
}

#[test]
fn walks_of_warps_without_a_token_fill_the_bypass_cache() {
    let mut tokens = vm();
    (tokens.tokens.epoch, tokens.tokens.percent, tokens.tokens.bypass_entries) = (1000, 0, 1);
    let mut rig = Rig::new(&tokens, "fcfs");
    for (cycle, page) in [(0, 7), (1000, 7), (2000, 8), (3000, 7)] {
        rig.ask(cycle, 0, 1, page);
    }
    rig.run();
    let counts = rig.counts();
    assert_eq!((counts.hits, counts.walks, counts.diverted), (1, 3, 3));
}

#[test]
fn recorded_loads_have_the_times_of_their_walk() {
    let mut rig = Rig::new(&vm(), "fcfs");
    rig.mmu.record_loads();
    rig.ask(5, 0, 1, 9);
    rig.run();
    let loads: Vec<(u64, u64, u32)> = rig
        .mmu
        .take_loads()
        .map(|load| (load.stamps.created.0 / PERIOD, load.ended.0 / PERIOD, load.request.pc))
        .collect();
    let of = |level: u32| {
        let begin = 5 + u64::from(level) * LOAD;
        (begin, begin + LOAD, level)
    };
    assert_eq!(loads, [0, 1, 2].map(of));
    assert_eq!(rig.mmu.take_loads().count(), 0);
}
