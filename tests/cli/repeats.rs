//! Repeats of comparisons: seeds and variants, intervals, verdicts and bounds.

use super::support::Bench;
use serde_json::Value;

/// Makes two seeds of a small workload.
fn bench() -> Bench {
    let bench = Bench::new();
    let bfs = ["generate", "bfs", "--nodes", "2^9", "--seeds", "2", "-o", "bfs.wmt"];
    let ran = bench.run(&bfs);
    assert!(ran.status == Some(0) && !ran.stderr.contains("equal"), "{ran:?}");
    bench
}

fn rows(json: &str) -> Vec<Value> {
    serde_json::from_str(json).unwrap()
}

const COMPARE: [&str; 8] = [
    "compare",
    "bfs-seed1.wmt",
    "bfs-seed2.wmt",
    "--machine",
    "li2015",
    "--dram-scheduler",
    "fcfs,fr-fcfs",
    "--baseline=fr-fcfs",
];

#[test]
fn seeds_and_variants_are_repeats_of_one_workload() {
    let bench = bench();
    let compare = |more: &[&str]| bench.output(&[&COMPARE, more].concat());
    let json = rows(&compare(&["--repeat", "2", "--format", "json", "-o", "results"]));
    assert_eq!(json.len(), 2 + 2 * 3, "policies, and their means");
    let fcfs = &json[0];
    assert_eq!((&fcfs["trace"], &fcfs["repeats"]), (&"bfs-seed*".into(), &4.into()));
    let value = |name: &str| fcfs[name].as_f64().unwrap();
    assert!(value("ipc_ratio_low") <= value("ipc_ratio"), "{fcfs}");
    assert!(value("ipc_ratio") <= value("ipc_ratio_high"), "{fcfs}");
    assert!(value("ipc_bound") >= 1.0, "{fcfs}");
    assert_eq!(json[1]["verdict"], "baseline");
    assert_eq!(json[2]["workloads"], 1, "one workload, not two");

    let sql = "SELECT seed, variant, overrides, workload, bound, command FROM runs ORDER BY seed, variant";
    let runs = rows(&bench.output(&["query", "results", sql, "--format", "json"]));
    assert_eq!(runs.len(), 8, "two seeds, two variants and two policies; no bound");
    let of = |name: &str| runs.iter().map(|row| row[name].clone()).collect::<Vec<Value>>();
    assert_eq!(of("seed"), [1, 1, 1, 1, 2, 2, 2, 2]);
    assert_eq!(of("variant"), [0, 0, 1, 1, 0, 0, 1, 1]);
    assert!(of("overrides").iter().all(|overrides| overrides == ""));
    assert!(of("bound").iter().all(|bound| bound == "perfect-dram"));
    assert!(runs[0]["workload"].as_str().unwrap().starts_with("bfs --"));
    let command = |row: usize| runs[row]["command"].as_str().unwrap().to_owned();
    assert!(!command(0).contains("--set") && command(2).contains("--set run.first_sm="));
}

#[test]
fn a_comparison_begins_with_its_findings() {
    let bench = bench();
    let text = bench.output(&[&COMPARE[..], &["--repeat", "2", "--metrics", "cycles"]].concat());
    assert!(text.starts_with("On li2015 "), "{text}");
    assert!(text.contains("bfs-seed* on li2015 (2 seeds × 2 variants)\n"), "{text}");
    assert!(text.contains("perfect-dram\n"), "{text}");
    let without = bench.output(&[&COMPARE[..], &["--no-bound"]].concat());
    assert!(!without.contains("perfect-dram"), "{without}");
    assert!(without.contains("bfs-seed* on li2015 (2 seeds)\n"), "{without}");
    let single = [&["compare", "bfs-seed1.wmt"], &COMPARE[3..]].concat();
    let single = bench.output(&single);
    assert!(single.contains("so no policy is called best"), "{single}");
    bench.refuses(&[&COMPARE[..], &["--repeat", "0"]].concat(), &["--repeat <N>", "1..=100"]);
}

#[test]
fn repeats_do_not_depend_on_the_number_of_jobs() {
    let bench = bench();
    let with = |jobs| bench.output(&[&COMPARE[..], &["--repeat", "2", "--jobs", jobs]].concat());
    assert_eq!(with("1"), with("3"));
}

#[test]
fn a_sweep_runs_every_cell_in_each_variant() {
    let bench = bench();
    let plan = |more: &str| {
        format!(
            "traces = ['bfs-seed*.wmt']\nmachines = ['li2015']\nbaseline = 'fr-fcfs'\nrepeat = 2\n{more}\n\
             [policies]\ndram_scheduler = ['fr-fcfs', 'fcfs']\n"
        )
    };
    bench.write("plan.toml", plan(""));
    let text = bench.output(&["sweep", "plan.toml", "-o", "results"]);
    assert!(text.contains("bfs-seed* on li2015 (2 seeds × 2 variants)\n"), "{text}");
    let listed = rows(&bench.output(&["sweep", "plan.toml", "--dry-run", "--format", "json"]));
    let variants: Vec<&Value> = listed.iter().map(|row| &row["variant"]).collect();
    assert_eq!(variants, [0, 1, 0, 1, 0, 1, 0, 1]);
    let again = bench.run(&["sweep", "plan.toml", "-o", "results"]);
    assert!(again.stderr.contains("8 of 8 cells already existed"), "{again:?}");
    assert_eq!(again.stdout, text);

    // A variant changes no key that the plan varies.
    let varied = plan("[parameters]\n'run.first_sm' = [0, 1]");
    bench.write("varied.toml", varied);
    let listed = bench.output(&["sweep", "varied.toml", "--dry-run", "--format", "json"]);
    assert!(listed.contains("--set run.page_offset=27"), "{listed}");
    bench.write("none.toml", plan("").replace("repeat = 2", "repeat = 0"));
    bench.refuses(
        &["sweep", "none.toml"],
        &["none.toml:4", "`repeat` = 0 is not valid: valid are 1 to 100"],
    );
}

#[test]
fn seeds_without_effect_are_noted() {
    let bench = Bench::new();
    let ran = bench
        .run(&["generate", "vecadd", "--n", "64", "--seed", "5", "--seeds", "2", "-o", "v.wmt"]);
    assert_eq!(
        (ran.status, bench.names()),
        (Some(0), vec!["v-seed5.wmt".into(), "v-seed6.wmt".into()])
    );
    assert!(ran.stderr.contains("some of these traces are equal"), "{ran:?}");
}
