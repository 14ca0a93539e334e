//! Quantities and units of axes.

use super::scale::Scale;
use warpmem_analysis::{Digits, metric};

/// The quantity of an axis, its unit, and its scale.
#[derive(Clone, Debug)]
pub struct Axis {
    pub(super) label: String,
    pub(super) unit: String,
    pub(super) scale: Scale,
    /// Values are multiplied by this before they are drawn: 100 for a fraction in percent.
    pub(super) factor: f64,
}

impl Axis {
    /// A linear axis; `unit` is empty for numbers without one.
    pub fn new(label: impl Into<String>, unit: impl Into<String>) -> Axis {
        let (label, unit) = (label.into(), unit.into());
        Axis { label, unit, scale: Scale::Linear, factor: 1.0 }
    }

    /// The axis of a metric that the analysis knows: its title and unit, with fractions in percent.
    /// The axis of any other column is titled with its name.
    pub fn metric(name: &str) -> Axis {
        let Some(metric) = metric(name) else { return Axis::new(name, "") };
        match metric.digits {
            Digits::Percent(_) => Axis::percent(metric.title),
            _ => Axis::new(metric.title, metric.unit),
        }
    }

    /// An axis that shows fractions in percent.
    pub fn percent(label: impl Into<String>) -> Axis {
        Axis { factor: 100.0, ..Axis::new(label, "%") }
    }

    /// The same with a logarithmic scale; values that are not positive are left out.
    pub fn log(self) -> Axis {
        Axis { scale: Scale::Log, ..self }
    }

    /// `latency (core cycles)`
    pub(super) fn title(&self) -> String {
        match self.unit.as_str() {
            "" => self.label.clone(),
            unit => format!("{} ({unit})", self.label),
        }
    }

    /// Suffix of a value: the unit after a space, also for `%` and `×`.
    pub(super) fn suffix(&self) -> String {
        if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) }
    }
}
