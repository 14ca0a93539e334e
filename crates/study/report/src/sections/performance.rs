//! IPC compared with the baseline.

use crate::columns::{POLICY, RATIO, SETTING};
use crate::document::Section;
use crate::limits::Shown;
use crate::prose::Prose;
use crate::study::Study;
use crate::table::Table;
use polars::prelude::*;
use warpmem_analysis::{MEANS, polars};
use warpmem_support::text::capitalised;

/// Largest number of policies side by side in a table.
const COLUMNS: usize = 12;

pub fn section(study: &Study, _shown: &Shown) -> anyhow::Result<Section> {
    let section = Section::new("performance", "Performance");
    if study.is_single() {
        let why = "There is only one policy, so nothing is compared.";
        return Ok(section.note(Prose::new(why)));
    }
    let mut section = section.text(introduction(study)).table(means(study)?);
    if study.policies.len() <= COLUMNS {
        section = section.table(ratios(study)?);
    }
    Ok(section.table(runs(study)?))
}

fn introduction(study: &Study) -> Prose {
    let mean = study.mean.name();
    let mut prose = Prose::new("The IPC ratio is the thread IPC of a run divided by that of ");
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
        .words(" mean over workloads; the table of means has all three. Means of other metrics are arithmetic. Missing values (–) are excluded from means.")
}

/// Returns the report's preferred means, as rows of a workload with the mean's name.
fn mean_rows(study: &Study) -> LazyFrame {
    let of_mean = study.means.clone().lazy().filter(col("mean").eq(lit(study.mean.name())));
    of_mean.with_columns([lit(study.mean_name()).alias("trace")])
}

/// Makes a table with a row per setting and policy: the three means of the ratio side by side, then
/// the means of the metrics.
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
        "Workloads with an IPC ratio. Means of the ratio are over these; the mean of another metric is over the workloads that have it.",
        0,
    );
    Ok(table)
}

fn title(mean: &str) -> String {
    format!("IPC ratio, {mean}")
}

/// Makes a table with a row per workload and a column per policy.
fn ratios(study: &Study) -> anyhow::Result<Table> {
    let of = |policy: &String| {
        col(RATIO).filter(col(POLICY).eq(lit(policy.as_str()))).first().alias(policy.as_str())
    };
    let columns: Vec<Expr> = study.policies.iter().map(of).collect();
    let needed = [SETTING, "trace", POLICY, RATIO].map(col);
    let workloads = study.workloads.clone().lazy().select(needed.clone());
    let both = concat([workloads, mean_rows(study).select(needed)], UnionArgs::default())?;
    let keys: Vec<Expr> =
        study.keys().into_iter().filter(|key| ![POLICY, "mixed"].contains(key)).map(col).collect();
    let frame = both.group_by_stable(keys).agg(columns).collect()?;
    let title = format!("IPC relative to {}, per workload", study.baseline());
    Ok(Table::new("ipc-ratios", title, frame).of_metric(RATIO))
}

fn runs(study: &Study) -> anyhow::Result<Table> {
    let metrics = study.metrics.iter().map(String::as_str);
    let keys = study.keys();
    let columns: Vec<&str> = keys.into_iter().chain(["ipc_thread", RATIO]).chain(metrics).collect();
    Ok(Table::new("runs", "Every run", study.runs.select(columns)?).folded())
}
