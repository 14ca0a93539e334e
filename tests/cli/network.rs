//! `warpmem network`: its output, its charts, and its refusals.

use super::support::{Bench, Ran, repository};
use serde_json::{Map, Value};
use std::fs;

type Row = Map<String, Value>;

/// Arguments for a small network and a short time.
const SHORT: [&str; 7] = ["network", "--nodes", "16", "--warmup", "200", "--cycles", "1000"];

fn with<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&SHORT[..], arguments].concat()
}

fn rows(bench: &Bench, arguments: &[&str]) -> Vec<Row> {
    let text = bench.output(&with(&[&["--format", "json"], arguments].concat()));
    serde_json::from_str(&text).unwrap()
}

fn numbers(rows: &[Row], key: &str) -> Vec<f64> {
    rows.iter().map(|row| row[key].as_f64().unwrap()).collect()
}

#[test]
fn a_row_for_each_load_of_each_network() {
    let networks =
        ["--topology", "crossbar,crossbar(form=router)", "--arbiter", "round-robin,random"];
    let rows = rows(&Bench::new(), &[&networks[..], &["--rate", "0.1,0.2"]].concat());
    let of = |key: &str| rows.iter().map(|row| row[key].as_str().unwrap()).collect::<Vec<_>>();
    let routers = "crossbar(form=router)";
    let topologies = [["crossbar"; 4], [routers; 4]].concat();
    assert_eq!(of("topology"), topologies);
    let arbiters = [["round-robin"; 2], ["random"; 2]].concat().repeat(2);
    assert_eq!(of("arbiter"), arbiters);
    assert_eq!(numbers(&rows, "load"), [0.1, 0.2].repeat(4));
    assert!(rows.iter().all(|row| row["sources"] == 16 && row["saturated"] == "no"));
}

/// A default sweep stops at the first load that saturates the network; requested loads are all
/// measured.
#[test]
fn a_sweep_ends_with_saturation() {
    let bench = Bench::new();
    let sweep = rows(&bench, &["--pattern", "hotspot(fraction=0.5)"]);
    let saturated: Vec<&str> = sweep.iter().map(|row| row["saturated"].as_str().unwrap()).collect();
    let (last, others) = saturated.split_last().unwrap();
    assert_eq!(*last, "yes");
    assert!(others.len() > 5 && others.iter().all(|word| *word == "no"), "{saturated:?}");
    // Half of all packets and a sixteenth of the others, from 16 sources, to one node.
    let capacity = 1.0 / (16.0 * (0.5 + 0.5 / 16.0));
    let loads = numbers(&sweep, "load");
    assert!((loads[0] - capacity / 20.0).abs() < 1e-6 && loads.is_sorted(), "{loads:?}");
    let asked = rows(&bench, &["--pattern", "hotspot(fraction=0.5)", "--rate", "0.1..0.9/5"]);
    assert_eq!(numbers(&asked, "load"), [0.1, 0.3, 0.5, 0.7, 0.9]);
}

#[test]
fn latency_grows_with_the_load_and_its_parts_are_all_of_it() {
    let load = ["--machine", "li2015", "--rate", "0.1,0.3,0.5", "--packet-flits", "2"];
    let rows = rows(&Bench::new(), &load);
    let latency = numbers(&rows, "latency_mean");
    assert!(latency.is_sorted_by(|a, b| a < b), "{latency:?}");
    let parts = ["wait_mean", "pipeline_mean", "serialisation_mean", "contention_mean"];
    for (row, latency) in rows.iter().zip(latency) {
        let sum: f64 = parts.iter().map(|part| row[*part].as_f64().unwrap()).sum();
        assert!((sum / latency - 1.0).abs() < 1e-9);
        // Router and link of li2015, and two flits.
        assert!((row["zero_load_latency"].as_f64().unwrap() - 6.0).abs() < 1e-9);
    }
}

#[test]
fn the_machines_terminals() {
    let bench = Bench::new();
    let few = |pattern| {
        let arguments = ["network", "--pattern", pattern, "--rate", "0.05", "--format", "json"];
        let text = bench.output(&[&arguments[..], &["--cycles", "500"]].concat());
        let rows: Vec<Row> = serde_json::from_str(&text).unwrap();
        ["sources", "destinations"].map(|key| rows[0][key].as_u64().unwrap())
    };
    let [sms, slices] = few("many-to-few");
    assert_eq!(few("few-to-many"), [slices, sms]);
    assert!(sms > slices);
}

#[test]
fn the_same_on_any_number_of_threads_and_in_any_format() {
    let bench = Bench::new();
    let run = |jobs, format| bench.output(&with(&["--jobs", jobs, "--format", format]));
    for format in ["csv", "table"] {
        assert_eq!(run("1", format), run("2", format));
    }
    let json: Vec<Row> = serde_json::from_str(&run("1", "json")).unwrap();
    let csv = run("1", "csv");
    assert!(csv.lines().next().unwrap().split(',').eq(json[0].keys()));
    assert_eq!(csv.lines().count(), json.len() + 1);
}

#[test]
fn a_table_for_people() {
    let arbiters = ["--machine", "li2015", "--arbiter", "round-robin,random"];
    let table = Bench::new().output(&with(&[&["--rate", "0.2,1"], &arbiters[..]].concat()));
    let head = "uniform: 16 sources, 16 destinations, 1 flit a packet; network of li2015\n";
    assert!(table.starts_with(head), "{table}");
    let lines: Vec<&str> = table.lines().collect();
    let at = |name: &str| lines.iter().position(|line| *line == name).unwrap();
    let (first, second) = (at("round-robin"), at("random"));
    assert_eq!((second - first, lines.len() - second), (4, 4), "{table}");
    assert!(lines[first + 1].trim_start().starts_with("0.2000 "));
    let sum = lines[first + 3];
    assert!(
        sum.starts_with("  empty: 5.000 cycles · saturated from 1.000 on · at most 0."),
        "{sum}"
    );
    assert!(lines.iter().all(|line| line.chars().count() <= 120), "{table}");
}

#[test]
fn a_picture() {
    let bench = Bench::new();
    for name in ["load.svg", "load.png"] {
        bench.output(&with(&[
            "--rate",
            "0.1,0.2",
            "--arbiter",
            "round-robin,random",
            "--plot",
            name,
        ]));
    }
    let svg = fs::read_to_string(bench.path("load.svg")).unwrap();
    for text in ["offered load", "mean latency", "round-robin", "random"] {
        assert!(svg.contains(text), "{text}");
    }
    assert!(fs::read(bench.path("load.png")).unwrap().starts_with(b"\x89PNG"));
    assert_eq!(bench.names(), ["load.png", "load.svg"]);
}

#[test]
fn a_picture_that_cannot_be_written_leaves_nothing() {
    let bench = Bench::new();
    let refuses = |name, parts: &[&str]| {
        // The window never ends, so the name is checked before any measurement.
        let endless = ["network", "--rate", "0.1", "--cycles", "1099511627776"];
        bench.refuses(&[&endless[..], &["--plot", name]].concat(), parts);
    };
    refuses("load.gif", &["ends in .svg, .pdf or .png"]);
    refuses("none/load.svg", &["failed to write none/load.svg"]);
    fs::create_dir_all(bench.path("folder.svg/inside")).unwrap();
    refuses("folder.svg", &["failed to write folder.svg"]);
    assert_eq!(bench.names(), ["folder.svg"]);
}

#[test]
fn standard_output_carries_only_results() {
    let bench = Bench::new();
    let ran: Ran = bench.run(&with(&["--rate", "0.1", "--format", "csv"]));
    assert!(ran.stderr.contains(" packets in "), "{ran:?}");
    assert!(!ran.stdout.contains(" packets in "), "{ran:?}");
}

/// The documented columns equal the existing ones.
#[test]
fn the_page_names_every_column_and_pattern() {
    let page = fs::read_to_string(repository().join("docs/run.md")).unwrap();
    for key in rows(&Bench::new(), &["--rate", "0.1"])[0].keys() {
        assert!(page.contains(&format!("`{key}`")), "{key}");
    }
    for pattern in warpmem::standalone::network::PATTERNS.names() {
        assert!(page.contains(&format!("| `{pattern}")), "{pattern}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let bench = Bench::new();
    let refuses = |arguments: &[&str], parts: &[&str]| {
        bench.refuses(&[&["network"], arguments].concat(), parts);
    };
    refuses(&["--pattern", "unifrm"], &["did you mean `uniform`?", "many-to-few"]);
    refuses(&["--pattern", "hotspot(nodes=0)"], &["pattern `hotspot`", "a whole number from 1 to"]);
    refuses(&["--pattern", "transpose", "--nodes", "32"], &["`nodes` = 32", "a square number"]);
    refuses(&["--pattern", "many-to-few", "--nodes", "16"], &["the machine's SMs and slices"]);
    refuses(&["--nodes", "1"], &["`nodes` = 1", "2 to 256"]);
    refuses(&["--rate", "1.5"], &["above 0 and at most 1", "0.05..0.95/10"]);
    refuses(&["--rate", "0.2,0.1"], &["ascending"]);
    refuses(&["--cycles", "0"], &["`cycles` = 0"]);
    refuses(&["--packet-flits", "0"], &["`packet-flits` = 0"]);
    refuses(&["--topology", "mesch"], &["did you mean `mesh`?"]);
    refuses(&["--topology", "mesh,mesh"], &["given twice"]);
    refuses(&["--arbiter", "round"], &["round-robin"]);
    refuses(&["--allocator", "pin"], &["unknown allocator `pin`", "`pim`"]);
    refuses(&["--machine", "li2051"], &["did you mean `li2015`?"]);
    refuses(&["--set", "network.flits=1"], &["network.flits"]);
    refuses(&["--topology", "ring", "--set", "network.virtual_channels=1"], &["virtual_channels"]);
}
