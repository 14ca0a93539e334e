//! Suites: generated, listed in a manifest, and used in place of traces.

use super::support::Bench;
use serde_json::Value;
use std::fs;
use warpmem_trace::Trace;

const SUITE: &str = "\
name = 'mine'
[[workload]]
name = 'chase'
about = 'A chase'
kernel = 'pointer-chase'
parameters = { nodes = '2^5', hops = 32 }
sizes.long = { hops = 64 }
[[workload]]
name = 'sum'
kernel = 'reduction'
kernels = '1..'
parameters.n = '2^11'
";

fn with_suite() -> Bench {
    let bench = Bench::new();
    bench.write("mine.toml", SUITE);
    bench
}

#[test]
fn a_suite_is_made_and_compared_by_its_manifest() {
    let bench = with_suite();
    let made = bench.run(&["suite", "get", "mine.toml", "-o", "out"]);
    assert_eq!((made.status, made.stdout.as_str()), (Some(0), ""), "{}", made.stderr);
    assert!(made.stderr.starts_with("2 workloads in "), "{}", made.stderr);
    assert!(made.stderr.trim_end().ends_with("; out/suite.toml"), "{}", made.stderr);
    insta::assert_snapshot!("manifest", fs::read_to_string(bench.path("out/suite.toml")).unwrap());

    let listed = bench.output(&["compare", "out/suite.toml", "--format", "csv"]);
    let alone = bench.output(&["compare", "out/chase.wmt", "out/sum.wmt", "--format", "csv"]);
    assert_eq!(listed, alone);
    assert!(bench.output(&["classify", "out/suite.toml"]).contains("\nchase "));
}

#[test]
fn the_traces_are_the_same_with_any_number_of_jobs_and_as_generated_alone() {
    let bench = with_suite();
    for (jobs, folder) in [("1", "one"), ("3", "three")] {
        bench.output(&["suite", "get", "mine.toml", "--jobs", jobs, "-o", folder]);
    }
    bench.output(&["generate", "reduction", "--n", "2^11", "--kernels", "1..", "-o", "sum.wmt"]);
    let bytes = |name: &str| fs::read(bench.path(name)).unwrap();
    assert_eq!(bytes("one/suite.toml"), bytes("three/suite.toml"));
    assert_eq!(bytes("one/chase.wmt"), bytes("three/chase.wmt"));
    assert_eq!(bytes("one/sum.wmt"), bytes("sum.wmt"));
}

#[test]
fn sizes_and_names_choose() {
    let bench = with_suite();
    let arguments = ["suite", "get", "mine.toml", "--size", "long", "--only", "chase"];
    bench.output(&[arguments.as_slice(), &["-o", "out"]].concat());
    let trace = Trace::open(&bench.path("out/chase.wmt")).unwrap();
    assert!(trace.header().provenance.command.contains("--hops 64 "));
    assert!(!bench.path("out/sum.wmt").exists());
    let listed = bench.output(&["suite", "list", "mine.toml"]);
    assert_eq!(
        listed,
        "name   kernel         about\nchase  pointer-chase  A chase\nsum    reduction\n"
    );
}

#[test]
fn regenerating_a_part_keeps_the_rest_of_the_manifest() {
    let bench = with_suite();
    let from = ["suite", "get", "mine.toml", "-o", "out"];
    bench.output(&from);
    let whole = fs::read_to_string(bench.path("out/suite.toml")).unwrap();
    bench.output(&[&from, ["--only", "sum"].as_slice()].concat());
    assert_eq!(fs::read_to_string(bench.path("out/suite.toml")).unwrap(), whole);
    bench.output(&[&from, ["--only", "chase", "--size", "long"].as_slice()].concat());
    let longer = fs::read_to_string(bench.path("out/suite.toml")).unwrap();
    assert_eq!(longer.matches("[[workload]]").count(), 2);
    assert!(longer.contains("--hops 64 ") && longer.contains("\"sum.wmt\""), "{longer}");
}

#[test]
fn unwritable_outputs_fail_before_any_work() {
    let bench = with_suite();
    let refusal = |arguments: &[&str]| {
        let ran = bench.run(&[&["suite", "get"], arguments].concat());
        assert_eq!(ran.status, Some(2));
        ran.stderr
    };
    assert!(refusal(&["-o", "out"]).contains("<NAME|FILE>"));
    let from = ["mine.toml", "-o", "out"];
    assert!(refusal(&[&from, ["--size", "huge"].as_slice()].concat()).contains("there are long"));
    bench.write("bad.toml", SUITE.replace("n = ", "m = "));
    let message = refusal(&["bad.toml", "-o", "out"]);
    assert!(
        message.contains("workload `sum`\n  caused by: reduction has no parameter `m`"),
        "{message}"
    );
    let known = "no suite and no file is named `llmm` (did you mean `llm`?); suites: warpmem, llm";
    assert!(refusal(&["llmm"]).contains(known));
    // The default folder is `mine`.
    fs::create_dir(bench.path("mine")).unwrap();
    bench.write("mine/suite.toml", SUITE);
    let message = refusal(&["mine/suite.toml"]);
    assert!(message.contains("--output"), "{message}");
    assert_eq!(fs::read_to_string(bench.path("mine/suite.toml")).unwrap(), SUITE);
    assert!(!bench.path("out").exists());
}

#[test]
fn traces_of_a_built_in_suite_have_the_recorded_hashes() {
    let bench = Bench::new();
    let made = bench.run(&["suite", "get", "warpmem", "--only", "vecadd,gather-uniform"]);
    assert_eq!(made.status, Some(0), "{}", made.stderr);
    let says = "2 of 2 traces have the hashes of `warpmem`, version 1, size small";
    assert!(made.stderr.contains(says), "{}", made.stderr);
    let rows = bench.output(&["suite", "list", "warpmem", "--format", "json"]);
    let rows: Vec<Value> = serde_json::from_str(&rows).unwrap();
    let row = rows.iter().find(|row| row["name"] == "vecadd").unwrap();
    let trace = Trace::open(&bench.path("warpmem-small/vecadd.wmt")).unwrap();
    assert_eq!(row["hash_small"], format!("{:016x}", trace.header().content_hash));
    let medium = ["suite", "get", "warpmem", "--only", "vecadd", "--size", "medium"];
    let unchecked = bench.run(&medium).stderr;
    assert!(unchecked.contains("no hashes are recorded for size medium"), "{unchecked}");
    // The name is no file, although there may be a folder of this name.
    for _ in 0..2 {
        bench.output(&["suite", "get", "warpmem", "--only", "vecadd", "-o", "warpmem"]);
    }
    let refusal = bench.run(&["generate", "suite"]);
    assert!(refusal.stderr.contains("`warpmem suite get`"), "{}", refusal.stderr);
}

#[test]
fn suites_and_programs_are_listed_in_every_format() {
    let bench = Bench::new();
    insta::assert_snapshot!("suites", bench.output(&["suite", "list"]));
    let suites = bench.output(&["suite", "list", "--format", "csv"]);
    assert!(
        suites.starts_with("name,version,workloads,sizes,checked,about\nwarpmem,1,"),
        "{suites}"
    );
    let programs = ["suite", "list", "--programs", "--size", "small"];
    let shown = bench.output(&programs);
    let json = bench.output(&[&programs[..], &["--format", "json"]].concat());
    let rows: Vec<Value> = serde_json::from_str(&json).unwrap();
    assert_eq!(rows.len(), warpmem::study::reproduce::library().len());
    for row in rows {
        let command = row["command"].as_str().unwrap();
        assert!(command.starts_with("warpmem capture -o small/"), "{command}");
        assert!(shown.contains(command), "{command}");
    }
}

#[test]
fn a_replaced_trace_is_refused() {
    let bench = with_suite();
    bench.output(&["suite", "get", "mine.toml", "-o", "out"]);
    fs::copy(bench.path("out/sum.wmt"), bench.path("out/chase.wmt")).unwrap();
    let ran = bench.run(&["compare", "out/suite.toml"]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("out/chase.wmt is not the listed trace"), "{}", ran.stderr);
    bench.refuses(&["info", "out/suite.toml"], &["out/suite.toml is a list of traces"]);
    fs::remove_file(bench.path("out/chase.wmt")).unwrap();
    assert_eq!(bench.run(&["compare", "out/suite.toml"]).status, Some(2));
}
