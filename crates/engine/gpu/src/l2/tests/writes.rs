//! Stores, write-backs and atomics.

use super::*;

/// Addresses of one set of a cache of four sets.
fn same_set(n: u64) -> u64 {
    n * 4 * 128
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
fn a_store_to_an_absent_sector_is_a_sector_miss() {
    let machine = sectored(&[]);
    let asks = [ask(0, READ, 0), ask(1, WRITE, 0), ask(2, WRITE, 32), ask(300, WRITE, 32)];
    let cache = run(&machine, &asks).result.cache;
    assert_eq!((cache.write_hits, cache.write_sector_misses, cache.write_misses), (2, 1, 0));
}

#[test]
fn lazy_fetch_fetches_a_partly_written_sector_when_it_is_read() {
    let machine = sectored(&[]);
    let covered = |cycle| Ask { bytes: 0x3, ..ask(cycle, READ, 0) };
    let asks = [partial_write(0, 0, 8), covered(100), ask(200, WRITE, 32), ask(300, READ, 32)];
    let outcome = run(&machine, &asks);
    assert_eq!(outcome.traffic(), [(READ, 0)]);
    let back = 100 + ARRIVE + 1 + DRAM;
    assert_eq!(outcome.cycle(1), back, "a read needs its whole sector");
    assert_eq!(outcome.cycle(3), 300 + ARRIVE + 3, "a full store makes the sector valid");
    assert_eq!(outcome.result.cache.write_fetches, 0);
}

#[test]
fn fetch_on_write_fetches_the_rest_of_a_sector() {
    let machine = bare(&["l2.cache.write_allocate=fetch-on-write"]);
    let outcome = run(&machine, &[partial_write(0, 0, 8), read_of_last_part(10, 0)]);
    assert_eq!(outcome.traffic(), [(FETCH, 0)], "the read merges into the fetch");
    assert_eq!(outcome.cycle(0), ARRIVE + 3, "the store does not wait for it");
    assert_eq!(outcome.result.cache.write_fetches, 1);
    let again = run(&machine, &[partial_write(0, 0, 8), partial_write(1, 0, 9)]);
    assert_eq!(again.traffic(), [(FETCH, 0)], "once");
    let valid = run(&machine, &[ask(0, READ, 0), partial_write(100, 0, 8)]);
    assert_eq!(valid.traffic(), [(READ, 0)], "nothing is missing");
}

#[test]
fn a_store_beyond_the_bound_of_its_set_writes_back_a_line_that_stays() {
    let asks = [
        ask(0, WRITE, same_set(0)),
        ask(10, WRITE, same_set(2)),
        ask(20, WRITE, 128),
        ask(100, READ, same_set(0)),
    ];
    let free = run(&bare(&[]), &asks);
    assert!(free.down.is_empty());
    let bound = run(&bare(&["l2.dirty_ways=1"]), &asks);
    assert_eq!(bound.traffic(), [(WRITEBACK, same_set(0))], "the other set has one dirty line");
    assert_eq!(bound.cycle(1), free.cycle(1), "the store does not wait for it");
    assert_eq!(bound.cycle(3), free.cycle(3), "the line still hits");
    let cache = &bound.result.cache;
    assert_eq!((cache.early_writebacks, cache.writebacks, cache.read_hits), (1, 0, 1));
}

#[test]
fn an_atomic_that_misses_obeys_the_bound_at_its_fill() {
    let asks = [ask(0, WRITE, same_set(0)), ask(10, ATOMIC, same_set(2))];
    let outcome = run(&bare(&["l2.dirty_ways=1"]), &asks);
    assert_eq!(outcome.traffic(), [(ATOMIC, same_set(2)), (WRITEBACK, same_set(0))]);
    assert_eq!(outcome.result.cache.early_writebacks, 1);
}

fn sends_and_fetches(overrides: &[&str]) -> Machine {
    let mode = ["l2.cache.write_allocate=send-and-fetch", "l2.cache.miss_queue=3"];
    bare(&[&mode, overrides].concat())
}

#[test]
fn send_and_fetch_sends_a_missing_store_on_and_fetches_its_line() {
    let outcome = run(&sends_and_fetches(&[]), &[ask(0, WRITE, 0), ask(10, READ, 0)]);
    assert_eq!(outcome.traffic(), [(WRITEBACK, 0), (FETCH, 0)], "for any bytes covered");
    assert_eq!(outcome.cycle(0), ARRIVE + 3, "the store does not wait for it");
    assert_eq!(outcome.cycle(1), ARRIVE + 1 + DRAM, "the read merges into the fetch");
    let cache = &outcome.result.cache;
    assert_eq!((cache.write_misses, cache.write_fetches, cache.read_pending_hits), (1, 1, 1));
}

#[test]
fn send_and_fetch_sends_a_store_to_a_pending_line_on_and_merges() {
    let asks = [ask(0, READ, 0), Ask { sm: 1, ..ask(10, WRITE, 0) }, ask(200, WRITE, 0)];
    let outcome = run(&sends_and_fetches(&[]), &asks);
    assert_eq!(
        outcome.traffic(),
        [(READ, 0), (WRITEBACK, 0)],
        "one read, and the last store stays"
    );
    assert_eq!(outcome.result.mshr_merge_length.sum(), 2);
    assert_eq!(outcome.result.mshr_cycles[2], DRAM - 9, "a merge of another SM");
    let cache = &outcome.result.cache;
    assert_eq!((cache.write_hits, cache.write_fetches), (2, 0));
}

#[test]
fn send_and_fetch_needs_an_mshr_entry_with_room() {
    let fails =
        |key: &str, asks: &[Ask], reason| run(&sends_and_fetches(&[key]), asks).fails(reason);
    let two = [ask(0, READ, 0), ask(0, WRITE, 128)];
    assert_eq!(fails("l2.cache.mshr_entries=1", &two, ReservationFail::MshrEntry), DRAM);
    let same = [ask(0, READ, 0), ask(0, WRITE, 0)];
    assert_eq!(fails("l2.cache.mshr_merges=1", &same, ReservationFail::MshrMerge), DRAM);
}

#[test]
fn stores_sent_on_by_send_and_fetch_leave_clean_lines() {
    let machine = sends_and_fetches(&["l2.cache.size_bytes=128", "l2.cache.ways=1"]);
    let asks = [ask(0, WRITE, 0), ask(200, READ, 128), ask(400, WRITE, 128), ask(600, READ, 0)];
    let expected = [(WRITEBACK, 0), (FETCH, 0), (READ, 128), (WRITEBACK, 128), (READ, 0)];
    let outcome = run(&machine, &asks);
    assert_eq!(outcome.traffic(), expected, "a store that hits is written back with its line");
    assert_eq!(outcome.result.cache.writebacks, 1);
}

#[test]
fn stores_dirty_lines_under_on_fill_allocation() {
    let machine = bare(&[
        "l2.cache.size_bytes=128",
        "l2.cache.ways=1",
        "l2.cache.read_allocate=on-fill",
        "l2.cache.write_allocate=fetch-on-write",
    ]);
    let outcome = run(&machine, &[partial_write(0, 0, 8), ask(200, READ, 128)]);
    assert_eq!(outcome.traffic(), [(FETCH, 0), (READ, 128), (WRITEBACK, 0)]);
}

#[test]
fn a_store_without_allocation_goes_to_dram() {
    let machine = bare(&["l2.cache.write_allocate=none"]);
    let outcome = run(&machine, &[ask(0, WRITE, 0), ask(100, READ, 0)]);
    assert_eq!(outcome.traffic(), [(WRITEBACK, 0), (READ, 0)]);
    assert_eq!(outcome.cycle(0), ARRIVE + 3);
}

#[test]
fn write_through_updates_the_line_and_sends_the_store_on() {
    let machine = bare(&["l2.cache.write=write-through", "l2.cache.write_allocate=none"]);
    let outcome = run(&machine, &[ask(0, READ, 0), ask(100, WRITE, 0), ask(200, READ, 0)]);
    assert_eq!(outcome.traffic(), [(READ, 0), (WRITEBACK, 0)]);
    assert_eq!(outcome.result.cache.writebacks, 0, "no dirty line was evicted");
}

#[test]
fn a_dirty_line_is_written_back_once_with_its_dirty_sectors() {
    let machine = sectored(&["l2.cache.replacement=fifo"]);
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
    assert_eq!(outcome.answered[0], None, "it has no reply");
}

#[test]
fn a_miss_reserves_an_entry_for_its_dirty_victim() {
    let machine = bare(&[
        "l2.cache.size_bytes=256",
        "l2.cache.ways=1",
        "l2.cache.miss_queue=1",
        "l2.to_dram_queue=1",
    ]);
    // The first miss takes both entries while the channel is closed; the second waits until both
    // are free.
    let asks = [ask(0, WRITE, 0), ask(1, READ, 256), ask(2, READ, 128)];
    let outcome = run_closed(&machine, &asks, 300, 0);
    assert_eq!(outcome.traffic(), [(WRITEBACK, 0), (READ, 256), (READ, 128)]);
    assert_eq!(outcome.result.dram_queue_full_cycles, 300 - (2 + ARRIVE));
}

#[test]
fn a_full_queue_to_dram_blocks_hits() {
    let machine = bare(&["l2.to_dram_queue=1"]);
    let asks = [ask(0, READ, 0), ask(100, READ, 128), ask(101, READ, 0)];
    // The line is present when the channel closes; the miss that then fills the queue is taken in
    // cycle 200.
    let outcome = run_for(&machine, &Needs::default(), &asks, 90..200, 0);
    assert_eq!(outcome.cycle(2), 200 + 3);
    assert_eq!(outcome.result.dram_queue_full_cycles, 200 - (101 + ARRIVE));
    let two = run_for(&bare(&["l2.to_dram_queue=2"]), &Needs::default(), &asks, 90..200, 0);
    assert_eq!(two.cycle(2), 101 + ARRIVE + 3, "an entry is left");
}

#[test]
fn a_fill_with_a_dirty_victim_waits_for_the_queue_to_dram() {
    let machine = bare(&[
        "l2.cache.size_bytes=128",
        "l2.cache.ways=1",
        "l2.cache.read_allocate=on-fill",
        "l2.cache.miss_queue=1",
        "l2.to_dram_queue=1",
    ]);
    let outcome = run(&machine, &[ask(0, READ, 128), ask(10, WRITE, 0), ask(100, READ, 128)]);
    assert_eq!(outcome.traffic(), [(READ, 128), (WRITEBACK, 0)]);
    assert_eq!(outcome.result.cache.read_hits, 1);
}

#[test]
fn atomics_to_one_address_are_serialised_at_the_tags() {
    let lanes =
        |cycle, max_lanes_per_address| Ask { max_lanes_per_address, ..ask(cycle, ATOMIC, 0) };
    let asks = [ask(0, READ, 0), lanes(100, 8), ask(100, READ, 0)];
    let outcome = run(&bare(&["l2.atomic_cycles=3"]), &asks);
    assert_eq!(outcome.cycle(1), 100 + ARRIVE + 3, "the old value is returned at once");
    assert_eq!(outcome.cycle(2), 100 + ARRIVE + 3 * 8 + 3, "the next waits for all of them");
    let optimistic = run(&bare(&["l2.atomic_cycles=0"]), &asks);
    assert_eq!(optimistic.cycle(2), 100 + ARRIVE + 1 + 3, "as one request");
    assert_eq!(optimistic.result.cache.atomics, 1);
}

#[test]
fn atomics_are_counted_by_outcome() {
    // A miss of an atomic, an atomic and a read that merge into it, a hit of an atomic and one of a
    // read.
    let cycles = [(0, ATOMIC), (5, ATOMIC), (6, READ), (400, ATOMIC), (500, READ)];
    let asks: Vec<Ask> = cycles.iter().map(|&(cycle, kind)| ask(cycle, kind, 0)).collect();
    let cache = run(&bare(&[]), &asks).result.cache;
    let atomics = [cache.atomic_misses, cache.atomic_pending_hits, cache.atomic_hits];
    assert_eq!((atomics, cache.atomics), ([1, 1, 1], 3));
    assert_eq!([cache.read_misses, cache.read_pending_hits, cache.read_hits], [1, 2, 2]);
}

#[test]
fn an_atomic_leaves_its_sector_dirty_on_a_hit_and_on_a_miss() {
    let machine = bare(&["l2.cache.size_bytes=128", "l2.cache.ways=1"]);
    for before in [&[ask(0, READ, 0)][..], &[]] {
        let asks = [before, &[ask(100, ATOMIC, 0), ask(200, READ, 128)]].concat();
        let outcome = run(&machine, &asks);
        assert_eq!(outcome.traffic()[1..], [(WRITEBACK, 0), (READ, 128)]);
    }
}

#[test]
fn an_atomic_miss_fills_its_sector() {
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
fn merged_reads_leave_clean_lines() {
    let machine = bare(&["l2.cache.size_bytes=128", "l2.cache.ways=1"]);
    let outcome = run(&machine, &[ask(0, READ, 0), ask(200, READ, 128), ask(400, READ, 0)]);
    assert_eq!(outcome.traffic(), [(READ, 0), (READ, 128), (READ, 0)]);
    assert_eq!((outcome.result.cache.evictions, outcome.result.cache.writebacks), (2, 0));
}
