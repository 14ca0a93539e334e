//! Results survive a round trip in any order of runs, and incomplete files have no final name.

use super::fixture;
use crate::file::{GROUP_ROWS, Stream, StreamedRow};
use crate::metrics::run_key_columns;
use crate::store::STREAMED;
use crate::{
    Column, FinishedRun, Recorded, ResultsError, ResultsWriter, RunKey, read_table, run_row_json,
    tables_of,
};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{self, File};
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;
use tempfile::tempdir;
use warpmem_gpu::results::{LoadRow, RequestSample, RunResult, RunSink, Wanted};

/// Reads all rows of a Parquet file.
fn read(path: &Path) -> Vec<Map<String, Value>> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(|row| {
        row.unwrap().get_column_iter().map(|(name, field)| (name.clone(), value(field))).collect()
    })
    .collect()
}

fn value(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Long(value) => json!(value),
        Field::Double(value) => json!(value),
        Field::Str(value) => json!(value),
        other => panic!("no column is of the type of {other:?}"),
    }
}

const ALL: Recorded =
    Recorded { loads: true, intervals: Some(NonZeroU64::MIN), requests: Some(RequestSample::ALL) };

const REQUESTS: u64 = 3;
const INTERVALS: u64 = 2;

fn record(writer: &ResultsWriter, index: usize, key: RunKey, result: &RunResult, loads: u64) {
    let mut recorder = writer.begin_run(key, ALL).unwrap();
    (0..loads).for_each(|load| recorder.load(&fixture::load_row(load)));
    (0..REQUESTS).for_each(|request| recorder.request(&fixture::request_row(request)));
    (0..INTERVALS).for_each(|interval| recorder.interval(&fixture::interval_row(interval)));
    writer.finish_run(index, recorder, result).unwrap();
}

/// Reads every file under `dir`.
fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            let inner = contents(&path).into_iter();
            files.extend(inner.map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)));
        } else {
            files.insert(name, fs::read(&path).unwrap());
        }
    }
    files
}

fn write_two_runs(dir: &Path) {
    let writer = ResultsWriter::create(dir).unwrap();
    record(&writer, 0, fixture::key(), &fixture::result(), 10);
    record(&writer, 1, fixture::other_key(5), &RunResult::default(), 0);
    writer.finish().unwrap();
}

#[test]
fn the_rows_of_runs_are_their_json() {
    let dir = tempdir().unwrap();
    write_two_runs(dir.path());
    let expected = vec![
        run_row_json(&fixture::key(), &fixture::result()),
        run_row_json(&fixture::other_key(5), &RunResult::default()),
    ];
    assert_eq!(read(&dir.path().join("runs.parquet")), expected);
    assert_eq!((&expected[1]["seed"], &expected[1]["variant"]), (&7.into(), &2.into()));
    assert_eq!(expected[1]["workload"], "spmv --rows 64");
    assert_eq!(expected[1]["bound"], "perfect-dram");
    assert_eq!(expected[1]["bound_ipc_thread"], 12.5);
}

#[test]
fn tables_read_back_as_they_were_written() {
    let dir = tempdir().unwrap();
    write_two_runs(dir.path());
    let runs = [
        FinishedRun::new(fixture::key(), fixture::result()),
        FinishedRun::new(fixture::other_key(5), RunResult::default()),
    ];
    for table in tables_of(&runs.map(Arc::new)) {
        let read = read_table(&dir.path().join(format!("{}.parquet", table.name))).unwrap();
        assert!(read == table.columns, "{}: {read:?}", table.name);
    }
    fs::write(dir.path().join("runs.parquet"), "not Parquet").unwrap();
    assert!(read_table(&dir.path().join("runs.parquet")).is_err());
}

#[test]
fn every_unit_has_a_row_with_the_key_of_its_run() {
    let dir = tempdir().unwrap();
    write_two_runs(dir.path());
    let table = |name: &str| {
        let rows = read(&dir.path().join(format!("{name}.parquet")));
        assert!(rows.iter().all(|row| row["run_id"] == fixture::key().run_id()), "{name}");
        assert!(rows.iter().all(|row| row["dram_scheduler"] == "fr-fcfs"), "{name}");
        rows
    };
    let column = |rows: &[Map<String, Value>], name: &str| -> Vec<Value> {
        rows.iter().map(|row| row[name].clone()).collect()
    };

    let kernels = table("kernels");
    assert_eq!(column(&kernels, "kernel"), [0, 1]);
    assert_eq!(column(&kernels, "name"), ["first", "second"]);
    assert_eq!(column(&kernels, "start_cycle"), [0, 400]);
    assert_eq!(column(&kernels, "cycles"), [400, 600]);
    assert_eq!(column(&kernels, "ipc_warp"), [0.25, 500.0 / 600.0]);

    let sms = table("sms");
    assert_eq!(column(&sms, "sm"), [0, 1]);
    assert_eq!(column(&sms, "inactive_cycles"), [600, 600]);
    assert_eq!(column(&sms, "no_warp_cycles"), [100, 200]);
    assert_eq!(column(&sms, "l1_read_hits"), [500, 1000]);
    assert_eq!(column(&sms, "schedulable_warps"), [850.0 / 800.0, 1700.0 / 700.0]);

    let slices = table("slices");
    assert_eq!(column(&slices, "slice"), [0, 1]);
    // li2015 has two slices per channel.
    assert_eq!(column(&slices, "channel"), [0, 0]);
    assert_eq!(column(&slices, "l2_read_hits"), [50, 100]);
    assert_eq!(column(&slices, "mshr_merge_length_max"), [4, 2]);

    let channels = table("channels");
    assert_eq!(column(&channels, "channel"), [0, 1]);
    assert_eq!(column(&channels, "reads"), [12 * 11, 12 * 22]);
    assert_eq!(column(&channels, "bandwidth_utilization"), [0.125, 0.25]);
    assert_eq!(column(&channels, "dram_bytes"), [16 * 11 * 64, 16 * 22 * 64]);

    // Streams: 12 requests over 3 rows and 8 over 5 of the SMs, over 4 and 6 rows of the channels.
    assert_eq!(column(&sms, "row_locality_before"), [4.0, 1.6]);
    assert_eq!(column(&channels, "row_locality_after"), [3.0, 8.0 / 6.0]);

    let banks = table("banks");
    assert_eq!(column(&banks, "channel"), [0, 0, 1, 1]);
    assert_eq!(column(&banks, "bank"), [0, 1, 0, 1]);
    assert_eq!(column(&banks, "row_conflicts"), [3, 30, 6, 60]);
    assert_eq!(column(&banks, "row_hit_rate"), [0.5, 0.5, 0.5, 0.5]);
    assert_eq!(column(&banks, "streak_breakers_other_core"), [6, 60, 12, 120]);

    let counters = table("policy_counters");
    assert_eq!(column(&counters, "index"), [0, 0, 1]);
    assert_eq!(column(&counters, "policy"), ["fr-fcfs"; 3]);
    assert_eq!(column(&counters, "counter"), ["hits", "ends", "hits"]);
    assert_eq!(column(&counters, "value"), [7, 8, 9]);
}

#[test]
fn networks_have_a_row_per_direction() {
    let dir = tempdir().unwrap();
    write_two_runs(dir.path());
    let rows = read(&dir.path().join("networks.parquet"));
    let expected = json!({
        "direction": ["request", "reply"],
        "network_cycles": [500, 500],
        "packets": [10, 10],
        "flits": [20, 50],
        "latency_mean": [15.5, 9.0],
        "latency_p50": [15, 9],
        "latency_p90": [19, 9],
        "latency_p99": [20, 9],
        "latency_max": [20, 9],
        "wait_mean": [4.0, 0.0],
        "pipeline_mean": [6.0, 4.0],
        "serialisation_mean": [2.0, 5.0],
        "contention_mean": [3.5, 0.0],
        "hops_mean": [1.5, 1.0],
        "throughput": [0.04, 0.1],
        "throughput_per_source": [0.02, 0.05],
        // 32 flits of three links; the 16 of a source's link count neither in the mean nor the maximum.
        "link_utilization_mean": [32.0 / 1500.0, 0.05],
        "link_utilization_max": [0.024, 0.06],
        // 900 flit cycles of 20 entries; the fullest buffer has 500 of 4.
        "buffer_utilization_mean": [0.09, null],
        "buffer_utilization_max": [0.25, null],
        // 8 and 2 packets: 10^2 / (2 x 68). A single source is treated like all that send.
        "fairness": [100.0 / 136.0, 1.0],
        // 8 cycles of the second source over 4.
        "wait_max_over_mean": [2.0, null],
    });
    assert_columns(&rows, &expected);
}

#[test]
fn every_node_and_link_has_a_row() {
    let dir = tempdir().unwrap();
    write_two_runs(dir.path());
    let nodes = read(&dir.path().join("network_nodes.parquet"));
    let (request, reply, source, destination) = ("request", "reply", "source", "destination");
    let expected = json!({
        "direction": [request, request, request, request, reply, reply, reply, reply],
        "side": [source, source, destination, destination, source, source, destination, destination],
        "node": [0, 1, 0, 1, 0, 1, 0, 1],
        "packets": [8, 2, 5, 5, 10, 0, 4, 6],
        "flits": [16, 4, 12, 8, 50, 0, 20, 30],
        "wait_mean": [3.0, 8.0, null, null, 0.0, null, null, null],
        "throughput": [0.032, 0.008, 0.024, 0.016, 0.1, 0.0, 0.04, 0.06],
    });
    assert_columns(&nodes, &expected);

    let links = read(&dir.path().join("network_links.parquet"));
    let router = "router";
    let expected = json!({
        "direction": [request, request, request, request, request, reply, reply, reply, reply],
        "from_kind": [source, source, router, router, router, source, source, router, router],
        "from_index": [0, 1, 0, 1, 0, 0, 1, 0, 0],
        "to_kind": [router, router, router, destination, destination, router, router, destination, destination],
        "to_index": [0, 0, 1, 0, 1, 0, 0, 0, 1],
        "flits": [16, 4, 12, 12, 8, 50, 0, 20, 30],
        "utilization": [0.032, 0.008, 0.024, 0.024, 0.016, 0.1, 0.0, 0.04, 0.06],
        "buffer_flits": [8, 8, 4, 0, 0, 0, 0, 0, 0],
        "buffer_utilization": [0.1, 0.0, 0.25, null, null, null, null, null, null],
    });
    assert_columns(&links, &expected);
}

/// Asserts the columns after the key, in order, with their values.
#[track_caller]
fn assert_columns(rows: &[Map<String, Value>], expected: &Value) {
    assert!(rows.iter().all(|row| row["run_id"] == fixture::key().run_id()));
    let keys = run_key_columns().len();
    let names: Vec<&String> = rows[0].keys().skip(keys).collect();
    let columns = expected.as_object().unwrap();
    assert_eq!(names, Vec::from_iter(columns.keys()));
    for (name, values) in columns {
        let found: Vec<Value> = rows.iter().map(|row| row[name].clone()).collect();
        assert_eq!(json!(found), *values, "{name}");
    }
}

#[test]
fn load_rows_survive_several_row_groups() {
    const ROWS: u64 = 200_000;
    let dir = tempdir().unwrap();
    let writer = ResultsWriter::create(dir.path()).unwrap();
    record(&writer, 0, fixture::key(), &fixture::result(), ROWS);
    writer.finish().unwrap();

    let path = dir.path().join(format!("loads/{}.parquet", fixture::key().run_id()));
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    let groups: Vec<i64> = reader.metadata().row_groups().iter().map(|g| g.num_rows()).collect();
    let full = GROUP_ROWS as i64;
    assert_eq!(groups, [full, full, full, ROWS as i64 - 3 * full]);

    let (key_columns, columns) = (run_key_columns(), LoadRow::columns());
    let key = fixture::key();
    let head: Vec<Value> = key_columns.iter().map(|column| column.json(&key)).collect();
    let mut seen = 0;
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        let expected = fixture::load_row(seen);
        let body = columns.iter().map(|column: &Column<_>| column.json(&expected));
        let read = row.get_column_iter().map(|(_, field)| value(field));
        assert!(read.eq(head.iter().cloned().chain(body)), "row {seen}");
        seen += 1;
    }
    assert_eq!(seen, ROWS);
}

#[test]
fn distributions_have_a_row_per_bucket() {
    let dir = tempdir().unwrap();
    write_two_runs(dir.path());
    let rows = read(&dir.path().join("histograms.parquet"));
    let of = |name: &str| -> Vec<[u64; 3]> {
        let rows = rows.iter().filter(|row| row["distribution"] == name);
        let values = |row: &Map<String, Value>| {
            ["lowest", "highest", "count"].map(|column| row[column].as_u64().unwrap())
        };
        rows.map(values).collect()
    };
    assert_eq!(of("requests_per_load"), [[1, 1, 100], [7, 7, 100]]);
    assert_eq!(of("offchip_per_load"), [[0, 0, 100], [5, 5, 100]]);
    assert_eq!(of("channels_per_load"), [[1, 1, 100], [2, 2, 100]]);
    assert_eq!(of("banks_per_load"), [[1, 1, 100], [3, 3, 100]]);
    // Of both slices.
    assert_eq!(of("mshr_merge_length"), [[1, 1, 2], [2, 2, 1], [4, 4, 1]]);
    assert_eq!(of("critical_field"), [[1, 1, 160], [2, 2, 80], [7, 7, 120], [16, 16, 40]]);
    // Both channels: 400 and 0 cycles without requests.
    assert_eq!(of("queue_occupancy"), [[0, 0, 400], [2, 2, 240], [3, 3, 240], [5, 5, 720]]);
    assert_eq!(of("ctas_per_row"), [[1, 1, 6], [4, 4, 2]]);
    assert_eq!(of("reply_network_latency"), [[9, 9, 10]]);
    assert_eq!(of("request_network_latency").len(), 10);
    let sum = |name: &str| of(name).iter().map(|[_, _, count]| count).sum::<u64>();
    assert_eq!(["load_time", "divergence", "latency"].map(sum), [100, 100, 100]);
    // From 128 on, buckets span two values.
    assert_eq!(of("load_time")[26..29], [[127, 127, 1], [128, 129, 2], [130, 131, 2]]);
    let unit = rows.iter().find(|row| row["distribution"] == "queue_occupancy").unwrap();
    assert_eq!(unit["unit"], "requests");
    assert!(rows.iter().all(|row| row["run_id"] == fixture::key().run_id()), "one run has counts");
}

#[test]
fn every_request_has_a_row_with_times_in_core_cycles() {
    let dir = tempdir().unwrap();
    write_two_runs(dir.path());
    let path = dir.path().join(format!("requests/{}.parquet", fixture::key().run_id()));
    let expected = json!({
        "kernel": [1, 1, 1],
        "cta": [2, 2, 2],
        "warp_in_cta": [3, 3, 3],
        "sm": [4, 4, 4],
        "warp_slot": [5, 5, 5],
        "pc": [64, 64, 64],
        "address": [0, 128, 256],
        "kind": ["read", "write", "read"],
        "slice": [1, 1, 1],
        "channel": [0, 0, 0],
        "bank": [7, 7, 7],
        "row": [100, 101, 102],
        "offchip": [1, 0, 1],
        // Ticks over 4.
        "created": [2.5, 3.5, 4.5],
        "l1_missed": [3.0, 4.0, 5.0],
        "l2_arrived": [3.25, 4.25, 5.25],
        "l2_served": [4.0, 5.0, 6.0],
        "dram_entered": [5.0, null, 7.0],
        "dram_started": [6.25, null, 8.25],
        "dram_finished": [7.5, null, 9.5],
        "replied": [8.0, 9.0, 10.0],
        "returned": [10.0, 11.0, 12.0],
    });
    assert_columns(&read(&path), &expected);
}

#[test]
fn every_interval_has_a_row_with_its_metrics() {
    let dir = tempdir().unwrap();
    write_two_runs(dir.path());
    let path = dir.path().join(format!("intervals/{}.parquet", fixture::key().run_id()));
    let rows = read(&path);
    let column = |name: &str| Value::from_iter(rows.iter().map(|row| row[name].clone()));
    let expected = json!({
        "start_cycle": [1, 101],
        "cycles": [100, 50],
        // 200 and 400 warp instructions.
        "ipc_warp": [2.0, 8.0],
        "active_cycles": [300, 300],
        "memory_block_cycles": [200, 200],
        // 850 and 1700 ready warps, over cycles with resident warps, as of the SMs.
        "schedulable_warps": [850.0 / 800.0, 1700.0 / 700.0],
        "resident_warps": [48, 49],
        "l1_read_hits": [500, 1000],
        "l2_read_hits": [50, 100],
        "l2_read_miss_rate": [0.3, 0.3],
        "queue_length_mean": [5.0, null],
        "read_requests": [20, 0],
        "latency_mean": [25.0, null],
        "requests_in_flight": [7, 8],
        "reads": [12, 24],
        "writes": [4, 8],
        "activations": [4, 8],
        "row_hits": [4, 8],
        "row_hit_rate": [0.5, 0.5],
        "dram_cycles": [800, 800],
        "bandwidth_utilization": [0.125, 0.25],
        "queue_occupancy_mean": [2.0, 4.0],
        "blp": [3.5, 3.5],
    });
    for (name, values) in expected.as_object().unwrap() {
        assert_eq!(column(name), *values, "{name}");
    }
    assert!(rows.iter().all(|row| row["run_id"] == fixture::key().run_id()));
}

#[test]
fn streams_not_recorded_have_no_folder() {
    let dir = tempdir().unwrap();
    let writer = ResultsWriter::create(dir.path()).unwrap();
    let mut recorder = writer.begin_run(fixture::key(), Recorded::default()).unwrap();
    recorder.load(&fixture::load_row(0));
    assert_eq!(recorder.wanted(), Wanted::default());
    writer.finish_run(0, recorder, &fixture::result()).unwrap();
    writer.finish().unwrap();
    assert!(contents(dir.path()).contains_key("runs.parquet"));
    assert!(STREAMED.iter().all(|table| !dir.path().join(table).exists()));
}

#[test]
fn a_run_without_loads_has_a_table_without_rows() {
    let dir = tempdir().unwrap();
    write_two_runs(dir.path());
    let path = dir.path().join(format!("loads/{}.parquet", fixture::other_key(5).run_id()));
    assert_eq!(read(&path).len(), 0);
}

#[test]
fn the_order_of_finished_runs_does_not_change_the_files() {
    let (forth, back) = (tempdir().unwrap(), tempdir().unwrap());
    write_two_runs(forth.path());
    let writer = ResultsWriter::create(back.path()).unwrap();
    std::thread::scope(|scope| {
        let late = writer.begin_run(fixture::key(), ALL).unwrap();
        let early = scope
            .spawn(|| record(&writer, 1, fixture::other_key(5), &RunResult::default(), 0))
            .join();
        early.unwrap();
        let mut late = late;
        (0..10).for_each(|load| late.load(&fixture::load_row(load)));
        (0..REQUESTS).for_each(|request| late.request(&fixture::request_row(request)));
        (0..INTERVALS).for_each(|interval| late.interval(&fixture::interval_row(interval)));
        writer.finish_run(0, late, &fixture::result()).unwrap();
    });
    writer.finish().unwrap();

    let names: Vec<String> = contents(forth.path()).into_keys().collect();
    let mut expected: Vec<String> =
        crate::schema().iter().map(|table| table.name.to_owned()).collect();
    expected.retain(|name| !STREAMED.contains(&name.as_str()));
    for table in STREAMED {
        expected.push(format!("{table}/{}", fixture::key().run_id()));
        expected.push(format!("{table}/{}", fixture::other_key(5).run_id()));
    }
    expected.iter_mut().for_each(|name| name.push_str(".parquet"));
    expected.sort();
    assert_eq!(names, expected);
    assert!(contents(forth.path()) == contents(back.path()));
}

#[test]
fn a_dropped_writer_leaves_nothing() {
    let dir = tempdir().unwrap();
    let writer = ResultsWriter::create(dir.path()).unwrap();
    record(&writer, 0, fixture::key(), &fixture::result(), 10);
    let unfinished = writer.begin_run(fixture::other_key(5), ALL).unwrap();
    assert!(!contents(dir.path()).is_empty());
    drop(unfinished);
    drop(writer);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_created_directory_without_results_is_removed() {
    let dir = tempdir().unwrap();
    let made = dir.path().join("results");
    drop(ResultsWriter::create(&made).unwrap());
    assert!(!made.exists());
    ResultsWriter::create(&made).unwrap().finish().unwrap();
    assert!(!made.exists());
    write_two_runs(&made);
    assert!(made.join("runs.parquet").exists());
}

#[test]
fn an_unfinished_run_is_omitted_and_the_others_are_kept() {
    let dir = tempdir().unwrap();
    let writer = ResultsWriter::create(dir.path()).unwrap();
    record(&writer, 0, fixture::key(), &fixture::result(), 10);
    let unfinished = writer.begin_run(fixture::other_key(5), ALL).unwrap();
    writer.finish().unwrap();
    drop(unfinished);
    assert_eq!(read(&dir.path().join("runs.parquet")).len(), 1);
    assert_eq!(fs::read_dir(dir.path().join("loads")).unwrap().count(), 1);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), crate::schema().len());
}

#[test]
fn without_a_finished_run_nothing_is_written() {
    let dir = tempdir().unwrap();
    ResultsWriter::create(dir.path()).unwrap().finish().unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn results_are_never_mixed_with_earlier_ones() {
    let dir = tempdir().unwrap();
    write_two_runs(dir.path());
    let before = contents(dir.path());
    let error = ResultsWriter::create(dir.path()).err().unwrap();
    assert!(
        matches!(&error, ResultsError::AlreadyHoldsResults { found, .. } if found == "runs.parquet")
    );
    assert!(error.to_string().contains(dir.path().to_str().unwrap()));
    assert!(contents(dir.path()) == before);
}

#[test]
fn a_second_writer_is_refused_at_its_start() {
    let dir = tempdir().unwrap();
    let writer = ResultsWriter::create(dir.path()).unwrap();
    record(&writer, 0, fixture::key(), &fixture::result(), 10);
    let error = ResultsWriter::create(dir.path()).err().unwrap();
    assert!(matches!(error, ResultsError::InUse { .. }), "{error}");
    writer.finish().unwrap();
    let hidden = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with('.');
    let mut names = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!names.any(|name| hidden(&name)), "no lock and nothing half stays");
    assert!(dir.path().join("runs.parquet").exists());
}

#[test]
fn a_run_is_recorded_once() {
    let dir = tempdir().unwrap();
    let writer = ResultsWriter::create(dir.path()).unwrap();
    let _first = writer.begin_run(fixture::key(), ALL).unwrap();
    let error = writer.begin_run(fixture::key(), ALL).err().unwrap();
    assert!(matches!(error, ResultsError::DuplicateRun { trace, .. } if trace == "bfs.wmt"));
}

#[test]
fn an_output_that_is_a_file_is_named_in_the_error() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("taken");
    fs::write(&path, "not a directory").unwrap();
    let error = ResultsWriter::create(&path).err().unwrap();
    assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    assert!(error.source().is_some());
}

/// `/dev/full` fails every write like a full disk.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_reported_when_the_run_ends() {
    let path = Path::new("/dev/full");
    let mut loads: Stream<LoadRow> = Stream::create(path, &fixture::key()).unwrap();
    (0..5 * GROUP_ROWS as u64).for_each(|load| loads.push(fixture::load_row(load)));
    let error = loads.finish().err().unwrap();
    assert_eq!(error.to_string(), "failed to write /dev/full");
    assert!(error.source().unwrap().to_string().contains("No space left"), "{error:?}");
}
