//! Reports on more runs than a page can show.

mod style;
mod summary;

use crate::columns::{IS_BASELINE, POLICY};
use crate::document::Document;
use crate::limits::Shown;
use crate::prose::Prose;
use crate::sections::SECTIONS;
use crate::study::{Question, Study};
use crate::{finish, html, markdown};
use polars::prelude::*;
use std::fs;
use tempfile::TempDir;
use warpmem_analysis::{Mean, polars, read_table, write_parquet};
use warpmem_record::run_columns;

/// Makes a table of runs: each policy on each workload. The IPC of policy `p` is 1 + p; every other
/// metric is 1.
fn runs(policies: usize, traces: usize, overrides: &[&str]) -> TempDir {
    let mut rows = Vec::new();
    for overrides in overrides {
        for trace in 0..traces {
            rows.extend((0..policies).map(|policy| (*overrides, trace, policy)));
        }
    }
    let text = |name: &str, (overrides, trace, policy): (&str, usize, usize)| match name {
        "run_id" => format!("{overrides}-{trace}-{policy}"),
        "trace" | "trace_hash" | "workload" => format!("trace-{trace:03}"),
        "bound" => String::new(),
        "overrides" => overrides.to_owned(),
        "parameters" => match overrides.split_once('=') {
            Some((key, value)) if value.parse::<f64>().is_err() => {
                format!("{{\"{key}\":\"{value}\"}}")
            }
            Some((key, value)) => format!("{{\"{key}\":{value}}}"),
            None => "{}".to_owned(),
        },
        "dram_scheduler" => format!("policy-{policy}"),
        name => name.to_owned(),
    };
    let column = |column: &warpmem_record::Column<_>| {
        let name = column.name.as_str();
        match column.kind() {
            "text" => Column::new(
                name.into(),
                rows.iter().map(|row| text(name, *row)).collect::<Vec<_>>(),
            ),
            // Whole runs of machines themselves, without samples.
            _ if ["variant", "seed", "cycles_interval", "bound_ipc_thread"].contains(&name) => {
                let value = (name == "variant").then_some(0i64);
                Column::new(name.into(), vec![value; rows.len()])
            }
            "int64" => Column::new(name.into(), vec![1i64; rows.len()]),
            _ if name == "ipc_thread" => Column::new(
                name.into(),
                rows.iter().map(|row| 1.0 + row.2 as f64).collect::<Vec<_>>(),
            ),
            _ => Column::new(name.into(), vec![1.0f64; rows.len()]),
        }
    };
    let columns: Vec<Column> = run_columns().iter().map(column).collect();
    let directory = tempfile::tempdir().unwrap();
    let frame = DataFrame::new(rows.len(), columns).unwrap();
    write_parquet(&frame, directory.path().join("runs.parquet")).unwrap();
    directory
}

fn study(directory: &TempDir, baseline: &str) -> Study {
    open(directory, Some(baseline), false)
}

fn open(directory: &TempDir, baseline: Option<&str>, allow_mixed: bool) -> Study {
    Study::open(&Question {
        directories: vec![directory.path().to_owned()],
        baseline: baseline.map(str::to_owned),
        metrics: None,
        mean: Mean::Harmonic,
        allow_mixed,
        style: None,
    })
    .unwrap()
}

/// Rewrites the table of runs with `change`.
fn rewrite(directory: &TempDir, change: impl Fn(LazyFrame) -> LazyFrame) {
    let path = directory.path().join("runs.parquet");
    let changed = change(read_table(&path).unwrap()).collect().unwrap();
    write_parquet(&changed, &path).unwrap();
}

/// Appends copies of the runs that differ in these columns.
fn with_others(runs: LazyFrame, others: &[Expr]) -> LazyFrame {
    let own_id = (lit("other") + col("run_id")).alias("run_id");
    let others = runs.clone().with_columns([&[own_id], others].concat());
    concat([runs, others], UnionArgs::default()).unwrap()
}

/// Returns whether runs of this name are the baseline.
fn is_baseline(study: &Study, policy: &str) -> bool {
    let its = study.runs.clone().lazy().filter(col(POLICY).eq(lit(policy)));
    its.collect().unwrap().column(IS_BASELINE).unwrap().bool().unwrap().all()
}

fn page(study: &Study) -> String {
    markdown::render(&document(study, &Shown::of(study).unwrap()), "p").unwrap()
}

fn document(study: &Study, shown: &Shown) -> Document {
    let sections = SECTIONS.map(|make| make(study, shown).unwrap());
    let (title, lead) = ("Many".to_owned(), Prose::new("Runs."));
    let mut document = Document { title, lead, sections: sections.into() };
    finish(&mut document, study).unwrap();
    document
}

fn words(prose: &Prose) -> String {
    format!("{prose:?}")
}

#[test]
fn large_studies_show_the_strongest_effects_and_count_the_rest() {
    let directory = runs(12, 45, &[""]);
    let study = study(&directory, "policy-3");
    let shown = Shown::of(&study).unwrap();
    assert_eq!(study.runs.height(), 12 * 45);
    assert_eq!(shown.traces.len(), 20);
    // The fastest with the baseline, the slowest, and the next fastest.
    let kept = [
        "policy-0",
        "policy-3",
        "policy-6",
        "policy-7",
        "policy-8",
        "policy-9",
        "policy-10",
        "policy-11",
    ];
    assert_eq!(shown.policies, kept);
    let said = words(&shown.left_out(&study).unwrap());
    assert!(said.contains("20 of 45 workloads") && said.contains("8 of 12 policies"), "{said}");

    let document = document(&study, &shown);
    let page = html::render(&document).unwrap();
    assert!(page.contains("The first 300 of 540 rows"));
    assert!(page.len() < 8 << 20, "{} bytes", page.len());
    let text = markdown::render(&document, "plots").unwrap();
    assert!(text.contains("The first 300 of 540 rows; all are in [runs.csv](plots/runs.csv)"));
    for table in document.tables() {
        assert!(document.charts().all(|chart| chart.name != table.name), "{}", table.name);
    }
}

/// Returns the value in a policy's row of the table of means.
fn mean(study: &Study, policy: &str, mean: &str) -> f64 {
    let of = col("policy").eq(lit(policy)).and(col("mean").eq(lit(mean)));
    let rows = study.means.clone().lazy().filter(of).collect().unwrap();
    assert_eq!(rows.height(), 1);
    rows.column("ipc_ratio").unwrap().f64().unwrap().get(0).unwrap()
}

#[test]
fn ratios_are_to_the_baseline_of_the_same_overrides() {
    let directory = runs(2, 3, &["dram.read_queue=16", "dram.read_queue=64"]);
    let study = study(&directory, "policy-0");
    assert_eq!(study.settings.len(), 2);
    let of = |setting: &str| {
        let of = col("setting").eq(lit(setting)).and(col("policy").eq(lit("policy-1")));
        study.runs.clone().lazy().filter(of).collect().unwrap()
    };
    let fast = of("dram.read_queue=16");
    assert_eq!(fast.height(), 3);
    assert_eq!(fast.column("ipc_ratio").unwrap().f64().unwrap().get(0), Some(2.0));
    let text = markdown::render(&document(&study, &Shown::of(&study).unwrap()), "p").unwrap();
    assert!(text.contains("Sensitivity to dram.read\\_queue"), "{text}");
    assert!(
        text.contains(
            "| policy-1 | dram.read\\_queue | 16 to 64 | 2.000 | 16 | 2.000 | 64 | 0.0 |"
        ),
        "{text}"
    );
}

/// Returns the text of a section of a page in Markdown.
fn section<'a>(page: &'a str, title: &str) -> &'a str {
    let start = page.find(&format!("\n## {title}\n")).expect("the section is there");
    let rest = &page[start + 1..];
    rest.find("\n## ").map_or(rest, |end| &rest[..end])
}

#[test]
fn parameters_with_names_are_drawn_as_those_with_numbers() {
    let directory = runs(2, 2, &["dram.page=open", "dram.page=closed"]);
    let slow = when(col("overrides").eq(lit("dram.page=closed")));
    let ipc = slow.then(lit(0.5) * col("ipc_thread")).otherwise(col("ipc_thread"));
    rewrite(&directory, |runs| runs.with_columns([ipc.clone().alias("ipc_thread")]));
    let study = study(&directory, "policy-0");
    let document = document(&study, &Shown::of(&study).unwrap());
    let chart = document.charts().find(|chart| chart.name == "parameter-dram-page");
    let svg = chart.expect("a chart of the parameter").svg().unwrap();
    assert!(svg.contains("closed, policy-0: −50 %"), "{svg}");
    let text = markdown::render(&document, "p").unwrap();
    let row = "| policy-1 | dram.page | open, closed | 1.000 | closed | 2.000 | open | 100.0 |";
    assert!(section(&text, "Sensitivity").contains(row), "{text}");
}

#[test]
fn runs_differing_in_overrides_are_compared_by_override() {
    let directory = runs(1, 2, &["dram.read_queue=16", "dram.read_queue=64"]);
    let study = study(&directory, "dram.read_queue=16");
    assert_eq!(study.policies, ["dram.read_queue=16", "dram.read_queue=64"]);
    assert_eq!(mean(&study, "dram.read_queue=64", "harmonic"), 1.0);
    assert!(!study.is_single());
    document(&study, &Shown::of(&study).unwrap());
}

#[test]
fn runs_without_overrides_are_the_baseline_none() {
    let directory = runs(1, 2, &["", "dram.read_queue=64"]);
    let path = directory.path().join("runs.parquet");
    let with_all = read_table(&path).unwrap().with_columns([when(col("overrides").eq(lit("")))
        .then(lit("{\"dram.read_queue\":32}"))
        .otherwise(col("parameters"))
        .alias("parameters")]);
    write_parquet(&with_all.collect().unwrap(), &path).unwrap();
    let study = study(&directory, "none");
    assert_eq!(study.policies, ["none", "dram.read_queue=64"]);
    assert!(is_baseline(&study, "none") && !is_baseline(&study, "dram.read_queue=64"));
    let text = markdown::render(&document(&study, &Shown::of(&study).unwrap()), "p").unwrap();
    assert!(
        text.contains("| machine | dram.read\\_queue | 32 to 64 | 1.000 | 32 | 1.000 | 64 | 0.0 |"),
        "{text}"
    );
}

#[test]
fn a_slash_in_an_override_does_not_split_its_name() {
    let directory = runs(1, 2, &["dram.standard=a/x.toml", "dram.standard=a/y.toml"]);
    let study = study(&directory, "dram.standard=a/x.toml");
    assert!(is_baseline(&study, "dram.standard=a/x.toml"));
    assert!(!is_baseline(&study, "dram.standard=a/y.toml"));
}

#[test]
fn baseline_slot_is_inferred_from_the_policy() {
    let directory = runs(2, 2, &[""]);
    let path = directory.path().join("runs.parquet");
    let twice = read_table(&path).unwrap();
    let other = twice.clone().with_columns([
        lit("policy-0").alias("warp_scheduler"),
        (lit("other") + col("run_id")).alias("run_id"),
    ]);
    let both = concat([twice, other], UnionArgs::default()).unwrap();
    write_parquet(&both.collect().unwrap(), &path).unwrap();
    let study = study(&directory, "dram_scheduler=policy-0");
    assert!(is_baseline(&study, "policy-0/warp_scheduler"));
    assert!(!is_baseline(&study, "policy-1/policy-0"));
    assert_eq!(study.held_slots().collect::<Vec<_>>(), ["warp_scheduler"]);
    let summary = section(&page(&study), "Summary").to_owned();
    let said = "No policy combination gains most over its own baseline: `policy-1/warp_scheduler` and `policy-1/policy-0` are equal (their means differ by less than 0.1 %)";
    assert!(summary.contains(said), "{summary}");
}

#[test]
fn report_of_an_incomplete_sweep_counts_missing_runs() {
    let directory = runs(1, 2, &[""]);
    let page = || {
        let study = study(&directory, "policy-0");
        markdown::render(&document(&study, &Shown::of(&study).unwrap()), "p").unwrap()
    };
    assert!(!page().contains("are missing"));
    fs::write(directory.path().join("incomplete"), "-0-0\n-1-0\nother\n").unwrap();
    let text = page();
    assert!(text.contains("1 of the 3 runs that the sweep planned are missing"), "{text}");
}

#[test]
fn runs_without_a_baseline_have_no_ratio_and_are_reported() {
    let directory = runs(2, 3, &[""]);
    let path = directory.path().join("runs.parquet");
    let rest = read_table(&path).unwrap().filter(col("run_id").neq(lit("-0-0")));
    write_parquet(&rest.collect().unwrap(), &path).unwrap();
    let study = study(&directory, "policy-0");
    assert_eq!(study.unmatched, 1);
    assert_eq!(mean(&study, "policy-1", "harmonic"), 2.0);
    let text = markdown::render(&document(&study, &Shown::of(&study).unwrap()), "p").unwrap();
    assert!(text.contains("1 of 5 runs have no run of `policy-0` beside them"), "{text}");
    assert!(text.contains("not every policy ran on every workload"), "{text}");

    let whole = self::study(&runs(2, 3, &[""]), "policy-0");
    assert!(whole.unmatched == 0 && !whole.is_uneven().unwrap());
}

#[test]
fn machine_specific_policies_are_not_compared() {
    let directory = runs(2, 2, &[""]);
    let other = [lit("other").alias("machine"), lit("lrr").alias("warp_scheduler")];
    rewrite(&directory, |runs| with_others(runs, &other));
    let study = open(&directory, None, false);
    assert_eq!(study.slots, ["dram_scheduler"]);
    assert_eq!(study.policies, ["policy-0", "policy-1"]);
    assert_eq!(study.unmatched, 0);
    let text = page(&study);
    assert!(
        text.contains(
            "By machine, the warp scheduler is `warp_scheduler` on `machine`; `lrr` on `other`"
        ),
        "{text}"
    );
}

/// The other machine is half as fast, has other values, and has rows of its own.
#[test]
fn parameters_are_those_of_a_machine() {
    let directory = runs(2, 2, &["dram.read_queue=16", "dram.read_queue=64"]);
    let other = [
        lit("other").alias("machine"),
        (lit(0.5) * col("ipc_thread")).alias("ipc_thread"),
        col("parameters").str().replace_all(lit("16"), lit("8"), true).alias("parameters"),
    ];
    rewrite(&directory, |runs| with_others(runs, &other));
    let study = study(&directory, "policy-0");
    let text = page(&study);
    for row in [
        "| policy-1 | machine | dram.read\\_queue | 16 to 64 | 2.000 | 16 | 2.000 | 64 | 0.0 |",
        "| policy-1 | other | dram.read\\_queue | 8 to 64 | 2.000 | 8 | 2.000 | 64 | 0.0 |",
    ] {
        assert!(text.contains(row), "{row}: {text}");
    }
    assert!(text.contains("p/parameter-dram-read-queue-other.svg"), "{text}");
}

#[test]
fn runs_without_the_reference_in_the_first_setting_are_in_no_curve() {
    let directory = runs(2, 2, &["dram.read_queue=16", "dram.read_queue=64"]);
    let missing = col("run_id").neq(lit("dram.read_queue=16-0-0"));
    rewrite(&directory, |runs| runs.filter(missing.clone()));
    let text = page(&study(&directory, "policy-0"));
    assert!(section(&text, "Summary").contains("is the fastest"), "{text}");
    let note = "3 of 7 runs on `machine` are in no mean: there is no run of `policy-0` in the first setting beside them";
    assert!(text.contains(note), "{text}");
}

#[test]
fn large_factorials_keep_changed_policies_with_their_baselines() {
    let directory = runs(9, 1, &[""]);
    let slow = [col("dram_scheduler").alias("warp_scheduler"), lit("slow").alias("dram_scheduler")];
    rewrite(&directory, |runs| runs.with_columns(&slow));
    let fast = [
        lit("fast").alias("dram_scheduler"),
        when(col("warp_scheduler").eq(lit("policy-4")))
            .then(lit(9.0) * col("ipc_thread"))
            .otherwise(lit(2.0) * col("ipc_thread"))
            .alias("ipc_thread"),
    ];
    rewrite(&directory, |runs| with_others(runs, &fast));
    let shown = Shown::of(&study(&directory, "slow")).unwrap();
    let holds = |name: &str| shown.policies.iter().any(|policy| policy == name);
    assert!(holds("fast/policy-4") && holds("slow/policy-4"), "{:?}", shown.policies);
    assert_eq!(shown.policies.iter().filter(|name| name.starts_with("fast/")).count(), 4);
    assert_eq!(shown.policies.len(), 8);
}

#[test]
fn chart_and_table_file_names_are_unique_and_valid() {
    let many = (0..40).map(|number| format!("some.parameter_{number}={number}"));
    let many = many.collect::<Vec<_>>().join("; ");
    let directory = runs(2, 1, &["x.y=a<b", "x.y=a>b", &many]);
    let study = study(&directory, "policy-0");
    let document = document(&study, &Shown::of(&study).unwrap());
    let charts = document.charts().map(|chart| chart.name.clone());
    let mut names: Vec<String> =
        charts.chain(document.tables().map(|table| table.name.clone())).collect();
    assert!(names.iter().all(|name| name.len() <= 100), "{names:?}");
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count, "{names:?}");
}

#[test]
fn a_workload_may_share_the_name_of_the_mean() {
    let directory = runs(2, 2, &[""]);
    let is_first = col("trace").eq(lit("trace-000"));
    let name = when(is_first).then(lit("harmonic mean")).otherwise(col("trace")).alias("trace");
    rewrite(&directory, |runs| runs.with_columns([name.clone()]));
    let text = page(&study(&directory, "policy-0"));
    assert!(text.contains("| the harmonic mean |") && text.contains("| harmonic mean |"), "{text}");
}

#[test]
fn machines_of_equal_names_are_distinguished_by_parameters() {
    let directory = runs(2, 2, &[""]);
    let of_first =
        when(col("trace").eq(lit("trace-000")).and(col("dram_scheduler").eq(lit("policy-0"))));
    let parameters = of_first
        .then(lit("{\"dram.read_queue\":16}"))
        .otherwise(lit("{\"dram.read_queue\":64}"))
        .alias("parameters");
    rewrite(&directory, |runs| runs.with_columns([parameters.clone()]));
    let text = page(&open(&directory, Some("policy-0"), true));
    assert!(text.contains("| dram.read\\_queue | 16 or 64 |"), "{text}");
}

/// Both have a policy of the same name, with different parameters.
#[test]
fn each_machine_has_a_baseline_of_its_own() {
    let own = |machine: &str| warpmem_machine::load(machine, &[]).unwrap().policy.dram_scheduler;
    let named = |machine: &'static str| {
        let is_first = col("ipc_thread").eq(lit(1.0));
        let policy = when(is_first).then(lit(own(machine))).otherwise(lit("x"));
        [lit(machine).alias("machine"), policy.alias("dram_scheduler")]
    };
    let directory = runs(2, 2, &[""]);
    rewrite(&directory, |runs| {
        with_others(runs.with_columns(named("li2015")), &named("accelsim-qv100"))
    });
    let study = open(&directory, None, false);
    let on = |machine: &str| (own(machine), vec![machine.to_owned()]);
    assert_eq!(study.baselines, [on("li2015"), on("accelsim-qv100")]);
    assert_eq!(study.unmatched, 0);
}
