//! Requests in a slice: latencies, merges, shortages and sets.

use super::*;
use warpmem_sim::SliceId;

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
fn the_input_latency_is_in_core_cycles_and_a_miss_leaves_one_l2_cycle_later() {
    // The latency to DRAM belongs to the controller.
    let delays = ["l2.input_latency=20", "l2.to_dram_latency=10"];
    let outcome = run(&bare(&delays), &[ask(0, READ, 0), ask(200, READ, 0)]);
    assert_eq!(outcome.down[0].0, ARRIVE + 20 + 1);
    assert_eq!(outcome.cycle(1), 200 + ARRIVE + 20 + 3);
    // At half the clock, latencies in L2 cycles double and those in core cycles stay.
    let slow = [&delays[..], &["clocks.l2_mhz=500"]].concat();
    let outcome = run(&bare(&slow), &[ask(0, READ, 0), ask(200, READ, 0)]);
    assert_eq!(outcome.down[0].0, 2 + 20 + 2);
    assert_eq!(outcome.cycle(1), 202 + 20 + 2 * 3);
}

#[test]
fn the_tags_serve_one_request_a_cycle() {
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
fn replies_of_a_fill_and_a_hit_alternate() {
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
    assert_eq!(outcome.order, [0, 1, 2, 4, 3]);
    assert_eq!([1, 2, 4, 3].map(|n| outcome.cycle(n) - 100), [back, back + 1, back + 2, back + 3]);
}

#[test]
fn a_blocked_reply_network_delays_replies() {
    let machine = bare(&["l2.reply_queue=2"]);
    let asks: Vec<Ask> = (0..6).map(|n| ask(n, READ, n * 128)).collect();
    let outcome = run_closed(&machine, &asks, 0, 400);
    assert_eq!(outcome.order, [0, 1, 2, 3, 4, 5]);
    assert_eq!((outcome.cycle(0), outcome.cycle(1)), (400, 400), "two replies waited in the port");
    assert!(outcome.cycle(5) <= 400 + 6);
}

#[test]
fn hits_that_cannot_leave_block_the_tags() {
    let machine = bare(&["l2.reply_queue=2"]);
    let asks: Vec<Ask> = (0..20).map(|n| ask(n, WRITE, 0)).collect();
    let outcome = run_closed(&machine, &asks, 0, 400);
    let before = outcome.served.iter().filter(|&&cycle| cycle < 400).count();
    assert_eq!(before, 2 + 2, "two in the port, and two in the pipeline when it was full");
    assert_eq!(outcome.order.len(), 20);
}

#[test]
fn the_input_accepts_a_request_each_cycle() {
    let machine = bare(&["l2.input_latency=20", "l2.queue=1"]);
    let asks: Vec<Ask> = (0..50).map(|n| ask(n, WRITE, 0)).collect();
    let outcome = run(&machine, &asks);
    let expected: Vec<u64> = (0..50).map(|n| n + ARRIVE + 20).collect();
    assert_eq!(outcome.served, expected);
}

#[test]
fn sectors_are_fetched_separately() {
    let outcome = run(&sectored(&[]), &[ask(0, READ, 0), ask(100, READ, 32), ask(200, READ, 0)]);
    assert_eq!(outcome.traffic(), [(READ, 0), (READ, 32)]);
    let cache = &outcome.result.cache;
    assert_eq!((cache.read_misses, cache.read_sector_misses, cache.read_hits), (1, 1, 1));
}

#[test]
fn a_fill_does_not_wait_for_a_line_with_a_later_fill() {
    let machine = bare(&[
        "l2.cache.size_bytes=128",
        "l2.cache.ways=1",
        "l2.cache.read_allocate=on-fill",
        "l2.cache.write_allocate=fetch-on-write",
    ]);
    let outcome = run(&machine, &[ask(0, READ, 128), partial_write(1, 0, 8)]);
    assert_eq!(outcome.traffic(), [(READ, 128), (FETCH, 0), (WRITEBACK, 0)]);
}

#[test]
fn shortages_are_counted_in_cycles_by_reason() {
    let reads = |addresses: &[u64]| -> Vec<Ask> {
        addresses.iter().map(|&address| ask(0, READ, address)).collect()
    };
    // The first miss returns in cycle ARRIVE + 1 + DRAM; the third request was first looked up in
    // ARRIVE + 2.
    let wait = DRAM - 1;
    let entries = run(&bare(&["l2.cache.mshr_entries=2"]), &reads(&[0, 128, 256]));
    assert_eq!(entries.fails(ReservationFail::MshrEntry), wait);
    let merges = run(&bare(&["l2.cache.mshr_merges=2"]), &reads(&[0, 0, 0]));
    assert_eq!(merges.fails(ReservationFail::MshrMerge), wait);
    let lines = ["l2.cache.size_bytes=256", "l2.cache.ways=2"];
    let lines = run(&bare(&lines), &reads(&[0, 128, 256]));
    assert_eq!(lines.fails(ReservationFail::LineAlloc), wait);
    // The queue to DRAM holds two; its reader takes both in cycle 300, in which the slice is
    // stepped after it.
    let closed = run_closed(&bare(&["l2.to_dram_queue=2"]), &reads(&[0, 128, 256]), 300, 0);
    assert_eq!(closed.result.dram_queue_full_cycles, 300 - (ARRIVE + 2));
    assert_eq!(closed.result.cache.reservation_fails, [0; ReservationFail::COUNT]);
    for outcome in [entries, merges, lines] {
        assert_eq!(outcome.result.dram_queue_full_cycles, 0);
        let total: u64 = outcome.result.cache.reservation_fails.iter().sum();
        assert!(total > 0 && outcome.order.len() == 3);
        let reasons = outcome.result.cache.reservation_fails.iter().filter(|&&n| n > 0).count();
        assert_eq!(reasons, 1);
    }
}

#[test]
fn a_merge_renews_its_line() {
    let machine = bare(&["l2.cache.size_bytes=256", "l2.cache.ways=2"]);
    let [a, b, c] = [0, 128, 256];
    let asks = [ask(0, READ, a), ask(1, READ, b), ask(2, READ, a)];
    let later = [ask(200, READ, c), ask(400, READ, a)];
    let outcome = run(&machine, &[&asks[..], &later].concat());
    assert_eq!(outcome.result.cache.read_hits, 1, "c replaced b");
}

#[test]
fn a_full_queue_pushes_back_on_the_network() {
    let machine = bare(&["l2.queue=2", "l2.cache.mshr_merges=1"]);
    let asks: Vec<Ask> = (0..6).map(|n| ask(n, READ, 0)).collect();
    let outcome = run(&machine, &asks);
    assert_eq!(outcome.order, [0, 1, 2, 3, 4, 5]);
    assert!(outcome.fails(ReservationFail::MshrMerge) > 0);
}

#[test]
fn consecutive_lines_use_every_set_of_a_slice() {
    for overrides in [
        ["l2.slices_per_channel=1", "dram.channels=1"],
        ["l2.slices_per_channel=2", "dram.channels=2"],
        ["l2.slices_per_channel=4", "dram.channels=6"],
    ] {
        // 128 sets of one line, four rows of the slice.
        let size = ["l2.cache.size_bytes=16384", "l2.cache.ways=1"];
        let machine = bare(&[&size[..], &overrides].concat());
        let map = Bench::new(&machine, [0; 4]).sim.map;
        let of_slice = |address: &u64| map.locate(*address).slice == SliceId(0);
        let lines: Vec<u64> = (0..).map(|n| n * 128).filter(of_slice).take(128).collect();
        let twice = lines.iter().chain(&lines).zip(0..);
        let asks: Vec<Ask> = twice.map(|(&address, n)| ask(100 * n, READ, address)).collect();
        let outcome = run(&machine, &asks);
        assert_eq!(outcome.result.cache.read_hits, 128, "{overrides:?}: every set is used");
    }
}

#[test]
fn loads_of_page_walks_arrive_ahead_of_the_requests_of_sms() {
    let walk = |address| ask(0, RequestKind::Walk, address);
    let asks = [ask(0, READ, 0), ask(0, READ, 128), walk(256), walk(384)];
    let keys = ["vm.enabled=true", "vm.walk.link_latency=5", "policy.ideal=perfect-l2"];
    let outcome = run(&bare(&keys), &asks);
    let mut in_order: Vec<(u64, usize)> =
        outcome.served.iter().copied().zip(outcome.order.clone()).collect();
    in_order.sort_unstable();
    assert_eq!(in_order.iter().map(|&(_, ask)| ask).collect::<Vec<_>>(), [2, 3, 0, 1]);
    // Their replies take the link of the walkers.
    assert_eq!(outcome.cycle(2) - in_order[0].0, outcome.cycle(0) - in_order[2].0 + 5);
}
