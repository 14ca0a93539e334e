//! Policies of each setting, ordered by mean IPC, with the spread over workloads.

use crate::columns::{IS_BASELINE, POLICY, RATIO, SETTING};
use crate::frame::is_one_of;
use crate::limits::Shown;
use crate::sections::{Scope, folded_if_long, scopes};
use crate::study::Study;
use crate::table::Table;
use anyhow::Context;
use polars::prelude::*;
use warpmem_analysis::polars;
use warpmem_chart::{Axis, Bars, Chart, Kind};
use warpmem_support::text::capitalised;

/// Columns of the spread: the minimum and maximum ratio, and their workloads.
const LEAST: &str = "least";
const LEAST_ON: &str = "least on";
const GREATEST: &str = "greatest";
const GREATEST_ON: &str = "greatest on";
const WORKLOADS: &str = "workloads";
/// Column of the order in which policies ran.
const PLACE: &str = "place";

pub struct Standings {
    /// A row per setting and policy, the fastest policy of a setting first.
    frame: DataFrame,
}

/// A policy in a setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    pub policy: String,
    pub is_baseline: bool,
    /// Mean IPC relative to the baseline.
    pub mean: f64,
    pub workloads: u32,
    pub least: Extreme,
    pub greatest: Extreme,
}

/// A ratio and its workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Extreme {
    pub ratio: f64,
    pub trace: String,
}

impl Standings {
    pub fn of(study: &Study) -> anyhow::Result<Standings> {
        let keys = [SETTING, POLICY].map(col);
        let of_mean = col("mean").eq(lit(study.mean.name()));
        let columns = [SETTING, POLICY, IS_BASELINE, WORKLOADS, RATIO].map(col);
        let means = study.means.clone().lazy().filter(of_mean).select(columns);
        let mut join = JoinArgs::new(JoinType::Left);
        join.maintain_order = MaintainOrderJoin::Left;
        let rows = means.join(spread(study), &keys, &keys, join).with_row_index(PLACE, None);
        const FIRST: &str = "first place";
        let first = col(PLACE).min().over([col(SETTING)])?.alias(FIRST);
        let order = SortMultipleOptions::default()
            .with_order_descending_multi([false, true])
            .with_nulls_last(true)
            .with_maintain_order(true);
        let frame = rows.with_columns([first]).sort([FIRST, RATIO], order).collect()?;
        Ok(Standings { frame })
    }

    /// Returns the policies of a setting that have a mean, the fastest first.
    pub fn of_setting(&self, setting: &str) -> anyhow::Result<Vec<Standing>> {
        let its = col(SETTING).eq(lit(setting)).and(has_mean());
        let rows = self.frame.clone().lazy().filter(its).collect()?;
        (0..rows.height()).map(|row| Standing::of(&rows, row)).collect()
    }

    /// Returns the highest mean over all settings, with its setting.
    pub fn greatest(&self) -> anyhow::Result<Option<(String, Standing)>> {
        self.first_by_mean(true)
    }

    /// Returns the lowest mean over all settings, with its setting.
    pub fn least(&self) -> anyhow::Result<Option<(String, Standing)>> {
        self.first_by_mean(false)
    }

    fn first_by_mean(&self, is_greatest: bool) -> anyhow::Result<Option<(String, Standing)>> {
        let order = SortMultipleOptions::default()
            .with_order_descending(is_greatest)
            .with_maintain_order(true);
        let rows = self.frame.clone().lazy().filter(has_mean()).sort([RATIO], order);
        let first = rows.first().collect()?;
        let setting = first.column(SETTING)?.str()?.get(0).map(str::to_owned);
        setting.map(|setting| Ok((setting, Standing::of(&first, 0)?))).transpose()
    }

    /// Returns the fastest and the slowest policy of each setting that has several.
    pub fn ends(&self) -> anyhow::Result<DataFrame> {
        let policy = col(POLICY);
        let ends = [policy.clone().first().alias("fastest"), policy.last().alias("slowest")];
        let rows = self.frame.clone().lazy().filter(has_mean());
        let ends = rows.group_by_stable([col(SETTING)]).agg(ends);
        Ok(ends.filter(col("fastest").neq(col("slowest"))).collect()?)
    }

    pub fn table(&self, study: &Study) -> anyhow::Result<Table> {
        let setting = (study.settings.len() > 1).then_some(SETTING);
        let rest = [POLICY, RATIO, LEAST, LEAST_ON, GREATEST, GREATEST_ON, WORKLOADS];
        let columns: Vec<&str> = setting.into_iter().chain(rest).collect();
        let name = study.mean_name();
        let title = format!("Ranking by the {name} of IPC over that of {}", study.baseline());
        let mut frame = self.frame.select(columns)?;
        frame.rename(RATIO, name.as_str().into())?;
        let mut table = Table::new("standings", title, frame);
        let definition = format!("{} of the IPC ratio over workloads.", capitalised(&name));
        table.describe(&name, "×", &definition, 3);
        table.describe(LEAST, "×", "Lowest IPC ratio of a workload.", 3);
        table.describe(GREATEST, "×", "Highest IPC ratio of a workload.", 3);
        table.describe(WORKLOADS, "", "Workloads with an IPC ratio.", 0);
        Ok(folded_if_long(table))
    }

    /// Draws the means of all settings with their spread; then, for each setting, the ratio of each
    /// workload.
    pub fn charts(&self, study: &Study, shown: &Shown) -> anyhow::Result<Vec<Chart>> {
        let scopes = scopes(study, shown)?.into_iter();
        let has_ratios = |scope: &Scope| {
            let ratios = scope.runs.column(RATIO);
            ratios.is_ok_and(|ratios| ratios.null_count() < ratios.len())
        };
        let scopes: Vec<Scope> = scopes.filter(has_ratios).collect();
        if scopes.is_empty() {
            return Ok(Vec::new());
        }
        let means = self.chart_of_means(study, shown)?;
        // With one workload, its ratios are the means.
        let scopes = if study.traces.len() > 1 { scopes } else { Vec::new() };
        let of_workloads = scopes.iter().map(|scope| self.chart_of_workloads(study, shown, scope));
        [Ok(means)].into_iter().chain(of_workloads).collect()
    }

    fn chart_of_means(&self, study: &Study, shown: &Shown) -> anyhow::Result<Chart> {
        let data = self.shown(shown, &shown.settings)?;
        let changes = [RATIO, LEAST, GREATEST].map(|ratio| col(ratio) - lit(1.0));
        let keys = [SETTING, POLICY].map(col);
        let data = data.select([&keys[..], &changes].concat()).collect()?;
        let axis = Axis::percent(format!("IPC above {}", study.baseline()));
        let bars = Bars::new(SETTING, POLICY, RATIO, axis).range(LEAST, GREATEST);
        let name = study.mean_name();
        let caption = format!(
            "Change of thread IPC relative to {}: {name} over workloads; whiskers from the lowest to the highest workload.",
            study.baseline()
        );
        Ok(Chart::new(
            "ipc-means",
            "Mean IPC against the baseline",
            caption,
            data,
            Kind::Bars(bars),
        ))
    }

    fn chart_of_workloads(
        &self,
        study: &Study,
        shown: &Shown,
        scope: &Scope,
    ) -> anyhow::Result<Chart> {
        let name = study.mean_name();
        let columns = ["trace", POLICY, RATIO, LEAST, GREATEST].map(col);
        let none = [LEAST, GREATEST].map(|end| lit(NULL).cast(DataType::Float64).alias(end));
        let runs = scope.runs.clone().lazy().with_columns(none).select(columns.clone());
        let means = self.shown(shown, std::slice::from_ref(&scope.setting))?;
        let means = means.with_columns([lit(name.as_str()).alias("trace")]).select(columns);
        let data = concat([runs, means], UnionArgs::default())?.collect()?;
        let axis = Axis::new(format!("IPC over {}", scope.baseline), "");
        let bars = Bars::new("trace", POLICY, RATIO, axis).range(LEAST, GREATEST);
        let caption = format!(
            "Thread IPC of each workload{} relative to {}; at the right the {name}, with whiskers from the lowest to the highest.",
            scope.on, scope.baseline
        );
        Ok(Chart::new(
            format!("ipc{}", scope.file),
            "IPC of each workload against the baseline",
            caption,
            data,
            Kind::Bars(bars.set_apart([name]).reference(1.0)),
        ))
    }

    /// Returns the rows of the policies in charts, in the order of their runs, so that they
    /// have the same colours in all charts.
    fn shown(&self, shown: &Shown, settings: &[String]) -> anyhow::Result<LazyFrame> {
        let is_shown = is_one_of(SETTING, settings).and(is_one_of(POLICY, &shown.policies));
        let rows = self.frame.clone().lazy().filter(is_shown);
        Ok(rows.sort([PLACE], SortMultipleOptions::default()))
    }
}

fn has_mean() -> Expr {
    col(RATIO).is_not_null().and(col(LEAST).is_not_null())
}

/// Computes the extremes of each setting and policy.
fn spread(study: &Study) -> LazyFrame {
    let order = SortMultipleOptions::default().with_maintain_order(true);
    let traces = col("trace").sort_by([col(RATIO)], order);
    let extremes = [
        col(RATIO).min().alias(LEAST),
        traces.clone().first().alias(LEAST_ON),
        col(RATIO).max().alias(GREATEST),
        traces.last().alias(GREATEST_ON),
    ];
    let runs = study.runs.clone().lazy().filter(col(RATIO).is_not_null());
    runs.group_by_stable([SETTING, POLICY].map(col)).agg(extremes)
}

impl Standing {
    fn of(rows: &DataFrame, row: usize) -> anyhow::Result<Standing> {
        let number = |name: &str| rows.column(name)?.f64()?.get(row).context("filtered");
        let text = |name: &str| -> anyhow::Result<String> {
            Ok(rows.column(name)?.str()?.get(row).unwrap_or_default().to_owned())
        };
        let extreme =
            |ratio: &str, on: &str| anyhow::Ok(Extreme { ratio: number(ratio)?, trace: text(on)? });
        Ok(Standing {
            policy: text(POLICY)?,
            is_baseline: rows.column(IS_BASELINE)?.bool()?.get(row).unwrap_or(false),
            mean: number(RATIO)?,
            workloads: rows.column(WORKLOADS)?.u32()?.get(row).unwrap_or_default(),
            least: extreme(LEAST, LEAST_ON)?,
            greatest: extreme(GREATEST, GREATEST_ON)?,
        })
    }
}
