//! The comparison of runs with a baseline, and its tables.

use std::collections::{BTreeMap, HashMap};

use crate::averages::{Averaged, Means, means};
use crate::baseline::Baseline;
use crate::error::{Error, Result};
use crate::inputs::INPUTS;
use crate::interval::Estimate;
use crate::keys::{Keys, OVERRIDES, SLOTS, trace_of};
use crate::leverage::{Leverage, leverages};
use crate::metric::{Relation, relative};
use crate::mixed::{differences, mark};
use crate::options::{CompareOptions, IPC};
use crate::row::{IPC_RATIO, RATIO, Row, related};
use crate::runs::{Run, Runs};
use crate::table::Table;
use crate::workload::{Workload, workloads};

/// Runs compared with a baseline, and their means over repeats and workloads.
///
/// Seeds of one generator with equal parameters, and irrelevant variants of a machine, are repeats of
/// one workload: ratios are taken repeat by repeat and averaged, with a 95 % interval.
#[derive(Clone, Debug)]
pub struct Comparison {
    pub(crate) keys: Keys,
    /// Names of the values of a row: the IPC, its ratio, and the metrics.
    pub(crate) values: Vec<String>,
    pub(crate) rows: Vec<Row>,
    pub(crate) workloads: Vec<Workload>,
    pub(crate) means: Vec<Means>,
    pub(crate) leverages: Vec<Leverage>,
    pub(crate) units: BTreeMap<String, String>,
    slots: Vec<String>,
    baseline: String,
    baseline_slots: Vec<(String, String)>,
    pub(crate) mixed: Vec<String>,
    unmatched: usize,
}

impl Comparison {
    /// Returns the slots in which the runs differ.
    pub fn slots(&self) -> &[String] {
        &self.slots
    }

    /// Returns the unexpected differences between the runs; empty unless
    /// [allowed](CompareOptions::allow_mixed).
    pub fn mixed(&self) -> &[String] {
        &self.mixed
    }

    /// Returns the number of runs without a baseline run to compare with; 0 unless
    /// [allowed](CompareOptions::allow_unmatched).
    pub fn unmatched(&self) -> usize {
        self.unmatched
    }

    /// Returns the slots that the baseline names, each with its policy; runs are compared with a
    /// run that is equal in all other slots.
    pub fn baseline_slots(&self) -> &[(String, String)] {
        &self.baseline_slots
    }

    /// Returns the names of the baseline's policies, separated by slashes.
    pub fn baseline(&self) -> &str {
        &self.baseline
    }

    /// Returns whether some workload has several seeds or variants.
    pub fn has_repeats(&self) -> bool {
        self.workloads.iter().any(|workload| workload.rows.len() > 1)
    }

    /// Returns whether an interval covers the errors of sampled runs.
    pub fn is_sampled(&self) -> bool {
        self.workloads.iter().any(|workload| workload.estimate.is_some_and(|one| one.is_sampled()))
    }

    /// Returns whether some ratio has an interval.
    pub(crate) fn is_noise_known(&self) -> bool {
        let is_known = |estimate: Estimate| estimate.bounds().is_some();
        self.workloads.iter().any(|workload| workload.estimate.is_some_and(is_known))
    }

    /// Returns the parts that pairs of policies are made of.
    pub(crate) fn averaged(&self) -> Averaged<'_> {
        let Comparison { keys, rows, workloads, means, .. } = self;
        Averaged { keys, rows, workloads, means }
    }

    /// Returns the names of the metrics beside the IPC and its ratio.
    pub(crate) fn metrics(&self) -> &[String] {
        &self.values[RATIO + 1..]
    }
}

/// Compares the runs of each trace, machine and overrides with the run of the baseline policy.
///
/// `runs` needs the columns `trace`, `machine`, `ipc_thread`, the slots and the metrics of
/// `options`. If it has a `run_id`, rows with the same id count once. Not-a-number and infinity
/// count as null. A ratio is null if the baseline's IPC is null or zero.
///
/// The columns `trace_hash`, `parameters` and `engine_version`, where present, must agree: one
/// content per trace name, one set of parameters (policies aside) per machine and overrides, one
/// version for all.
///
/// ```
/// use warpmem_comparison::{CompareOptions, Table, Values, compare};
///
/// let texts = |texts: [&str; 2]| Values::Text(texts.map(|text| Some(text.to_owned())).to_vec());
/// let runs = Table::new(vec![
///     ("trace".to_owned(), texts(["bfs", "bfs"])),
///     ("machine".to_owned(), texts(["li2015", "li2015"])),
///     ("dram_scheduler".to_owned(), texts(["fcfs", "fr-fcfs"])),
///     ("ipc_thread".to_owned(), Values::Float(vec![Some(2.0), Some(4.0)])),
/// ]);
/// let options = CompareOptions { metrics: Vec::new(), ..CompareOptions::new("fr-fcfs") };
/// let rows = compare(&runs, &options)?.rows();
/// assert_eq!(rows.column("ipc_ratio"), Some(&Values::Float(vec![Some(0.5), Some(1.0)])));
/// # Ok::<(), warpmem_comparison::Error>(())
/// ```
///
/// # Errors
/// If a column is missing or not numeric, if the baseline is unknown, ambiguous or missing for a
/// workload, if a workload has several runs with the same policies, or if runs are mixed.
pub fn compare(runs: &Table, options: &CompareOptions) -> Result<Comparison> {
    let mut runs = Runs::of(runs, options)?;
    let mixed = differences(&runs);
    if !mixed.is_empty() && !options.allow_mixed {
        return Err(Error::Mixed { differences: mixed });
    }
    runs.keys.compare(varied_slots(&runs, options));
    let baseline = Baseline::resolve(&options.baseline, &runs)?;
    runs.order_by_appearance();
    check_one_run_each(&runs)?;
    let partners = partners(&runs, &baseline);
    let unmatched = partners.iter().filter(|partner| partner.is_none()).count();
    if unmatched > 0 && !options.allow_unmatched {
        return Err(missing_baseline(&runs, &partners, &baseline));
    }
    let (values, rows) = rows(&runs, &partners, &options.metrics, &baseline);
    let workloads = workloads(&runs.keys, &rows, &partners);
    let means = means(&runs.keys, &workloads);
    let leverages = leverages(&rows, &partners, |row| runs.keys.place(&row.keys));
    let slots = runs.keys.compared().iter().map(|&slot| runs.keys.names()[slot].clone());
    Ok(Comparison {
        slots: slots.collect(),
        keys: runs.keys,
        values,
        rows,
        workloads,
        means,
        leverages,
        units: options.units.clone(),
        baseline: baseline.label(),
        baseline_slots: baseline.into_slots(),
        mixed,
        unmatched,
    })
}

/// Returns the positions of the slots to compare.
fn varied_slots(runs: &Runs, options: &CompareOptions) -> Vec<usize> {
    let is_varied = |&position: &usize| differ(runs.runs.iter().map(|run| &run.keys[position]));
    let positions =
        |names: &[String]| names.iter().filter_map(|name| runs.keys.position(name)).collect();
    let present: Vec<usize> =
        SLOTS.into_iter().filter_map(|slot| runs.keys.position(slot)).collect();
    let varied: Vec<usize> = present.iter().copied().filter(is_varied).collect();
    let overrides = runs.keys.position(OVERRIDES).filter(is_varied);
    let mut slots: Vec<usize> = match (&options.slots, varied.is_empty()) {
        (slots, _) if !slots.is_empty() => positions(slots),
        (_, true) if overrides.is_some() => Vec::new(),
        (_, true) => present,
        (_, false) => varied,
    };
    let is_compared = slots.is_empty() || Baseline::has_overrides(&options.baseline, runs);
    slots.extend(overrides.filter(|overrides| is_compared && !slots.contains(overrides)));
    slots
}

fn check_one_run_each(runs: &Runs) -> Result<()> {
    let identity = runs.keys.identity();
    let identity = |run: &'_ Run| (run.repeat.variant, run.at(&identity).join("\0"));
    let mut groups: HashMap<(i64, String), Vec<&Run>> = HashMap::new();
    for run in &runs.runs {
        groups.entry(identity(run)).or_default().push(run);
    }
    let mut groups = runs.runs.iter().map(|run| &groups[&identity(run)]);
    let Some(group) = groups.find(|group| group.len() > 1) else {
        return Ok(());
    };
    let slots = SLOTS.into_iter().filter(|slot| {
        let position = runs.keys.position(slot);
        position.is_some_and(|at| differ(group.iter().map(|run| &run.keys[at])))
    });
    let inputs = INPUTS.into_iter().enumerate();
    let inputs = inputs.filter(|(at, _)| differ(group.iter().map(|run| &run.inputs[*at])));
    let names = slots.chain(inputs.map(|(_, name)| name));
    let keys = &group[0].keys;
    Err(Error::SeveralRuns {
        trace: trace_of(keys).to_owned(),
        machine: runs.keys.place(keys),
        policy: runs.keys.policy(keys),
        runs: group.len(),
        differ: names.map(str::to_owned).collect(),
    })
}

/// Returns whether the values are not all equal.
fn differ<T: PartialEq>(mut values: impl Iterator<Item = T>) -> bool {
    let first = values.next();
    first.is_some_and(|first| values.any(|value| value != first))
}

/// Returns the index of each run's baseline in the same repeat, if there is one.
fn partners(runs: &Runs, baseline: &Baseline) -> Vec<Option<usize>> {
    let held = runs.keys.identity().into_iter().filter(|&position| !baseline.names(position));
    let held: Vec<usize> = held.collect();
    let baselines = runs.runs.iter().enumerate().filter(|(_, run)| baseline.is(run));
    let repeat = |run: &'_ Run| (run.repeat.variant, run.at(&held).join("\0"));
    let baselines: HashMap<(i64, String), usize> =
        baselines.map(|(row, run)| (repeat(run), row)).collect();
    runs.runs.iter().map(|run| baselines.get(&repeat(run)).copied()).collect()
}

/// Refuses the first run without a baseline run to compare with.
fn missing_baseline(runs: &Runs, partners: &[Option<usize>], baseline: &Baseline) -> Error {
    let row = partners.iter().position(Option::is_none).unwrap_or(0);
    let keys = &runs.runs[row].keys;
    let workload = |keys: &[String]| (trace_of(keys).to_owned(), runs.keys.place(keys));
    let (trace, machine) = workload(keys);
    let same = runs.runs.iter().filter(|run| workload(&run.keys) == workload(keys));
    Error::MissingBaseline {
        available: same.map(|run| runs.keys.policy(&run.keys)).collect(),
        policy: runs.keys.policy(keys),
        baseline: baseline.label(),
        trace,
        machine,
    }
}

/// Places each run beside its baseline. Returns the names of the values, and the rows.
fn rows(
    runs: &Runs,
    partners: &[Option<usize>],
    metrics: &[String],
    baseline: &Baseline,
) -> (Vec<String>, Vec<Row>) {
    let position = |name: &str| runs.numbers.iter().position(|column| column == name);
    let mut sources = vec![(IPC, 0, None), (IPC_RATIO, 0, Some(Relation::Ratio))];
    for metric in metrics {
        let own = position(metric).map(|at| (metric.as_str(), at, None));
        let related = || {
            let (column, relation) = relative(metric)?;
            Some((metric.as_str(), position(column)?, Some(relation)))
        };
        let is_new = sources.iter().all(|(name, ..)| name != metric);
        sources.extend(own.or_else(related).filter(|_| is_new));
    }
    let compares_overrides = runs.keys.position(OVERRIDES).is_some_and(|at| baseline.names(at));
    let row = |(run, partner): (&Run, &Option<usize>)| {
        let base = partner.map(|partner| &runs.runs[partner]);
        let value = |&(_, at, relation): &(&str, usize, Option<Relation>)| match relation {
            None => run.numbers[at],
            Some(relation) => related(run.numbers[at]?, base?.numbers[at]?, relation),
        };
        Row {
            keys: run.keys.clone(),
            mixed: base.and_then(|base| mark(&run.inputs, &base.inputs, compares_overrides)),
            values: sources.iter().map(value).collect(),
            repeat: run.repeat.clone(),
            load: run.load,
            bound: run.bound.clone(),
        }
    };
    let rows = runs.runs.iter().zip(partners).map(row).collect();
    (sources.iter().map(|(name, ..)| (*name).to_owned()).collect(), rows)
}
