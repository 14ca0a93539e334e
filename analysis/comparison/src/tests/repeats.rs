//! Seeds and variants as repeats, bounds, and the verdicts on policies.

use super::fixture::{against, floats, numbers, ratios, strings, table, texts};
use crate::{Comparison, Table, Values, compare};

fn counts(values: impl IntoIterator<Item = i64>) -> Values {
    Values::Count(values.into_iter().map(Some).collect())
}

/// Makes runs of two seeds of a workload and of another trace under two variants, of `fr-fcfs` and two
/// others. IPC over `fr-fcfs`, logarithms by seed and variant: `fcfs` -0.2, -0.2, -0.2, -0.2 and twice -0.1;
/// `par-bs` 0.1, -0.1, -0.1, 0.1 and 0.1, -0.1.
fn repeated() -> Table {
    let traces = ["b1", "b1", "b2", "b2", "v", "v"];
    let par_bs = [0.1, -0.1, -0.1, 0.1, 0.1, -0.1];
    let fcfs = [-0.2, -0.2, -0.2, -0.2, -0.1, -0.1];
    let ipcs = |logs: [f64; 6]| logs.map(|log: f64| 10.0 * log.exp());
    let all = [ipcs([0.0; 6]), ipcs(fcfs), ipcs(par_bs)].concat();
    let workloads = ["bfs", "bfs", "bfs", "bfs", "v", "v"];
    let policies = ["fr-fcfs", "fcfs", "par-bs"];
    let seeds = [Some(1), Some(1), Some(2), Some(2), None, None];
    table([
        ("trace", texts(&[traces; 3].concat())),
        ("machine", texts(&["h100"; 18])),
        ("dram_scheduler", texts(&policies.map(|policy| [policy; 6]).concat())),
        ("workload", texts(&[workloads; 3].concat())),
        ("seed", Values::Count([seeds; 3].concat())),
        ("variant", counts((0..18).map(|at| at % 2))),
        ("parameters", texts(&[r#"{"run.first_sm":0}"#, r#"{"run.first_sm":9}"#].repeat(9))),
        ("ipc_thread", floats(&all)),
        ("bandwidth_utilization", floats(&[0.001; 18])),
        ("cycles", floats(&[1000.0; 18])),
        ("inactive_cycles", floats(&[930.0; 18])),
        ("bound", texts(&["perfect-dram"; 18])),
        ("bound_ipc_thread", floats(&[10.03; 18])),
    ])
}

fn comparison() -> Comparison {
    compare(&repeated(), &against("fr-fcfs")).unwrap()
}

fn rounded(values: Vec<Option<f64>>) -> Vec<Option<f64>> {
    values.into_iter().map(|value| value.map(|value| (value * 1e4).round() / 1e4)).collect()
}

#[test]
fn seeds_and_variants_are_repeats_of_one_workload() {
    let workloads = comparison().workloads();
    assert_eq!(strings(&workloads, "trace"), ["b*", "b*", "b*", "v", "v", "v"]);
    assert_eq!(numbers(&workloads, "repeats"), [4.0, 4.0, 4.0, 2.0, 2.0, 2.0].map(Some));
    // exp(-0.2) and exp(-0.1); par-bs has no mean effect.
    let ratios = [1.0, 0.8187, 1.0, 1.0, 0.9048, 1.0].map(Some);
    assert_eq!(rounded(numbers(&workloads, "ipc_ratio")), ratios);
    let verdicts = ["baseline", "below", "equal", "baseline", "below", "equal"];
    assert_eq!(strings(&workloads, "verdict"), verdicts);
    // 12.7062 · 0.1 around 0 for the two variants of `v`.
    assert_eq!(rounded(numbers(&workloads, "ipc_ratio_low"))[5], Some(0.2807));
    assert_eq!(rounded(numbers(&workloads, "ipc_ratio_high"))[5], Some(3.5631));
}

#[test]
fn a_run_keeps_its_row() {
    let comparison = comparison();
    let rows = comparison.rows();
    assert_eq!((rows.height(), comparison.has_repeats()), (18, true));
    assert_eq!(numbers(&rows, "variant")[..4], [0.0, 1.0, 0.0, 1.0].map(Some));
    assert_eq!(numbers(&rows, "seed")[16], None);
    assert_eq!(rounded(ratios(&comparison))[4..6], [Some(1.1052), Some(0.9048)]);
}

#[test]
fn means_count_workloads_and_have_intervals() {
    let means = comparison().means();
    assert_eq!(numbers(&means, "workloads")[0], Some(2.0));
    // exp(-0.15), exactly: neither workload varies.
    assert_eq!(rounded(numbers(&means, "ipc_ratio"))[4], Some(0.8607));
    assert_eq!(rounded(numbers(&means, "ipc_ratio_low"))[4], Some(0.8607));
    assert_eq!(strings(&means, "verdict")[4], "below");
    assert_eq!(strings(&means, "verdict")[7], "equal");
    assert_eq!(rounded(numbers(&means, "ipc_bound"))[0], Some(1.003));
}

#[test]
fn every_two_policies_are_compared_repeat_by_repeat() {
    let pairs = comparison().pairs();
    assert_eq!(strings(&pairs, "policy"), ["fr-fcfs", "fr-fcfs", "fcfs"]);
    assert_eq!(strings(&pairs, "other"), ["fcfs", "par-bs", "par-bs"]);
    assert_eq!(strings(&pairs, "verdict"), ["above", "equal", "equal"]);
    assert_eq!(rounded(numbers(&pairs, "ratio")), [1.1618, 1.0, 0.8607].map(Some));
}

#[test]
fn the_findings_come_first_and_name_no_winner_among_equals() {
    let comparison = comparison();
    let findings = comparison.findings();
    assert_eq!(
        findings[0],
        "On h100 the DRAM scheduler can hardly matter: perfect-dram raises the IPC by at most 0.3 % (on b*; 0.3 % in \
         the mean of 2 workloads), and the DRAM bus is used at most 0.1 % of the time. Inputs larger than the \
         L2, or a machine with less DRAM bandwidth for its SMs, load DRAM more."
    );
    assert_eq!(findings.len(), 2);
    insta::assert_snapshot!(comparison.to_text(100));
}

#[test]
fn a_winner_is_above_each_of_the_others_on_their_common_workloads() {
    let two = repeated().with_text("dram_scheduler", &["fr-fcfs", "fcfs"]);
    let findings =
        |runs: &Table, baseline: &str| compare(runs, &against(baseline)).unwrap().findings();
    assert_eq!(findings(&two, "fcfs")[1], "On h100 fr-fcfs is best, 16.2 % above the next.");

    // The mean of `a` is the highest, but `a` ran on `t` alone, where `b` is above it.
    let row = |trace, policy, ipc: f64| [(trace, policy, 0, ipc), (trace, policy, 1, 1.01 * ipc)];
    let runs = [
        row("s", "base", 1.0),
        row("s", "b", 0.5),
        row("t", "base", 1.0),
        row("t", "a", 1.1),
        row("t", "b", 1.2),
    ]
    .concat();
    let runs = table([
        ("trace", texts(&runs.iter().map(|run| run.0).collect::<Vec<_>>())),
        ("machine", texts(&["m"; 10])),
        ("dram_scheduler", texts(&runs.iter().map(|run| run.1).collect::<Vec<_>>())),
        ("variant", counts(runs.iter().map(|run| run.2))),
        ("ipc_thread", floats(&runs.iter().map(|run| run.3).collect::<Vec<_>>())),
    ]);
    let reason = "On m the policies ran on different workloads: none is called best.";
    assert_eq!(findings(&runs, "base"), [reason]);
}

/// Returns the first finding on one workload with this use of DRAM, and this IPC under a perfect one over 10.
fn finding(used: f64, queued: f64, bound: Option<f64>) -> String {
    let runs = table([
        ("trace", texts(&["t"; 2])),
        ("machine", texts(&["m"; 2])),
        ("dram_scheduler", texts(&["a", "b"])),
        ("ipc_thread", floats(&[10.0, 11.0])),
        ("bandwidth_utilization", floats(&[used; 2])),
        ("queue_occupancy_mean", floats(&[queued; 2])),
        ("bound", texts(&[if bound.is_some() { "perfect-dram" } else { "" }; 2])),
        ("bound_ipc_thread", Values::Float(vec![bound; 2])),
    ]);
    compare(&runs, &against("a")).unwrap().findings()[0].clone()
}

#[test]
fn an_idle_unit_and_a_small_bound_say_that_a_slot_hardly_matters() {
    let starts = |finding: &str, start: &str| assert!(finding.starts_with(start), "{finding}");
    let hardly = "On m the DRAM scheduler can hardly matter: ";
    let loaded = finding(0.4, 3.0, Some(14.0));
    starts(
        &loaded,
        "On m perfect-dram raises the IPC by at most 40.0 %: about the most that the DRAM ",
    );
    starts(
        &finding(0.4, 3.0, Some(9.0)),
        &format!("{hardly}perfect-dram does not raise the IPC. "),
    );
    let idle = finding(0.0001, 0.01, Some(10.5));
    starts(
        &idle,
        &format!(
            "{hardly}the DRAM bus is used at most 0.05 % of the time and a channel holds 0.01 \
        requests; without any latency, perfect-dram raises the IPC by at most 5.0 %. "
        ),
    );
    starts(
        &finding(0.04, 0.04, None),
        &format!("{hardly}the DRAM bus is used at most 4.0 % of the time"),
    );
    starts(&finding(0.04, 0.06, None), "The noise of the differences is unknown");
}

#[test]
fn the_use_of_units_is_the_baselines() {
    let leverage = comparison().leverage();
    assert_eq!(strings(&leverage, "trace"), ["b*", "v"]);
    assert_eq!(numbers(&leverage, "bus_used"), [Some(0.001); 2]);
    assert_eq!(numbers(&leverage, "idle_share"), [Some(0.93); 2]);
    assert_eq!(numbers(&leverage, "queue_length"), [None; 2], "no such column");
    assert_eq!(rounded(numbers(&leverage, "ipc_bound")), [Some(1.003); 2]);
}

/// Makes single runs of `a` and `b` over `a`, with these ratios on two traces.
fn single(ratios: [f64; 2]) -> Comparison {
    let runs = table([
        ("trace", texts(&["s", "s", "t", "t"])),
        ("machine", texts(&["m"; 4])),
        ("dram_scheduler", texts(&["a", "b", "a", "b"])),
        ("ipc_thread", floats(&[1.0, ratios[0], 1.0, ratios[1]])),
    ]);
    compare(&runs, &against("a")).unwrap()
}

#[test]
fn without_repeats_only_invisible_differences_are_equal() {
    let same = single([1.0002, 0.9999]);
    assert_eq!(strings(&same.workloads(), "verdict"), ["baseline", "equal", "baseline", "equal"]);
    assert_eq!(same.findings(), ["On m a and b are equal: no table shows a difference."]);
    let different = single([1.1, 1.2]);
    assert_eq!(strings(&different.workloads(), "verdict")[1], "null");
    let unknown = "The noise of the differences is unknown, so no policy is called best; repeats measure it (--repeat 3).";
    assert_eq!(different.findings(), [unknown]);
    assert_eq!(numbers(&different.workloads(), "ipc_ratio_low"), [None; 4]);
}

#[test]
fn a_sampled_run_has_the_interval_of_both_runs() {
    let runs = table([
        ("trace", texts(&["s"; 2])),
        ("machine", texts(&["m"; 2])),
        ("dram_scheduler", texts(&["a", "b"])),
        ("ipc_thread", floats(&[1.0, 1.04])),
        ("cycles_interval", floats(&[0.03, 0.04])),
    ]);
    let comparison = compare(&runs, &against("a")).unwrap();
    assert!(comparison.is_sampled() && !comparison.has_repeats());
    let workloads = comparison.workloads();
    // 1.04 · exp(±0.05).
    let bounds =
        ["ipc_ratio_low", "ipc_ratio_high"].map(|name| rounded(numbers(&workloads, name))[1]);
    assert_eq!(
        (bounds, strings(&workloads, "verdict")[1].as_str()),
        ([Some(0.9893), Some(1.0933)], "equal")
    );
    assert!(comparison.to_text(100).contains("0.989–1.093*"), "{}", comparison.to_text(100));
}

#[test]
fn two_runs_of_one_variant_are_refused() {
    let twice = Table::stacked(&[repeated(), repeated()]);
    let error = compare(&twice, &against("fr-fcfs")).unwrap_err().to_string();
    assert!(error.contains("2 runs of trace `b1` on machine `h100` with `fr-fcfs`"), "{error}");
}
