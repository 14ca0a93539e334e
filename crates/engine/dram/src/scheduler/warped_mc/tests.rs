use crate::tests::harness::*;
use crate::{Channel, Dram, DramRequest};

/// Returns the order of completion with one more request of each of these warps pending in another
/// channel.
fn order_beside(
    dram: &Dram,
    policy: &str,
    queue: &[(u64, DramRequest)],
    warps: &[u32],
) -> Vec<u32> {
    let elsewhere: Vec<_> = warps.iter().map(|&warp| of_warp(999, 0, 1, warp)).collect();
    run_beside(dram, policy, queue, &elsewhere).order()
}

#[test]
fn the_last_request_of_a_warp_goes_first_among_row_hits() {
    let queue = [of_warp(0, 0, 1, 0), of_warp(1, 0, 1, 0), of_warp(2, 0, 1, 1)];
    assert_eq!(order("fr-fcfs", &queue), [0, 1, 2]);
    let run = run(&gddr5(), "warped-mc", &queue);
    assert_eq!(run.order(), [2, 0, 1]);
    assert_eq!(run.counted("rescheduled_requests"), 1);
    assert_eq!(run.counted("rescheduled_rows"), 0);
    let priorities = ["priority_high", "priority_medium", "priority_low"];
    assert_eq!(priorities.map(|name| run.counted(name)), [2, 0, 1]);
    assert_eq!((run.counted("wet_updates"), run.counted("wet_stale")), (6, 0));
}

/// Request 0 begins, 2 follows it, and 4 is then the last of warp 0; likewise for warp 1.
#[test]
fn a_started_warp_is_finished_first() {
    let queue: Vec<_> = (0..6).map(|id| of_warp(id, 0, 1, id % 2)).collect();
    assert_eq!(order("fr-fcfs", &queue), [0, 1, 2, 3, 4, 5]);
    let run = run(&gddr5(), "warped-mc", &queue);
    assert_eq!(run.order(), [0, 2, 4, 1, 3, 5]);
    let priorities = ["priority_high", "priority_medium", "priority_low"];
    assert_eq!(priorities.map(|name| run.counted(name)), [2, 2, 2]);
    assert_eq!(run.counted("rescheduled_requests"), 2);
}

/// Request 6 arrives after 0 has been read, and is the only one of its warp; then warp 0 continues.
#[test]
fn a_last_request_interrupts_a_warp() {
    let mut queue: Vec<_> = (0..6).map(|id| (0, of_warp(id, 0, 1, id % 2))).collect();
    queue.push((13, of_warp(6, 0, 1, 7)));
    assert_eq!(order_beside(&gddr5(), "fr-fcfs", &queue, &[]), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(order_beside(&gddr5(), "warped-mc", &queue, &[]), [0, 6, 2, 4, 1, 3, 5]);
}

/// A refresh closes the row while 0 is served. With `medium=row`, warp 0 then no longer precedes older
/// requests, whether the row is opened for 4, the last of its warp, or for another.
#[test]
fn reopening_a_row_resets_the_medium_priorities_of_its_requests() {
    let mut dram = gddr5();
    (dram.timing.trefi, dram.timing.trfc) = (1000, 50);
    let late = |id, warp| (980, DramRequest { bursts: 6, ..of_warp(id, 0, 1, warp) });
    let mut queue = vec![late(0, 0), late(1, 2), late(2, 0), late(3, 2), late(5, 0)];
    let order = |queue: &[_]| {
        ["row", "warp"]
            .map(|medium| order_beside(&dram, &format!("warped-mc(medium={medium})"), queue, &[]))
    };
    assert_eq!(order(&queue), [[0, 1, 3, 2, 5]; 2], "3 is the last of its warp");
    queue.push((981, late(4, 1).1));
    assert_eq!(order(&queue), [[0, 4, 1, 3, 2, 5], [0, 4, 2, 5, 1, 3]]);
}

/// Requests 3 and 5 of bank 1 follow 1 of bank 0, which is scheduled while 6 is served, and precede
/// the older 2 and 4. Of warps with
/// several pending requests, the oldest hit goes first whether it follows or not.
#[test]
fn medium_priority_covers_the_row_the_warp_or_every_hit() {
    let warps = [0, 1, 2, 3];
    let mut queue = vec![(0, of_warp(0, 1, 4, 9)), (100, of_warp(6, 1, 4, 7))];
    queue.push((100, of_warp(1, 0, 1, 0)));
    queue.extend([(2, 1), (3, 0), (4, 2), (5, 0)].map(|(id, warp)| (100, of_warp(id, 1, 4, warp))));
    let of_bank_1 = |medium| {
        let policy = format!("warped-mc(medium={medium})");
        let mut order = order_beside(&gddr5(), &policy, &queue, &warps);
        order.retain(|id| (2..6).contains(id));
        order
    };
    assert_eq!(of_bank_1("warp"), [3, 5, 2, 4]);
    assert_eq!(of_bank_1("row"), [2, 3, 5, 4], "5 follows 3");
    assert_eq!(of_bank_1("hit"), [2, 3, 4, 5]);
}

/// Banks 0 and 1 have row hits of unstarted warps of one and of several pending requests, and bank 2
/// is not open: with `medium=hit` a hit of the latter precedes an activation.
#[test]
fn every_hit_of_a_warp_with_siblings_has_medium_priority() {
    let of = |policy: &str| {
        let queue =
            [(0, of_warp(0, 0, 4, 9)), (100, of_warp(1, 2, 1, 1)), (100, of_warp(2, 0, 4, 0))];
        let run = run_beside(&gddr5(), policy, &queue, &[0, 1].map(|w| of_warp(999, 0, 1, w)));
        run.counted("priority_medium")
    };
    assert_eq!(of("warped-mc(medium=hit)"), 1);
    assert_eq!(of("warped-mc"), 0);
}

/// Warp 1 makes one request. By Algorithm 1, only a request that others of its warp have left is the
/// last: 1, when 0 is scheduled.
#[test]
fn a_single_request_is_the_last_of_its_warp_unless_only_left_ones_are() {
    let queue = [of_warp(0, 0, 1, 0), of_warp(1, 0, 1, 0), of_warp(2, 0, 1, 1)];
    assert_eq!(order("warped-mc(high=only)", &queue), [2, 0, 1]);
    let left = run(&gddr5(), "warped-mc(high=left)", &queue);
    assert_eq!(left.order(), [0, 1, 2]);
    let priorities = ["priority_high", "priority_medium", "priority_low"];
    assert_eq!(priorities.map(|name| left.counted(name)), [1, 0, 2]);
}

/// Row 2 has two requests that are their warps' only ones, row 9 one; in row 3 waits what 0 has left
/// once it has been scheduled.
#[test]
fn single_requests_score_unless_only_left_ones_do() {
    let queue = [
        of_warp(0, 1, 5, 3),
        of_warp(6, 0, 9, 8),
        of_warp(1, 0, 2, 1),
        of_warp(2, 0, 2, 2),
        of_warp(3, 0, 3, 3),
    ];
    let first_two = |policy: &str| {
        let mut order = order(policy, &queue);
        order.retain(|&id| id != 0);
        [order[0], order[1]]
    };
    assert_eq!(first_two("warped-mc(high=only)"), [1, 2]);
    assert_eq!(first_two("warped-mc(high=left)"), [6, 3]);
}

/// Request 0 of bank 1 is in service while those of bank 0 are scheduled: 2 is the last of warp 0 once
/// 0 has been scheduled, or once it has been served.
#[test]
fn a_request_is_pending_until_scheduled_or_served() {
    let long = DramRequest { bursts: 12, ..of_warp(0, 1, 4, 0) };
    let queue =
        [(0, of_warp(8, 0, 1, 8)), (0, long), (30, of_warp(1, 0, 1, 1)), (30, of_warp(2, 0, 1, 0))];
    let order = |pending| {
        let policy = format!("warped-mc(medium=row,pending={pending})");
        let run = run_beside(&gddr5(), &policy, &queue, &[of_warp(999, 0, 1, 1)]);
        assert_eq!(run.counted("wet_updates"), 8, "two for each request");
        run.order()
    };
    assert_eq!(order("scheduled")[1..3], [2, 1]);
    assert_eq!(order("served")[1..3], [1, 2]);
}

/// Row 2 has two requests that were their warps' only ones at arrival, row 1 one.
#[test]
fn the_row_of_the_highest_score_is_opened() {
    let queue =
        [of_warp(0, 0, 1, 0), of_warp(1, 0, 1, 0), of_warp(2, 0, 2, 1), of_warp(3, 0, 2, 2)];
    assert_eq!(order("fr-fcfs", &queue), [0, 1, 2, 3]);
    let run = run(&gddr5(), "warped-mc", &queue);
    assert_eq!(run.order(), [2, 3, 0, 1]);
    assert_eq!(run.counted("rescheduled_rows"), 1);
    assert_eq!(run.counted("rescheduled_requests"), 0);
}

/// Requests 2 and 3 score. When 0 is scheduled, 1 does too.
#[test]
fn among_equal_scores_the_row_of_the_oldest_request_is_opened() {
    let queue =
        [of_warp(0, 1, 9, 0), of_warp(1, 0, 1, 0), of_warp(2, 0, 2, 1), of_warp(3, 0, 3, 2)];
    assert_eq!(order("fr-fcfs", &queue), [1, 0, 2, 3]);
    assert_eq!(order("warped-mc", &queue), [2, 0, 1, 3]);
}

/// Once 0 is scheduled, 3 is the last of warp 1: row 2 scores, and row 1 does not.
#[test]
fn a_request_left_as_the_last_of_its_warp_scores() {
    let queue = [
        of_warp(0, 1, 5, 1),
        of_warp(1, 0, 3, 0),
        of_warp(2, 0, 1, 0),
        of_warp(3, 0, 2, 1),
        of_warp(4, 0, 1, 0),
    ];
    assert_eq!(order("fr-fcfs", &queue), [1, 0, 2, 4, 3]);
    assert_eq!(order("warped-mc", &queue), [1, 0, 3, 2, 4]);
}

/// The same with 0 in another channel, which schedules it at cycle 0. Bank 0 closes row 3 at 28,
/// and may choose another row until then.
#[test]
fn a_sibling_in_another_channel_makes_a_request_the_last_after_the_latency() {
    let queue =
        [of_warp(1, 0, 3, 0), of_warp(2, 0, 1, 0), of_warp(3, 0, 2, 1), of_warp(4, 0, 1, 0)];
    let order = |policy| {
        let dram = Dram { channels: 2, ..gddr5() };
        let context = crate::scheduler::SchedulerContext { dram, ..context(&gddr5()) };
        let mut channels = Channel::family(&context, policy).unwrap();
        channels[1].push(DramCycle::ZERO, of_warp(0, 1, 5, 1));
        queue.iter().for_each(|&request| channels[0].push(DramCycle::ZERO, request));
        let mut order = Vec::new();
        for now in (0..400).map(at) {
            channels.iter_mut().for_each(|channel| _ = channel.step(now, u32::MAX));
            order.extend(channels[0].take_completions().map(|done| done.id));
        }
        order
    };
    assert_eq!(order("warped-mc"), [1, 3, 2, 4]);
    assert_eq!(order("warped-mc(wet_latency=28)"), [1, 3, 2, 4]);
    assert_eq!(order("warped-mc(wet_latency=29)"), [1, 2, 4, 3]);
}

/// 16 and 20 requests score 15 each.
#[test]
fn a_score_saturates_at_four_bits() {
    let mut queue: Vec<_> = (0..36).map(|id| of_warp(id, 0, 1 + u32::from(id >= 16), id)).collect();
    assert_eq!(order("warped-mc", &queue)[0], 0);
    // 13 are below saturation.
    queue[1..4].iter_mut().for_each(|request| request.row.0 = 2);
    assert_eq!(order("warped-mc", &queue)[0], 1);
}

/// Four requests score for row 1 when it is chosen. A refresh closes it before they are served, and
/// row 2 has a score of one.
#[test]
fn opening_a_row_resets_its_score() {
    let mut dram = gddr5();
    (dram.timing.trefi, dram.timing.trfc) = (100, 50);
    let long = |id| (80, DramRequest { bursts: 6, ..of_warp(id, 0, 1, id) });
    let queue = [long(0), long(1), long(2), long(3), (81, of_warp(4, 0, 2, 4))];
    assert_eq!(order_beside(&dram, "fr-fcfs", &queue, &[]), [0, 1, 2, 3, 4]);
    assert_eq!(order_beside(&dram, "warped-mc", &queue, &[]), [0, 4, 1, 2, 3]);
}

/// Warp 0 has requests in banks 0 and 1, warp 1 only in bank 2. When bank 0 is activated, bank 1
/// has the last of warp 0.
#[test]
fn banks_of_last_requests_go_first() {
    let queue = [
        of_warp(0, 0, 1, 0),
        of_warp(1, 1, 1, 0),
        of_warp(2, 2, 1, 1),
        of_warp(3, 3, 1, 2),
        of_warp(4, 4, 1, 2),
    ];
    let activated = |policy| {
        let log = run(&gddr5(), policy, &queue).log;
        let rows = log.iter().filter(|command| command.kind == crate::CommandKind::Act);
        rows.map(|command| command.bank).collect::<Vec<_>>()
    };
    assert_eq!(activated("fr-fcfs"), [0, 1, 2, 3, 4]);
    assert_eq!(activated("warped-mc"), [2, 3, 4, 0, 1]);
    assert!(run(&gddr5(), "warped-mc", &queue).counted("rescheduled_banks") >= 1);
}

/// Both banks' rows are open at 100. Bank 1's warp, once started, keeps the bus; bank 0 has a new
/// warp each time.
#[test]
fn banks_of_started_warps_go_first() {
    let mut dram = gddr5();
    dram.timing.tccdl = dram.timing.tccds;
    let mut queue = vec![(0, of_warp(0, 0, 4, 8)), (0, of_warp(1, 1, 5, 9))];
    queue.extend((0..3).map(|n| (100, of_warp(2 + n, 0, 4, 1 + n))));
    queue.extend((0..3).map(|n| (100, of_warp(5 + n, 1, 5, 0))));
    let warps = [0, 1, 2, 3];
    let fair = [0, 1, 2, 5, 3, 6, 4, 7];
    assert_eq!(order_beside(&dram, "fr-fcfs", &queue, &warps), fair);
    let in_pools =
        |pools| order_beside(&dram, &format!("warped-mc(pools={pools})"), &queue, &warps);
    assert_eq!(in_pools("high"), fair, "medium priority shares a pool with low");
    for pools in ["medium", "three"] {
        assert_eq!(in_pools(pools), [0, 1, 2, 5, 6, 7, 3, 4], "{pools}");
    }
}

/// Banks 0 and 1 have rows open at 100, with a started warp and with last requests: a pool of its own
/// lets the latter go first.
#[test]
fn last_requests_precede_started_warps_only_in_another_pool() {
    let mut dram = gddr5();
    dram.timing.tccdl = dram.timing.tccds;
    let mut queue = vec![(0, of_warp(0, 0, 4, 8)), (0, of_warp(1, 1, 5, 9))];
    queue.extend((0..3).map(|n| (100, of_warp(2 + n, 0, 4, 0))));
    queue.extend((0..3).map(|n| (102, of_warp(5 + n, 1, 5, 1 + n))));
    let order = |pools| {
        order_beside(&dram, &format!("warped-mc(pools={pools})"), &queue, &[0])[2..].to_vec()
    };
    for pools in ["high", "three"] {
        assert_eq!(order(pools), [2, 5, 6, 7, 3, 4], "{pools}");
    }
    assert_eq!(order("medium"), [2, 5, 3, 6, 4, 7]);
}

/// A request in service keeps its priority at scheduling: 3 is the last of its warp, and its bursts
/// precede those of 2.
#[test]
fn a_bank_keeps_the_priority_of_its_request_in_service() {
    let mut dram = gddr5();
    dram.timing.tccdl = dram.timing.tccds;
    let long = |id, bank, warp| (100, DramRequest { bursts: 3, ..of_warp(id, bank, 4, warp) });
    let queue = [(0, of_warp(0, 0, 4, 8)), (0, of_warp(1, 1, 4, 9)), long(2, 0, 0), long(3, 1, 1)];
    let columns = |policy| -> Vec<u32> {
        let log = run_beside(&dram, policy, &queue, &[of_warp(999, 0, 1, 0)]).log;
        let columns = log.iter().filter(|command| command.kind.is_column());
        columns.map(|command| command.request.unwrap()).collect()
    };
    assert_eq!(columns("fr-fcfs"), [0, 1, 2, 3, 2, 3, 2, 3]);
    assert_eq!(columns("warped-mc"), [0, 1, 3, 3, 3, 2, 2, 2]);
}

/// Warps 0 and 3 share an alias of one bit; with more bits a warp has two aliases only for different
/// loads, unless the alias ignores the load.
#[test]
fn aliases_are_taken_for_one_warp() {
    let queue = [of_warp(0, 0, 1, 0), of_warp(1, 0, 1, 0), of_warp(2, 0, 1, 3)];
    assert_eq!(order("warped-mc(wat_bits=10)", &queue), [2, 0, 1]);
    assert_eq!(order("warped-mc(wat_bits=1)", &queue), [0, 1, 2]);
    let queue =
        [of_warp(0, 0, 1, 0), of_warp(1, 0, 1, 0), DramRequest { pc: 16, ..of_warp(2, 0, 1, 0) }];
    assert_eq!(order("warped-mc(identity=warp)", &queue), [0, 1, 2]);
    assert_eq!(order("warped-mc(identity=warp,wat_bits=10)", &queue), [0, 1, 2]);
    assert_eq!(order("warped-mc", &queue), [2, 0, 1]);
    assert_eq!(order("warped-mc(wat_bits=10)", &queue), [2, 0, 1]);
}

/// A write-back is the last of no warp and follows none: it is ordered by age among the low
/// priority, after the high.
#[test]
fn write_backs_are_of_low_priority_in_one_queue() {
    let back = |id| DramRequest { sm: DramRequest::NO_SOURCE, warp: u32::MAX, ..write(id, 0, 1) };
    let queue = [back(0), of_warp(1, 0, 1, 0), of_warp(2, 0, 1, 0), of_warp(3, 0, 1, 1), back(4)];
    assert_eq!(run(&gddr3(), "warped-mc", &queue).order(), [3, 0, 1, 2, 4]);
}

/// A separate write is not the last request of its warp, although the warp has one pending.
#[test]
fn separate_writes_have_no_priority() {
    let queue = [(0, write(0, 0, 1)), (0, DramRequest { warp: 5, ..write(1, 1, 1) })];
    let run = run_beside(&gddr5(), "warped-mc", &queue, &[of_warp(999, 0, 1, 5)]);
    assert_eq!(run.order(), [0, 1]);
}

/// A change that arrives after its request has been served does not mark the next request in its
/// slot as the last of its warp. Request 1 becomes known as the last one at 50, and 3 has its slot
/// from 20 on; 2, which has waited longer, scores no less.
#[test]
fn late_updates_do_not_affect_the_next_request_in_a_slot() {
    let queue = [
        (0, DramRequest { bursts: 25, ..of_warp(0, 0, 9, 8) }),
        (0, of_warp(1, 1, 1, 0)),
        (3, of_warp(2, 0, 1, 3)),
        (20, of_warp(3, 0, 2, 1)),
    ];
    let order = order_beside(&gddr5(), "warped-mc(wet_latency=50)", &queue, &[8, 3, 1]);
    assert_eq!(order, [1, 0, 2, 3]);
}

#[test]
fn picks_per_cycle_replaces_the_machines() {
    assert_eq!(activation_beside_a_blocked_bank("warped-mc"), 20);
    assert_eq!(activation_beside_a_blocked_bank("warped-mc(picks_per_cycle=1)"), 21);
}

/// No bound: request 0 waits as long as requests arrive that are the last of their warps.
#[test]
fn a_request_with_pending_siblings_starves() {
    let mut queue = vec![(0, of_warp(0, 0, 1, 0))];
    queue.extend((1..40).map(|n| (3 * u64::from(n - 1), of_warp(n, 0, 1, n))));
    assert_eq!(order_beside(&gddr5(), "fr-fcfs", &queue, &[0])[0], 0);
    assert_eq!(order_beside(&gddr5(), "warped-mc", &queue, &[0]).last(), Some(&0));
}
