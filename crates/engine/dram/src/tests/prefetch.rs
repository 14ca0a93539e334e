//! Prefetches: when they issue, in which order, and when they stop.

mod schedulers;

use super::harness::*;
use crate::prefetch::PREFETCHERS;
use crate::scheduler::{BankView, ChannelView, Queued, Ready, Scheduler, Slot, Traits};
use crate::tests::harness::prefetch_context;
use crate::{Channel, Command, CommandKind, Completion, Dram, DramRequest, checker};
use warpmem_sim::{BankId, BankRow, CachedLines, RowId};

/// Lines of a row, and column commands of a line.
const LINES: u32 = 8;
const BURSTS: u16 = 2;

/// Returns a read of a whole line.
fn line(id: u32, bank: u16, row: u32, line: u16) -> DramRequest {
    DramRequest { line, bursts: BURSTS, ..read(id, bank, row) }
}

fn equipped(channel: Channel, prefetcher: &str) -> Channel {
    let prefetcher = PREFETCHERS.build(prefetcher, &prefetch_context()).unwrap();
    channel.with_prefetcher(prefetcher, LINES, BURSTS, CachedLines::default())
}

fn with(dram: &Dram, policy: &str, prefetcher: &str, requests: &[(u64, DramRequest)]) -> Run {
    let mut channel = equipped(channel(dram, policy), prefetcher);
    let run = drive(&mut channel, requests, Stepping::Events, |_| u32::MAX);
    assert_eq!(checker::check(dram, &run.log), [], "{policy}, {prefetcher}");
    run
}

/// Returns a request that keeps the channel busy until this cycle.
fn later(cycle: u64) -> (u64, DramRequest) {
    (cycle, line(99, 15, 0, 0))
}

/// A bank and a line of it with the first command that served it.
type Served = (u16, u16, u64);

impl Run {
    fn served(&self, prefetched: bool) -> Vec<Served> {
        let of_kind = self.completions.iter().filter(|done| done.is_prefetch() == prefetched);
        of_kind.map(|done| (done.bank.0, done.line, done.first_command.number())).collect()
    }

    /// Returns the prefetched lines, in order.
    fn prefetched(&self) -> Vec<u16> {
        self.served(true).into_iter().map(|(_, line, _)| line).collect()
    }
}

fn columns(log: &[Command]) -> impl Iterator<Item = &Command> {
    log.iter().filter(|command| command.kind.is_column())
}

#[test]
fn unrequested_lines_follow_the_last_hit_in_row_order() {
    let requests = [(0, line(0, 0, 5, 3)), (0, line(1, 0, 5, 1)), later(500)];
    for prefetcher in ["opportunistic-stop", "opportunistic"] {
        let run = with(&gddr5(), "fr-fcfs", prefetcher, &requests);
        let of_bank = run.served(true).into_iter().filter(|&(bank, ..)| bank == 0);
        let lines: Vec<u16> = of_bank.map(|(_, line, _)| line).collect();
        assert_eq!(lines, [0, 2, 4, 5, 6, 7], "{prefetcher}");
        // ACT at 0, then a column command every tCCD_L = 3 from tRCD = 12 on.
        let cycles: Vec<u64> = columns(&run.log).map(|c| c.cycle).take(16).collect();
        assert_eq!(cycles, (0..16).map(|n| 12 + 3 * n).collect::<Vec<u64>>());
        assert!(run.log.iter().filter(|c| c.request.is_none()).all(|c| c.kind.is_read()));
    }
    let none = with(&gddr5(), "fr-fcfs", "none", &requests);
    assert_eq!(none.prefetched(), [0u16; 0]);
    assert_eq!(none, run_with(&gddr5(), "fr-fcfs", &requests, Stepping::Events, |_| u32::MAX));
}

/// Runs a channel beside a cache. Row 5 of bank 0 is opened at 0, its lines 3 and 1 are read, and
/// others prefetched from 24 on, every 6 cycles. The cache holds lines of it from the given cycles
/// on.
fn beside_a_cache(has: &[(u64, u32)]) -> Run {
    let (cached, row) = (CachedLines::default(), BankRow { bank: BankId(0), row: RowId(5) });
    cached.add(BankRow { row: RowId(6), ..row }, 2);
    let prefetcher = PREFETCHERS.build("opportunistic-stop", &prefetch_context()).unwrap();
    let mut channel =
        channel(&gddr5(), "fr-fcfs").with_prefetcher(prefetcher, LINES, BURSTS, cached.clone());
    // The room is read before each step.
    let fill = |now| {
        let filled = has.iter().filter(|&&(from, _)| from <= now);
        filled.for_each(|&(_, line)| cached.add(row, line));
        u32::MAX
    };
    let requests = [(0, line(0, 0, 5, 3)), (0, line(1, 0, 5, 1)), (500, line(99, 0, 5, 1))];
    drive(&mut channel, &requests, Stepping::EveryCycle, fill)
}

#[test]
fn cached_lines_are_skipped() {
    assert_eq!(beside_a_cache(&[(0, 0), (0, 4), (0, 7)]).prefetched(), [2, 5, 6]);
}

/// A line that enters the cache while its row is open is not prefetched: the cache is checked when
/// the prefetch issues.
#[test]
fn lines_cached_before_their_prefetch_issues_are_skipped() {
    let run = beside_a_cache(&[(1, 0), (30, 5)]);
    assert_eq!(run.prefetched(), [2, 4, 6, 7]);
    // Line 4 is chosen at 27, when the last command of line 2 issues, and would issue at 30: line 5
    // does instead.
    let run = beside_a_cache(&[(1, 0), (30, 4)]);
    assert_eq!(run.served(true), [(0, 2, 24), (0, 5, 30), (0, 6, 36), (0, 7, 42)]);
}

#[test]
fn prefetching_ends_when_the_cache_has_all_lines() {
    let run = beside_a_cache(&[(1, 0), (30, 4), (30, 5), (30, 6), (30, 7)]);
    assert_eq!(run.prefetched(), [2]);
}

/// Write-backs express no demand: only a row that has served a read is prefetched from.
#[test]
fn trigger_all_prefetches_from_written_rows() {
    let one_queue =
        Dram { write_queue: 0, write_high_watermark: 0, write_low_watermark: 0, ..gddr5() };
    let written =
        |id, row, line_of_row| DramRequest { write: true, ..line(id, 0, row, line_of_row) };
    let prefetched = |prefetcher: &str, requests: &[(u64, DramRequest)]| {
        let run = with(&one_queue, "fr-fcfs", prefetcher, requests);
        run.served(true).iter().filter(|&&(bank, ..)| bank == 0).count()
    };
    let writes = [(0, written(0, 5, 0)), (400, written(1, 6, 0)), later(900)];
    let then_read = [(0, written(0, 5, 0)), (40, line(1, 0, 5, 3)), later(900)];
    let then_write = [(0, line(0, 0, 5, 0)), (1, written(1, 5, 3)), later(900)];
    for name in ["opportunistic-stop", "opportunistic"] {
        let all = format!("{name}(trigger=all)");
        assert_eq!([name, &all].map(|p| prefetched(p, &writes)), [0, 14], "{name}");
        assert_eq!([name, &all].map(|p| prefetched(p, &then_read)), [6, 7], "{name}");
        assert_eq!([name, &all].map(|p| prefetched(p, &then_write)), [6, 6], "{name}");
    }
}

#[test]
fn prefetches_are_counted_apart_from_requests() {
    let run = with(&gddr5(), "fr-fcfs", "opportunistic", &[(0, line(0, 0, 5, 3)), later(500)]);
    let bank = &run.counts.banks[0];
    assert_eq!((bank.prefetched_lines, bank.prefetch_reads), (7, 14));
    assert_eq!((bank.reads, bank.row_hits, bank.row_misses), (16, 0, 1));
    assert_eq!((run.counts.read_requests, bank.row_switches), (2, 0));
    // Outstanding and busy until the last datum of the last line: 16 columns, 3 apart, then tCL and
    // two data cycles.
    let end = 12 + 3 * 15 + 12 + 2;
    assert_eq!((bank.outstanding_cycles, bank.busy_cycles), (end, end));
    let held = run.counts.occupancy_cycles.iter().skip(1).sum::<u64>();
    assert_eq!(
        held,
        15 + 15,
        "prefetches wait in no queue: a request from ACT to its second column"
    );
}

/// Opens row 5 of bank 0 for line 0; a request for row 6 arrives at `cycle`. Returns the lines
/// prefetched before its PRE, and the cycle of the PRE.
fn until_another_row(prefetcher: &str, cycle: u64) -> (Vec<u16>, u64) {
    let requests = [(0, line(0, 0, 5, 0)), (cycle, line(1, 0, 6, 0)), later(500)];
    let run = with(&gddr5(), "fr-fcfs", prefetcher, &requests);
    let pre = run.log.iter().find(|c| c.kind == CommandKind::Pre && c.bank == 0).unwrap().cycle;
    let before = run.served(true).into_iter().filter(|&(_, _, first)| first < pre);
    (before.map(|(_, line, _)| line).collect(), pre)
}

#[test]
fn a_request_to_another_row_stops_prefetching_at_once() {
    // Lines begin at 18, 24, 30, …; a line in progress is finished.
    let (lines, pre) = until_another_row("opportunistic-stop", 25);
    assert_eq!((lines, pre), (vec![1, 2], 29), "tRTP = 2 after the column command at 27");
    assert_eq!(until_another_row("opportunistic-stop", 24).0, [1], "at the cycle of the next line");
    assert_eq!(until_another_row("opportunistic-stop", 0).0, [0u16; 0], "waiting from the start");
}

#[test]
fn a_minimum_of_lines_is_read_unconditionally() {
    let fixed = |lower: u32, threshold: u32, cycle| {
        let text = format!("opportunistic(lower={lower},higher=5,threshold={threshold})");
        until_another_row(&text, cycle).0.len()
    };
    assert_eq!([1, 3].map(|lower| fixed(lower, 0, 0)), [1, 3]);
    assert_eq!([1, 3].map(|lower| fixed(lower, 0, 31)), [3, 3], "three had started");
    assert_eq!(fixed(1, 2, 0), 5, "one request is below the threshold of two");
    assert_eq!(fixed(1, 1, 0), 1);
}

/// Requests to the bank and to others count equally while they are in the channel.
#[test]
fn the_threshold_covers_all_requests_of_the_channel() {
    let mut requests = vec![(0, line(0, 0, 5, 0)), (0, line(1, 0, 6, 0))];
    requests.extend((2..12).map(|id| (0, line(id, 1, id, 0))));
    let prefetched = |threshold: u32| {
        let text = format!("opportunistic(lower=1,higher=4,threshold={threshold})");
        let run = with(&gddr5(), "fr-fcfs", &text, &requests);
        run.served(true).iter().filter(|&&(bank, ..)| bank == 0).count()
    };
    // All lines but one of row 6 of bank 0 are prefetched, too.
    assert_eq!([prefetched(4), prefetched(40)], [1 + 7, 4 + 7]);
}

#[test]
fn an_adaptive_threshold_is_the_average_so_far() {
    // Nine requests to one bank: the average is far below the waiting requests at the first, and
    // above them at the last.
    let requests: Vec<_> = (0..9).map(|id| (0, line(id, 0, id, 0))).collect();
    let run = with(&gddr5(), "fr-fcfs", "opportunistic(lower=1,higher=3)", &requests);
    // 45 / 128 after the nine: below one, so that few never wait.
    assert_eq!(run.prefetched().len(), 8);
    let long: Vec<_> = (0..3000).map(|id| (u64::from(id), line(id, 0, id, 0))).collect();
    let lines = with(&gddr5(), "fr-fcfs", "opportunistic(lower=1,higher=3)", &long).prefetched();
    // The queue is nearly always full, and below its average when the last of it is served.
    assert!(lines.len() > 3000 + 20 && lines.len() < 3 * 3000, "{}", lines.len());
}

#[test]
fn a_request_to_the_open_row_comes_first() {
    let requests =
        [(0, line(0, 0, 5, 0)), (25, line(1, 0, 5, 7)), (25, line(2, 0, 5, 4)), later(500)];
    let run = with(&gddr5(), "fr-fcfs", "opportunistic-stop", &requests);
    let order: Vec<u16> =
        run.completions.iter().filter(|done| done.bank.0 == 0).map(|done| done.line).collect();
    assert_eq!(order, [0, 1, 2, 7, 4, 3, 5, 6]);
}

/// Requests that the scheduler leaves waiting count, too.
#[test]
fn nothing_is_prefetched_while_a_request_waits_for_the_row() {
    let requests =
        [(0, line(0, 0, 5, 0)), (0, line(1, 0, 6, 0)), (0, line(2, 0, 5, 1)), later(500)];
    let run = with(&gddr5(), "banked-fifo", "opportunistic", &requests);
    let before_third = run.completions.iter().position(|done| done.id == 2).unwrap();
    assert_eq!(run.completions[..before_third].iter().filter(|d| d.is_prefetch()).count(), 7);
    let first = run.served(true)[0];
    assert!(first.2 > run.completions[1].first_command.number(), "row 6, when request 1 is served");
}

#[test]
fn a_reopened_row_is_prefetched_except_for_its_requested_lines() {
    let requests =
        [(0, line(0, 0, 5, 0)), (100, line(1, 0, 6, 2)), (200, line(2, 0, 5, 1)), later(500)];
    let lines = with(&gddr5(), "fr-fcfs", "opportunistic-stop", &requests).prefetched();
    assert_eq!(lines[..7], [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(lines[7..14], [0, 1, 3, 4, 5, 6, 7]);
    assert_eq!(lines[14..21], [0, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn waiting_reads_block_prefetches_while_writes_are_served() {
    // A write to line 0 opens row 5 of bank 0, which is prefetched from when reads are served
    // again.
    let written = DramRequest { write: true, ..line(0, 0, 5, 0) };
    let prefetcher = "opportunistic-stop(trigger=all)";
    let run = with(&gddr5(), "fr-fcfs", prefetcher, &[(0, written), later(500)]);
    assert_eq!(
        run.served(true)[..7].iter().map(|s| s.1).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5, 6, 7]
    );
    // No read waits: writes to another bank are served, and no line begins meanwhile.
    let write = |id| (30, DramRequest { write: true, ..line(id, 1, id, 0) });
    let requests = [(0, line(0, 0, 5, 0)), write(1), write(2), write(3), later(500)];
    let run = with(&gddr5(), "fr-fcfs", "opportunistic", &requests);
    let last = run.completions.iter().filter(|d| d.write).map(|d| d.end.number()).max().unwrap();
    let begun: Vec<u64> = run.served(true).iter().filter(|s| s.0 == 0).map(|s| s.2).collect();
    assert!(begun.iter().all(|&first| first < 30 || first > last - 4 - 2), "{begun:?}, {last}");
    assert_eq!(begun.len(), 7);
    assert!(begun[0] < 30 && begun[6] > last);
}

/// Writes in a separate queue neither stop prefetching nor count as waiting for the row.
#[test]
fn writes_of_the_unserved_queue_do_not_count() {
    let mut requests = vec![(0, line(0, 0, 5, 0))];
    requests.push((1, DramRequest { write: true, ..line(1, 0, 6, 0) }));
    requests.push((1, DramRequest { write: true, ..line(2, 0, 5, 7) }));
    requests.extend((3..40).map(|id| (0, line(id, 1, id, 0))));
    requests.sort_by_key(|&(cycle, _)| cycle);
    let run = with(&gddr5(), "fr-fcfs", "opportunistic-stop", &requests);
    let first_write =
        run.completions.iter().find(|done| done.write).unwrap().first_command.number();
    let lines = run.served(true).into_iter().filter(|s| s.0 == 0 && s.2 < first_write);
    assert_eq!(lines.map(|s| s.1).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7]);
    // In a shared queue they do.
    let one_queue =
        Dram { write_queue: 0, write_high_watermark: 0, write_low_watermark: 0, ..gddr5() };
    let run = with(&one_queue, "fr-fcfs", "opportunistic-stop", &requests);
    let conflict = run.completions.iter().find(|done| done.id == 1).unwrap().first_command.number();
    assert!(run.served(true).iter().all(|s| s.0 != 0 || s.2 > conflict));
}

#[test]
fn rows_that_the_page_policy_closes_are_not_prefetched_from() {
    let prefetched = |page: &str, another_row: u64| {
        let policy = format!("fr-fcfs(page={page})");
        let requests = [(0, line(0, 0, 5, 0)), (another_row, line(1, 0, 6, 0)), later(500)];
        let run = with(&gddr5(), &policy, "opportunistic(lower=4,threshold=0)", &requests);
        let mut begun = run.served(true).into_iter().filter(|s| s.0 == 0);
        let second =
            run.completions.iter().find(|done| done.id == 1).unwrap().first_command.number();
        begun.by_ref().take_while(|s| s.2 < second).count()
    };
    for page in ["closed", "closed-cap", "closed-adaptive", "timeout(n=3)"] {
        assert_eq!([prefetched(page, 0), prefetched(page, 400)], [0, 0], "{page}");
    }
    // The line could be read three cycles after the last column command.
    assert_eq!([prefetched("timeout(n=4)", 0), prefetched("timeout(n=4)", 400)], [4, 7]);
    assert_eq!([prefetched("timeout", 0), prefetched("timeout", 400)], [4, 7]);
    assert_eq!([prefetched("open-adaptive", 0), prefetched("open-adaptive", 400)], [0, 7]);
    assert_eq!([prefetched("open", 0), prefetched("open", 400)], [4, 7]);
}

#[test]
fn a_refresh_ends_prefetching() {
    let mut dram = gddr5();
    (dram.timing.trefi, dram.timing.trfc) = (40, 20);
    let requests = [(0, line(0, 0, 5, 0)), (300, line(1, 0, 5, 1))];
    let run = with(&dram, "fr-fcfs", "opportunistic-stop", &requests);
    let first: Vec<u64> = run.served(true).iter().map(|s| s.2).take_while(|&c| c < 300).collect();
    assert_eq!(first, [18, 24, 30, 36]);
}

/// Prefetches need room to complete; requests for a following row do not wait for room.
#[test]
fn without_room_nothing_is_prefetched_and_nothing_waits() {
    let requests = [(0, line(0, 0, 5, 0)), (100, DramRequest { write: true, ..line(1, 0, 6, 0) })];
    let one_queue =
        Dram { write_queue: 0, write_high_watermark: 0, write_low_watermark: 0, ..gddr5() };
    let prefetched = |room: fn(u64) -> u32| {
        let mut channel = equipped(channel(&one_queue, "fr-fcfs"), "opportunistic(lower=8)");
        drive(&mut channel, &requests, Stepping::Events, room).prefetched().len()
    };
    // A read that completes frees its room only after the cycle.
    assert_eq!(prefetched(|_| 1), 0);
    assert_eq!(prefetched(|_| 2), 7);
    assert_eq!(prefetched(|now| if now < 27 { 9 } else { 1 }), 2, "from 18 and 24 on");
    assert_eq!(prefetched(|now| if now < 27 { 1 } else { 9 }), 0, "prefetching does not resume");
}

/// An arriving read makes the channel serve reads again while there is no room for them.
#[test]
fn without_room_nothing_is_prefetched_after_a_switch_to_reads() {
    // The write has its ACT only, so that the data bus is free.
    let written = DramRequest { write: true, ..line(1, 1, 5, 0) };
    let requests = [(0, line(0, 0, 5, 0)), (20, written), (26, line(2, 2, 5, 0)), later(60)];
    let mut channel = equipped(channel(&gddr5(), "fr-fcfs"), "opportunistic");
    let room = |now| if (25..60).contains(&now) { 0 } else { 9 };
    let run = drive(&mut channel, &requests, Stepping::Events, room);
    let begun = run.served(true).into_iter().filter(|s| s.0 == 0).map(|s| s.2);
    assert_eq!(begun.collect::<Vec<_>>(), [18]);
}

/// Reads and prefetches in progress never exceed the room.
#[test]
fn prefetches_take_room_as_reads_do() {
    let requests: Vec<_> = random(&gddr5(), 300, 2, 5)
        .into_iter()
        .map(|r| (u64::from(r.id) * 9, DramRequest { bursts: BURSTS, ..r }))
        .collect();
    let mut channel = equipped(channel(&gddr5(), "fr-fcfs"), "opportunistic");
    let run = drive(&mut channel, &requests, Stepping::Events, |_| 3);
    let column = |done: &Completion| done.end.number() - 12 - 2;
    let served = run.completions.iter().map(|done| (done.first_command.number(), column(done)));
    let served: Vec<(u64, u64)> = served.collect();
    let at =
        |now: u64| served.iter().filter(|(first, last)| (*first..*last).contains(&now)).count();
    let most = (0..column(run.completions.last().unwrap())).map(at).max();
    assert_eq!(most, Some(3));
    assert!(run.prefetched().len() > 100);
}

#[test]
fn end_prefetching_stops_new_prefetches() {
    let mut channel = equipped(channel(&gddr5(), "fr-fcfs"), "opportunistic");
    channel.push(DramCycle::ZERO, line(0, 0, 5, 0));
    channel.push(DramCycle::ZERO, line(1, 0, 6, 0));
    channel.push(DramCycle::ZERO, line(2, 1, 5, 0));
    let (mut now, mut told) = (Some(DramCycle::ZERO), false);
    while let Some(cycle) = now {
        // Bank 0 has a line in service, bank 1 is offered one, bank 2 is opened later.
        if cycle >= at(28) && !told {
            told = true;
            assert!(channel.is_prefetching());
            channel.end_prefetching(cycle);
            channel.push(cycle, line(3, 2, 5, 0));
        }
        now = channel.step(cycle, u32::MAX);
    }
    let begun = channel.take_completions().filter(|done| done.is_prefetch());
    assert!(begun.map(|done| done.first_command).all(|first| first < at(28)));
    assert!(told && channel.is_empty() && !channel.is_prefetching());
}

#[test]
fn lines_read_before_a_waiting_request_are_counted() {
    let counted = |prefetcher, cycle| {
        let mut channel = equipped(channel(&gddr5(), "fr-fcfs"), prefetcher);
        let requests = [(0, line(0, 0, 5, 0)), (cycle, line(1, 0, 6, 0))];
        drive(&mut channel, &requests, Stepping::Events, |_| u32::MAX);
        let counters = channel.prefetch_counters();
        assert_eq!(counters.len(), 1);
        (counters[0].name, counters[0].value)
    };
    assert_eq!(counted("opportunistic(lower=3,threshold=0)", 0), ("lines_despite_requests", 3));
    assert_eq!(counted("opportunistic(lower=3,threshold=0)", 25).1, 1, "two had started");
    assert_eq!(counted("opportunistic-stop", 0).1, 0);
    assert_eq!(channel(&gddr5(), "fr-fcfs").prefetch_counters(), []);
}

/// Returns the lines prefetched from bank 0 before the last of five row hits to bank 1, and the end
/// of that hit.
fn beside_row_hits(prefetcher: &str) -> (usize, u64) {
    let hits = (1..6).map(|n| (0, line(u32::from(n), 1, 5, n)));
    let requests: Vec<_> =
        [(0, line(0, 0, 5, 0))].into_iter().chain(hits).chain([later(500)]).collect();
    let mut dram = gddr5();
    dram.timing.tccdl = dram.timing.tccds;
    let run = with(&dram, "fr-fcfs", prefetcher, &requests);
    let last = run.completions.iter().find(|done| done.id == 5).unwrap();
    let before = |served: &&Served| served.0 == 0 && served.2 < last.first_command.number();
    (run.served(true).iter().filter(before).count(), last.end.number())
}

/// Commands of prefetches take part in the round robin over the banks.
#[test]
fn prefetches_take_part_in_the_round_robin_unless_they_come_last() {
    let (none, alone) = beside_row_hits("none");
    let (shared, later) = beside_row_hits("opportunistic-stop");
    let (last, same) = beside_row_hits("opportunistic-stop(bus=last)");
    assert!(none == 0 && shared >= 3 && later > alone, "{shared}: {later}, {alone}");
    assert!(last <= 1 && same <= alone + 2, "{last}: {same}, {alone}");
}

/// Line 0 of bank 0 is read at 12, when ten requests for bank 1 wait. Only when four are left, the
/// degree is above 0.
#[test]
fn an_exact_degree_follows_the_requests_in_the_channel() {
    let mut requests = vec![(0, line(0, 0, 5, 0))];
    requests.extend((1..11).map(|id| (0, line(id, 1, id, 0))));
    let prefetched = |text: &str| {
        let text = format!("opportunistic({text},threshold=5)");
        let run = with(&gddr5(), "fr-fcfs", &text, &requests);
        let of_bank = run.served(true).into_iter().filter(|&(bank, ..)| bank == 0);
        let sixth = run.completions.iter().find(|done| done.id == 6).unwrap();
        let last_column = sixth.end.number() - 12 - 2;
        let first = of_bank.clone().map(|(.., first)| first).next();
        (of_bank.count(), first.is_some_and(|first| first < last_column))
    };
    assert_eq!(prefetched("degree=exactly,lower=0,higher=3"), (3, false));
    assert_eq!(prefetched("degree=at-least,lower=0,higher=3"), (7, false));
    assert_eq!(prefetched("degree=exactly,lower=2,higher=3"), (3, true));
    assert_eq!(prefetched("degree=at-least,lower=2,higher=3"), (7, true));
    assert_eq!(prefetched("lower=0,higher=0"), (0, false));
}
