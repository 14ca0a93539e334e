use crate::scheduler::SCHEDULERS;
use crate::tests::harness::*;
use crate::{Channel, Command, DramRequest};
use warpmem_sim::{CountedMerges, EarlyMerges, Needs};

/// Returns a read with `merges` waiting requests, which have waited 20 cycles each.
fn of(id: u32, row: u32, merges: u8) -> DramRequest {
    DramRequest { merges, age: 20 * u32::from(merges), ..read(id, 0, row) }
}

const ALL: [&str; 3] = ["mshr-m", "mshr-s", "mshr-s+a"];

/// Li's Figure 4.1: nine requests R0 to R8, of which R1 to R3 wait for R0, R5 and R6 for R4, R8 for
/// R7. R4 and R7 go to row 1, whose score is 5.
#[test]
fn figure_4_1() {
    let queue = [of(0, 0, 4), of(7, 1, 2), of(4, 1, 3)];
    assert_eq!(order("fr-fcfs", &queue), [0, 7, 4]);
    assert_eq!(order("mshr-s", &queue), [4, 7, 0]);
    assert_eq!(order("mshr-s+a", &queue), [4, 7, 0]);
    assert_eq!(order("mshr-m", &queue), [0, 4, 7]);
}

/// Returns the instructions per cycle of the four warps in the four cycles of Li's Figure 3.1: R2
/// of warp 2 is merged into R0; one request is served per cycle, and a warp whose data have arrived
/// executes one instruction in each later cycle.
fn figure_3_1(policy: &str) -> f64 {
    let queue = [of(1, 1, 1), of(3, 1, 1), of(0, 1, 2)];
    let waiting = |id| if id == 0 { 2 } else { 1 };
    let executed =
        order(policy, &queue).into_iter().zip(0..).map(|(id, at)| waiting(id) * (3 - at));
    f64::from(executed.sum::<u32>()) / 4.0
}

#[test]
fn equations_3_1_and_3_2() {
    assert_eq!(figure_3_1("fr-fcfs"), 1.75);
    for policy in ALL {
        assert_eq!(figure_3_1(policy), 2.25, "{policy}");
    }
}

#[test]
fn the_row_of_the_highest_score_is_opened() {
    // The largest request against the largest sum.
    let queue = [of(0, 1, 1), of(1, 2, 2), of(2, 3, 3), of(3, 2, 2)];
    assert_eq!(order("fr-fcfs", &queue), [0, 1, 3, 2]);
    assert_eq!(order("mshr-m", &queue), [2, 1, 3, 0]);
    assert_eq!(order("mshr-s", &queue), [1, 3, 2, 0]);
    assert_eq!(order("mshr-s+a", &queue), [1, 3, 2, 0]);
}

#[test]
fn among_equals_the_oldest_goes_first() {
    for policy in ALL {
        let requests = [of(0, 1, 1), of(1, 1, 3), of(2, 1, 3)];
        assert_eq!(order(policy, &requests), [1, 2, 0], "{policy}");
        let rows = [of(0, 1, 1), of(1, 2, 3), of(2, 3, 3)];
        assert_eq!(order(policy, &rows), [1, 2, 0], "{policy}");
    }
}

#[test]
fn ties_of_rows_may_go_to_the_lowest_row() {
    for policy in ALL {
        let rows = [of(0, 4, 1), of(1, 3, 3), of(2, 2, 3), of(3, 2, 1), of(4, 3, 1)];
        assert_eq!(order(policy, &rows), [1, 4, 2, 3, 0], "{policy}");
        let lowest = order(&format!("{policy}(tie=lowest-row)"), &rows);
        assert_eq!(lowest, [2, 3, 1, 4, 0], "{policy}");
    }
}

/// Row 1 is open when requests with higher scores arrive for row 2.
#[test]
fn row_hits_go_first() {
    for policy in ALL {
        let queue = [(0, of(0, 1, 1)), (0, of(1, 1, 1)), (5, of(2, 2, 9)), (5, of(3, 2, 9))];
        let run = run_with(&gddr5(), policy, &queue, Stepping::Events, |_| u32::MAX);
        assert_eq!(run.order(), [0, 1, 2, 3], "{policy}");
    }
}

/// Updates of merges that the controller receives while it serves the requests, in order of cycle.
struct Update {
    cycle: DramCycle,
    bank: BankId,
    id: u32,
    merges: u32,
    age: u64,
}

fn update(cycle: u64, id: u32, merges: u32, age: u64) -> Update {
    Update { cycle: at(cycle), bank: BankId(0), id, merges, age }
}

/// Runs requests that all arrive at 0, with updates of their merges.
fn informed(
    policy: &str,
    requests: &[DramRequest],
    updates: &[Update],
    stepping: Stepping,
) -> Channel {
    let mut channel = channel(&gddr5(), policy);
    requests.iter().for_each(|&request| channel.push(DramCycle::ZERO, request));
    let (mut now, mut applied) = (DramCycle::ZERO, 0);
    while !channel.is_empty() {
        while let Some(update) = updates.get(applied).filter(|update| update.cycle == now) {
            channel.merge(now, update.bank, update.id, update.merges, update.age);
            applied += 1;
        }
        let next = channel.step(now, u32::MAX).unwrap_or(DramCycle::NEVER);
        let next_update = updates.get(applied).map_or(DramCycle::NEVER, |update| update.cycle);
        now = if stepping == Stepping::EveryCycle { now + 1 } else { next.min(next_update) };
    }
    channel
}

fn informed_order(policy: &str, requests: &[DramRequest], updates: &[Update]) -> Vec<u32> {
    let mut channel = informed(policy, requests, updates, Stepping::Events);
    channel.take_completions().map(|done| done.id).collect()
}

#[test]
fn updates_of_merges_change_the_order_of_row_hits() {
    let queue = [of(0, 1, 9), of(1, 1, 1), of(2, 1, 1), of(3, 1, 1)];
    for policy in ALL {
        assert_eq!(informed_order(policy, &queue, &[]), [0, 1, 2, 3], "{policy}");
        let updates = [update(14, 3, 2, 40)];
        assert_eq!(informed_order(policy, &queue, &updates), [0, 3, 1, 2], "{policy}");
        let updates = [update(16, 3, 2, 40)];
        assert_eq!(informed_order(policy, &queue, &updates), [0, 1, 3, 2], "{policy}");
    }
}

/// The row of request 0 is closed at 28, and the next may be chosen until then.
#[test]
fn updates_of_merges_change_the_order_of_rows() {
    let queue = [of(0, 1, 9), of(1, 2, 1), of(2, 3, 1)];
    for policy in ALL {
        assert_eq!(informed_order(policy, &queue, &[update(28, 2, 3, 60)]), [0, 2, 1], "{policy}");
        assert_eq!(informed_order(policy, &queue, &[update(29, 2, 3, 60)]), [0, 1, 2], "{policy}");
    }
}

/// The last update counts, not the largest.
#[test]
fn updates_overwrite_the_merge_length() {
    let queue = [of(0, 1, 9), of(1, 1, 2), of(2, 1, 1)];
    let updates = [update(5, 2, 3, 0), update(6, 2, 1, 0)];
    assert_eq!(informed_order("mshr-s", &queue, &updates[..1]), [0, 2, 1]);
    assert_eq!(informed_order("mshr-s", &queue, &updates), [0, 1, 2]);
}

/// At 15, when the next is chosen, request 1 has age 20 + 15, and request 2 has age 20 + 5, then
/// grows by 2 per cycle plus the age in the update.
#[test]
fn updates_add_to_the_age_and_its_growth() {
    let queue = [of(0, 1, 9), of(1, 1, 1), of(2, 1, 1)];
    let order = |merges, age| informed_order("mshr-s+a", &queue, &[update(5, 2, merges, age)]);
    assert_eq!(order(1, 0), [0, 1, 2]);
    assert_eq!(order(1, 1), [0, 2, 1]);
    assert_eq!(order(2, 0), [0, 2, 1]);
}

#[test]
fn merge_lengths_saturate_at_16() {
    for policy in ["mshr-m", "mshr-s"] {
        assert_eq!(order(policy, &[of(0, 1, 16), of(1, 1, 40)]), [0, 1], "{policy}");
        assert_eq!(order(policy, &[of(0, 1, 15), of(1, 1, 40)]), [1, 0], "{policy}");
        let queue = [of(0, 1, 40), of(1, 1, 16), of(2, 1, 1)];
        assert_eq!(informed_order(policy, &queue, &[update(5, 2, 99, 0)]), [0, 1, 2], "{policy}");
    }
}

/// A request of merge length 1 has the higher age than one of length 3 that arrives at `arrival`,
/// until half that time later.
fn after_a_long_request(bursts: u16, arrival: u64) -> Vec<u32> {
    let fresh = |id, merges| DramRequest { age: 0, ..of(id, 1, merges) };
    let queue =
        [(0, DramRequest { bursts, ..fresh(0, 9) }), (0, fresh(1, 1)), (arrival, fresh(2, 3))];
    run_with(&gddr5(), "mshr-s+a", &queue, Stepping::Events, |_| u32::MAX).order()
}

#[test]
fn ages_grow_by_the_merge_length_each_cycle() {
    // At 24: 24 against 12; at 36: 36 against 48.
    assert_eq!(after_a_long_request(4, 20), [0, 1, 2]);
    assert_eq!(after_a_long_request(8, 20), [0, 2, 1]);
}

/// The bank last changes at 33, with ages 33 and 30; its next read can issue at 36, with ages 36
/// and 39.
#[test]
fn ages_are_compared_when_the_command_issues() {
    assert_eq!(after_a_long_request(8, 23), [0, 2, 1]);
}

#[test]
fn ages_saturate() {
    let aged = |id, row, age| DramRequest { age, ..of(id, row, 1) };
    let oldest = 1 << 15;
    assert_eq!(order("mshr-s+a", &[aged(0, 1, oldest), aged(1, 1, 2 * oldest)]), [0, 1]);
    assert_eq!(order("mshr-s+a", &[aged(0, 1, oldest - 1), aged(1, 1, 2 * oldest)]), [1, 0]);
    // The age of a row saturates like that of a request.
    let rows = [aged(0, 1, oldest), aged(1, 2, oldest - 1), aged(2, 2, oldest - 1)];
    assert_eq!(order("mshr-s+a", &rows), [0, 1, 2]);
    // Ages saturate as they grow, too: at 12, and with an update.
    let queue = [of(9, 1, 1), aged(0, 1, oldest - 10), aged(1, 1, oldest - 9)];
    let queue = queue.map(|request| DramRequest { bursts: 6, ..request });
    let long = [DramRequest { age: 4 * oldest, ..queue[0] }, queue[1], queue[2]];
    assert_eq!(order("mshr-s+a", &long), [9, 0, 1]);
}

#[test]
fn counts_use_the_merges_known_at_service() {
    let queue = [of(0, 1, 40), of(1, 1, 1), of(2, 1, 1), of(3, 2, 1)];
    // The second update is for a request in service and has no effect.
    let updates = [update(5, 2, 3, 0), update(5, 0, 4, 0)];
    let counters = informed("mshr-m", &queue, &updates, Stepping::Events).counters();
    let names: Vec<_> = counters.iter().map(|counter| counter.name).collect();
    assert_eq!(
        (names[0], names[1], names[16]),
        ("dummy_requests", "merge_length_1", "merge_length_16")
    );
    let values: Vec<_> = counters.iter().map(|counter| counter.value).collect();
    assert_eq!(values, [1, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
}

#[test]
fn merges_are_requested_from_the_machine() {
    let needs = |policy| SCHEDULERS.build(policy, &context(&gddr5())).unwrap().needs();
    let expected = |count, early_merges, oldest_merges_first| Needs {
        merges: Some(count),
        early_merges,
        oldest_merges_first,
        ..Needs::default()
    };
    let (all, inter_core) = (CountedMerges::All, CountedMerges::InterCore);
    let reported = EarlyMerges::Reported;
    assert_eq!(needs("mshr-m"), expected(all, reported, false));
    assert_eq!(needs("mshr-s(count=inter-core)"), expected(inter_core, reported, false));
    assert_eq!(needs("mshr-s(early_merges=lost)"), expected(all, EarlyMerges::Lost, false));
    let carried = needs("mshr-s+a(early_merges=carried)");
    assert_eq!(carried, expected(all, EarlyMerges::Carried, true));
}

/// The result is independent of the number of steps.
#[test]
fn updates_have_the_same_effect_with_event_and_cycle_stepping() {
    let mut random = Random(3);
    for _ in 0..20 {
        let requests: Vec<_> = (0..60)
            .map(|id| DramRequest {
                bank: BankId(random.below(4) as u16),
                bursts: 1 + random.below(3) as u16,
                ..of(id, random.below(3) as u32, 1 + random.below(3) as u8)
            })
            .collect();
        let mut updates: Vec<_> = (0..80)
            .map(|_| {
                let id = random.below(60) as u32;
                let (merges, age) = (1 + random.below(16) as u32, random.below(300));
                let bank = requests[id as usize].bank;
                Update { cycle: at(random.below(700)), bank, id, merges, age }
            })
            .collect();
        updates.sort_by_key(|update| update.cycle);
        for policy in ALL {
            let log = |stepping| -> Vec<Command> {
                informed(policy, &requests, &updates, stepping).log().to_vec()
            };
            assert_eq!(log(Stepping::Events), log(Stepping::EveryCycle), "{policy}");
        }
    }
}

/// Returns a lone request, and pairs with more waiting requests; the queue is never empty.
fn competitors() -> Vec<DramRequest> {
    let mut requests = vec![of(0, 0, 1)];
    requests.extend((0..2000).map(|n| of(n + 1, 1 + n / 2, 16)));
    requests
}

/// No bound: the lone request waits as long as rows with higher scores arrive.
#[test]
fn a_request_without_merges_starves() {
    assert_eq!(order("fr-fcfs", &competitors())[0], 0);
    for policy in ["mshr-m", "mshr-s"] {
        assert_eq!(order(policy, &competitors()).last(), Some(&0), "{policy}");
    }
}

/// With age, a request goes to the next row opened once its age has saturated, if no older one
/// waits: the competing requests saturate earlier, but are younger.
#[test]
fn age_ends_starvation_except_by_row_hits() {
    let run = run(&gddr5(), "mshr-s+a", &competitors());
    let lone = run.completions.iter().find(|done| done.id == 0).unwrap();
    let longest_row = 100;
    assert!((1 << 14..(1 << 15) + longest_row).contains(&lone.first_command.number()), "{lone:?}");
    // Row hits go first regardless of age.
    let mut queue = vec![(0, of(0, 2, 1)), (0, of(1, 1, 16))];
    queue.extend((2..40_000).map(|id| (u64::from(id - 2), of(id, 1, 1))));
    let run = run_with(&gddr5(), "mshr-s+a", &queue, Stepping::Events, |_| u32::MAX);
    assert_eq!(run.order().last(), Some(&0));
}
