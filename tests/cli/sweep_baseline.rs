//! Baselines of a sweep's cells, and plans without a baseline.

use super::support::{Bench, Ran};
use super::sweep::bench;

fn sweep(bench: &Bench, plan: &str, options: &[&str]) -> Ran {
    bench.write("plan.toml", format!("traces = ['small.wmt']\n{plan}"));
    bench.run(&[&["sweep", "plan.toml", "-o", "results"], options].concat())
}

/// In slots that the case leaves unset, each machine uses its own policy; the machines have
/// different warp schedulers.
#[test]
fn case_baseline_applies_per_machine() {
    let bench = bench();
    let plan = "machines = ['li2015', 'owl2013']
        baseline = 'plain'
        [[cases]]
        name = 'plain'
        [[cases]]
        name = 'other'
        policies = { warp_scheduler = 'ccws' }";
    let ran = sweep(&bench, plan, &[]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert_eq!(ran.stdout.matches("IPC ratio: against ").count(), 2, "one each: {ran:?}");
    let ran = sweep(&bench, plan, &["--format", "csv"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let header = ran.stdout.lines().next().unwrap();
    let ratio = header.split(',').position(|column| column == "ipc_ratio").unwrap();
    let of = |machine: &str| {
        let rows = ran.stdout.lines().filter(|line| line.contains(machine));
        rows.map(|row| row.split(',').nth(ratio).unwrap()).collect::<Vec<_>>()
    };
    for machine in ["li2015", "owl2013"] {
        let ratios = of(machine);
        assert_eq!(ratios.len(), 2 + 2 * 3, "runs and means: {ran:?}");
        assert_eq!(ratios[0], "1.0", "{ran:?}");
        assert!(ratios.iter().all(|ratio| !ratio.is_empty()), "{ran:?}");
    }
}

/// 64 entries are the machine's own value: both cases are the same run.
#[test]
fn duplicate_cells_keep_the_baseline() {
    let bench = bench();
    let plan = "machines = ['li2015']
        baseline = 'w'
        [[cases]]
        name = 'plain'
        [[cases]]
        name = 'w'
        parameters = { 'dram.read_queue' = 64 }
        [[cases]]
        name = 'small'
        parameters = { 'dram.read_queue' = 8 }";
    let ran = sweep(&bench, plan, &[]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("note: 1 cells duplicate another run"), "{ran:?}");
    assert!(ran.stdout.contains("against dram.read_queue=64 on the same trace"), "{ran:?}");
}

#[test]
fn one_at_a_time_designs_compare_with_one_point() {
    let bench = bench();
    let plan = |baseline: &str| {
        format!(
            "design = 'one-at-a-time'
            {baseline}
            [policies]
            dram_scheduler = ['fcfs', 'fr-fcfs']
            warp_scheduler = ['lrr', 'gto']
            [parameters]
            'dram.read_queue' = [16, 32]"
        )
    };
    for (baseline, label) in [
        ("", "fcfs/lrr/dram.read_queue=16"),
        ("baseline = 'fr-fcfs'", "fr-fcfs/lrr/dram.read_queue=16"),
        ("baseline = 'dram.read_queue=32'", "fcfs/lrr/dram.read_queue=32"),
    ] {
        let ran = sweep(&bench, &plan(baseline), &[]);
        assert_eq!(ran.status, Some(0), "{baseline}: {ran:?}");
        assert!(ran.stdout.contains(&format!("against {label} ")), "{baseline}: {ran:?}");
    }
}

#[test]
fn no_override_differs_from_a_policy_named_none() {
    let bench = bench();
    let plan = "baseline = 'plain'
        [[cases]]
        name = 'plain'
        [[cases]]
        name = 'both'
        policies = { dram_scheduler = 'fcfs' }
        parameters = { 'dram.read_queue' = 8 }";
    let ran = sweep(&bench, plan, &["--format", "csv"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
}

#[test]
fn plan_without_comparable_runs_is_refused_early() {
    let bench = bench();
    let refuses = |plan: &str, parts: &[&str]| {
        let ran = sweep(&bench, &format!("machines = ['li2015']\n{plan}"), &[]);
        assert_eq!(ran.status, Some(2), "{ran:?}");
        for part in parts {
            assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
        }
        assert!(!bench.path("results").exists(), "{plan}");
    };
    refuses(
        "baseline = 'fr-fcfs/gto'
        design = 'one-at-a-time'
        [policies]
        dram_scheduler = ['fcfs', 'fr-fcfs']
        warp_scheduler = ['lrr', 'gto']",
        &[
            "`baseline`: 3 of 3 cells have no run of `fr-fcfs/gto` to compare with",
            "the first is small on li2015 with fcfs, lrr; nothing was started",
            "this trace and machine have:\n    small on li2015 with fcfs, lrr\n",
        ],
    );
    refuses(
        "baseline = 'ring'
        skip_unfit = true
        [policies]
        topology = ['crossbar', 'ring']",
        &[
            "`baseline`: 1 of 1 cells have no run of `ring` to compare with",
            "`skip_unfit` leaves these out:\n    small on li2015 with ring: ",
        ],
    );
    refuses(
        "baseline = 'fr-fcfs'
        [policies]
        dram_scheduler = ['fr-fcfs', 'fcfs']
        [[cases]]
        name = 'other'
        parameters = { 'dram.read_queue' = 8 }
        policies = { dram_scheduler = 'fcfs' }",
        &["`baseline`: 1 of 3 cells", "the first is small on li2015, case `other`"],
    );
}

#[test]
fn misspelt_cases_are_reported() {
    let bench = bench();
    let plan = "baseline = 'plan'
        [[cases]]
        name = 'plain'
        [[cases]]
        name = 'other'
        policies = { warp_scheduler = 'ccws' }";
    let ran = sweep(&bench, plan, &[]);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    let expected = "the baseline `plan` is not a case of the plan (did you mean `plain`?)";
    assert!(ran.stderr.contains(expected), "{ran:?}");
}
