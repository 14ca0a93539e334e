//! What the channel learns of requests of a load that do not come to it.

use super::*;

/// Requests of one load, and others, with the channel 20 cycles away.
fn load_ends(asks: &[Ask]) -> Vec<(u64, u32)> {
    let needs = Needs { load_ends: true, ..Needs::default() };
    run_for(&bare(&["l2.to_dram_latency=20"]), &needs, asks, 0..0, 0).load_ends
}

fn of_load(cycle: u64, address: u64) -> Ask {
    Ask { load: 0, ..ask(cycle, READ, address) }
}

#[test]
fn a_hit_is_known_at_the_channel_after_the_way_there() {
    let asks = [ask(0, READ, 0), of_load(200, 128), of_load(210, 0)];
    assert_eq!(load_ends(&asks), [(210 + ARRIVE + 20, 0)]);
}

#[test]
fn a_merge_is_known_at_the_channel_after_the_way_there() {
    let asks = [ask(200, READ, 0), of_load(205, 128), of_load(210, 0)];
    assert_eq!(load_ends(&asks), [(210 + ARRIVE + 20, 0)]);
}

#[test]
fn a_miss_is_known_when_it_comes() {
    let asks = [ask(0, READ, 0), of_load(180, 0), of_load(210, 128)];
    // The way there is the channel's own; here it takes the miss in the cycle after the tags.
    assert_eq!(load_ends(&asks), [(210 + ARRIVE + 1, 0)]);
}

#[test]
fn a_load_that_never_comes_to_the_channel_has_no_end_there() {
    let asks = [ask(0, READ, 0), of_load(200, 0), of_load(210, 0)];
    assert_eq!(load_ends(&asks), []);
}
