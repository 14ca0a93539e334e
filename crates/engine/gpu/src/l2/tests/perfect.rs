//! A slice with a perfect cache.

use super::*;
use warpmem_cache::CacheCounts;

/// Cycles of a hit on the machines of these tests.
const HIT: u64 = 3;

fn perfect(overrides: &[&str]) -> Machine {
    sectored(&[&["policy.ideal=perfect-l2"], overrides].concat())
}

#[test]
fn every_request_hits_and_none_reaches_dram() {
    let off = ["l2.enabled=false"];
    let through = ["l2.cache.write=write-through"];
    let fetching = ["l2.cache.write_allocate=fetch-on-write"];
    for overrides in [&[][..], &off, &through, &fetching] {
        let asks = [
            ask(0, READ, 0),
            ask(0, READ, 1 << 20),
            ask(0, FETCH, 64),
            partial_write(0, 96, 3),
            ask(0, ATOMIC, 96),
            Ask { sectors: 0b101, ..ask(0, WRITEBACK, 4096) },
            ask(0, READ, 0),
        ];
        let outcome = run(&perfect(overrides), &asks);
        let cycles: Vec<Option<u64>> = outcome.answered;
        let hit = |turn: u64| Some(ARRIVE + turn + HIT);
        assert_eq!(cycles, [hit(0), hit(1), hit(2), hit(3), hit(4), None, hit(6)], "{overrides:?}");
        assert!(outcome.down.is_empty(), "{overrides:?}");
        let hits = CacheCounts {
            read_hits: 5,
            write_hits: 2,
            atomics: 1,
            atomic_hits: 1,
            ..CacheCounts::default()
        };
        assert_eq!(outcome.result.cache, hits, "{overrides:?}");
    }
}

#[test]
fn the_input_latency_and_the_serialisation_of_atomics_remain() {
    let machine = perfect(&["l2.input_latency=20", "l2.atomic_cycles=4"]);
    let atomic = Ask { max_lanes_per_address: 3, ..ask(0, ATOMIC, 0) };
    let outcome = run(&machine, &[atomic, ask(0, READ, 64)]);
    let first = ARRIVE + 20 + HIT;
    assert_eq!([outcome.cycle(0), outcome.cycle(1)], [first, first + 3 * 4]);
}

#[test]
fn a_load_without_requests_at_the_channel_has_no_end_there() {
    let needs = Needs { load_ends: true, ..Needs::default() };
    let of_load = |cycle, address| Ask { load: 0, ..ask(cycle, READ, address) };
    let asks = [of_load(0, 0), of_load(9, 256)];
    let outcome = run_for(&perfect(&[]), &needs, &asks, 0..0, 0);
    assert_eq!((outcome.order, outcome.load_ends), (vec![0, 1], vec![]));
}
