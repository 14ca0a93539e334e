//! Messages between controllers: `wg-m`.

use super::*;

/// Channel 0 is busy with row misses of bank 0; then it may select load 5, two misses, or load 6,
/// one. Channel 1 has selected its requests of load 5, `others` misses, at `sent_at`.
fn coordinated(sent_at: u64, others: u32) -> Script {
    let theirs: Vec<_> = (0..others).map(|id| (100 + id, 0, id)).collect();
    let mut script = [
        whole(0, 9, &[(0, 0, 1), (1, 0, 2)]),
        whole(2, 5, &[(2, 0, 3), (3, 0, 4)]),
        whole(2, 6, &[(4, 0, 5)]),
        on_channel(1, whole(sent_at, 5, &theirs)),
    ]
    .concat();
    script.sort_by_key(|&(at, ..)| at);
    script
}

fn pair(policy: &str, script: &Script) -> Outcome {
    play(&gddr5(), policy, 2, script, Stepping::Events)
}

#[test]
fn controllers_prioritise_groups_selected_elsewhere() {
    let outcome = pair("wg-m", &coordinated(3, 1));
    assert_eq!(outcome.orders[0], [0, 1, 2, 3, 4]);
    assert_eq!(outcome.count(0, "score_hits"), 1);
    assert_eq!(outcome.count(0, "messages_matched"), 1);
    assert_eq!(outcome.count(0, "messages_sent"), 3);
    assert_eq!(outcome.count(1, "messages_sent"), 1);
    assert_eq!(outcome.count(1, "messages_matched"), 0);
    assert_eq!(pair("wg", &coordinated(3, 1)).orders[0], [0, 1, 4, 2, 3]);
}

/// Bank 0 can take a group at 29, when request 1 has begun.
#[test]
fn messages_arrive_after_their_latency() {
    let order = |policy: &str| pair(policy, &coordinated(3, 1)).orders.remove(0);
    assert_eq!(order("wg-m(message_latency=26)"), [0, 1, 2, 3, 4]);
    assert_eq!(order("wg-m(message_latency=27)"), [0, 1, 4, 2, 3]);
}

/// The first request of load 5 arrives at 2, so a message received at 2 concerned no group here.
#[test]
fn messages_apply_to_waiting_groups_only() {
    let order =
        |sent_at| pair("wg-m(message_latency=1)", &coordinated(sent_at, 1)).orders.remove(0);
    assert_eq!(order(1), [0, 1, 4, 2, 3]);
    assert_eq!(order(2), [0, 1, 2, 3, 4]);
}

/// Load 5 would finish here after 9, including the request in service. A score of 6 from another
/// controller lets load 6, done after 6 and younger, go second; 9 or 12 changes nothing.
#[test]
fn only_an_earlier_completion_elsewhere_lowers_a_score() {
    let order = |others| pair("wg-m", &coordinated(3, others)).orders.remove(0);
    assert_eq!(order(2), [0, 1, 2, 3, 4]);
    assert_eq!(order(3), [0, 1, 4, 2, 3]);
    let mut script = [
        whole(0, 9, &[(0, 0, 1), (1, 0, 2)]),
        whole(2, 5, &[(2, 0, 3)]),
        whole(2, 6, &[(3, 0, 4), (4, 0, 5)]),
    ]
    .concat();
    let theirs = [(100, 0, 1), (101, 0, 2), (102, 0, 3), (103, 0, 4)];
    script.extend(on_channel(1, whole(3, 5, &theirs)));
    let outcome = pair("wg-m", &script);
    assert_eq!(outcome.orders[0], [0, 1, 2, 3, 4]);
    assert_eq!(outcome.count(0, "score_hits"), 0);
}

#[test]
fn the_earliest_completion_counts() {
    let mut script = coordinated(3, 1);
    let theirs = [(200, 0, 1), (201, 0, 2), (202, 0, 3), (203, 0, 4)];
    script.extend(on_channel(2, whole(4, 5, &theirs)));
    let outcome = play(&gddr5(), "wg-m", 3, &script, Stepping::Events);
    assert_eq!(outcome.orders[0], [0, 1, 2, 3, 4]);
    assert_eq!(outcome.count(0, "messages_matched"), 2);
}
