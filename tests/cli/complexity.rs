//! Hardware cost of schedulers and arbiters.

use super::support::{Bench, repository};
use serde_json::{Map, Value};

fn rows(bench: &Bench, arguments: &[&str]) -> Vec<Map<String, Value>> {
    let arguments = [&["list", "--complexity", "--format", "json"], arguments].concat();
    serde_json::from_str(&bench.output(&arguments)).unwrap()
}

/// Returns the bits stored and compared, as text.
fn bits(row: &Map<String, Value>) -> [String; 2] {
    ["bits_stored", "bits_compared"].map(|key| row[key].to_string())
}

/// Returns the rows of the page's table below `text` in the section `heading`, cell by cell,
/// without code quotes.
fn table(heading: &str, text: &str) -> Vec<Vec<String>> {
    let page = std::fs::read_to_string(repository().join("docs/policies/complexity.md")).unwrap();
    let part = page.split("\n## ").find(|part| part.starts_with(heading)).unwrap();
    let (_, below) = part.split_once(text).unwrap();
    let rows = below.lines().filter(|line| line.starts_with("| `"));
    let cells = |line: &str| -> Vec<String> {
        let cells = line.trim_matches('|').split(" | ");
        cells.map(|cell| cell.trim_matches([' ', '`', '|']).to_owned()).collect()
    };
    rows.map(cells).collect()
}

#[test]
fn the_pages_pairs_are_those_that_are_printed() {
    let bench = Bench::new();
    let rows_of_page = table("Table 1", "\n");
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

/// Returns the policies of a kind, each with its bits.
fn policies(rows: &[Map<String, Value>], kind: &str) -> Vec<(String, [String; 2])> {
    let rows = rows.iter().filter(|row| row["kind"] == kind);
    rows.map(|row| (row["name"].as_str().unwrap().to_owned(), bits(row))).collect()
}

#[test]
fn the_pages_schedulers_are_those_that_are_printed() {
    let printed = policies(&rows(&Bench::new(), &["--machine", "li2015"]), "dram_scheduler");
    let of_page = table("DRAM schedulers", "\n### On `li2015`").into_iter().map(|cells| {
        let [name, stored, compared] = &cells[..] else { panic!("{cells:?}") };
        (name.clone(), [stored.clone(), compared.clone()])
    });
    assert_eq!(of_page.collect::<Vec<_>>(), printed);
}

/// The text has a line for each row of the JSON, in the same order.
#[test]
fn costs_print_as_text() {
    let bench = Bench::new();
    let machine = ["--machine", "yuan2009", "--topology", "mesh"];
    let text = bench.output(&[&["list", "--complexity"], &machine[..]].concat());
    let heading = "yuan2009: 28 SMs; 8 DRAM controllers, each with 32 entries, 4 banks, 4096 rows; \
                   mesh: routers: 36, each with 20 pairs of an input and an output";
    let mut lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    assert_eq!(lines.next().as_deref(), Some(heading));
    assert_eq!(lines.next().as_deref(), Some(""));
    assert_eq!(lines.next().as_deref(), Some("bits stored bits compared"));
    let rows = rows(&bench, &machine);
    for (kind, title) in [
        ("dram_scheduler", "DRAM schedulers"),
        ("arbiter", "arbiters of the request network"),
        ("machine", "the machine's own, together"),
    ] {
        assert_eq!(lines.next().as_deref(), Some(title));
        for (name, bits) in policies(&rows, kind) {
            let [stored, compared] = bits.map(|bits| bits.replace("null", "-"));
            assert_eq!(lines.next(), Some(format!("{name} {stored} {compared}")));
        }
    }
    assert_eq!(lines.next(), None);
}

/// A queue of 8 entries is too short to be divided among the banks. An instrument costs nothing,
/// and ages have no width.
#[test]
fn policies_without_a_cost_or_not_for_the_machine_have_no_figures() {
    let bench = Bench::new();
    let without = |arguments: &[&str]| -> Vec<String> {
        let rows = rows(&bench, arguments);
        let without = rows.iter().filter(|row| row["bits_stored"].is_null());
        without.map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    let (usual, short) = (without(&[]), without(&["--set", "dram.read_queue=8"]));
    assert!(["delay", "oldest-first"].iter().all(|&name| usual.iter().any(|other| other == name)));
    let is_new = |name: &&String| !usual.contains(name);
    assert_eq!(short.iter().filter(is_new).collect::<Vec<_>>(), ["banked-fifo"]);
}

#[test]
fn costs_of_other_slots_are_refused() {
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
