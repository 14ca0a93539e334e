mod bursts;
mod coordination;

use super::*;
use crate::scheduler::SCHEDULERS;
use crate::tests::harness::*;
use crate::{Channel, Command, Dram, DramRequest, checker};
use proptest::prelude::*;

/// An event at a channel.
#[derive(Clone, Copy, Debug)]
enum Event {
    Request(DramRequest),
    /// No more requests of this load arrive.
    End(u32),
}

/// Cycle, channel, event.
type Script = Vec<(u64, usize, Event)>;

struct Outcome {
    channels: Vec<Channel>,
    /// Completed requests, by channel, in order.
    orders: Vec<Vec<u32>>,
}

impl Outcome {
    fn logs(&self) -> Vec<&[Command]> {
        self.channels.iter().map(Channel::log).collect()
    }

    fn count(&self, channel: usize, name: &str) -> u64 {
        let counters = self.channels[channel].counters();
        counters.iter().find(|counter| counter.name == name).unwrap().value
    }

    /// Returns the cycle of the first command to a bank of channel 0.
    fn first_command(&self, bank: u16) -> u64 {
        self.channels[0].log().iter().find(|command| command.bank == bank).unwrap().cycle
    }
}

/// Plays time-ordered events to channels that are stepped in order.
fn play(dram: &Dram, policy: &str, count: u32, script: &Script, stepping: Stepping) -> Outcome {
    let context =
        SchedulerContext { dram: Dram { channels: count, ..dram.clone() }, ..context(dram) };
    let mut channels = Channel::family(&context, policy).unwrap();
    channels.iter_mut().for_each(Channel::enable_log);
    let mut orders = vec![Vec::new(); channels.len()];
    let mut due = vec![DramCycle::ZERO; channels.len()];
    let (mut next, mut now) = (0, DramCycle::ZERO);
    loop {
        while next < script.len() && at(script[next].0) <= now {
            let (_, to, event) = script[next];
            match event {
                Event::Request(request) if !channels[to].accepts(&request) => break,
                Event::Request(request) => channels[to].push(now, request),
                Event::End(load) => channels[to].load_complete(now, load),
            }
            due[to] = now;
            next += 1;
        }
        for (index, channel) in channels.iter_mut().enumerate() {
            if due[index] <= now || stepping == Stepping::EveryCycle {
                due[index] = channel.step(now, u32::MAX).unwrap_or(DramCycle::NEVER);
                orders[index].extend(channel.take_completions().map(|done| done.id));
            }
        }
        if next == script.len() && channels.iter().all(Channel::is_empty) {
            return Outcome { channels, orders };
        }
        let event = script.get(next).map_or(DramCycle::NEVER, |event| at(event.0).max(now + 1));
        let wake = due.iter().copied().min().unwrap_or(DramCycle::NEVER).min(event);
        assert!(wake < DramCycle::NEVER, "stuck at {now}");
        now = if stepping == Stepping::EveryCycle { now + 1 } else { wake };
    }
}

/// Returns the order of completion in a single channel.
fn order(policy: &str, script: &Script) -> Vec<u32> {
    outcome(policy, script).orders.remove(0)
}

fn outcome(policy: &str, script: &Script) -> Outcome {
    play(&gddr5(), policy, 1, script, Stepping::Events)
}

/// Returns all requests of a load to channel 0 at a cycle: (number, bank, row).
fn whole(at: u64, load: u32, requests: &[(u32, u16, u32)]) -> Script {
    let mut script = incomplete(at, load, requests);
    script.push((at, 0, Event::End(load)));
    script
}

/// Returns requests as [`whole`] does, but more may follow.
fn incomplete(at: u64, load: u32, requests: &[(u32, u16, u32)]) -> Script {
    let request = |&(id, bank, row)| DramRequest { load, ..read(id, bank, row) };
    requests.iter().map(|place| (at, 0, Event::Request(request(place)))).collect()
}

fn on_channel(channel: usize, script: Script) -> Script {
    script.into_iter().map(|(at, _, event)| (at, channel, event)).collect()
}

fn of_bank(bank: u16, outcome: &Outcome) -> Vec<u32> {
    let columns = outcome.channels[0].log().iter().filter(|command| command.kind.is_column());
    let mut ids: Vec<_> =
        columns.filter(|command| command.bank == bank).filter_map(|c| c.request).collect();
    ids.dedup();
    ids
}

#[test]
fn the_group_with_the_earliest_completion_goes_first() {
    let script = [whole(0, 1, &[(0, 0, 1), (1, 0, 2), (2, 0, 3)]), whole(0, 2, &[(3, 0, 4)])];
    assert_eq!(order("wg", &script.concat()), [3, 0, 1, 2]);
    assert_eq!(order("fr-fcfs", &script.concat()), [0, 1, 2, 3]);
}

/// The row is open for four requests of one group, cost 4; another group needs one other row, cost
/// 3.
#[test]
fn a_row_hit_costs_one_and_a_row_miss_three() {
    let script = [
        whole(0, 1, &[(0, 0, 1)]),
        whole(20, 2, &[(1, 0, 1), (2, 0, 1), (3, 0, 1), (4, 0, 1)]),
        whole(20, 3, &[(5, 0, 2)]),
    ];
    assert_eq!(order("wg", &script.concat()), [0, 5, 1, 2, 3, 4]);
    assert_eq!(order("fr-fcfs", &script.concat()), [0, 1, 2, 3, 4, 5]);
    // Two cost less.
    let script = [
        whole(0, 1, &[(0, 0, 1)]),
        whole(20, 3, &[(1, 0, 2)]),
        whole(20, 2, &[(2, 0, 1), (3, 0, 1)]),
    ];
    assert_eq!(order("wg", &script.concat()), [0, 2, 3, 1]);
}

/// Two banks with a miss each finish when one bank with two is half done.
#[test]
fn the_slowest_bank_is_the_score() {
    let script = [whole(0, 1, &[(0, 0, 1), (1, 0, 2)]), whole(0, 2, &[(2, 0, 3), (3, 1, 1)])];
    assert_eq!(of_bank(0, &outcome("wg", &script.concat())), [2, 0, 1]);
    assert_eq!(of_bank(0, &outcome("fr-fcfs", &script.concat())), [0, 1, 2]);
}

/// Bank 0 has work for 12, so the group with a miss there finishes no earlier than the one with
/// three in bank 1.
#[test]
fn selected_requests_count() {
    let script = [
        whole(0, 1, &[(0, 0, 1), (1, 0, 2), (2, 0, 3), (3, 0, 4)]),
        whole(1, 2, &[(4, 0, 5), (5, 2, 1)]),
        whole(1, 3, &[(6, 1, 1), (7, 1, 2), (8, 1, 3), (9, 2, 2)]),
    ];
    assert_eq!(of_bank(2, &outcome("wg", &script.concat())), [9, 5]);
    assert_eq!(of_bank(2, &outcome("fr-fcfs", &script.concat())), [5, 9]);
}

/// Served requests no longer count: as above, 100 cycles later.
#[test]
fn served_requests_do_not_count() {
    let script = [
        whole(0, 1, &[(0, 0, 1), (1, 0, 2), (2, 0, 3), (3, 0, 4)]),
        whole(200, 2, &[(4, 0, 5), (5, 2, 1)]),
        whole(200, 3, &[(6, 1, 1), (7, 1, 2), (8, 1, 3), (9, 2, 2)]),
    ];
    assert_eq!(of_bank(2, &outcome("wg", &script.concat())), [5, 9]);
}

/// Row 1 is open, but row 2 will be open when the selected requests have been served.
#[test]
fn row_hits_are_predicted_after_the_selected_requests() {
    let script = [
        whole(0, 1, &[(0, 0, 1)]),
        whole(0, 2, &[(1, 0, 2)]),
        whole(20, 3, &[(2, 0, 1)]),
        whole(20, 4, &[(3, 0, 2)]),
    ]
    .concat();
    assert_eq!(order("wg(depth=2)", &script), [0, 1, 3, 2]);
    assert_eq!(order("fr-fcfs", &script), [0, 2, 1, 3]);
}

/// A miss, and three hits: both finish after 3.
#[test]
fn among_equals_more_row_hits_go_first_then_the_older() {
    let script = [
        whole(0, 1, &[(0, 0, 1)]),
        whole(20, 2, &[(1, 0, 2)]),
        whole(20, 3, &[(2, 0, 1), (3, 0, 1), (4, 0, 1)]),
    ];
    assert_eq!(order("wg", &script.concat()), [0, 2, 3, 4, 1]);
    // The order in which the loads end makes no difference.
    let mut script = incomplete(0, 1, &[(0, 0, 1)]);
    script.extend(whole(0, 2, &[(1, 0, 2)]));
    script.push((0, 0, Event::End(1)));
    assert_eq!(order("wg", &script), [0, 1]);
}

#[test]
fn a_bank_takes_a_group_row_by_row_starting_with_the_open_row() {
    let mut script = whole(0, 1, &[(0, 0, 7)]);
    script.extend(whole(20, 2, &[(1, 0, 5), (2, 0, 6), (3, 0, 7), (4, 0, 5)]));
    assert_eq!(order("wg", &script), [0, 3, 1, 4, 2]);
}

#[test]
fn a_group_waits_for_the_last_of_its_load() {
    let script = [incomplete(0, 1, &[(0, 0, 1)]), whole(0, 2, &[(1, 0, 2)])];
    assert_eq!(order("wg", &script.concat()), [1, 0]);
    assert_eq!(order("fr-fcfs", &script.concat()), [0, 1]);
    let mut script = script.concat();
    script.insert(1, (0, 0, Event::End(1)));
    assert_eq!(order("wg", &script), [0, 1]);
}

/// The end of a load makes its group eligible when the message arrives.
#[test]
fn the_end_of_a_load_makes_its_group_eligible() {
    let mut script = whole(0, 9, &[(0, 0, 1), (1, 0, 2)]);
    script.extend(incomplete(0, 1, &[(2, 1, 1)]));
    script.push((7, 0, Event::End(1)));
    assert_eq!(outcome("wg", &script).first_command(1), 7);
}

/// A request of a load whose end is known joins the waiting group.
#[test]
fn a_request_after_the_end_of_its_load_joins_a_complete_group() {
    let script = [
        whole(0, 9, &[(0, 0, 1), (1, 0, 2)]),
        whole(1, 1, &[(2, 0, 3)]),
        incomplete(2, 1, &[(3, 0, 3)]),
    ];
    let outcome = outcome("wg", &script.concat());
    assert_eq!(outcome.orders[0], [0, 1, 2, 3]);
    assert_eq!(outcome.count(0, "incomplete_groups"), 0);
    assert_eq!(outcome.count(0, "groups_selected"), 2);
    assert_eq!(outcome.count(0, "grouped_requests"), 4);
}

/// Without load ends the whole group of the oldest request is selected as soon as no selected
/// request waits.
#[test]
fn an_idle_channel_takes_an_incomplete_group() {
    let script = [
        incomplete(0, 1, &[(0, 0, 1)]),
        incomplete(0, 2, &[(1, 0, 2)]),
        incomplete(0, 1, &[(2, 0, 3)]),
    ]
    .concat();
    let outcome = outcome("wg", &script);
    assert_eq!(outcome.orders[0], [0, 2, 1]);
    assert_eq!(order("fr-fcfs", &script), [0, 1, 2]);
    assert_eq!(outcome.count(0, "incomplete_groups"), 2);
}

/// Selected requests wait for bank 0; a group for bank 1 is incomplete and cannot grow in a full
/// queue.
#[test]
fn a_full_queue_takes_an_incomplete_group() {
    let script =
        [whole(0, 9, &[(0, 0, 1), (1, 0, 2), (2, 0, 3)]), incomplete(3, 1, &[(3, 1, 1)])].concat();
    let first = |read_queue| {
        let dram = Dram { read_queue, ..gddr5() };
        play(&dram, "wg", 1, &script, Stepping::Events).first_command(1)
    };
    assert_eq!(first(4), 6);
    // Request 2, the last selected, begins at 68.
    assert_eq!(first(5), 69);
}

/// As above, with requests that free their entries on assignment to a bank: request 0 has freed its
/// own.
#[test]
fn a_queue_is_full_when_its_entries_are_taken() {
    let script =
        [whole(0, 9, &[(0, 0, 1), (1, 0, 2), (2, 0, 3)]), incomplete(3, 1, &[(3, 1, 1)])].concat();
    let first = |read_queue| {
        let dram = Dram { read_queue, picks_per_cycle: 1, ..gddr5() };
        play(&dram, "wg", 1, &script, Stepping::Events).first_command(1)
    };
    assert_eq!(first(3), 6);
    assert_eq!(first(4), 69);
}

/// Two groups of two misses wait for bank 0; a group of one arrives later.
#[test]
fn depth_is_how_far_ahead_groups_are_selected() {
    let script = [
        whole(0, 1, &[(0, 0, 1)]),
        whole(0, 2, &[(1, 0, 2), (2, 0, 3)]),
        whole(0, 3, &[(3, 0, 4), (4, 0, 5)]),
        whole(5, 4, &[(5, 0, 6)]),
    ]
    .concat();
    assert_eq!(order("wg", &script), [0, 1, 2, 5, 3, 4]);
    assert_eq!(order("wg(depth=3)", &script), [0, 1, 2, 3, 4, 5]);
}

/// In a shared queue a write-back is a group of one, complete at once.
#[test]
fn requests_without_a_load_are_groups_of_one() {
    let mut script = whole(0, 1, &[(0, 0, 1), (1, 0, 2)]);
    script.push((0, 0, Event::Request(write(2, 0, 3))));
    script.push((0, 0, Event::Request(write(3, 0, 4))));
    let outcome = play(&gddr3(), "wg", 1, &script, Stepping::Events);
    assert_eq!(outcome.orders[0], [2, 3, 0, 1]);
    assert_eq!(outcome.count(0, "groups_selected"), 1);
    assert_eq!(outcome.count(0, "grouped_requests"), 2);
}

/// No bound: a long group waits as long as shorter ones arrive.
#[test]
fn short_groups_starve_a_long_one() {
    let mut script = whole(0, 0, &[(0, 0, 0)]);
    script.extend(whole(0, 1, &[(1, 0, 1), (2, 0, 2)]));
    let short = |id: u32| whole((u64::from(id - 3) * 40).saturating_sub(20), id, &[(id, 0, id)]);
    script.extend((3..60).flat_map(short));
    assert_eq!(order("wg", &script)[58..], [1, 2]);
    assert_eq!(order("fr-fcfs", &script)[..3], [0, 1, 2]);
}

#[test]
fn load_ends_are_requested_from_the_machine() {
    for policy in ["wg", "wg-m", "wg-bw", "wg-w"] {
        let family = SCHEDULERS.build(policy, &context(&gddr5())).unwrap();
        assert_eq!(family.needs(), Needs { load_ends: true, ..Needs::default() });
    }
}

#[test]
fn parameters_out_of_range_are_refused() {
    for text in [
        "wg(depth=0)",
        "wg(message_latency=4)",
        "wg-m(message_latency=0)",
        "wg-bw(write_margin=4)",
        "wg-w(write_margin=-1)",
    ] {
        assert!(SCHEDULERS.build(text, &context(&gddr5())).is_err(), "{text}");
    }
}

/// Generates requests of loads to two channels; most loads end eventually.
fn scripts() -> impl Strategy<Value = Script> {
    let request = (0u64..20, 0usize..2, 0u16..8, 0u32..4, 0u32..24, prop::bool::weighted(0.2));
    let ends = prop::collection::vec((0u64..600, prop::bool::weighted(0.8)), 24);
    (prop::collection::vec(request, 1..200), ends).prop_map(|(requests, ends)| {
        let (mut now, mut script) = (0, Vec::new());
        let mut last = [[None; 24]; 2];
        for (id, (gap, channel, bank, row, load, write)) in requests.into_iter().enumerate() {
            now += gap / 6;
            let load = if write { u32::MAX } else { load };
            let request = DramRequest { write, load, ..read(id as u32, bank, row) };
            script.push((now, channel, Event::Request(request)));
            if !write {
                last[channel][load as usize] = Some(now);
            }
        }
        for (channel, last) in last.into_iter().enumerate() {
            for (load, (at, &(later, comes))) in last.into_iter().zip(&ends).enumerate() {
                if let Some(at) = at.filter(|_| comes) {
                    script.push((at + later, channel, Event::End(load as u32)));
                }
            }
        }
        script.sort_by_key(|&(at, ..)| at);
        script
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// All requests are served, legally and without superfluous steps, whenever loads end, or
    /// never.
    #[test]
    fn groups_are_served_whenever_loads_end(script in scripts()) {
        for dram in [gddr5(), hbm2()] {
            for policy in ["wg", "wg-m", "wg-bw(depth=2)", "wg-w(message_latency=30)"] {
                let events = play(&dram, policy, 2, &script, Stepping::Events);
                let cycles = play(&dram, policy, 2, &script, Stepping::EveryCycle);
                prop_assert_eq!(events.logs(), cycles.logs(), "{}", policy);
                for (channel, log) in events.logs().into_iter().enumerate() {
                    prop_assert_eq!(checker::check(&dram, log), []);
                    prop_assert_eq!(
                        events.channels[channel].counters(),
                        cycles.channels[channel].counters()
                    );
                }
                let served: usize = events.orders.iter().map(Vec::len).sum();
                let sent = script.iter().filter(|event| matches!(event.2, Event::Request(_)));
                prop_assert_eq!(served, sent.count());
            }
        }
    }
}
