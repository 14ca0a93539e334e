//! Limits on the content of a report, so that a report on ten thousand runs can be opened.

use crate::columns::{BESIDE, POLICY, RATIO, SETTING};
use crate::frame::{distinct, is_one_of};
use crate::prose::Prose;
use crate::study::Study;
use polars::prelude::*;
use std::collections::BTreeSet;
use warpmem_analysis::polars;

/// Largest numbers of settings, workloads and policies in charts with a mark for each run.
const SETTINGS: usize = 3;
const TRACES: usize = 40;
const POLICIES: usize = 8;
/// Largest product of workloads and policies.
const MARKS: usize = 160;
/// Largest numbers of workloads and policies in the ranking and the map of all workloads.
pub const MOST_TRACES: usize = 160;
pub const MOST_POLICIES: usize = 120;

/// Settings, workloads and policies shown in charts with a mark for each run.
pub struct Shown {
    pub settings: Vec<String>,
    pub traces: Vec<String>,
    pub policies: Vec<String>,
}

impl Shown {
    /// Selects everything if there is little; otherwise the fastest and the slowest policies with
    /// their baselines, and the workloads whose IPC differs most.
    pub fn of(study: &Study) -> anyhow::Result<Shown> {
        let settings = study.settings.iter().take(SETTINGS).cloned().collect::<Vec<_>>();
        let policies = policies(study, &settings)?;
        let most = TRACES.min(MARKS / policies.len().max(1));
        let kept = most_different(&study.runs, most)?;
        let traces = study.traces.iter().filter(|trace| kept.contains(trace)).cloned().collect();
        Ok(Shown { settings, traces, policies })
    }

    /// Returns the runs of a setting.
    pub fn runs(&self, study: &Study, setting: &str) -> LazyFrame {
        let runs = study.runs.clone().lazy().filter(col(SETTING).eq(lit(setting)));
        runs.filter(is_one_of("trace", &self.traces).and(is_one_of(POLICY, &self.policies)))
    }

    /// Composes a note on omissions, if there are any.
    pub fn left_out(&self, study: &Study) -> Option<Prose> {
        let kinds = [
            ("settings", &self.settings, &study.settings),
            ("workloads", &self.traces, &study.traces),
            ("policies", &self.policies, &study.policies),
        ];
        let cut = kinds.into_iter().filter(|(_, shown, all)| shown.len() < all.len());
        let cut: Vec<String> = cut
            .map(|(kind, shown, all)| format!("{} of {} {kind}", shown.len(), all.len()))
            .collect();
        if cut.is_empty() {
            return None;
        }
        let words = "; the first settings, the workloads whose IPC differs most between policies, and the fastest policies and the slowest one, with their baselines. The ranking, the map of workloads, tables and means cover all.";
        Some(Prose::new(format!("The detailed charts show {}{words}", cut.join(", "))))
    }
}

/// Returns the `most` workloads whose IPC differs most between policies.
pub fn most_different(runs: &DataFrame, most: usize) -> anyhow::Result<Vec<String>> {
    const SPREAD: &str = "spread";
    let spread = (col(RATIO).max() / col(RATIO).min()).alias(SPREAD);
    let by_trace = runs.clone().lazy().group_by_stable([col("trace")]).agg([spread]);
    let order = SortMultipleOptions::default()
        .with_order_descending(true)
        .with_nulls_last(true)
        .with_maintain_order(true);
    let mut traces = distinct(&by_trace.sort([SPREAD], order).collect()?, "trace")?;
    traces.truncate(most);
    Ok(traces)
}

/// Returns the policies of detailed charts, in the order of the runs: the fastest and the slowest
/// of each setting in charts, then the next fastest, each with its baseline.
fn policies(study: &Study, settings: &[String]) -> anyhow::Result<Vec<String>> {
    if study.policies.len() <= POLICIES {
        return Ok(study.policies.clone());
    }
    let baselines = baselines(study)?;
    let mut kept: BTreeSet<&str> = BTreeSet::new();
    let ranked = settings.iter().map(|setting| ranked(study, setting));
    let ranked = ranked.collect::<anyhow::Result<Vec<_>>>()?;
    for policy in in_turn(&ranked) {
        let own = baselines.iter().filter(|(of, _)| of == policy).map(|(_, baseline)| baseline);
        let new: BTreeSet<&str> =
            own.map(String::as_str).chain([policy]).filter(|name| !kept.contains(name)).collect();
        if kept.len() + new.len() <= POLICIES {
            kept.extend(new);
        }
    }
    Ok(study.policies.iter().filter(|policy| kept.contains(policy.as_str())).cloned().collect())
}

/// Lists the first of each ranking, the last of each, the second of each and so on.
fn in_turn(ranked: &[Vec<String>]) -> impl Iterator<Item = &str> {
    let longest = ranked.iter().map(Vec::len).max().unwrap_or(0);
    let firsts = ranked.iter().filter_map(|ranked| ranked.first());
    let lasts = ranked.iter().filter_map(|ranked| ranked.last());
    let rest = (1..longest).flat_map(|at| ranked.iter().filter_map(move |ranked| ranked.get(at)));
    firsts.chain(lasts).chain(rest).map(String::as_str)
}

/// Returns the policies of a setting by mean IPC ratio, the highest first.
fn ranked(study: &Study, setting: &str) -> anyhow::Result<Vec<String>> {
    let is_its = col("mean").eq(lit(study.mean.name())).and(col(SETTING).eq(lit(setting)));
    let means = study.means.clone().lazy().filter(is_its.and(col(RATIO).is_not_null()));
    let order = SortMultipleOptions::default().with_order_descending(true);
    let means = means.sort([RATIO], order.with_maintain_order(true)).collect()?;
    distinct(&means, POLICY)
}

/// Returns each policy with its baselines that have runs.
fn baselines(study: &Study) -> anyhow::Result<Vec<(String, String)>> {
    let pairs = study.runs.clone().lazy().select([POLICY, BESIDE].map(col));
    let pairs = pairs.unique_stable(None, UniqueKeepStrategy::First).collect()?;
    let [policies, baselines] = [pairs.column(POLICY)?.str()?, pairs.column(BESIDE)?.str()?];
    let pairs = policies.iter().flatten().zip(baselines.iter().flatten());
    let has_runs = |(_, baseline): &(&str, &str)| study.policies.iter().any(|run| run == baseline);
    Ok(pairs.filter(has_runs).map(|(of, baseline)| (of.to_owned(), baseline.to_owned())).collect())
}
