//! Notifications of the channel about requests of a load that do not reach it.

use super::*;

/// Requests of one load, and others; the channel is 20 cycles away.
fn load_ends(asks: &[Ask]) -> Vec<(u64, u32)> {
    let needs = Needs { load_ends: true, ..Needs::default() };
    run_for(&bare(&["l2.to_dram_latency=20"]), &needs, asks, 0..0, 0).load_ends
}

fn of_load(cycle: u64, address: u64) -> Ask {
    Ask { load: 0, ..ask(cycle, READ, address) }
}

#[test]
fn the_channel_learns_of_a_hit_after_the_latency() {
    let asks = [ask(0, READ, 0), of_load(200, 128), of_load(210, 0)];
    assert_eq!(load_ends(&asks), [(210 + ARRIVE + 20, 0)]);
}

#[test]
fn the_channel_learns_of_a_merge_after_the_latency() {
    let asks = [ask(200, READ, 0), of_load(205, 128), of_load(210, 0)];
    assert_eq!(load_ends(&asks), [(210 + ARRIVE + 20, 0)]);
}

#[test]
fn the_channel_learns_of_a_miss_on_arrival() {
    let asks = [ask(0, READ, 0), of_load(180, 0), of_load(210, 128)];
    // The latency to the channel belongs to its controller; here the channel takes the miss in the
    // cycle after the tags.
    assert_eq!(load_ends(&asks), [(210 + ARRIVE + 1, 0)]);
}

#[test]
fn a_load_without_requests_at_the_channel_has_no_end_there() {
    let asks = [ask(0, READ, 0), of_load(200, 0), of_load(210, 0)];
    assert_eq!(load_ends(&asks), []);
}
