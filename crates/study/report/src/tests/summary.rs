//! The summary of runs, and the head of a page.

use super::*;
use crate::columns::{BESIDE, HIGH, LOW, RATIO, VERDICT};

#[test]
fn summary_names_fastest_and_slowest_policy_and_ends_with_the_runs() {
    let directory = runs(3, 4, &[""]);
    let twice =
        when(col("trace").eq(lit("trace-002")).and(col("dram_scheduler").eq(lit("policy-2"))));
    let ipc = twice.then(lit(2.0) * col("ipc_thread")).otherwise(col("ipc_thread"));
    rewrite(&directory, |runs| runs.with_columns([ipc.clone().alias("ipc_thread")]));
    let study = study(&directory, "policy-1");
    let text = page(&study);
    let titles: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(titles[..2], ["Summary", "Performance"]);
    assert_eq!(titles[titles.len() - 3..], ["What was run", "Not shown", "Definitions"]);
    let summary = section(&text, "Summary");
    // The harmonic mean of 1.5, 1.5, 3 and 1.5 is 12 / 7.
    let said = "**`policy-2`** is the fastest of 3 DRAM schedulers: its IPC is 71.4 % above that of `policy-1` in the harmonic mean over 4 workloads (1.500 × on `trace-000` to 3.000 × on `trace-002`). **`policy-0`** is the slowest: 50.0 % below (0.500 × on `trace-000` to 0.500 × on `trace-003`).";
    assert!(summary.contains(said), "{summary}");
    let rows: Vec<&str> = summary.lines().filter(|line| line.starts_with("| policy-")).collect();
    let ranking = [
        "| policy-2 | 1.714 | 1.500 | trace-000 | 3.000 | trace-002 | 4 |",
        "| policy-1 | 1.000 | 1.000 | trace-000 | 1.000 | trace-003 | 4 |",
        "| policy-0 | 0.500 | 0.500 | trace-000 | 0.500 | trace-003 | 4 |",
    ];
    assert_eq!(rows, ranking, "{summary}");
}

#[test]
fn the_baseline_may_be_the_fastest_and_equal_policies_are_called_equal() {
    let directory = runs(3, 2, &[""]);
    let summary =
        |baseline: &str| section(&page(&study(&directory, baseline)), "Summary").to_owned();
    let fastest = summary("policy-2");
    assert!(
        fastest.contains("**`policy-2`**, the baseline, is the fastest of 3 DRAM schedulers in the harmonic mean over 2 workloads; next is `policy-1`, 33.3 % below"),
        "{fastest}"
    );
    assert!(summary("policy-0").contains("**`policy-0`**, the baseline, is the slowest."));
    rewrite(&directory, |runs| runs.with_columns([lit(1.0).alias("ipc_thread")]));
    let equal = summary("policy-0");
    assert!(equal.contains("The 3 DRAM schedulers are equally fast"), "{equal}");
}

/// Policy 2 is the fastest by 0.05 %, then by 5 % within noise, then by 5 %.
#[test]
fn no_policy_wins_within_a_thousandth_or_within_noise() {
    let directory = runs(3, 2, &[""]);
    let summary = |ratio: f64, half: Option<f64>| {
        rewrite(&directory, |runs| {
            let is_first = col("dram_scheduler").eq(lit("policy-2"));
            runs.with_columns([when(is_first)
                .then(lit(2.0 * ratio))
                .otherwise(
                    when(col("dram_scheduler").eq(lit("policy-0")))
                        .then(lit(1.0))
                        .otherwise(lit(2.0)),
                )
                .alias("ipc_thread")])
        });
        let mut study = study(&directory, "policy-0");
        let ends = [(LOW, -1.0), (HIGH, 1.0)].map(|(name, side)| {
            let half = half.map_or(lit(NULL), |half| lit(side * half));
            (col(RATIO) + half.cast(DataType::Float64)).alias(name)
        });
        study.means = study.means.lazy().with_columns(ends).collect().unwrap();
        let is_noisy = lit(half.is_some_and(|half| half > 0.05));
        let [one, other] = [POLICY, BESIDE].map(|of| col(of).neq(lit("policy-0")));
        let is_equal = one.and(other).and(is_noisy);
        let verdict = when(is_equal).then(lit("equal")).otherwise(lit("above")).alias(VERDICT);
        study.pairs = study.pairs.lazy().with_columns([verdict]).collect().unwrap();
        section(&page(&study), "Summary").to_owned()
    };
    let near = summary(1.0005, None);
    let said = "No DRAM scheduler is the fastest: `policy-2` and `policy-1` are equal (their means differ by less than 0.1 %); the IPC of the first is 100.1 % above that of `policy-0`";
    assert!(near.contains(said), "{near}");
    let noisy = summary(1.05, Some(0.2));
    let said = "`policy-2` and `policy-1` are equal (the 95 % intervals of their ratios include 1)";
    assert!(noisy.contains(said), "{noisy}");
    assert!(noisy.contains("brackets are the 95 % confidence interval of the mean"), "{noisy}");
    let clear = summary(1.05, Some(0.02));
    assert!(clear.contains("**`policy-2`** is the fastest of 3"), "{clear}");
}

#[test]
fn all_policies_are_ranked_and_mapped_with_the_winner_first() {
    let directory = runs(24, 6, &[""]);
    let study = study(&directory, "policy-3");
    let shown = Shown::of(&study).unwrap();
    assert!(shown.policies.iter().any(|policy| policy == "policy-23"), "{:?}", shown.policies);
    let document = document(&study, &shown);
    let chart = |name: &str| document.charts().find(|chart| chart.name == name).unwrap();
    for (name, rows) in [("ipc-means", 24), ("ipc", 24 * 7)] {
        let chart = chart(name);
        let policies = chart.data.column(POLICY).unwrap().str().unwrap();
        assert_eq!(policies.get(0), Some("policy-23"), "{name}");
        assert_eq!(policies.len(), rows, "{name}");
        assert!(chart.svg().unwrap().contains(">policy-23<"), "{name}");
        assert!(chart.style.looks.contains_key("policy-23"));
    }
}

#[test]
fn summary_of_many_settings_counts_and_names_extremes() {
    let overrides = ["dram.read_queue=16", "dram.read_queue=32", "dram.read_queue=64"];
    let directory = runs(2, 2, &overrides);
    let alike = page(&study(&directory, "policy-0"));
    let always = "the fastest is `policy-1` in all; the slowest is `policy-0` in all.";
    assert!(section(&alike, "Summary").contains(always), "{alike}");
    let none = "`dram.read_queue` changes the harmonic mean of IPC by less than 0.1 %.";
    assert!(section(&alike, "Summary").contains(none), "{alike}");
    let slow =
        when(col("overrides").eq(lit(overrides[2])).and(col("dram_scheduler").eq(lit("policy-1"))));
    let ipc = slow.then(lit(0.5)).otherwise(col("ipc_thread")).alias("ipc_thread");
    rewrite(&directory, |runs| runs.with_columns([ipc.clone()]));
    let text = page(&study(&directory, "policy-0"));
    let summary = section(&text, "Summary");
    let count = "Of 3 settings, the fastest is `policy-1` in 2, `policy-0` in 1; the slowest is `policy-0` in 2, `policy-1` in 1.";
    assert!(summary.contains(count), "{summary}");
    assert!(
        summary.contains(
            "The largest gain is that of **`policy-1`** with `dram.read_queue=16`: 100.0 % above `policy-0`"
        ),
        "{summary}"
    );
    assert!(
        summary.contains(
            "The largest loss is that of **`policy-1`** with `dram.read_queue=64`: 50.0 % below"
        ),
        "{summary}"
    );
    let effect = "`dram.read_queue` changes the harmonic mean of IPC by up to 300.0 %: `policy-1` is fastest with `32` and slowest with `64`.";
    assert!(summary.contains(effect), "{summary}");
}

#[test]
fn summary_without_baseline_runs_ranks_nothing() {
    let overrides = ["dram.read_queue=16", "dram.read_queue=32", "dram.read_queue=64"];
    let directory = runs(2, 2, &overrides);
    // The baseline ran only on another trace.
    let baseline = col("dram_scheduler").eq(lit("policy-0"));
    let trace = when(baseline).then(lit("other")).otherwise(lit("trace")).alias("trace");
    let first = col("trace").eq(lit("trace-000"));
    rewrite(&directory, |runs| runs.filter(first.clone()).with_columns([trace.clone()]));
    let study = study(&directory, "policy-0");
    assert_eq!(study.unmatched, 3);
    let text = page(&study);
    let summary = section(&text, "Summary");
    assert!(summary.contains("3 of 6 runs have no run of `policy-0`"), "{summary}");
    assert!(!summary.contains("the slowest"), "{summary}");
}

#[test]
fn runs_of_one_policy_are_described_instead_of_compared() {
    let several = page(&study(&runs(1, 3, &[""]), "policy-0"));
    let summary = section(&several, "Summary");
    assert!(summary.contains("3 runs of one policy, `policy-0`"), "{summary}");
    assert!(summary.contains("outcome-ipc.svg") && summary.contains("outcome-bandwidth.svg"));
    assert!(section(&several, "Not shown").contains("nothing is compared"), "{several}");

    let one = page(&study(&runs(1, 1, &[""]), "policy-0"));
    let summary = section(&one, "Summary");
    for said in ["The run takes 1 core cycles", "SMs issue in 100.0 %", "100.0 % of its peak"] {
        assert!(summary.contains(said), "{said}: {summary}");
    }
    assert!(summary.contains("outcome-sm-cycles.svg") && summary.contains("outcome-latency.svg"));
}

#[test]
fn sampled_runs_of_one_policy_have_whiskers() {
    let directory = runs(1, 3, &[""]);
    let chart = || {
        let study = study(&directory, "policy-0");
        let document = document(&study, &Shown::of(&study).unwrap());
        let chart = document.charts().find(|chart| chart.name == "outcome-ipc").unwrap();
        (chart.caption.clone(), chart.svg().unwrap())
    };
    let interval = |half: Expr| {
        rewrite(&directory, |runs| {
            runs.with_columns([half.clone().cast(DataType::Float64).alias("cycles_interval")])
        });
    };
    interval(lit(NULL));
    assert!(!chart().0.contains("interval"));
    interval(when(col("trace").eq(lit("trace-001"))).then(lit(0.25)).otherwise(lit(NULL)));
    let (caption, svg) = chart();
    assert!(caption.contains("95 % confidence interval"), "{caption}");
    assert_eq!(svg.matches(": 1 1/cycle (0.8 to 1.333)").count(), 1, "{svg}");
}

#[test]
fn a_page_is_accessible() {
    let study = study(&runs(2, 3, &[""]), "policy-0");
    let document = document(&study, &Shown::of(&study).unwrap());
    let page = html::render(&document).unwrap();
    let count = |text: &str| page.matches(text).count();
    assert_eq!(count("<caption>"), document.tables().count());
    assert_eq!(count("<h2>"), document.sections.len());
    assert_eq!(count("<figure"), document.charts().count());
    assert_eq!(count("role=\"img\""), 2 * document.charts().count(), "for screens and phones");
    assert!(count("<th scope=\"row\"") > 6);
    let summary = page.find("id=\"summary\"").unwrap();
    assert!(summary < page.find("<figure").unwrap());
    assert!(page.find("<figure").unwrap() < page.find("<table").unwrap(), "charts come first");
}

/// Runs of irrelevant variants count in the means, not in the tables of runs.
#[test]
fn repeats_of_a_workload_are_one() {
    let directory = runs(2, 3, &[""]);
    rewrite(&directory, |runs| {
        with_others(runs, &[lit(1i64).cast(DataType::Int64).alias("variant")])
    });
    let study = study(&directory, "policy-0");
    assert_eq!((study.runs.height(), study.workloads.height()), (6, 6));
    assert_eq!(study.workload_names, study.traces);
    assert!(study.workloads.column(LOW).unwrap().null_count() < 6, "repeats have intervals");
}
