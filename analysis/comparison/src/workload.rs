//! Runs of a policy on a workload, averaged over its repeats.

use std::collections::{BTreeSet, HashMap};

use crate::interval::{Estimate, Pair};
use crate::keys::{Keys, TRACE};
use crate::means::Mean;
use crate::row::{RATIO, Row};

/// Name of the verdict of the baseline itself.
pub(crate) const BASELINE: &str = "baseline";

/// A policy on a workload and machine.
#[derive(Clone, Debug)]
pub(crate) struct Workload {
    /// Values of the key columns; the trace is the name of the workload.
    pub(crate) keys: Vec<String>,
    /// Indices of the repeats among the rows; at least one.
    pub(crate) rows: Vec<usize>,
    /// How runs differ from their baselines apart from policies.
    pub(crate) mixed: Option<String>,
    /// IPC, its ratio, and metrics.
    pub(crate) values: Vec<Option<f64>>,
    /// The ratio over the repeats.
    pub(crate) estimate: Option<Estimate>,
    /// IPC under the ideal of the compared slot over the baseline's.
    pub(crate) bound: Option<f64>,
    pub(crate) is_baseline: bool,
}

impl Workload {
    pub(crate) fn verdict(&self) -> Option<&'static str> {
        match self.is_baseline {
            true => Some(BASELINE),
            false => self.estimate?.verdict().map(|verdict| verdict.name()),
        }
    }
}

/// Groups rows by machine, overrides, workload and policy, in order of first appearance.
/// `partners` has the index of each row's baseline.
pub(crate) fn workloads(keys: &Keys, rows: &[Row], partners: &[Option<usize>]) -> Vec<Workload> {
    let mut group_of: HashMap<Vec<&str>, usize> = HashMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let identity: Vec<usize> = keys.identity().into_iter().filter(|&at| at != TRACE).collect();
    for (at, row) in rows.iter().enumerate() {
        let own = identity.iter().map(|&position| row.keys[position].as_str());
        let key = own.chain([row.repeat.workload.as_str()]).collect();
        let group = *group_of.entry(key).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(at);
    }
    groups.into_iter().map(|group| workload(rows, partners, group)).collect()
}

fn workload(rows: &[Row], partners: &[Option<usize>], group: Vec<usize>) -> Workload {
    let first = &rows[group[0]];
    let mut keys = first.keys.clone();
    keys[TRACE].clone_from(&first.repeat.workload);
    let pairs: Vec<Pair<'_>> =
        group.iter().filter_map(|&at| pair(rows, at, partners[at]?)).collect();
    let estimate = Estimate::over_repeats(&pairs);
    let column = |at: usize| Mean::Arithmetic.of(group.iter().map(|&row| rows[row].values[at]));
    let mut values: Vec<Option<f64>> = match group.as_slice() {
        [_] => first.values.clone(),
        _ => (0..first.values.len()).map(column).collect(),
    };
    if group.len() > 1 {
        values[RATIO] = estimate.map(|estimate| estimate.ratio);
    }
    let marks: BTreeSet<&str> = group.iter().filter_map(|&at| rows[at].mixed.as_deref()).collect();
    Workload {
        keys,
        mixed: (!marks.is_empty()).then(|| marks.into_iter().collect::<Vec<_>>().join(", ")),
        values,
        estimate,
        bound: partners[group[0]].and_then(|partner| rows[partner].bound_ratio()),
        is_baseline: group.iter().all(|&at| partners[at] == Some(at)),
        rows: group,
    }
}

/// Returns the ratio of the IPC of two runs of a repeat; none if either is null or zero.
pub(crate) fn pair(rows: &[Row], at: usize, other: usize) -> Option<Pair<'_>> {
    let (row, other) = (&rows[at], &rows[other]);
    let ratio = row.ipc()? / other.ipc().filter(|&ipc| ipc > 0.0)?;
    let is_same = std::ptr::eq(row, other);
    let half = || row.repeat.sampling.half_of_ratio(&other.repeat.sampling);
    Some(Pair {
        trace: &row.keys[TRACE],
        variant: row.repeat.variant,
        ratio,
        sampling: if is_same { 0.0 } else { half() },
    })
}
