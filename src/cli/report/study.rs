//! The runs that a report is about, how they are told apart, and what they are compared with.

use super::frame::{distinct, names};
use crate::cli::baseline::Baseline;
use crate::cli::policies::Choice;
use crate::cli::slots::SLOTS;
use anyhow::{Context, bail};
use polars::prelude::*;
use std::path::PathBuf;
use warpmem::machine::{Machine, load};
use warpmem_analysis::polars;
use warpmem_analysis::{COMPARED, CompareOptions, Error, Mean, Results, compare};

/// Column of [`Study::runs`]: the policies of the slots that vary, with slashes between.
pub const POLICY: &str = "policy";
/// Column of [`Study::runs`]: the machine, and what was set beside its own parameters where that varies.
pub const SETTING: &str = "setting";
/// Column of [`Study::runs`]: IPC over that of the baseline.
pub const RATIO: &str = "ipc_ratio";

/// Column of `runs` with the parameters set beside the machine's own.
const OVERRIDES: &str = "overrides";
/// As a comparison calls runs without any.
const NO_OVERRIDE: &str = "none";

/// What a report is to be about.
pub struct Question {
    pub directories: Vec<PathBuf>,
    pub baseline: Option<String>,
    pub metrics: Option<Vec<String>>,
    pub mean: Mean,
    pub allow_mixed: bool,
}

/// Runs beside a baseline.
pub struct Study {
    pub results: Results,
    /// A row per run, with the columns of `runs` and [`POLICY`], [`SETTING`], [`RATIO`] and the metrics asked for;
    /// machines, workloads and policies each in the order of their first appearance.
    pub runs: DataFrame,
    /// Means over workloads: three rows, told apart by `mean`, for each setting and policy.
    pub means: DataFrame,
    /// In what runs differ that should not; empty unless that was allowed.
    pub mixed: Vec<String>,
    /// Runs that a sweep planned, and how many of them are not here.
    pub planned: (usize, usize),
    /// Runs of which the baseline was not run on the same workload, machine and parameters.
    pub unmatched: usize,
    /// Slots of which [`POLICY`] is made.
    pub slots: Vec<String>,
    /// What the runs are compared with, for readers.
    pub baseline: String,
    /// The slots that the baseline names, each with its policy.
    pub baseline_slots: Vec<(String, String)>,
    /// Shown beside the IPC in tables of the comparison.
    pub metrics: Vec<String>,
    pub mean: Mean,
    pub settings: Vec<String>,
    pub traces: Vec<String>,
    pub policies: Vec<String>,
    /// Those that are the baseline in the slots that this names.
    baselines: Vec<String>,
}

impl Study {
    pub fn open(question: &Question) -> anyhow::Result<Study> {
        let results = Results::open_all(&question.directories)?;
        let all = read_runs(&results)?;
        let slots = varied(&all)?;
        let own = || COMPARED.map(str::to_owned).to_vec();
        let metrics = question.metrics.clone().unwrap_or_else(own);
        let baseline =
            question.baseline.clone().map_or_else(|| usual_baseline(&all, &slots), Ok)?;
        let mut options = CompareOptions::new(baseline);
        options.slots.clone_from(&slots);
        options.metrics.clone_from(&metrics);
        options.allow_mixed = question.allow_mixed;
        // A shard, or a sweep under way, may lack them.
        options.allow_unmatched = true;
        let comparison = compare(all.clone().lazy(), &options)?;

        let tells_settings =
            !slots.contains(&OVERRIDES.to_owned()) && all.column(OVERRIDES)?.n_unique()? > 1;
        let named = |frame: LazyFrame| frame.with_columns(names_of_runs(&slots, tells_settings));
        let runs = named(beside(comparison.rows(), &all, &slots)).collect()?;
        let of_baseline = comparison
            .baseline_slots()
            .iter()
            .map(|(slot, policy)| name_in(slot).eq(lit(policy.as_str())));
        let of_baseline = runs.clone().lazy().filter(of_baseline.fold(lit(true), Expr::and));
        Ok(Study {
            baselines: distinct(&of_baseline.collect()?, POLICY)?,
            means: named(comparison.means().clone().lazy()).collect()?,
            settings: distinct(&runs, SETTING)?,
            traces: distinct(&runs, "trace")?,
            policies: distinct(&runs, POLICY)?,
            baseline: comparison.baseline().to_owned(),
            baseline_slots: comparison.baseline_slots().to_vec(),
            mixed: comparison.mixed().to_vec(),
            planned: results.planned()?,
            unmatched: comparison.unmatched(),
            mean: question.mean,
            results,
            runs,
            slots,
            metrics,
        })
    }

    /// Whether `policy` is the baseline in the slots that this names.
    pub fn is_baseline(&self, policy: &str) -> bool {
        self.baselines.iter().any(|baseline| baseline == policy)
    }

    /// The slots that runs and their baseline have to have in common.
    pub fn held_slots(&self) -> impl Iterator<Item = &str> {
        let is_named = |slot: &&String| self.baseline_slots.iter().any(|(named, _)| named == *slot);
        self.slots.iter().filter(move |slot| !is_named(slot)).map(String::as_str)
    }

    /// The baseline where it is a single policy.
    pub fn only_baseline(&self) -> Option<&str> {
        let mut found = self.policies.iter().filter(|policy| self.is_baseline(policy));
        found.next().filter(|_| found.next().is_none()).map(String::as_str)
    }

    /// Whether there is nothing to compare.
    pub fn is_single(&self) -> bool {
        self.policies.len() == 1
    }

    /// Whether some policy of a setting was run on more workloads than another.
    pub fn is_uneven(&self) -> anyhow::Result<bool> {
        const RUNS: &str = "runs";
        let of_policy = self.runs.clone().lazy().group_by([col(SETTING), col(POLICY)]);
        let of_setting = of_policy.agg([len().alias(RUNS)]).group_by([col(SETTING)]);
        let counts = of_setting.agg([col(RUNS).n_unique()]).collect()?;
        Ok(counts.lazy().filter(col(RUNS).gt(lit(1))).collect()?.height() > 0)
    }

    /// Names for runs in a table: the setting where there are several, the workload, the policy, and in what a run
    /// differs from its baseline that it should not.
    pub fn keys(&self) -> Vec<&'static str> {
        let setting = (self.settings.len() > 1).then_some(SETTING);
        let mixed = (!self.mixed.is_empty()).then_some("mixed");
        setting.into_iter().chain(["trace", POLICY]).chain(mixed).collect()
    }

    /// Whether the runs differ in overrides alone.
    pub fn is_of_overrides(&self) -> bool {
        self.slots.iter().any(|slot| slot == OVERRIDES)
    }

    /// The run's `run_id` and the names for it, to join with tables that have a row per part of a run.
    pub fn names_by_id(&self) -> LazyFrame {
        let names = ["run_id"].into_iter().chain(self.keys()).map(col).collect::<Vec<_>>();
        self.runs.clone().lazy().select(names)
    }
}

fn read_runs(results: &Results) -> anyhow::Result<DataFrame> {
    let runs = results.runs().map_err(|error| match error {
        Error::NoTable { .. } => anyhow::Error::new(error).context(
            "nothing to report on: `run`, `compare` and `sweep` leave results with --output",
        ),
        other => other.into(),
    });
    let runs = runs?.collect()?;
    match runs.height() {
        0 => bail!("the table `runs` has no rows: nothing has been run yet"),
        _ => Ok(runs),
    }
}

/// The slots with more than one policy; where there is none, the overrides if they vary, else the DRAM scheduler.
fn varied(runs: &DataFrame) -> anyhow::Result<Vec<String>> {
    let mut varied = Vec::new();
    for slot in SLOTS.iter().map(|slot| slot.name) {
        if runs.column(slot)?.n_unique()? > 1 {
            varied.push(slot.to_owned());
        }
    }
    if varied.is_empty() {
        let overrides_vary = runs.column(OVERRIDES)?.n_unique()? > 1;
        let only = if overrides_vary { OVERRIDES } else { SLOTS[0].name };
        varied.push(only.to_owned());
    }
    Ok(varied)
}

/// As `compare` chooses it: the machine's own policies where they are among the runs', else the first.
fn usual_baseline(runs: &DataFrame, slots: &[String]) -> anyhow::Result<String> {
    if slots.iter().any(|slot| slot == OVERRIDES) {
        let first = distinct(runs, OVERRIDES)?.swap_remove(0);
        return Ok(if first.is_empty() { NO_OVERRIDE.to_owned() } else { first });
    }
    let list = |slot: &String| {
        let found = SLOTS.iter().find(|known| known.name == slot).context("slots are known")?;
        Ok(Choice { slot: found, given: distinct(runs, slot)? })
    };
    let lists = slots.iter().map(list).collect::<anyhow::Result<Vec<_>>>()?;
    let machines = distinct(runs, "machine")?;
    let machines: Vec<Machine> = machines.iter().filter_map(|name| load(name, &[]).ok()).collect();
    Ok(Baseline::choose(None, &lists, &machines)?.name())
}

fn names_of_runs(slots: &[String], tells_settings: bool) -> Vec<Expr> {
    let joined = |one: Expr, between: &str, other: Expr| one + lit(between) + other;
    let policy =
        slots.iter().map(|slot| name_in(slot)).reduce(|policy, slot| joined(policy, "/", slot));
    let with_overrides = joined(col("machine"), ": ", col(OVERRIDES));
    let setting = match tells_settings {
        true => when(has_no_overrides()).then(col("machine")).otherwise(with_overrides),
        false => col("machine"),
    };
    vec![policy.unwrap_or(lit("")).alias(POLICY), setting.alias(SETTING)]
}

/// What a run is called in a slot.
fn name_in(slot: &str) -> Expr {
    match slot {
        OVERRIDES => when(has_no_overrides()).then(lit(NO_OVERRIDE)).otherwise(col(OVERRIDES)),
        slot => col(slot),
    }
}

fn has_no_overrides() -> Expr {
    col(OVERRIDES).eq(lit(""))
}

/// The rows of a comparison with all that is known of their runs.
fn beside(rows: &DataFrame, runs: &DataFrame, slots: &[String]) -> LazyFrame {
    let is_key = |name: &&str| {
        ["machine", OVERRIDES, "trace"].contains(name) || slots.iter().any(|slot| slot == name)
    };
    let keys: Vec<Expr> = names(rows).filter(is_key).map(col).collect();
    let is_new = |name: &&str| is_key(name) || !rows.schema().contains(name);
    let of_runs: Vec<Expr> = names(runs).filter(is_new).map(col).collect();
    let mut join = JoinArgs::new(JoinType::Left);
    join.maintain_order = MaintainOrderJoin::Left;
    rows.clone().lazy().join(runs.clone().lazy().select(of_runs), &keys, &keys, join)
}
