use crate::scheduler::{SCHEDULERS, SchedulerContext};
use crate::tests::harness::*;
use crate::{Channel, CommandKind, Dram, DramRequest};
use warpmem_sim::{BankId, CountedMerges, EarlyMerges, Needs};

/// Returns a read with `merges` waiting SMs.
fn of(id: u32, bank: u16, row: u32, merges: u8) -> DramRequest {
    DramRequest { merges, ..read(id, bank, row) }
}

/// Returns the cycle of the first command of each request.
fn starts(run: &Run, requests: u32) -> Vec<u64> {
    let start =
        |id| run.completions.iter().find(|done| done.id == id).unwrap().first_command.number();
    (0..requests).map(start).collect()
}

/// Returns a request with locality and one without, in two banks, both arriving at 10.
fn pair() -> [(u64, DramRequest); 2] {
    [of(0, 0, 1, 2), of(1, 4, 1, 1)].map(|request| (10, request))
}

#[test]
fn matching_requests_are_delayed_and_others_are_not() {
    let starts = |policy| starts(&timed_by_events(policy, &pair()), 2);
    // Banks 0 and 4 share a group, whose activations are tRRD_L = 7 apart.
    assert_eq!(starts("fr-fcfs"), [10, 17]);
    assert_eq!(starts("delay(requests=0)"), [10, 17]);
    assert_eq!(starts("delay(requests=1,cycles=100)"), [110, 10]);
    assert_eq!(starts("delay(requests=1,cycles=100,locality=without)"), [10, 110]);
}

/// Request 1 could issue at 15: the preceding row hit issued its column command at 12, and tCCD_L
/// follows.
#[test]
fn the_delay_starts_when_the_command_could_issue() {
    let requests = [(0, of(0, 0, 1, 1)), (0, of(1, 0, 1, 2))];
    assert_eq!(starts(&timed_by_events("fr-fcfs", &requests), 2), [0, 15]);
    assert_eq!(starts(&timed_by_events("delay(cycles=40)", &requests), 2), [0, 55]);
}

/// Request 1 would be assigned in the cycle after the preceding request issued its column command,
/// at 12.
#[test]
fn the_delay_starts_at_the_assignment() {
    let dram = Dram { picks_per_cycle: 1, ..gddr5() };
    let requests = [(0, of(0, 0, 1, 1)), (0, of(1, 0, 1, 2))];
    let run = |policy| run_with(&dram, policy, &requests, Stepping::Events, |_| u32::MAX);
    assert_eq!(starts(&run("fr-fcfs"), 2), [0, 15]);
    assert_eq!(starts(&run("delay(cycles=40)"), 2), [0, 53]);
}

#[test]
fn others_go_first_while_a_row_hit_is_held_back() {
    let requests = [of(0, 0, 1, 1), of(1, 0, 1, 2), of(2, 0, 1, 1), of(3, 0, 2, 1)];
    let order = |policy| run(&gddr5(), policy, &requests).order();
    assert_eq!(order("fr-fcfs"), [0, 1, 2, 3]);
    assert_eq!(order("delay(cycles=10)"), [0, 2, 1, 3], "until a row is closed");
    assert_eq!(order("delay(cycles=300)"), [0, 2, 3, 1]);
}

#[test]
fn a_limited_number_is_delayed_each_once() {
    // Separate banks, so that the requests do not wait for each other.
    let requests: Vec<_> = (0..6).map(|n| (u64::from(n) * 1000, of(n, n as u16, 1, 2))).collect();
    let waits = |policy| -> Vec<u64> {
        let run = timed_by_events(policy, &requests);
        let starts = starts(&run, 6);
        starts.iter().zip(&requests).map(|(start, (arrived, _))| start - arrived).collect()
    };
    assert_eq!(waits("delay(requests=2,cycles=100)"), [100, 100, 0, 0, 0, 0]);
    assert_eq!(waits("delay(requests=2,cycles=100,first=1)"), [0, 100, 100, 0, 0, 0]);
    assert_eq!(waits("delay(requests=9,cycles=100,first=3)"), [0, 0, 0, 100, 100, 100]);
    assert_eq!(waits("delay(requests=2,cycles=100,locality=without)"), [0; 6]);
    assert_eq!(waits("delay(requests=2,cycles=100,every=3)"), [100, 0, 0, 100, 0, 0]);
    assert_eq!(waits("delay(requests=9,cycles=100,every=2,first=1)"), [0, 100, 0, 100, 0, 100]);
}

/// Another channel has one waiting, which is delayed first.
#[test]
fn the_limit_of_delayed_requests_covers_all_channels() {
    let delays = |requests: u32| {
        let dram = Dram { channels: 2, ..gddr5() };
        let context = SchedulerContext { dram: dram.clone(), ..context(&dram) };
        let policy = format!("delay(requests={requests},cycles=100)");
        let mut channels = Channel::family(&context, &policy).unwrap();
        for channel in &mut channels {
            channel.enable_log();
            channel.push(DramCycle::ZERO, of(0, 0, 1, 2));
        }
        let activated = |channel: &mut Channel| {
            let mut now = DramCycle::ZERO;
            while let Some(next) = channel.step(now, u32::MAX) {
                now = next;
            }
            channel.log().iter().find(|c| c.kind == CommandKind::Act).unwrap().cycle
        };
        channels.iter_mut().map(activated).collect::<Vec<_>>()
    };
    assert_eq!([0, 1, 2].map(delays), [[0, 0], [100, 0], [100, 100]]);
}

/// Runs a read without merges after another in its bank, with the update of a second waiting SM at
/// `updated_at`.
fn informed(policy: &str, updated_at: u64) -> (Vec<u32>, Vec<u64>) {
    let (mut channel, updated_at) = (channel(&gddr5(), policy), at(updated_at));
    let requests = [of(0, 0, 1, 1), of(1, 0, 1, 1), of(2, 0, 1, 1)];
    requests.iter().for_each(|&request| channel.push(DramCycle::ZERO, request));
    let mut now = DramCycle::ZERO;
    while !channel.is_empty() {
        if now == updated_at {
            channel.merge(now, BankId(0), 1, 2, 0);
        }
        let next = channel.step(now, u32::MAX).unwrap_or(DramCycle::NEVER);
        now = if now < updated_at { next.min(updated_at) } else { next };
    }
    let order = channel.take_completions().map(|done| done.id).collect();
    (order, channel.counters().iter().map(|counter| counter.value).collect())
}

/// Its command could issue at 15.
#[test]
fn the_merges_known_at_issue_decide() {
    let of_kind = |policy, updated_at| informed(policy, updated_at).0;
    assert_eq!(of_kind("delay(cycles=100)", 15), [0, 2, 1]);
    assert_eq!(of_kind("delay(cycles=100)", 16), [0, 1, 2]);
    let without = "delay(cycles=100,first=1,requests=1,locality=without)";
    assert_eq!(of_kind(without, 15), [0, 1, 2], "the third is delayed");
    assert_eq!(of_kind(without, 16), [0, 2, 1]);
}

#[test]
fn counters() {
    // Delayed, merged while delayed, with and without locality.
    assert_eq!(informed("delay(cycles=100)", 15).1, [1, 0, 1, 2]);
    assert_eq!(informed("delay(cycles=100)", 999).1, [0, 0, 0, 3]);
    let without = "delay(cycles=100,first=1,requests=1,locality=without)";
    assert_eq!(informed(without, 16).1, [1, 1, 1, 2]);
    assert_eq!(informed(without, 999).1, [1, 0, 0, 3]);
    let names: Vec<_> =
        channel(&gddr5(), "delay").counters().iter().map(|counter| counter.name).collect();
    let expected = [
        "delayed_requests",
        "merged_while_delayed",
        "requests_with_locality",
        "requests_without_locality",
    ];
    assert_eq!(names, expected);
}

/// Reads and writes share one queue.
#[test]
fn requests_without_an_sm_are_not_delayed() {
    let without_sm = DramRequest { sm: DramRequest::NO_SOURCE, ..of(0, 0, 1, 1) };
    let requests = [(10, without_sm), (10, write(1, 1, 1)), (10, of(2, 2, 1, 1))];
    let starts = |policy| {
        let run = run_with(&gddr3(), policy, &requests, Stepping::Events, |_| u32::MAX);
        (starts(&run, 3), run.counted("requests_without_locality"))
    };
    let (plain, counted) = starts("delay(requests=0)");
    assert_eq!((plain[2] < 100, counted), (true, 1));
    let (held, counted) = starts("delay(locality=without,cycles=500)");
    assert_eq!((&held[..2], held[2], counted), (&plain[..2], 10 + 500, 1));
}

#[test]
fn without_requests_to_delay_it_is_fr_fcfs() {
    for dram in machines() {
        let requests = random(&dram, 500, 3, 41);
        let fr_fcfs = run(&dram, "fr-fcfs", &requests);
        assert_eq!(run(&dram, "delay(requests=0)", &requests).log, fr_fcfs.log);
        assert_eq!(
            run(&dram, "delay(locality=with)", &requests).log,
            fr_fcfs.log,
            "none has merges"
        );
    }
}

/// The delay is bounded, however many requests there are: the last one is served.
#[test]
fn every_delayed_request_is_served() {
    let requests: Vec<_> =
        (0..300).map(|n| of(n, (n % 4) as u16, n / 40, 1 + (n % 3) as u8)).collect();
    let plain = run(&gddr5(), "fr-fcfs", &requests);
    for locality in ["with", "without"] {
        let run = run(&gddr5(), &format!("delay(locality={locality},cycles=2000)"), &requests);
        assert_eq!(run.completions.len(), 300);
        let longest = |run: &Run| run.completions.iter().map(|done| done.end).max().unwrap();
        // The content of each queue is delayed once, and then the next.
        assert!(longest(&run) <= longest(&plain) + 2000 * 300 / 64 * 2, "{locality}");
    }
}

#[test]
fn merges_of_other_sms_are_requested_in_every_mode() {
    let needs = |policy| SCHEDULERS.build(policy, &context(&gddr5())).unwrap().needs();
    let (merges, early_merges) = (Some(CountedMerges::InterCore), EarlyMerges::Reported);
    let expected = Needs { merges, early_merges, ..Needs::default() };
    for policy in ["delay", "delay(requests=0)", "delay(locality=without)"] {
        assert_eq!(needs(policy), expected);
    }
}

#[test]
fn a_delay_of_zero_is_refused() {
    let error = |policy| match SCHEDULERS.build(policy, &context(&gddr5())) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{policy} is built"),
    };
    assert!(error("delay(cycles=0)").contains("`cycles` = 0"));
    assert!(error("delay(every=0)").contains("`every` = 0"));
    assert!(error("delay(locality=some)").contains("with"));
    assert!(error("delay(requests=-1)").contains("requests"));
}
