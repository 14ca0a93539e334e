//! A sample and its estimates, as text and as rows.

use crate::cli::run_row::shown;
use crate::study::sample::{Estimate, Part, QuantityEstimate};
use serde_json::{Value, json};
use warpmem_support::text::aligned;
use warpmem_trace::{Trace, TraceSummary};

/// A part of a trace.
pub struct Taken<'a> {
    pub trace: &'a Trace,
    /// The sampled part.
    pub selected: &'a Part,
    pub part: &'a Part,
    /// Estimates; none if nothing was drawn at random.
    pub estimates: Vec<QuantityEstimate>,
    pub summary: TraceSummary,
}

impl Taken<'_> {
    pub fn text(&self) -> String {
        let mut text = format!("Kernels\n{}", aligned(&self.kernel_rows(), &[0, 2, 3, 4]));
        if !self.estimates.is_empty() {
            let rows = aligned(&self.estimate_rows(), &[1, 2, 3, 4, 5]);
            text.push_str(&format!(
                "\nThe selected part: estimates from the sample, and true values\n{rows}"
            ));
        }
        text
    }

    fn kernel_rows(&self) -> Vec<Vec<String>> {
        let heading = ["#", "name", "CTAs", "selected", "taken"].map(str::to_owned).to_vec();
        let rows = self.selected.kernels.iter().zip(&self.part.kernels).map(|(selected, part)| {
            let kernel = &self.trace.kernels()[part.kernel];
            let counts = [kernel.ctas as usize, selected.ctas.len(), part.ctas.len()];
            let name = kernel.info.name.clone();
            [part.kernel.to_string(), name]
                .into_iter()
                .chain(counts.map(|n| n.to_string()))
                .collect()
        });
        [heading].into_iter().chain(rows).collect()
    }

    fn estimate_rows(&self) -> Vec<Vec<String>> {
        let heading = ["", "estimate", "standard error", "95 % interval", "true", "off by"];
        let row = |row: &QuantityEstimate| {
            let estimate = row.estimate.as_ref();
            vec![
                row.quantity.name.to_owned(),
                number(estimate.map(|estimate| estimate.value)),
                percent(estimate.and_then(Estimate::relative_error)),
                interval(estimate),
                number(row.truth),
                signed_percent(error(estimate, row.truth)),
            ]
        };
        let heading = heading.map(str::to_owned).to_vec();
        [heading].into_iter().chain(self.estimates.iter().map(row)).collect()
    }

    pub fn object(&self) -> Value {
        let kernels =
            self.selected.kernels.iter().zip(&self.part.kernels).map(|(selected, part)| {
                let kernel = &self.trace.kernels()[part.kernel];
                json!({
                    "kernel": part.kernel,
                    "name": kernel.info.name,
                    "ctas": kernel.ctas,
                    "selected_ctas": selected.ctas.len(),
                    "sampled_ctas": part.ctas.len(),
                })
            });
        let estimates = self.estimates.iter().map(|row| {
            let estimate = row.estimate.as_ref();
            let interval = estimate.map(Estimate::interval);
            json!({
                "quantity": row.quantity.name,
                "unit": row.quantity.unit,
                "estimate": estimate.map(|estimate| estimate.value),
                "standard_error": estimate.map(|estimate| estimate.standard_error),
                "interval_low": interval.map(|[low, _]| low),
                "interval_high": interval.map(|[_, high]| high),
                "true": row.truth,
                "error": error(estimate, row.truth),
            })
        });
        json!({
            "trace": self.trace.path().display().to_string(),
            "trace_hash": format!("{:016x}", self.trace.header().content_hash),
            "output": self.summary.path.display().to_string(),
            "output_hash": format!("{:016x}", self.summary.content_hash),
            "output_bytes": self.summary.file_bytes,
            "output_records": self.summary.records,
            "kernels": kernels.collect::<Vec<_>>(),
            "estimates": estimates.collect::<Vec<_>>(),
        })
    }
}

/// Returns the relative error: estimate / truth - 1.
fn error(estimate: Option<&Estimate>, truth: Option<f64>) -> Option<f64> {
    let truth = truth.filter(|&truth| truth != 0.0)?;
    estimate.map(|estimate| estimate.value / truth - 1.0)
}

fn number(value: Option<f64>) -> String {
    shown(&value.map_or(Value::Null, Value::from), "")
}

fn percent(share: Option<f64>) -> String {
    shown(&share.map_or(Value::Null, Value::from), "fraction")
}

fn signed_percent(share: Option<f64>) -> String {
    let sign = if share.is_some_and(|share| share > 0.0) { "+" } else { "" };
    format!("{sign}{}", percent(share))
}

fn interval(estimate: Option<&Estimate>) -> String {
    match estimate.map(Estimate::interval) {
        None => "–".to_owned(),
        Some([low, high]) => format!("{} to {}", number(Some(low)), number(Some(high))),
    }
}
