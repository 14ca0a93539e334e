//! Effects of the factors of a full factorial on a metric: main effects and two-way interactions.

use std::collections::{BTreeSet, HashSet};

use polars::prelude::*;

use crate::error::{Error, Result};
use crate::frame::{quotient, require, require_numeric, strings};

/// Columns that identify a workload, unless they are factors.
const WORKLOAD: [&str; 3] = ["trace", "machine", "overrides"];

/// Computes the main effects and two-way interactions of `factors` (columns of `runs`) on a
/// `metric`, over runs of every combination of their levels on every workload (trace, machine and
/// overrides, unless these are factors).
///
/// The response is the natural logarithm of the metric, minus its mean over the workload's runs.
/// Effects are therefore ratios, and all workloads have equal weight. In such a balanced design,
/// least squares reduce to differences of means: the effect of a level is the mean response of its
/// runs; the interaction of two levels is the mean response of the runs with both, minus the two
/// effects. There is a row per level, then a row per pair of levels of two factors, with these
/// columns:
///
/// - `factors` and `levels`, with ` × ` between those of a pair;
/// - `effect`: e to the power of the effect, minus 1. A level with 0.1 has a metric 10 % above the
///   geometric mean over all levels; a pair with 0.02 has 2 % more than the product of its two
///   effects;
/// - `variation`: the share of the variation within workloads (the sum of squared responses) that
///   all rows of these `factors` together explain; null if nothing varies;
/// - `runs`: the number of runs with these levels.
///
/// The last row, whose `factors` are `workload`, has no effect. Its `variation` is the share that
/// no combination explains, because the same policy can help one workload and harm another.
/// Interactions of three and more factors explain the remainder to 1.
///
/// ```
/// use warpmem_analysis::{effects, polars::{df, prelude::IntoLazy}, table_to_string};
///
/// let runs = df!(
///     "trace" => ["t"; 4],
///     "warp_scheduler" => ["lrr", "lrr", "gto", "gto"],
///     "dram_scheduler" => ["fcfs", "fr-fcfs", "fcfs", "fr-fcfs"],
///     "ipc_thread" => [1.0, 4.0, 1.0, 4.0],
/// )?;
/// let table = effects(runs.lazy(), &["warp_scheduler", "dram_scheduler"], "ipc_thread")?.collect()?;
/// assert_eq!(table.column("effect")?.f64()?.get(3), Some(1.0), "fr-fcfs: twice the mean");
/// # Ok::<(), warpmem_analysis::Error>(())
/// ```
///
/// # Errors
/// If a column is missing, if the metric of a run is not above zero, or if a combination is missing
/// or repeated.
pub fn effects(mut runs: LazyFrame, factors: &[&str], metric: &str) -> Result<LazyFrame> {
    const TABLE: &str = "the `runs` table";
    let schema = runs.collect_schema()?;
    factors.iter().try_for_each(|factor| require(&schema, TABLE, factor))?;
    require_numeric(&schema, TABLE, metric)?;
    let is_workload = |name: &&str| schema.contains(name) && !factors.contains(name);
    let workload: Vec<&str> = WORKLOAD.into_iter().filter(is_workload).collect();
    let keys: Vec<&str> = workload.iter().chain(factors).copied().collect();
    let texts = keys.iter().map(|key| col(*key).cast(DataType::String).fill_null(lit("none")));
    let value = col(metric).cast(DataType::Float64).alias(RESPONSE);
    let runs = runs.select(texts.chain([value]).collect::<Vec<_>>()).collect()?;
    check_values(&runs, metric)?;
    check_full(&runs, &workload, factors)?;

    let log = col(RESPONSE).log(lit(std::f64::consts::E));
    let centre =
        if workload.is_empty() { log.clone().mean() } else { log.clone().mean().over(workload)? };
    let mut runs = runs.lazy().with_columns([(log - centre).alias(RESPONSE)]);
    for factor in factors {
        runs = runs.with_columns([col(RESPONSE).mean().over([*factor])?.alias(effect_of(factor))]);
    }
    let mut terms = Vec::new();
    for factor in factors {
        terms.push(term(&runs, &[factor], col(RESPONSE)));
    }
    for (place, one) in factors.iter().enumerate() {
        for other in &factors[place + 1..] {
            let alone = col(effect_of(one)) + col(effect_of(other));
            terms.push(term(&runs, &[one, other], col(RESPONSE) - alone));
        }
    }
    terms.push(by_workload(&runs, factors));
    Ok(concat(terms, UnionArgs::default())?)
}

/// Computes the row of the variation that no combination of the factors explains.
fn by_workload(runs: &LazyFrame, factors: &[&str]) -> LazyFrame {
    let combination: Vec<Expr> = factors.iter().map(|factor| col(*factor)).collect();
    let means = runs.clone().group_by_stable(&combination).agg([
        (col(RESPONSE).mean() * col(RESPONSE).sum()).alias(EXPLAINED),
        (col(RESPONSE) * col(RESPONSE)).sum().alias(TOTAL),
        len().alias(RUNS),
    ]);
    let total = beyond_rounding(col(TOTAL).sum(), col(RUNS).sum());
    let share = lit(1.0) - quotient(col(EXPLAINED).sum(), total);
    means.select([
        lit(WORKLOADS).alias("factors"),
        lit(WORKLOADS).alias("levels"),
        lit(NULL).cast(DataType::Float64).alias(EFFECT),
        share.alias("variation"),
        col(RUNS).sum(),
    ])
}

/// Name of the last row.
pub const WORKLOADS: &str = "workload";
const EXPLAINED: &str = "squares of the mean response";
const RESPONSE: &str = "response";
const EFFECT: &str = "effect";
const RUNS: &str = "runs";
const TOTAL: &str = "sum of squared responses";

/// Returns the name of a temporary column with the effect of a factor's level.
fn effect_of(factor: &str) -> String {
    format!("effect of {factor}")
}

/// Computes the rows of one factor or of a pair, whose effect is the mean of `response`.
fn term(runs: &LazyFrame, factors: &[&&str], response: Expr) -> LazyFrame {
    let squares = col(RESPONSE) * col(RESPONSE);
    let runs = runs.clone().with_columns([beyond_rounding(squares.sum(), len()).alias(TOTAL)]);
    let levels: Vec<Expr> = factors.iter().map(|factor| col(**factor)).collect();
    let groups = runs.group_by_stable(&levels).agg([
        response.mean().alias(EFFECT),
        len().alias(RUNS),
        col(TOTAL).first(),
    ]);
    let explained = (col(RUNS).cast(DataType::Float64) * col(EFFECT) * col(EFFECT)).sum();
    let names: Vec<&str> = factors.iter().map(|factor| **factor).collect();
    let levels = levels.into_iter().reduce(|one, other| one + lit(" × ") + other);
    groups.select([
        lit(names.join(" × ")).alias("factors"),
        levels.unwrap_or(lit("")).alias("levels"),
        (col(EFFECT).exp() - lit(1.0)).alias(EFFECT),
        quotient(explained, col(TOTAL).first()).alias("variation"),
        col(RUNS),
    ])
}

/// Returns the sum of squared responses of `runs` runs, or 0 if it is only the rounding error of
/// equal responses: a response is the difference of logarithms, each with a relative error of about
/// 1e-16.
fn beyond_rounding(squares: Expr, runs: Expr) -> Expr {
    const OF_ONE: f64 = 1e-24;
    let least = runs.cast(DataType::Float64) * lit(OF_ONE);
    when(squares.clone().gt(least)).then(squares).otherwise(lit(0.0))
}

fn check_values(runs: &DataFrame, metric: &str) -> Result<()> {
    let values = runs.column(RESPONSE)?.f64()?;
    match values.iter().find(|value| !value.is_some_and(|v| v > 0.0 && v.is_finite())) {
        None if runs.height() == 0 => Err(warpmem_comparison::Error::NoRuns.into()),
        None => Ok(()),
        Some(value) => Err(Error::Factorial(format!(
            "`{metric}` of a run is {}, but effects need a number above 0",
            value.map_or("null".to_owned(), |value| value.to_string())
        ))),
    }
}

/// Refuses runs in which some combination is missing or repeated.
fn check_full(runs: &DataFrame, workload: &[&str], factors: &[&str]) -> Result<()> {
    let rows = |columns: &[&str]| -> Result<Vec<Vec<String>>> {
        let columns =
            columns.iter().map(|column| strings(runs, column)).collect::<Result<Vec<_>>>()?;
        Ok((0..runs.height()).map(|row| columns.iter().map(|c| c[row].clone()).collect()).collect())
    };
    let (workloads, combinations) = (rows(workload)?, rows(factors)?);
    let mut seen = HashSet::new();
    for run in workloads.iter().zip(&combinations) {
        if !seen.insert(run) {
            return Err(Error::Factorial(format!("there are two runs of {}", named(run, factors))));
        }
    }
    let distinct: BTreeSet<&Vec<String>> = workloads.iter().collect();
    for combination in &combined(&combinations, factors.len()) {
        for &workload in &distinct {
            if !seen.contains(&(workload, combination)) {
                let run = named((workload, combination), factors);
                return Err(Error::Factorial(format!("there is no run of {run}")));
            }
        }
    }
    Ok(())
}

/// Returns every combination of the levels that occur.
fn combined(combinations: &[Vec<String>], factors: usize) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    for factor in 0..factors {
        let levels: BTreeSet<&String> = combinations.iter().map(|c| &c[factor]).collect();
        let with = |start: &Vec<String>| {
            let start = start.clone();
            levels
                .iter()
                .map(move |level| [start.clone(), vec![(*level).clone()]].concat())
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

fn named((workload, levels): (&Vec<String>, &Vec<String>), factors: &[&str]) -> String {
    let levels = factors.iter().zip(levels).map(|(factor, level)| format!("{factor}={level}"));
    let levels = levels.collect::<Vec<_>>().join(", ");
    let workload = workload.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>();
    if workload.is_empty() { levels } else { format!("{levels} on {}", workload.join(", ")) }
}
