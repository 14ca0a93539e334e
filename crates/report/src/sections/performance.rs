//! IPC compared with the baseline.

use super::{Scope, scopes};
use crate::columns::{POLICY, RATIO, SETTING};
use crate::document::Section;
use crate::frame::is_one_of;
use crate::limits::Shown;
use crate::prose::Prose;
use crate::study::Study;
use crate::table::Table;
use polars::prelude::*;
use warpmem_analysis::{MEANS, polars};
use warpmem_chart::{Axis, Bars, Chart, Kind};
use warpmem_text::{capitalised, counted};

/// Policies that fit side by side in a table.
const COLUMNS: usize = 12;

pub fn section(study: &Study, shown: &Shown) -> anyhow::Result<Section> {
    let mut section =
        Section::new("performance", "Performance against the baseline").text(introduction(study));
    if !study.mixed.is_empty() {
        section = section.warning(mixed(study));
    }
    if study.planned.1 > 0 {
        section = section.warning(missing(study.planned));
    }
    if study.unmatched > 0 {
        section = section.warning(unmatched(study));
    }
    if study.is_uneven()? {
        section = section.warning(uneven());
    }
    for scope in scopes(study, shown)? {
        let has_ratios = scope.runs.column(RATIO)?.null_count() < scope.runs.height();
        if has_ratios {
            section = section.figure(chart(study, shown, &scope)?);
        }
    }
    section = section.table(means(study)?);
    if study.policies.len() <= COLUMNS && study.policies.len() > 1 {
        section = section.table(ratios(study)?);
    }
    Ok(section.table(runs(study)?))
}

fn introduction(study: &Study) -> Prose {
    let mean = study.mean.name();
    let mut prose = Prose::new("The IPC ratio is the thread IPC of a run over that of ");
    for (at, (baseline, machines)) in study.baselines.iter().enumerate() {
        prose = if at > 0 { prose.words("; ") } else { prose }.code(baseline);
        if study.baselines.len() > 1 {
            prose = prose.words(" on ").codes(machines);
        }
    }
    let same = if study.baselines.len() > 1 { ", with the same " } else { " with the same " };
    prose
        .words(same)
        .words(study.held())
        .words(": above 1 is faster. Charts and the tables per workload show the ")
        .words(mean)
        .words(" mean over workloads; the first table has all three. Means of other metrics are arithmetic. A value that does not exist (–) is left out of a mean.")
}

fn mixed(study: &Study) -> Prose {
    Prose::new("these runs differ in what a comparison assumes to be equal. ")
        .words(study.mixed.join("; "))
        .words(". Ratios of the rows marked in the column ")
        .code("mixed")
        .words(" are not due to policies alone, and the means include them.")
}

fn missing((planned, missing): (usize, usize)) -> Prose {
    Prose::new(format!("{missing} of the {} that the sweep planned are missing: ", counted(planned, "run")))
        .words("they have failed, have not been run yet, or are in the directory of another shard. Means cover only the runs that exist.")
}

fn unmatched(study: &Study) -> Prose {
    let runs = counted(study.runs.height(), "run");
    Prose::new(format!("{} of {runs} have no run of ", study.unmatched))
        .code(study.baseline())
        .words(" beside them, with the same ")
        .words(study.held())
        .words(": they have no IPC ratio and are in no mean of it. Run what is missing, or name another ")
        .code("--baseline")
        .words(".")
}

fn uneven() -> Prose {
    Prose::new(
        "not every policy was run on every workload, so means of different policies cover different workloads.",
    )
}

/// Name of the rows and bars of the mean; no workload has it.
fn mean_name(study: &Study) -> String {
    let mut name = format!("{} mean", study.mean.name());
    while study.traces.contains(&name) {
        name.insert_str(0, "the ");
    }
    name
}

/// The report's preferred means, as rows of a workload of this name.
fn mean_rows(study: &Study) -> LazyFrame {
    let of_mean = study.means.clone().lazy().filter(col("mean").eq(lit(study.mean.name())));
    of_mean.with_columns([lit(mean_name(study)).alias("trace")])
}

fn chart(study: &Study, shown: &Shown, scope: &Scope) -> anyhow::Result<Chart> {
    let columns = ["trace", POLICY, RATIO].map(col);
    let of_setting = col(SETTING).eq(lit(scope.setting.as_str()));
    let means = mean_rows(study).filter(of_setting.and(is_one_of(POLICY, &shown.policies)));
    let runs = scope.runs.clone().lazy().select(columns.clone());
    let data = concat([runs, means.select(columns)], UnionArgs::default())?.collect()?;
    let bars =
        Bars::new("trace", POLICY, RATIO, Axis::new(format!("IPC over {}", scope.baseline), ""));
    let bars = bars.set_apart([mean_name(study)]).reference(1.0);
    let caption = format!(
        "Thread IPC of each workload{} over that with {}; at the right the {}.",
        scope.on,
        scope.baseline,
        mean_name(study)
    );
    Ok(Chart::new(
        format!("ipc{}", scope.file),
        "IPC against the baseline",
        caption,
        data,
        Kind::Bars(bars),
    ))
}

/// A row per setting and policy: the three means of the ratio side by side, then the metrics'
/// means.
fn means(study: &Study) -> anyhow::Result<Table> {
    let of = |mean: &str| col(RATIO).filter(col("mean").eq(lit(mean))).first().alias(title(mean));
    let mut columns = vec![col("workloads").first()];
    columns.extend(MEANS.map(of));
    columns.extend(study.metrics.iter().map(|metric| col(metric).first()));
    let keys =
        if study.settings.len() > 1 { vec![col(SETTING), col(POLICY)] } else { vec![col(POLICY)] };
    let frame = study.means.clone().lazy().group_by_stable(keys).agg(columns).collect()?;
    let title_of_table = format!("Means over workloads, against {}", study.baseline());
    let mut table = Table::new("means", title_of_table, frame);
    for mean in MEANS {
        let definition = format!("{} mean over workloads of the IPC ratio.", capitalised(mean));
        table.describe(&title(mean), "×", &definition, 3);
    }
    table.describe(
        "workloads",
        "",
        "Workloads with an IPC ratio: the means of the ratio are over these, the mean of another metric is over the workloads in which that exists.",
        0,
    );
    Ok(table)
}

fn title(mean: &str) -> String {
    format!("IPC ratio, {mean}")
}

/// A row per workload, a column per policy.
fn ratios(study: &Study) -> anyhow::Result<Table> {
    let of = |policy: &String| {
        col(RATIO).filter(col(POLICY).eq(lit(policy.as_str()))).first().alias(policy.as_str())
    };
    let columns: Vec<Expr> = study.policies.iter().map(of).collect();
    let needed = [SETTING, "trace", POLICY, RATIO].map(col);
    let runs = study.runs.clone().lazy().select(needed.clone());
    let both = concat([runs, mean_rows(study).select(needed)], UnionArgs::default())?;
    let keys: Vec<Expr> =
        study.keys().into_iter().filter(|key| ![POLICY, "mixed"].contains(key)).map(col).collect();
    let frame = both.group_by_stable(keys).agg(columns).collect()?;
    let title = format!("IPC over that of {}, per workload", study.baseline());
    Ok(Table::new("ipc-ratios", title, frame).of_metric(RATIO))
}

fn runs(study: &Study) -> anyhow::Result<Table> {
    let metrics = study.metrics.iter().map(String::as_str);
    let keys = study.keys();
    let columns: Vec<&str> = keys.into_iter().chain(["ipc_thread", RATIO]).chain(metrics).collect();
    Ok(Table::new("runs", "Every run", study.runs.select(columns)?).folded())
}
