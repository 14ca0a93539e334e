//! A controller between the ports of two slices.

use super::*;
use crate::engine::Bench;
use crate::testing::machine;
use warpmem_dram::prefetch::PREFETCHERS;
use warpmem_sim::{Location, Request as Row, SliceId};

/// A request of a slice that may enter the channel from `cycle` on.
#[derive(Clone, Copy)]
struct Miss {
    slice: u16,
    cycle: u64,
    kind: RequestKind,
    address: u64,
    sectors: u8,
}

fn read(slice: u16, cycle: u64, address: u64) -> Miss {
    Miss { slice, cycle, kind: RequestKind::Read, address, sectors: 1 }
}

struct Outcome {
    /// Cycle in which a slice takes a fill, and the index of its miss.
    fills: Vec<(u64, usize)>,
    /// Cycles of entry, start and end, by miss.
    stamps: Vec<[u64; 3]>,
    counts: ChannelResult,
    left: usize,
    /// State after each step of the channel.
    states: Vec<String>,
}

/// Writes share the queue of reads.
const UNQUEUED_WRITES: [&str; 3] =
    ["dram.write_queue=0", "dram.write_high_watermark=0", "dram.write_low_watermark=0"];

/// Cycles from a slice to the queue.
const WAY: u64 = 20;

/// One channel of two slices, which take no fill before `opens`.
fn run(overrides: &[&str], misses: &[Miss], opens: u64) -> Outcome {
    let one = ["dram.channels=1", "l2.to_dram_latency=20"];
    let machine = machine(&[&one, overrides].concat());
    let mut bench = Bench::new(&machine, [1, 2, 0, 0]);
    let unit = |domain, index| UnitId { domain, index };
    let channel = unit(Domain::Dram, 0);
    let ports: Vec<_> = (0..2u32)
        .map(|slice| {
            let (l2, at) = (unit(Domain::L2, slice), slice as usize);
            let down = bench.sim.region.fabric.add_port("misses", at, 100, l2, channel);
            (down, bench.sim.region.fabric.add_port("fills", at, 2, channel, l2))
        })
        .collect();
    let clock = bench.sim.region.fabric.clock(Domain::Dram);
    let policy = &machine.policy.dram_scheduler;
    let dram = Channel::family(&machine.scheduler_context(), policy).unwrap().remove(0);
    let prefetcher =
        PREFETCHERS.build(&machine.policy.prefetcher, &machine.prefetch_context()).unwrap();
    let mut controller =
        MemoryController::new(&machine, 0, clock.of(), dram, prefetcher, ports.clone());
    for miss in misses {
        let place = Location { slice: SliceId(miss.slice), ..bench.sim.map.locate(miss.address) };
        let row = Row::of_slice(miss.address, miss.kind, place);
        let id = bench.sim.region.requests.add(Row { sectors: miss.sectors, ..row }, clock.at(0));
        bench.sim.region.fabric.push(ports[usize::from(miss.slice)].0, id, clock.at(miss.cycle));
    }
    let (mut fills, mut states, mut last) = (Vec::new(), Vec::new(), 0);
    bench.run(|unit, cycle, ctx| {
        last = cycle;
        if unit.domain == Domain::Dram {
            controller.step(DramCycle::new(cycle), ctx);
            states.push(controller.describe());
            return;
        }
        if cycle < opens {
            ctx.fabric.wake_cycle(unit, opens);
            return;
        }
        let port = ports[unit.index as usize].1;
        let now = ctx.fabric.clock(unit.domain).at(cycle);
        while let Some(id) = ctx.fabric.ready(port, now) {
            ctx.fabric.pop(port, now);
            assert_eq!(u32::from(misses[id.0 as usize].slice), unit.index);
            fills.push((cycle, id.0 as usize));
        }
        if let Some((ready, _)) = ctx.fabric.head(port) {
            ctx.fabric.wake(unit, ready);
        }
    });
    let stamps = (0..misses.len() as u32).map(|id| {
        let s = bench.sim.region.requests.stamps(RequestId(id));
        [s.dram_entered, s.dram_started, s.dram_finished].map(|at| at.0)
    });
    let left = bench.sim.region.requests.in_flight() - fills.len();
    let counts = controller.counts(DramCycle::new(last));
    Outcome { fills, stamps: stamps.collect(), counts, left, states }
}

/// Cycles of a read of 128 bytes in two bursts from a closed bank.
const READ: u64 = 12 + 3 + 12 + 2;

#[test]
fn a_read_is_stamped_and_returns_to_its_slice() {
    let outcome = run(&[], &[read(1, 10, 0)], 0);
    let entered = 10 + WAY;
    assert_eq!(outcome.stamps, [[entered, entered, entered + READ]]);
    assert_eq!(outcome.fills, [(entered + READ, 0)]);
}

#[test]
fn the_return_latency_follows_the_data() {
    let entered = 10 + WAY;
    let outcome = run(&["dram.return_latency=7"], &[read(1, 10, 0)], 0);
    assert_eq!(outcome.stamps, [[entered, entered, entered + READ]], "the bus is not held");
    assert_eq!(outcome.fills, [(entered + READ + 7, 0)]);
}

#[test]
fn the_state_lists_items_in_flight_and_pending() {
    let states = run(&[], &[read(1, 10, 0)], 0).states;
    assert_eq!(states.first().unwrap(), "channel 0: 0 requests pending, 1 in flight");
    let pending = "channel 0: 1 requests pending, 0 in flight";
    assert!(states.iter().any(|state| state == pending), "{states:?}");
}

#[test]
fn a_write_back_takes_one_command_per_burst_and_no_reply() {
    let sectored = [
        "l1.cache.sector_bytes=32",
        "l2.cache.sector_bytes=32",
        "dram.bus_bytes=4",
        "dram.address.map=row:12 bank:4 column:7 burst:5",
    ];
    let kind = RequestKind::Writeback;
    let outcome = run(
        &[&UNQUEUED_WRITES[..], &sectored].concat(),
        &[Miss { kind, sectors: 0b1011, ..read(0, 0, 0) }],
        0,
    );
    assert_eq!(outcome.counts.total().writes, 3);
    assert_eq!((outcome.fills.len(), outcome.left), (0, 0));
}

#[test]
fn the_latency_in_core_cycles_rounds_up_to_a_dram_cycle() {
    // A core cycle is one tick and a DRAM cycle two; 10 + 15 = 25 rounds up to cycle 13.
    let outcome = run(&["clocks.dram_mhz=500", "l2.to_dram_latency=15"], &[read(0, 5, 0)], 0);
    assert_eq!(outcome.stamps[0][0], 2 * 13);
}

#[test]
fn the_channel_takes_one_request_a_cycle_in_round_robin_order() {
    let misses: Vec<Miss> = (0..10).map(|n| read(n % 2, 0, u64::from(n) << 16)).collect();
    let entered = run(&[], &misses, 0).stamps.into_iter().map(|stamps| stamps[0]);
    assert_eq!(entered.collect::<Vec<_>>(), (WAY..WAY + 10).collect::<Vec<_>>());
}

/// Rows of one bank, with a queue of one request and a long latency.
fn one_entry(misses: &[Miss]) -> Vec<u64> {
    let outcome = run(&["dram.read_queue=1", "l2.to_dram_latency=100"], misses, 0);
    outcome.stamps.iter().map(|stamps| stamps[0]).collect()
}

/// The first request enters after 100 cycles and frees its entry with its second column command.
const LEFT: u64 = 100 + 12 + 3;

#[test]
fn a_request_in_flight_waits_in_front_of_a_full_queue() {
    let entered = one_entry(&[read(0, 0, 0), read(0, 0, 1 << 16), read(0, 0, 2 << 16)]);
    // The second ACT follows a row cycle after the first.
    assert_eq!(entered, [100, LEFT + 1, LEFT + 40 + 1]);
}

#[test]
fn no_request_leaves_its_slice_while_the_queue_is_full() {
    let entered = one_entry(&[read(0, 0, 0), read(0, 105, 1 << 16)]);
    assert_eq!(entered, [100, LEFT + 1 + 100]);
}

#[test]
fn a_slice_sends_one_request_a_cycle() {
    let misses: Vec<Miss> = (0..10).map(|n| read(0, 0, n << 16)).collect();
    let entered = run(&[], &misses, 0).stamps.into_iter().map(|stamps| stamps[0]);
    assert_eq!(entered.collect::<Vec<_>>(), (WAY..WAY + 10).collect::<Vec<_>>());
}

#[test]
fn only_one_slice_sends_an_item_in_a_cycle() {
    // The first request of slice 0 enters in cycle 100, when slice 1 is next; then the queue is
    // full.
    let entered = one_entry(&[read(0, 0, 0), read(0, 100, 128), read(1, 100, 128)]);
    assert_eq!(entered, [100, LEFT + 1 + 100, 100 + 100]);
}

#[test]
fn a_slice_without_a_credit_waits_for_a_completed_transfer() {
    let far = |slice, n: u64| read(slice, 0, n << 16);
    let misses = [far(0, 0), far(0, 1), far(0, 2), far(1, 3)];
    let stamps =
        run(&[&UNQUEUED_WRITES[..], &["l2.to_dram_credits=1"]].concat(), &misses, 0).stamps;
    let entered: Vec<u64> = stamps.iter().map(|stamps| stamps[0]).collect();
    // Slice 0 has its own credit and the shared one, slice 1 its own.
    let done = WAY + READ;
    assert_eq!(stamps[0][2], done);
    assert_eq!(entered, [WAY, WAY + 2, done + WAY, WAY + 1]);
}

#[test]
fn a_write_returns_its_credit() {
    let write = |n: u64| Miss { kind: RequestKind::Writeback, ..read(0, 0, n << 16) };
    let credits = [&UNQUEUED_WRITES[..], &["l2.to_dram_credits=1"]].concat();
    let outcome = run(&credits, &(0..9).map(write).collect::<Vec<_>>(), 0);
    assert_eq!(outcome.counts.total().writes, 2 * 9);
    assert_eq!(outcome.left, 0);
}

#[test]
fn a_read_returns_its_credit_with_its_return_and_a_write_with_its_data() {
    let entered = |kind, latency: u64| {
        let latency = format!("dram.return_latency={latency}");
        let keys = [&UNQUEUED_WRITES[..], &["l2.to_dram_credits=1", &latency]].concat();
        let first = |n: u64| Miss { kind, ..read(0, 0, n << 16) };
        run(&keys, &[first(0), first(1), read(0, 0, 2 << 16)], 0).stamps[2][0]
    };
    assert_eq!(entered(RequestKind::Read, 7), entered(RequestKind::Read, 0) + 7);
    assert_eq!(entered(RequestKind::Writeback, 7), entered(RequestKind::Writeback, 0));
}

#[test]
fn slices_alternate_at_a_full_queue() {
    // Rows of one bank, lines of one row, lines of several banks.
    for (queue, shift) in [(1, 16), (1, 7), (1, 8), (2, 16), (2, 7), (2, 8), (3, 7), (3, 8)] {
        let key = format!("dram.read_queue={queue}");
        let misses: Vec<Miss> = (0..16).map(|n| read(n % 2, 0, u64::from(n) << shift)).collect();
        let outcome = run(&[&key], &misses, 0);
        let mut order: Vec<usize> = (0..16).collect();
        order.sort_by_key(|&miss| outcome.stamps[miss][0]);
        for (position, pair) in order.chunks(2).enumerate() {
            let slices = [pair[0] % 2, pair[1] % 2];
            assert_ne!(slices[0], slices[1], "queue of {queue}, pair {position}: {order:?}");
        }
    }
}

#[test]
fn reads_wait_while_their_slice_accepts_no_fill() {
    let misses: Vec<Miss> = (0..6).map(|n| read(0, 0, n * 128)).collect();
    let outcome = run(&[], &misses, 1000);
    let before = outcome.stamps.iter().filter(|s| s[2] < 1000).count();
    assert_eq!(before, 2, "as many as the port holds");
    assert_eq!(outcome.fills.len(), 6);
    assert!(outcome.stamps.iter().all(|s| s[2] < 1200), "and then all");
}
