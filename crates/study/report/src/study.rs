//! The runs of a report, what distinguishes them, and their baselines.

use crate::baselines::{Group, usual, varied};
use crate::columns::{
    BESIDE, HIGH, IS_BASELINE, LOW, NO_OVERRIDE, OVERRIDES, POLICY, SETTING, VARIANT, VERDICT,
};
use crate::frame::{distinct, is_one_of, names, ordered};
use crate::style::{Naming, Selection, StyleFile, Table};
use crate::table::spelled;
use anyhow::bail;
use polars::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use warpmem_analysis::{
    COMPARED, CompareOptions, Comparison, Error, Launches, Mean, Results, compare, polars,
};
use warpmem_chart::Style;

/// Column in which a comparison states how a run differs unexpectedly from its baseline.
const MIXED: &str = "mixed";

/// Options of a report.
pub struct Question {
    pub directories: Vec<PathBuf>,
    pub baseline: Option<String>,
    pub metrics: Option<Vec<String>>,
    pub mean: Mean,
    pub allow_mixed: bool,
    /// Appearance and selection of policies and workloads.
    pub style: Option<StyleFile>,
}

/// Runs and their baselines.
pub struct Study {
    pub results: Results,
    /// One row per run, with the columns of `runs` and [`POLICY`], [`SETTING`], [`RATIO`] and the
    /// requested metrics; machines, workloads and policies each in order of first appearance.
    pub runs: DataFrame,
    /// Means over workloads: three rows, distinguished by `mean`, for each setting and policy, with
    /// the interval of [`RATIO`].
    pub means: DataFrame,
    /// One row per setting, workload and policy, with [`RATIO`] and its interval.
    pub workloads: DataFrame,
    /// Unexpected differences between runs; empty unless allowed.
    pub mixed: Vec<String>,
    /// Number of runs planned by a sweep, and number of missing runs.
    pub planned: (usize, usize),
    /// Number of runs without a baseline run to compare with.
    pub unmatched: usize,
    /// Slots that make up [`POLICY`].
    pub slots: Vec<String>,
    /// Baselines, each with its machines.
    pub baselines: Vec<(String, Vec<String>)>,
    /// Metrics shown beside the IPC in tables of the comparison.
    pub metrics: Vec<String>,
    pub mean: Mean,
    pub settings: Vec<String>,
    pub traces: Vec<String>,
    /// Names of the workloads: traces that differ in the seed of their generator are one.
    pub workload_names: Vec<String>,
    /// Every two policies of a setting, as [`POLICY`] and [`BESIDE`], with the verdict on their ratio.
    pub pairs: DataFrame,
    /// Sentences on whether the compared policies can matter.
    pub leverage: Vec<String>,
    pub policies: Vec<String>,
    /// Whether a style determines the order of policies and that of workloads; otherwise charts
    /// sort them.
    pub are_ordered: [bool; 2],
    /// Appearance of charts: the looks of the policies.
    pub style: Arc<Style>,
    /// Names in the style file that the results do not have.
    pub notes: Vec<String>,
    tells: NameParts,
    /// Slots named by the baseline.
    named_slots: Vec<String>,
}

/// Parts of the names of settings.
#[derive(Clone, Copy)]
struct NameParts {
    machines: bool,
    overrides: bool,
}

impl Study {
    pub fn open(question: &Question) -> anyhow::Result<Study> {
        let results = Results::open_all(&question.directories)?;
        let all = read_runs(&results)?;
        let (selection, mut notes) = (Selection { file: question.style.as_ref() }, Vec::new());
        let traces = selection.naming(Table::Workloads, distinct(&all, "trace")?, &mut notes)?;
        // Means are over the selected workloads.
        let all = ordered(&all, "trace", &traces.names)?;
        let slots = varied(&all)?;
        let groups = groups(question, &all, &slots)?;
        let own = || COMPARED.map(str::to_owned).to_vec();
        let metrics = question.metrics.clone().unwrap_or_else(own);
        let inputs = Inputs { runs: &all, slots: &slots, metrics: &metrics };
        let (comparisons, mixed) = comparisons(question, inputs, &results.launches()?, &groups)?;
        let tells = NameParts::of(&all, &slots)?;
        let frame = |of: &dyn Fn(&Comparison) -> LazyFrame| {
            let named = |comparison: &Comparison| {
                let names = names_of_runs(&slots, tells, comparison.baseline_slots());
                of(comparison).with_columns(names)
            };
            under_each_other(comparisons.iter().map(named))
        };
        let runs = frame(&|comparison| beside(comparison.rows(), &all, &slots, !mixed.is_empty()))?;
        let policies = selection.naming(Table::Policies, distinct(&runs, POLICY)?, &mut notes)?;
        let styled = Styled { settings: distinct(&runs, SETTING)?, policies, traces };
        let label = |comparison: &Comparison| styled.policies.label(comparison.baseline());
        let machines = groups.into_iter().map(|group| group.machines);
        let named_slots = comparisons[0].baseline_slots().iter().map(|(slot, _)| slot.clone());
        let pairs = comparisons.iter().map(|comparison| pairs_of(comparison, tells));
        let pairs = pairs.collect::<anyhow::Result<Vec<LazyFrame>>>()?;
        let workloads =
            styled.frame(&frame(&|comparison| with_interval(by_workload(comparison)))?)?;
        Ok(Study {
            workload_names: distinct(&workloads, "trace")?,
            leverage: comparisons.iter().flat_map(Comparison::leverage_findings).collect(),
            workloads,
            pairs: styled.frame(&under_each_other(pairs.into_iter())?)?,
            runs: styled.frame(&runs)?,
            means: styled.frame(&frame(&|comparison| with_interval(comparison.means()))?)?,
            style: Arc::new(selection.style(&styled.policies, &mut notes)),
            traces: styled.traces.labelled(),
            are_ordered: [styled.policies.is_ordered, styled.traces.is_ordered],
            policies: styled.policies.labelled(),
            named_slots: named_slots.collect(),
            planned: results.planned()?,
            unmatched: comparisons.iter().map(Comparison::unmatched).sum(),
            baselines: comparisons.iter().map(label).zip(machines).collect(),
            settings: styled.settings,
            mean: question.mean,
            notes,
            tells,
            mixed,
            results,
            slots,
            metrics,
        })
    }

    /// Describes the baseline of the runs in words.
    pub fn baseline(&self) -> String {
        self.baselines
            .iter()
            .map(|(baseline, _)| baseline.as_str())
            .collect::<Vec<_>>()
            .join(" or ")
    }

    /// Describes the baseline of this machine's runs in words.
    pub fn baseline_on(&self, machine: &str) -> &str {
        let is_of =
            |(_, machines): &&(String, Vec<String>)| machines.iter().any(|of| of == machine);
        self.baselines.iter().find(is_of).map_or("", |(baseline, _)| baseline)
    }

    /// Returns the name of a setting in the column [`SETTING`].
    pub fn setting(&self, machine: &str, overrides: &str) -> String {
        match self.tells {
            NameParts { overrides: true, machines } if !overrides.is_empty() => match machines {
                true => format!("{machine}: {overrides}"),
                false => overrides.to_owned(),
            },
            _ => machine.to_owned(),
        }
    }

    /// Returns whether there are runs of several machines.
    pub fn has_machines(&self) -> bool {
        self.tells.machines
    }

    /// Returns the slots in which a run must equal its baseline.
    pub fn held_slots(&self) -> impl Iterator<Item = &str> {
        let is_named = |slot: &&String| self.named_slots.contains(slot);
        self.slots.iter().filter(move |slot| !is_named(slot)).map(String::as_str)
    }

    /// Returns whether runs are compared with runs that have other overrides.
    pub fn compares_overrides(&self) -> bool {
        self.named_slots.iter().any(|slot| slot == OVERRIDES)
    }

    /// Returns the name of the report's mean, for rows and bars; no workload has this name.
    pub fn mean_name(&self) -> String {
        let mut name = format!("{} mean", self.mean.name());
        while self.traces.contains(&name) {
            name.insert_str(0, "the ");
        }
        name
    }

    /// Names the columns that a run shares with its baseline: `workload, machine and parameters`.
    pub fn held(&self) -> String {
        let parameters = (!self.compares_overrides()).then_some("parameters");
        let slots = self.held_slots().filter(|slot| *slot != OVERRIDES).map(spelled);
        let held = ["workload", "machine"].into_iter().chain(parameters).map(str::to_owned);
        let mut held: Vec<String> = held.chain(slots).collect();
        let last = held.pop().unwrap_or_default();
        format!("{} and {last}", held.join(", "))
    }

    /// Returns the run, if there is only one.
    pub fn only_run(&self) -> Option<&DataFrame> {
        (self.runs.height() == 1).then_some(&self.runs)
    }

    /// Returns whether there is nothing to compare.
    pub fn is_single(&self) -> bool {
        self.policies.len() == 1
    }

    /// Returns whether some policy of a setting ran on more workloads than another.
    pub fn is_uneven(&self) -> anyhow::Result<bool> {
        const RUNS: &str = "runs";
        let of_policy = self.runs.clone().lazy().group_by([col(SETTING), col(POLICY)]);
        let of_setting = of_policy.agg([len().alias(RUNS)]).group_by([col(SETTING)]);
        let counts = of_setting.agg([col(RUNS).n_unique()]).collect()?;
        Ok(counts.lazy().filter(col(RUNS).gt(lit(1))).collect()?.height() > 0)
    }

    /// Returns the columns that name a run in a table: the setting if there are several, the
    /// workload, the policy, and any unexpected difference from the baseline.
    pub fn keys(&self) -> Vec<&'static str> {
        let setting = (self.settings.len() > 1).then_some(SETTING);
        let mixed = (!self.mixed.is_empty()).then_some(MIXED);
        setting.into_iter().chain(["trace", POLICY]).chain(mixed).collect()
    }

    /// Returns whether the runs differ only in overrides.
    pub fn is_of_overrides(&self) -> bool {
        self.slots.iter().any(|slot| slot == OVERRIDES)
    }

    /// Returns each run's `run_id` and the columns that name it, to join with tables that have a
    /// row per part of a run.
    pub fn names_by_id(&self) -> LazyFrame {
        let names = ["run_id"].into_iter().chain(self.keys()).map(col).collect::<Vec<_>>();
        self.runs.clone().lazy().select(names)
    }
}

impl NameParts {
    fn of(runs: &DataFrame, slots: &[String]) -> anyhow::Result<NameParts> {
        let is_compared = slots.iter().any(|slot| slot == OVERRIDES);
        Ok(NameParts {
            machines: runs.column("machine")?.n_unique()? > 1,
            overrides: !is_compared && runs.column(OVERRIDES)?.n_unique()? > 1,
        })
    }
}

/// Names as shown, in their order.
struct Styled {
    settings: Vec<String>,
    policies: Naming,
    traces: Naming,
}

impl Styled {
    /// Selects, orders and labels the rows of a frame, which may have no workloads.
    fn frame(&self, frame: &DataFrame) -> anyhow::Result<DataFrame> {
        let mut frame = ordered(frame, POLICY, &self.policies.names)?;
        let mut renamed = vec![self.policies.renamed(POLICY), self.policies.renamed(BESIDE)];
        if frame.schema().contains("trace") {
            // Repeats of a workload have a name that no run has.
            let others = distinct(&frame, "trace")?.into_iter();
            let others = others.filter(|name| !self.traces.names.contains(name));
            let names: Vec<String> = self.traces.names.iter().cloned().chain(others).collect();
            frame = ordered(&frame, "trace", &names)?;
            renamed.push(self.traces.renamed("trace"));
        }
        let frame = ordered(&frame, SETTING, &self.settings)?;
        Ok(frame.lazy().with_columns(renamed).collect()?)
    }
}

/// Returns the baselines, each with its machines.
fn groups(question: &Question, runs: &DataFrame, slots: &[String]) -> anyhow::Result<Vec<Group>> {
    match &question.baseline {
        Some(name) => {
            Ok(vec![Group { baseline: name.clone(), machines: distinct(runs, "machine")? }])
        }
        None => usual(runs, slots),
    }
}

/// Runs to compare, in these slots and metrics.
struct Inputs<'a> {
    runs: &'a DataFrame,
    slots: &'a [String],
    metrics: &'a [String],
}

/// Compares the runs of each group, and returns the unexpected differences.
fn comparisons(
    question: &Question,
    Inputs { runs, slots, metrics }: Inputs<'_>,
    launches: &Launches,
    groups: &[Group],
) -> anyhow::Result<(Vec<Comparison>, Vec<String>)> {
    let options = |group: &Group| {
        let mut options = CompareOptions::new(&group.baseline);
        options.slots = slots.to_vec();
        options.metrics = metrics.to_vec();
        options.launches = launches.clone();
        options.allow_mixed = question.allow_mixed;
        // Runs may be missing from a shard or an unfinished sweep.
        options.allow_unmatched = true;
        options
    };
    let of_group = |group: &Group| {
        let runs = runs.clone().lazy().filter(is_one_of("machine", &group.machines));
        Ok(compare(runs, &options(group))?)
    };
    let first = compare(runs.clone().lazy(), &options(&groups[0]))?;
    let mixed = first.mixed().to_vec();
    let comparisons = match groups {
        [_] => vec![first],
        several => several.iter().map(of_group).collect::<anyhow::Result<_>>()?,
    };
    Ok((comparisons, mixed))
}

fn read_runs(results: &Results) -> anyhow::Result<DataFrame> {
    let runs = results.runs().map_err(|error| match error {
        Error::NoTable { .. } => anyhow::Error::new(error).context(
            "nothing to report on: `run`, `compare` and `sweep` write results with --output",
        ),
        other => other.into(),
    });
    let runs = runs?.collect()?;
    match runs.height() {
        0 => bail!("the table `runs` has no rows: no run has finished yet"),
        _ => Ok(runs),
    }
}

/// Returns the rows of a comparison by workload and policy, averaged over repeats.
fn by_workload(comparison: &Comparison) -> &DataFrame {
    comparison.workloads()
}

/// Returns every two policies of each setting of a comparison.
fn pairs_of(comparison: &Comparison, tells: NameParts) -> anyhow::Result<LazyFrame> {
    let columns = [
        setting_name(tells),
        col("policy").alias(POLICY),
        col("other").alias(BESIDE),
        col(VERDICT),
    ];
    Ok(comparison.pairs()?.lazy().select(columns))
}

/// Adds the columns of the interval where a comparison does not know them.
fn with_interval(rows: &DataFrame) -> LazyFrame {
    let absent = [LOW, HIGH].into_iter().filter(|name| !rows.schema().contains(name));
    let nulls = absent.map(|name| lit(NULL).cast(DataType::Float64).alias(name));
    rows.clone().lazy().with_columns(nulls.collect::<Vec<_>>())
}

/// Returns expressions for the names of runs; `baseline` is the policy in each slot named by the
/// baseline.
fn names_of_runs(slots: &[String], tells: NameParts, baseline: &[(String, String)]) -> Vec<Expr> {
    let policy = |name: &dyn Fn(&String) -> Expr| {
        let names = slots.iter().map(name);
        names.reduce(|policy, slot| joined(policy, "/", slot)).unwrap_or(lit(""))
    };
    let of_baseline = |slot: &String| {
        let named = baseline.iter().find(|(named, _)| named == slot);
        named.map_or_else(|| name_in(slot), |(_, policy)| lit(policy.as_str()))
    };
    let is_baseline = baseline.iter().map(|(slot, policy)| name_in(slot).eq(lit(policy.as_str())));
    vec![
        policy(&|slot| name_in(slot)).alias(POLICY),
        policy(&of_baseline).alias(BESIDE),
        is_baseline.fold(lit(true), Expr::and).alias(IS_BASELINE),
        setting_name(tells),
    ]
}

/// Returns an expression for the name of a setting.
fn setting_name(tells: NameParts) -> Expr {
    let with_overrides = match tells.machines {
        true => joined(col("machine"), ": ", col(OVERRIDES)),
        false => col(OVERRIDES),
    };
    let setting = match tells.overrides {
        true => when(has_no_overrides()).then(col("machine")).otherwise(with_overrides),
        false => col("machine"),
    };
    setting.alias(SETTING)
}

fn joined(one: Expr, between: &str, other: Expr) -> Expr {
    one + lit(between) + other
}

/// Returns the name of a run in a slot.
pub fn name_in(slot: &str) -> Expr {
    match slot {
        OVERRIDES => {
            let name = when(has_no_overrides()).then(lit(NO_OVERRIDE)).otherwise(col(OVERRIDES));
            name.alias(OVERRIDES)
        }
        slot => col(slot),
    }
}

fn has_no_overrides() -> Expr {
    col(OVERRIDES).eq(lit(""))
}

/// Joins the rows of a comparison with all columns of their runs, and a column [`MIXED`] if some
/// comparison has it. Of repeats, only the runs of machines themselves are kept, not their irrelevant
/// variants.
fn beside(rows: &DataFrame, runs: &DataFrame, slots: &[String], is_mixed: bool) -> LazyFrame {
    let is_key = |name: &&str| {
        ["machine", OVERRIDES, "trace"].contains(name) || slots.iter().any(|slot| slot == name)
    };
    let keys: Vec<Expr> = names(rows).filter(is_key).map(col).collect();
    let is_new = |name: &&str| is_key(name) || !rows.schema().contains(name);
    let of_runs: Vec<Expr> = names(runs).filter(is_new).map(col).collect();
    let unmarked = is_mixed && !rows.schema().contains(MIXED);
    let mark = unmarked.then(|| lit(NULL).cast(DataType::String).alias(MIXED));
    let has_repeats = rows.schema().contains(VARIANT);
    let kept = |runs: &DataFrame| match has_repeats {
        true => runs.clone().lazy().filter(col(VARIANT).eq(lit(0))),
        false => runs.clone().lazy(),
    };
    let rows = kept(rows).with_columns(mark.into_iter().collect::<Vec<_>>());
    let mut join = JoinArgs::new(JoinType::Left);
    join.maintain_order = MaintainOrderJoin::Left;
    rows.join(kept(runs).select(of_runs), &keys, &keys, join)
}

/// Stacks frames with the same columns, in the column order of the first.
fn under_each_other(frames: impl Iterator<Item = LazyFrame>) -> anyhow::Result<DataFrame> {
    let mut frames: Vec<LazyFrame> = frames.collect();
    let columns = match frames.first_mut() {
        Some(first) => first.collect_schema()?.iter_names().cloned().map(col).collect(),
        None => Vec::new(),
    };
    let frames: Vec<LazyFrame> = frames.into_iter().map(|frame| frame.select(&columns)).collect();
    Ok(concat(frames, UnionArgs::default())?.collect()?)
}
