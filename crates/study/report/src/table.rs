//! A table of a report: a frame, and the titles and formats of its columns.

use crate::prose::Prose;
use polars::prelude::{Column, DataFrame};
use std::collections::HashMap;
use std::sync::LazyLock;
use warpmem_analysis::{
    Digits, MarkupColumn, column_to_strings, digits, latex, markdown, metric, polars, table_to_csv,
};
use warpmem_record::{ColumnInfo, schema};

/// Largest number of rows shown in a report; the CSV has all.
pub const SHOWN_ROWS: usize = 300;

/// Rows under headings.
pub struct Table {
    /// Anchor, and file name without extension.
    pub name: String,
    pub title: String,
    pub headings: Vec<Heading>,
    /// Whether the table is collapsed, if the output format supports it.
    pub is_folded: bool,
    /// Note on omitted columns, shown below the table.
    pub left_out: Option<Prose>,
    frame: DataFrame,
}

/// Title and format of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    pub title: String,
    /// Unit of the values as shown; empty for names.
    pub unit: String,
    /// Definition in one sentence; empty if the title suffices.
    pub definition: String,
    pub digits: Option<Digits>,
    pub is_number: bool,
}

impl Table {
    /// Makes a table whose columns are described by their names, as in the tables of runs and in
    /// the analysis.
    pub fn new(name: impl Into<String>, title: impl Into<String>, frame: DataFrame) -> Table {
        let headings = frame.columns().iter().map(Heading::of).collect();
        let (name, title) = (name.into(), title.into());
        Table { name, title, headings, is_folded: false, left_out: None, frame }
    }

    pub fn folded(mut self) -> Table {
        self.is_folded = true;
        self
    }

    /// Gives all numeric columns the unit, digits and definition of one metric under their own
    /// titles: a table with a column per policy holds a single metric.
    pub fn of_metric(mut self, name: &str) -> Table {
        let of = Heading::of_name(name);
        for heading in self.headings.iter_mut().filter(|heading| heading.is_number) {
            *heading = Heading { title: std::mem::take(&mut heading.title), ..of.clone() };
        }
        self
    }

    /// Describes a numeric column that only this table has.
    pub fn describe(&mut self, column: &str, unit: &str, definition: &str, decimals: u8) {
        self.describe_as(column, unit, definition, Digits::Decimals(decimals));
    }

    /// Describes a column of fractions that only this table has.
    pub fn describe_percent(&mut self, column: &str, definition: &str) {
        self.describe_as(column, "%", definition, Digits::Percent(1));
    }

    fn describe_as(&mut self, column: &str, unit: &str, definition: &str, digits: Digits) {
        let at = self.frame.get_column_index(column);
        let heading = at.and_then(|at| self.headings.get_mut(at));
        debug_assert!(heading.is_some(), "{}: {column}", self.name);
        if let Some(heading) = heading {
            heading.unit = unit.to_owned();
            heading.definition = definition.to_owned();
            heading.digits = Some(digits);
        }
    }

    pub fn rows(&self) -> usize {
        self.frame.height()
    }

    /// Returns the shown values of the first [`SHOWN_ROWS`] rows.
    pub fn shown(&self) -> anyhow::Result<Vec<Vec<String>>> {
        self.cells(&self.frame.head(Some(SHOWN_ROWS)))
    }

    fn cells(&self, head: &DataFrame) -> anyhow::Result<Vec<Vec<String>>> {
        let columns = head.columns().iter().zip(&self.headings);
        let columns = columns
            .map(|(column, heading)| Ok(column_to_strings(column, heading.digits)?))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let row = |row: usize| columns.iter().map(|column| column[row].clone()).collect();
        Ok((0..head.height()).map(row).collect())
    }

    /// Returns all rows as CSV with full precision.
    pub fn csv(&self) -> anyhow::Result<String> {
        Ok(table_to_csv(&self.frame)?)
    }

    /// Returns all rows as a table of LaTeX, with the digits of the report.
    pub fn latex(&self) -> anyhow::Result<String> {
        Ok(latex(&self.columns(), &self.cells(&self.frame)?))
    }

    /// Returns all rows as a table of Markdown, with the digits of the report.
    pub fn markdown(&self) -> anyhow::Result<String> {
        Ok(markdown(&self.columns(), &self.cells(&self.frame)?))
    }

    /// Describes the columns for markup.
    pub fn columns(&self) -> Vec<MarkupColumn> {
        let column = |heading: &Heading| MarkupColumn {
            title: heading.title.clone(),
            unit: heading.unit.clone(),
            is_number: heading.is_number,
        };
        self.headings.iter().map(column).collect()
    }
}

impl Heading {
    fn of(column: &Column) -> Heading {
        let is_number = column.dtype().is_primitive_numeric();
        Heading { is_number, ..Heading::of_name(column.name()) }
    }

    /// Returns the description of a column, by its name.
    pub fn of_name(name: &str) -> Heading {
        static KNOWN: LazyLock<HashMap<String, ColumnInfo>> = LazyLock::new(columns_of_runs);
        let (metric, column) = (metric(name), KNOWN.get(name));
        let definition = column.map(|c| c.doc.as_str()).or(metric.map(|m| m.definition));
        let stored = column.map(|c| c.unit).or(metric.map(|m| m.unit)).unwrap_or_default();
        let of_column = column.and_then(|column| digits_of_unit(column.unit));
        let digits = metric.map(|metric| metric.digits).or(of_column).or_else(|| digits(name));
        let title = metric.map_or_else(|| spelled(name), |m| m.title.to_owned());
        let unit = match digits {
            Some(Digits::Percent(_)) => "%",
            _ if stored.eq_ignore_ascii_case(&title) => "",
            _ => stored,
        };
        Heading {
            title,
            unit: unit.to_owned(),
            definition: definition.unwrap_or_default().to_owned(),
            digits,
            is_number: true,
        }
    }
}

/// Spells a column's name as prose, without the unit that some names contain: `DRAM scheduler`,
/// `energy read`.
pub fn spelled(name: &str) -> String {
    let words = name.split('_').filter(|word| !["nj", "pj", "w"].contains(word));
    let words = words.map(|word| match word {
        "blp" | "cta" | "dram" | "gpu" | "ipc" | "l1" | "l2" | "mshr" | "sm" => {
            word.to_ascii_uppercase()
        }
        "ctas" => "CTAs".to_owned(),
        "sms" => "SMs".to_owned(),
        word => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the format of a metric that has none of its own: the same digits in all rows, so that
/// decimal points are aligned.
fn digits_of_unit(unit: &str) -> Option<Digits> {
    match unit {
        "fraction" => Some(Digits::Percent(1)),
        unit if unit.contains("cycles") => Some(Digits::Decimals(1)),
        _ => None,
    }
}

fn columns_of_runs() -> HashMap<String, ColumnInfo> {
    let tables = schema().into_iter().filter(|table| table.name == "runs");
    tables.flat_map(|table| table.columns).map(|column| (column.name.clone(), column)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_analysis::polars::prelude::df;

    #[test]
    fn columns_are_described_by_their_names() {
        let heading = |name| Heading::of_name(name);
        assert_eq!(heading("waiting_ratio").unit, "%");
        assert_eq!(heading("row_hit_rate").title, "row hits");
        assert_eq!(heading("dram_bandwidth").title, "DRAM bandwidth");
        assert_eq!(heading("warp_instructions").unit, "", "the title says it");
        assert_eq!(heading("l1_miss_rate_reduction").digits, Some(Digits::Percent(1)));
        assert_eq!(heading("energy_pj_per_bit").title, "energy per bit");
        assert_eq!(heading("gpu_power_w").title, "GPU power");
        assert_eq!(heading("latency_l2").digits, Some(Digits::Decimals(1)));
    }

    #[test]
    fn a_long_table_shows_its_first_rows_and_keeps_all() {
        let rows = SHOWN_ROWS as i64 + 5;
        let table = Table::new("t", "T", df!("cycles" => (0..rows).collect::<Vec<_>>()).unwrap());
        assert_eq!(table.shown().unwrap().len(), SHOWN_ROWS);
        assert_eq!(table.csv().unwrap().lines().count(), 1 + rows as usize);
        assert_eq!(table.latex().unwrap().lines().count(), 8 + rows as usize);
        assert_eq!(table.markdown().unwrap().lines().count(), 2 + rows as usize);
    }
}
