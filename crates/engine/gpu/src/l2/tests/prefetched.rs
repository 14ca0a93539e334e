//! Prefetched lines.

use super::*;
use crate::results::PrefetchCounts;
use warpmem_sim::{BankId, BankRow, RowId};

/// A prefetched line of one sector from the channel.
fn comes(cycle: u64, address: u64) -> Ask {
    ask(cycle, RequestKind::Prefetch, address)
}

/// One line of one sector.
fn one_line(overrides: &[&str]) -> Machine {
    let small = ["l2.cache.size_bytes=128", "l2.cache.ways=1"];
    bare(&[&small, overrides].concat())
}

/// Returns the outcomes, whose sum must be the number of lines.
fn counts(outcome: &Outcome) -> PrefetchCounts {
    let counts = outcome.result.prefetches.clone();
    let PrefetchCounts { lines, used, late, redundant, dropped, evicted_unused, unused } = counts;
    assert_eq!(lines, used + late + redundant + dropped + evicted_unused + unused);
    counts
}

#[test]
fn a_line_hit_after_its_arrival_is_used_once() {
    for kind in [READ, WRITE, ATOMIC] {
        let asks = [comes(0, 256), ask(10, kind, 256), ask(30, kind, 256), comes(40, 512)];
        let outcome = run(&bare(&[]), &asks);
        assert_eq!(outcome.traffic(), [], "{kind:?}");
        assert_eq!(outcome.cycle(1), 10 + ARRIVE + 3);
        let expected = PrefetchCounts { lines: 2, used: 1, unused: 1, ..Default::default() };
        assert_eq!(counts(&outcome), expected, "{kind:?}");
    }
}

#[test]
fn every_sector_of_the_line_is_filled() {
    let whole = Ask { sectors: 0b1111, ..comes(0, 256) };
    let reads = (0..5).map(|sector| ask(10 + sector, READ, 256 + 32 * sector));
    let outcome = run(&sectored(&[]), &[whole].into_iter().chain(reads).collect::<Vec<_>>());
    assert_eq!(outcome.traffic(), [(READ, 384)], "the next line is not filled");
    assert_eq!(outcome.result.cache.read_hits, 4);
}

#[test]
fn a_line_whose_request_has_missed_is_late() {
    for machine in [bare(&[]), bare(&["l2.cache.read_allocate=on-fill"])] {
        let outcome = run(&machine, &[ask(0, READ, 256), comes(20, 256), ask(30, READ, 256)]);
        assert_eq!(outcome.traffic(), [(READ, 256)]);
        assert_eq!(outcome.cycle(0), ARRIVE + 1 + DRAM, "its own data arrive");
        assert_eq!(counts(&outcome), PrefetchCounts { lines: 1, late: 1, ..Default::default() });
    }
    // A miss of any sector makes it late.
    let whole = Ask { sectors: 0b1111, ..comes(20, 256) };
    let outcome = run(&sectored(&[]), &[ask(0, READ, 256 + 96), whole]);
    assert_eq!(counts(&outcome).late, 1);
}

#[test]
fn a_prefetch_of_a_present_line_changes_nothing() {
    let machine = one_line(&[]);
    let asks = [ask(0, WRITE, 0), comes(20, 0), ask(40, READ, 128)];
    let outcome = run(&machine, &asks);
    assert_eq!(outcome.traffic(), [(WRITEBACK, 0), (READ, 128)], "it is still dirty");
    assert_eq!(counts(&outcome), PrefetchCounts { lines: 1, redundant: 1, ..Default::default() });
    // It is not marked either.
    let outcome = run(&bare(&[]), &[ask(0, READ, 0), comes(100, 0), ask(120, READ, 0)]);
    assert_eq!(counts(&outcome).used, 0);
    let twice = run(&bare(&[]), &[comes(0, 0), comes(10, 0), ask(20, READ, 0)]);
    let expected = PrefetchCounts { lines: 2, used: 1, redundant: 1, ..Default::default() };
    assert_eq!(counts(&twice), expected);
}

#[test]
fn a_prefetched_line_replaces_another() {
    let outcome = run(&one_line(&[]), &[comes(0, 0), ask(20, READ, 128), comes(100, 256)]);
    let expected = PrefetchCounts { lines: 2, evicted_unused: 1, unused: 1, ..Default::default() };
    assert_eq!(counts(&outcome), expected);
    assert_eq!(outcome.result.cache.evictions, 2);
    let outcome = run(&one_line(&[]), &[ask(0, WRITE, 0), comes(20, 128), ask(40, READ, 128)]);
    assert_eq!(outcome.traffic(), [(WRITEBACK, 0)]);
    assert_eq!(counts(&outcome).used, 1);
    // A line that was used before its eviction does not count as evicted unused.
    let outcome = run(&one_line(&[]), &[comes(0, 0), ask(10, READ, 0), ask(20, READ, 128)]);
    assert_eq!(counts(&outcome), PrefetchCounts { lines: 1, used: 1, ..Default::default() });
}

#[test]
fn a_line_that_would_have_to_wait_for_a_victim_is_dropped() {
    let dropped = PrefetchCounts { lines: 1, dropped: 1, ..Default::default() };
    // The only line is reserved.
    let reserving = one_line(&["l2.cache.read_allocate=on-miss"]);
    let outcome = run(&reserving, &[ask(0, READ, 0), comes(20, 128)]);
    assert_eq!(counts(&outcome), dropped);
    assert_eq!(outcome.cycle(0), ARRIVE + 1 + DRAM);
    // Only the entries reserved for requests are free for dirty data.
    let narrow = ["l2.to_dram_queue=1", "l2.cache.miss_queue=1"];
    let two_lines = ["l2.cache.size_bytes=256", "l2.cache.ways=2"];
    let machine = bare(&[narrow, two_lines].concat());
    let asks = [ask(0, WRITE, 0), ask(1, READ, 256), comes(20, 384)];
    let shut = run_closed(&machine, &asks, 300, 0);
    assert_eq!(counts(&shut), dropped, "the only free entry is reserved");
    assert_eq!(run_closed(&machine, &asks, 0, 0).result.prefetches.dropped, 0);
}

#[test]
fn a_line_waits_until_the_previous_fill_is_answered() {
    // The two replies of the first fill leave one a cycle; then the line arrives.
    let asks = [ask(0, READ, 0), ask(1, READ, 0), comes(ARRIVE + DRAM, 256), ask(60, READ, 256)];
    let outcome = run(&bare(&[]), &asks);
    assert_eq!((outcome.traffic().len(), counts(&outcome).used), (1, 1));
}

#[test]
fn lines_are_listed_from_their_miss_to_their_eviction() {
    let row = BankRow { bank: BankId(0), row: RowId(0) };
    let noted = |asks: &[Ask]| run(&one_line(&["l1.cache.line_bytes=128"]), asks).noted.of(row);
    // Lines of 128 B, consecutive in their row.
    assert_eq!(noted(&[ask(0, READ, 0)]), 0b1);
    assert_eq!(noted(&[ask(0, READ, 0), ask(100, WRITE, 128)]), 0b10, "one line");
    assert_eq!(noted(&[ask(0, READ, 0), comes(100, 128)]), 0b10);
}
