//! A sample and its estimates, as text.

use crate::cli::run_row::shown;
use crate::study::sample::{Estimate, QuantityEstimate, Taken};
use serde_json::Value;
use warpmem_support::text::aligned;

/// Formats the kernels, and the estimates beside the true values.
pub fn text(taken: &Taken<'_>) -> String {
    let mut text = format!("Kernels\n{}", aligned(&kernel_rows(taken), &[0, 2, 3, 4]));
    if !taken.estimates.is_empty() {
        let rows = aligned(&estimate_rows(taken), &[1, 2, 3, 4, 5]);
        text.push_str(&format!(
            "\nThe selected part: estimates from the sample, and true values\n{rows}"
        ));
    }
    text
}

fn kernel_rows(taken: &Taken<'_>) -> Vec<Vec<String>> {
    let heading = ["#", "name", "CTAs", "selected", "taken"].map(str::to_owned).to_vec();
    let rows = taken.selected.kernels.iter().zip(&taken.part.kernels).map(|(selected, part)| {
        let kernel = &taken.trace.kernels()[part.kernel];
        let counts = [kernel.ctas as usize, selected.ctas.len(), part.ctas.len()];
        let name = kernel.info.name.clone();
        [part.kernel.to_string(), name].into_iter().chain(counts.map(|n| n.to_string())).collect()
    });
    [heading].into_iter().chain(rows).collect()
}

fn estimate_rows(taken: &Taken<'_>) -> Vec<Vec<String>> {
    let heading = ["", "estimate", "standard error", "95 % interval", "true", "off by"];
    let row = |row: &QuantityEstimate| {
        let estimate = row.estimate.as_ref();
        vec![
            row.quantity.name.to_owned(),
            number(estimate.map(|estimate| estimate.value)),
            percent(estimate.and_then(Estimate::relative_error)),
            interval(estimate),
            number(row.truth),
            signed_percent(row.error()),
        ]
    };
    let heading = heading.map(str::to_owned).to_vec();
    [heading].into_iter().chain(taken.estimates.iter().map(row)).collect()
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
