//! Profiles of traces.

use super::support::{Bench, repository};
use serde_json::{Map, Value};
use std::fs;
use warpmem_trace::{KernelInfo, Provenance, TraceWriter, WriterOptions};

type Object = Map<String, Value>;

fn json(bench: &Bench, arguments: &[&str]) -> Object {
    let arguments = [&["info", "small.wmt", "--format", "json"], arguments].concat();
    serde_json::from_str(&bench.output(&arguments)).unwrap()
}

#[test]
fn a_sample_trace_for_people() {
    let bench = Bench::new();
    fs::copy(
        repository().join("sample-traces/cache-resident/bfs-rmat.wmt"),
        bench.path("bfs-rmat.wmt"),
    )
    .unwrap();
    let text = bench.output(&["info", "bfs-rmat.wmt"]);
    // The part above describes the size of the file.
    let (_, figures) = text.split_once("bytes per record with addresses").unwrap();
    let (_, figures) = figures.split_once("\n\n").unwrap();
    let widest = figures.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(120), "{figures}");
    insta::assert_snapshot!(figures);
}

#[test]
fn only_the_index() {
    let bench = Bench::with_trace();
    let text = bench.output(&["info", "small.wmt", "--brief"]);
    assert!(text.contains("Records with addresses, by kernel") && !text.contains("Footprint"));
    assert!(!json(&bench, &["--brief"]).contains_key("profile"));
    bench.refuses(&["info", "small.wmt", "--brief", "--plot", "p.svg"], &["--brief", "--plot"]);
}

#[test]
fn resets_of_l2_are_named_where_there_are_some() {
    let bench = Bench::with_trace();
    assert!(!bench.output(&["info", "small.wmt", "--brief"]).contains("L2 resets"));
    assert_eq!(json(&bench, &["--brief"])["l2_resets"], Value::Array(Vec::new()));
    let (path, options) = (bench.path("resets.wmt"), WriterOptions::default());
    let mut writer = TraceWriter::create(&path, Provenance::default(), options).unwrap();
    for _ in 0..3 {
        writer.begin_kernel(KernelInfo::default()).unwrap();
        writer.end_kernel().unwrap();
        writer.reset_l2();
    }
    writer.finish().unwrap();
    let text = bench.output(&["info", "resets.wmt", "--brief"]);
    assert!(text.contains("L2 resets  2 of persisting lines"), "{text}");
    let text = bench.output(&["info", "resets.wmt", "--brief", "--format", "json"]);
    assert_eq!(
        serde_json::from_str::<Object>(&text).unwrap()["l2_resets"],
        Value::from(vec![1, 2])
    );
}

/// Each of 64 warps loads two lines and stores one, 32 lanes of 4 bytes each.
#[test]
fn figures_in_json() {
    let bench = Bench::with_trace();
    let profile = &json(&bench, &[])["profile"];
    let loads = &profile["all"]["divergence"][0];
    assert_eq!((&loads["access"], &loads["instructions"]), (&"load".into(), &128.into()));
    assert_eq!((&loads["lines"]["mean"], &loads["sectors"]["p95"]), (&1.0.into(), &4.into()));
    assert_eq!(loads["patterns"]["unit_stride"], 128);
    assert_eq!(profile["footprint"][0]["lines"]["value"], 3 * 64);
    let pages = &profile["all"]["translation"][0];
    assert_eq!((&pages["page_bytes"], &pages["instructions"]), (&4096.into(), &192.into()));
    assert_eq!((&pages["pages"]["mean"], &pages["multi_page_share"]), (&1.0.into(), &0.0.into()));
    // Each of the three vectors has 2^11 elements of 4 bytes.
    assert_eq!(profile["footprint"][0]["small_pages"]["value"], 3 * 2);
    assert_eq!(profile["reuse"]["cold_share"], 1.0);
    assert_eq!(profile["kernels"][0]["name"], "vecadd");
    // One addition per lane for 12 bytes.
    assert_eq!(profile["all"]["intensity"]["fp_per_requested_byte"], 1.0 / 12.0);
    assert_eq!(profile["spread"]["machine"], "v100");
}

#[test]
fn lines_and_channels_are_those_asked_for() {
    let bench = Bench::with_trace();
    let profile = |options: &[&str]| json(&bench, options)["profile"].clone();
    let channels =
        |profile: &Value| profile["spread"]["lines_per_channel"].as_array().unwrap().len();
    let small = profile(&["--line", "64", "--sector", "64", "--set", "dram.channels=4"]);
    assert_eq!(small["all"]["divergence"][0]["lines"]["mean"], 2.0);
    assert_eq!(channels(&small), 4);
    let other = profile(&["--machine", "accelsim-qv100"]);
    assert_eq!((&other["spread"]["machine"], channels(&other)), (&"accelsim-qv100".into(), 32));
}

#[test]
fn kernels_of_one_name_are_one_row() {
    let bench = Bench::new();
    bench.generate("bfs", &[("nodes", "2^10")], "bfs.wmt");
    let launches = |text: &str| text.lines().filter(|line| line.contains(" Kernel ×")).count();
    let brief = bench.output(&["info", "bfs.wmt", "--brief"]);
    let head = brief.split("\n\n").nth(1).unwrap();
    assert_eq!(launches(head), 1, "{brief}");
    let only_one = bench.output(&["info", "bfs.wmt", "--top", "1"]);
    assert!(only_one.contains("and 1 more: --top 2"), "{only_one}");
}

#[test]
fn file_name_determines_the_picture_format() {
    let bench = Bench::with_trace();
    for name in ["figures.svg", "figures.png"] {
        bench.output(&["info", "small.wmt", "--plot", name]);
    }
    assert_eq!(bench.names(), ["figures.png", "figures.svg", "small.wmt"]);
    let drawing = fs::read_to_string(bench.path("figures.svg")).unwrap();
    for title in
        ["Instructions", "Requests of a global access", "Sharing among CTAs", "Channels of v100"]
    {
        assert!(drawing.contains(title), "{title}");
    }
    assert!(fs::read(bench.path("figures.png")).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn what_cannot_be_is_refused() {
    let bench = Bench::with_trace();
    let refuses = |arguments: &[&str], parts: &[&str]| {
        bench.refuses(&[&["info", "small.wmt"], arguments].concat(), parts);
    };
    refuses(&["--line", "100"], &["line size of 100 bytes", "a power of two"]);
    refuses(&["--sector", "256"], &["sector size of 256 bytes", "from 4 to 128"]);
    refuses(&["--machine", "li2051"], &["did you mean `li2015`?"]);
    refuses(&["--plot", "p.gif"], &[".svg, .pdf or .png"]);
    refuses(&["--plot", "none/p.svg"], &["failed to write none/p.svg"]);
    assert_eq!(bench.names(), ["small.wmt"]);
}
