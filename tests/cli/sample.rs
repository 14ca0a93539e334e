//! Parts of traces, and estimates from samples.

use super::support::{Bench, repository};
use serde_json::{Map, Value};
use std::fs;

type Row = Map<String, Value>;

/// Makes a directory with a trace of ten kernels of 16 CTAs, `bfs.wmt`.
fn bench() -> Bench {
    let bench = Bench::new();
    let trace = fs::read(repository().join("sample-traces/cache-resident/bfs-rmat.wmt")).unwrap();
    bench.write("bfs.wmt", trace);
    bench
}

fn info(bench: &Bench, trace: &str) -> Value {
    serde_json::from_str(&bench.output(&["info", trace, "--format", "json"])).unwrap()
}

fn kernels(bench: &Bench, trace: &str) -> Vec<(String, u64)> {
    let info = info(bench, trace);
    let kernel = |kernel: &Value| {
        (kernel["name"].as_str().unwrap().to_owned(), kernel["ctas"].as_u64().unwrap())
    };
    info["kernels"].as_array().unwrap().iter().map(kernel).collect()
}

#[test]
fn kernels_and_ctas_are_taken_by_number() {
    let bench = bench();
    bench.output(&["sample", "bfs.wmt", "-o", "part.wmt", "--kernels", "2..4,9", "--ctas", "4.."]);
    let names = [("Kernel", 12), ("Kernel2", 12), ("Kernel2", 12)];
    assert_eq!(kernels(&bench, "part.wmt"), names.map(|(name, ctas)| (name.to_owned(), ctas)));
    bench.output(&[
        "sample",
        "bfs.wmt",
        "-o",
        "one.wmt",
        "--kernel-name",
        "Kernel2",
        "--ctas",
        "0",
    ]);
    assert_eq!(kernels(&bench, "one.wmt"), vec![("Kernel2".to_owned(), 1); 5]);
    bench.output(&["sample", "bfs.wmt", "-o", "all.wmt"]);
    assert_eq!(info(&bench, "all.wmt")["trace_hash"], info(&bench, "bfs.wmt")["trace_hash"]);
}

#[test]
fn part_records_its_origin_and_command() {
    let bench = bench();
    let sample = ["sample", "bfs.wmt", "-o", "part.wmt", "--kernels", "2..", "--fraction", "25%"];
    bench.output(&[&sample[..], &["--run", "2", "--at-least", "4", "--seed", "7"]].concat());
    let [of, part] = ["bfs.wmt", "part.wmt"].map(|trace| info(&bench, trace));
    let command =
        "warpmem sample bfs.wmt --kernels 2.. --fraction 0.25 --at-least 4 --run 2 --seed 7";
    assert_eq!(part["command"], command);
    let source = part["source"].as_str().unwrap();
    for what in ["trace_hash", "tool", "source", "command"] {
        assert!(source.contains(of[what].as_str().unwrap()), "{what}: {source}");
    }
    assert!(source.starts_with("part of bfs.wmt"), "{source}");
}

/// Every command that reads traces accepts a part, whose kernels have fewer CTAs than their grids.
#[test]
fn a_part_replays_is_classified_and_exported() {
    let bench = bench();
    bench.output(&["sample", "bfs.wmt", "-o", "part.wmt", "--kernels", "2..5", "--ctas", "3..8"]);
    let rows: Vec<Row> =
        serde_json::from_str(&bench.output(&["run", "part.wmt", "--format", "json"])).unwrap();
    assert_eq!((rows[0]["kernels"].as_u64(), rows[0]["ctas"].as_u64()), (Some(3), Some(15)));
    let concurrent = ["run", "part.wmt", "--set", "run.concurrent_kernels=true"];
    bench.output(&concurrent);
    bench.output(&["classify", "part.wmt"]);
    bench.output(&["export", "accel-sim", "part.wmt", "-o", "text"]);
    assert_eq!(bench.names(), ["bfs.wmt", "part.wmt", "text"]);
}

#[test]
fn sample_shows_estimates_beside_true_values() {
    let bench = bench();
    let sample = ["sample", "bfs.wmt", "-o", "small.wmt", "--fraction", "50%", "--run", "1"];
    let table = bench.output(&sample);
    assert!(table.lines().all(|line| line.chars().count() <= 120), "{table}");
    insta::assert_snapshot!(table);
    let json = bench.output(&[&sample[..], &["--format", "json"]].concat());
    let object: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(object["output_hash"], info(&bench, "small.wmt")["trace_hash"]);
    for row in object["estimates"].as_array().unwrap() {
        let of = |name: &str| row[name].as_f64().unwrap();
        assert!(of("interval_low") <= of("estimate") && of("estimate") <= of("interval_high"));
        assert!((of("estimate") / of("true") - 1.0 - of("error")).abs() < 1e-12, "{row}");
    }
    let warp_instructions = &object["estimates"][0];
    assert_eq!(
        warp_instructions["true"].as_f64(),
        info(&bench, "bfs.wmt")["warp_instructions"].as_f64()
    );
}

#[test]
fn the_seed_determines_the_sample() {
    let bench = bench();
    let drawn = |seed: &str, name: &str| {
        bench.output(&["sample", "bfs.wmt", "-o", name, "--ctas-per-kernel", "4", "--seed", seed]);
        fs::read(bench.path(name)).unwrap()
    };
    let first = drawn("1", "a.wmt");
    assert_eq!(first, drawn("1", "b.wmt"));
    assert_ne!(first, drawn("2", "c.wmt"));
    let ctas = |trace: &str| kernels(&bench, trace).iter().map(|(_, ctas)| ctas).sum::<u64>();
    assert_eq!(ctas("a.wmt"), 40);
    let more = ["--ctas-per-kernel", "4", "--at-least", "16"];
    bench.output(&[&["sample", "bfs.wmt", "-o", "d.wmt"], &more[..]].concat());
    assert_eq!(ctas("d.wmt"), 160);
}

#[test]
fn what_cannot_be_sampled_is_refused() {
    let bench = bench();
    let refuses = |options: &[&str], parts: &[&str]| {
        bench.refuses(&[&["sample", "bfs.wmt", "-o", "x.wmt"], options].concat(), parts);
    };
    refuses(&["--kernels", "9..11"], &["kernels 9..11 go beyond the end", "there are 10"]);
    refuses(&["--ctas", "16"], &["CTAs 16 go beyond the end", "there are 16"]);
    refuses(&["--kernels", "3..3"], &["`3..3` is empty"]);
    refuses(&["--kernels", "1-2"], &["`1-2` is no range", "2..5"]);
    refuses(&["--kernel-name", "gemm"], &["`gemm`", "Kernel, Kernel2"]);
    refuses(&["--run", "4"], &["--fraction or --ctas-per-kernel"]);
    refuses(&["--fraction", "0"], &["above 0 and at most 1"]);
    refuses(&["--fraction", "10%", "--ctas-per-kernel", "4"], &["cannot be used with"]);
    bench.refuses(&["sample", "bfs.wmt"], &["--output"]);
    bench.refuses(&["sample", "missing.wmt", "-o", "x.wmt"], &["missing.wmt"]);
    assert_eq!(bench.names(), ["bfs.wmt"]);
}
