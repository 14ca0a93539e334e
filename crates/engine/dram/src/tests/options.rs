//! Page policies, the organisation of the queues, write drain, and the variants of FR-FCFS: exact
//! commands and orders.

use super::harness::*;
use crate::{Dram, DramRequest, QueueOrganisation};

fn timed(dram: &Dram, policy: &str, requests: &[(u64, DramRequest)]) -> Run {
    run_with(dram, policy, requests, Stepping::Events, |_| u32::MAX)
}

fn with_page(page: &str) -> Dram {
    Dram { page: page.to_owned(), ..gddr5() }
}

/// Returns the commands of a read to a row without other requests, and of one to the same row much
/// later.
fn lonely(page: &str) -> Vec<String> {
    timed(&with_page(page), "fr-fcfs", &[(0, read(0, 0, 1)), (200, read(1, 0, 1))]).commands()
}

#[test]
fn an_open_page_stays_open() {
    assert_eq!(lonely("open"), ["Act 0:1 @0", "Rd 0:1 @12", "Rd 0:1 @200"]);
}

#[test]
fn a_timeout_closes_a_row_n_cycles_after_its_last_use() {
    let commands = ["Act 0:1 @0", "Rd 0:1 @12", "Pre 0:1 @62", "Act 0:1 @200", "Rd 0:1 @212"];
    assert_eq!(lonely("timeout")[..5], commands);
    assert_eq!(lonely("timeout(n=60)")[2], "Pre 0:1 @72");
}

#[test]
fn a_closed_adaptive_page_is_precharged_once_nothing_waits_for_it() {
    let commands = ["Act 0:1 @0", "Rd 0:1 @12", "Pre 0:1 @28", "Act 0:1 @200", "Rd 0:1 @212"];
    assert_eq!(lonely("closed-adaptive")[..5], commands);
    // A hit that arrives before the precharge could issue is still served.
    let requests = [(0, read(0, 0, 1)), (20, read(1, 0, 1))];
    let run = timed(&with_page("closed-adaptive"), "fr-fcfs", &requests);
    assert_eq!(run.commands()[..3], ["Act 0:1 @0", "Rd 0:1 @12", "Rd 0:1 @20"]);
}

#[test]
fn a_closed_page_is_closed_by_its_last_column_command() {
    let commands = ["Act 0:1 @0", "Rda 0:1 @12", "Act 0:1 @200", "Rda 0:1 @212"];
    assert_eq!(lonely("closed"), commands);
    // A hit that waits when the first column command issues is served before the row closes.
    let hits = [read(0, 0, 1), read(1, 0, 1)];
    let commands = run(&with_page("closed"), "fr-fcfs", &hits).commands();
    assert_eq!(commands, ["Act 0:1 @0", "Rd 0:1 @12", "Rda 0:1 @15"]);
}

#[test]
fn a_capped_page_closes_after_n_column_commands_despite_waiting_hits() {
    let hits: Vec<DramRequest> = (0..5).map(|id| read(id, 0, 1)).collect();
    let commands = run(&with_page("closed-cap(n=3)"), "fr-fcfs", &hits).commands();
    let kinds: Vec<&str> = commands.iter().map(|c| c.split(' ').next().unwrap()).collect();
    assert_eq!(kinds, ["Act", "Rd", "Rd", "Rda", "Act", "Rd", "Rda"]);
    assert_eq!(run(&with_page("closed-cap"), "fr-fcfs", &hits).log.len(), 7, "n = 4");
}

/// A write to another row of bank 0 waits while reads of bank 1 are served.
#[test]
fn an_open_adaptive_page_closes_for_a_conflict_only() {
    let reads = (2..16).map(|id| read(id, 1, 1));
    let conflict: Vec<DramRequest> =
        [read(0, 0, 1), write(1, 0, 2)].into_iter().chain(reads).collect();
    let without = [&conflict[..1], &conflict[2..]].concat();
    let closes = |page: &str, requests: &[DramRequest]| {
        let log = run(&with_page(page), "fr-fcfs", requests).log;
        log.iter().any(|c| c.bank == 0 && c.kind.closes_row() && c.cycle == 12)
    };
    assert!(closes("open-adaptive", &conflict));
    assert!(!closes("open", &conflict));
    assert!(!closes("open-adaptive", &without));
}

#[test]
fn a_scheduler_may_replace_the_page_policy() {
    let requests = [(0, read(0, 0, 1))];
    let run = timed(&gddr5(), "fr-fcfs(page=timeout(n=20))", &requests);
    assert_eq!(run.commands(), ["Act 0:1 @0", "Rd 0:1 @12"]);
    let again = [(0, read(0, 0, 1)), (100, read(1, 0, 1))];
    let run = timed(&gddr5(), "fr-fcfs(page=timeout(n=20))", &again);
    assert_eq!(run.commands()[2], "Pre 0:1 @32");
}

/// Conflicts arrive in two banks together, and hits a cycle later.
#[test]
fn assignments_are_final_and_limited_per_cycle() {
    let open = [(0, read(0, 0, 1)), (0, read(1, 1, 1))];
    let late = [(20, read(2, 0, 2)), (20, read(3, 1, 2)), (21, read(4, 0, 1)), (21, read(5, 1, 1))];
    let requests = [open, [late[0], late[1]], [late[2], late[3]]].concat();
    let first_of = |picks: u32, ids: [u32; 2]| {
        let dram = Dram { picks_per_cycle: picks, ..gddr5() };
        let order = timed(&dram, "fr-fcfs", &requests).order();
        order.into_iter().find(|id| ids.contains(id)).unwrap()
    };
    assert_eq!([first_of(0, [2, 4]), first_of(0, [3, 5])], [4, 5], "hits bypass the conflicts");
    assert_eq!([first_of(2, [2, 4]), first_of(2, [3, 5])], [2, 3], "both conflicts are assigned");
    assert_eq!([first_of(1, [2, 4]), first_of(1, [3, 5])], [2, 5], "one a cycle");
    let order = timed(&gddr5(), "fr-fcfs(picks_per_cycle=2)", &requests).order();
    assert!(order.iter().position(|&id| id == 2) < order.iter().position(|&id| id == 4));
}

#[test]
fn a_queue_per_bank_reserves_the_entries_of_other_banks() {
    let dram = Dram { read_queue: 32, queue_organisation: QueueOrganisation::PerBank, ..gddr5() };
    let mut channel = channel(&dram, "fr-fcfs");
    (0..2).for_each(|id| channel.push(DramCycle::ZERO, read(id, 3, 0)));
    assert!(!channel.accepts(&read(2, 3, 0)));
    assert!(channel.accepts(&read(2, 4, 0)));
    (0..7).for_each(|id| channel.push(DramCycle::ZERO, write(id, 3, 0)));
    assert!(channel.accepts(&write(7, 3, 0)), "eight writes a bank of 128");
}

/// Writes are served because no read waits; a read arrives after the first.
#[test]
fn a_drain_serves_its_minimum_before_a_read() {
    let place_of_read = |least: u32| {
        let dram = Dram { write_min_drain: least, ..gddr5() };
        let mut requests: Vec<_> = (0..8).map(|id| (0, write(id, id as u16, 1))).collect();
        requests.push((2, read(8, 9, 1)));
        timed(&dram, "fr-fcfs", &requests).order().iter().position(|&id| id == 8).unwrap()
    };
    // A write in service when the read arrives is finished first.
    assert_eq!([0, 4, 8].map(place_of_read), [1, 4, 8]);
}

/// Row 1 has been open since 0 and may be precharged at 28; its hits issue every 3 cycles from 15
/// on.
#[test]
fn first_ready_closes_a_row_that_hits_wait_for() {
    let mut requests = vec![(0, read(0, 0, 1)), (1, read(1, 0, 2))];
    requests.extend((2..12).map(|id| (2, read(id, 0, 1))));
    let place = |policy: &str| {
        timed(&gddr5(), policy, &requests).order().iter().position(|&id| id == 1).unwrap()
    };
    assert_eq!(place("fr-fcfs"), 11);
    assert_eq!(place("fr-fcfs(ready=first-ready)"), 6);
}

#[test]
fn cap_counts_selects_the_count() {
    // Row 1 is opened by 0; 1 and 2 go to other rows; four hits to row 1, then six to row 2.
    let rows = [1, 2, 3, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2];
    let requests: Vec<DramRequest> = (0..).zip(rows).map(|(id, row)| read(id, 0, row)).collect();
    let order = |counts: &str| {
        let policy = format!("fr-fcfs(row_hit_cap=4,cap_counts={counts})");
        run(&gddr5(), &policy, &requests).order()
    };
    let since_activate = order("hits-since-activate");
    assert_eq!(since_activate[..5], [0, 3, 4, 5, 1], "request 0 is one of the four");
    let consecutive = order("consecutive-hits-while-older-waits");
    assert_eq!(consecutive[..11], [0, 3, 4, 5, 6, 1, 7, 8, 9, 10, 2]);
    assert_eq!(run(&gddr5(), "fr-fcfs(row_hit_cap=4)", &requests).order(), consecutive);
    let bypasses = order("bypasses-of-the-oldest");
    assert_eq!(bypasses[..7], [0, 3, 4, 5, 6, 1, 2], "request 2 was bypassed four times as well");
}

#[test]
fn banks_may_be_ordered_by_age() {
    let requests = [read(0, 3, 1), read(1, 1, 1)];
    let first = |policy: &str| run(&gddr5(), policy, &requests).commands().remove(0);
    assert_eq!(first("fr-fcfs"), "Act 1:1 @0");
    assert_eq!(first("fr-fcfs(banks=oldest)"), "Act 3:1 @0");
}

const STEPPING: &str = "fr-fcfs(banks=stepping,picks_per_cycle=1)";

/// Two banks of one group, so that the column commands of both may issue in the same cycles, tCCDL
/// apart.
#[test]
fn the_stepping_pointer_advances_with_assignments_not_column_commands() {
    let in_bank = |ids: std::ops::Range<u32>, bank| ids.map(move |id| read(id, bank, 1));
    let requests: Vec<_> = in_bank(0..15, 2).chain(in_bank(15..18, 6)).collect();
    let run = run(&gddr5(), STEPPING, &requests);
    // Bank 2 is assigned a request and opened: the pointer is at 3; likewise bank 6, tRRDL later:
    // at 7. The first column command may issue at 12; each leaves the pointer unchanged, and the
    // next assignment advances it by one bank. It is at 10 when bank 6 may issue too, and past both
    // until the twelfth has moved it past 15 to 3.
    let order: Vec<u32> = (0..12).chain(15..18).chain(12..15).collect();
    assert_eq!(run.order(), order);
    assert_eq!(run.commands()[..3], ["Act 2:1 @0", "Act 6:1 @7", "Rd 2:1 @12"]);
    assert_eq!(run.commands()[14], "Rd 6:1 @48");
    let round_robin =
        super::harness::run(&gddr5(), "fr-fcfs(picks_per_cycle=1)", &requests).order();
    assert_eq!(round_robin[..6], [0, 1, 2, 15, 3, 16], "otherwise the two alternate");
}

#[test]
fn the_stepping_pointer_moves_past_a_precharged_bank() {
    let requests =
        [(0, read(0, 2, 1)), (100, read(1, 2, 2)), (101, read(2, 1, 1)), (101, read(3, 3, 1))];
    // The assignment of cycle 100 moves the pointer to 4, and the PRE back to 3, whose request goes
    // first.
    let commands = timed(&gddr5(), STEPPING, &requests).commands();
    let expected = ["Act 2:1 @0", "Rd 2:1 @12", "Pre 2:1 @100", "Act 3:1 @101", "Act 1:1 @107"];
    assert_eq!(commands[..5], expected);
}
