//! Tests of the policy; the expressions have their own.

use crate::DramRequest;
use crate::scheduler::{SCHEDULERS, SchedulerContext};
use crate::tests::harness::*;
use warpmem_params::{Complexity, Routers, Shape};
use warpmem_sim::{CountedMerges, Needs};

/// Returns requests of few rows, warps and SMs that arrive in bursts.
fn stream(seed: u64) -> Vec<(u64, DramRequest)> {
    let mut random = Random(seed);
    let mut at = 0;
    (0..600)
        .map(|id| {
            at += if random.below(8) == 0 { random.below(400) } else { 0 };
            let (bank, row) = (random.below(4) as u16, random.below(6) as u32);
            let warp = random.below(20) as u32;
            (at, DramRequest { sm: (warp / 4) as u16, warp, ..read(id, bank, row) })
        })
        .collect()
}

/// Asserts that two policies issue the same commands.
fn assert_alike(expression: &str, policy: &str) {
    let priority = format!("priority(by={expression},period=1)");
    let [mut one, mut other] = [SEEDS, 0..0].map(|_| Vec::new());
    for seed in SEEDS {
        let requests = stream(seed);
        one.extend(timed(&gddr5(), &priority, &requests).commands());
        other.extend(timed(&gddr5(), policy, &requests).commands());
    }
    assert!(one == other, "{expression} differs from {policy}");
}

const SEEDS: std::ops::Range<u64> = 0..4;

#[test]
fn known_policies_are_expressions() {
    assert_alike("hit", "fr-fcfs");
    assert_alike("if(age>=200,2,hit)", "fr-fcfs(starvation_limit=200)");
    assert_alike("if(hit,1000,row_requests)", "most-pending");
    assert_alike("hit-2*warp_requests", "sjf-potential(alpha=1)");
}

#[test]
fn among_equals_the_oldest_goes_first() {
    let requests = [read(0, 0, 1), read(1, 0, 2), read(2, 0, 1), read(3, 0, 2)];
    assert_eq!(order("priority(by=0)", &requests), [0, 1, 2, 3]);
    assert_eq!(order("priority(by=position)", &requests), [3, 2, 1, 0]);
}

/// The row of request 0 serves two requests, then the bank turns to another row.
#[test]
fn a_streak_counts_the_requests_of_the_open_row() {
    let requests = [read(0, 0, 1), read(1, 0, 1), read(2, 0, 1), read(3, 0, 2), read(4, 0, 2)];
    let by = |limit: u32| format!("priority(by=if(streak<{limit},hit,not hit))");
    assert_eq!(order(&by(2), &requests), [0, 1, 3, 4, 2]);
    assert_eq!(order(&by(9), &requests), [0, 1, 2, 3, 4]);
}

/// Request 0 is served first; its SM and its warp then have an advantage in the other bank.
#[test]
fn the_last_source_is_that_of_the_last_service() {
    let of = |sm: u16, warp: u32, request: DramRequest| DramRequest { sm, warp, ..request };
    let requests = [
        of(2, 9, read(0, 0, 0)),
        of(1, 4, read(1, 1, 1)),
        of(2, 8, read(2, 1, 2)),
        of(2, 9, read(3, 1, 3)),
    ];
    let after_first = |policy| order(policy, &requests).into_iter().find(|&id| id > 0);
    assert_eq!(after_first("priority(by=0)"), Some(1));
    assert_eq!(after_first("priority(by=same_sm)"), Some(2));
    assert_eq!(after_first("priority(by=same_warp)"), Some(3));
}

/// Returns which of two requests to other rows bank 0 serves first, `others` arriving meanwhile. Both arrive at
/// 1; the bank is busy until 60.
fn first_of_two(policy: &str, others: &[(u64, DramRequest)]) -> u32 {
    let mut dram = gddr5();
    dram.timing.tras = 60;
    dram.timing.trc = 72;
    let mut requests = vec![(0, read(0, 0, 1)), (1, read(1, 0, 2)), (1, read(2, 0, 3))];
    requests.extend(others);
    let order = timed(&dram, policy, &requests).order();
    order.into_iter().find(|id| [1, 2].contains(id)).unwrap()
}

/// The younger request goes first if a third one waits in the channel.
#[test]
fn arrivals_in_other_banks_change_the_choice() {
    let first = |others: &[(u64, DramRequest)]| {
        first_of_two("priority(by=if(queue_requests>=3,position,-position))", others)
    };
    assert_eq!(first(&[]), 1);
    // Served at once.
    assert_eq!(first(&[(20, read(3, 1, 1))]), 1);
    // Bank 1 is busy until after bank 0.
    assert_eq!(first(&[(20, read(3, 1, 1)), (40, read(4, 1, 2))]), 2);
}

/// At 48 three periods have passed, with no event at the bank.
#[test]
fn time_changes_the_choice() {
    let first = |age| {
        first_of_two(&format!("priority(by=if(age>={age},-position,position),period=16)"), &[])
    };
    assert_eq!((first(3), first(4)), (1, 2));
}

#[test]
fn loads_are_counted_apart() {
    let of = |load: u32, request: DramRequest| DramRequest { load, ..request };
    let requests = [
        of(1, read(0, 0, 1)),
        of(7, read(1, 0, 2)),
        of(7, read(2, 0, 3)),
        of(3, read(3, 0, 4)),
        of(7, read(4, 1, 4)),
    ];
    let order = order("priority(by=-load_requests)", &requests);
    let of_bank: Vec<u32> = order.into_iter().filter(|&id| id != 4).collect();
    assert_eq!(of_bank, [0, 3, 1, 2]);
}

/// The younger request has more merges, by an event after its arrival.
#[test]
fn merges_are_those_of_the_last_report() {
    let dram = gddr5();
    let mut channel = channel(&dram, "priority(by=merges)");
    for request in [read(0, 0, 0), read(1, 0, 1), read(2, 0, 2)] {
        channel.push(at(0), request);
    }
    channel.merge(at(0), BankId(0), 2, 5, 0);
    let mut now = at(0);
    while !channel.is_empty() {
        now = channel.step(now, u32::MAX).unwrap_or(now + 1);
    }
    let served: Vec<u32> = channel.take_completions().map(|done| done.id).collect();
    assert_eq!(served, [2, 0, 1]);
}

#[test]
fn terms_need_what_they_read() {
    let needs = |policy: &str| {
        let context: SchedulerContext = context(&gddr5());
        SCHEDULERS.build(policy, &context).unwrap().needs()
    };
    assert_eq!(needs("priority"), Needs::default());
    let merges = Needs { merges: Some(CountedMerges::All), ..Needs::default() };
    assert_eq!(needs("priority(by=merges)"), merges);
    let loads = Needs { load_ends: true, ..Needs::default() };
    assert_eq!(needs("priority(by=-load_requests)"), loads);
}

/// Per controller, by hand: 32 requests, 4 banks, 5 bits of counts and of SMs, 12 of rows, 2 of
/// banks; 28 SMs of 32 warps, 10 bits of a warp.
#[test]
fn an_expression_costs_its_terms_and_its_width() {
    let shape = Shape {
        sms: 28,
        warps: 32,
        slices: 8,
        mshr_entries: 0,
        controllers: 1,
        queue: 32,
        banks: 4,
        row_bits: 12,
        routers: Routers { count: 0, crossings: 0, outputs: 0 },
    };
    let cost = |policy: &str| {
        let family = SCHEDULERS.build(policy, &context(&gddr5())).unwrap();
        let Complexity { stored, compared } = family.complexity(&shape).unwrap();
        (stored, compared)
    };
    let search = 32 * (12 + 2);
    assert_eq!(cost("priority(by=hit)"), (0, search + 32));
    // 0 to 2: two bits.
    assert_eq!(cost("priority"), (32 * 8, search + 32 * 2));
    // -32 to 1: six bits.
    assert_eq!(cost("priority(by=hit-warp_requests)"), (28 * 32 * 5, search + 32 * 6));
    assert_eq!(cost("priority(by=same_warp+same_sm)"), (10 + 5, 32 * (10 + 5) + 32 * 2));
    assert_eq!(cost("priority(by=streak/256)"), (4 * 8, 0));
}

#[test]
fn errors_say_what_is_wrong() {
    let error =
        |policy: &str| SCHEDULERS.build(policy, &context(&gddr5())).err().unwrap().to_string();
    let text = error("priority(by=hitt)");
    assert!(
        text.contains("`by` = `hitt` is not valid: unknown `hitt` (did you mean `hit`?)"),
        "{text}"
    );
    assert_refused(&["priority(by=)", "priority(period=0)", "priority(by=hit,to=1)"]);
}
