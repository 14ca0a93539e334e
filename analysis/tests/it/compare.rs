//! Comparisons of hand-made runs, with results computed by hand.

use crate::common::{floats, ipcs, runs, strings};
use polars::df;
use polars::prelude::*;
use warpmem_analysis::{CompareOptions, Comparison, Error, compare};

fn against(baseline: &str) -> CompareOptions {
    CompareOptions { metrics: Vec::new(), ..CompareOptions::new(baseline) }
}

fn ratios(comparison: &Comparison) -> Vec<Option<f64>> {
    floats(comparison.rows(), "ipc_ratio")
}

/// Returns rows of (policy, mean, ratio rounded to 12 decimals).
fn means(comparison: &Comparison, slot: &str) -> Vec<(String, String, Option<f64>)> {
    let rounded = |value: Option<f64>| value.map(|value| (value * 1e12).round() / 1e12);
    let frame = comparison.means();
    let names = strings(frame, slot).into_iter().zip(strings(frame, "mean"));
    let values = floats(frame, "ipc_ratio").into_iter().map(rounded);
    names.zip(values).map(|((policy, mean), value)| (policy, mean, value)).collect()
}

#[test]
fn ratio_is_to_the_baseline_of_the_same_trace() {
    let comparison = compare(runs().lazy(), &CompareOptions::new("fr-fcfs")).unwrap();
    let expected = [0.5, 0.75, 1.0, 2.0, 1.0, 1.0].map(Some);
    assert_eq!(ratios(&comparison), expected);
    assert_eq!(comparison.slots(), ["dram_scheduler"]);
    assert_eq!(comparison.baseline(), "fr-fcfs");
}

#[test]
fn three_means_of_the_ratio_and_the_arithmetic_mean_of_the_rest() {
    let comparison = compare(runs().lazy(), &CompareOptions::new("fr-fcfs")).unwrap();
    let row = |policy: &str, mean: &str, ratio| (policy.to_owned(), mean.to_owned(), Some(ratio));
    assert_eq!(
        means(&comparison, "dram_scheduler"),
        [
            row("fcfs", "arithmetic", 1.25),
            row("fcfs", "geometric", 1.0),
            row("fcfs", "harmonic", 0.8),
            row("banked-fifo", "arithmetic", 0.875),
            row("banked-fifo", "geometric", (0.75f64.sqrt() * 1e12).round() / 1e12),
            row("banked-fifo", "harmonic", 0.857_142_857_143),
            row("fr-fcfs", "arithmetic", 1.0),
            row("fr-fcfs", "geometric", 1.0),
            row("fr-fcfs", "harmonic", 1.0),
        ]
    );
    let means = comparison.means();
    let blp = [Some(1.125), None, None, Some(1.75), None, None, Some(2.25), None, None];
    assert_eq!(floats(means, "blp"), blp);
    let p99 = [Some(3000.0), None, None, Some(2495.0), None, None, Some(1990.0), None, None];
    assert_eq!(floats(means, "latency_p99"), p99);
}

#[test]
fn a_null_is_left_out_of_a_mean() {
    let comparison = compare(runs().lazy(), &CompareOptions::new("fr-fcfs")).unwrap();
    let hits = floats(comparison.means(), "row_hit_rate");
    assert_eq!((hits[0], hits[6]), (Some(0.5625), Some(0.75)));
    assert_eq!(floats(comparison.rows(), "row_hit_rate")[5], None);
    assert_eq!(floats(comparison.means(), "divergence_mean")[0], Some(1234.5));
}

#[test]
fn ratio_over_zero_is_null() {
    let runs = ipcs(&[
        ("idle", "m", "a", "gto", Some(1.0)),
        ("idle", "m", "base", "gto", Some(0.0)),
        ("unknown", "m", "a", "gto", Some(1.0)),
        ("unknown", "m", "base", "gto", None),
        ("nan", "m", "a", "gto", Some(f64::NAN)),
        ("nan", "m", "base", "gto", Some(2.0)),
        ("fine", "m", "a", "gto", Some(3.0)),
        ("fine", "m", "base", "gto", Some(2.0)),
    ]);
    let comparison = compare(runs, &against("base")).unwrap();
    let expected = [None, None, None, None, None, Some(1.0), Some(1.5), Some(1.0)];
    assert_eq!(ratios(&comparison), expected);
    assert_eq!(floats(comparison.rows(), "ipc_thread")[4], None);
    let counts = comparison.means().column("workloads").unwrap().u32().unwrap().clone();
    assert_eq!(counts.iter().flatten().collect::<Vec<_>>(), [1, 1, 1, 2, 2, 2]);
    assert_eq!(means(&comparison, "dram_scheduler")[2].2, Some(1.5));
}

#[test]
fn means_of_no_workload_are_null() {
    let runs = ipcs(&[("t", "m", "a", "gto", Some(1.0)), ("t", "m", "base", "gto", Some(0.0))]);
    let comparison = compare(runs, &against("base")).unwrap();
    assert_eq!(floats(comparison.means(), "ipc_ratio"), [None; 6]);
}

#[test]
fn zero_ipc_gives_zero_geometric_and_harmonic_means() {
    let runs = ipcs(&[
        ("s", "m", "a", "gto", Some(0.0)),
        ("s", "m", "base", "gto", Some(1.0)),
        ("t", "m", "a", "gto", Some(1.0)),
        ("t", "m", "base", "gto", Some(1.0)),
    ]);
    let comparison = compare(runs, &against("base")).unwrap();
    let expected = [0.5, 0.0, 0.0, 1.0, 1.0, 1.0].map(Some);
    assert_eq!(floats(comparison.means(), "ipc_ratio"), expected);
}

#[test]
fn machines_traces_and_policies_keep_their_order_of_first_appearance() {
    let runs = ipcs(&[
        ("z", "m2", "b", "gto", Some(1.0)),
        ("y", "m1", "b", "gto", Some(4.0)),
        ("z", "m2", "a", "gto", Some(2.0)),
        ("y", "m2", "a", "gto", Some(3.0)),
        ("y", "m2", "b", "gto", Some(6.0)),
        ("y", "m1", "a", "gto", Some(1.0)),
    ]);
    let comparison = compare(runs, &against("b")).unwrap();
    let rows = comparison.rows();
    assert_eq!(strings(rows, "machine"), ["m2", "m2", "m2", "m2", "m1", "m1"]);
    assert_eq!(strings(rows, "trace"), ["z", "z", "y", "y", "y", "y"]);
    assert_eq!(strings(rows, "dram_scheduler"), ["b", "a", "b", "a", "b", "a"]);
    assert_eq!(ratios(&comparison), [1.0, 2.0, 1.0, 0.5, 1.0, 0.25].map(Some));
    let machines = strings(comparison.means(), "machine");
    assert_eq!(machines, [["m2"; 6], ["m1"; 6]].concat());
    assert_eq!(means(&comparison, "dram_scheduler")[9].2, Some(0.25));
}

fn two_slots() -> LazyFrame {
    ipcs(&[
        ("t", "m", "fcfs", "lrr", Some(1.0)),
        ("t", "m", "fcfs", "gto", Some(2.0)),
        ("t", "m", "fr-fcfs", "lrr", Some(4.0)),
        ("t", "m", "fr-fcfs", "gto", Some(5.0)),
    ])
}

#[test]
fn slots_outside_the_baseline_are_held_equal() {
    let comparison = compare(two_slots(), &against("fr-fcfs")).unwrap();
    assert_eq!(comparison.slots(), ["dram_scheduler", "warp_scheduler"]);
    assert_eq!(ratios(&comparison), [0.25, 0.4, 1.0, 1.0].map(Some));
    assert_eq!(comparison.means().height(), 12);
}

#[test]
fn a_baseline_can_name_a_policy_of_every_slot() {
    for baseline in ["fr-fcfs/gto", "gto/fr-fcfs", "warp_scheduler=gto / dram_scheduler=fr-fcfs"] {
        let comparison = compare(two_slots(), &against(baseline)).unwrap();
        assert_eq!(ratios(&comparison), [0.2, 0.4, 0.8, 1.0].map(Some), "{baseline}");
    }
}

#[test]
fn the_same_run_from_two_places_counts_once() {
    let twice = concat([runs().lazy(), runs().lazy()], UnionArgs::default()).unwrap();
    let once = compare(runs().lazy(), &CompareOptions::new("fr-fcfs")).unwrap();
    let twice = compare(twice, &CompareOptions::new("fr-fcfs")).unwrap();
    assert!(once.table().unwrap().equals_missing(&twice.table().unwrap()));
}

#[test]
fn a_single_policy_is_its_own_baseline() {
    let runs = ipcs(&[("t", "m", "fcfs", "gto", Some(2.0))]);
    assert_eq!(ratios(&compare(runs, &against("fcfs")).unwrap()), [Some(1.0)]);
}

#[test]
fn slots_that_do_not_vary_are_kept_in_every_row() {
    let table = compare(runs().lazy(), &against("fr-fcfs")).unwrap().table().unwrap();
    assert_eq!(strings(&table, "warp_scheduler"), ["gto"; 15]);
}

#[test]
fn integers_and_single_precision_count_like_doubles() {
    let runs = runs().lazy().with_columns([col("ipc_thread").cast(DataType::Float32)]);
    let runs = runs.with_columns([col("row_locality").cast(DataType::Int32)]);
    let comparison = compare(runs, &CompareOptions::new("fr-fcfs")).unwrap();
    assert_eq!(ratios(&comparison)[0], Some(0.5));
    assert_eq!(floats(comparison.rows(), "row_locality")[0], Some(1.0));
}

fn message(result: warpmem_analysis::Result<Comparison>) -> String {
    result.expect_err("an error").to_string()
}

#[test]
fn unknown_baseline_error_lists_the_policies() {
    insta::assert_snapshot!(
        message(compare(runs().lazy(), &CompareOptions::new("fr-fcsf"))),
        @"no run of the baseline `fr-fcsf`; runs vary in dram_scheduler (banked-fifo, fcfs, fr-fcfs)"
    );
    insta::assert_snapshot!(
        message(compare(two_slots(), &against("warp_scheduler=fr-fcfs"))),
        @"no run of the baseline `warp_scheduler=fr-fcfs`; runs vary in dram_scheduler (fcfs, fr-fcfs); warp_scheduler (gto, lrr)"
    );
}

#[test]
fn a_workload_without_its_baseline_is_named() {
    let runs = runs().lazy().filter(col("run_id").neq(lit(6)));
    insta::assert_snapshot!(
        message(compare(runs, &CompareOptions::new("fr-fcfs"))),
        @"trace `stream.wmt` on machine `li2015` has no run of the baseline `fr-fcfs` to compare `fcfs` with; it was run with: fcfs, banked-fifo; run it with the baseline too, or choose another"
    );
}

#[test]
fn workload_without_a_baseline_has_no_ratio_and_enters_no_mean() {
    let runs = runs().lazy().filter(col("run_id").neq(lit(6)));
    let options = CompareOptions { allow_unmatched: true, ..CompareOptions::new("fr-fcfs") };
    let comparison = compare(runs, &options).unwrap();
    let rows = comparison.rows().clone().lazy();
    let of_stream = rows.filter(col("trace").eq(lit("stream.wmt"))).collect().unwrap();
    assert_eq!(comparison.unmatched(), of_stream.height());
    assert_eq!(of_stream.column("ipc_ratio").unwrap().null_count(), of_stream.height());
    assert_eq!(of_stream.column("ipc_thread").unwrap().null_count(), 0);
    let workloads = comparison.means().column("workloads").unwrap().cast(&DataType::Int64).unwrap();
    assert!(workloads.i64().unwrap().iter().all(|count| count == Some(1)), "{workloads:?}");
    let whole = compare(self::runs().lazy(), &options).unwrap();
    assert_eq!(whole.unmatched(), 0);
}

#[test]
fn ambiguous_policy_name_is_refused() {
    let runs = ipcs(&[("t", "m", "a", "b", Some(1.0)), ("t", "m", "b", "a", Some(1.0))]);
    insta::assert_snapshot!(
        message(compare(runs, &against("a"))),
        @"`a` of the baseline is a value of several slots (dram_scheduler, warp_scheduler); write slot=a"
    );
}

#[test]
fn duplicate_runs_of_a_policy_are_refused_with_their_differing_slots() {
    let options = CompareOptions { slots: vec!["dram_scheduler".to_owned()], ..against("fcfs") };
    insta::assert_snapshot!(
        message(compare(two_slots(), &options)),
        @"2 runs of trace `t` on machine `m` with `fcfs`, but a comparison needs exactly one; they differ in warp_scheduler"
    );
    let same = ipcs(&[("t", "m", "a", "gto", Some(1.0)), ("t", "m", "a", "gto", Some(1.0))]);
    insta::assert_snapshot!(
        message(compare(same, &against("a"))),
        @"2 runs of trace `t` on machine `m` with `a/gto`, but a comparison needs exactly one; they differ in no slot"
    );
}

#[test]
fn columns_that_are_missing_or_hold_no_numbers_are_named() {
    let lacking = runs().drop("blp").unwrap().lazy();
    let error = compare(lacking, &CompareOptions::new("fr-fcfs")).unwrap_err();
    assert!(matches!(&error, Error::MissingColumn { column, .. } if column == "blp"), "{error}");
    let error = compare(
        runs().lazy(),
        &CompareOptions { slots: vec!["topology".to_owned()], ..against("mesh") },
    );
    let error = error.unwrap_err().to_string();
    assert!(
        error.starts_with("the `runs` table has no column `topology`; it has: run_id,"),
        "{error}"
    );
    let text = runs().lazy().with_columns([lit("fast").alias("ipc_thread")]);
    insta::assert_snapshot!(
        message(compare(text, &CompareOptions::new("fr-fcfs"))),
        @"column `ipc_thread` of the `runs` table holds str, not numbers"
    );
}

#[test]
fn a_comparison_without_runs_is_refused() {
    let none = runs().lazy().filter(lit(false));
    assert!(matches!(compare(none, &CompareOptions::new("fr-fcfs")), Err(Error::NoRuns)));
}

#[test]
fn metric_is_compared_with_the_baseline() {
    let metrics = ["latency_mean_ratio", "blp", "latency_p99_reduction"].map(str::to_owned);
    let options = CompareOptions { metrics: metrics.to_vec(), ..CompareOptions::new("fr-fcfs") };
    let comparison = compare(runs().lazy(), &options).unwrap();
    let rows = comparison.rows();
    let expected = [1.8, 1.4, 1.0, 1.05, 1.025, 1.0].map(Some);
    assert_eq!(floats(rows, "latency_mean_ratio"), expected);
    let reduction = floats(rows, "latency_p99_reduction");
    assert_eq!(reduction[1], Some(1.0 - 4000.0 / 3000.0));
    assert_eq!(floats(comparison.means(), "latency_mean_ratio")[0], Some(1.425));
    let names: Vec<&str> = rows.columns().iter().map(|c| c.name().as_str()).collect();
    assert_eq!(names[names.len() - 3..], metrics);
    assert!(comparison.to_text(200).unwrap().contains("-33.3"), "in percent");
}

#[test]
fn units_of_other_columns_are_shown_and_fractions_in_percent() {
    let frame = runs()
        .lazy()
        .with_columns([lit(0.125).alias("waiting_ratio"), lit(20.0).alias("queue_latency")]);
    let units = [("waiting_ratio", "fraction"), ("queue_latency", "L2 cycles")];
    let units = units.map(|(column, unit)| (column.to_owned(), unit.to_owned()));
    let metrics = ["waiting_ratio", "queue_latency"].map(str::to_owned).to_vec();
    let baseline = CompareOptions::new("fr-fcfs");
    let options = CompareOptions { metrics, units: units.into(), ..baseline };
    let text = compare(frame, &options).unwrap().to_text(100).unwrap();
    assert!(text.contains("L2 cycles\n") && text.contains("  12.5 "), "{text}");
}

#[test]
fn a_ratio_to_nothing_is_null() {
    let metrics = vec!["row_hit_rate_reduction".to_owned()];
    let options = CompareOptions { metrics, ..CompareOptions::new("fr-fcfs") };
    let comparison = compare(runs().lazy(), &options).unwrap();
    let got = floats(comparison.rows(), "row_hit_rate_reduction");
    assert_eq!(got[3..], [None; 3], "the baseline has none");
    let missing = vec!["no_such_ratio".to_owned()];
    let options = CompareOptions { metrics: missing, ..CompareOptions::new("fr-fcfs") };
    assert!(compare(runs().lazy(), &options).unwrap_err().to_string().contains("`no_such`"));
}

/// Makes runs of `fcfs` and `fr-fcfs` with the default read queue, with 32 and with 128 entries: IPC 2 over 4, 1
/// over 2, 3 over 8.
fn overridden() -> LazyFrame {
    let frame = df!(
        "trace" => ["t"; 6],
        "machine" => ["m"; 6],
        "overrides" => ["", "", "dram.read_queue=32", "dram.read_queue=32", "dram.read_queue=128", "dram.read_queue=128"],
        "dram_scheduler" => ["fcfs", "fr-fcfs", "fcfs", "fr-fcfs", "fcfs", "fr-fcfs"],
        "ipc_thread" => [2.0, 4.0, 1.0, 2.0, 3.0, 8.0],
    );
    frame.unwrap().lazy()
}

#[test]
fn runs_are_compared_with_the_baseline_of_the_same_overrides() {
    let comparison = compare(overridden(), &against("fr-fcfs")).unwrap();
    assert_eq!(ratios(&comparison), [0.5, 1.0, 0.5, 1.0, 0.375, 1.0].map(Some));
    assert_eq!(comparison.slots(), ["dram_scheduler"]);
    let overrides = ["", "dram.read_queue=32", "dram.read_queue=128"];
    let rows: Vec<&str> = overrides.iter().flat_map(|o| [*o; 2]).collect();
    assert_eq!(strings(comparison.rows(), "overrides"), rows);
    let means: Vec<&str> = overrides.iter().flat_map(|o| [*o; 6]).collect();
    assert_eq!(strings(comparison.means(), "overrides"), means);
    insta::assert_snapshot!(comparison.to_text(100).unwrap());
}

#[test]
fn a_baseline_may_name_overrides() {
    let comparison = compare(overridden(), &against("dram.read_queue=32")).unwrap();
    assert_eq!(comparison.slots(), ["dram_scheduler", "overrides"]);
    assert_eq!(ratios(&comparison), [2.0, 2.0, 1.0, 1.0, 3.0, 4.0].map(Some));
    let both = compare(overridden(), &against("dram.read_queue=32/fr-fcfs")).unwrap();
    assert_eq!(ratios(&both), [1.0, 2.0, 0.5, 1.0, 1.5, 4.0].map(Some));
}

#[test]
fn parameters_of_compared_overrides_are_not_marked() {
    let parameters = concat_str([lit(r#"{"x":""#), col("overrides"), lit(r#""}"#)], "", true);
    let versions = when(col("ipc_thread").eq(col("ipc_thread").max()));
    let versions = versions.then(lit("1.1")).otherwise(lit("1.0")).alias("engine_version");
    let mixed_runs = overridden().with_columns([parameters.alias("parameters"), versions]);
    let options = CompareOptions { allow_mixed: true, ..against("dram.read_queue=32") };
    let comparison = compare(mixed_runs, &options).unwrap();
    let marks = strings(comparison.rows(), "mixed");
    assert_eq!(marks.iter().filter(|mark| *mark == "engine").count(), 1);
    assert_eq!(marks.iter().filter(|mark| *mark == "null").count(), marks.len() - 1);
}

#[test]
fn varying_overrides_are_compared() {
    let only = || overridden().filter(col("dram_scheduler").eq(lit("fcfs")));
    let comparison = compare(only(), &against("none")).unwrap();
    assert_eq!(comparison.slots(), ["overrides"]);
    assert_eq!(ratios(&comparison), [1.0, 0.5, 1.5].map(Some));
    insta::assert_snapshot!(
        message(compare(only(), &against("fcfs"))),
        @"no run of the baseline `fcfs`; runs vary in overrides (dram.read_queue=128, dram.read_queue=32, none)"
    );
}

#[test]
fn a_baseline_may_hold_an_equals_sign_or_a_slash() {
    let runs = ipcs(&[
        ("t", "m", "fr-fcfs(row_hit_cap=4)", "gto", Some(1.0)),
        ("t", "m", "dram/own", "gto", Some(2.0)),
    ]);
    let comparison = compare(runs.clone(), &against("fr-fcfs(row_hit_cap=4)")).unwrap();
    assert_eq!(ratios(&comparison), [1.0, 2.0].map(Some));
    let comparison = compare(runs, &against("dram/own")).unwrap();
    assert_eq!(ratios(&comparison), [0.5, 1.0].map(Some));
}

fn with(column: &str, values: [&str; 6]) -> LazyFrame {
    runs().hstack(&[Column::new(column.into(), values)]).unwrap().lazy()
}

fn mixed() -> CompareOptions {
    CompareOptions { allow_mixed: true, ..against("fr-fcfs") }
}

#[test]
fn differing_trace_contents_are_refused_or_marked() {
    let hashes = ["aa", "bb", "bb", "cc", "cc", "cc"];
    insta::assert_snapshot!(
        message(compare(with("trace_hash", hashes), &against("fr-fcfs"))),
        @"these runs cannot be compared: trace `bfs.wmt` has several contents (aa, bb); compare runs that agree, or allow mixed runs (`--allow-mixed` of a report), which are then marked"
    );
    let comparison = compare(with("trace_hash", hashes), &mixed()).unwrap();
    let marks = strings(comparison.rows(), "mixed");
    assert_eq!(marks, ["trace", "null", "null", "null", "null", "null"]);
    assert_eq!(ratios(&comparison)[0], Some(0.5));
    let text = comparison.to_text(1000).unwrap();
    assert!(text.ends_with("Mixed: trace `bfs.wmt` has several contents (aa, bb).\n"), "{text}");
    assert_eq!(strings(&comparison.table().unwrap(), "mixed")[..2], ["trace", "null"]);
}

#[test]
fn differing_machine_parameters_except_policies_are_refused_or_marked() {
    let set = |queue: u32, policy: &str| {
        format!(r#"{{"dram.read_queue":{queue},"l1.ways":4,"policy.dram_scheduler":"{policy}"}}"#)
    };
    let (one, other, large) = (set(32, "fcfs"), set(32, "fr-fcfs"), set(64, "fcfs"));
    let alike = [&one, &other, &other, &one, &other, &other].map(String::as_str);
    let comparison = compare(with("parameters", alike), &against("fr-fcfs")).unwrap();
    assert!(comparison.mixed().is_empty() && comparison.rows().column("mixed").is_err());
    let apart = [&one, &large, &other, &one, &large, &other].map(String::as_str);
    insta::assert_snapshot!(
        message(compare(with("parameters", apart), &against("fr-fcfs"))),
        @"these runs cannot be compared: machine `li2015` has several sets of parameters (dram.read_queue 32 or 64); compare runs that agree, or allow mixed runs (`--allow-mixed` of a report), which are then marked"
    );
    let marks = strings(compare(with("parameters", apart), &mixed()).unwrap().rows(), "mixed");
    assert_eq!(marks, ["null", "parameters", "null", "null", "parameters", "null"]);
    let overridden =
        with("parameters", apart).with_columns([when(col("parameters").eq(lit(large)))
            .then(lit("dram.read_queue=64"))
            .otherwise(lit(""))
            .alias("overrides")]);
    let error = message(compare(overridden, &against("fr-fcfs")));
    assert!(error.contains("has no run of the baseline"), "they are other machines: {error}");
}

#[test]
fn differing_engine_versions_are_refused_or_marked() {
    let versions = ["1.0", "1.0", "1.1", "1.1", "1.1", "1.1"];
    insta::assert_snapshot!(
        message(compare(with("engine_version", versions), &against("fr-fcfs"))),
        @"these runs cannot be compared: engine versions are 1.0, 1.1; compare runs that agree, or allow mixed runs (`--allow-mixed` of a report), which are then marked"
    );
    let both = with("engine_version", versions).with_columns([lit("x").alias("trace_hash")]);
    let both = both.with_columns([when(col("run_id").eq(lit(1)))
        .then(lit("y"))
        .otherwise(lit("x"))
        .alias("trace_hash")]);
    let marks = strings(compare(both, &mixed()).unwrap().rows(), "mixed");
    assert_eq!(marks, ["trace, engine", "engine", "null", "null", "null", "null"]);
}

#[test]
fn undefined_metrics_are_null_not_nan() {
    let wild = runs().lazy().with_columns([
        lit(f64::NAN).alias("blp"),
        lit(f64::INFINITY).alias("latency_mean"),
        (col("row_locality") - lit(1.5)).alias("row_locality"),
    ]);
    let metrics = ["blp", "latency_mean_ratio", "row_locality_ratio", "row_locality_reduction"];
    let metrics = metrics.map(str::to_owned).to_vec();
    let options = CompareOptions { metrics, ..CompareOptions::new("fcfs") };
    let table = compare(wild, &options).unwrap().table().unwrap();
    for column in table.columns().iter().filter(|column| column.dtype().is_float()) {
        for value in column.f64().unwrap().iter().flatten() {
            assert!(value.is_finite(), "{}: {value}", column.name());
        }
    }
}
