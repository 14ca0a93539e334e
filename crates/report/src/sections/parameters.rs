//! Effects of machine parameters.

use crate::columns::{IS_BASELINE, POLICY};
use crate::document::Section;
use crate::frame::{distinct, is_one_of, names};
use crate::limits::Shown;
use crate::prose::Prose;
use crate::study::Study;
use crate::table::Table;
use polars::prelude::*;
use warpmem_analysis::{means, parameters, polars};
use warpmem_chart::{Axis, Chart, Kind, Lines};
use warpmem_text::counted;

/// Column of the IPC divided by the reference's.
const RELATIVE: &str = "relative IPC";
/// Column of the reference's IPC, if there is one.
const REFERENCE: &str = "IPC of the reference";
/// Values whose largest is at least this many times the smallest have a logarithmic axis.
const WIDE: f64 = 16.0;
/// Parameters that are drawn.
const CHARTS: usize = 12;

pub fn section(study: &Study, _shown: &Shown) -> anyhow::Result<Section> {
    let section = Section::new("parameters", "Sensitivity to parameters of the machine");
    let machines = Varied::on_machines(study)?;
    let lines = machines.iter().flat_map(|varied| varied.keys.iter().map(move |key| (varied, key)));
    let lines: Vec<(&Varied, &String)> = lines.collect();
    if lines.is_empty() {
        let why = "No number among the parameters of a machine varies between runs.";
        return Ok(section.note(Prose::new(why)));
    }
    let mut section = section.text(introduction(study));
    for varied in &machines {
        if let Some(note) = varied.without_reference(study)? {
            section = section.note(note);
        }
    }
    let mut ranges = Vec::new();
    for (at, (varied, key)) in lines.iter().enumerate() {
        let line = varied.line(study, key)?;
        ranges.push(range(study, varied, key, &line));
        let is_empty = line.column(RELATIVE)?.null_count() == line.height();
        if at < CHARTS && !is_empty {
            section = section.figure(varied.chart(study, key, &line)?);
        }
    }
    if let Some(more) = lines.len().checked_sub(CHARTS).filter(|more| *more > 0) {
        section = section.note(Prose::new(format!(
            "{} are in the table alone.",
            counted(more, "more parameter")
        )));
    }
    Ok(section.table(table(ranges)?))
}

fn introduction(study: &Study) -> Prose {
    Prose::new("IPC over that of the same workload on the same machine with ")
        .code(study.baseline())
        .words(in_first_setting(study))
        .words(": ")
        .words(study.mean.name())
        .words(" means over workloads. The other parameters have the same values as there. If no two runs of a machine agree in these, as in a Latin hypercube, the mean is over runs with all values.")
}

/// In words, the setting of the reference: that of the first run, unless the baseline's name states
/// it.
fn in_first_setting(study: &Study) -> &'static str {
    if study.compares_overrides() { "" } else { " in the first setting" }
}

/// Runs of a machine, and its numeric parameters that vary between them.
struct Varied {
    machine: String,
    runs: DataFrame,
    keys: Vec<String>,
    /// Includes parameters that are not numbers.
    all: Vec<String>,
    /// A run with the parameters of the reference.
    first: usize,
}

impl Varied {
    fn on_machines(study: &Study) -> anyhow::Result<Vec<Varied>> {
        let runs = parameters(study.runs.clone().lazy())?.collect()?;
        let of_machine = |machine| Varied::on_machine(study, &runs, machine);
        distinct(&runs, "machine")?.into_iter().map(of_machine).collect()
    }

    fn on_machine(study: &Study, runs: &DataFrame, machine: String) -> anyhow::Result<Varied> {
        let is_its = is_one_of("machine", std::slice::from_ref(&machine));
        let runs = runs.clone().lazy().filter(is_its).collect()?;
        let column = |name: &str| runs.column(name).ok();
        let is_new = |name: &&str| !study.runs.schema().contains(name);
        let varies = |name: &&str| column(name).is_some_and(|c| c.n_unique().is_ok_and(|n| n > 1));
        let is_number =
            |name: &&String| column(name).is_some_and(|c| c.dtype().is_primitive_numeric());
        let all: Vec<String> =
            names(&runs).filter(is_new).filter(varies).map(str::to_owned).collect();
        let keys = all.iter().filter(is_number).cloned().collect();
        let baseline = runs.column(IS_BASELINE)?.bool()?.first_true_idx();
        let first = baseline.filter(|_| study.compares_overrides()).unwrap_or(0);
        Varied { machine, runs, keys, all, first }.beside_reference(study)
    }

    /// Adds a column of the IPC divided by that of the baseline in the first setting; null where
    /// that was not run.
    fn beside_reference(mut self, study: &Study) -> anyhow::Result<Varied> {
        let keys: Vec<Expr> = ["trace"].into_iter().chain(study.held_slots()).map(col).collect();
        let first = self.as_first(self.all.iter())?.lazy().filter(col(IS_BASELINE));
        let reference =
            first.group_by_stable(&keys).agg([col("ipc_thread").first().alias(REFERENCE)]);
        let mut join = JoinArgs::new(JoinType::Left);
        join.maintain_order = MaintainOrderJoin::Left;
        let ratio = when(col(REFERENCE).gt(lit(0.0)))
            .then(col("ipc_thread") / col(REFERENCE))
            .otherwise(lit(NULL));
        let joined = self.runs.lazy().join(reference, &keys, &keys, join);
        self.runs = joined.with_columns([ratio.alias(RELATIVE)]).collect()?;
        Ok(self)
    }

    /// The runs whose `keys` equal those of the first.
    fn as_first<'a>(&self, keys: impl Iterator<Item = &'a String>) -> anyhow::Result<DataFrame> {
        let mut runs = self.runs.clone();
        for key in keys {
            let values = runs.column(key)?;
            let first = self.runs.column(key)?.new_from_index(self.first, values.len());
            runs = runs.filter(&values.equal_missing(&first)?)?;
        }
        Ok(runs)
    }

    /// Number of runs that no mean includes.
    fn without_reference(&self, study: &Study) -> anyhow::Result<Option<Prose>> {
        let without = self.runs.column(REFERENCE)?.null_count();
        if self.keys.is_empty() || without == 0 {
            return Ok(None);
        }
        let runs = counted(self.runs.height(), "run");
        let prose = Prose::new(format!("{without} of {runs} on "))
            .code(&self.machine)
            .words(" are in no mean: there is no run of ")
            .code(study.baseline_on(&self.machine))
            .words(in_first_setting(study))
            .words(" beside them.");
        Ok(Some(prose))
    }

    /// The mean IPC by the value of `key` and the policy.
    fn line(&self, study: &Study, key: &str) -> anyhow::Result<DataFrame> {
        let held = self.as_first(self.all.iter().filter(|other| *other != key))?;
        let runs = if held.column(key)?.n_unique()? > 1 { held } else { self.runs.clone() };
        let line = means(runs.lazy(), &[key, series(study)], &[RELATIVE], study.mean)?;
        Ok(line.sort([key], SortMultipleOptions::default().with_maintain_order(true)).collect()?)
    }

    fn chart(&self, study: &Study, key: &str, line: &DataFrame) -> anyhow::Result<Chart> {
        let values = line.column(key)?.cast(&DataType::Float64)?;
        let least = values.f64()?.min().unwrap_or(0.0);
        let most = values.f64()?.max().unwrap_or(0.0);
        let x = Axis::new(key, "");
        let x = if least > 0.0 && most / least >= WIDE { x.log() } else { x };
        let lines = Lines::new(key, RELATIVE, series(study), x, Axis::new("relative IPC", ""));
        let (on, file) = match study.has_machines() {
            true => {
                (format!(" on {}", self.machine), format!("-{}", super::file_name(&self.machine)))
            }
            false => (String::new(), String::new()),
        };
        let caption = format!(
            "IPC{on} over that of {}{}, by {key}: {} means over workloads.",
            study.baseline_on(&self.machine),
            in_first_setting(study),
            study.mean.name()
        );
        Ok(Chart::new(
            format!("parameter-{}{file}", super::file_name(key)),
            format!("Sensitivity to {key}{on}"),
            caption,
            line.select([key, series(study), RELATIVE])?,
            Kind::Lines(lines.reference(1.0)),
        ))
    }
}

/// The column that distinguishes the lines of a chart.
fn series(study: &Study) -> &'static str {
    if study.is_of_overrides() { "machine" } else { POLICY }
}

/// A row per policy: the first and last value of the parameter, and the mean IPC at each.
fn range(study: &Study, varied: &Varied, key: &str, line: &DataFrame) -> LazyFrame {
    let relative = || col(RELATIVE);
    let is_told = study.has_machines() && series(study) != "machine";
    let machine = is_told.then(|| lit(varied.machine.as_str()).first().alias("machine"));
    let ranges = [
        lit(key).first().alias("parameter"),
        col(key).cast(DataType::Float64).min().alias("from"),
        col(key).cast(DataType::Float64).max().alias("to"),
        relative().min().alias("least"),
        relative().max().alias("most"),
        ((relative().max() - relative().min()) / relative().min()).alias("span"),
    ];
    let ranges: Vec<Expr> = machine.into_iter().chain(ranges).collect();
    line.clone().lazy().group_by_stable([col(series(study))]).agg(ranges)
}

fn table(ranges: Vec<LazyFrame>) -> anyhow::Result<Table> {
    let frame = concat(ranges, UnionArgs::default())?.collect()?;
    let mut table = Table::new("sensitivity", "Range of the mean IPC over each parameter", frame);
    table.describe("from", "", "Least value of the parameter.", 0);
    table.describe("to", "", "Greatest value of the parameter.", 0);
    table.describe(
        "least",
        "× reference",
        "Least mean IPC over the values of the parameter, over that of the reference.",
        3,
    );
    table.describe(
        "most",
        "× reference",
        "Greatest mean IPC over the values of the parameter, over that of the reference.",
        3,
    );
    table.describe_percent("span", "By how much the greatest mean IPC is above the least.");
    Ok(table)
}
