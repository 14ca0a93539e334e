//! Requests before the tags: their criticality, their queue, and the counts of the queue and of the
//! MSHRs.

use super::*;
use crate::l2::queue::without_delay_before_tags;
use crate::results::MshrState;

/// Cycles for which [`hold`] occupies the tags.
const HOLD: u64 = 60;

/// A slice with this queue policy, whose tags an atomic can occupy.
fn queue(policy: &str, overrides: &[&str]) -> Machine {
    let policy = format!("policy.l2_queue={policy}");
    bare(&[&[policy.as_str(), "l2.atomic_cycles=20"], overrides].concat())
}

/// An atomic that occupies the tags.
fn hold() -> Ask {
    Ask { max_lanes_per_address: 3, ..ask(0, ATOMIC, 0) }
}

/// A read of a memory instruction, to its own line.
fn of(access: u32, cycle: u64, line: u64) -> Ask {
    Ask { access, ..ask(cycle, READ, line * 128) }
}

fn hit(access: u32, cycle: u64) -> Ask {
    Ask { hit: true, ..of(access, cycle, 0) }
}

#[test]
fn requests_of_instructions_with_few_requests_are_served_first() {
    // Instruction 0 has three requests, 1 has one, 2 has two.
    let waiting = [0, 0, 2, 1, 0, 2].iter().zip(1u64..).map(|(&access, n)| of(access, n, n));
    let asks: Vec<Ask> = [hold()].into_iter().chain(waiting).collect();
    let order = |policy| run(&queue(policy, &["l2.queue=128"]), &asks).order;
    assert_eq!(order("fifo"), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(order("calrs"), [0, 4, 3, 6, 1, 2, 5]);
    assert_eq!(order("calrs-ideal"), [0, 4, 3, 6, 1, 2, 5]);
    let counts = run(&queue("fifo", &[]), &asks).result.queue;
    assert_eq!(counts.arrivals, [1, 2, 3, 0, 1]);
    assert_eq!(counts.critical_fields.sum(), 1 + 2 * 2 + 3 * 3 + 32);
}

#[test]
fn sibling_hits_count_until_the_arrival_at_the_queue() {
    // Three of the five requests of instruction 7 hit in L1, after the first of the others reached
    // the full queue and while the second waited behind it.
    let asks =
        [hold(), ask(1, READ, 128), of(7, 2, 2), of(7, 3, 3), hit(7, 30), hit(7, 31), hit(7, 32)];
    let outcome = run(&queue("fifo", &["l2.queue=1", "l2.input_latency=20"]), &asks);
    let counts = &outcome.result.queue;
    assert_eq!(counts.arrivals, [0, 1, 0, 1, 2]);
    assert_eq!(counts.critical_fields.sum(), 5 + 2 + 32 + 32);
    assert_eq!(counts.waiting_arrivals, 2, "the tags were busy, but no request waited");
    let enters = ARRIVE + 20 + HOLD + 1;
    assert_eq!(counts.refused_cycles, enters - (2 + ARRIVE + 20) + 1);
}

#[test]
fn with_a_reserve_the_network_waits_only_for_queue_entries() {
    // Two requests wait behind the one that occupies the tags when two more arrive.
    let asks =
        [hold(), ask(1, READ, 128), ask(2, READ, 256), ask(50, READ, 384), ask(51, READ, 512)];
    let arrived = |overrides: &[&str]| {
        let of_two = ["l2.queue=2", "l2.input_latency=20"];
        run(&queue("fifo", &[&of_two, overrides].concat()), &asks).arrived
    };
    let without = [0, 1, 2, 50, 51].map(|cycle| cycle + ARRIVE + 20);
    assert_eq!(arrived(&[]), without, "the delay has room");
    // The first of the two reaches the tags when they are free, the other a cycle later. All enter
    // the queue at the end of a cycle and are served in the next at the earliest.
    let free = ARRIVE + 20 + HOLD + 1;
    let [one, two, three] = [without[0], without[1], without[2]];
    let one_free = [one, two, three, free + 1 + 20, free + 2 + 20];
    assert_eq!(arrived(&["l2.queue_reserve=1"]), one_free);
    let two_free = [one, two, three, free + 2 + 20, free + 3 + 20];
    assert_eq!(arrived(&["l2.queue_reserve=2"]), two_free);
}

#[test]
fn a_request_entering_at_the_end_of_a_cycle_can_overtake_one_without_an_mshr_entry() {
    // Line 0 is present, line 1 has the only entry, and line 2 waits for it; the hit is more
    // critical.
    let asks = [ask(0, READ, 0), ask(200, READ, 128), ask(201, READ, 256), of(3, 210, 0)];
    let keys = ["l2.queue=8", "l2.queue_reserve=1", "l2.cache.mshr_entries=1"];
    let outcome = run(&queue("calrs-ideal", &keys), &asks);
    assert_eq!(outcome.order, [0, 3, 1, 2]);
    assert_eq!(outcome.served[1], 210 + ARRIVE + 1);
}

#[test]
fn the_block_signal_holds_requests_in_the_network_until_rotation() {
    // Two least critical requests with room for one, and a most critical one.
    let asks = [hold(), ask(1, READ, 128), ask(2, READ, 256), of(3, 3, 3)];
    let outcome = run(&queue("calrs", &["l2.queue=5"]), &asks);
    let lifted = ARRIVE + HOLD;
    assert_eq!(outcome.order, [0, 1, 3, 2]);
    assert_eq!(outcome.arrived, [1, 2, lifted + 1, 3], "three of five entries were free");
    assert_eq!(outcome.served, [1, lifted, lifted + 1, lifted + 2]);
    assert_eq!(outcome.result.queue.refused_cycles, lifted + 1 - 3);
    assert_eq!(outcome.result.queue.rotations, 4);
    let free = run(&queue("fifo", &["l2.queue=5"]), &asks);
    assert_eq!(free.arrived, [1, 2, 3, 4]);
    assert_eq!(free.result.queue.rotations, 0);
}

#[test]
fn without_a_queue_the_next_request_waits_in_the_network() {
    let asks = [hold(), ask(0, READ, 128), ask(0, READ, 256)];
    let outcome = run(&queue("none", &[]), &asks);
    assert_eq!(outcome.arrived, [1, 2, ARRIVE + HOLD + 1]);
    assert_eq!(outcome.served, [1, ARRIVE + HOLD, ARRIVE + HOLD + 1]);
    assert_eq!(run(&queue("fifo", &[]), &asks).arrived, [1, 2, 3]);
}

#[test]
fn a_slice_accepts_up_to_arrivals_per_cycle_requests() {
    let asks = [1, 2, 3, 4, 5].map(|line| ask(0, READ, line * 128));
    for (most, arrived) in [(1, [1, 2, 3, 4, 5]), (2, [1, 1, 2, 2, 3]), (0, [1; 5])] {
        let machine = queue("fifo", &[&format!("l2.arrivals_per_cycle={most}")]);
        let outcome = run(&machine, &asks);
        assert_eq!(outcome.arrived, arrived);
        assert_eq!(outcome.served, [1, 2, 3, 4, 5], "one is served per cycle");
        let lengths: u64 = outcome.served.iter().zip(arrived).map(|(s, a)| s - a + 1).sum();
        assert_eq!(outcome.result.queue.length.length_cycles, lengths);
        assert_eq!(outcome.result.queue.length.occupied_cycles, 5);
    }
}

#[test]
fn without_a_queue_no_request_is_delayed_before_the_tags() {
    let delayed = |policy| queue(policy, &["l2.input_latency=20"]);
    let moved = without_delay_before_tags(&delayed("none"));
    // A miss, and a hit on its line, have the same latency as with a queue.
    let alone = [ask(0, READ, 0), ask(200, READ, 0)];
    let cycles = |machine: &Machine| run(machine, &alone).answered;
    let (before, after) = (cycles(&delayed("fifo")), cycles(&moved));
    assert_eq!(after[1], before[1]);
    assert_eq!(
        after[0],
        before[0].map(|cycle| cycle - 20),
        "the latency to DRAM is tested elsewhere"
    );
    assert_eq!(moved.l2.to_dram_latency, 20);
    // While the tags are busy, the others stay in the network.
    let asks: Vec<Ask> =
        [hold()].into_iter().chain((1..9).map(|n| ask(0, READ, n * 128))).collect();
    let arrivals = run(&moved, &asks).arrived;
    assert_eq!(arrivals[1], 2, "one waits before the tags");
    assert_eq!(arrivals[2..], [1, 2, 3, 4, 5, 6, 7].map(|n| ARRIVE + HOLD + n));
}

#[test]
fn queue_lengths_and_waits_are_counted() {
    let outcome = run(&queue("fifo", &[]), &[hold(), ask(0, READ, 128), ask(0, READ, 256)]);
    let counts = &outcome.result.queue;
    // One request in cycles 1 and 2 and in the last; two in between.
    assert_eq!(counts.length.occupied_cycles, 1 + 1 + (HOLD - 1) + 1);
    assert_eq!(counts.length.length_cycles, 1 + 1 + 2 * (HOLD - 1) + 1);
    assert_eq!(counts.wait_cycles, [0, 0, 0, 0, 2 * (HOLD - 1)]);
    assert_eq!(counts.waiting_arrivals, 1, "the third finds the second");
}

#[test]
fn waits_are_counted_in_l2_cycles() {
    let asks = [hold(), ask(0, READ, 128), ask(0, READ, 256)];
    let slow = run(&queue("fifo", &["clocks.l2_mhz=500"]), &asks);
    assert_eq!(slow.result.queue.wait_cycles, [0, 0, 0, 0, 2 * (HOLD - 1)]);
}

/// Cycles in which MSHR entries held requests of single SMs, and of several.
fn mshr_cycles(asks: &[Ask]) -> [u64; 2] {
    let cycles = run(&bare(&["l2.cache.write_allocate=fetch-on-write"]), asks).result.mshr_cycles;
    assert_eq!(cycles.iter().sum::<u64>(), RUN);
    [cycles[MshrState::Unshared as usize], cycles[MshrState::Shared as usize]]
}

#[test]
fn the_shared_state_lasts_from_the_second_sm_to_the_fill() {
    let read = |cycle, sm| Ask { sm, ..ask(cycle, READ, 0) };
    let all = 1 + DRAM;
    assert_eq!(mshr_cycles(&[read(0, 0), read(5, 0), read(7, 0)]), [all, 0]);
    assert_eq!(mshr_cycles(&[read(0, 0), read(5, 1), read(7, 1)]), [5, all - 5]);
    assert_eq!(mshr_cycles(&[read(0, 1), read(5, 1), read(7, 0), read(9, 1)]), [7, all - 7]);
    let other_line = Ask { sm: 1, ..ask(5, READ, 128) };
    assert_eq!(mshr_cycles(&[read(0, 0), other_line]), [all + 5, 0]);
}

#[test]
fn own_fetches_of_a_slice_belong_to_no_sm() {
    let read = |cycle, sm| Ask { sm, ..ask(cycle, READ, 0) };
    let all = 1 + DRAM;
    assert_eq!(mshr_cycles(&[partial_write(0, 0, 3), read(5, 1)]), [all, 0]);
    assert_eq!(mshr_cycles(&[partial_write(0, 0, 3), read(5, 1), read(9, 2)]), [9, all - 9]);
}
