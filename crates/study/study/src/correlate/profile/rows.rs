//! A profile beside our run: rows and their summary.

use super::super::statistics::{geometric_mean, mean};
use super::Profile;
use super::figure::Figure;
use super::launch::Extent;
use super::matching::{Match, Matching, TraceLaunch};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// A figure of a kernel on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    pub profile: String,
    /// Index of the launch in the trace, the first of several.
    pub kernel: usize,
    pub name: String,
    pub grid: String,
    pub block: String,
    /// Launches of which the figures are the means.
    pub profiled_launches: u64,
    pub simulated_launches: usize,
    #[serde(skip)]
    pub figure: Figure,
    pub metric: &'static str,
    pub measured: f64,
    pub warpmem: f64,
    /// Relative, or in points for a rate.
    pub error: Option<f64>,
}

/// Agreement of a figure over all kernels.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    #[serde(skip)]
    pub figure: Figure,
    pub metric: &'static str,
    pub kernels: usize,
    pub mean_absolute_error: f64,
    /// Geometric mean of ours over measured; none for rates.
    pub ratio: Option<f64>,
    pub worst_error: f64,
    pub worst_kernel: usize,
    pub worst_name: String,
}

/// A profile beside a run.
pub struct Compared<'a> {
    pub profile: &'a Profile,
    pub trace: &'a [TraceLaunch],
    pub matching: &'a Matching,
    /// Our metrics, a row for each launch of the trace ([`warpmem_record::ncu_rows_json`]).
    pub ours: &'a [Map<String, Value>],
    /// Clock of our SMs, Hz.
    pub hz: f64,
}

impl Compared<'_> {
    /// Returns the rows: kernels in the order of the trace, each with its figures.
    pub fn rows(&self) -> Vec<Row> {
        let of_kernel =
            |found| Figure::ALL.into_iter().filter_map(move |figure| self.row(found, figure));
        self.matching.matches.iter().flat_map(of_kernel).collect()
    }

    fn row(&self, found: &Match, figure: Figure) -> Option<Row> {
        let launches = || found.of_profile.iter().map(|&at| &self.profile.launches[at]);
        let measured: Vec<f64> =
            launches().filter_map(|launch| figure.of(launch, self.hz)).collect();
        let ours = |&at: &usize| self.ours.get(at)?.get(figure.metric())?.as_f64();
        let ours: Vec<f64> = found.of_trace.iter().filter_map(ours).collect();
        let (measured, warpmem) = (mean(&measured)?, mean(&ours)?);
        let kernel = found.of_trace[0];
        let TraceLaunch { name, grid, block } = &self.trace[kernel];
        Some(Row {
            profile: self.profile.path.display().to_string(),
            kernel,
            name: name.clone(),
            grid: Extent::Dimensions(*grid).to_string(),
            block: Extent::Dimensions(*block).to_string(),
            profiled_launches: launches().map(|launch| launch.mean_of.unwrap_or(1)).sum(),
            simulated_launches: found.of_trace.len(),
            figure,
            metric: figure.metric(),
            measured,
            warpmem,
            error: figure.error(measured, warpmem),
        })
    }

    /// Describes the launches of the trace, and of the profile, that have no counterpart: names and
    /// shapes, each with its number.
    pub fn unmatched(&self) -> [Vec<(String, usize)>; 2] {
        let Matching { only_in_trace, only_in_profile, .. } = self.matching;
        [
            counted(only_in_trace.iter().map(|&at| self.trace[at].to_string())),
            counted(only_in_profile.iter().map(|&at| self.profile.launches[at].to_string())),
        ]
    }
}

/// Summarizes the rows by figure.
pub fn summary(rows: &[Row]) -> Vec<Summary> {
    Figure::ALL.into_iter().filter_map(|figure| summary_of(figure, rows)).collect()
}

fn summary_of(figure: Figure, rows: &[Row]) -> Option<Summary> {
    let rows = || rows.iter().filter(|row| row.figure == figure);
    let errors = || rows().filter_map(|row| Some((row, row.error?)));
    let worse = |worst: (_, f64), other: (_, f64)| {
        if other.1.abs() > worst.1.abs() { other } else { worst }
    };
    let (worst, worst_error) = errors().reduce(worse)?;
    let absolute: Vec<f64> = errors().map(|(_, error)| error.abs()).collect();
    let ratios = rows().filter(|row| row.measured > 0.0 && row.warpmem > 0.0);
    let ratios: Vec<f64> = ratios.map(|row| row.warpmem / row.measured).collect();
    Some(Summary {
        figure,
        metric: figure.metric(),
        kernels: absolute.len(),
        mean_absolute_error: mean(&absolute)?,
        ratio: if figure.is_rate() { None } else { geometric_mean(&ratios) },
        worst_error,
        worst_kernel: worst.kernel,
        worst_name: worst.name.clone(),
    })
}

/// Counts equal texts, in the order of their first appearance.
fn counted(texts: impl Iterator<Item = String>) -> Vec<(String, usize)> {
    let mut all: Vec<(String, usize)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for text in texts {
        let at = *known.entry(text.clone()).or_insert_with(|| {
            all.push((text, 0));
            all.len() - 1
        });
        all[at].1 += 1;
    }
    all
}
