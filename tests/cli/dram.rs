//! `warpmem dram` with a stream: its output and its refusals.

use super::support::Bench;
use serde_json::{Map, Value};

type Row = Map<String, Value>;

fn rows(bench: &Bench, arguments: &[&str]) -> Vec<Row> {
    let all = [&["dram", "--format", "json"], arguments].concat();
    serde_json::from_str(&bench.output(&all)).unwrap()
}

const RANDOM: [&str; 6] = ["--stream", "random", "--requests", "2000", "--locality", "4"];

#[test]
fn a_row_for_each_scheduler() {
    let bench = Bench::new();
    let rows = rows(&bench, &[&RANDOM[..], &["--dram-scheduler", "fcfs,fr-fcfs"]].concat());
    let schedulers: Vec<&Value> = rows.iter().map(|row| &row["dram_scheduler"]).collect();
    assert_eq!(schedulers, ["fcfs", "fr-fcfs"]);
    for row in &rows {
        assert_eq!(row["device"], "v100");
        assert_eq!(row["channel"], Value::Null);
        assert_eq!(row["read_requests"], 2000);
        assert_eq!(row["write_latency_mean"], Value::Null);
    }
    let cycles = |row: &Row| row["cycles"].as_u64().unwrap();
    assert!(cycles(&rows[1]) < cycles(&rows[0]));
}

/// At most 64 bytes in two cycles of 1000/924 ns; the values of a row are consistent.
#[test]
fn the_numbers_of_a_row_belong_together() {
    let bench = Bench::new();
    let options = ["--machine", "li2015", "--reads", "0.5"];
    let row = &rows(&bench, &[&RANDOM[..], &options].concat())[0];
    let number = |key: &str| row[key].as_f64().unwrap();
    assert_eq!(number("reads") + number("writes"), 2000.0);
    let outcomes = number("row_hits") + number("row_misses") + number("row_conflicts");
    assert_eq!(outcomes, 2000.0);
    let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
    near(number("time_us"), number("cycles") / 924.0);
    near(number("bandwidth_gbps"), 2000.0 * 64.0 / (number("time_us") * 1000.0));
    near(number("bandwidth_utilization"), 2000.0 * 2.0 / number("cycles"));
    near(number("read_latency_p99_ns"), number("read_latency_p99") / 0.924);
    near(number("row_locality"), 2000.0 / number("activations"));
    assert!(number("read_latency_p50") <= number("read_latency_p95"));
    assert!(number("read_latency_p95") <= number("read_latency_max"));
}

#[test]
fn channel_rows_follow_the_total() {
    let bench = Bench::new();
    let rows = rows(&bench, &[&RANDOM[..], &["--channels", "3"]].concat());
    let channels: Vec<Option<u64>> = rows.iter().map(|row| row["channel"].as_u64()).collect();
    assert_eq!(channels, [None, Some(0), Some(1), Some(2)]);
    for key in ["read_requests", "activations", "row_hits"] {
        let numbers: Vec<u64> = rows.iter().map(|row| row[key].as_u64().unwrap()).collect();
        assert_eq!(numbers[0], numbers[1..].iter().sum::<u64>(), "{key}");
    }
    let longest = rows[1..].iter().map(|row| row["cycles"].as_u64()).max().unwrap();
    assert_eq!(rows[0]["cycles"].as_u64(), longest);
}

#[test]
fn the_same_on_any_number_of_threads_and_in_any_format() {
    let bench = Bench::new();
    let run = |jobs, format| {
        let schedulers = ["--dram-scheduler", "fcfs,banked-fifo,fr-fcfs"];
        let options = ["--jobs", jobs, "--format", format];
        bench.output(&[&["dram"], &RANDOM[..], &schedulers, &options].concat())
    };
    assert_eq!(run("1", "csv"), run("4", "csv"));
    let json: Vec<Row> = serde_json::from_str(&run("1", "json")).unwrap();
    let csv = run("1", "csv");
    let keys = csv.lines().next().unwrap().split(',');
    assert!(keys.eq(json[0].keys()));
    assert_eq!(csv.lines().count(), 4);
}

#[test]
fn a_table_for_people() {
    let arguments = [&["dram"], &RANDOM[..], &["--dram-scheduler", "fcfs,fr-fcfs"]].concat();
    let table = Bench::new().output(&arguments);
    // Only the form is tested here, not the numbers.
    let word = |word: &str| {
        if word.starts_with(|c: char| c.is_ascii_digit()) { "N" } else { word }.to_owned()
    };
    let line = |line: &str| line.split_whitespace().map(word).collect::<Vec<_>>().join(" ") + "\n";
    insta::assert_snapshot!(table.lines().map(line).collect::<String>());
    let widths: Vec<usize> = table.lines().skip(2).map(|line| line.chars().count()).collect();
    assert!(
        widths.iter().all(|&width| width == widths[0]),
        "numbers end below each other: {table}"
    );
}

#[test]
fn as_many_channels_as_the_page_is_wide() {
    let table = Bench::new().output(&[&["dram"], &RANDOM[..], &["--channels", "40"]].concat());
    assert!(table.ends_with("more: see `--format csv`\n"), "{table}");
    let heading = table.lines().nth(2).unwrap();
    assert!(heading.trim_start().starts_with("all "), "{heading}");
    assert!(table.lines().skip(2).all(|line| line.chars().count() <= 120));
}

#[test]
fn a_file_of_accesses() {
    let bench = Bench::new();
    bench.write("a.csv", "op,address\nR,0\nW,0x100\nR,512\n");
    let rows =
        rows(&bench, &["--machine", "li2015", "--trace", "a.csv", "--set", "dram.channels=2"]);
    let counts = |row: &Row| (row["read_requests"].as_u64(), row["write_requests"].as_u64());
    assert_eq!(
        rows.iter().map(counts).collect::<Vec<_>>(),
        [(Some(2), Some(1)), (Some(2), Some(0)), (Some(0), Some(1))]
    );
}

/// Yuan 2009, section 2, through the command line: 8 data cycles of 34.
#[test]
fn one_bank_with_row_locality_two() {
    let row = &rows(
        &Bench::new(),
        &[
            ["--standard", "gddr3:HYB18H512321BF_x2:yuan2009"],
            ["--stream", "one-bank"],
            ["--locality", "2"],
            ["--bytes", "64"],
            ["--set", "dram.read_queue=32"],
            ["--requests", "20000"],
        ]
        .concat(),
    )[0];
    assert_eq!(row["device"], "gddr3:HYB18H512321BF_x2:yuan2009");
    // From the activation to the last data of the first row, and 34 cycles for each of the 9,999
    // others.
    assert_eq!(row["cycles"], 12 + 6 + 9 + 2 + 34 * 9_999);
    assert_eq!(row["reads"], 40_000);
}

/// No stream exceeds the bandwidth of the data buses, with or without pseudo channels.
#[test]
fn shares_of_the_peak_are_at_most_one() {
    let bench = Bench::new();
    for standard in ["gddr5", "gddr6", "gddr7", "hbm2", "hbm2-legacy", "hbm3"] {
        let stream = ["--stream", "sequential", "--requests", "20000", "--standard", standard];
        let row = &rows(&bench, &stream)[0];
        let share = |key: &str| row[key].as_f64().unwrap();
        let range = 0.8..=1.0;
        assert!(range.contains(&share("bandwidth_utilization")), "{standard}: {row:?}");
        assert!(range.contains(&share("dram_efficiency")), "{standard}: {row:?}");
    }
}

/// The documented columns equal the existing ones.
#[test]
fn the_page_names_every_column() {
    let page = std::fs::read_to_string(super::support::repository().join("docs/run.md")).unwrap();
    for key in rows(&Bench::new(), &RANDOM)[0].keys() {
        let latency = ["read_latency_", "write_latency_"].iter().find(|of| key.starts_with(**of));
        let name = latency.map_or(format!("`{key}`"), |of| format!("`{of}*`"));
        assert!(page.contains(&name), "{name}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let bench = Bench::new();
    let refuses = |arguments: &[&str], parts: &[&str]| {
        bench.refuses(&[&["dram"], arguments].concat(), parts);
    };
    refuses(&["--stream", "randm"], &["'randm'", "'random'"]);
    refuses(&["--locality", "4"], &["--stream <PATTERN>|--trace <FILE>"]);
    refuses(&["--stream", "random", "--trace", "a.csv"], &["cannot be used with"]);
    refuses(&["--stream", "random", "--stride", "64"], &["`--stride` has no effect"]);
    refuses(&["--stream", "strided", "--locality", "2"], &["`--locality` has no effect"]);
    refuses(&["--stream", "strided", "--channels", "2"], &["`--channels` has no effect"]);
    refuses(&["--stream", "strided"], &["needs `--stride`"]);
    refuses(&["--stream", "random", "--reads", "2"], &["`reads` = 2", "from 0 to 1"]);
    refuses(&["--stream", "random", "--rate", "fast"], &["'fast'", "20GB/s"]);
    refuses(&["--stream", "random", "--machine", "li2051"], &["did you mean `li2015`?"]);
    refuses(&["--stream", "random", "--dram-scheduler", "fcf"], &["did you mean `fcfs`?"]);
    refuses(&["--stream", "random", "--map", "row:12"], &["dram.address.map"]);
    refuses(&["--stream", "random", "--standard", "gddr9"], &["did you mean `gddr7`?", "hbm3"]);
    refuses(&["--stream", "random", "--standard", "gddr5:x"], &["`x`", "GDDR5_8Gb_x32"]);
    let tras = ["--stream", "random", "--standard", "gddr5", "--set", "dram.timing.tras=70"];
    refuses(&tras, &["dram.timing"]);
    refuses(&["--trace", "none.csv"], &["failed to open none.csv", "No such file"]);
    bench.write("a.csv", "op,address\nR,0x7fffffffffffffff\n");
    refuses(&["--trace", "a.csv"], &["a.csv:2:", "0x7fffffffffffffff", "out of range"]);
}
