use super::*;
use crate::tests::harness::*;
use crate::{Channel, Dram};

/// Two row hits of SM 0 after its first request, while SM 1 waits for the bank: SM 1 is slowed
/// most.
#[test]
fn the_most_slowed_source_goes_before_row_hits() {
    let mut requests: Vec<_> = (0..6).map(|id| from(0, id, 0, 1)).collect();
    requests.push(from(1, 6, 0, 2));
    assert_eq!(order_unlike_fr_fcfs("stfm", &requests), [0, 6, 1, 2, 3, 4, 5]);
}

#[test]
fn the_most_slowed_source_goes_before_older_requests() {
    let requests =
        [from(0, 0, 0, 1), from(0, 1, 0, 2), from(0, 2, 0, 3), from(1, 3, 0, 4), from(1, 4, 0, 5)];
    assert_eq!(order_unlike_fr_fcfs("stfm", &requests)[1], 3);
}

/// SM 1 has waited for bank 0 when the fourth row can be opened, at 18: the row of its other
/// request.
#[test]
fn banks_of_the_most_slowed_source_go_first() {
    let mut requests = vec![from(0, 0, 0, 1), from(1, 1, 0, 2)];
    requests.extend((2..6).map(|id| from(0, id, id as u16, 1)));
    requests.push(from(1, 6, 6, 1));
    assert_eq!(order_unlike_fr_fcfs("stfm", &requests)[..4], [0, 2, 3, 6]);
}

#[test]
fn a_source_alone_is_served_as_by_fr_fcfs() {
    let requests: Vec<_> = (0..40).map(|id| from(0, id, (id % 3) as u16, id % 4)).collect();
    let run = |policy| run(&gddr5(), policy, &requests);
    assert_eq!(run("stfm").order(), run("fr-fcfs").order());
}

#[test]
fn alpha_is_the_tolerated_ratio_of_slowdowns() {
    let mut requests: Vec<_> = (0..6).map(|id| from(0, id, 0, 1)).collect();
    requests.push(from(1, 6, 0, 2));
    let order = run(&gddr5(), "stfm(alpha=1000)", &requests).order();
    assert_eq!(order, run(&gddr5(), "fr-fcfs", &requests).order());
}

/// Returns the slowdowns of SMs 0 and 1 at `now`.
fn slowdowns(dram: &Dram, options: Options, requests: &[(u64, DramRequest)], now: u64) -> [f64; 2] {
    let context = context(dram);
    let slowdowns = options.slowdowns(&context);
    let mut channel =
        Channel::new(dram, Box::new(Stfm::new(options, &context, &slowdowns))).unwrap();
    for cycle in 0..=now {
        let due = requests.iter().filter(|(at, _)| *at == cycle);
        due.for_each(|(_, request)| channel.push(at(cycle), *request));
        channel.step(at(cycle), u32::MAX);
    }
    let slowdowns = slowdowns.get();
    [0, 1].map(|source| slowdowns.slowdown(source, at(now)))
}

/// SM 0 occupies the bank from 0 for tRCD and a column command, 12 + 3; of 25 cycles SM 1 would
/// have waited all but 15 / gamma.
#[test]
fn service_delays_the_sources_waiting_for_the_bank() {
    let requests = [(0, from(0, 0, 0, 1)), (0, from(1, 1, 0, 2)), (0, from(1, 2, 0, 3))];
    let with = |gamma| slowdowns(&gddr5(), Options { gamma, ..Options::default() }, &requests, 25);
    assert_eq!(with(1.0), [1.0, 25.0 / (25.0 - 15.0)]);
    assert_eq!(with(3.0), [1.0, 25.0 / (25.0 - 5.0)]);
}

#[test]
fn other_waiting_banks_hide_the_delay() {
    let mut requests = vec![(0, from(0, 0, 0, 1)), (0, from(1, 1, 0, 2))];
    requests.push((0, from(1, 2, 1, 1)));
    // SM 1 waits in banks 0 and 1 at 0: 15 / (1 * 2). Its own service in bank 1 costs it nothing.
    let options = Options { gamma: 1.0, ..Options::default() };
    assert_eq!(slowdowns(&gddr5(), options, &requests, 25)[1], 25.0 / 17.5);
}

/// SM 1 had row 1 open; SM 0 opened row 2, so SM 1 pays tRP + tRCD of 24 instead of a row hit.
#[test]
fn closing_a_row_delays_the_source_that_opened_it() {
    let requests = [(0, from(1, 0, 0, 1)), (100, from(0, 1, 0, 2)), (200, from(1, 2, 0, 1))];
    // Alone: 12 cycles of the first request, and 30 of the second.
    let [first, second] = slowdowns(&gddr5(), Options::default(), &requests, 230);
    assert_eq!(second, (12.0 + 24.0) / (12.0 + 24.0 - 24.0));
    // SM 0 found an open row where it would have found none alone: tRP of 12 of its 24 cycles.
    assert_eq!(first, 24.0 / 12.0);
}

/// Bank 0 opens a row for SM 0 at 20, ahead of the row hit of SM 1 in bank 1: two data cycles.
#[test]
fn the_data_bus_delays_sources_with_row_hits_elsewhere() {
    let requests = |row| [(0, from(1, 0, 1, 1)), (20, from(0, 1, 0, 1)), (20, from(1, 2, 1, row))];
    let of = |row| slowdowns(&gddr5(), Options::default(), &requests(row), 20)[1];
    assert_eq!((of(1), of(2)), (12.0 / 10.0, 1.0));
}

/// A write delays others, but no source waits for it.
#[test]
fn writes_are_not_slowed_down() {
    let requests = [
        (0, DramRequest { sm: 0, ..write(0, 0, 1) }),
        (0, from(1, 1, 0, 2)),
        (0, DramRequest { sm: 0, ..write(2, 0, 2) }),
    ];
    let [writer, reader] = slowdowns(&gddr3(), Options::default(), &requests, 40);
    assert_eq!(writer, 1.0);
    assert!(reader > 1.0);
}

#[test]
fn slowdowns_restart_every_interval() {
    let requests = [(0, from(0, 0, 0, 1)), (0, from(1, 1, 0, 2)), (0, from(1, 2, 0, 3))];
    let with = |interval| {
        slowdowns(&gddr5(), Options { interval, gamma: 1.0, ..Options::default() }, &requests, 25)
    };
    // The measurement of SM 0 from cycle 0 is discarded when the interval ends, at 12.
    assert_eq!(with(12), [1.0, 1.0]);
    assert_eq!(with(26), [1.0, 25.0 / 10.0]);
}

/// Behind another source a request waits until its slowdown is too large; behind row hits of its
/// own source it waits as long as they arrive: there is no bound.
#[test]
fn a_request_is_starved_by_its_own_source_only() {
    let place = |victim: u16| {
        let hits = (0..40).map(|id| from(0, id, 0, 1));
        let requests: Vec<_> = hits.chain([from(victim, 40, 0, 2)]).collect();
        run(&gddr5(), "stfm", &requests).order().iter().position(|&id| id == 40)
    };
    assert_eq!((place(1), place(0)), (Some(1), Some(40)));
}

#[test]
fn counts_favoured_requests_and_changes() {
    let mut requests: Vec<_> = (0..6).map(|id| from(0, id, 0, 1)).collect();
    requests.push(from(1, 6, 0, 2));
    let run = run(&gddr5(), "stfm", &requests);
    // SM 1 is favoured from the end of the first request until it waits no longer.
    assert_eq!((run.counted("favoured_requests"), run.counted("favour_changes")), (1, 2));
}

#[test]
fn parameters_out_of_range_are_refused() {
    assert_refused(&["stfm(alpha=0.9)", "stfm(gamma=0)", "stfm(interval=0)", "stfm(x=1)"]);
}
