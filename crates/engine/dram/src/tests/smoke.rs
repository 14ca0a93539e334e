//! Every request completes once, and the counts agree with the commands.

use super::harness::*;
use crate::{CommandKind, DoneWith, Dram, DramRequest, RowOutcome};

#[test]
fn an_idle_channel_has_nothing_to_do() {
    let mut channel = channel(&gddr5(), "fr-fcfs");
    assert_eq!(channel.step(DramCycle::ZERO, 1), None);
    assert!(channel.is_empty());
    assert_eq!(channel.counts(at(100)).dram_efficiency(), None);
}

#[test]
fn counts_agree_with_the_commands() {
    for dram in machines() {
        for policy in policies() {
            let mut requests = random(&dram, 400, 3, 7);
            for request in &mut requests {
                request.write = request.id % 5 == 0;
                request.bursts = 1 + (request.id % 3) as u16;
            }
            let run = run(&dram, policy, &requests);
            let (counts, total) = (&run.counts, run.counts.total());
            let issued = |kind| run.log.iter().filter(|c| c.kind == kind).count() as u64;
            let closing = [CommandKind::Rda, CommandKind::Wra].map(issued);
            assert_eq!(total.reads, issued(CommandKind::Rd) + closing[0]);
            assert_eq!(total.writes, issued(CommandKind::Wr) + closing[1]);
            assert_eq!(total.activations, issued(CommandKind::Act));
            assert_eq!(total.precharges, issued(CommandKind::Pre));
            assert_eq!(total.auto_precharges, closing[0] + closing[1]);
            assert_eq!(counts.refreshes, issued(CommandKind::Ref));
            let bursts: u64 = requests.iter().map(|request| u64::from(request.bursts)).sum();
            assert_eq!(total.columns(), bursts);
            assert_eq!(counts.read_requests + counts.write_requests, 400);
            assert_eq!(counts.write_requests, 80);
            let outcomes = |outcome| {
                run.completions.iter().filter(|done| done.row_outcome == outcome).count() as u64
            };
            assert_eq!(total.row_hits, outcomes(RowOutcome::Hit));
            assert_eq!(total.row_misses, outcomes(RowOutcome::Miss));
            assert_eq!(total.row_conflicts, outcomes(RowOutcome::Conflict));
            assert_eq!(total.row_hits + total.activations, 400);
            assert_eq!(counts.occupancy_cycles.iter().sum::<u64>(), counts.cycles);
            assert!(counts.data_bus_busy_cycles <= counts.pending_cycles);
            let columns: Vec<_> = run.log.iter().filter(|c| c.kind.is_column()).collect();
            let turns = columns
                .windows(2)
                .filter(|pair| pair[0].kind.is_write() != pair[1].kind.is_write())
                .count();
            assert_eq!(counts.turnarounds, turns as u64);
        }
    }
}

/// A closed form: one isolated read, then idle.
#[test]
fn durations_of_a_single_read() {
    let dram = gddr5();
    let run = run(&dram, "fr-fcfs", &[read(1, 3, 9)]);
    // ACT at 0, RD at tRCD = 12, data from 24 to 26.
    assert_eq!(run.completions[0].end, at(26));
    let counts = run.counts;
    assert_eq!(counts.cycles, 26);
    assert_eq!(counts.pending_cycles, 26);
    assert_eq!(counts.any_bank_busy_cycles, 26);
    assert_eq!(counts.data_bus_busy_cycles, 2);
    assert_eq!((counts.blp(), counts.blp_busy()), (Some(1.0), Some(1.0)));
    assert_eq!(counts.occupancy_cycles[..3], [14, 12, 0]);
    assert_eq!(counts.banks[3].outstanding_cycles, 26);
    assert_eq!(counts.banks[2].outstanding_cycles, 0);
}

/// A request may complete with its first datum; the bus and the bank are occupied until the last.
#[test]
fn done_with_selects_the_datum_that_completes_a_request() {
    let run = |done_with| {
        let dram = Dram { done_with, ..gddr5() };
        let write = DramRequest { write: true, ..read(2, 3, 9) };
        [read(1, 3, 9), write].map(|request| run(&dram, "fr-fcfs", &[request]))
    };
    let last = run(DoneWith::LastDatum);
    let first = run(DoneWith::FirstDatum);
    for (last, first) in last.iter().zip(&first) {
        assert_eq!(
            last.completions[0].end,
            first.completions[0].end + 1,
            "of bursts of two cycles"
        );
        let busy = |run: &Run| (run.counts.data_bus_busy_cycles, run.counts.any_bank_busy_cycles);
        assert_eq!(busy(last), busy(first));
    }
}

/// Two banks, the second read arriving at 10: both outstanding from 10 to 26.
#[test]
fn bank_level_parallelism_is_an_exact_integral() {
    let requests = [(0, read(0, 0, 1)), (10, read(1, 1, 1))];
    let run = run_with(&gddr5(), "fr-fcfs", &requests, Stepping::Events, |_| u32::MAX);
    assert_eq!(run.commands(), ["Act 0:1 @0", "Act 1:1 @10", "Rd 0:1 @12", "Rd 1:1 @22"]);
    assert_eq!(run.counts.pending_cycles, 36);
    assert_eq!(run.counts.total().outstanding_cycles, 26 + 26);
    assert_eq!(run.counts.blp(), Some(52.0 / 36.0));
}

/// A row closed while idle keeps its bank busy for tRP: 0 to 26, 28 to 40, 100 to 126.
#[test]
fn closing_an_idle_row_occupies_the_bank() {
    let requests = [(0, read(0, 0, 1)), (100, read(1, 0, 1))];
    let run =
        run_with(&gddr5(), "fr-fcfs(page=timeout(n=1))", &requests, Stepping::Events, |_| u32::MAX);
    assert_eq!(run.counts.banks[0].busy_cycles, 26 + 12 + 26);
    assert_eq!(run.counts.any_bank_busy_cycles, 26 + 12 + 26);
    assert_eq!(run.counts.pending_cycles, 26 + 26);
}
