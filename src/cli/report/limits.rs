//! How much a report shows, so that one of ten thousand runs can still be opened.

use super::document::Prose;
use super::frame::{distinct, is_one_of};
use super::study::{POLICY, RATIO, SETTING, Study};
use polars::prelude::*;
use warpmem_analysis::{Mean, polars};

/// Most settings, workloads and policies in charts.
const SETTINGS: usize = 3;
const TRACES: usize = 40;
const POLICIES: usize = 8;

/// What charts show.
pub struct Shown {
    pub settings: Vec<String>,
    pub traces: Vec<String>,
    pub policies: Vec<String>,
}

impl Shown {
    /// All where that is few. Of many policies the baseline, and those that differ most from it.
    pub fn of(study: &Study) -> anyhow::Result<Shown> {
        let first = |names: &[String], most: usize| names[..names.len().min(most)].to_vec();
        Ok(Shown {
            settings: first(&study.settings, SETTINGS),
            traces: first(&study.traces, TRACES),
            policies: policies(study)?,
        })
    }

    /// Runs of a setting.
    pub fn runs(&self, study: &Study, setting: &str) -> LazyFrame {
        let runs = study.runs.clone().lazy().filter(col(SETTING).eq(lit(setting)));
        runs.filter(is_one_of("trace", &self.traces).and(is_one_of(POLICY, &self.policies)))
    }

    /// What is left out, if anything is.
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
        let words = "; of settings and workloads the first, of policies the baseline and those whose mean \
                     IPC ratio is farthest from 1. Tables and means are of all runs.";
        Some(Prose::new(format!("Charts show {}{words}", cut.join(", "))))
    }
}

/// The workloads whose IPC differs most between policies, at most so many.
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

fn policies(study: &Study) -> anyhow::Result<Vec<String>> {
    if study.policies.len() <= POLICIES {
        return Ok(study.policies.clone());
    }
    const DISTANCE: &str = "distance";
    let distance = (col(RATIO).log(lit(std::f64::consts::E))).abs().max();
    let farthest = study
        .means
        .clone()
        .lazy()
        .filter(col("mean").eq(lit(Mean::Geometric.name())))
        .group_by_stable([col(POLICY)])
        .agg([distance.alias(DISTANCE)])
        .sort(
            [DISTANCE],
            SortMultipleOptions::default().with_order_descending(true).with_nulls_last(true),
        )
        .collect()?;
    let farthest = distinct(&farthest, POLICY)?;
    let (base, others): (Vec<String>, Vec<String>) =
        farthest.into_iter().partition(|policy| study.is_baseline(policy));
    let kept: Vec<String> = base.into_iter().chain(others).take(POLICIES).collect();
    Ok(study.policies.iter().filter(|policy| kept.contains(policy)).cloned().collect())
}
