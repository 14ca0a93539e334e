//! Quantities and units of axes.

use super::scale::Scale;
use warpmem_analysis::{Digits, metric};

/// The quantity of an axis, its unit, and its scale.
#[derive(Clone, Debug)]
pub struct Axis {
    pub(super) label: String,
    pub(super) unit: String,
    pub(super) scale: Scale,
    /// Factor applied to values before they are drawn: 100 for a fraction in percent.
    pub(super) factor: f64,
}

impl Axis {
    /// Makes a linear axis; `unit` is empty for dimensionless numbers.
    pub fn new(label: impl Into<String>, unit: impl Into<String>) -> Axis {
        let (label, unit) = (label.into(), unit.into());
        Axis { label, unit, scale: Scale::Linear, factor: 1.0 }
    }

    /// Makes the axis of a metric that the analysis defines: its title and unit, with fractions in
    /// percent. The axis of any other column is titled with its name.
    pub fn metric(name: &str) -> Axis {
        let Some(metric) = metric(name) else { return Axis::new(name, "") };
        match metric.digits {
            Digits::Percent(_) => Axis::percent(metric.title),
            _ => Axis::new(metric.title, metric.unit),
        }
    }

    /// Makes an axis that shows fractions in percent.
    pub fn percent(label: impl Into<String>) -> Axis {
        Axis { factor: 100.0, ..Axis::new(label, "%") }
    }

    /// Makes the axis logarithmic; values that are not positive are omitted.
    pub fn log(self) -> Axis {
        Axis { scale: Scale::Log, ..self }
    }

    /// Formats the title: `latency (core cycles)`.
    pub(super) fn title(&self) -> String {
        match self.unit.as_str() {
            "" => self.label.clone(),
            unit => format!("{} ({unit})", self.label),
        }
    }

    /// Returns the suffix of a value: the unit after a space, also for `%` and `×`.
    pub(super) fn suffix(&self) -> String {
        if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) }
    }
}
