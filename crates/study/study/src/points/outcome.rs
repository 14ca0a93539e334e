//! Measured figures beside ours, and their errors by class and GPU.

use super::batch::Setup;
use super::file::Point;
use super::place::Placed;
use super::workload::Traces;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use warpmem_machine::Machine;

/// A point and our figure.
pub struct Outcome<'p> {
    pub point: &'p Point,
    /// Name of the machine.
    pub machine: String,
    pub ours: f64,
}

/// Largest error that counts as agreement.
const CLOSE: f64 = 0.15;

impl<'p> Placed<'p> {
    /// Returns the runs of the point: the workload, then the one to subtract.
    pub fn setups<'a>(&'a self, traces: &'a Traces) -> impl Iterator<Item = Setup<'a>> {
        self.point.workloads().map(|workload| Setup {
            trace: traces.of(workload),
            machine: self.machine.clone(),
            machine_name: &self.machine_name,
            overrides: &self.overrides,
        })
    }

    /// Takes the cycles of the runs of the point from `cycles`, and returns our figure beside the
    /// measured one.
    pub fn outcome(&self, cycles: &mut impl Iterator<Item = u64>) -> Outcome<'p> {
        let Placed { point, machine, .. } = self;
        let ours = figure(point, machine, cycles);
        Outcome { point, machine: machine.name.clone(), ours }
    }
}

fn figure(point: &Point, machine: &Machine, cycles: &mut impl Iterator<Item = u64>) -> f64 {
    let mut next = || cycles.next().expect("a run for each workload") as f64;
    let whole = next();
    let time = if point.less.is_some() { whole - next() } else { whole };
    point.unit.of(time, point.work, machine)
}

impl Outcome<'_> {
    /// Returns our figure over the measured one.
    pub fn ratio(&self) -> f64 {
        self.ours / self.point.value
    }

    /// Returns the relative error.
    pub fn error(&self) -> f64 {
        self.ratio() - 1.0
    }

    /// Returns the outcome as a row of a table.
    pub fn row(&self) -> Map<String, Value> {
        let Outcome { point, machine, ours } = self;
        let values = [
            ("gpu", json!(point.gpu)),
            ("class", json!(point.class)),
            ("machine", json!(machine)),
            ("set", json!(point.overrides.join("; "))),
            ("figure", json!(point.figure)),
            ("unit", json!(point.unit.name())),
            ("measured", json!(point.value)),
            ("warpmem", json!(ours)),
            ("error", json!(self.error())),
            ("source", json!(point.source)),
        ];
        values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

/// Errors of a group of points.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Class of the points; none for all.
    pub class: Option<String>,
    /// GPU of the points; none for all.
    pub gpu: Option<String>,
    pub points: usize,
    /// Geometric mean of our figures over the measured ones; none if a figure is not positive.
    pub ratio: Option<f64>,
    pub mean_absolute_error: f64,
    /// Points within 15 %.
    pub close: usize,
    pub worst_error: f64,
    /// Label of the point with the worst error.
    pub worst: String,
}

/// Summarizes each class, each class of each GPU if there are several, and all points.
pub fn summaries(outcomes: &[Outcome<'_>]) -> Vec<Summary> {
    let mut classes: Vec<&str> = Vec::new();
    for outcome in outcomes {
        if !classes.contains(&outcome.point.class.as_str()) {
            classes.push(&outcome.point.class);
        }
    }
    let mut summaries = Vec::new();
    for class in classes {
        let of_class: Vec<&Outcome<'_>> =
            outcomes.iter().filter(|outcome| outcome.point.class == class).collect();
        summaries.extend(summary(Some(class), None, &of_class));
        let mut gpus: BTreeMap<&str, Vec<&Outcome<'_>>> = BTreeMap::new();
        for outcome in of_class {
            gpus.entry(&outcome.point.gpu).or_default().push(outcome);
        }
        if gpus.len() > 1 {
            let of_gpus = gpus.iter().filter_map(|(gpu, of)| summary(Some(class), Some(gpu), of));
            summaries.extend(of_gpus);
        }
    }
    summaries.extend(summary(None, None, &outcomes.iter().collect::<Vec<_>>()));
    summaries
}

fn summary(class: Option<&str>, gpu: Option<&str>, of: &[&Outcome<'_>]) -> Option<Summary> {
    let worst = of.iter().max_by(|a, b| a.error().abs().total_cmp(&b.error().abs()))?;
    let points = of.len();
    let mean = |each: fn(&Outcome<'_>) -> f64| {
        of.iter().map(|outcome| each(outcome)).sum::<f64>() / points as f64
    };
    let log = mean(|outcome| outcome.ratio().ln());
    Some(Summary {
        class: class.map(str::to_owned),
        gpu: gpu.map(str::to_owned),
        points,
        ratio: log.is_finite().then(|| log.exp()),
        mean_absolute_error: mean(|outcome| outcome.error().abs()),
        close: of.iter().filter(|outcome| outcome.error().abs() <= CLOSE).count(),
        worst_error: worst.error(),
        worst: worst.point.label(),
    })
}

/// Returns the mean absolute logarithm of the ratios, averaged over classes: 0 if all figures are
/// equal, infinite if one is not positive.
pub fn log_error(outcomes: &[Outcome<'_>]) -> f64 {
    let mut classes: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for outcome in outcomes {
        let (sum, points) = classes.entry(&outcome.point.class).or_default();
        let log = outcome.ratio().ln().abs();
        *sum += if log.is_nan() { f64::INFINITY } else { log };
        *points += 1.0;
    }
    let means = classes.values().map(|(sum, points)| sum / points);
    means.sum::<f64>() / classes.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::PointsFile;
    use super::*;
    use std::path::Path;

    fn points(lines: &[(&str, &str, f64)]) -> PointsFile {
        let mut text = "gpu,class,machine,workload,figure,unit,value\n".to_owned();
        for (gpu, class, value) in lines {
            text.push_str(&format!("{gpu},{class},v100,vecadd,f,cycles,{value}\n"));
        }
        PointsFile::from_text(&text, Path::new("p.csv")).unwrap()
    }

    fn outcomes<'p>(file: &'p PointsFile, ours: &[f64]) -> Vec<Outcome<'p>> {
        let outcome = |(point, &ours)| Outcome { point, machine: "v100".to_owned(), ours };
        file.points.iter().zip(ours).map(outcome).collect()
    }

    #[test]
    fn classes_and_gpus_have_their_errors() {
        let file = points(&[("A", "x", 100.0), ("B", "x", 100.0), ("A", "y", 10.0)]);
        let summaries = summaries(&outcomes(&file, &[110.0, 50.0, 40.0]));
        let short = |s: &Summary| (s.class.clone(), s.gpu.clone(), s.points, s.close);
        let name = |text: &str| Some(text.to_owned());
        assert_eq!(
            summaries.iter().map(short).collect::<Vec<_>>(),
            [
                (name("x"), None, 2, 1),
                (name("x"), name("A"), 1, 1),
                (name("x"), name("B"), 1, 0),
                (name("y"), None, 1, 0),
                (None, None, 3, 1),
            ]
        );
        let x = &summaries[0];
        assert!((x.mean_absolute_error - 0.3).abs() < 1e-9);
        assert!((x.ratio.unwrap() - 0.55f64.sqrt()).abs() < 1e-9);
        assert_eq!((x.worst_error, x.worst.as_str()), (-0.5, "B: f"));
    }

    #[test]
    fn classes_weigh_equally_in_the_log_error() {
        let file = points(&[("A", "x", 1.0), ("A", "x", 1.0), ("A", "x", 1.0), ("A", "y", 1.0)]);
        let error = log_error(&outcomes(&file, &[1.0, 1.0, 1.0, 0.5]));
        assert!((error - 0.5f64.ln().abs() / 2.0).abs() < 1e-12);
        assert_eq!(log_error(&outcomes(&file, &[1.0; 4])), 0.0);
        assert_eq!(log_error(&outcomes(&file, &[1.0, -1.0, 1.0, 1.0])), f64::INFINITY);
        assert_eq!(summaries(&outcomes(&file, &[1.0, -1.0, 1.0, 1.0]))[0].ratio, None);
    }
}
