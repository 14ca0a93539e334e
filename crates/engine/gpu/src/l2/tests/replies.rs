//! Hits and replies of fills on the way to the reply network.

use super::*;

/// Network cycles per reply: fewer replies leave than there are hits.
const INTERVAL: u64 = 4;
/// Entries of the reply queue.
const REPLIES: u64 = 2;

fn slow_replies(order: &str) -> Machine {
    let order = format!("l2.reply_order={order}");
    bare(&[&format!("l2.reply_queue={REPLIES}"), &order])
}

/// A present line, then `misses` others from cycle 100 on, and hits every cycle.
fn hits_around(misses: u64) -> Vec<Ask> {
    let mut asks = vec![ask(0, READ, 0)];
    asks.extend((0..misses).map(|n| ask(100 + n, READ, (n + 1) * 128)));
    asks.extend((100 + misses..400).map(|cycle| ask(cycle, READ, 0)));
    asks
}

#[test]
fn a_fill_reply_waits_for_the_reply_queue_but_not_for_hits() {
    let wait = |order| {
        let outcome = run_throttled(&slow_replies(order), &hits_around(1), INTERVAL);
        outcome.cycle(1) - (100 + ARRIVE + 1 + DRAM)
    };
    let (fills_first, hits_first) = (wait("fills-first"), wait("hits-first"));
    let bound = (REPLIES + 1) * INTERVAL;
    assert!(fills_first <= bound, "{fills_first}");
    // No hits are served while replies have no room, so only those in the pipeline go before.
    assert!((fills_first..=bound + 4 * INTERVAL).contains(&hits_first), "{hits_first}");
}

#[test]
fn hits_wait_only_for_fills_in_flight() {
    let misses = 8;
    let outcome = run_throttled(&slow_replies("fills-first"), &hits_around(misses), INTERVAL);
    let is_fill_reply = |ask: usize| (1..=misses as usize).contains(&ask);
    let answers = outcome.order.iter().filter(|&&ask| is_fill_reply(ask)).count();
    assert_eq!(answers, misses as usize);
    let first = outcome.order.iter().position(|&ask| is_fill_reply(ask)).unwrap();
    let hits_after = outcome.order[first + answers..].iter().filter(|&&ask| !is_fill_reply(ask));
    assert!(hits_after.count() > 200, "all other hits follow");
    let last = outcome.cycle(misses as usize);
    let bound = 100 + ARRIVE + 1 + DRAM + (misses + REPLIES + 1) * INTERVAL;
    assert!(last <= bound, "{last} {bound}");
}

#[test]
fn a_hit_and_a_fill_reply_enter_the_queue_together_and_leave_one_a_cycle() {
    // The latency of the hit ends when the fill arrives.
    let back = ARRIVE + 1 + DRAM;
    let asks = [ask(0, READ, 0), ask(200, READ, 128), ask(200 + back - 3 - ARRIVE, READ, 0)];
    for order in ["fills-first", "hits-first"] {
        let outcome = run(&bare(&[&format!("l2.reply_order={order}")]), &asks);
        let expected = if order == "fills-first" { [0, 1, 2] } else { [0, 2, 1] };
        assert_eq!(outcome.order, expected);
        let cycles = [outcome.cycle(expected[1]), outcome.cycle(expected[2])];
        assert_eq!(cycles, [200 + back, 200 + back + 1]);
    }
}

#[test]
fn fills_are_accepted_while_replies_wait() {
    let asks: Vec<Ask> = (0..4).map(|n| ask(n, READ, n * 128)).collect();
    let outcome = run_closed(&bare(&["l2.reply_queue=1"]), &asks, 0, 300);
    let outstanding: u64 = outcome.result.mshr_cycles[1..].iter().sum();
    assert_eq!(outstanding, 1 + DRAM + 3, "until the last fill, not until the network opens");
    assert_eq!(outcome.order, [0, 1, 2, 3]);
}

#[test]
fn an_mshr_entry_is_held_until_all_its_requests_are_answered() {
    let asks =
        [ask(0, READ, 0), ask(1, READ, 0), ask(2, READ, 0), ask(3, READ, 128), ask(200, READ, 0)];
    let outcome = run(&bare(&["l2.cache.mshr_entries=1"]), &asks);
    let back = ARRIVE + 1 + DRAM;
    assert_eq!([0, 1, 2].map(|n| outcome.cycle(n)), [back, back + 1, back + 2]);
    assert_eq!(outcome.cycle(3), back + 2 + 1 + DRAM, "the entry is free after the third reply");
}

#[test]
fn a_fill_holds_its_mshr_entry_for_its_latency() {
    let asks = [ask(0, READ, 0), ask(1, READ, 0), ask(2, READ, 128), ask(200, READ, 0)];
    let keys = ["l2.fill_latency=5", "l2.cache.mshr_entries=1"];
    let back = ARRIVE + 1 + DRAM + 5;
    let outcome = run(&bare(&keys), &asks);
    assert_eq!([0, 1].map(|n| outcome.cycle(n)), [back, back + 1]);
    assert_eq!(
        outcome.cycle(2),
        back + 1 + 1 + DRAM + 5,
        "it has the entry after the second answer"
    );
    assert_eq!(outcome.cycle(3), 200 + ARRIVE + 3, "a hit has its own latency");
}

#[test]
fn a_filled_line_hits_before_its_requests_are_answered() {
    let filled = ARRIVE + 1 + DRAM;
    let asks = [ask(0, READ, 0), ask(filled - ARRIVE, READ, 0)];
    let outcome = run(&bare(&["l2.fill_latency=20"]), &asks);
    assert_eq!([0, 1].map(|n| outcome.cycle(n)), [filled + 20, filled + 3]);
}

#[test]
fn the_reply_latency_holds_no_mshr_entry() {
    let asks = [ask(0, READ, 0), ask(2, READ, 128), ask(200, READ, 0)];
    let keys = ["l2.reply_latency=5", "l2.cache.mshr_entries=1"];
    let back = ARRIVE + 1 + DRAM;
    let outcome = run(&bare(&keys), &asks);
    assert_eq!(outcome.cycle(0), back + 5);
    assert_eq!(outcome.cycle(1), back + 1 + DRAM + 5, "the entry is free after the first reply");
    assert_eq!(outcome.cycle(2), 200 + ARRIVE + 3 + 5, "a hit has both latencies");
}

#[test]
fn a_hit_without_latency_precedes_the_replies_of_the_same_cycles_fill() {
    let filled = ARRIVE + 1 + DRAM;
    let asks = [ask(0, READ, 0), ask(1, READ, 0), ask(filled - ARRIVE, READ, 0)];
    let keys = ["l2.latency=0", "l2.reply_latency=1"];
    let replies = |fill_latency: u32| {
        let fill = format!("l2.fill_latency={fill_latency}");
        let outcome = run(&bare(&[&keys[..], &[&fill]].concat()), &asks);
        [0, 1, 2].map(|n| outcome.cycle(n))
    };
    assert_eq!(replies(1), [filled + 2, filled + 3, filled + 1]);
    assert_eq!(replies(0), [filled + 1, filled + 3, filled + 2], "answered first");
}

#[test]
fn without_a_cache_there_is_no_fill_latency() {
    let outcome = run(&bare(&["l2.enabled=false", "l2.fill_latency=5"]), &[ask(0, READ, 0)]);
    assert_eq!(outcome.cycle(0), ARRIVE + 1 + DRAM);
}

#[test]
fn hits_and_fills_occupy_their_ports_for_their_data() {
    let machine = |port: u32| bare(&[&format!("l2.port_bytes={port}")]);
    let mut asks: Vec<Ask> = (0..4).map(|n| ask(0, READ, n * 128)).collect();
    asks.extend((0..4).map(|n| ask(200, READ, n * 128)));
    asks.push(partial_write(200, 0, 8));
    asks.push(ask(200, READ, 0));
    for (port, line, store) in [(0, 1, 1), (128, 1, 1), (32, 4, 1), (16, 8, 2)] {
        let outcome = run(&machine(port), &asks);
        let back = ARRIVE + 1 + DRAM;
        assert_eq!(
            [0, 1, 2, 3].map(|n| outcome.cycle(n as usize)),
            [0, 1, 2, 3].map(|n| back + n * line)
        );
        let hit = |n: u64| 200 + ARRIVE + 3 + n * line;
        assert_eq!([0, 1, 2, 3].map(|n| outcome.cycle(4 + n as usize)), [0, 1, 2, 3].map(hit));
        assert_eq!((outcome.cycle(8), outcome.cycle(9)), (hit(4), hit(4) + store));
    }
}

#[test]
fn an_evicted_dirty_line_occupies_the_data_port() {
    let machine = bare(&["l2.port_bytes=32", "l2.cache.size_bytes=128", "l2.cache.ways=1"]);
    let asks = [ask(0, WRITE, 0), ask(100, READ, 128), ask(100, WRITE, 128)];
    let outcome = run(&machine, &asks);
    assert_eq!(outcome.traffic(), [(WRITEBACK, 0), (READ, 128)]);
    assert_eq!(
        outcome.served[1] - outcome.served[0],
        100 + 4,
        "of the first store to that after the miss"
    );
}

#[test]
fn a_dirty_line_evicted_by_a_fill_leaves_the_tags_free() {
    let machine = bare(&[
        "l2.port_bytes=32",
        "l2.cache.size_bytes=128",
        "l2.cache.ways=1",
        "l2.cache.read_allocate=on-fill",
    ]);
    let filled = 10 + ARRIVE + 1 + DRAM;
    let asks = [ask(0, WRITE, 0), ask(10, READ, 128), ask(filled - ARRIVE, WRITE, 128)];
    let outcome = run(&machine, &asks);
    assert_eq!(outcome.traffic(), [(READ, 128), (WRITEBACK, 0)]);
    assert_eq!(outcome.order, [0, 1, 2]);
    assert_eq!(outcome.served[2], filled);
}
