//! `warpmem run --timeline`.

use crate::support::Bench;
use flate2::read::GzDecoder;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::read_to_string;

fn with_gather() -> Bench {
    let bench = Bench::new();
    bench.generate("gather", &[("n", "2^11")], "gather.wmt");
    bench
}

fn read(bench: &Bench, name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(bench.path(name)).unwrap()).unwrap()
}

fn events(file: &Value) -> &Vec<Value> {
    file["traceEvents"].as_array().unwrap()
}

fn number(event: &Value, key: &str) -> f64 {
    event[key].as_f64().unwrap_or_else(|| panic!("no `{key}` in {event}"))
}

/// Returns the slices by track.
fn tracks(file: &Value) -> BTreeMap<(u64, u64), Vec<&Value>> {
    let mut tracks: BTreeMap<_, Vec<&Value>> = BTreeMap::new();
    for slice in events(file).iter().filter(|event| event["ph"] == "X") {
        let track = (slice["pid"].as_u64().unwrap(), slice["tid"].as_u64().unwrap());
        tracks.entry(track).or_default().push(slice);
    }
    tracks
}

/// Tolerance of displayed cycles.
const CLOSE: f64 = 1e-6;

#[test]
fn slices_of_a_track_are_sequential_or_nested() {
    let bench = with_gather();
    bench.output(&["run", "gather.wmt", "--timeline", "t.json"]);
    let file = read(&bench, "t.json");
    let mut named = BTreeSet::new();
    for event in events(&file) {
        let track = (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
        match event["ph"].as_str().unwrap() {
            "M" if event["name"] == "thread_name" => assert!(named.insert(track)),
            "M" => assert!(event["args"].is_object()),
            "C" => assert!(number(event, "ts") >= 0.0),
            "X" => assert!(number(event, "ts") >= 0.0 && number(event, "dur") >= 0.0),
            other => panic!("{other}"),
        }
    }
    for (track, slices) in tracks(&file) {
        assert!(named.contains(&track), "{track:?} has no name");
        let mut around: Vec<f64> = Vec::new();
        for slice in slices {
            let (begin, end) = (number(slice, "ts"), number(slice, "ts") + number(slice, "dur"));
            while around.last().is_some_and(|outer| *outer <= begin + CLOSE) {
                around.pop();
            }
            assert!(
                around.last().is_none_or(|outer| end <= outer + CLOSE),
                "{slice} crosses another"
            );
            around.push(end);
        }
    }
}

#[test]
fn timeline_matches_tables_and_command_log() {
    let bench = with_gather();
    let arguments =
        ["run", "gather.wmt", "--timeline", "t.json", "-o", "r", "--command-log", "log.csv"];
    bench.output(&[&arguments[..], &["--format", "json"]].concat());
    let file = read(&bench, "t.json");
    let slices = || events(&file).iter().filter(|event| event["ph"] == "X");
    let named =
        |start: &str| slices().filter(|e| e["name"].as_str().unwrap().starts_with(start)).count();

    let plain = bench.output(&["run", "gather.wmt", "-o", "plain", "--format", "json"]);
    let row: Value = serde_json::from_str(&plain).unwrap();
    assert_eq!(named("load ") as u64, row[0]["loads"].as_u64().unwrap());
    assert_eq!(named("CTA ") as u64, 64, "a slice for each of the 64 warps");
    for table in ["channels.parquet", "banks.parquet", "sms.parquet"] {
        let [with, without] =
            ["r", "plain"].map(|dir| fs::read(bench.path(dir).join(table)).unwrap());
        assert!(with == without, "{table} is another with a timeline");
    }

    let log = fs::read_to_string(bench.path("log.csv")).unwrap();
    let of_kind =
        |kind: &str| log.lines().filter(|line| line.split(',').nth(1) == Some(kind)).count();
    for kind in ["ACT", "PRE", "RD", "WR", "REF"] {
        let shown = slices().filter(|event| event["name"] == kind).count();
        assert_eq!(shown, of_kind(kind), "{kind}");
    }
    assert!(of_kind("ACT") > 0);
    assert_eq!(named("row "), of_kind("ACT"), "each row that is opened");
}

#[test]
fn timeline_window_is_exact_and_deterministic() {
    let bench = with_gather();
    let run = |name: &str| {
        bench.output(&["run", "gather.wmt", "--timeline", name, "--timeline-window", "300..400"]);
    };
    run("a.json");
    run("b.json.gz");
    let text = fs::read_to_string(bench.path("a.json")).unwrap();
    let packed =
        read_to_string(GzDecoder::new(File::open(bench.path("b.json.gz")).unwrap())).unwrap();
    assert!(text == packed, "compressed or not, it is the same");
    let file = read(&bench, "a.json");
    assert_eq!(file["otherData"]["window_end"], 400);
    let mut slices = 0;
    for event in events(&file).iter().filter(|event| event["ph"] != "M") {
        let begin = number(event, "ts");
        let end = begin + event["dur"].as_f64().unwrap_or(0.0);
        assert!(begin >= 300.0 && end <= 400.0 + CLOSE, "{event}");
        slices += u32::from(event["ph"] == "X");
    }
    assert!(slices > 100);
}

#[test]
fn event_limit_ends_the_window_with_a_note() {
    let bench = with_gather();
    let arguments = ["run", "gather.wmt", "--timeline", "t.json", "--timeline-events", "500"];
    let ran = bench.run(&arguments);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("note: the timeline ends at core cycle "), "{ran:?}");
    let file = read(&bench, "t.json");
    let cut = number(&file["otherData"], "cut_at");
    let shown = events(&file).iter().filter(|event| event["ph"] != "M");
    assert!(shown.clone().count() <= 500);
    assert!(shown.into_iter().all(|e| number(e, "ts") <= cut + 1.0));
}

#[test]
fn an_empty_timeline_states_the_reason() {
    let bench = with_gather();
    let note = |arguments: &[&str]| {
        let run = ["run", "gather.wmt", "--machine", "li2015", "--timeline", "t.json"];
        let ran = bench.run(&[&run[..], arguments].concat());
        assert_eq!(ran.status, Some(0), "{ran:?}");
        assert!(ran.stderr.contains("timeline: 0 events in t.json"), "{ran:?}");
        assert!(events(&read(&bench, "t.json")).iter().all(|event| event["ph"] == "M"));
        ran.stderr
    };
    let late = note(&["--timeline-window", "1000000.."]);
    assert!(late.contains("note: the timeline is empty: the run ends at core cycle "), "{late}");
    assert!(late.contains("begins earlier than 1,000,000"), "{late}");
    let few = note(&["--timeline-events", "10"]);
    assert!(
        few.contains("note: the timeline is empty: more than 10 events begin at core "),
        "{few}"
    );
    assert!(few.contains("give a larger --timeline-events"), "{few}");
}

#[test]
fn every_command_on_an_open_row_lies_within_it() {
    let bench = Bench::new();
    bench.generate("vecadd", &[("n", "2^14")], "vecadd.wmt");
    // Nearly everything is written after the last CTA.
    let deferred = [
        "--set",
        "l2.cache.write=write-through",
        "--set",
        "dram.write_queue=2048",
        "--set",
        "dram.write_high_watermark=2048",
        "--set",
        "dram.write_low_watermark=0",
    ];
    bench.output(&[&["run", "vecadd.wmt", "--timeline", "t.json"], &deferred[..]].concat());
    let file = read(&bench, "t.json");
    let mut writes = 0;
    for slices in tracks(&file).values() {
        let end = |slice: &Value| number(slice, "ts") + number(slice, "dur");
        let (rows, others): (Vec<&Value>, Vec<&Value>) =
            slices.iter().partition(|slice| slice["name"].as_str().unwrap().starts_with("row "));
        for write in others.into_iter().filter(|slice| slice["name"] == "WR") {
            let around = |row: &&Value| {
                number(row, "ts") <= number(write, "ts") && end(row) + CLOSE >= end(write)
            };
            assert!(rows.iter().any(around), "{write}");
            writes += 1;
        }
    }
    assert!(writes > 100);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let bench = with_gather();
    let refused = |arguments: &[&str], part: &str| {
        let message = bench.refusal(&[&["run", "gather.wmt"], arguments].concat());
        assert!(message.contains(part), "{message}");
    };
    refused(&["--timeline", "t.txt"], "expected a name that ends in .json or .json.gz");
    refused(&["--timeline", "no/such/t.json"], "failed to write no/such/t.json");
    refused(&["--timeline", "t.json", "--timeline-window", "20..10"], "give `1000..5000`");
    refused(&["--timeline", "t.json", "--timeline-events", "0"], "--timeline-events");
    refused(&["--timeline-window", "1..2"], "--timeline <FILE>");
    let sampled = ["--timeline", "t.json", "-o", "r", "--requests", "1/64"];
    refused(&sampled, "a timeline needs every request");
    assert!(!bench.path("t.json").exists());
}
