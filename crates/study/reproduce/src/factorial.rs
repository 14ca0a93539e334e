//! Full factorial over the policies of several slots: the effect of each policy, alone and combined
//! with others.

use crate::error::Result;
use crate::report;
use std::path::Path;
use warpmem_analysis::polars::prelude::*;
use warpmem_analysis::{Results, WORKLOADS, effects, write_csv};
use warpmem_chart::{Axis, Bars, Chart, Kind};
use warpmem_report::Table;
use warpmem_report::{Prose, Section};
use warpmem_study::reproduce::{Factor, Factorial, Paper};

/// Files of the tables.
const EFFECTS: &str = "effects.csv";
const COMBINATIONS: &str = "combinations.csv";
/// Columns of the tables.
const MACHINE: &str = "machine";
const COMBINATION: &str = "combination";
const RATIO: &str = "ipc_ratio";
const CHANGE: &str = "change";
/// Number of combinations printed for each machine.
const BEST: usize = 5;

/// The effects of the factors of an experiment, and its combinations.
pub struct Effects {
    /// Main effects and interactions on each machine.
    pub effects: DataFrame,
    /// IPC of each combination relative to that of all first levels, in descending order.
    pub combinations: DataFrame,
}

impl Effects {
    /// Computes the effects from the runs of all combinations.
    ///
    /// # Errors
    /// If a run is missing.
    pub fn of(paper: &Paper, plan: &Factorial, results: &Results) -> Result<Effects> {
        let runs = results.runs()?;
        let factors: Vec<&str> = plan.factors.iter().map(|factor| factor.slot.as_str()).collect();
        let effects = of_machines(paper, plan, &runs, &factors)?;
        Ok(Effects { effects, combinations: combinations(plan, runs)? })
    }

    /// Writes the tables as CSV, a figure, and a page with both.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, paper: &Paper, directory: &Path) -> Result<()> {
        write_csv(&self.effects, directory.join(EFFECTS))?;
        write_csv(&self.combinations, directory.join(COMBINATIONS))?;
        let all = self.combinations.clone();
        let all = Table::new("combinations", "Combinations, the best first", all);
        let sections = vec![
            Section::new("effects", "Effects on IPC").text(Prose::new(EFFECT)).table(self.table()),
            Section::new("combinations", "Combinations").table(all),
        ];
        report::page(paper, sections, vec![chart(&self.effects)?], directory)
    }

    /// Returns the best combinations of each machine.
    ///
    /// # Errors
    /// If the dataframe engine fails.
    pub fn best(&self) -> Result<DataFrame> {
        let combinations = self.combinations.clone().lazy();
        Ok(combinations.group_by_stable([col(MACHINE)]).head(Some(BEST)).collect()?)
    }

    /// Returns the effects as a table of a report.
    pub fn table(&self) -> Table {
        let mut table = Table::new("effects", "Effects on IPC", self.effects.clone());
        table.describe_percent(CHANGE, EFFECT);
        table.describe_percent(
            "variation",
            "Share of the variation within workloads explained by these factors; `workload`: the share that no combination explains, because gains differ between workloads.",
        );
        table
    }
}

/// Computes main effects and interactions on each machine.
fn of_machines(
    paper: &Paper,
    plan: &Factorial,
    runs: &LazyFrame,
    factors: &[&str],
) -> Result<DataFrame> {
    let machines = [&paper.machine].into_iter().chain(&plan.machines);
    let of_machine = |machine: &String| -> Result<LazyFrame> {
        let runs = runs.clone().filter(col(MACHINE).eq(lit(machine.as_str())));
        let key = lit(machine.as_str()).alias(MACHINE);
        Ok(effects(runs, factors, "ipc_thread")?.select([key, all().as_expr()]))
    };
    let each = machines.map(of_machine).collect::<Result<Vec<_>>>()?;
    let shown = second_levels(plan).or(of_workloads());
    let columns = [MACHINE, "factors", "levels"].map(col).into_iter();
    let columns = columns.chain([second_over_first(plan).alias(CHANGE)]);
    let columns = columns.chain(["variation", "runs"].map(col)).collect::<Vec<_>>();
    Ok(concat(each, UnionArgs::default())?.filter(shown).select(columns).collect()?)
}

/// Returns a predicate for the row on differences between workloads.
fn of_workloads() -> Expr {
    col("factors").eq(lit(WORKLOADS))
}

/// Computes the ratio of the second level to the first. Effects are measured from the mean of both
/// levels. With logarithms, if the effect is a, the second level of one factor is 2a above the
/// first, and the interaction of two factors is 4a (both second, less one second, less the other
/// second, plus both first).
fn second_over_first(plan: &Factorial) -> Expr {
    let factors = plan.factors.iter().map(|factor| col("factors").eq(lit(factor.slot.as_str())));
    let is_single = factors.reduce(Expr::or).unwrap_or(lit(false));
    let ratio = || col("effect") + lit(1.0);
    let squared = || ratio() * ratio();
    when(is_single).then(squared()).otherwise(squared() * squared()) - lit(1.0)
}

/// Returns a predicate for rows about the second level of a factor, or of two. The rows of first
/// levels follow from them, because effects of two levels are opposite.
fn second_levels(plan: &Factorial) -> Expr {
    let singles = plan.factors.iter().map(|factor| factor.levels[1].clone());
    let pairs = plan.factors.iter().enumerate().flat_map(|(at, one)| {
        let pair = |other: &Factor| format!("{} × {}", one.levels[1], other.levels[1]);
        plan.factors[at + 1..].iter().map(pair).collect::<Vec<_>>()
    });
    let is = |levels: String| col("levels").eq(lit(levels));
    singles.chain(pairs).map(is).reduce(Expr::or).unwrap_or(lit(true))
}

/// Computes the IPC of each combination relative to that of all first levels, as the geometric mean
/// over workloads, in descending order.
fn combinations(plan: &Factorial, runs: LazyFrame) -> Result<DataFrame> {
    let slots: Vec<Expr> = plan.factors.iter().map(|factor| col(factor.slot.as_str())).collect();
    let is_first = |factor: &Factor| col(factor.slot.as_str()).eq(lit(factor.levels[0].as_str()));
    let is_base = plan.factors.iter().map(is_first).reduce(Expr::and).unwrap_or(lit(true));
    let key = [col(MACHINE), col("trace")];
    let base = runs.clone().filter(is_base).select([
        col(MACHINE),
        col("trace"),
        col("ipc_thread").alias("base"),
    ]);
    let name = slots.iter().cloned().reduce(|one, other| one + lit(" + ") + other);
    let ratio = (col("ipc_thread") / col("base")).log(lit(std::f64::consts::E));
    let joined = runs.join(base, &key, &key, JoinArgs::new(JoinType::Inner));
    let groups = joined
        .with_columns([name.unwrap_or(lit("")).alias(COMBINATION), ratio.alias(RATIO)])
        .group_by_stable([col(MACHINE), col(COMBINATION)])
        .agg([col(RATIO).mean().exp(), len().alias("workloads")]);
    let order = SortMultipleOptions::default()
        .with_order_descending_multi([false, true])
        .with_maintain_order(true);
    Ok(groups.sort([MACHINE, RATIO], order).collect()?)
}

const EFFECT: &str = "IPC with the second policy of a slot relative to the first, minus 1, as the geometric mean over workloads and all combinations of the other slots; for two slots, the change by both second policies beyond the product of their individual changes.";

/// Draws the effects as bars.
fn chart(effects: &DataFrame) -> Result<Chart> {
    let data = effects.clone().lazy().filter(of_workloads().not()).select([
        col("factors"),
        col(MACHINE),
        (lit(100.0) * col(CHANGE)).alias(CHANGE),
    ]);
    let kind = Bars::new("factors", MACHINE, CHANGE, Axis::new("change of IPC", "%")).horizontal();
    Ok(Chart::new("effects", "Effects on IPC", EFFECT, data.collect()?, Kind::Bars(kind)))
}
