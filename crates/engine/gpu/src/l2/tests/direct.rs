//! A slice without a cache.

use super::*;
use warpmem_sim::CountedMerges;

fn direct(overrides: &[&str]) -> Machine {
    bare(&[&["l2.enabled=false"], overrides].concat())
}

#[test]
fn requests_to_one_address_all_go_to_dram_one_a_cycle() {
    let outcome = run(&direct(&[]), &[ask(0, READ, 0), ask(0, READ, 0), ask(0, FETCH, 64)]);
    let first = ARRIVE + 1;
    assert_eq!(
        outcome.down,
        [(first, READ, 0, 1), (first + 1, READ, 0, 1), (first + 2, FETCH, 64, 1)]
    );
    let cycles: Vec<u64> = (0..3).map(|n| outcome.cycle(n)).collect();
    assert_eq!(cycles, [0, 1, 2].map(|n| first + n + DRAM));
    let queue = outcome.result.queue.clone();
    let nothing = SliceResult { queue, ..SliceResult::default() };
    assert_eq!(outcome.result, nothing, "no cache counts");
}

#[test]
fn only_the_input_latency_applies() {
    let outcome = run(&direct(&["l2.input_latency=20", "l2.latency=9"]), &[ask(0, READ, 0)]);
    assert_eq!(outcome.down[0].0, ARRIVE + 20 + 1);
    assert_eq!(outcome.cycle(0), ARRIVE + 20 + 1 + DRAM);
}

#[test]
fn a_store_is_acknowledged_once_its_sector_is_in_the_queue_to_dram() {
    let store = Ask { sm: 3, ..partial_write(0, 64, 8) };
    let outcome = run(&direct(&[]), &[store, ask(10, READ, 64)]);
    assert_eq!(outcome.down[0], (ARRIVE + 1, WRITEBACK, 64, 1), "nothing is fetched");
    assert_eq!(outcome.from[0], (3, CTA), "DRAM knows the SM and CTA of the store");
    assert_eq!(outcome.cycle(0), ARRIVE + 1);
    assert_eq!(outcome.cycle(1), 10 + ARRIVE + 1 + DRAM, "a read misses");
}

#[test]
fn dirty_data_of_l1_are_written_sector_by_sector_and_nobody_is_told() {
    let back = Ask { sectors: 0b101, ..ask(0, WRITEBACK, 0) };
    let outcome = run(&direct(&[]), &[back]);
    assert_eq!(outcome.down, [(ARRIVE + 1, WRITEBACK, 0, 0b101)]);
    assert!(outcome.order.is_empty());
}

#[test]
fn an_atomic_is_a_read_followed_by_a_write() {
    let atomic = Ask { sm: 3, ..ask(0, ATOMIC, 64) };
    let outcome = run(&direct(&[]), &[atomic]);
    let back = ARRIVE + 1 + DRAM;
    assert_eq!(outcome.down, [(ARRIVE + 1, ATOMIC, 64, 1), (back + 1, WRITEBACK, 64, 1)]);
    assert_eq!(outcome.from, [(3, CTA); 2]);
    assert_eq!(outcome.cycle(0), back);
}

#[test]
fn results_of_atomics_precede_requests_from_the_network() {
    let back = ARRIVE + 1 + DRAM;
    let outcome = run(&direct(&[]), &[ask(0, ATOMIC, 64), ask(back - ARRIVE, READ, 64)]);
    let next = back + 1;
    assert_eq!(outcome.down[1..], [(next, WRITEBACK, 64, 1), (next, READ, 64, 1)]);
}

#[test]
fn lanes_at_one_address_are_serialised() {
    let atomic = Ask { max_lanes_per_address: 8, ..ask(0, ATOMIC, 0) };
    let outcome = run(&direct(&["l2.atomic_cycles=3"]), &[atomic, ask(0, READ, 128)]);
    assert_eq!(outcome.down[1].0, outcome.down[0].0 + 8 * 3);
}

#[test]
fn a_full_queue_to_dram_pushes_back() {
    let machine = direct(&["l2.to_dram_queue=2"]);
    let asks: Vec<Ask> = (0..6).map(|n| ask(0, READ, n * 128)).collect();
    let outcome = run_closed(&machine, &asks, 300, 0);
    // The queue holds two; its reader takes both in cycle 300, in which the slice is stepped after
    // it.
    let served: Vec<bool> = outcome.served.iter().map(|&cycle| cycle >= 300).collect();
    assert_eq!(served, [false, false, true, true, true, true]);
    assert_eq!(outcome.result.dram_queue_full_cycles, 300 - (ARRIVE + 2));
    assert_eq!(outcome.order, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn a_blocked_reply_network_delays_reads_and_stores() {
    let machine = direct(&["l2.reply_queue=2"]);
    let kinds = [READ, WRITE].into_iter().cycle();
    let asks: Vec<Ask> = (0..20).zip(kinds).map(|(n, kind)| ask(n, kind, n * 128)).collect();
    let outcome = run_closed(&machine, &asks, 0, 400);
    assert_eq!(outcome.order.len(), 20);
    assert_eq!(outcome.down.len(), 20);
}

#[test]
fn results_of_atomics_wait_in_the_slice_and_block_no_fill() {
    let machine = direct(&["l2.to_dram_queue=1", "l2.cache.miss_queue=1"]);
    let asks: Vec<Ask> = (0..4).map(|n| ask(n, ATOMIC, n * 128)).collect();
    let shut = ARRIVE + 10..400;
    let outcome = run_for(&machine, &Needs::default(), &asks, shut, 0);
    let cycles: Vec<u64> = (0..4).map(|n| outcome.cycle(n)).collect();
    assert_eq!(cycles, [0, 1, 2, 3].map(|n| ARRIVE + 1 + n + DRAM));
    let writes =
        outcome.down.iter().filter(|&&(cycle, kind, ..)| kind == WRITEBACK && cycle >= 400);
    assert_eq!(writes.count(), 4);
}

#[test]
fn merge_reports_show_no_merges() {
    let needs = Needs { merges: Some(CountedMerges::All), ..Needs::default() };
    let asks = [ask(0, READ, 0), ask(1, READ, 0), ask(2, ATOMIC, 0), ask(3, WRITE, 0)];
    let outcome = run_for(&direct(&[]), &needs, &asks, 0..0, 0);
    let merges: Vec<_> =
        outcome.reports.iter().map(|&(_, _, merges, _, dummy)| (merges, dummy)).collect();
    assert_eq!(merges, [(1, false); 5], "three reads, the store, and the result of the atomic");
}
