//! Frames and comparisons as aligned terminal text.

use std::collections::HashSet;

use polars::prelude::{Column, DataFrame};
use unicode_width::UnicodeWidthStr;

use crate::cell::column_cells;
use crate::compare::Comparison;
use crate::error::Result;
use crate::frame::{labels, names, strings};
use crate::grid::{Align, Grid, Heading, Row};
use crate::means::MEANS;
use crate::metric::{Digits, Metric, digits, metric};
use crate::overrides::places;

/// Headings for [`MEANS`].
const SHORT_MEANS: [&str; MEANS.len()] = ["arith.", "geom.", "harm."];

/// Formats the rows of a frame as an aligned table. Columns that do not fit in `width` terminal
/// columns follow below, after a repeated first column.
///
/// # Errors
/// If a column is of a type that tables do not hold.
pub fn table_to_string(frame: &DataFrame, width: usize) -> Result<String> {
    let columns = frame.columns();
    let cells = columns.iter().map(shown).collect::<Result<Vec<_>>>()?;
    let rows = (0..frame.height())
        .map(|row| Row::Cells(cells.iter().map(|column| column[row].clone()).collect()));
    let grid = Grid { columns: columns.iter().map(name_and_unit).collect(), rows: rows.collect() };
    Ok(grid.render(width))
}

/// Formats a frame transposed: one line per column, with its unit, and one value column per row.
/// For tables with many columns and few rows.
///
/// # Errors
/// As [`table_to_string`].
pub fn record_to_string(frame: &DataFrame, width: usize) -> Result<String> {
    let left = || Heading { lines: Vec::new(), align: Align::Left };
    let value = || Heading { lines: Vec::new(), align: Align::Right };
    let mut rows = Vec::new();
    for column in frame.columns() {
        let label = match unit(column.name()) {
            None | Some("") => column.name().to_string(),
            Some(unit) => format!("{} ({unit})", column.name()),
        };
        rows.push(Row::Cells([label].into_iter().chain(shown(column)?).collect()));
    }
    let columns = [left()].into_iter().chain((0..frame.height()).map(|_| value())).collect();
    Ok(Grid { columns, rows }.render(width))
}

/// Formats the values of a column for display: with `digits`, or else four significant digits; a
/// dash for null.
///
/// # Errors
/// As [`table_to_string`].
pub fn column_to_strings(column: &Column, digits: Option<Digits>) -> Result<Vec<String>> {
    Ok(column_cells(column)?.iter().map(|cell| cell.to_display(digits)).collect())
}

fn shown(column: &Column) -> Result<Vec<String>> {
    column_to_strings(column, digits(column.name()))
}

fn align(column: &Column) -> Align {
    if column.dtype().is_primitive_numeric() { Align::Right } else { Align::Left }
}

fn name_and_unit(column: &Column) -> Heading {
    let mut lines = vec![column.name().to_string()];
    lines.extend(unit(column.name()).map(str::to_owned));
    Heading { lines, align: align(column) }
}

/// Returns the unit in which a column is shown.
fn unit(name: &str) -> Option<&'static str> {
    let of_metric = metric(name).map(Metric::shown_unit);
    of_metric.or_else(|| matches!(digits(name), Some(Digits::Percent(_))).then_some("%"))
}

impl Comparison {
    /// Formats a block of lines per workload, then one per machine with the means, for a terminal
    /// of `width` columns.
    ///
    /// # Errors
    /// If the dataframe engine fails.
    pub fn to_text(&self, width: usize) -> Result<String> {
        let note = format!(
            "IPC ratio: against {} on the same trace and machine. Other means are arithmetic. \
             A value that does not exist (–) is left out of a mean.{}",
            self.baseline(),
            self.mixed().iter().map(|how| format!(" Mixed: {how}.")).collect::<String>()
        );
        let workloads = self.workload_grid()?.render(width);
        let means = self.mean_grid()?.render(width);
        Ok(format!("{workloads}\n{means}\n{}\n", wrapped(&note, width)))
    }

    /// Returns the heading and format of a metric: the lines of its heading, the unit last, and its
    /// digits.
    fn look(&self, name: &str) -> (Vec<String>, Option<Digits>) {
        const PERCENT: Digits = Digits::Percent(1);
        let (title, unit, digits) = match (metric(name), self.units.get(name)) {
            (Some(metric), _) => (metric.title, metric.shown_unit(), Some(metric.digits)),
            (None, Some(unit)) if unit == "fraction" => (name, "%", Some(PERCENT)),
            (None, Some(unit)) => (name, unit.as_str(), None),
            (None, None) if digits(name) == Some(PERCENT) => (name, "%", Some(PERCENT)),
            (None, None) => (name, "", digits(name)),
        };
        let lines = title.split([' ', '_']).map(str::to_owned).chain([unit.to_owned()]);
        (lines.collect(), digits)
    }

    fn headings(&self, values: &[&str]) -> Vec<Heading> {
        let policy = Heading { lines: vec![self.policy_heading()], align: Align::Left };
        let value = |name: &&str| Heading { lines: self.look(name).0, align: Align::Right };
        [policy].into_iter().chain(values.iter().map(value)).collect()
    }

    /// Returns the heading of the policy column: the slots, if there is more than one.
    fn policy_heading(&self) -> String {
        if self.slots().len() > 1 { self.slots().join("/") } else { "policy".to_owned() }
    }

    fn shown_columns(&self, frame: &DataFrame, names: &[&str]) -> Result<Vec<Vec<String>>> {
        let shown = |name: &&str| column_to_strings(frame.column(name)?, self.look(name).1);
        names.iter().map(shown).collect()
    }

    fn workload_grid(&self) -> Result<Grid> {
        let frame = self.rows();
        let values: Vec<&str> = names(frame).skip_while(|name| *name != "ipc_thread").collect();
        let (machines, traces) = (places(frame, self.slots())?, strings(frame, "trace")?);
        let policies = labels(frame, self.slots())?;
        let cells = self.shown_columns(frame, &values)?;
        let mut grid = Grid { columns: self.headings(&values), rows: Vec::new() };
        let mut block = None;
        for (row, policy) in policies.iter().enumerate() {
            let workload = (&traces[row], &machines[row]);
            if block.replace(workload) != Some(workload) {
                grid.rows.push(Row::Title(format!("{} on {}", workload.0, workload.1)));
            }
            grid.rows.push(line(policy, cells.iter().map(|column| &column[row])));
        }
        Ok(grid)
    }

    fn workloads_on(&self, machine: &str) -> Result<usize> {
        let machines = places(self.rows(), self.slots())?.into_iter();
        let runs = machines.zip(strings(self.rows(), "trace")?);
        let traces = runs.filter(|run| run.0 == machine).map(|run| run.1);
        Ok(traces.collect::<HashSet<_>>().len())
    }

    /// Formats one line per policy: the three means of the ratio side by side, then the means of
    /// the other metrics.
    fn mean_grid(&self) -> Result<Grid> {
        let frame = self.means();
        let values: Vec<&str> =
            names(frame).skip_while(|name| *name != "ipc_ratio").skip(1).collect();
        let machines = places(frame, self.slots())?;
        let policies = labels(frame, self.slots())?;
        let workloads: Vec<_> = frame.column("workloads")?.u32()?.iter().flatten().collect();
        let ratios = shown(frame.column("ipc_ratio")?)?;
        let cells = self.shown_columns(frame, &values)?;
        let mut columns = self.headings(&values);
        columns.splice(1..1, SHORT_MEANS.map(mean_heading));
        let mut grid = Grid { columns, rows: Vec::new() };
        for row in (0..frame.height()).step_by(MEANS.len()) {
            let all = self.workloads_on(&machines[row])?;
            if row == 0 || machines[row] != machines[row - 1] {
                let plural = if all == 1 { "" } else { "s" };
                let title = format!("means of {all} workload{plural} on {}", machines[row]);
                grid.rows.push(Row::Title(title));
            }
            let policy = match workloads[row] as usize {
                some if some < all => format!("{} ({some} of {all})", policies[row]),
                _ => policies[row].clone(),
            };
            let means = ratios[row..row + MEANS.len()].iter();
            grid.rows.push(line(&policy, means.chain(cells.iter().map(|column| &column[row]))));
        }
        Ok(grid)
    }
}

fn mean_heading(mean: &str) -> Heading {
    let lines = ["IPC", "ratio", mean].map(str::to_owned).to_vec();
    Heading { lines, align: Align::Right }
}

fn line<'a>(policy: &str, values: impl Iterator<Item = &'a String>) -> Row {
    Row::Cells([format!("  {policy}")].into_iter().chain(values.cloned()).collect())
}

/// Breaks lines between words so that none exceeds `width`, unless a single word does.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}
