//! Empty caches at the start of a kernel (`run.cold_launches`).

use super::*;
use warpmem_sim::BankRow;

fn cold(overrides: &[&str]) -> Machine {
    bare(&[&["run.cold_launches=true"], overrides].concat())
}

#[test]
fn the_first_request_of_a_kernel_finds_no_line() {
    let asks = [ask(0, READ, 0), ask(100, READ, 0), ask(110, READ, 128)];
    let next = [ask(300, READ, 0), ask(400, READ, 128), ask(500, READ, 0)].map(of_next_kernel);
    let outcome = run(&cold(&[]), &[asks, next].concat());
    let missed = [(READ, 0), (READ, 128)];
    assert_eq!(outcome.traffic(), [missed, missed].concat());
    assert_eq!((outcome.result.cache.read_hits, outcome.result.cache.evictions), (2, 0));
    let warm = run(&bare(&[]), &[asks, next].concat());
    assert_eq!(warm.traffic(), missed);
}

#[test]
fn dirty_lines_are_dropped_without_a_write_to_dram() {
    let small = ["l2.cache.size_bytes=128", "l2.cache.ways=1"];
    let asks = [ask(0, WRITE, 0), of_next_kernel(ask(100, READ, 128))];
    assert_eq!(run(&cold(&small), &asks).traffic(), [(READ, 128)]);
    assert_eq!(run(&bare(&small), &asks).traffic(), [(WRITEBACK, 0), (READ, 128)]);
}

/// A store is acknowledged before its line is fetched, so the fetch may outlast the kernel.
#[test]
fn a_fetch_in_flight_keeps_its_line() {
    let machine = cold(&["l2.cache.write_allocate=fetch-on-write"]);
    let later = [ask(10, READ, 256), ask(200, READ, 0)].map(of_next_kernel);
    let outcome = run(&machine, &[&[partial_write(0, 0, 8)][..], &later].concat());
    assert_eq!(outcome.traffic(), [(FETCH, 0), (READ, 256)]);
    assert_eq!(outcome.cycle(2), 200 + ARRIVE + 3, "a hit");
}

#[test]
fn prefetched_lines_leave_unused_and_the_prefetcher_knows() {
    let asks = [ask(0, RequestKind::Prefetch, 0), of_next_kernel(ask(100, READ, 256))];
    let noted = |machine: &Machine| {
        let outcome = run(machine, &asks);
        let map = machine.address_map().unwrap();
        let is_noted = [0, 256].map(|address| {
            let place = map.locate(address);
            let line = u32::from(place.column) / (128 / machine.dram.burst_bytes());
            outcome.noted.of(BankRow { bank: place.bank, row: place.row }) >> line & 1 == 1
        });
        (outcome.result.prefetches.evicted_unused, is_noted)
    };
    assert_eq!(noted(&cold(&[])), (1, [false, true]));
    assert_eq!(noted(&bare(&[])), (0, [true, true]));
}
