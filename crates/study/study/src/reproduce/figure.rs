//! Figures of a paper, drawn from our runs.

use super::Runs;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Stem of the file names.
    pub name: String,
    pub title: String,
    /// Figure of the paper that it redraws.
    pub source: String,
    /// Label of the value axis, with the unit.
    pub label: String,
    pub drawn: Drawn,
}

/// Content of a figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Drawn {
    /// Bars: a group per workload, a bar per configuration, and the means at the end.
    Bars(Many),
    /// Bars: the mean of each metric.
    Metrics(Metrics),
    /// Lines: one per configuration, over the values of a setting.
    Lines(Lines),
    /// Points: one per workload and configuration.
    Scatter(Scatter),
    /// Percentiles of load times per workload and configuration, relative to the mean of the first
    /// configuration.
    LoadTimes(LoadTimes),
}

/// One quantity under several configurations.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Many {
    pub of: Vec<String>,
    /// Drawn quantity; `of` is the configuration of a bar.
    pub runs: Runs,
    /// Published means, by configuration, in the unit of the values.
    #[serde(default)]
    pub published: BTreeMap<String, f64>,
    /// Value of the reference line.
    #[serde(default)]
    pub reference: Option<f64>,
}

/// Several metrics of the same configurations.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metrics {
    /// Name and SQL expression of each metric.
    pub metrics: Vec<(String, String)>,
    /// Drawn quantity; `metric` is the metric of a bar.
    pub runs: Runs,
    /// Published means, by the metrics' names, in the unit of the values.
    #[serde(default)]
    pub published: BTreeMap<String, f64>,
    /// Value of the reference line.
    #[serde(default)]
    pub reference: Option<f64>,
}

/// A sweep.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lines {
    /// Swept setting; `*` stands for its values in the configurations.
    pub setting: String,
    /// Lines, each with the classes of workloads that it averages.
    pub lines: Vec<Line>,
    pub runs: Runs,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    pub name: String,
    pub of: String,
    #[serde(default)]
    pub over: Option<String>,
    #[serde(default)]
    pub classes: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Scatter {
    pub of: Vec<String>,
    /// SQL expressions over the columns of `runs`.
    pub x: String,
    pub x_label: String,
    pub y: String,
    #[serde(default)]
    pub classes: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadTimes {
    pub of: Vec<String>,
    #[serde(default)]
    pub classes: Vec<String>,
}

impl Many {
    /// Returns the drawn quantity of each configuration.
    pub fn each(&self) -> impl Iterator<Item = Runs> {
        self.of.iter().map(|of| Runs { of: of.clone(), ..self.runs.clone() })
    }
}

impl Metrics {
    /// Returns the drawn quantity of each metric, with its name.
    pub fn each(&self) -> impl Iterator<Item = (&str, Runs)> {
        let runs = |metric: &String| Runs { metric: metric.clone(), ..self.runs.clone() };
        self.metrics.iter().map(move |(name, metric)| (name.as_str(), runs(metric)))
    }
}

impl Line {
    /// Returns the quantity drawn along the axis, with `*` for the setting's value.
    pub fn runs(&self, runs: &Runs) -> Runs {
        let (of, over, classes) = (self.of.clone(), self.over.clone(), self.classes.clone());
        Runs { of, over, classes, ..runs.clone() }
    }
}

impl Drawn {
    /// Returns the configurations of the figure; `swept` returns the values of a setting.
    pub(super) fn references<'a>(&self, swept: impl Fn(&str) -> &'a [String]) -> Vec<String> {
        let all = |runs: Vec<Runs>| -> Vec<String> {
            runs.iter().flat_map(Runs::references).map(str::to_owned).collect()
        };
        match self {
            Drawn::Bars(bars) => all(bars.each().collect()),
            Drawn::Metrics(metrics) => all(vec![metrics.runs.clone()]),
            Drawn::Lines(Lines { setting, lines, runs }) => {
                let each = lines.iter().map(|line| line.runs(runs));
                let of_line = |line: Runs| -> Vec<Runs> {
                    line.swept(swept(setting)).map(|(_, runs)| runs).collect()
                };
                all(each.flat_map(of_line).collect())
            }
            Drawn::Scatter(scatter) => scatter.of.clone(),
            Drawn::LoadTimes(times) => times.of.clone(),
        }
    }

    /// Returns the classes of the drawn workloads; all if empty.
    pub fn classes(&self) -> Vec<String> {
        match self {
            Drawn::Bars(bars) => bars.runs.classes.clone(),
            Drawn::Metrics(metrics) => metrics.runs.classes.clone(),
            Drawn::Lines(lines) if lines.lines.iter().any(|line| line.classes.is_empty()) => {
                Vec::new()
            }
            Drawn::Lines(Lines { lines, .. }) => {
                lines.iter().flat_map(|line| line.classes.clone()).collect()
            }
            Drawn::Scatter(scatter) => scatter.classes.clone(),
            Drawn::LoadTimes(times) => times.classes.clone(),
        }
    }
}
