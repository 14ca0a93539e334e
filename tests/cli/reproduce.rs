//! The papers' experiments: what is run, what is printed and what is left.

use super::support::{Bench, names_in};
use serde_json::Value;

/// A gather and an addition, a fraction of a second each.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.generate("vecadd", &[("n", "2^10")], "add.wmt");
    bench.generate("gather", &[("n", "2^8"), ("table", "2^14")], "gather.wmt");
    bench
}

/// The objects of a JSON array.
fn rows(json: &str) -> Vec<Value> {
    serde_json::from_str(json).unwrap()
}

#[test]
fn a_paper_is_run_and_set_beside_ours() {
    let bench = bench();
    let arguments =
        ["reproduce", "warpedmc2023", "add.wmt", "gather.wmt", "-o", "out", "--format", "json"];
    let first = bench.run(&arguments);
    assert_eq!(first.status, Some(0), "{first:?}");
    let rows = rows(&first.stdout);
    let row = |what: &str| rows.iter().find(|row| row["what"] == what).unwrap();
    let all = row("IPC, FCFS over FR-FCFS, all");
    assert_eq!((&all["published"], &all["workloads"]), (&(-28.3).into(), &2.into()));
    let ours = all["ours"].as_f64().unwrap();
    let noise = all["noise"].as_f64().unwrap();
    let verdict = match ours {
        _ if ours.abs() < noise.max(0.05) => "below noise",
        _ if ours < 0.0 => "agrees",
        _ => "disagrees",
    };
    assert_eq!(all["verdict"], verdict, "{ours} {noise}");
    let classes = row("workloads by class");
    assert!(classes["ours_text"].as_str().unwrap().starts_with("LOA "), "{classes}");
    assert!(classes["verdict"].is_null() && classes["unit"].is_null());

    // What it says is what the tables say.
    let [fcfs, fr_fcfs] = ["fcfs", "fr-fcfs"].map(|scheduler| {
        let compared = bench.output(&[
            "compare",
            "add.wmt",
            "gather.wmt",
            "--machine",
            "warpedmc2023",
            "--dram-scheduler",
            scheduler,
            "--format",
            "json",
        ]);
        self::rows(&compared)
    });
    let ratio = |at: usize| {
        fcfs[at]["ipc_thread"].as_f64().unwrap() / fr_fcfs[at]["ipc_thread"].as_f64().unwrap()
    };
    let expected = 100.0 * ((ratio(0) + ratio(1)) / 2.0 - 1.0);
    assert!((ours - expected).abs() < 1e-9, "{ours} {expected}");

    let left = names_in(&bench.path("out"));
    for name in ["claims.csv", "reproduction.html", "reproduction.md", "runs.parquet", "figures"] {
        assert!(left.iter().any(|left| left == name), "{name}: {left:?}");
    }
    let figures = names_in(&bench.path("out/figures"));
    for name in ["ipc.svg", "ipc.png", "ipc.csv", "load-times.svg", "published.svg"] {
        assert!(figures.iter().any(|figure| figure == name), "{name}: {figures:?}");
    }
    let page = std::fs::read_to_string(bench.path("out/reproduction.md")).unwrap();
    assert!(page.contains("| IPC, FCFS over FR-FCFS, all | Fig 9 | -28.3 % |"), "{page}");
    assert!(page.contains("| ours | noise | verdict |"), "{page}");
    assert!(page.contains(" are below noise, ") && first.stderr.contains(" are below noise, "));
    assert!(page.contains("figures/load-times.svg"), "{page}");

    let again = bench.run(&arguments);
    assert_eq!(again.stdout, first.stdout);
    assert!(again.stderr.contains("0 runs in"), "nothing is run twice: {}", again.stderr);
}

#[test]
fn claims_without_workloads_say_so() {
    let bench = bench();
    let table = bench.output(&["reproduce", "li2015", "add.wmt", "--quick"]);
    let line = |what: &str| table.lines().find(|line| line.starts_with(what)).unwrap();
    assert!(line("mean memory latency, S+A, HIL").contains(" – "), "{table}");
    assert!(table.contains("no workload is HIL"), "{table}");
    assert!(line("workloads by class").contains("HIL 0"), "{table}");
}

#[test]
fn combinations_have_main_effects_and_interactions() {
    let bench = Bench::new();
    bench.generate("vecadd", &[("n", "2^8")], "add.wmt");
    let table =
        bench.output(&["reproduce", "combined", "add.wmt", "-o", "out", "--format", "json"]);
    let rows = rows(&table);
    // Five factors, ten pairs and what workloads differ in, on each of two machines.
    assert_eq!(rows.len(), 32, "{table}");
    for row in &rows {
        let is_of_workloads = row["factors"] == "workload";
        assert!(
            row["change"].is_number() != is_of_workloads && row["machine"].is_string(),
            "{row}"
        );
    }
    let order =
        |row: &&serde_json::Value| row["factors"] == "warp_scheduler" && row["machine"] == "li2015";
    let change = rows.iter().find(order).unwrap()["change"].as_f64().unwrap();
    let ipc = |policy: &str| {
        let sql = format!(
            "SELECT avg(ipc_thread) AS ipc FROM runs WHERE machine = 'li2015' AND warp_scheduler = '{policy}'"
        );
        let answer = bench.output(&["query", "out", &sql, "--format", "json"]);
        self::rows(&answer)[0]["ipc"].as_f64().unwrap()
    };
    let second_over_first = ipc("cta-aware-locality") / ipc("gto") - 1.0;
    assert!(
        change != 0.0 && (change - second_over_first).abs() < 1e-6,
        "{change} {second_over_first}"
    );
    let page = std::fs::read_to_string(bench.path("out/reproduction.md")).unwrap();
    assert!(page.contains("## Effects on IPC") && page.contains("figures/effects.svg"), "{page}");
}

#[test]
fn what_there_is_is_listed_and_what_there_is_not_refused() {
    let bench = Bench::new();
    let list = bench.output(&["reproduce", "--list"]);
    for name in ["li2015", "owl2013", "calrs2015", "yuan2009", "warpedmc2023", "combined"] {
        assert!(list.lines().any(|line| line.starts_with(name)), "{name}: {list}");
    }
    bench.refuses(
        &["reproduce", "li2014"],
        &["no experiments called `li2014`", "did you mean `li2015`?"],
    );
    bench.refuses(&["reproduce", "li2015", "none.wmt"], &["none.wmt"]);
}

/// An embedding's CTA needs more registers than an SM of that machine has.
#[test]
fn what_cannot_run_on_the_machine_is_left_out_and_named() {
    let bench = bench();
    bench.generate("embedding", &[], "embedding.wmt");
    let arguments = ["reproduce", "yuan2009", "add.wmt", "embedding.wmt", "--quick", "-o", "out"];
    let ran = bench.run(&arguments);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("left out: embedding on yuan2009"), "{ran:?}");
    let page = std::fs::read_to_string(bench.path("out/reproduction.md")).unwrap();
    assert!(page.contains("Left out, as the machine cannot run them: `embedding`"), "{page}");
}

#[test]
fn a_trace_given_twice_is_refused() {
    let bench = bench();
    std::fs::copy(bench.path("add.wmt"), bench.path("copy.wmt")).unwrap();
    let ran = bench.run(&["reproduce", "warpedmc2023", "add.wmt", "copy.wmt"]);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("add.wmt and copy.wmt hold the same trace"), "{ran:?}");
}
