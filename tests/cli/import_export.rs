//! Captured traces through the command line.

use super::support::Bench;
use serde_json::Value;
use std::fs;

/// Makes a directory with an exported trace as text to import: `text/kernelslist.g` and its kernel
/// files.
fn with_text() -> Bench {
    let bench = Bench::with_trace();
    bench.output(&["export", "accel-sim", "small.wmt", "-o", "text"]);
    bench
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Changes the first line with a load, and returns its number, from 1.
fn change_first_load(bench: &Bench, change: impl Fn(&str) -> String) -> usize {
    let path = bench.path("text/kernel-1.traceg");
    let text = fs::read_to_string(&path).unwrap();
    let at = text.lines().position(|line| line.contains(" LDG.")).unwrap();
    let lines = text.lines().enumerate();
    let lines = lines.map(|(i, line)| if i == at { change(line) } else { line.to_owned() });
    fs::write(&path, lines.map(|line| line + "\n").collect::<String>()).unwrap();
    at + 1
}

#[test]
fn what_is_exported_is_imported_again() {
    let bench = with_text();
    let import =
        ["import", "accel-sim", "text/kernelslist.g", "-o", "again.wmt", "--format", "json"];
    let summary = json(&bench.output(&import));
    assert_eq!((&summary["ctas"], &summary["warps"]), (&8.into(), &64.into()));
    assert_eq!(summary["unknown_opcodes"], serde_json::json!({}));
    let content = |trace| json(&bench.output(&["info", trace, "--format", "json"]));
    let (before, after) = (content("small.wmt"), content("again.wmt"));
    for key in ["ctas", "warps", "warp_instructions", "thread_instructions", "memory_records"] {
        assert_eq!(before[key], after[key], "{key}");
    }
    let table = bench.output(&["compare", "again.wmt", "--dram-scheduler", "fcfs,fr-fcfs"]);
    assert!(table.contains("again on v100"), "{table}");
}

#[test]
fn a_malformed_line_is_named() {
    let bench = with_text();
    let line = change_first_load(&bench, |line| line.replacen("LDG.", "LDG ", 1));
    let place = format!("text/kernel-1.traceg:{line}: expected ");
    let import = ["import", "accel-sim", "text/kernelslist.g", "-o", "again.wmt"];
    bench.refuses(&import, &["failed to import text/kernelslist.g", &place]);
    assert!(!bench.path("again.wmt").exists());
}

#[test]
fn an_unknown_opcode_is_counted_and_listed() {
    let bench = with_text();
    let path = bench.path("text/kernel-1.traceg");
    let text = fs::read_to_string(&path).unwrap();
    let integer = ["IADD3", "IMAD", "IADD"].into_iter().find(|name| text.contains(name)).unwrap();
    fs::write(&path, text.replacen(integer, "FROBNICATE", 2)).unwrap();
    let table = bench.output(&["import", "accel-sim", "text/kernelslist.g", "-o", "again.wmt"]);
    assert!(table.contains("unknown opcodes: 2\n  FROBNICATE"), "{table}");
}

#[test]
fn a_missing_kernel_file_and_a_folder_that_exists() {
    let bench = with_text();
    fs::remove_file(bench.path("text/kernel-1.traceg")).unwrap();
    let import = ["import", "accel-sim", "text/kernelslist.g", "-o", "again.wmt"];
    bench.refuses(&import, &["text/kernelslist.g:", "kernel-1.traceg"]);
    bench.refuses(&["export", "accel-sim", "small.wmt", "-o", "text"], &["text", "exists already"]);
}
