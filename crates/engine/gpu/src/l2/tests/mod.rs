//! A slice in isolation, with the test as the networks and DRAM.

mod cold_launches;
mod direct;
mod load_ends;
mod merges;
mod perfect;
mod prefetched;
mod queue;
mod replies;
mod requests;
mod warp_types;
mod writes;

use super::queue::L2_QUEUES;
use super::{Slice, SlicePorts};
use crate::context::Context;
use crate::engine::Bench;
use crate::results::SliceResult;
use crate::side::{Sent, SideChannels};
use crate::testing::machine;
use std::collections::VecDeque;
use std::ops::Range;
use warpmem_cache::ReservationFail;
use warpmem_machine::Machine;
use warpmem_params::Counter;
use warpmem_sim::{
    CachedLines, ChannelId, Domain, Insertion, L2Clock, L2Cycle, Location, Needs, PortId, Request,
    RequestId, RequestKind, SliceId, SmId, UnitId, WarpId,
};

/// Cycles from a read at the channel to its data.
const DRAM: u64 = 50;
const READ: RequestKind = RequestKind::Read;
const WRITE: RequestKind = RequestKind::Write;
const ATOMIC: RequestKind = RequestKind::Atomic;
const WRITEBACK: RequestKind = RequestKind::Writeback;
const FETCH: RequestKind = RequestKind::Fetch;

/// L2 cycles of every run.
const RUN: u64 = 100_000;

/// CTA of a request by default, by its index in the trace.
const CTA: u32 = 9;
/// First CTA of the next kernel.
const NEXT_KERNEL: u32 = 20;

/// A request from the network.
#[derive(Clone, Copy)]
struct Ask {
    cycle: u64,
    kind: RequestKind,
    address: u64,
    bytes: u32,
    max_lanes_per_address: u8,
    sectors: u8,
    sm: u16,
    cta: u32,
    warp: u32,
    load: u32,
    /// Row of its memory instruction in the table of the SM.
    access: u32,
    insertion: Insertion,
    /// Not a request: a sibling that hits in L1.
    hit: bool,
}

fn ask(cycle: u64, kind: RequestKind, address: u64) -> Ask {
    let (sm, warp, load, access) = (0, u32::MAX, u32::MAX, u32::MAX);
    let (bytes, max_lanes_per_address, sectors, hit) = (u32::MAX, 1, 1, false);
    let insertion = Insertion::Newest;
    Ask {
        cycle,
        kind,
        address,
        bytes,
        max_lanes_per_address,
        sectors,
        sm,
        cta: CTA,
        warp,
        load,
        access,
        insertion,
        hit,
    }
}

/// A request of the next kernel.
fn of_next_kernel(ask: Ask) -> Ask {
    Ask { cta: NEXT_KERNEL, ..ask }
}

/// A store of the first `parts` 32nds of a sector.
fn partial_write(cycle: u64, address: u64, parts: u32) -> Ask {
    Ask { bytes: (1 << parts) - 1, ..ask(cycle, WRITE, address) }
}

/// A read of the last 32nd of a sector.
fn read_of_last_part(cycle: u64, address: u64) -> Ask {
    Ask { bytes: 1 << 31, ..ask(cycle, READ, address) }
}

/// Observed behaviour of a slice.
struct Outcome {
    /// Cycle of each reply, by index of the request in the list; write-backs have none.
    answered: Vec<Option<u64>>,
    /// Requests in the order of their replies.
    order: Vec<usize>,
    /// Cycle of service at the tags, in the order of the replies.
    served: Vec<u64>,
    /// Cycle of arrival at the slice, in the same order.
    arrived: Vec<u64>,
    /// Requests that reached the channel: cycle, kind, address, sectors.
    down: Vec<(u64, RequestKind, u64, u8)>,
    /// Their SMs and CTAs, in the order of `down`.
    from: Vec<(u16, u32)>,
    /// Merge reports of requests and dummies: cycle, address, merges, age, and whether it is a
    /// dummy.
    reports: Vec<Report>,
    /// Whether they came from hit-prone warps, in the order of `down`.
    hit_prone: Vec<bool>,
    result: SliceResult,
    counters: Vec<Counter>,
    /// Ends of loads at the channel: cycle and load.
    load_ends: Vec<(u64, u32)>,
    /// Lines allocated at the end.
    noted: CachedLines,
}

/// See [`Outcome::reports`].
type Report = (u64, u64, u8, u32, bool);

impl Outcome {
    /// Returns the kinds and addresses of the requests at the channel.
    fn traffic(&self) -> Vec<(RequestKind, u64)> {
        self.down.iter().map(|&(_, kind, address, _)| (kind, address)).collect()
    }

    fn counter(&self, name: &str) -> u64 {
        let counter = self.counters.iter().find(|counter| counter.name == name);
        counter.unwrap_or_else(|| panic!("no {name} in {:?}", self.counters)).value
    }

    fn cycle(&self, ask: usize) -> u64 {
        self.answered[ask].expect("it has a reply")
    }

    fn fails(&self, reason: ReservationFail) -> u64 {
        self.result.cache.reservation_fails[reason as usize]
    }
}

/// A machine without delays except the hit latency of 3 cycles; 16 lines of 128 bytes.
fn bare(overrides: &[&str]) -> Machine {
    let fast = [
        "l2.slices_per_channel=1",
        "l2.input_latency=0",
        "l2.latency=3",
        "l2.to_dram_latency=0",
        "l2.cache.size_bytes=2048",
        "l2.cache.ways=4",
        "l2.cache.index=linear",
        "dram.channels=1",
    ];
    machine(&[&fast, overrides].concat())
}

/// As [`bare`], with four sectors per line, and stores that fetch nothing.
fn sectored(overrides: &[&str]) -> Machine {
    let sectors = [
        "l1.cache.sector_bytes=32",
        "l2.cache.sector_bytes=32",
        "dram.bus_bytes=4",
        "dram.address.map=row:12 bank:4 column:7 burst:5",
        "l2.cache.write_allocate=lazy-fetch",
    ];
    bare(&[&sectors, overrides].concat())
}

/// The rest of the machine.
struct World {
    asks: VecDeque<(usize, Ask)>,
    /// Row of each request in the request table, by index in the list.
    ids: Vec<RequestId>,
    fills: VecDeque<(u64, RequestId)>,
    answers: Vec<(u64, RequestId)>,
    down: Vec<(u64, RequestKind, u64, u8)>,
    from: Vec<(u16, u32)>,
    reports: Vec<Report>,
    hit_prone: Vec<bool>,
    load_ends: Vec<(u64, u32)>,
    /// The channel takes nothing in these cycles; the reply network takes nothing before
    /// `replies_open`.
    dram_shut: Range<u64>,
    replies_open: u64,
    /// Cycles between two replies that the network takes; 0: unlimited.
    reply_interval: u64,
}

impl World {
    /// Sends the requests that are due and takes the replies.
    fn step_network(&mut self, cycle: u64, unit: UnitId, ports: &SlicePorts, ctx: &mut Context) {
        let now = ctx.fabric.clock(Domain::Network).at(cycle);
        while let Some(&(_, ask)) = self.asks.front()
            && ask.cycle <= cycle
        {
            self.asks.pop_front();
            if ask.hit {
                ctx.side.fields.hit(SmId(ask.sm), ask.access);
                self.ids.push(RequestId::NONE);
                continue;
            }
            let place = Location { slice: SliceId(0), ..ctx.map.locate(ask.address) };
            let request = Request {
                sm: if ask.kind == WRITEBACK { Request::NO_SM } else { SmId(ask.sm) },
                cta: ask.cta,
                warp: WarpId(ask.warp),
                load: ask.load,
                access: ask.access,
                bytes: ask.bytes,
                max_lanes_per_address: ask.max_lanes_per_address,
                sectors: ask.sectors,
                insertion: ask.insertion,
                ..Request::of_slice(ask.address, ask.kind, place)
            };
            let id = ctx.requests.add(request, now);
            self.ids.push(id);
            let port = match ask.kind {
                RequestKind::Prefetch => ports.fills,
                RequestKind::Walk => ports.walks.expect("walks use the L2").requests,
                _ => ports.requests,
            };
            ctx.fabric.push(port, id, now);
        }
        if let Some(&(_, ask)) = self.asks.front() {
            ctx.fabric.wake_cycle(unit, ask.cycle);
        }
        if cycle < self.replies_open {
            ctx.fabric.wake_cycle(unit, self.replies_open);
            return;
        }
        if let Some(walks) = ports.walks {
            while let Some(id) = ctx.fabric.ready(walks.replies, now) {
                ctx.fabric.pop(walks.replies, now);
                self.answers.push((cycle, id));
            }
            wake_at_head(walks.replies, unit, ctx);
        }
        while let Some(id) = ctx.fabric.ready(ports.replies, now) {
            ctx.fabric.pop(ports.replies, now);
            self.answers.push((cycle, id));
            if self.reply_interval > 0 {
                self.replies_open = cycle + self.reply_interval;
                ctx.fabric.wake_cycle(unit, self.replies_open);
                return;
            }
        }
        wake_at_head(ports.replies, unit, ctx);
    }

    fn step_dram(&mut self, cycle: u64, unit: UnitId, ports: &SlicePorts, ctx: &mut Context) {
        let now = ctx.fabric.clock(Domain::Dram).at(cycle);
        while let Some(load) =
            ctx.side.loads.as_mut().and_then(|loads| loads.next_end(ChannelId(0), now))
        {
            self.load_ends.push((cycle, load));
        }
        let is_shut = self.dram_shut.contains(&cycle);
        if is_shut {
            ctx.fabric.wake_cycle(unit, self.dram_shut.end);
        }
        while let Some(id) = ctx.fabric.ready(ports.misses, now).filter(|_| !is_shut) {
            ctx.fabric.pop(ports.misses, now);
            let Request { kind, address, sectors, sm, cta, hit_prone, load, .. } =
                *ctx.requests.get(id);
            if let Some(updates) = &mut ctx.side.merges {
                let Sent { about, merges, age } =
                    updates.head(SliceId(0)).expect("every item has its update");
                updates.pop(SliceId(0));
                self.reports.push((cycle, address, merges, age, about != id));
                if about != id {
                    ctx.requests.remove(id);
                    continue;
                }
            }
            self.hit_prone.push(hit_prone);
            let loads = ctx.side.loads.as_mut().filter(|_| load != u32::MAX);
            if loads.is_some_and(|loads| loads.entered(load, ChannelId(0))) {
                self.load_ends.push((cycle, load));
            }
            self.down.push((cycle, kind, address, sectors));
            self.from.push((sm.0, cta));
            match kind {
                WRITEBACK => ctx.requests.remove(id),
                _ => self.fills.push_back((cycle + DRAM, id)),
            }
        }
        while let Some(&(due, id)) = self.fills.front()
            && due <= cycle
            && ctx.fabric.room_or_wake(ports.fills)
        {
            self.fills.pop_front();
            ctx.fabric.push(ports.fills, id, now);
        }
        if !is_shut {
            wake_at_head(ports.misses, unit, ctx);
        }
        if let Some(&(due, _)) = self.fills.front().filter(|&&(due, _)| due > cycle) {
            ctx.fabric.wake_cycle(unit, due);
        }
    }
}

fn wake_at_head(port: PortId, unit: UnitId, ctx: &mut Context) {
    if let Some((ready, _)) = ctx.fabric.head(port) {
        ctx.fabric.wake(unit, ready);
    }
}

fn run(machine: &Machine, asks: &[Ask]) -> Outcome {
    run_closed(machine, asks, 0, 0)
}

/// The channel opens at cycle `dram_opens`, the reply network at `replies_open`.
fn run_closed(machine: &Machine, asks: &[Ask], dram_opens: u64, replies_open: u64) -> Outcome {
    run_for(machine, &Needs::default(), asks, 0..dram_opens, replies_open)
}

/// As [`run_closed`], for DRAM schedulers with `needs`.
fn run_for(
    machine: &Machine,
    needs: &Needs,
    asks: &[Ask],
    dram_shut: Range<u64>,
    replies_open: u64,
) -> Outcome {
    run_in(machine, needs, asks, Surroundings { dram_shut, replies_open, reply_interval: 0 })
}

/// The network takes one reply every `reply_interval` cycles.
fn run_throttled(machine: &Machine, asks: &[Ask], reply_interval: u64) -> Outcome {
    let surroundings = Surroundings { reply_interval, ..Surroundings::default() };
    run_in(machine, &Needs::default(), asks, surroundings)
}

/// See [`World`].
#[derive(Default)]
struct Surroundings {
    dram_shut: Range<u64>,
    replies_open: u64,
    reply_interval: u64,
}

fn run_in(
    machine: &Machine,
    needs: &Needs,
    asks: &[Ask],
    Surroundings { dram_shut, replies_open, reply_interval }: Surroundings,
) -> Outcome {
    let mut bench = Bench::new(machine, [1, 1, 1, 0]);
    bench.side = SideChannels::new(machine, needs, false);
    if needs.load_ends {
        // All requests with a load have load 0.
        let requests = asks.iter().filter(|ask| ask.load == 0).map(|ask| ask.address);
        assert_eq!(bench.context().begin_load(requests), 0);
    }
    for &Ask { sm, access, .. } in asks.iter().filter(|ask| ask.access != u32::MAX) {
        let siblings = asks.iter().filter(|ask| (ask.sm, ask.access) == (sm, access));
        bench.side.fields.begin(SmId(sm), access, siblings.count());
    }
    let [dram, l2, network] = [Domain::Dram, Domain::L2, Domain::Network].map(unit);
    let queue = machine.l2.to_dram_queue + machine.l2.cache.miss_queue;
    let misses = if needs.merges.is_some() { 1 } else { queue as usize };
    let replies = machine.l2.reply_queue as usize;
    let mut port =
        |name, places, from, to| bench.sim.region.fabric.add_port(name, 0, places, from, to);
    let ports = SlicePorts {
        requests: port("requests", 1000, network, l2),
        replies: port("replies", replies, l2, network),
        misses: port("misses", misses, l2, dram),
        fills: port("fills", 8, dram, l2),
        walks: machine.vm.enabled.then(|| warpmem_translation::SlicePorts {
            requests: port("walks", 1000, network, l2),
            replies: port("walk replies", 1000, l2, network),
        }),
    };
    let clock: L2Clock = bench.sim.region.fabric.clock_of();
    let core = bench.sim.region.fabric.clock_of();
    let queue = L2_QUEUES.build(&machine.policy.l2_queue, &machine.l2).unwrap();
    let mut slice = Slice::new(machine, SliceId(0), clock, core, ports, queue, needs);
    if machine.policy.ideal == "perfect-l2" {
        slice = slice.perfect(machine.l2.latency);
    }
    if machine.run.cold_launches {
        slice = slice.with_resets([0, NEXT_KERNEL].into());
    }
    let noted = CachedLines::default();
    slice.note_lines(noted.clone(), machine);
    let mut world = World {
        asks: asks.iter().copied().enumerate().collect(),
        ids: Vec::new(),
        fills: VecDeque::new(),
        answers: Vec::new(),
        down: Vec::new(),
        from: Vec::new(),
        reports: Vec::new(),
        hit_prone: Vec::new(),
        load_ends: Vec::new(),
        dram_shut,
        replies_open,
        reply_interval,
    };
    bench.sim.region.fabric.wake_cycle(network, asks[0].cycle);
    bench.run(|unit, cycle, ctx| match unit.domain {
        Domain::Dram => world.step_dram(cycle, unit, &ports, ctx),
        Domain::L2 => slice.step(L2Cycle::new(cycle), ctx),
        _ => world.step_network(cycle, unit, &ports, ctx),
    });
    assert!(slice.is_idle(), "{}", slice.describe());
    assert_eq!(bench.sim.region.fabric.occupied().collect::<Vec<_>>(), [""; 0]);
    assert_eq!(bench.sim.region.requests.in_flight(), world.answers.len(), "one request per reply");
    let place = |id: RequestId| world.ids.iter().rposition(|&other| other == id).unwrap();
    let order: Vec<usize> = world.answers.iter().map(|&(_, id)| place(id)).collect();
    let answered = (0..asks.len())
        .map(|ask| order.iter().position(|&o| o == ask).map(|at| world.answers[at].0))
        .collect();
    let stamps = world.answers.iter().map(|&(_, id)| bench.sim.region.requests.stamps(id));
    let cycle_of = |time| clock.cycle_of(time).number();
    let served = stamps.clone().map(|stamps| cycle_of(stamps.l2_served)).collect();
    let arrived = stamps.map(|stamps| cycle_of(stamps.l2_arrived)).collect();
    let World { down, from, reports, hit_prone, load_ends, .. } = world;
    slice.end_prefetches();
    let (result, counters) = (slice.so_far(L2Cycle::new(RUN)), slice.counters());
    Outcome {
        answered,
        order,
        served,
        arrived,
        down,
        from,
        reports,
        hit_prone,
        result,
        counters,
        load_ends,
        noted,
    }
}

fn unit(domain: Domain) -> UnitId {
    UnitId { domain, index: 0 }
}

/// Cycles from the network to the tags: a request is taken in the cycle after it was sent.
const ARRIVE: u64 = 1;
