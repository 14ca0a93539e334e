use super::*;
use crate::scheduler::SCHEDULERS;
use crate::tests::harness::*;
use crate::{Channel, Dram, DramRequest};

fn from(sm: u16, request: DramRequest) -> DramRequest {
    DramRequest { sm, ..request }
}

#[test]
fn with_probability_zero_sources_are_served_round_robin() {
    let requests = [from(0, read(0, 0, 1)), from(0, read(1, 0, 2)), from(1, read(2, 0, 3))];
    assert_eq!(order("sms(p=0)", &requests), [0, 2, 1]);
    assert_eq!(order("fr-fcfs", &requests), [0, 1, 2]);
}

#[test]
fn with_probability_one_the_shortest_job_goes_first() {
    let mut requests: Vec<_> = (0..3).map(|id| from(0, read(id, 0, id))).collect();
    requests.push(from(1, read(3, 0, 9)));
    assert_eq!(order("sms(p=1)", &requests), [3, 0, 1, 2]);
    assert_eq!(order("fr-fcfs", &requests), [0, 1, 2, 3]);
}

#[test]
fn banks_serve_their_fifos_in_order() {
    let requests = [from(0, read(0, 0, 1)), from(1, read(1, 0, 2)), from(2, read(2, 0, 1))];
    assert_eq!(order("sms(p=0)", &requests), [0, 1, 2]);
    assert_eq!(order("fr-fcfs", &requests), [0, 2, 1]);
}

/// Source 0 sends two requests to a row and one to another, so its first batch has two.
#[test]
fn a_batch_is_a_run_of_requests_to_one_row() {
    let requests = [
        from(0, read(0, 0, 1)),
        from(0, read(1, 0, 1)),
        from(0, read(2, 0, 2)),
        from(1, read(3, 0, 3)),
    ];
    assert_eq!(order("sms(p=0)", &requests), [0, 1, 3, 2]);
    assert_eq!(order("fr-fcfs", &requests), [0, 1, 2, 3]);
    // The same row number in another bank is another row.
    let requests = [
        from(0, read(0, 0, 1)),
        from(0, read(1, 1, 1)),
        from(0, read(2, 0, 1)),
        from(1, read(3, 0, 3)),
    ];
    assert_eq!(order("sms(p=0)", &requests), [0, 1, 3, 2]);
}

/// Returns the cycle in which the only request, or the first of several, starts.
fn first(dram: &Dram, policy: &str, requests: &[DramRequest]) -> u64 {
    run(dram, policy, requests).log[0].cycle
}

#[test]
fn a_batch_is_ready_when_it_cannot_grow_or_reaches_its_age() {
    let (alone, same) = ([read(0, 0, 1)], [read(0, 0, 1), read(1, 0, 1)]);
    assert_eq!(first(&gddr5(), "sms(bypass=0)", &alone), 200);
    assert_eq!(first(&gddr5(), "sms(bypass=0,age=50)", &alone), 50);
    // The FIFO is full; the channel is full; the next request goes elsewhere.
    assert_eq!(first(&gddr5(), "sms(bypass=0,fifo=1)", &alone), 0);
    assert_eq!(first(&gddr5(), "sms(bypass=0,fifo=2)", &same), 0);
    assert_eq!(first(&gddr5(), "sms(bypass=0,fifo=3)", &same), 200);
    assert_eq!(first(&Dram { read_queue: 2, ..gddr5() }, "sms(bypass=0)", &same), 0);
    assert_eq!(first(&gddr5(), "sms(bypass=0)", &[read(0, 0, 1), read(1, 0, 2)]), 0);
}

/// If requests free their entries on assignment to a bank, three fit in a channel of two entries.
#[test]
fn a_channel_is_full_when_its_entries_are_taken() {
    let requests = [(0, read(0, 0, 1)), (0, read(1, 0, 1)), (1, from(1, read(2, 1, 1)))];
    let first = |read_queue| {
        let dram = Dram { read_queue, picks_per_cycle: 1, ..gddr5() };
        let run =
            run_with(&dram, "sms(bypass=0,fifo=3)", &requests, Stepping::Events, |_| u32::MAX);
        run.log.iter().find(|command| command.bank == 1).unwrap().cycle
    };
    assert!(first(2) < 10);
    // Both batches wait for their age of 200 cycles, and activations are 6 apart.
    assert_eq!(first(4), 200 + 6);
}

#[test]
fn under_light_load_every_batch_is_ready() {
    let requests = [from(0, read(0, 0, 1)), from(1, read(1, 1, 1))];
    assert_eq!(first(&gddr5(), "sms(bypass=2)", &requests), 200);
    assert_eq!(first(&gddr5(), "sms(bypass=3)", &requests), 0);
}

/// Bank 1 receives its request in cycle 0, bank 0 in cycle 1.
#[test]
fn a_cycle_moves_one_request() {
    let requests = [read(0, 1, 1), read(1, 0, 1)];
    assert_eq!(commands(&gddr5(), "sms", &requests)[..2], ["Act 1:1 @0", "Act 0:1 @6"]);
    assert_eq!(commands(&gddr5(), "fr-fcfs", &requests)[..2], ["Act 0:1 @0", "Act 1:1 @6"]);
}

/// A second step in the same cycle moves no further request.
#[test]
fn a_second_step_in_a_cycle_moves_no_request() {
    let mut channel = channel(&gddr5(), "sms(fifo=2)");
    (0..2).for_each(|id| channel.push(DramCycle::ZERO, read(id, id as u16, 1)));
    for _ in 0..2 {
        channel.step(DramCycle::ZERO, 9);
    }
    channel.push(DramCycle::ZERO, read(2, 2, 1));
    assert!(!channel.accepts(&read(3, 3, 1)));
}

/// With one entry, the third request of bank 0 moves when the second is in service, and bank 1's
/// after it.
#[test]
fn a_full_bank_blocks_later_batches() {
    let requests = [read(0, 0, 1), read(1, 0, 2), read(2, 0, 3), read(3, 1, 1)];
    let activated = |policy: &str| {
        let run = run(&gddr5(), policy, &requests);
        let bank_one = run.log.iter().find(|command| command.bank == 1);
        bank_one.map(|command| command.cycle)
    };
    assert_eq!(activated("sms(bank_fifo=1)"), Some(30));
    assert_eq!(activated("sms"), Some(6));
}

#[test]
fn a_source_is_limited_by_its_fifo() {
    let mut channel = channel(&gddr3(), "sms(fifo=2)");
    (0..2).for_each(|id| channel.push(DramCycle::ZERO, from(3, read(id, 0, id))));
    assert!(!channel.accepts(&from(3, read(2, 1, 0))));
    assert!(channel.accepts(&from(4, read(2, 1, 0))));
    let without_sm = from(DramRequest::NO_SOURCE, write(2, 1, 0));
    assert!(channel.accepts(&without_sm));
    (2..4).for_each(|id| channel.push(DramCycle::ZERO, DramRequest { id, ..without_sm }));
    assert!(!channel.accepts(&without_sm));
    // A request in its bank's FIFO has freed its entry in the source's FIFO.
    channel.step(DramCycle::ZERO, 9);
    assert!(channel.accepts(&from(3, read(4, 1, 0))));
}

/// At 10 source 0 sends one request and source 1 two; source 0 has two more in bank 0's FIFO.
#[test]
fn a_job_counts_the_requests_of_all_stages() {
    let requests = [
        (0, from(0, read(0, 0, 1))),
        (0, from(0, read(1, 0, 2))),
        (0, from(0, read(2, 0, 3))),
        (10, from(0, read(3, 0, 4))),
        (10, from(1, read(4, 0, 5))),
        (10, from(1, read(5, 0, 6))),
    ];
    assert_eq!(timed_by_events("sms(p=1)", &requests).order(), [0, 1, 2, 4, 5, 3]);
}

/// Sources 0 and 1 have one waiting request each; source 0 also has one in service, so its job is
/// longer.
#[test]
fn requests_in_service_count() {
    let requests = [
        (0, from(0, DramRequest { bursts: 40, ..read(0, 5, 1) })),
        (1, from(5, read(1, 6, 1))),
        (20, from(0, read(2, 0, 1))),
        (20, from(1, read(3, 0, 2))),
    ];
    let order = timed_by_events("sms(p=1)", &requests).order();
    let place = |id| order.iter().position(|&other| other == id);
    assert!(place(3) < place(2), "{order:?}");
}

#[test]
fn draws_have_their_probability() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let draws = (0..10_000).filter(|_| comes_true(0.9, &mut random)).count();
    assert!((8900..9100).contains(&draws), "{draws}");
    assert!((0..1000).all(|_| comes_true(1.0, &mut random)));
    assert!(!(0..1000).any(|_| comes_true(0.0, &mut random)));
}

/// Every channel has its own sequence of random numbers.
#[test]
fn channels_draw_differently() {
    let context = SchedulerContext { dram: gddr5(), ..context(&gddr5()) };
    let order = |mut channel: Channel| {
        for id in 0..60u32 {
            let sm = (id % 3).pow(2) as u16;
            channel.push(DramCycle::ZERO, from(sm, read(id, (id / 15) as u16, id)));
        }
        let (mut now, mut order) = (DramCycle::ZERO, Vec::new());
        while let Some(next) = channel.step(now, u32::MAX) {
            order.extend(channel.take_completions().map(|done| done.id));
            now = next;
        }
        order
    };
    let channels = Channel::family(&context, "sms(p=0.5)").unwrap();
    let orders: Vec<_> = channels.into_iter().take(2).map(order).collect();
    assert_eq!(orders[0].len(), 60);
    assert_ne!(orders[0], orders[1]);
}

/// Nine sources with five rows each, then one with two: a round robin lets one batch of each
/// precede its first.
#[test]
fn the_round_robin_bounds_the_wait() {
    let mut requests: Vec<_> = (0..45).map(|id| from((id % 9) as u16, read(id, 0, id))).collect();
    requests.extend([from(9, read(45, 0, 98)), from(9, read(46, 0, 99))]);
    assert_eq!(order("sms(p=0)", &requests).iter().position(|&id| id == 45), Some(9));
}

/// No bound with random choice: a longer job waits while shorter ones arrive.
#[test]
fn short_jobs_starve_a_long_one() {
    let mut requests = vec![(0, from(9, read(0, 0, 0)))];
    requests.extend((1..5).map(|id| (0, from(0, read(id, 0, id)))));
    // Arrivals at the rate at which the bank serves them, from sources without other requests.
    requests.extend(
        (5..60).map(|id| (u64::from(id - 4) * 40 - 20, from((id % 8) as u16 + 1, read(id, 0, id)))),
    );
    let order = |policy| timed_by_events(policy, &requests).order();
    assert_eq!(order("sms(p=1,bank_fifo=1)")[58..], [3, 4]);
    // Round robin: its fourth batch waits for at most four of each of the eight others.
    assert!(order("sms(p=0,bank_fifo=1)")[..36].contains(&4));
}

#[test]
fn batches_are_counted() {
    let mut channel = channel(&gddr5(), "sms(p=0)");
    [1, 1, 1, 2].into_iter().enumerate().for_each(|(id, row)| {
        channel.push(DramCycle::ZERO, read(id as u32, 0, row));
    });
    let mut now = DramCycle::ZERO;
    while let Some(next) = channel.step(now, u32::MAX) {
        now = next;
    }
    let count = |name, value| Counter { name, value };
    assert_eq!(channel.counters(), [count("batches", 2), count("batched_requests", 4)]);
}

#[test]
fn parameters_out_of_range_are_refused() {
    for text in ["sms(p=1.1)", "sms(fifo=0)", "sms(bank_fifo=0)", "sms(age=-1)", "sms(q=1)"] {
        assert!(SCHEDULERS.build(text, &context(&gddr5())).is_err(), "{text}");
    }
}
