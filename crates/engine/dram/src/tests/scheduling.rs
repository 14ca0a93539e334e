//! Short request lists and the exact commands that follow.

use super::harness::*;
use crate::scheduler::SCHEDULERS;
use crate::{Dram, DramRequest, RowOutcome};

/// A hit, a miss and a conflict in isolation have exactly their latencies.
#[test]
fn latencies_of_hit_miss_and_conflict() {
    for policy in policies().filter(|policy| !policy.contains("closed")) {
        let requests = [(0, read(0, 0, 1)), (100, read(1, 0, 1)), (200, read(2, 0, 2))];
        let run = timed(&gddr5(), policy, &requests);
        let expected = ["Act 0:1 @0", "Rd 0:1 @12", "Rd 0:1 @100", "Pre 0:1 @200", "Act 0:2 @212"];
        assert_eq!(run.commands()[..5], expected);
        let latency: Vec<u64> = run.completions.iter().map(|c| c.end.since(c.arrived)).collect();
        // tRCD + CL + burst, CL + burst, tRP + tRCD + CL + burst.
        assert_eq!(latency, [12 + 12 + 2, 12 + 2, 12 + 12 + 12 + 2], "{policy}");
        let outcomes: Vec<_> = run.completions.iter().map(|c| c.row_outcome).collect();
        assert_eq!(outcomes, [RowOutcome::Miss, RowOutcome::Hit, RowOutcome::Conflict]);
        let first: Vec<u64> = run.completions.iter().map(|c| c.first_command.number()).collect();
        assert_eq!(first, [0, 100, 200]);
    }
}

#[test]
fn fcfs_finishes_a_request_before_starting_the_next() {
    let requests = [read(0, 0, 1), read(1, 1, 1), read(2, 0, 1)];
    assert_eq!(
        commands(&gddr5(), "fcfs", &requests),
        ["Act 0:1 @0", "Rd 0:1 @12", "Act 1:1 @13", "Rd 1:1 @25", "Rd 0:1 @27"]
    );
}

/// In order across queues too: no command of a write issues while a read is in service.
#[test]
fn fcfs_with_two_queues_keeps_one_request_in_service() {
    let mut dram = gddr5();
    (dram.write_high_watermark, dram.write_low_watermark) = (1, 0);
    let requests = [(0, read(0, 0, 1)), (5, write(1, 1, 1)), (5, write(2, 2, 1))];
    let run = timed(&dram, "fcfs", &requests);
    assert_eq!(
        run.commands(),
        ["Act 0:1 @0", "Rd 0:1 @12", "Act 1:1 @13", "Wr 1:1 @24", "Act 2:1 @25", "Wr 2:1 @34"]
    );
}

fn one_queue(mut dram: Dram) -> Dram {
    (dram.write_queue, dram.write_high_watermark, dram.write_low_watermark) = (0, 0, 0);
    dram
}

#[test]
fn fcfs_with_overlap_is_for_one_queue_without_refresh() {
    let refused = |dram: &Dram| SCHEDULERS.build("fcfs(banks=overlap)", &context(dram)).is_err();
    assert!(refused(&gddr5()) && !refused(&one_queue(gddr5())));
    let mut refreshed = one_queue(gddr5());
    (refreshed.timing.trefi, refreshed.timing.trfc) = (1000, 100);
    assert!(refused(&refreshed));
}

/// The third request waits for its bank, and the fourth, whose bank is idle, for the third.
#[test]
fn fcfs_with_overlap_dispatches_in_order() {
    let requests = [read(0, 0, 1), read(1, 1, 1), read(2, 0, 2), read(3, 2, 1)];
    assert_eq!(
        commands(&one_queue(gddr5()), "fcfs(banks=overlap)", &requests),
        [
            "Act 0:1 @0",
            "Act 1:1 @6",
            "Rd 0:1 @12",
            "Act 2:1 @14",
            "Rd 1:1 @18",
            "Rd 2:1 @26",
            "Pre 0:1 @28",
            "Act 0:2 @40",
            "Rd 0:2 @52"
        ]
    );
}

/// If requests are assigned to banks, their entries are free from then on; otherwise when they
/// complete.
#[test]
fn assignment_to_a_bank_frees_the_entry() {
    let mut dram = one_queue(gddr5());
    dram.read_queue = 1;
    let policies = [
        ("fr-fcfs", false),
        ("fcfs", false),
        ("fr-fcfs(picks_per_cycle=1)", true),
        ("fcfs(banks=overlap)", true),
    ];
    for (policy, leaves) in policies {
        let mut channel = channel(&dram, policy);
        channel.push(DramCycle::ZERO, read(0, 0, 1));
        assert!(!channel.accepts(&read(1, 1, 1)), "{policy}");
        channel.step(DramCycle::ZERO, u32::MAX);
        for bank in [0, 1] {
            assert_eq!(channel.accepts(&read(1, bank, 1)), leaves, "{policy}, bank {bank}");
        }
    }
}

#[test]
fn banked_fifo_overlaps_banks_but_keeps_their_order() {
    let requests = [read(0, 0, 1), read(1, 1, 1), read(2, 0, 2), read(3, 0, 1)];
    assert_eq!(
        commands(&gddr5(), "banked-fifo", &requests),
        [
            "Act 0:1 @0",
            "Act 1:1 @6",
            "Rd 0:1 @12",
            "Rd 1:1 @18",
            "Pre 0:1 @28",
            "Act 0:2 @40",
            "Rd 0:2 @52",
            "Pre 0:2 @68",
            "Act 0:1 @80",
            "Rd 0:1 @92"
        ]
    );
}

/// A queue of 32 has eight entries for each of four banks.
#[test]
fn banked_fifo_divides_the_queue() {
    let dram = gddr3();
    let mut channel = channel(&dram, "banked-fifo");
    (0..8).for_each(|id| channel.push(DramCycle::ZERO, read(id, 2, 0)));
    assert!(!channel.accepts(&read(8, 2, 0)));
    assert!(channel.accepts(&read(8, 1, 0)));
    let small = Dram { read_queue: 3, ..gddr3() };
    let error = SCHEDULERS.build("banked-fifo", &context(&small)).err().unwrap();
    assert_eq!(
        error.to_string(),
        "dram_scheduler `banked-fifo` does not fit the machine: `dram.read_queue` = 3 is not valid: \
         expected at least one entry for each of the 4 banks"
    );
}

#[test]
fn other_policies_share_the_queue() {
    for policy in ["fcfs", "fr-fcfs"] {
        let mut shared = channel(&gddr3(), policy);
        (0..32).for_each(|id| shared.push(DramCycle::ZERO, read(id, 2, 0)));
        assert!(!shared.accepts(&read(32, 1, 0)));
        let mut split = channel(&gddr5(), policy);
        (0..64).for_each(|id| split.push(DramCycle::ZERO, read(id, 2, 0)));
        assert!(!split.accepts(&read(64, 1, 0)));
        assert!(split.accepts(&write(64, 1, 0)));
    }
}

/// Yuan's Figure 4: rows A A against A B A B.
#[test]
fn fr_fcfs_serves_row_hits_first() {
    let requests = [read(0, 0, 1), read(1, 0, 2), read(2, 0, 1), read(3, 0, 2)];
    assert_eq!(
        commands(&gddr5(), "fr-fcfs", &requests),
        [
            "Act 0:1 @0",
            "Rd 0:1 @12",
            "Rd 0:1 @15",
            "Pre 0:1 @28",
            "Act 0:2 @40",
            "Rd 0:2 @52",
            "Rd 0:2 @55"
        ]
    );
    assert_eq!(run(&gddr5(), "fr-fcfs", &requests).order(), [0, 2, 1, 3]);
    assert_eq!(run(&gddr5(), "banked-fifo", &requests).order(), [0, 1, 2, 3]);
}

/// Returns a stream of hits with one older conflict.
fn starving() -> Vec<DramRequest> {
    let mut requests: Vec<_> = (0..20).map(|id| read(id, 0, 1)).collect();
    requests[1].row.0 = 2;
    requests
}

#[test]
fn a_cap_serves_the_oldest_after_a_number_of_hits() {
    let place =
        |policy: &str| run(&gddr5(), policy, &starving()).order().iter().position(|&id| id == 1);
    assert_eq!(place("fr-fcfs"), Some(19));
    assert_eq!(place("fr-fcfs(row_hit_cap=1)"), Some(2));
    assert_eq!(place("fr-fcfs(row_hit_cap=4)"), Some(5));
    // Row 2 is served after 0 and four that bypassed it; then the rest of row 1.
    let order = run(&gddr5(), "fr-fcfs(row_hit_cap=4)", &starving()).order();
    assert_eq!(order[..8], [0, 2, 3, 4, 5, 1, 6, 7]);
}

/// Hits every 3 cycles from 12 on; at 30 the conflict has waited 30.
#[test]
fn a_starvation_limit_bounds_the_wait_of_the_oldest() {
    let run = run(&gddr5(), "fr-fcfs(starvation_limit=30)", &starving());
    let at = run.order().iter().position(|&id| id == 1);
    assert_eq!(at, Some(6));
    assert!(run.commands().contains(&"Pre 0:1 @30".to_owned()));
}

#[test]
fn a_closed_page_is_precharged_when_no_hit_is_queued() {
    let requests = [(0, read(0, 0, 1)), (0, read(1, 0, 1)), (100, read(2, 0, 1))];
    let run = timed(&gddr5(), "fr-fcfs(page=closed)", &requests);
    assert_eq!(
        run.commands(),
        ["Act 0:1 @0", "Rd 0:1 @12", "Rda 0:1 @15", "Act 0:1 @100", "Rda 0:1 @112"]
    );
    assert_eq!(run.completions[2].row_outcome, RowOutcome::Miss);
    // A hit that arrives before the row's last column command keeps it open.
    let early = [(0, read(0, 0, 1)), (11, read(2, 0, 1))];
    let run = timed(&gddr5(), "fr-fcfs(page=closed)", &early);
    assert_eq!(run.commands()[..3], ["Act 0:1 @0", "Rd 0:1 @12", "Rda 0:1 @15"]);
}

/// Bank 0's row stays open for the write, although reads elsewhere go first.
#[test]
fn a_closed_page_stays_open_for_a_queued_write() {
    let mut requests = vec![read(0, 0, 1), write(1, 0, 1)];
    requests.extend((2..30).map(|id| read(id, 1, 1)));
    let run = run(&gddr5(), "fr-fcfs(page=closed)", &requests);
    assert_eq!(run.order().last(), Some(&1));
    assert_eq!(run.counts.banks[0].activations, 1);
}

/// Round robin over banks 0, 1, 2, although bank 0 could continue: 0 1 2 0 2 with tCCD_S of 2.
#[test]
fn banks_are_served_round_robin() {
    let mut requests: Vec<_> = (0..3).map(|id| read(id, id as u16, 1)).collect();
    requests.extend([read(3, 0, 1), read(4, 0, 1), read(5, 1, 1), read(6, 2, 1)]);
    let mut dram = gddr5();
    (dram.timing.trrds, dram.timing.tccdl, dram.timing.trcd) = (1, 2, 12);
    assert_eq!(
        commands(&dram, "fr-fcfs", &requests),
        [
            "Act 0:1 @0",
            "Act 1:1 @1",
            "Act 2:1 @2",
            "Rd 0:1 @12",
            "Rd 1:1 @14",
            "Rd 2:1 @16",
            "Rd 0:1 @18",
            "Rd 1:1 @20",
            "Rd 2:1 @22",
            "Rd 0:1 @24"
        ]
    );
}

/// The bursts of a request are in order on its bank and interleave with those of another bank.
#[test]
fn bursts_of_two_banks_interleave() {
    let requests = [
        DramRequest { bursts: 3, ..read(0, 0, 1) },
        DramRequest { bursts: 2, ..read(1, 1, 1) },
        read(2, 0, 1),
    ];
    let run = run(&gddr5(), "fr-fcfs", &requests);
    let columns: Vec<_> = run
        .log
        .iter()
        .filter(|c| c.kind.is_column())
        .map(|c| (c.cycle, c.request.unwrap(), c.burst))
        .collect();
    assert_eq!(columns, [(12, 0, 0), (15, 0, 1), (18, 1, 0), (20, 0, 2), (22, 1, 1), (24, 2, 0)]);
    let ends: Vec<_> = run.completions.iter().map(|c| (c.id, c.end.number())).collect();
    assert_eq!(ends, [(0, 34), (1, 36), (2, 38)]);
}

#[test]
fn one_command_per_cycle_on_one_bus_two_on_two() {
    let mut dram = gddr5();
    dram.timing.trrds = 12;
    let requests = [read(0, 0, 1), read(1, 1, 1)];
    assert_eq!(
        commands(&dram, "fr-fcfs", &requests),
        ["Act 0:1 @0", "Act 1:1 @12", "Rd 0:1 @13", "Rd 1:1 @24"]
    );
    dram.dual_command_bus = true;
    assert_eq!(
        commands(&dram, "fr-fcfs", &requests),
        ["Act 0:1 @0", "Rd 0:1 @12", "Act 1:1 @12", "Rd 1:1 @24"]
    );
}

/// Reads go first; at the high watermark writes drain down to the low one, then reads again.
#[test]
fn writes_drain_between_the_watermarks() {
    let mut dram = gddr5();
    (dram.write_high_watermark, dram.write_low_watermark) = (4, 2);
    let mut requests: Vec<_> = (0..8).map(|id| read(id, 0, 1)).collect();
    requests.extend((8..12).map(|id| write(id, 1, 1)));
    let run = run(&dram, "fr-fcfs", &requests);
    // Two writes drain; the other two wait until there is no read.
    assert_eq!(run.order(), [8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 10, 11]);
    assert_eq!(run.counts.write_drains, 1);
    assert_eq!(run.counts.turnarounds, 2);
    let three: Vec<_> = requests[..11].to_vec();
    let run = super::harness::run(&dram, "fr-fcfs", &three);
    assert_eq!(run.order(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    assert_eq!(run.counts.write_drains, 0);
}

/// Without reads, writes go at once, and stop when a read arrives.
#[test]
fn idle_writes_give_way_to_a_read() {
    let mut requests: Vec<_> = (0..8).map(|id| (0, write(id, 0, 1))).collect();
    requests.push((14, read(8, 1, 1)));
    let run = timed(&gddr5(), "fr-fcfs", &requests);
    assert_eq!(
        run.commands()[..7],
        [
            "Act 0:1 @0",
            "Wr 0:1 @9",
            "Wr 0:1 @12",
            "Act 1:1 @14",
            "Rd 1:1 @26",
            "Wr 0:1 @38",
            "Wr 0:1 @41"
        ]
    );
}

/// A write in service waits for the turnaround of the data bus as long as row hits arrive, unless a
/// limit bounds the number that bypass it.
#[test]
fn turnaround_limit_bounds_the_bypasses_of_a_request_in_service() {
    let mut requests = vec![(0, read(0, 1, 1)), (50, write(1, 0, 1))];
    requests.extend((2..102).map(|id| (51, read(id, 1, 1))));
    for (turnaround_limit, passing) in [(0, 100), (1, 1), (64, 64)] {
        let dram = Dram { turnaround_limit, ..gddr5() };
        let run = timed(&dram, "fr-fcfs", &requests);
        assert_eq!(run.commands()[2..4], ["Act 0:1 @50", "Rd 1:1 @51"]);
        let passed = run.order().iter().position(|&id| id == 1).unwrap() - 1;
        assert_eq!(passed, passing);
    }
}

/// Bypasses count requests, regardless of their length.
#[test]
fn a_request_of_two_column_commands_bypasses_once() {
    let mut requests = vec![(0, read(0, 1, 1)), (50, write(1, 0, 1))];
    requests.extend((2..22).map(|id| (51, DramRequest { bursts: 2, ..read(id, 1, 1) })));
    let dram = Dram { turnaround_limit: 8, ..gddr5() };
    let run = timed(&dram, "fr-fcfs", &requests);
    assert_eq!(run.order().iter().position(|&id| id == 1).unwrap() - 1, 8);
}

/// The write queue uses FR-FCFS under every policy except fcfs.
#[test]
fn the_write_queue_is_fr_fcfs() {
    let requests = [write(0, 0, 1), write(1, 0, 2), write(2, 0, 1)];
    assert_eq!(run(&gddr5(), "banked-fifo", &requests).order(), [0, 2, 1]);
    assert_eq!(run(&gddr5(), "fcfs", &requests).order(), [0, 1, 2]);
    // In a shared queue the policy orders both kinds.
    assert_eq!(run(&gddr3(), "banked-fifo", &requests).order(), [0, 1, 2]);
}

/// In a shared queue a row hit that writes bypasses an older conflict that reads.
#[test]
fn one_queue_orders_reads_and_writes_together() {
    let requests = [read(0, 0, 1), read(1, 0, 2), write(2, 0, 1)];
    assert_eq!(run(&gddr3(), "fr-fcfs", &requests).order(), [0, 2, 1]);
}

/// Reads keep arriving at bank 0 while bank 1 needs the bus for a write: the limit of them bypass,
/// then the bus turns around.
#[test]
fn a_waiting_write_eventually_turns_the_bus_around() {
    let dram = Dram { turnaround_limit: 32, ..gddr3() };
    let mut requests = vec![(0, write(0, 1, 1))];
    requests.extend((0..300).map(|id| (0, read(id + 1, 0, 1))));
    let run = timed(&dram, "fr-fcfs", &requests);
    let place = run.order().iter().position(|&id| id == 0).unwrap();
    // Requests before its row was open, and 32 that bypassed it.
    assert!((32..40).contains(&place), "{place}");
    assert_eq!(run.counts.turnarounds, 2);
}

/// A read reserves its room with its first command, so rows open only for the reads that fit.
#[test]
fn reads_wait_for_room() {
    let mut channel = channel(&gddr5(), "fr-fcfs");
    (0..3).for_each(|id| channel.push(DramCycle::ZERO, read(id, id as u16, 1)));
    assert_eq!(channel.step(DramCycle::ZERO, 0), None);
    assert!(channel.log().is_empty());
    // Room for one: bank 1 waits although tRRD has passed.
    assert_eq!(channel.step(at(5), 1), Some(at(17)));
    assert_eq!(channel.step(at(17), 1), None);
    assert_eq!(channel.take_completions().count(), 1);
    assert_eq!(channel.step(at(30), 2), Some(at(36)));
    channel.step(at(36), 2);
    let log: Vec<_> = channel.log().iter().map(describe).collect();
    assert_eq!(log, ["Act 0:1 @5", "Rd 0:1 @17", "Act 1:1 @30", "Act 2:1 @36"]);
}

/// A bank without room still has none after a row hit replaces its candidate.
#[test]
fn a_replaced_candidate_still_waits_for_room() {
    let mut channel = channel(&gddr5(), "fr-fcfs");
    channel.push(DramCycle::ZERO, read(0, 0, 1));
    assert_eq!(channel.step(DramCycle::ZERO, 1), Some(at(12)));
    assert_eq!(channel.step(at(12), 1), None);
    channel.push(at(100), read(1, 0, 2));
    channel.push(at(100), read(2, 1, 1));
    assert_eq!(channel.step(at(100), 1), Some(at(112)));
    channel.push(at(101), read(3, 0, 1));
    assert_eq!(channel.step(at(101), 1), Some(at(112)));
    let log: Vec<_> = channel.log().iter().map(describe).collect();
    assert_eq!(log, ["Act 0:1 @0", "Rd 0:1 @12", "Act 1:1 @100"]);
}

/// Two buses start two reads in a cycle, unless there is room for only one.
#[test]
fn two_command_buses_share_the_room() {
    for (room, started) in [(1, 1), (2, 2)] {
        let mut channel = channel(&hbm2(), "fr-fcfs");
        channel.push(DramCycle::ZERO, read(0, 0, 1));
        channel.step(DramCycle::ZERO, 1);
        let column = channel.step(DramCycle::ZERO, 1).unwrap();
        channel.step(column, 1);
        channel.push(at(100), read(1, 0, 1));
        channel.push(at(100), read(2, 1, 1));
        channel.step(at(100), room);
        let log = channel.log();
        assert_eq!(log.iter().filter(|command| command.cycle == 100).count(), started);
    }
}

/// Writes need no room.
#[test]
fn writes_go_without_room() {
    let requests = [(0, write(0, 0, 1)), (0, write(1, 0, 1))];
    let run = run_with(&gddr5(), "fr-fcfs", &requests, Stepping::Events, |_| 0);
    assert_eq!(run.commands(), ["Act 0:1 @0", "Wr 0:1 @9", "Wr 0:1 @12"]);
}

/// At tREFI no request starts; those in service end, rows close, and the channel is refreshed.
#[test]
fn refresh_closes_all_banks_first() {
    let mut dram = gddr5();
    (dram.timing.trefi, dram.timing.trfc) = (100, 50);
    let requests = [
        (0, read(0, 0, 1)),
        (95, DramRequest { bursts: 4, ..read(1, 0, 1) }),
        (98, read(2, 0, 1)),
        (98, read(3, 1, 5)),
    ];
    let run = timed(&dram, "fr-fcfs", &requests);
    assert_eq!(
        run.commands(),
        [
            "Act 0:1 @0",
            "Rd 0:1 @12",
            "Rd 0:1 @95",
            "Act 1:5 @98",
            "Rd 0:1 @99",
            "Rd 0:1 @102",
            "Rd 0:1 @105",
            "Pre 0:1 @107",
            "Rd 1:5 @110",
            "Pre 1:5 @126",
            "Ref @138",
            "Act 0:1 @188",
            "Rd 0:1 @200"
        ]
    );
    assert_eq!(run.completions.last().unwrap().row_outcome, RowOutcome::Miss);
}

/// A second step in one cycle finds the command bus occupied.
#[test]
fn a_cycle_has_one_command_however_often_it_is_stepped() {
    let mut channel = channel(&gddr5(), "fr-fcfs");
    channel.push(DramCycle::ZERO, read(0, 0, 1));
    channel.step(DramCycle::ZERO, 9);
    channel.push(DramCycle::ZERO, read(1, 4, 1));
    assert_eq!(channel.step(DramCycle::ZERO, 9), Some(at(7)));
    assert_eq!(channel.log().len(), 1);
}

#[test]
fn unknown_parameters_are_refused() {
    for text in [
        "fcfs(x=1)",
        "banked-fifo(x=1)",
        "fr-fcfs(x=1)",
        "fr-fcfs(page=ajar)",
        "fr-fcfs(row_hit_cap=-1)",
    ] {
        assert!(SCHEDULERS.build(text, &context(&gddr5())).is_err(), "{text}");
    }
}
