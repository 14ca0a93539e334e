//! Warp types: bypass of the L2, and insertion position of lines.

use super::*;
use warpmem_sim::{Eviction, WarpTypes};

const TYPES: WarpTypes =
    WarpTypes { mostly_hit: 0.7, mostly_miss: 0.2, warm_up: 4, resample: 1_000_000, bypass: true };

fn needs(types: WarpTypes) -> Needs {
    Needs { warp_types: Some(types), ..Needs::default() }
}

/// One set of four lines.
fn four_lines() -> Machine {
    bare(&["l2.cache.size_bytes=512"])
}

/// A read by a warp.
fn read(warp: u32, cycle: u64, address: u64) -> Ask {
    Ask { warp, ..ask(cycle, READ, address) }
}

/// Reads by which warp 1 becomes an all-miss warp, from `cycle` on.
fn four_misses(cycle: u64) -> impl Iterator<Item = Ask> {
    (0..4).map(move |n| read(1, cycle + n * 100, (100 + n) * 128))
}

fn run_types(types: WarpTypes, asks: &[Ask]) -> Outcome {
    run_for(&four_lines(), &needs(types), asks, 0..0, 0)
}

#[test]
fn reads_of_an_all_miss_warp_allocate_no_line() {
    let asks: Vec<Ask> =
        four_misses(0).chain([read(1, 500, 0), read(1, 600, 0), read(2, 700, 100 * 128)]).collect();
    let outcome = run_types(TYPES, &asks);
    let reads = outcome.traffic();
    assert_eq!(reads[4..], [(READ, 0), (READ, 0)], "the line of the first read is not kept");
    assert_eq!(outcome.result.cache.evictions, 0);
    assert_eq!(
        outcome.result.cache.read_hits, 1,
        "what the warp brought before it was known is there"
    );
    assert_eq!((outcome.counter("l2_bypasses"), outcome.counter("all_miss_samples")), (2, 1));
    assert_eq!(outcome.answered.iter().flatten().count(), asks.len());
}

#[test]
fn an_eviction_priority_overrides_the_warp_type() {
    let asked = Insertion::Asked(Eviction::Normal);
    let asks: Vec<Ask> = four_misses(0)
        .chain([Ask { insertion: asked, ..read(1, 500, 0) }, read(1, 600, 0)])
        .collect();
    let outcome = run_types(TYPES, &asks);
    assert_eq!((outcome.traffic().len(), outcome.counter("l2_bypasses")), (5, 0));
    assert_eq!(outcome.result.cache.read_hits, 1);
}

#[test]
fn bypassing_warps_hit_present_lines() {
    // The data of a store are only in the cache.
    let asks: Vec<Ask> = four_misses(0).chain([ask(450, WRITE, 0), read(1, 500, 0)]).collect();
    let outcome = run_types(TYPES, &asks);
    assert_eq!(outcome.cycle(5), 500 + ARRIVE + 3, "a hit");
    assert_eq!(outcome.counter("l2_bypasses"), 0);
}

#[test]
fn a_bypassing_read_fills_a_sector_of_a_present_line() {
    let machine = sectored(&[]);
    let asks: Vec<Ask> =
        four_misses(0).chain([read(2, 450, 0), read(1, 500, 32), read(2, 600, 32)]).collect();
    let outcome = run_for(&machine, &needs(TYPES), &asks, 0..0, 0);
    assert_eq!(outcome.traffic()[4..], [(READ, 0), (READ, 32)]);
    assert_eq!(outcome.cycle(6), 600 + ARRIVE + 3);
}

#[test]
fn bypassing_reads_merge() {
    let asks: Vec<Ask> = four_misses(0).chain([read(1, 500, 0), read(2, 505, 0)]).collect();
    let outcome = run_types(TYPES, &asks);
    assert_eq!(outcome.traffic().len(), 5);
    assert_eq!(outcome.result.cache.read_pending_hits, 1);
}

#[test]
fn an_atomic_merged_into_a_bypassing_read_gets_a_line() {
    let atomic = Ask { warp: 2, ..ask(505, ATOMIC, 0) };
    let asks: Vec<Ask> = four_misses(0).chain([read(1, 500, 0), atomic, read(2, 600, 0)]).collect();
    let outcome = run_types(TYPES, &asks);
    assert_eq!(outcome.traffic().len(), 4 + 1);
    assert_eq!(outcome.cycle(6), 600 + ARRIVE + 3);
}

#[test]
fn the_result_of_an_atomic_without_a_line_goes_to_dram() {
    let machine = bare(&["l2.cache.size_bytes=128", "l2.cache.ways=1"]);
    let atomic = Ask { warp: 2, ..ask(505, ATOMIC, 0) };
    // The only line waits for a later fill than the one that the atomic joins.
    let asks: Vec<Ask> =
        four_misses(0).chain([read(1, 500, 0), read(2, 501, 128), atomic]).collect();
    let outcome = run_for(&machine, &needs(TYPES), &asks, 0..0, 0);
    assert_eq!(outcome.traffic()[4..], [(READ, 0), (READ, 128), (WRITEBACK, 0)]);
    assert_eq!(outcome.answered.iter().flatten().count(), asks.len());
}

/// Warp 1 becomes an all-miss warp and reads line 0; other warps read one more line.
fn insertion(types: WarpTypes, overrides: &[&str]) -> Outcome {
    let machine = bare(&[&["l2.cache.size_bytes=512"], overrides].concat());
    let asks: Vec<Ask> = four_misses(0)
        .chain([read(1, 500, 0), read(2, 600, 128), read(2, 700, 0), read(2, 800, 103 * 128)])
        .collect();
    run_for(&machine, &needs(types), &asks, 0..0, 0)
}

#[test]
fn lines_of_miss_prone_warps_are_evicted_next() {
    for allocate in ["l2.cache.read_allocate=on-miss", "l2.cache.read_allocate=on-fill"] {
        let types = WarpTypes { bypass: false, ..TYPES };
        let outcome = insertion(types, &[allocate]);
        // Line 128 replaces line 0, and line 0 an older one; 103 stays.
        assert_eq!(outcome.traffic()[4..], [(READ, 0), (READ, 128), (READ, 0)], "{allocate}");
        assert_eq!(outcome.counter("l2_oldest_insertions"), 1);
        assert_eq!(outcome.counter("l2_bypasses"), 0);
    }
    // A warp of unknown type: its line stays and others are evicted.
    let unknown = WarpTypes { warm_up: 100, ..TYPES };
    let outcome = insertion(unknown, &[]);
    assert_eq!(outcome.traffic()[4..], [(READ, 0), (READ, 128)]);
}

#[test]
fn requests_of_hit_prone_warps_are_marked() {
    let hits = (0..4).map(|n| read(3, 100 + n, 0));
    let asks: Vec<Ask> = std::iter::once(read(2, 0, 0))
        .chain(hits)
        .chain([read(3, 200, 128), read(2, 300, 256)])
        .collect();
    let outcome = run_types(TYPES, &asks);
    assert_eq!(outcome.hit_prone, [false, true, false]);
    assert_eq!(outcome.counter("all_hit_samples"), 1);
}

#[test]
fn a_merge_counts_as_a_miss() {
    let asks: Vec<Ask> = (0..4).map(|n| read(1, n, 0)).chain([read(1, 200, 128)]).collect();
    let outcome = run_types(TYPES, &asks);
    assert_eq!(outcome.counter("all_miss_samples"), 1);
    assert_eq!(outcome.counter("l2_bypasses"), 1);
}

#[test]
fn a_type_expires() {
    let types = WarpTypes { resample: 150, ..TYPES };
    // The type is known from cycle 301 on, for 150 cycles.
    let asks: Vec<Ask> = four_misses(0).chain([read(1, 440, 0), read(1, 460, 128)]).collect();
    let outcome = run_types(types, &asks);
    assert_eq!(outcome.counter("l2_bypasses"), 1);
}
