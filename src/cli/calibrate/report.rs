//! Errors before and after a calibration, the chosen values, and the log of the search.

use crate::cli::format::{self, Format};
use crate::cli::points::percent;
use crate::study::calibrate::Step;
use crate::study::points::{Outcome, Summary, summaries};
use serde_json::{Map, Value, json};
use warpmem_support::text::aligned;

/// Outcome of a calibration.
pub struct Report<'p> {
    /// Key, value of the base and chosen value.
    pub values: Vec<(String, String, String)>,
    pub before: Vec<Outcome<'p>>,
    pub after: Vec<Outcome<'p>>,
}

impl Report<'_> {
    pub fn text(&self, format: Format) -> String {
        let (before, after) = (summaries(&self.before), summaries(&self.after));
        let pairs: Vec<(&Summary, &Summary)> = before.iter().zip(&after).collect();
        match format {
            Format::Table => self.table(&pairs),
            Format::Json => {
                let values = self.values.iter();
                let value = |(key, base, chosen): &(String, String, String)| json!({ "key": key, "base": base, "chosen": chosen });
                let rows: Vec<_> = pairs.iter().map(|pair| row(*pair)).collect();
                let values: Vec<Value> = values.map(value).collect();
                format!("{:#}\n", json!({ "values": values, "errors": rows }))
            }
            Format::Csv => format::csv(&pairs.iter().map(|pair| row(*pair)).collect::<Vec<_>>()),
        }
    }

    fn table(&self, pairs: &[(&Summary, &Summary)]) -> String {
        let heading = ["key", "base", "calibrated"].map(str::to_owned).to_vec();
        let line = |(key, base, chosen): &(String, String, String)| {
            vec![key.clone(), base.clone(), chosen.clone()]
        };
        let values: Vec<_> = [heading].into_iter().chain(self.values.iter().map(line)).collect();
        let heading = ["class", "GPU", "points", "error before", "after", "worst after", "of"];
        let all = || "all".to_owned();
        let line = |(before, after): &(&Summary, &Summary)| {
            vec![
                after.class.clone().unwrap_or_else(all),
                after.gpu.clone().unwrap_or_else(all),
                after.points.to_string(),
                format!("{:.1} %", 100.0 * before.mean_absolute_error),
                format!("{:.1} %", 100.0 * after.mean_absolute_error),
                percent(after.worst_error),
                after.worst.clone(),
            ]
        };
        let heading = [heading.map(str::to_owned).to_vec()].into_iter();
        let errors: Vec<_> = heading.chain(pairs.iter().map(line)).collect();
        format!("{}\n{}", aligned(&values, &[1, 2]), aligned(&errors, &[2, 3, 4, 5]))
    }
}

fn row((before, after): (&Summary, &Summary)) -> Map<String, Value> {
    let values = [
        ("class", json!(after.class)),
        ("gpu", json!(after.gpu)),
        ("points", json!(after.points)),
        ("error_before", json!(before.mean_absolute_error)),
        ("error_after", json!(after.mean_absolute_error)),
        ("ratio_before", json!(before.ratio)),
        ("ratio_after", json!(after.ratio)),
        ("worst_before", json!(before.worst_error)),
        ("worst_after", json!(after.worst_error)),
    ];
    values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Formats the log: a line for each value that a step tried. The objective is empty for machines that
/// are not valid.
pub fn log(steps: &[Step]) -> String {
    let mut rows = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        for (value, objective) in &step.tried {
            let values = [
                ("step", json!(number + 1)),
                ("round", json!(step.round)),
                ("key", json!(step.key)),
                ("value", json!(value)),
                ("mean_log_error", json!(objective)),
                ("best", json!(*value == step.best)),
            ];
            rows.push(values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect());
        }
    }
    format::csv(&rows)
}
