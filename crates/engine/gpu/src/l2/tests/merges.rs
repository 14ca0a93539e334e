//! The miss queue and the merge reports to DRAM.

use super::*;
use CountedMerges::{All, InterCore};
use warpmem_sim::{CountedMerges, EarlyMerges};

fn needs(count: CountedMerges) -> Needs {
    Needs { merges: Some(count), ..Needs::default() }
}

/// A read by an SM.
fn read(sm: u16, cycle: u64, address: u64) -> Ask {
    Ask { sm, ..ask(cycle, READ, address) }
}

fn run_counting(machine: &Machine, count: CountedMerges, asks: &[Ask]) -> Outcome {
    run_for(machine, &needs(count), asks, 0..0, 0)
}

/// Address, merges and whether it is a dummy, of the items at the channel.
fn updates(outcome: &Outcome) -> Vec<(u64, u8, bool)> {
    outcome.reports.iter().map(|&(_, address, merges, _, dummy)| (address, merges, dummy)).collect()
}

#[test]
fn a_merge_from_another_sm_sends_a_dummy_request() {
    let asks = [read(0, 0, 0), read(1, 10, 0), read(2, 20, 64)];
    let outcome = run_counting(&bare(&[]), InterCore, &asks);
    // Each is served at the tags, and leaves, one cycle after it was sent and created.
    let at = |cycle| cycle + ARRIVE + 1;
    let expected = [(at(0), 0, 1, 1, false), (at(10), 0, 2, 1, true), (at(20), 0, 3, 1, true)];
    assert_eq!(outcome.reports, expected);
    assert_eq!(outcome.traffic(), [(READ, 0)], "dummies are not requests");
    assert_eq!(outcome.order, [0, 1, 2]);
    assert_eq!(outcome.counter("dummy_requests_sent"), 2);
}

#[test]
fn merges_of_one_sm_count_only_if_all_merges_count() {
    let asks = [read(0, 0, 0), read(0, 10, 0), read(1, 20, 0), read(1, 30, 0)];
    let machine = bare(&[]);
    let inter_core = run_counting(&machine, InterCore, &asks);
    assert_eq!(updates(&inter_core), [(0, 1, false), (0, 2, true)]);
    let all = run_counting(&machine, All, &asks);
    assert_eq!(updates(&all), [(0, 1, false), (0, 2, true), (0, 3, true), (0, 4, true)]);
}

/// A queue to DRAM of three, in addition to the item at its end.
fn narrow() -> Machine {
    bare(&["l2.to_dram_queue=3", "l2.cache.miss_queue=3", "l2.cache.mshr_merges=64"])
}

#[test]
fn a_miss_reports_the_merges_before_its_departure() {
    let asks =
        [read(0, 0, 0), read(0, 1, 128), read(0, 2, 256), read(1, 10, 256), read(2, 20, 256)];
    let outcome = run_for(&narrow(), &needs(InterCore), &asks, 0..100, 0);
    assert_eq!(updates(&outcome), [(0, 1, false), (128, 1, false), (256, 3, false)]);
    // Created in cycles 2, 10 and 20, sent in the cycle in which the channel opened.
    let sent = outcome.reports[2].0 - 1;
    assert_eq!(u64::from(outcome.reports[2].3), 3 * sent - (2 + 10 + 20));
    assert_eq!(outcome.counter("dummy_requests_sent"), 0);
}

/// The third miss waits in the queue while two requests merge with it: their dummy requests precede
/// all misses, and the controller knows of them when it arrives, or does not.
#[test]
fn merges_before_the_departure_are_reported_ahead_of_the_miss() {
    let asks =
        [read(0, 0, 0), read(0, 1, 128), read(0, 2, 256), read(1, 10, 256), read(2, 20, 256)];
    let reports = |early_merges| {
        let needs = Needs { early_merges, ..needs(InterCore) };
        let outcome = run_for(&narrow(), &needs, &asks, 0..100, 0);
        (updates(&outcome), outcome.reports)
    };
    let ahead = [(0, 1, false), (256, 3, true), (128, 1, false)];
    let (reported, rows) = reports(EarlyMerges::Reported);
    assert_eq!(reported[..3], ahead);
    assert_eq!(reported[3..], [(256, 3, false)]);
    let sent = rows[3].0 - 1;
    assert_eq!(u64::from(rows[3].3), 3 * sent - (2 + 10 + 20), "the ages of all");
    let (lost, rows) = reports(EarlyMerges::Lost);
    assert_eq!(lost[..3], ahead);
    assert_eq!(lost[3..], [(256, 1, false)]);
    assert_eq!(u64::from(rows[3].3), rows[3].0 - 1 - 2, "its own age");
}

/// Two misses are sent, the second after the channel has closed, and a third waits when others
/// merge: one with the first, early, and two with the second, late.
fn contended() -> Vec<Ask> {
    let misses = (0..3).map(|n| read(0, n, n * 128));
    misses.chain([read(1, 10, 0), read(1, 30, 128), read(2, 31, 128)]).collect()
}

/// The channel takes the first miss and reopens before it is answered.
const SHUT: Range<u64> = 3..40;

#[test]
fn the_longest_merge_goes_first_and_before_misses() {
    let outcome = run_for(&narrow(), &needs(InterCore), &contended(), SHUT, 0);
    let expected = [(0, 1, false), (128, 1, false), (128, 3, true), (0, 2, true), (256, 1, false)];
    assert_eq!(updates(&outcome), expected);
    assert_eq!(outcome.counter("dummy_requests_before_misses"), 2);
    // From cycles 11 and 31 on until the channel opens: in the end two entries wait.
    let (first, second) = (10 + ARRIVE, 30 + ARRIVE);
    let sent = |dummy: usize| outcome.reports[dummy].0 - 1;
    let cycles = (sent(3) - first) + (sent(2) - second);
    assert_eq!(outcome.counter("merge_information_cycles"), cycles);
}

#[test]
fn the_oldest_merges_go_first_if_needed() {
    let needs = Needs { oldest_merges_first: true, ..needs(InterCore) };
    let outcome = run_for(&narrow(), &needs, &contended(), SHUT, 0);
    let expected = [(0, 1, false), (128, 1, false), (0, 2, true), (128, 3, true), (256, 1, false)];
    assert_eq!(updates(&outcome), expected);
}

#[test]
fn merge_lengths_and_ages_are_limited_to_their_bits() {
    let merges = (1..20).map(|sm| read(sm, 10 + u64::from(sm), 0));
    let asks: Vec<Ask> =
        [read(0, 0, 0), read(0, 1, 128), read(0, 2, 256)].into_iter().chain(merges).collect();
    let outcome = run_for(&narrow(), &needs(InterCore), &asks, 0..5000, 0);
    let &(_, address, merges, age, dummy) = &outcome.reports[1];
    assert_eq!((address, merges, dummy), (0, 16, true));
    assert_eq!(age, 1 << 15, "19 requests of about 5000 cycles");
    assert_eq!(outcome.counter("merges_beyond_16"), 4, "the 17th to the 20th");
}

#[test]
fn ages_are_in_dram_cycles() {
    let asks = [read(0, 0, 0), read(0, 1, 128), read(0, 2, 256), read(1, 10, 256)];
    let machine = bare(&["l2.to_dram_queue=3", "clocks.dram_mhz=500"]);
    let outcome = run_for(&machine, &needs(InterCore), &asks, 0..50, 0);
    // DRAM takes the first in its cycle 50, cycle 100 of the others, and the second in the next;
    // then the third is sent.
    let age = outcome.reports[2].3;
    assert_eq!(u64::from(age), (2 * 102 - 2 - 10) / 2);
}

#[test]
fn dirty_data_share_the_queue_and_have_no_merges() {
    let machine = bare(&["l2.cache.size_bytes=128", "l2.cache.ways=1", "l2.to_dram_queue=1"]);
    let asks = [ask(0, WRITE, 0), read(0, 100, 128)];
    let outcome = run_counting(&machine, InterCore, &asks);
    assert_eq!(outcome.traffic(), [(WRITEBACK, 0), (READ, 128)]);
    assert_eq!(updates(&outcome), [(0, 1, false), (128, 1, false)]);
    assert_eq!(outcome.down[1].0, outcome.down[0].0 + 1, "one item a cycle");
}

#[test]
fn a_full_queue_to_dram_blocks_the_tags() {
    let asks: Vec<Ask> = (0..8).map(|n| read(0, n, n * 128)).collect();
    let outcome = run_for(&narrow(), &needs(InterCore), &asks, 0..100, 0);
    let before = outcome.served.iter().filter(|&&cycle| cycle < 100).count();
    assert_eq!(before, 1 + 3, "one at the port, three in the queue");
    assert_eq!(outcome.order.len(), 8);
    assert!(outcome.result.dram_queue_full_cycles > 80);
    let gaps: Vec<u64> = outcome.down.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    assert_eq!(gaps, [1; 7], "then one a cycle, without a pause");
}

#[test]
fn no_report_is_sent_for_completed_misses() {
    let asks = [read(0, 0, 0), read(0, 10, 128), read(0, 11, 256), read(1, 20, 0)];
    // The first is taken and returns after 50 cycles; the second is at the port.
    let outcome = run_for(&narrow(), &needs(InterCore), &asks, 5..200, 0);
    assert_eq!(updates(&outcome), [(0, 1, false), (128, 1, false), (256, 1, false)]);
    assert!(outcome.cycle(3) < 200);
}
