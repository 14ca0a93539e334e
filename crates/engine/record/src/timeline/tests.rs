//! Timelines of hand-made rows.

use super::*;
use serde_json::Value;
use warpmem_dram::CommandKind;
use warpmem_gpu::results::{AccessKind, DramTimes};
use warpmem_machine::load;

/// A core cycle has 33 ticks, a DRAM cycle 50.
fn machine() -> Machine {
    load("li2015", &[]).unwrap()
}

fn timeline(window: &str, events: usize) -> Timeline {
    let options = Options {
        window: window.parse().unwrap(),
        events: NonZeroUsize::new(events).unwrap(),
        interval: NonZeroU64::new(100).unwrap(),
    };
    Timeline::new(&machine(), options)
}

fn written(timeline: Timeline, cycles: u64) -> (Vec<Value>, Written) {
    let mut text = Vec::new();
    let written = timeline.write(cycles, &mut text).unwrap();
    let file: Value = serde_json::from_slice(&text).unwrap();
    let events = file["traceEvents"].as_array().unwrap();
    (events.iter().filter(|event| event["ph"] != "M").cloned().collect(), written)
}

fn load_row(warp_slot: u32, issue_cycle: u64, load_time: u64) -> LoadRow {
    LoadRow { warp_slot, issue_cycle, load_time, ..LoadRow::default() }
}

fn command(cycle: u64, kind: CommandKind, row: u32) -> Command {
    Command { cycle, kind, bank: 3, row, burst: 0, request: None }
}

/// Returns name, track, start and length of each slice, to a millionth of a cycle, as the JSON
/// reader rounds.
fn slices(events: &[Value]) -> Vec<(String, u64, u64, f64, f64)> {
    let slices = events.iter().filter(|event| event["ph"] == "X");
    let number = |event: &Value, key: &str| rounded(event[key].as_f64().unwrap());
    slices
        .map(|e| {
            let track = (e["pid"].as_u64().unwrap(), e["tid"].as_u64().unwrap());
            (
                e["name"].as_str().unwrap().into(),
                track.0,
                track.1,
                number(e, "ts"),
                number(e, "dur"),
            )
        })
        .collect()
}

fn rounded(cycles: f64) -> f64 {
    (cycles * 1e6).round() / 1e6
}

#[test]
fn a_warp_has_a_track_with_lanes_for_its_loads() {
    let mut timeline = timeline("..", 100);
    timeline.load(&load_row(2, 10, 30));
    timeline.load(&load_row(2, 20, 5));
    timeline.load(&load_row(2, 40, 2));
    let warp =
        WarpRow { warp_slot: 2, launch_cycle: 1, end_cycle: 50, cta: 7, ..WarpRow::default() };
    timeline.warp(&warp);
    let (events, written) = written(timeline, 60);
    let expected = [
        ("CTA 7 warp 0", 2000, 1.0, 49.0),
        ("load 0x0", 2001, 10.0, 30.0),
        ("load 0x0", 2002, 20.0, 5.0),
        ("load 0x0", 2001, 40.0, 2.0),
    ];
    let expected = expected.map(|(name, thread, at, long)| (name.into(), 100, thread, at, long));
    assert_eq!(slices(&events), expected);
    assert_eq!(written, Written { events: 4, cut_at: None });
}

#[test]
fn a_row_is_open_from_its_activation_to_its_precharge() {
    let mut timeline = timeline("..", 100);
    let commands = [
        command(10, CommandKind::Act, 0x1a),
        command(20, CommandKind::Rd, 0x1a),
        command(40, CommandKind::Pre, 0x1a),
        command(50, CommandKind::Act, 0x2b),
        command(66, CommandKind::Rda, 0x2b),
        command(80, CommandKind::Ref, 0),
        command(99, CommandKind::Act, 0x3c),
    ];
    CommandSink::commands(&mut timeline, 1, &commands);
    let (events, _) = written(timeline, 197);
    let cycles = |ticks: u64| rounded(ticks as f64 / 33.0);
    let rows: Vec<_> = slices(&events).into_iter().filter(|s| s.0.starts_with("row")).collect();
    let row = |name: &str, from: u64, to: u64| {
        (name.to_owned(), 100_001, 4, cycles(from), cycles(to - from))
    };
    // The last is open at the end of the run, core cycle 198 (6534 ticks).
    let expected =
        [row("row 0x1a", 500, 2000), row("row 0x2b", 2500, 3350), row("row 0x3c", 4950, 6534)];
    assert_eq!(rows, expected);
    let refresh = slices(&events).into_iter().find(|slice| slice.0 == "REF").unwrap();
    assert_eq!((refresh.1, refresh.2, refresh.4), (100_001, 0, cycles(50)));
    let begin = |name| slices(&events).iter().position(|slice| slice.0 == name).unwrap();
    assert!(begin("row 0x1a") < begin("ACT"), "what is around comes first");
}

#[test]
fn an_open_row_lasts_to_the_last_dram_command() {
    let mut timeline = timeline("..", 100);
    let commands = [command(10, CommandKind::Act, 0x1a), command(299, CommandKind::Wr, 0x1a)];
    CommandSink::commands(&mut timeline, 1, &commands);
    CommandSink::commands(&mut timeline, 0, &[command(20, CommandKind::Act, 0x2b)]);
    // The last CTA ends at tick 3333; the write is over at 15 000.
    let (events, _) = written(timeline, 100);
    let ends: Vec<f64> = slices(&events).iter().map(|slice| rounded(slice.3 + slice.4)).collect();
    let end_of_row = rounded(15_000.0 / 33.0);
    assert_eq!(ends.iter().filter(|end| (**end - end_of_row).abs() < 1e-5).count(), 3);
}

/// Returns a request that a channel serves.
fn request(at: u64) -> RequestRow {
    RequestRow {
        requester: None,
        address: 0,
        kind: AccessKind::Read,
        slice: 5,
        channel: 2,
        bank: 0,
        row: 0,
        created: at,
        l1_missed: at,
        l2_arrived: at + 33,
        l2_served: at + 66,
        dram: Some(DramTimes { entered: at + 99, started: at + 132, finished: at + 165 }),
        replied: at + 198,
        returned: at + 231,
        ticks_per_core_cycle: 33,
    }
}

#[test]
fn queue_lengths_follow_from_request_times() {
    let mut timeline = timeline("..", 100);
    timeline.request(&request(0));
    timeline.request(&RequestRow { dram: None, ..request(0) });
    timeline.request(&request(33));
    let (events, _) = written(timeline, 100);
    let counts = |name: &str| -> Vec<(f64, u64)> {
        let events = events.iter().filter(|event| event["name"] == name);
        events
            .map(|e| (e["ts"].as_f64().unwrap(), e["args"]["requests"].as_u64().unwrap()))
            .collect()
    };
    assert_eq!(counts("slice 5 queue"), [(1.0, 2), (2.0, 1), (3.0, 0)]);
    assert_eq!(counts("waiting for DRAM"), [(3.0, 1), (5.0, 0)]);
    assert_eq!(counts("in service"), [(4.0, 1), (6.0, 0)]);
    assert!(slices(&events).is_empty());
}

#[test]
fn overlapping_loads_of_page_walks_have_different_lanes() {
    let mut timeline = timeline("..", 100);
    for (begin, end) in [(0, 66), (33, 99), (66, 132)] {
        timeline.request(&RequestRow {
            kind: AccessKind::Walk,
            created: begin,
            returned: end,
            ..request(begin)
        });
    }
    let (events, _) = written(timeline, 100);
    let walks: Vec<(u64, u64, f64)> =
        slices(&events).iter().map(|slice| (slice.1, slice.2, slice.3)).collect();
    assert_eq!(walks, [(3, 0, 0.0), (3, 1, 1.0), (3, 0, 2.0)]);
}

#[test]
fn the_machine_has_counters_for_each_interval() {
    let mut timeline = timeline("100..250", 100);
    for start_cycle in [0, 100, 200, 300] {
        let mut row =
            IntervalRow { start_cycle, cycles: 100, resident_warps: 8, ..IntervalRow::default() };
        row.counts.sms.thread_instructions = 3200;
        row.counts.banks.reads = 7;
        // Of six channels, for longer than the core cycles last.
        row.counts.channels.cycles = 6 * 80;
        timeline.interval(&row);
    }
    let (events, _) = written(timeline, 400);
    let of = |name: &str| -> Vec<(f64, f64)> {
        let events = events.iter().filter(|event| event["name"] == name);
        let value = |e: &Value| e["args"].as_object().unwrap().values().next().unwrap().as_f64();
        events.map(|e| (e["ts"].as_f64().unwrap(), value(e).unwrap())).collect()
    };
    assert_eq!(of("thread IPC"), [(100.0, 32.0), (200.0, 32.0)]);
    assert_eq!(of("resident warps"), [(100.0, 8.0), (200.0, 8.0)]);
    let (bytes, nanoseconds) = (7.0 * f64::from(machine().dram.burst_bytes()), 80.0 / 0.924);
    assert!((of("DRAM bandwidth")[0].1 - bytes / nanoseconds).abs() < 1e-9);
}

#[test]
fn events_are_clipped_to_the_window() {
    let mut timeline = timeline("10..20", 100);
    for (issued, time) in [(0, 10), (5, 10), (12, 3), (15, 10), (20, 1)] {
        timeline.load(&load_row(0, issued, time));
    }
    let (events, _) = written(timeline, 100);
    let times: Vec<(f64, f64)> = slices(&events).iter().map(|slice| (slice.3, slice.4)).collect();
    assert_eq!(times, [(10.0, 5.0), (12.0, 3.0), (15.0, 5.0)]);
}

#[test]
fn too_many_events_shorten_the_window() {
    let whole = |events| {
        let mut timeline = timeline("..", events);
        // Loads end in a different order than they begin.
        for load in 0..1000u64 {
            let issued = (load * 7919) % 1000;
            timeline.load(&load_row(issued as u32, issued, 50));
        }
        written(timeline, 2000)
    };
    let (all, _) = whole(1000);
    assert_eq!(all.len(), 1000);
    let (some, cut) = whole(300);
    assert_eq!(cut, Written { events: 300, cut_at: Some(300) });
    let begins = |events: &[Value]| slices(events).iter().map(|slice| slice.3).collect::<Vec<_>>();
    assert_eq!(begins(&some), begins(&all)[..300]);
    assert!(slices(&some).iter().all(|slice| slice.3 + slice.4 <= 300.0), "clipped at the cut");
}

#[test]
fn too_many_events_at_the_start_leave_an_empty_timeline() {
    for issued in [0, 5] {
        let mut timeline = timeline("5..", 3);
        let row = |start_cycle| IntervalRow { start_cycle, cycles: 5, ..IntervalRow::default() };
        timeline.interval(&row(1));
        (0..8).for_each(|slot| timeline.load(&load_row(slot, issued, 20)));
        timeline.interval(&row(6));
        let (events, written) = written(timeline, 100);
        assert_eq!(events, Vec::<Value>::new());
        assert_eq!(written, Written { events: 0, cut_at: Some(5) });
    }
}

#[test]
fn machine_counters_count_as_events() {
    let mut timeline = timeline("..", 100);
    for start_cycle in 0..10_000 {
        timeline.interval(&IntervalRow { start_cycle, cycles: 1, ..IntervalRow::default() });
        assert!(timeline.points.len() < 2 * 100, "memory is bounded, too");
    }
    let (events, written) = written(timeline, 10_000);
    assert_eq!(events.len(), 100);
    assert_eq!(written, Written { events: 100, cut_at: Some(25) });
}
