//! Comparisons as aligned terminal text.

use std::collections::HashSet;

use unicode_width::UnicodeWidthStr;

use crate::averages::GEOMETRIC;
use crate::cell::Cell;
use crate::compare::Comparison;
use crate::grid::{Align, Grid, Heading, Row};
use crate::interval::Estimate;
use crate::keys::trace_of;
use crate::leverage::{Leverage, measures_of, slots_of};
use crate::load::MEASURES;
use crate::means::MEANS;
use crate::metric::{Digits, digits, metric};
use crate::row::{IPC_RATIO, RATIO};
use crate::workload::{BASELINE, Workload};

/// Headings for [`MEANS`].
const SHORT_MEANS: [&str; MEANS.len()] = ["arith.", "geom.", "harm."];

impl Comparison {
    /// Formats the [findings](Comparison::findings), the use of the compared units, a block of lines per
    /// workload, then one per machine with the means, for a terminal of `width` columns.
    pub fn to_text(&self, width: usize) -> String {
        let first = |text: String| if text.is_empty() { text } else { format!("{text}\n\n") };
        let findings = self.findings();
        let findings = findings.iter().map(|sentence| wrapped(sentence, width));
        let findings = first(findings.collect::<Vec<_>>().join("\n"));
        let leverage =
            self.leverage_grid().map_or_else(String::new, |grid| grid.render(width) + "\n");
        let workloads = self.workload_grid().render(width);
        let means = self.mean_grid().render(width);
        let note = wrapped(&self.note(), width);
        format!("{findings}{leverage}{workloads}\n{means}\n{note}\n")
    }

    fn note(&self) -> String {
        let mixed = self.mixed().iter().map(|how| format!(" Mixed: {how}.")).collect::<String>();
        let repeats = match self.has_repeats() {
            true => {
                " Repeats are paired by seed and variant; their ratios are averaged geometrically."
            }
            false => "",
        };
        let interval = match self.is_noise_known() {
            true => {
                " Intervals are of 95 %, for these workloads; a ratio whose interval includes 1 is equal to the baseline's."
            }
            false => "",
        };
        let sampled = match self.is_sampled() {
            true => {
                " Intervals of sampled runs (*) pair the launches that both runs drew, and add the other errors in quadrature."
            }
            false => "",
        };
        format!(
            "IPC ratio: against {} on the same trace and machine. Other means are arithmetic. \
             A value that does not exist (–) is left out of a mean.{repeats}{interval}{sampled}{mixed}",
            self.baseline(),
        )
    }

    /// Formats the use of the units of the compared slots, a line per workload and machine; none if it is
    /// unknown or nothing is compared.
    fn leverage_grid(&self) -> Option<Grid> {
        let slots = slots_of(self.slots());
        if self.means.iter().all(|means| means.is_baseline) {
            return None;
        }
        let is_known = |at: &usize| self.leverages.iter().any(|one| one.load[*at].is_some());
        let measures: Vec<usize> = measures_of(&slots).into_iter().filter(is_known).collect();
        let ideal =
            self.leverages.iter().find_map(|one| one.bound.as_ref()).map(|(ideal, _)| ideal);
        if measures.is_empty() && ideal.is_none() {
            return None;
        }
        let left = Heading { lines: vec!["baseline".to_owned()], align: Align::Left };
        let of_measure = |&at: &usize| right(&MEASURES[at].heading);
        let of_ideal = ideal.map(|ideal| right(&["IPC ratio", ideal, "×"]));
        let columns = [left].into_iter().chain(measures.iter().map(of_measure)).chain(of_ideal);
        let line = |leverage: &Leverage| {
            let row = &self.rows[leverage.row];
            let name = format!("  {} on {}", row.repeat.workload, self.place_of(leverage));
            let value =
                |&at: &usize| Cell::float(leverage.load[at]).to_display(Some(MEASURES[at].digits));
            let bound = leverage.bound.as_ref().map(|(_, ratio)| *ratio);
            let bound = Cell::float(bound).to_display(digits(IPC_RATIO));
            let bound = ideal.map(|_| bound);
            Row::Cells([name].into_iter().chain(measures.iter().map(value)).chain(bound).collect())
        };
        let rows = self.leverages.iter().map(line);
        Some(Grid { columns: columns.collect(), rows: rows.collect() })
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
        let mut columns = self.headings(&self.values);
        let at = RATIO + 2;
        columns.splice(at..at, self.interval_headings());
        let mut grid = Grid { columns, rows: Vec::new() };
        let mut block = None;
        for workload in &self.workloads {
            let (trace, place) = (trace_of(&workload.keys), self.keys.place(&workload.keys));
            if block.as_ref() != Some(&(trace, place.clone())) {
                grid.rows
                    .push(Row::Title(format!("{trace} on {place}{}", self.repeats_of(workload))));
                block = Some((trace, place));
            }
            let policy = self.keys.policy(&workload.keys);
            let mut cells = line(&policy, workload.values.iter().zip(&digits));
            cells.splice(at..at, self.interval_cells(workload.estimate, workload.verdict()));
            grid.rows.push(Row::Cells(cells));
        }
        grid
    }

    /// Describes the repeats of a workload; empty if there are none.
    fn repeats_of(&self, workload: &Workload) -> String {
        let rows = || workload.rows.iter().map(|&at| &self.rows[at]);
        let traces = rows().map(|row| trace_of(&row.keys)).collect::<HashSet<_>>().len();
        let variants = rows().map(|row| row.repeat.variant).collect::<HashSet<_>>().len();
        match (traces, variants) {
            (1, 1) => String::new(),
            (1, variants) => format!(" ({variants} variants)"),
            (traces, 1) => format!(" ({traces} seeds)"),
            (traces, variants) => format!(" ({traces} seeds × {variants} variants)"),
        }
    }

    /// Returns the headings of the interval and the verdict; none if no interval is known.
    fn interval_headings(&self) -> Vec<Heading> {
        let headings =
            || vec![right(&["95 %", "interval", "×"]), left(&["against", "the", "baseline"])];
        if self.is_noise_known() { headings() } else { Vec::new() }
    }

    /// Returns the cells below [`Self::interval_headings`].
    fn interval_cells(&self, of: Option<Estimate>, verdict: Option<&str>) -> Vec<String> {
        if !self.is_noise_known() {
            return Vec::new();
        }
        let ratio = |value: f64| Cell::float(Some(value)).to_display(digits(IPC_RATIO));
        let bounds = of.and_then(|estimate| {
            let [low, high] = estimate.bounds().filter(|[_, high]| high.is_finite())?;
            let mark = if estimate.is_sampled() { "*" } else { "" };
            Some(format!("{}–{}{mark}", ratio(low), ratio(high)))
        });
        let (is_baseline, none) = (verdict == Some(BASELINE), || "–".to_owned());
        let bounds = bounds.filter(|_| !is_baseline).unwrap_or_else(none);
        vec![bounds, verdict.map_or_else(none, str::to_owned)]
    }

    fn workloads_on(&self, place: &str) -> usize {
        let there = self.workloads.iter().filter(|one| self.keys.place(&one.keys) == place);
        there.map(|one| trace_of(&one.keys)).collect::<HashSet<_>>().len()
    }

    /// Formats one line per policy: the three means of the ratio side by side, then the means of
    /// the other metrics.
    fn mean_grid(&self) -> Grid {
        let metrics = self.metrics();
        let digits: Vec<Option<Digits>> =
            [digits(IPC_RATIO); MEANS.len()].into_iter().chain(self.digits_of(metrics)).collect();
        let mut columns = self.headings(metrics);
        let means = SHORT_MEANS.map(|mean| right(&["IPC", "ratio", mean]));
        columns.splice(1..1, means.into_iter().chain(self.interval_headings()));
        let mut grid = Grid { columns, rows: Vec::new() };
        let mut block = (String::new(), 0);
        for means in &self.means {
            let keys = &self.workloads[means.rows[0]].keys;
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
            let mut cells = line(&policy, values.zip(&digits));
            let verdict = means.verdicts()[GEOMETRIC];
            let at = MEANS.len() + 1;
            cells.splice(at..at, self.interval_cells(means.estimates[GEOMETRIC], verdict));
            grid.rows.push(Row::Cells(cells));
        }
        grid
    }
}

fn right(lines: &[&str]) -> Heading {
    Heading { align: Align::Right, ..left(lines) }
}

fn left(lines: &[&str]) -> Heading {
    let lines = lines.iter().map(|&line| line.to_owned()).collect();
    Heading { lines, align: Align::Left }
}

fn line<'a>(
    policy: &str,
    values: impl Iterator<Item = (&'a Option<f64>, &'a Option<Digits>)>,
) -> Vec<String> {
    let values = values.map(|(value, digits)| Cell::float(*value).to_display(*digits));
    [format!("  {policy}")].into_iter().chain(values).collect()
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
