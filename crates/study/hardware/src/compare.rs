//! Compares measured figures with those of a simulated machine.

use serde::Serialize;

use crate::results::Measured;
use crate::work::{Figure, Unit};

/// A figure of the device beside the simulated one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    pub measurement: String,
    pub figure: String,
    pub unit: Unit,
    /// Median of the device's samples.
    pub device: Option<f64>,
    /// Smallest and largest sample of the device.
    pub device_least: Option<f64>,
    pub device_most: Option<f64>,
    pub warpmem: Option<f64>,
    /// Relative error: (simulated − device) / device.
    pub error: Option<f64>,
}

/// Mean and worst error of the rows of one unit, or of all rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Unit of the rows; `None` for all rows.
    pub unit: Option<Unit>,
    pub figures: usize,
    pub mean_absolute_error: f64,
    /// Geometric mean of simulated / device.
    pub ratio: Option<f64>,
    /// Row with the largest error, and that error.
    pub worst: String,
    pub worst_error: f64,
}

/// Pairs the figures of a measurement: the device's first, then figures that only the simulation has.
pub fn rows(measured: &Measured, ours: &[Figure]) -> Vec<Row> {
    let measurement = || measured.name.clone();
    let mut rows = Vec::new();
    for figure in &measured.samples.figures {
        let [least, most] = figure.range();
        let warpmem = ours.iter().find(|our| our.name == figure.name).map(|our| our.value);
        rows.push(Row {
            measurement: measurement(),
            figure: figure.name.clone(),
            unit: figure.unit,
            device: Some(figure.median),
            device_least: Some(least),
            device_most: Some(most),
            warpmem,
            error: warpmem.and_then(|warpmem| error(warpmem, figure.median)),
        });
    }
    let known = |name: &str| measured.samples.figures.iter().any(|figure| figure.name == name);
    for figure in ours.iter().filter(|figure| !known(&figure.name)) {
        rows.push(Row {
            measurement: measurement(),
            figure: figure.name.clone(),
            unit: figure.unit,
            device: None,
            device_least: None,
            device_most: None,
            warpmem: Some(figure.value),
            error: None,
        });
    }
    rows
}

/// Returns the relative error; `None` if the device's figure is 0 or either is not finite.
fn error(ours: f64, device: f64) -> Option<f64> {
    let error = (ours - device) / device;
    error.is_finite().then_some(error)
}

/// Summarizes the errors by unit, then over all rows.
pub fn summary(rows: &[Row]) -> Vec<Summary> {
    let units = [Unit::Cycles, Unit::GigabytesPerSecond, Unit::BytesPerCycle];
    let of_unit = |unit: Unit| {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.unit == unit).collect();
        summary_of(Some(unit), &rows)
    };
    let all: Vec<&Row> = rows.iter().collect();
    units.into_iter().filter_map(of_unit).chain(summary_of(None, &all)).collect()
}

fn summary_of(unit: Option<Unit>, rows: &[&Row]) -> Option<Summary> {
    let errors: Vec<(&Row, f64)> =
        rows.iter().filter_map(|row| row.error.map(|error| (*row, error))).collect();
    let (worst, worst_error) =
        errors.iter().max_by(|one, other| one.1.abs().total_cmp(&other.1.abs()))?;
    let count = errors.len() as f64;
    let logarithms: Option<f64> = errors
        .iter()
        .map(|(_, error)| Some(1.0 + error).filter(|&ratio| ratio > 0.0).map(f64::ln))
        .sum();
    Some(Summary {
        unit,
        figures: errors.len(),
        mean_absolute_error: errors.iter().map(|(_, error)| error.abs()).sum::<f64>() / count,
        ratio: logarithms.map(|sum| (sum / count).exp()),
        worst: worst.label(),
        worst_error: *worst_error,
    })
}

impl Row {
    /// Returns the name of the measurement, with the figure's own name where it differs.
    pub fn label(&self) -> String {
        match self.measurement == self.figure {
            true => self.measurement.clone(),
            false => format!("{}: {}", self.measurement, self.figure),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{MeasuredFigure, Samples};

    fn measured(figures: &[(&str, f64)]) -> Measured {
        let figure = |&(name, median): &(&str, f64)| MeasuredFigure {
            name: name.to_owned(),
            unit: Unit::Cycles,
            median,
            samples: vec![median - 1.0, median, median + 2.0],
        };
        let figures = figures.iter().map(figure).collect();
        let samples = Samples { clock_mhz: 1000.0, figures };
        let name = "k".to_owned();
        Measured { name, parameters: Default::default(), launch_file: None, crc32: 0, samples }
    }

    fn ours(figures: &[(&str, f64)]) -> Vec<Figure> {
        figures.iter().map(|&(name, value)| Figure::new(name, Unit::Cycles, value)).collect()
    }

    #[test]
    fn missing_figures_have_no_error() {
        let measured = measured(&[("near", 200.0), ("zero", 0.0), ("only", 7.0)]);
        let rows = rows(&measured, &ours(&[("near", 210.0), ("zero", 1.0), ("far", 400.0)]));
        let errors: Vec<Option<f64>> = rows.iter().map(|row| row.error).collect();
        assert_eq!(errors, [Some(0.05), None, None, None]);
        assert_eq!((rows[0].device_least, rows[0].device_most), (Some(199.0), Some(202.0)));
        assert_eq!((rows[3].label(), rows[3].device), ("k: far".to_owned(), None));
    }

    #[test]
    fn the_summary_has_the_mean_error_and_the_worst_row() {
        let measured = measured(&[("a", 100.0), ("b", 100.0)]);
        let rows = rows(&measured, &ours(&[("a", 150.0), ("b", 90.0)]));
        let summary = summary(&rows);
        assert_eq!(summary.len(), 2, "of cycles, and of all");
        assert_eq!((summary[0].unit, summary[1].unit), (Some(Unit::Cycles), None));
        assert!((summary[1].mean_absolute_error - 0.3).abs() < 1e-12);
        assert!((summary[1].ratio.unwrap() - (1.5f64 * 0.9).sqrt()).abs() < 1e-12);
        assert_eq!((summary[1].worst.as_str(), summary[1].worst_error), ("k: a", 0.5));
        assert_eq!(super::summary(&[]), []);
    }
}
