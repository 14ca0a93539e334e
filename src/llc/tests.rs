//! One slice on its own, with the test as the networks and as DRAM.

use super::{Slice, SlicePorts};
use crate::engine::testing::Bench;
use crate::engine::{Clock, Context, Domain, PortId, Request, RequestId, RequestKind, UnitId};
use crate::machine::Machine;
use crate::record::{ReservationFail, SliceResult};
use crate::testing::machine;
use std::collections::VecDeque;

/// Cycles from a read at the channel to its data.
const DRAM: u64 = 50;
const READ: RequestKind = RequestKind::Read;
const WRITE: RequestKind = RequestKind::Write;
const ATOMIC: RequestKind = RequestKind::Atomic;
const WRITEBACK: RequestKind = RequestKind::Writeback;
const FETCH: RequestKind = RequestKind::Fetch;

/// A request from the network.
#[derive(Clone, Copy)]
struct Ask {
    cycle: u64,
    kind: RequestKind,
    address: u64,
    bytes: u32,
    serial: u8,
    sectors: u8,
}

fn ask(cycle: u64, kind: RequestKind, address: u64) -> Ask {
    Ask { cycle, kind, address, bytes: u32::MAX, serial: 1, sectors: 1 }
}

/// A store of the first `parts` 32nds of a sector.
fn partial_write(cycle: u64, address: u64, parts: u32) -> Ask {
    Ask { bytes: (1 << parts) - 1, ..ask(cycle, WRITE, address) }
}

/// A read of the last 32nd of a sector.
fn read_of_last_part(cycle: u64, address: u64) -> Ask {
    Ask { bytes: 1 << 31, ..ask(cycle, READ, address) }
}

/// What a slice did.
struct Outcome {
    /// Cycle in which each ask was answered, by its place in the list; write-backs have no answer.
    answered: Vec<Option<u64>>,
    /// Asks in the order of their answers.
    order: Vec<usize>,
    /// Cycle in which each answered ask had its turn at the tags, in the order of the answers.
    served: Vec<u64>,
    /// Requests that reached the channel: cycle, kind, address, sectors.
    down: Vec<(u64, RequestKind, u64, u8)>,
    result: SliceResult,
}

impl Outcome {
    /// Kind and address of what reached the channel.
    fn traffic(&self) -> Vec<(RequestKind, u64)> {
        self.down.iter().map(|&(_, kind, address, _)| (kind, address)).collect()
    }

    fn cycle(&self, ask: usize) -> u64 {
        self.answered[ask].expect("it was answered")
    }

    fn fails(&self, reason: ReservationFail) -> u64 {
        self.result.cache.reservation_fails[reason as usize]
    }
}

/// Without any delay but the hit latency of 3 cycles; 16 lines of 128 bytes.
fn bare(overrides: &[&str]) -> Machine {
    let fast = [
        "llc.slices_per_channel=1",
        "llc.input_latency=0",
        "llc.latency=3",
        "llc.to_dram_latency=0",
        "llc.cache.size_bytes=2048",
        "llc.cache.ways=4",
        "llc.cache.index=linear",
        "dram.channels=1",
    ];
    machine(&[&fast, overrides].concat())
}

/// As [`bare`] with four sectors to a line, and stores that fetch nothing.
fn sectored(overrides: &[&str]) -> Machine {
    let sectors = [
        "l1.cache.sector_bytes=32",
        "llc.cache.sector_bytes=32",
        "dram.bus_bytes=4",
        "dram.address.map=row:12 bank:4 column:7 burst:5",
        "llc.cache.write_allocate=lazy-fetch",
    ];
    bare(&[&sectors, overrides].concat())
}

/// The rest of the machine.
struct World {
    asks: VecDeque<(usize, Ask)>,
    /// Row of each ask in the request table, by its place in the list.
    ids: Vec<RequestId>,
    fills: VecDeque<(u64, RequestId)>,
    answers: Vec<(u64, RequestId)>,
    down: Vec<(u64, RequestKind, u64, u8)>,
    /// The channel takes nothing, the reply network takes nothing, before these cycles.
    dram_opens: u64,
    replies_open: u64,
}

impl World {
    /// Sends what is due and takes the replies.
    fn step_network(&mut self, cycle: u64, unit: UnitId, ports: &SlicePorts, ctx: &mut Context) {
        let now = ctx.fabric.clock(Domain::Network).at(cycle);
        while let Some(&(_, ask)) = self.asks.front()
            && ask.cycle <= cycle
        {
            self.asks.pop_front();
            let request = Request {
                sm: if ask.kind == WRITEBACK { Request::NO_SM } else { 0 },
                bytes: ask.bytes,
                serial: ask.serial,
                sectors: ask.sectors,
                ..Request::of_slice(ask.address, ask.kind, 0)
            };
            let id = ctx.requests.add(request, now);
            self.ids.push(id);
            ctx.fabric.push(ports.requests, id, now);
        }
        if let Some(&(_, ask)) = self.asks.front() {
            ctx.fabric.wake_cycle(unit, ask.cycle);
        }
        if cycle < self.replies_open {
            ctx.fabric.wake_cycle(unit, self.replies_open);
            return;
        }
        while let Some(id) = ctx.fabric.ready(ports.replies, now) {
            ctx.fabric.pop(ports.replies, now);
            self.answers.push((cycle, id));
        }
        wake_at_head(ports.replies, unit, ctx);
    }

    fn step_dram(&mut self, cycle: u64, unit: UnitId, ports: &SlicePorts, ctx: &mut Context) {
        let now = ctx.fabric.clock(Domain::Dram).at(cycle);
        if cycle < self.dram_opens {
            ctx.fabric.wake_cycle(unit, self.dram_opens);
            return;
        }
        while let Some(id) = ctx.fabric.ready(ports.misses, now) {
            ctx.fabric.pop(ports.misses, now);
            let Request { kind, address, sectors, .. } = *ctx.requests.get(id);
            self.down.push((cycle, kind, address, sectors));
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
        wake_at_head(ports.misses, unit, ctx);
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
    let mut bench = Bench::new(machine, [1, 1, 1, 0]);
    let [dram, llc, network] = [Domain::Dram, Domain::Llc, Domain::Network].map(unit);
    let misses = (machine.llc.cache.miss_queue + machine.llc.to_dram_queue) as usize;
    let replies = machine.llc.reply_queue as usize;
    let mut port = |name, places, from, to| bench.fabric.add_port(name, 0, places, from, to);
    let ports = SlicePorts {
        requests: port("requests", 1000, network, llc),
        replies: port("replies", replies, llc, network),
        misses: port("misses", misses, llc, dram),
        fills: port("fills", 8, dram, llc),
    };
    let clock = bench.fabric.clock(Domain::Llc);
    let core: Clock = bench.fabric.clock(Domain::Core);
    let mut slice = Slice::new(machine, 0, clock, core, ports).unwrap();
    let mut world = World {
        asks: asks.iter().copied().enumerate().collect(),
        ids: Vec::new(),
        fills: VecDeque::new(),
        answers: Vec::new(),
        down: Vec::new(),
        dram_opens,
        replies_open,
    };
    bench.fabric.wake_cycle(network, asks[0].cycle);
    bench.run(|unit, cycle, ctx| match unit.domain {
        Domain::Dram => world.step_dram(cycle, unit, &ports, ctx),
        Domain::Llc => slice.step(cycle, ctx),
        _ => world.step_network(cycle, unit, &ports, ctx),
    });
    assert!(slice.is_idle(), "{}", slice.describe());
    assert_eq!(bench.fabric.occupied().collect::<Vec<_>>(), [""; 0]);
    assert_eq!(bench.requests.in_flight(), world.answers.len(), "each answered ask and no other");
    let place = |id: RequestId| world.ids.iter().rposition(|&other| other == id).unwrap();
    let order: Vec<usize> = world.answers.iter().map(|&(_, id)| place(id)).collect();
    let answered = (0..asks.len())
        .map(|ask| order.iter().position(|&o| o == ask).map(|at| world.answers[at].0))
        .collect();
    let served = |&(_, id): &(u64, RequestId)| clock.cycle_of(bench.requests.stamps(id).llc_served);
    let served = world.answers.iter().map(served).collect();
    Outcome { answered, order, served, down: world.down, result: slice.finish() }
}

fn unit(domain: Domain) -> UnitId {
    UnitId { domain, index: 0 }
}

/// Cycles from the network to the tags: the request is taken in the cycle after it was sent.
const ARRIVE: u64 = 1;

#[test]
fn a_miss_goes_to_dram_and_a_hit_takes_its_latency() {
    let outcome = run(&bare(&[]), &[ask(0, READ, 0), ask(100, READ, 0)]);
    assert_eq!(outcome.down, [(ARRIVE + 1, READ, 0, 1)]);
    assert_eq!(outcome.cycle(0), ARRIVE + 1 + DRAM);
    assert_eq!(outcome.cycle(1), 100 + ARRIVE + 3);
    let cache = &outcome.result.cache;
    assert_eq!((cache.read_misses, cache.read_hits), (1, 1));
}

#[test]
fn the_ways_in_and_down_take_their_core_cycles() {
    let delays = ["llc.input_latency=20", "llc.to_dram_latency=10"];
    let outcome = run(&bare(&delays), &[ask(0, READ, 0), ask(200, READ, 0)]);
    assert_eq!(outcome.down[0].0, ARRIVE + 20 + 10);
    assert_eq!(outcome.cycle(1), 200 + ARRIVE + 20 + 3);
    // Half the clock: latencies of the slice's own double, those in core cycles stay.
    let slow = [&delays[..], &["clocks.llc_mhz=500"]].concat();
    let outcome = run(&bare(&slow), &[ask(0, READ, 0), ask(200, READ, 0)]);
    assert_eq!(outcome.down[0].0, 2 + 20 + 10);
    assert_eq!(outcome.cycle(1), 202 + 20 + 2 * 3);
}

#[test]
fn one_request_a_cycle_has_its_turn_at_the_tags() {
    let first: Vec<Ask> = (0..4).map(|n| ask(0, READ, n * 128)).collect();
    let outcome = run(&bare(&[]), &first);
    let cycles: Vec<u64> = outcome.down.iter().map(|d| d.0).collect();
    assert_eq!(cycles, [ARRIVE + 1, ARRIVE + 2, ARRIVE + 3, ARRIVE + 4]);
}

#[test]
fn merged_reads_are_answered_in_order_one_a_cycle() {
    let outcome = run(&bare(&[]), &[ask(0, READ, 0), ask(5, READ, 64), ask(9, READ, 32)]);
    assert_eq!(outcome.traffic(), [(READ, 0)]);
    let back = ARRIVE + 1 + DRAM;
    let cycles: Vec<u64> = (0..3).map(|n| outcome.cycle(n)).collect();
    assert_eq!(cycles, [back, back + 1, back + 2]);
    assert_eq!(outcome.order, [0, 1, 2]);
    assert_eq!(outcome.result.cache.read_pending_hits, 2);
    assert_eq!(outcome.result.mshr_merge_length.max(), Some(3));
    assert_eq!(outcome.result.mshr_merge_length.count(), 1);
}

#[test]
fn a_hit_goes_before_the_answers_of_a_fill() {
    let back = ARRIVE + 1 + DRAM;
    let hits_then = back - ARRIVE - 3 + 1;
    let warm = ask(0, READ, 128);
    let asks = [
        warm,
        ask(100, READ, 0),
        ask(101, READ, 0),
        ask(102, READ, 0),
        ask(100 + hits_then, READ, 128),
    ];
    let outcome = run(&bare(&[]), &asks);
    assert_eq!(outcome.order, [0, 1, 4, 2, 3]);
}

#[test]
fn a_blocked_reply_network_holds_answers_and_lets_them_go() {
    let machine = bare(&["llc.reply_queue=2"]);
    let asks: Vec<Ask> = (0..6).map(|n| ask(n, READ, n * 128)).collect();
    let outcome = run_closed(&machine, &asks, 0, 400);
    assert_eq!(outcome.order, [0, 1, 2, 3, 4, 5]);
    assert_eq!((outcome.cycle(0), outcome.cycle(1)), (400, 400), "two waited in the port");
    assert!(outcome.cycle(5) <= 400 + 6);
}

#[test]
fn hits_that_cannot_leave_hold_up_the_tags() {
    let machine = bare(&["llc.reply_queue=2"]);
    let asks: Vec<Ask> = (0..20).map(|n| ask(n, WRITE, 0)).collect();
    let outcome = run_closed(&machine, &asks, 0, 400);
    let before = outcome.served.iter().filter(|&&cycle| cycle < 400).count();
    assert_eq!(before, 2 + 1 + 3, "two in the port, one at its door, three on the way of 3 cycles");
    assert_eq!(outcome.order.len(), 20);
}

#[test]
fn the_way_in_takes_a_request_each_cycle() {
    let machine = bare(&["llc.input_latency=20", "llc.queue=1"]);
    let asks: Vec<Ask> = (0..50).map(|n| ask(n, WRITE, 0)).collect();
    let outcome = run(&machine, &asks);
    let expected: Vec<u64> = (0..50).map(|n| n + ARRIVE + 20).collect();
    assert_eq!(outcome.served, expected);
}

#[test]
fn a_sector_is_fetched_on_its_own() {
    let outcome = run(&sectored(&[]), &[ask(0, READ, 0), ask(100, READ, 32), ask(200, READ, 0)]);
    assert_eq!(outcome.traffic(), [(READ, 0), (READ, 32)]);
    let cache = &outcome.result.cache;
    assert_eq!((cache.read_misses, cache.read_sector_misses, cache.read_hits), (1, 1, 1));
}

#[test]
fn a_store_is_answered_after_the_hit_latency() {
    for machine in [bare(&[]), sectored(&[])] {
        let outcome = run(&machine, &[ask(0, WRITE, 0), ask(100, WRITE, 0)]);
        assert_eq!((outcome.cycle(0), outcome.cycle(1)), (ARRIVE + 3, 100 + ARRIVE + 3));
        assert!(outcome.down.is_empty(), "whole sectors need no fetch");
        let cache = &outcome.result.cache;
        assert_eq!((cache.write_misses, cache.write_hits), (1, 1));
    }
}

#[test]
fn lazy_fetch_reads_only_what_a_later_read_needs() {
    let machine = sectored(&[]);
    let covered = Ask { bytes: 0x3, ..ask(100, READ, 0) };
    let outcome = run(&machine, &[partial_write(0, 0, 8), covered, read_of_last_part(200, 0)]);
    assert_eq!(outcome.traffic(), [(READ, 0)]);
    assert_eq!(outcome.cycle(1), 100 + ARRIVE + 3, "the bytes written are there");
    assert_eq!(outcome.cycle(2), 200 + ARRIVE + 1 + DRAM, "the others are not");
    assert_eq!(outcome.result.cache.write_fetches, 0);
}

#[test]
fn fetch_on_write_reads_the_rest_at_once() {
    let machine = bare(&["llc.cache.write_allocate=fetch-on-write"]);
    let outcome = run(&machine, &[partial_write(0, 0, 8), read_of_last_part(10, 0)]);
    assert_eq!(outcome.traffic(), [(FETCH, 0)], "and the read joins it");
    assert_eq!(outcome.cycle(0), ARRIVE + 3, "the store does not wait for it");
    assert_eq!(outcome.result.cache.write_fetches, 1);
    let again = run(&machine, &[partial_write(0, 0, 8), partial_write(1, 0, 9)]);
    assert_eq!(again.traffic(), [(FETCH, 0)], "once");
    let valid = run(&machine, &[ask(0, READ, 0), partial_write(100, 0, 8)]);
    assert_eq!(valid.traffic(), [(READ, 0)], "nothing is missing");
}

#[test]
fn what_a_store_left_is_dirty_even_if_lines_are_allocated_on_fill() {
    let machine = bare(&[
        "llc.cache.size_bytes=128",
        "llc.cache.ways=1",
        "llc.cache.read_allocate=on-fill",
        "llc.cache.write_allocate=fetch-on-write",
    ]);
    let outcome = run(&machine, &[partial_write(0, 0, 8), ask(200, READ, 128)]);
    assert_eq!(outcome.traffic(), [(FETCH, 0), (READ, 128), (WRITEBACK, 0)]);
}

#[test]
fn a_fill_does_not_wait_for_a_line_whose_own_fill_is_behind_it() {
    let machine = bare(&[
        "llc.cache.size_bytes=128",
        "llc.cache.ways=1",
        "llc.cache.read_allocate=on-fill",
        "llc.cache.write_allocate=fetch-on-write",
    ]);
    let outcome = run(&machine, &[ask(0, READ, 128), partial_write(1, 0, 8)]);
    assert_eq!(outcome.traffic(), [(READ, 128), (FETCH, 0), (WRITEBACK, 0)]);
}

#[test]
fn a_store_that_allocates_nothing_goes_to_dram() {
    let machine = bare(&["llc.cache.write_allocate=none"]);
    let outcome = run(&machine, &[ask(0, WRITE, 0), ask(100, READ, 0)]);
    assert_eq!(outcome.traffic(), [(WRITEBACK, 0), (READ, 0)]);
    assert_eq!(outcome.cycle(0), ARRIVE + 3);
}

#[test]
fn write_through_updates_the_line_and_sends_the_store_on() {
    let machine = bare(&["llc.cache.write=write-through", "llc.cache.write_allocate=none"]);
    let outcome = run(&machine, &[ask(0, READ, 0), ask(100, WRITE, 0), ask(200, READ, 0)]);
    assert_eq!(outcome.traffic(), [(READ, 0), (WRITEBACK, 0)]);
    assert_eq!(outcome.result.cache.writebacks, 0, "no dirty line was evicted");
}

/// Addresses of one set of a cache of four sets.
fn same_set(n: u64) -> u64 {
    n * 4 * 128
}

#[test]
fn a_dirty_line_leaves_once_with_exactly_its_dirty_sectors() {
    let machine = sectored(&["llc.cache.replacement=fifo"]);
    let mut asks = vec![ask(0, READ, same_set(0)), ask(100, WRITE, same_set(0) + 32)];
    asks.push(ask(101, WRITE, same_set(0) + 96));
    asks.extend((1..=4).map(|n| ask(200 * n, READ, same_set(n))));
    asks.push(ask(1200, READ, same_set(5)));
    let outcome = run(&machine, &asks);
    let written: Vec<_> = outcome.down.iter().filter(|d| d.1 == WRITEBACK).collect();
    assert_eq!(written.len(), 1);
    assert_eq!((written[0].2, written[0].3), (same_set(0), 0b1010));
    assert_eq!((outcome.result.cache.evictions, outcome.result.cache.writebacks), (2, 1));
}

#[test]
fn a_write_back_from_l1_puts_each_of_its_sectors_in() {
    let machine = sectored(&[]);
    let from_l1 = Ask { sectors: 0b101, ..ask(0, WRITEBACK, 0) };
    let reads = [0, 32, 64].map(|offset| ask(100 + offset, READ, offset));
    let outcome = run(&machine, &[&[from_l1], &reads[..]].concat());
    assert_eq!(outcome.traffic(), [(READ, 32)], "the others hit");
    assert_eq!(outcome.answered[0], None, "nobody waits for it");
}

#[test]
fn shortages_are_counted_in_cycles_by_reason() {
    let reads = |addresses: &[u64]| -> Vec<Ask> {
        addresses.iter().map(|&address| ask(0, READ, address)).collect()
    };
    // The first miss is back in cycle ARRIVE + 1 + DRAM; the third request had its first turn in ARRIVE + 2.
    let wait = DRAM - 1;
    let entries = run(&bare(&["llc.cache.mshr_entries=2"]), &reads(&[0, 128, 256]));
    assert_eq!(entries.fails(ReservationFail::MshrEntry), wait);
    let merges = run(&bare(&["llc.cache.mshr_merges=2"]), &reads(&[0, 0, 0]));
    assert_eq!(merges.fails(ReservationFail::MshrMerge), wait);
    let lines = ["llc.cache.size_bytes=256", "llc.cache.ways=2"];
    let lines = run(&bare(&lines), &reads(&[0, 128, 256]));
    assert_eq!(lines.fails(ReservationFail::LineAlloc), wait);
    let miss_queue = bare(&["llc.cache.miss_queue=1", "llc.to_dram_queue=1"]);
    let closed = run_closed(&miss_queue, &reads(&[0, 128, 256]), 300, 0);
    assert_eq!(closed.fails(ReservationFail::MissQueueFull), 300 - (ARRIVE + 2));
    for outcome in [entries, merges, lines, closed] {
        let total: u64 = outcome.result.cache.reservation_fails.iter().sum();
        assert!(total > 0 && outcome.order.len() == 3);
        let reasons = outcome.result.cache.reservation_fails.iter().filter(|&&n| n > 0).count();
        assert_eq!(reasons, 1);
    }
}

#[test]
fn a_miss_that_must_write_back_waits_for_two_places_on_the_way_down() {
    let machine = bare(&[
        "llc.cache.size_bytes=256",
        "llc.cache.ways=1",
        "llc.cache.miss_queue=1",
        "llc.to_dram_queue=1",
    ]);
    // The first read leaves one place of two while the channel is closed.
    let asks = [ask(0, READ, 128), ask(1, WRITE, 0), ask(2, READ, 256)];
    let outcome = run_closed(&machine, &asks, 300, 0);
    assert_eq!(outcome.traffic(), [(READ, 128), (WRITEBACK, 0), (READ, 256)]);
    assert_eq!(outcome.fails(ReservationFail::MissQueueFull), 300 - (ARRIVE + 2));
}

#[test]
fn a_fill_that_finds_a_dirty_line_in_its_way_waits_for_the_way_down() {
    let machine = bare(&[
        "llc.cache.size_bytes=128",
        "llc.cache.ways=1",
        "llc.cache.read_allocate=on-fill",
        "llc.cache.miss_queue=1",
        "llc.to_dram_queue=1",
    ]);
    let outcome = run(&machine, &[ask(0, READ, 128), ask(10, WRITE, 0), ask(100, READ, 128)]);
    assert_eq!(outcome.traffic(), [(READ, 128), (WRITEBACK, 0)]);
    assert_eq!(outcome.result.cache.read_hits, 1);
}

#[test]
fn atomics_to_one_address_take_their_turns_at_the_tags() {
    let lanes = |cycle, serial| Ask { serial, ..ask(cycle, ATOMIC, 0) };
    let asks = [ask(0, READ, 0), lanes(100, 8), ask(100, READ, 0)];
    let outcome = run(&bare(&["llc.atomic_cycles=3"]), &asks);
    assert_eq!(outcome.cycle(1), 100 + ARRIVE + 3, "the old value comes at once");
    assert_eq!(outcome.cycle(2), 100 + ARRIVE + 3 * 8 + 3, "the next waits for all of them");
    let optimistic = run(&bare(&["llc.atomic_cycles=0"]), &asks);
    assert_eq!(optimistic.cycle(2), 100 + ARRIVE + 1 + 3, "as one request");
    assert_eq!(optimistic.result.cache.atomics, 1);
}

#[test]
fn an_atomic_leaves_its_sector_dirty_on_a_hit_and_on_a_miss() {
    let machine = bare(&["llc.cache.size_bytes=128", "llc.cache.ways=1"]);
    for before in [&[ask(0, READ, 0)][..], &[]] {
        let asks = [before, &[ask(100, ATOMIC, 0), ask(200, READ, 128)]].concat();
        let outcome = run(&machine, &asks);
        assert_eq!(outcome.traffic()[1..], [(WRITEBACK, 0), (READ, 128)]);
    }
}

#[test]
fn an_atomic_that_misses_brings_its_sector() {
    let outcome = run(&bare(&[]), &[ask(0, ATOMIC, 0), ask(100, READ, 0)]);
    assert_eq!(
        outcome.traffic(),
        [(ATOMIC, 0)],
        "it goes down as itself; the channel reads for it"
    );
    assert_eq!(outcome.cycle(0), ARRIVE + 1 + DRAM);
    assert_eq!(outcome.result.cache.read_hits, 1);
}

#[test]
fn a_merged_read_is_a_use_of_its_line() {
    let machine = bare(&["llc.cache.size_bytes=256", "llc.cache.ways=2"]);
    let [a, b, c] = [0, 128, 256];
    let asks = [ask(0, READ, a), ask(1, READ, b), ask(2, READ, a)];
    let later = [ask(200, READ, c), ask(400, READ, a)];
    let outcome = run(&machine, &[&asks[..], &later].concat());
    assert_eq!(outcome.result.cache.read_hits, 1, "b gave way to c");
}

#[test]
fn reads_that_only_passed_leave_clean_lines() {
    let machine = bare(&["llc.cache.size_bytes=128", "llc.cache.ways=1"]);
    let outcome = run(&machine, &[ask(0, READ, 0), ask(200, READ, 128), ask(400, READ, 0)]);
    assert_eq!(outcome.traffic(), [(READ, 0), (READ, 128), (READ, 0)]);
    assert_eq!((outcome.result.cache.evictions, outcome.result.cache.writebacks), (2, 0));
}

#[test]
fn a_full_queue_pushes_back_on_the_network() {
    let machine = bare(&["llc.queue=2", "llc.cache.mshr_merges=1"]);
    let asks: Vec<Ask> = (0..6).map(|n| ask(n, READ, 0)).collect();
    let outcome = run(&machine, &asks);
    assert_eq!(outcome.order, [0, 1, 2, 3, 4, 5]);
    assert!(outcome.fails(ReservationFail::MshrMerge) > 0);
}

#[test]
fn a_full_cache_of_consecutive_lines_stays_whatever_selects_the_slice() {
    for overrides in [
        ["llc.slices_per_channel=1", "dram.channels=1"],
        ["llc.slices_per_channel=2", "dram.channels=2"],
        ["llc.slices_per_channel=4", "dram.channels=6"],
    ] {
        // 128 sets of one line, four rows of the slice.
        let size = ["llc.cache.size_bytes=16384", "llc.cache.ways=1"];
        let machine = bare(&[&size[..], &overrides].concat());
        let map = Bench::new(&machine, [0; 4]).map;
        let of_slice = |address: &u64| map.locate(*address).slice == 0;
        let lines: Vec<u64> = (0..).map(|n| n * 128).filter(of_slice).take(128).collect();
        let twice = lines.iter().chain(&lines).zip(0..);
        let asks: Vec<Ask> = twice.map(|(&address, n)| ask(100 * n, READ, address)).collect();
        let outcome = run(&machine, &asks);
        assert_eq!(outcome.result.cache.read_hits, 128, "{overrides:?}: every set is used");
    }
}
