//! Comparisons as aligned terminal text.

use std::collections::HashSet;

use unicode_width::UnicodeWidthStr;

use crate::cell::Cell;
use crate::compare::{Comparison, IPC_RATIO};
use crate::grid::{Align, Grid, Heading, Row};
use crate::keys::trace_of;
use crate::means::MEANS;
use crate::metric::{Digits, digits, metric};

/// Headings for [`MEANS`].
const SHORT_MEANS: [&str; MEANS.len()] = ["arith.", "geom.", "harm."];

impl Comparison {
    /// Formats a block of lines per workload, then one per machine with the means, for a terminal
    /// of `width` columns.
    pub fn to_text(&self, width: usize) -> String {
        let note = format!(
            "IPC ratio: against {} on the same trace and machine. Other means are arithmetic. \
             A value that does not exist (–) is left out of a mean.{}",
            self.baseline(),
            self.mixed().iter().map(|how| format!(" Mixed: {how}.")).collect::<String>()
        );
        let workloads = self.workload_grid().render(width);
        let means = self.mean_grid().render(width);
        format!("{workloads}\n{means}\n{}\n", wrapped(&note, width))
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

    fn headings(&self, values: &[String]) -> Vec<Heading> {
        let policy = Heading { lines: vec![self.policy_heading()], align: Align::Left };
        let value = |name: &String| Heading { lines: self.look(name).0, align: Align::Right };
        [policy].into_iter().chain(values.iter().map(value)).collect()
    }

    /// Returns the heading of the policy column: the slots, if there is more than one.
    fn policy_heading(&self) -> String {
        if self.slots().len() > 1 { self.slots().join("/") } else { "policy".to_owned() }
    }

    fn digits_of(&self, values: &[String]) -> Vec<Option<Digits>> {
        values.iter().map(|name| self.look(name).1).collect()
    }

    fn workload_grid(&self) -> Grid {
        let digits = self.digits_of(&self.values);
        let mut grid = Grid { columns: self.headings(&self.values), rows: Vec::new() };
        let mut block = None;
        for row in &self.rows {
            let workload = (trace_of(&row.keys), self.keys.place(&row.keys));
            if block.as_ref() != Some(&workload) {
                grid.rows.push(Row::Title(format!("{} on {}", workload.0, workload.1)));
                block = Some(workload);
            }
            let policy = self.keys.policy(&row.keys);
            grid.rows.push(line(&policy, row.values.iter().zip(&digits)));
        }
        grid
    }

    fn workloads_on(&self, place: &str) -> usize {
        let there = self.rows.iter().filter(|row| self.keys.place(&row.keys) == place);
        there.map(|row| trace_of(&row.keys)).collect::<HashSet<_>>().len()
    }

    /// Formats one line per policy: the three means of the ratio side by side, then the means of
    /// the other metrics.
    fn mean_grid(&self) -> Grid {
        let metrics = self.metrics();
        let digits: Vec<Option<Digits>> =
            [digits(IPC_RATIO); MEANS.len()].into_iter().chain(self.digits_of(metrics)).collect();
        let mut columns = self.headings(metrics);
        columns.splice(1..1, SHORT_MEANS.map(mean_heading));
        let mut grid = Grid { columns, rows: Vec::new() };
        let mut block = (String::new(), 0);
        for means in &self.means {
            let keys = &self.rows[means.rows[0]].keys;
            let place = self.keys.place(keys);
            if grid.rows.is_empty() || block.0 != place {
                let all = self.workloads_on(&place);
                let plural = if all == 1 { "" } else { "s" };
                grid.rows.push(Row::Title(format!("means of {all} workload{plural} on {place}")));
                block = (place, all);
            }
            let all = block.1;
            let policy = match (self.keys.policy(keys), means.workloads) {
                (policy, some) if some < all => format!("{policy} ({some} of {all})"),
                (policy, _) => policy,
            };
            let values = means.ratios.iter().chain(&means.metrics);
            grid.rows.push(line(&policy, values.zip(&digits)));
        }
        grid
    }
}

fn mean_heading(mean: &str) -> Heading {
    let lines = ["IPC", "ratio", mean].map(str::to_owned).to_vec();
    Heading { lines, align: Align::Right }
}

fn line<'a>(
    policy: &str,
    values: impl Iterator<Item = (&'a Option<f64>, &'a Option<Digits>)>,
) -> Row {
    let values = values.map(|(value, digits)| Cell::float(*value).to_display(*digits));
    Row::Cells([format!("  {policy}")].into_iter().chain(values).collect())
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
