//! Limits on the content of a report, so that a report on ten thousand runs can be opened.

use crate::columns::{BESIDE, POLICY, RATIO, SETTING};
use crate::frame::{distinct, is_one_of};
use crate::prose::Prose;
use crate::study::Study;
use polars::prelude::*;
use warpmem_analysis::{Mean, polars};

/// Largest numbers of settings, workloads and policies in charts.
const SETTINGS: usize = 3;
const TRACES: usize = 40;
const POLICIES: usize = 8;

/// Settings, workloads and policies shown in charts.
pub struct Shown {
    pub settings: Vec<String>,
    pub traces: Vec<String>,
    pub policies: Vec<String>,
}

impl Shown {
    /// Selects everything if there is little; otherwise the policies that differ most from their
    /// baselines, and the baselines.
    pub fn of(study: &Study) -> anyhow::Result<Shown> {
        let first = |names: &[String], most: usize| names[..names.len().min(most)].to_vec();
        Ok(Shown {
            settings: first(&study.settings, SETTINGS),
            traces: first(&study.traces, TRACES),
            policies: policies(study)?,
        })
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
        let words = "; the first settings and workloads, and the policies whose mean IPC ratio is farthest from 1, with their baselines. Tables and means cover all runs.";
        Some(Prose::new(format!("Charts show {}{words}", cut.join(", "))))
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

/// Returns the policies that differ most from their baselines, and the baselines.
fn policies(study: &Study) -> anyhow::Result<Vec<String>> {
    if study.policies.len() <= POLICIES {
        return Ok(study.policies.clone());
    }
    let farthest = farthest(study)?;
    let beside = study.runs.clone().lazy().select([POLICY, BESIDE].map(col));
    let beside = beside.unique_stable(None, UniqueKeepStrategy::First).collect()?;
    let [policies, baselines] = [beside.column(POLICY)?.str()?, beside.column(BESIDE)?.str()?];
    let pairs: Vec<(&str, &str)> =
        policies.iter().flatten().zip(baselines.iter().flatten()).collect();
    let with_baselines = |policy: &str| -> Vec<String> {
        let baselines = pairs.iter().filter(|(of, _)| *of == policy).map(|(_, baseline)| *baseline);
        let baselines = baselines.filter(|name| study.policies.iter().any(|run| run == name));
        [policy]
            .into_iter()
            .chain(baselines.filter(|name| *name != policy))
            .map(str::to_owned)
            .collect()
    };
    let (compared, alone): (Vec<_>, Vec<_>) =
        farthest.iter().map(|policy| with_baselines(policy)).partition(|names| names.len() > 1);
    let mut kept: Vec<String> = Vec::new();
    for names in compared.into_iter().chain(alone) {
        let new: Vec<String> = names.into_iter().filter(|name| !kept.contains(name)).collect();
        if kept.len() + new.len() <= POLICIES {
            kept.extend(new);
        }
    }
    Ok(study.policies.iter().filter(|policy| kept.contains(policy)).cloned().collect())
}

/// Returns the policies, sorted by the distance of their mean IPC ratio from 1.
fn farthest(study: &Study) -> anyhow::Result<Vec<String>> {
    const DISTANCE: &str = "distance";
    let distance = (col(RATIO).log(lit(std::f64::consts::E))).abs().max();
    let of_mean = col("mean").eq(lit(Mean::Geometric.name()));
    let means = study.means.clone().lazy().filter(of_mean);
    let order = SortMultipleOptions::default().with_order_descending(true).with_nulls_last(true);
    let farthest = means.group_by_stable([col(POLICY)]).agg([distance.alias(DISTANCE)]);
    distinct(&farthest.sort([DISTANCE], order).collect()?, POLICY)
}
