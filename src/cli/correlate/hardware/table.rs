//! Comparison with a GPU, as text and as rows.

use crate::hardware::{Row, Summary, Unit};
use serde_json::{Map, Value, json};
use warpmem_support::text::aligned;

/// Figures of both sides.
pub struct Compared<'a> {
    pub device: &'a str,
    pub machine: &'a str,
    pub rows: Vec<Row>,
    pub summary: Vec<Summary>,
}

impl Compared<'_> {
    /// Formats the figures with their errors, then the summary.
    pub fn text(&self) -> String {
        let heading = ["figure", "unit", "GPU", "least … most", "Warpmem", "error"];
        let mut lines = vec![heading.map(str::to_owned).to_vec()];
        lines.extend(self.rows.iter().map(line));
        let title = format!("{} (GPU) and {} (Warpmem)\n", self.device, self.machine);
        let mut text = title + &aligned(&lines, &[2, 3, 4, 5]);
        if !self.summary.is_empty() {
            let heading =
                ["unit", "figures", "mean abs. error", "Warpmem / GPU", "worst error", "of"];
            let mut lines = vec![heading.map(str::to_owned).to_vec()];
            lines.extend(self.summary.iter().map(summary_line));
            text.push('\n');
            text.push_str(&aligned(&lines, &[1, 2, 3, 4]));
        }
        text
    }

    pub fn json(&self) -> anyhow::Result<String> {
        let value = json!({
            "gpu": self.device,
            "machine": self.machine,
            "figures": serde_json::to_value(&self.rows)?,
            "summary": serde_json::to_value(&self.summary)?,
        });
        Ok(format!("{value:#}\n"))
    }

    pub fn csv_rows(&self) -> anyhow::Result<Vec<Map<String, Value>>> {
        let row = |row: &Row| {
            let mut object: Map<String, Value> = [("gpu", self.device), ("machine", self.machine)]
                .map(|(key, name)| (key.to_owned(), json!(name)))
                .into_iter()
                .collect();
            if let Value::Object(of_row) = serde_json::to_value(row)? {
                object.extend(of_row);
            }
            Ok(object)
        };
        self.rows.iter().map(row).collect()
    }
}

fn line(row: &Row) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(none, |value| row.unit.shown(value));
    let range = match (row.device_least, row.device_most) {
        (Some(least), Some(most)) => format!("{} … {}", number(Some(least)), number(Some(most))),
        _ => none(),
    };
    vec![
        row.label(),
        row.unit.name().to_owned(),
        number(row.device),
        range,
        number(row.warpmem),
        row.error.map_or_else(none, percent),
    ]
}

fn summary_line(summary: &Summary) -> Vec<String> {
    vec![
        summary.unit.map_or("all", Unit::name).to_owned(),
        summary.figures.to_string(),
        format!("{:.1} %", 100.0 * summary.mean_absolute_error),
        summary.ratio.map_or_else(none, |ratio| format!("{ratio:.2}")),
        percent(summary.worst_error),
        summary.worst.clone(),
    ]
}

fn none() -> String {
    "–".to_owned()
}

fn percent(error: f64) -> String {
    format!("{:+.1} %", 100.0 * error)
}
