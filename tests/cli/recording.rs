//! Requests and intervals: recorded on request, without changing other tables.

use super::support::{Bench, names_in};
use std::fs;
use warpmem_analysis::polars::prelude::*;
use warpmem_analysis::read_table;

const TABLES: [&str; 11] = [
    "banks.parquet",
    "channels.parquet",
    "histograms.parquet",
    "kernels.parquet",
    "loads",
    "network_links.parquet",
    "network_nodes.parquet",
    "networks.parquet",
    "policy_counters.parquet",
    "runs.parquet",
    "slices.parquet",
];

#[test]
fn optional_recordings_are_independent() {
    let bench = Bench::with_trace();
    bench.output(&["run", "small.wmt", "-o", "plain"]);
    let all = ["--intervals", "100", "--requests", "all", "-o"];
    bench.output(&[&["run", "small.wmt"][..], &all, &["run"]].concat());
    bench.output(&[&["compare", "small.wmt"][..], &all, &["compare"]].concat());
    let plain = names_in(&bench.path("plain"));
    for name in TABLES {
        assert!(plain.iter().any(|there| there == name), "{name} in {plain:?}");
    }
    assert!(plain.iter().all(|name| name != "requests" && name != "intervals"), "{plain:?}");
    for name in plain.iter().filter(|name| name.ends_with(".parquet")) {
        let bytes = |folder: &str| fs::read(bench.path(folder).join(name)).unwrap();
        assert!(bytes("plain") == bytes("run"), "{name}");
    }
    for table in ["loads", "requests", "intervals"] {
        let [run, compare] = ["run", "compare"].map(|folder| {
            let folder = bench.path(folder).join(table);
            let names = names_in(&folder);
            assert_eq!(names.len(), 1, "{table}");
            fs::read(folder.join(&names[0])).unwrap()
        });
        assert!(run == compare, "{table}");
    }
}

#[test]
fn recorded_rows_add_up_to_the_run() {
    let bench = Bench::with_trace();
    bench.output(&["run", "small.wmt", "--intervals", "100", "--requests", "all", "-o", "out"]);
    let table = |name: &str| read_table(bench.path("out").join(name)).unwrap();
    let counts = ["cycles", "warp_instructions", "read_requests", "reads", "activations"];
    let run = table("runs.parquet").select(counts.map(col)).collect().unwrap();
    let sums = table("intervals").select(counts.map(|name| col(name).sum())).collect().unwrap();
    assert!(run.equals(&sums), "{run}\n{sums}");
    let reads = table("requests").filter(col("kind").eq(lit("read")));
    let latency = (col("returned") - col("created")).mean().alias("latency_mean");
    let sample = reads.select([latency, len().cast(DataType::Int64).alias("read_requests")]);
    let sample = sample.collect().unwrap();
    let run = table("runs.parquet").select([col("latency_mean"), col("read_requests")]);
    let run = run.collect().unwrap();
    assert_eq!(run.column("read_requests").unwrap(), sample.column("read_requests").unwrap());
    let mean =
        |frame: &DataFrame| frame.column("latency_mean").unwrap().f64().unwrap().get(0).unwrap();
    // Each latency in `runs` is rounded to whole cycles.
    assert!((0.0..1.0).contains(&(mean(&sample) - mean(&run))), "{sample} {run}");
}

#[test]
fn what_cannot_be_recorded_is_refused() {
    let bench = Bench::with_trace();
    let run = |options: &[&'static str]| [&["run", "small.wmt", "-o", "out"], options].concat();
    bench.refuses(&run(&["--intervals", "0"]), &["--intervals", "zero"]);
    bench.refuses(&run(&["--intervals", "often"]), &["'often'", "--intervals"]);
    bench.refuses(&run(&["--requests", "2/3"]), &["`2/3` is no sample", "`all`", "`1/N`"]);
    for option in [["--intervals", "100"], ["--requests", "all"]] {
        bench.refuses(&[&["run", "small.wmt"][..], &option].concat(), &["--output <DIR>"]);
        bench.refuses(&[&["compare", "small.wmt"][..], &option].concat(), &["--output <DIR>"]);
    }
    assert_eq!(bench.names(), ["small.wmt"]);
}
