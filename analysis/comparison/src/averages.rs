//! Averages of policies over workloads, and the comparison of every two policies.

use std::collections::HashMap;

use crate::interval::{Estimate, Pair, Verdict};
use crate::keys::{Keys, TRACE, trace_of};
use crate::means::Mean;
use crate::row::{RATIO, Row};
use crate::workload::{Workload, pair};

/// Means of a policy's workloads on one machine.
#[derive(Clone, Debug)]
pub(crate) struct Means {
    /// Indices of the workloads; at least one.
    pub(crate) rows: Vec<usize>,
    /// Number of workloads with an IPC ratio.
    pub(crate) workloads: usize,
    /// Each of [`Mean::ALL`] of the IPC ratio.
    pub(crate) ratios: [Option<f64>; Mean::ALL.len()],
    /// The same means with their uncertainty.
    pub(crate) estimates: [Option<Estimate>; Mean::ALL.len()],
    /// Geometric mean of the bounds.
    pub(crate) bound: Option<f64>,
    /// Arithmetic means of the metrics.
    pub(crate) metrics: Vec<Option<f64>>,
    pub(crate) is_baseline: bool,
}

/// Index of the geometric mean.
pub(crate) const GEOMETRIC: usize = 1;

/// Averages the workloads of each machine, overrides and policy.
pub(crate) fn means(keys: &Keys, workloads: &[Workload]) -> Vec<Means> {
    let positions = keys.group();
    let mut group_of: HashMap<Vec<&str>, usize> = HashMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, workload) in workloads.iter().enumerate() {
        let key = positions.iter().map(|&at| workload.keys[at].as_str()).collect();
        let group = *group_of.entry(key).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(at);
    }
    groups.into_iter().map(|group| of_policy(workloads, group)).collect()
}

fn of_policy(workloads: &[Workload], group: Vec<usize>) -> Means {
    let of_group = || group.iter().map(|&at| &workloads[at]);
    let column = |at: usize| of_group().map(move |workload| workload.values[at]);
    let counted = of_group().filter(|workload| workload.values[RATIO].is_some());
    let estimates = counted.map(|workload| workload.estimate).collect::<Option<Vec<Estimate>>>();
    let estimate = |mean| Estimate::over_workloads(estimates.as_ref()?, mean);
    let metrics = RATIO + 1..workloads[group[0]].values.len();
    Means {
        workloads: column(RATIO).flatten().count(),
        ratios: Mean::ALL.map(|mean| mean.of(column(RATIO))),
        estimates: Mean::ALL.map(estimate),
        bound: Mean::Geometric.of(of_group().map(|workload| workload.bound)),
        metrics: metrics.map(|at| Mean::Arithmetic.of(column(at))).collect(),
        is_baseline: of_group().all(|workload| workload.is_baseline),
        rows: group,
    }
}

/// Two policies compared on the workloads of a machine.
#[derive(Clone, Debug)]
pub(crate) struct PolicyPair {
    /// Indices of both among the means.
    pub(crate) of: usize,
    pub(crate) other: usize,
    /// Number of workloads that both ran on.
    pub(crate) workloads: usize,
    /// Geometric mean of the first's IPC over the other's.
    pub(crate) estimate: Option<Estimate>,
}

impl PolicyPair {
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        self.estimate?.verdict()
    }
}

/// The parts of a comparison that pairs of policies are made of.
#[derive(Clone, Copy)]
pub(crate) struct Averaged<'a> {
    pub(crate) keys: &'a Keys,
    pub(crate) rows: &'a [Row],
    pub(crate) workloads: &'a [Workload],
    pub(crate) means: &'a [Means],
}

impl Averaged<'_> {
    /// Returns the machine of a policy, and its overrides unless these are compared.
    pub(crate) fn place(&self, of: usize) -> String {
        self.keys.place(&self.workloads[self.means[of].rows[0]].keys)
    }

    /// Returns the name of a policy.
    pub(crate) fn policy(&self, of: usize) -> String {
        self.keys.policy(&self.workloads[self.means[of].rows[0]].keys)
    }

    /// Compares every two policies of each machine.
    pub(crate) fn pairs(&self) -> Vec<PolicyPair> {
        let places: Vec<String> = (0..self.means.len()).map(|of| self.place(of)).collect();
        let mut pairs = Vec::new();
        for of in 0..places.len() {
            let others = (of + 1..places.len()).filter(|&other| places[other] == places[of]);
            pairs.extend(others.map(|other| self.pair(of, other)));
        }
        pairs
    }

    /// Compares two policies of a machine on their common workloads, repeat by repeat.
    pub(crate) fn pair(&self, of: usize, other: usize) -> PolicyPair {
        let others = &self.means[other].rows;
        let partner = |workload: &Workload| {
            let named =
                |at: &&usize| trace_of(&self.workloads[**at].keys) == trace_of(&workload.keys);
            others.iter().find(named).map(|&at| &self.workloads[at])
        };
        let compared = |&at: &usize| {
            let own = &self.workloads[at];
            Estimate::over_repeats(&self.repeats(own, partner(own)?))
        };
        let estimates: Vec<Estimate> = self.means[of].rows.iter().filter_map(compared).collect();
        let estimate = Estimate::over_workloads(&estimates, Mean::Geometric);
        PolicyPair { of, other, workloads: estimates.len(), estimate }
    }

    /// Pairs the runs of two policies on a workload by trace and variant.
    fn repeats(&self, own: &Workload, other: &Workload) -> Vec<Pair<'_>> {
        let repeat = |at: usize| (self.rows[at].keys[TRACE].as_str(), self.rows[at].repeat.variant);
        let others: HashMap<(&str, i64), usize> =
            other.rows.iter().map(|&at| (repeat(at), at)).collect();
        let paired = |&at: &usize| pair(self.rows, at, *others.get(&repeat(at))?);
        own.rows.iter().filter_map(paired).collect()
    }
}
