//! Policies of each setting, ordered by mean IPC, with the spread over workloads.

use crate::columns::{BESIDE, HIGH, IS_BASELINE, LOW, POLICY, RATIO, SETTING, VERDICT};
use crate::frame::distinct;
use crate::sections::folded_if_long;
use crate::study::Study;
use crate::table::Table;
use anyhow::Context;
use polars::prelude::*;
use warpmem_analysis::polars;
use warpmem_support::text::capitalised;

/// Columns of the spread: the minimum and maximum ratio, and their workloads.
pub const LEAST: &str = "least";
const LEAST_ON: &str = "least on";
pub const GREATEST: &str = "greatest";
const GREATEST_ON: &str = "greatest on";
const WORKLOADS: &str = "workloads";
/// Column of the order in which policies ran.
const PLACE: &str = "place";

pub struct Standings {
    /// A row per setting and policy, the fastest policy of a setting first.
    frame: DataFrame,
    /// Pairs of policies that are equal within noise.
    equal: DataFrame,
}

/// A policy in a setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    pub policy: String,
    pub is_baseline: bool,
    /// Mean IPC relative to the baseline.
    pub mean: f64,
    /// 95 % interval of the mean, if the noise is known.
    pub interval: Option<[f64; 2]>,
    /// Policies that equal it within noise.
    pub equal: Vec<String>,
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
        let columns = [SETTING, POLICY, IS_BASELINE, WORKLOADS, RATIO, LOW, HIGH].map(col);
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
        let equal = study.pairs.clone().lazy().filter(col(VERDICT).eq(lit("equal"))).collect()?;
        Ok(Standings { frame, equal })
    }

    /// Returns the policies of a setting that have a mean, the fastest first.
    pub fn of_setting(&self, setting: &str) -> anyhow::Result<Vec<Standing>> {
        let rows = self.rows(setting).collect()?;
        let standing = |row| {
            let standing = Standing::of(&rows, row)?;
            Ok(Standing { equal: self.equal_to(setting, &standing.policy)?, ..standing })
        };
        (0..rows.height()).map(standing).collect()
    }

    /// Returns the policies of a setting that equal `policy` within noise.
    fn equal_to(&self, setting: &str, policy: &str) -> anyhow::Result<Vec<String>> {
        let of_setting = self.equal.clone().lazy().filter(col(SETTING).eq(lit(setting)));
        let others = [(POLICY, BESIDE), (BESIDE, POLICY)].map(|(own, other)| {
            let is_own = of_setting.clone().filter(col(own).eq(lit(policy)));
            distinct(&is_own.collect()?, other)
        });
        Ok(others.into_iter().collect::<anyhow::Result<Vec<_>>>()?.concat())
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

    /// Returns the rows of a setting, the fastest first.
    pub fn rows(&self, setting: &str) -> LazyFrame {
        self.frame.clone().lazy().filter(col(SETTING).eq(lit(setting)).and(has_mean()))
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
    let workloads = study.workloads.clone().lazy().filter(col(RATIO).is_not_null());
    workloads.group_by_stable([SETTING, POLICY].map(col)).agg(extremes)
}

impl Standing {
    fn of(rows: &DataFrame, row: usize) -> anyhow::Result<Standing> {
        let number = |name: &str| rows.column(name)?.f64()?.get(row).context("filtered");
        let end = |name: &str| anyhow::Ok(rows.column(name)?.f64()?.get(row));
        let text = |name: &str| -> anyhow::Result<String> {
            Ok(rows.column(name)?.str()?.get(row).unwrap_or_default().to_owned())
        };
        let extreme =
            |ratio: &str, on: &str| anyhow::Ok(Extreme { ratio: number(ratio)?, trace: text(on)? });
        Ok(Standing {
            policy: text(POLICY)?,
            is_baseline: rows.column(IS_BASELINE)?.bool()?.get(row).unwrap_or(false),
            mean: number(RATIO)?,
            interval: end(LOW)?.zip(end(HIGH)?).map(|(low, high)| [low, high]),
            equal: Vec::new(),
            workloads: rows.column(WORKLOADS)?.u32()?.get(row).unwrap_or_default(),
            least: extreme(LEAST, LEAST_ON)?,
            greatest: extreme(GREATEST, GREATEST_ON)?,
        })
    }
}
