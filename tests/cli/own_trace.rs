//! The page about importing one's own traces, and its commands.

use super::support::{Bench, repository};
use std::fs;
use std::process::Command;

fn page() -> String {
    fs::read_to_string(repository().join("docs/import.md")).unwrap()
}

/// Returns the code blocks in this language, in order.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let blocks = page.split(&fence).skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// Returns the page's log, with the number of addresses that its second line states.
fn log(page: &str) -> String {
    let text = &blocks(page, "text")[0];
    let rest: String =
        (2..32).map(|lane| format!("{:#018x} ", 0x7ff4_12a0_0800u64 + 4 * lane)).collect();
    text.replace("… (32 addresses)", &rest)
}

/// Writes `accesses.csv` as the page's script does; without Python, directly.
fn write_accesses(bench: &Bench, page: &str) {
    bench.write("accesses.csv", &blocks(page, "csv")[0]);
    bench.write("write_accesses.py", &blocks(page, "python")[0]);
    let script =
        Command::new("python3").arg("write_accesses.py").current_dir(bench.path("")).output();
    let failed = script.is_ok_and(|ran| !ran.status.success());
    assert!(!failed, "the page's script fails");
}

#[test]
fn commands_on_the_import_page_work() {
    let (page, bench) = (page(), Bench::new());
    write_accesses(&bench, &page);
    bench.write("app.log", log(&page));
    let commands = blocks(&page, "sh").concat();
    let commands = commands.lines().filter(|line| line.starts_with("warpmem "));
    let mut compared = Vec::new();
    // saxpy.wmt is written by an example of another package.
    for command in commands.filter(|command| !command.contains("saxpy.wmt")) {
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        let text = bench.output(&words);
        assert!(!text.is_empty(), "{command}");
        if words[0] == "compare" {
            compared.push(text);
        }
    }
    let workloads =
        [&["gather on v100"][..], &["gather on", "unwaited on", "compute on"], &["app on"]];
    assert_eq!(compared.len(), workloads.len());
    for (table, workloads) in compared.iter().zip(workloads) {
        for part in workloads.iter().chain(&["fcfs", "fr-fcfs", "wg-w"]) {
            assert!(table.contains(part), "{part}: {table}");
        }
    }
}

#[test]
fn the_tables_of_the_page_are_tables() {
    let (page, bench) = (page(), Bench::new());
    bench.write("t.csv", &blocks(&page, "csv")[0]);
    bench.write("t.jsonl", &blocks(&page, "json")[0]);
    for format in ["csv", "jsonl"] {
        let table = format!("t.{format}");
        let import = ["import", format, &table, "-o", "t.wmt", "--format", "json"];
        let summary: serde_json::Value = serde_json::from_str(&bench.output(&import)).unwrap();
        assert_eq!(summary["kernels"][0]["name"], "saxpy");
        assert!(
            !summary["notes"]
                .as_array()
                .unwrap()
                .iter()
                .any(|note| { note.as_str().unwrap().starts_with("rows without cta") })
        );
    }
}

#[test]
fn every_column_is_on_the_page_and_in_the_help() {
    let (page, bench) = (page(), Bench::new());
    bench.write("t.csv", "time\n");
    let refusal = bench.refusal(&["import", "csv", "t.csv", "-o", "t.wmt"]);
    let (_, known) = refusal.split_once("known are ").unwrap();
    let known: Vec<&str> = known.split(';').next().unwrap().split(", ").collect();
    assert!(known.len() > 20, "{known:?}");
    for format in ["csv", "jsonl", "parquet"] {
        let help = bench.output(&["import", format, "--help"]);
        let columns = help.split("Columns, ").nth(1).unwrap();
        for column in &known {
            assert!(page.contains(&format!("`{column}`")), "{column}");
            let has = |before: &str| columns.contains(&format!("{before}{column}"));
            assert!(has("\n  ") || has(", "), "{column} of {format}");
        }
    }
}

#[test]
fn example_on_the_page_is_the_compiled_one() {
    let example = repository().join("trace-format/examples/write_trace.rs");
    assert_eq!(blocks(&page(), "rust"), [fs::read_to_string(example).unwrap()]);
}

/// `docs/import.md` lists an import's notes on a log.
#[test]
fn a_log_is_imported_with_notes_and_a_bad_line_is_named() {
    let bench = Bench::new();
    bench.write("app.log", format!("hello\n{}", log(&page())));
    let summary = bench.output(&["import", "mem-trace", "app.log", "-o", "app.wmt"]);
    for part in ["load global", "bytes written", "note: loads and atomics without registers: 1;"] {
        assert!(summary.contains(part), "{part}: {summary}");
    }
    fs::remove_file(bench.path("app.wmt")).unwrap();
    bench.write("app.log", log(&page()).replace(" - warp 4", ""));
    let parts = ["failed to import app.log", "app.log:2: expected CTX, grid_launch_id", "no warp"];
    bench.refuses(&["import", "mem-trace", "app.log", "-o", "app.wmt"], &parts);
    bench.write("t.csv", "warp,adresses\n0,1\n");
    bench.refuses(
        &["import", "csv", "t.csv", "-o", "app.wmt"],
        &["t.csv:1", "did you mean `addresses`?"],
    );
    assert_eq!(bench.names(), ["app.log", "t.csv"]);
}
