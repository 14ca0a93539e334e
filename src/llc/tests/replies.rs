//! Hits and answers of fills on their way to the reply network.

use super::*;

/// Network cycles that a reply takes here: fewer leave than there are hits.
const INTERVAL: u64 = 4;
/// Entries of the reply queue.
const REPLIES: u64 = 2;

fn slow_replies(order: &str) -> Machine {
    let order = format!("llc.reply_order={order}");
    bare(&[&format!("llc.reply_queue={REPLIES}"), &order])
}

/// A line that is there, then `misses` others from cycle 100 on, and hits every cycle.
fn hits_around(misses: u64) -> Vec<Ask> {
    let mut asks = vec![ask(0, READ, 0)];
    asks.extend((0..misses).map(|n| ask(100 + n, READ, (n + 1) * 128)));
    asks.extend((100 + misses..400).map(|cycle| ask(cycle, READ, 0)));
    asks
}

#[test]
fn an_answer_of_a_fill_waits_for_the_reply_queue_and_for_no_hit() {
    let wait = |order| {
        let outcome = run_throttled(&slow_replies(order), &hits_around(1), INTERVAL);
        outcome.cycle(1) - (100 + ARRIVE + 1 + DRAM)
    };
    let bound = (REPLIES + 1) * INTERVAL;
    assert!(wait("fills-first") <= bound, "{}", wait("fills-first"));
    assert!(wait("hits-first") > 10 * bound, "each hit has the room that a reply leaves");
}

#[test]
fn hits_wait_for_the_fills_that_were_under_way_at_most() {
    let misses = 8;
    let outcome = run_throttled(&slow_replies("fills-first"), &hits_around(misses), INTERVAL);
    let is_answer = |ask: usize| (1..=misses as usize).contains(&ask);
    let answers = outcome.order.iter().filter(|&&ask| is_answer(ask)).count();
    assert_eq!(answers, misses as usize);
    let first = outcome.order.iter().position(|&ask| is_answer(ask)).unwrap();
    let hits_after = outcome.order[first + answers..].iter().filter(|&&ask| !is_answer(ask));
    assert!(hits_after.count() > 200, "all others follow");
    let last = outcome.cycle(misses as usize);
    let bound = 100 + ARRIVE + 1 + DRAM + (misses + REPLIES + 1) * INTERVAL;
    assert!(last <= bound, "{last} {bound}");
}

#[test]
fn a_hit_and_an_answer_leave_in_one_cycle() {
    // The hit has its turn at the tags so that its latency is over when the fill comes.
    let back = ARRIVE + 1 + DRAM;
    let asks = [ask(0, READ, 0), ask(200, READ, 128), ask(200 + back - 3 - ARRIVE, READ, 0)];
    for order in ["fills-first", "hits-first"] {
        let outcome = run(&bare(&[&format!("llc.reply_order={order}")]), &asks);
        assert_eq!((outcome.cycle(1), outcome.cycle(2)), (200 + back, 200 + back));
        let expected = if order == "fills-first" { [0, 1, 2] } else { [0, 2, 1] };
        assert_eq!(outcome.order, expected);
    }
}

#[test]
fn fills_are_taken_while_answers_wait_for_the_network() {
    let asks: Vec<Ask> = (0..4).map(|n| ask(n, READ, n * 128)).collect();
    let outcome = run_closed(&bare(&["llc.reply_queue=1"]), &asks, 0, 300);
    let outstanding: u64 = outcome.result.mshr_cycles[1..].iter().sum();
    assert_eq!(outstanding, 1 + DRAM + 3, "until the last fill, not until the network opens");
    assert_eq!(outcome.order, [0, 1, 2, 3]);
}

#[test]
fn an_mshr_entry_is_taken_until_all_that_waited_are_answered() {
    let asks =
        [ask(0, READ, 0), ask(1, READ, 0), ask(2, READ, 0), ask(3, READ, 128), ask(200, READ, 0)];
    let outcome = run(&bare(&["llc.cache.mshr_entries=1"]), &asks);
    let back = ARRIVE + 1 + DRAM;
    assert_eq!([0, 1, 2].map(|n| outcome.cycle(n)), [back, back + 1, back + 2]);
    assert_eq!(outcome.cycle(3), back + 2 + 1 + DRAM, "it has the entry after the third answer");
}
