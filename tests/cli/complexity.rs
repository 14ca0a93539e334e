//! What schedulers and arbiters cost.

use super::support::{Bench, repository};
use serde_json::{Map, Value};

fn rows(bench: &Bench, arguments: &[&str]) -> Vec<Map<String, Value>> {
    let arguments = [&["list", "--complexity", "--format", "json"], arguments].concat();
    serde_json::from_str(&bench.output(&arguments)).unwrap()
}

/// Bits stored and compared, as text.
fn bits(row: &Map<String, Value>) -> [String; 2] {
    ["bits_stored", "bits_compared"].map(|key| row[key].to_string())
}

/// Rows of the page's table under a heading, cell by cell, without the quotes of code.
fn table(heading: &str) -> Vec<Vec<String>> {
    let page = std::fs::read_to_string(repository().join("docs/policies/complexity.md")).unwrap();
    let part = page.split("\n## ").find(|part| part.starts_with(heading)).unwrap();
    let rows = part.lines().filter(|line| line.starts_with("| `"));
    let cells = |line: &str| -> Vec<String> {
        let cells = line.trim_matches('|').split(" | ");
        cells.map(|cell| cell.trim_matches([' ', '`', '|']).to_owned()).collect()
    };
    rows.map(cells).collect()
}

#[test]
fn the_pages_pairs_are_those_that_are_printed() {
    let bench = Bench::new();
    let rows_of_page = table("Table 1");
    assert_eq!(rows_of_page.len(), 13);
    for cells in rows_of_page {
        let [scheduler, arbiter, topology, stored, compared] = &cells[..5] else {
            panic!("{cells:?}")
        };
        let set = [
            format!("policy.dram_scheduler={scheduler}"),
            format!("policy.arbiter={arbiter}"),
            "network.virtual_channels=2".to_owned(),
        ];
        let set = set.iter().flat_map(|set| ["--set", set]);
        let machine = ["--machine", "yuan2009", "--topology", topology];
        let arguments: Vec<&str> = machine.into_iter().chain(set).collect();
        let rows = rows(&bench, &arguments);
        let own = rows.last().unwrap();
        assert_eq!(own["kind"], "machine");
        assert_eq!(own["name"], format!("{scheduler} + {arbiter}"));
        assert_eq!(bits(own), [stored, compared].map(String::as_str), "{cells:?}");
    }
}

#[test]
fn the_pages_schedulers_are_those_that_are_printed() {
    let rows = rows(&Bench::new(), &["--machine", "li2015"]);
    let printed = rows.iter().filter(|row| row["kind"] == "dram_scheduler");
    let printed: Vec<_> =
        printed.map(|row| (row["name"].as_str().unwrap().to_owned(), bits(row))).collect();
    let of_page = table("DRAM schedulers").into_iter().map(|cells| {
        let [.., stored, compared] = &cells[..] else { panic!("{cells:?}") };
        (cells[0].clone(), [stored.clone(), compared.clone()])
    });
    assert_eq!(of_page.collect::<Vec<_>>(), printed);
}

#[test]
fn costs_print_as_text() {
    let arguments = ["list", "--complexity", "--machine", "yuan2009", "--topology", "mesh"];
    insta::assert_snapshot!(Bench::new().output(&arguments));
}

/// The queue is too short to be divided among the banks, an instrument costs nothing, and ages have no width.
#[test]
fn what_is_not_said_or_not_for_the_machine_has_no_figures() {
    let rows = rows(&Bench::new(), &["--set", "dram.read_queue=8"]);
    let without = rows.iter().filter(|row| row["bits_stored"].is_null());
    let names: Vec<&str> = without.map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["banked-fifo", "delay", "oldest-first"]);
}

#[test]
fn costs_are_refused_where_they_make_no_sense() {
    let bench = Bench::new();
    for arguments in [
        &["list", "--topology", "mesh"][..],
        &["list", "--set", "sm.count=4"],
        &["list", "arbiters", "--complexity"],
        &["list", "--complexity", "--topology", "mash"],
        &["list", "--complexity", "--machine", "none"],
        &["list", "--complexity", "--set", "policy.arbiter=none"],
    ] {
        bench.refusal(arguments);
    }
}
