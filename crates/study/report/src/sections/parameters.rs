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
use warpmem_chart::{Axis, Bars, Chart, Kind, Lines};
use warpmem_support::text::counted;

/// Column of the IPC divided by the reference's.
const RELATIVE: &str = "relative IPC";
/// Column of the reference's IPC, if there is one.
const REFERENCE: &str = "IPC of the reference";
/// Column of the relative change of IPC over the reference.
const CHANGE: &str = "change of IPC";
/// Column of the range of IPC over a parameter's values.
const SPAN: &str = "span";
/// Smallest difference attributed to a policy.
const SMALL: f64 = 0.001;
/// Ratio of the largest to the smallest value from which the axis is logarithmic.
const WIDE: f64 = 16.0;
/// Number of parameters that are drawn.
const CHARTS: usize = 12;

pub fn section(study: &Study, _shown: &Shown) -> anyhow::Result<Section> {
    let section = Section::new("parameters", "Sensitivity");
    let machines = Varied::on_machines(study)?;
    let lines = machines.iter().flat_map(|varied| varied.keys.iter().map(move |key| (varied, key)));
    let lines: Vec<(&Varied, &String)> = lines.collect();
    if lines.is_empty() {
        let why = "No parameter of a machine varies between its runs.";
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
        ranges.push(range(study, varied, key, &line)?);
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
    Prose::new("IPC relative to the same workload on the same machine with ")
        .code(study.baseline())
        .words(in_first_setting(study))
        .words(": ")
        .words(study.mean.name())
        .words(" means over workloads. The other parameters have the reference's values. If no two runs of a machine agree in these, as in a Latin hypercube, the mean is over runs with all values.")
}

/// Describes the setting of the reference: that of the first run, unless the baseline's name states
/// it.
fn in_first_setting(study: &Study) -> &'static str {
    if study.compares_overrides() { "" } else { " in the first setting" }
}

/// Runs of a machine, and the parameters that vary between them.
struct Varied {
    machine: String,
    runs: DataFrame,
    keys: Vec<String>,
    /// Index of a run with the reference's parameters.
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
        let keys: Vec<String> =
            names(&runs).filter(is_new).filter(varies).map(str::to_owned).collect();
        let baseline = runs.column(IS_BASELINE)?.bool()?.first_true_idx();
        let first = baseline.filter(|_| study.compares_overrides()).unwrap_or(0);
        Varied { machine, runs, keys, first }.beside_reference(study)
    }

    /// Adds a column of the IPC divided by that of the baseline in the first setting; null if that
    /// did not run.
    fn beside_reference(mut self, study: &Study) -> anyhow::Result<Varied> {
        let keys: Vec<Expr> = ["trace"].into_iter().chain(study.held_slots()).map(col).collect();
        let first = self.as_first(self.keys.iter())?.lazy().filter(col(IS_BASELINE));
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

    /// Returns the runs whose `keys` equal those of the first.
    fn as_first<'a>(&self, keys: impl Iterator<Item = &'a String>) -> anyhow::Result<DataFrame> {
        let mut runs = self.runs.clone();
        for key in keys {
            let values = runs.column(key)?;
            let first = self.runs.column(key)?.new_from_index(self.first, values.len());
            runs = runs.filter(&values.equal_missing(&first)?)?;
        }
        Ok(runs)
    }

    /// Returns the number of runs included in no mean.
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

    /// Returns whether the values of `key` are numbers; otherwise they are names.
    fn is_number(&self, key: &str) -> bool {
        self.runs.column(key).is_ok_and(|column| column.dtype().is_primitive_numeric())
    }

    /// Returns the mean IPC by value of `key` and by policy; numeric values ascend, names keep the order of the runs.
    fn line(&self, study: &Study, key: &str) -> anyhow::Result<DataFrame> {
        let held = self.as_first(self.keys.iter().filter(|other| *other != key))?;
        let runs = if held.column(key)?.n_unique()? > 1 { held } else { self.runs.clone() };
        let line = means(runs.lazy(), &[key, series(study)], &[RELATIVE], study.mean)?;
        let order = SortMultipleOptions::default().with_maintain_order(true);
        Ok(if self.is_number(key) { line.sort([key], order) } else { line }.collect()?)
    }

    fn chart(&self, study: &Study, key: &str, line: &DataFrame) -> anyhow::Result<Chart> {
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
        let data = line.select([key, series(study), RELATIVE])?;
        let (data, kind) = match self.is_number(key) {
            true => (data, lines(study, key, line)?),
            false => bars(study, key, data)?,
        };
        Ok(Chart::new(
            format!("parameter-{}{file}", super::file_name(key)),
            format!("Sensitivity to {key}{on}"),
            caption,
            data,
            kind,
        ))
    }
}

/// Draws lines over the values of a numeric parameter.
fn lines(study: &Study, key: &str, line: &DataFrame) -> anyhow::Result<Kind> {
    let values = line.column(key)?.cast(&DataType::Float64)?;
    let least = values.f64()?.min().unwrap_or(0.0);
    let most = values.f64()?.max().unwrap_or(0.0);
    let x = Axis::new(key, "");
    let x = if least > 0.0 && most / least >= WIDE { x.log() } else { x };
    let lines = Lines::new(key, RELATIVE, series(study), x, Axis::new("relative IPC", ""));
    Ok(Kind::Lines(lines.reference(1.0)))
}

/// Draws bars over the values of a named parameter; bars begin at no change, because bars of ratios
/// would hide small differences.
fn bars(study: &Study, key: &str, line: DataFrame) -> anyhow::Result<(DataFrame, Kind)> {
    let change = (col(RELATIVE) - lit(1.0)).alias(CHANGE);
    let keys = [key, series(study)].map(col);
    let data = line.lazy().select([&keys[..], &[change]].concat()).collect()?;
    let bars = Bars::new(key, series(study), CHANGE, Axis::percent(CHANGE));
    Ok((data, Kind::Bars(bars.across(key))))
}

/// Returns the column that distinguishes the lines of a chart.
fn series(study: &Study) -> &'static str {
    if study.is_of_overrides() { "machine" } else { POLICY }
}

/// Computes a row per policy: the values of the parameter, and those with the lowest and the
/// highest mean IPC.
fn range(study: &Study, varied: &Varied, key: &str, line: &DataFrame) -> anyhow::Result<LazyFrame> {
    let relative = || col(RELATIVE);
    let is_told = study.has_machines() && series(study) != "machine";
    let machine = is_told.then(|| lit(varied.machine.as_str()).first().alias("machine"));
    let order = SortMultipleOptions::default().with_maintain_order(true);
    let values = col(key).cast(DataType::String).sort_by([relative()], order);
    let ranges = [
        lit(key).first().alias("parameter"),
        lit(values_in_words(varied, key)?).first().alias("values"),
        relative().min().alias("least"),
        values.clone().first().alias("least with"),
        relative().max().alias("most"),
        values.last().alias("most with"),
        ((relative().max() - relative().min()) / relative().min()).alias(SPAN),
    ];
    let ranges: Vec<Expr> = machine.into_iter().chain(ranges).collect();
    let line = line.clone().lazy().filter(relative().is_not_null());
    Ok(line.group_by_stable([col(series(study))]).agg(ranges))
}

/// Describes the values: `16 to 64`, or all names.
fn values_in_words(varied: &Varied, key: &str) -> anyhow::Result<String> {
    let column = varied.runs.column(key)?;
    let unique = match varied.is_number(key) {
        true => column.unique()?.sort(SortOptions::default())?,
        false => column.unique_stable()?,
    };
    let text = unique.drop_nulls().cast(&DataType::String)?;
    let values: Vec<&str> = text.str()?.iter().flatten().collect();
    Ok(match values.as_slice() {
        [first, .., last] if varied.is_number(key) => format!("{first} to {last}"),
        names => names.join(", "),
    })
}

/// Describes each varied parameter in a sentence: its largest effect on a policy's mean IPC.
/// Parameters are sorted by effect.
pub fn effects(study: &Study) -> anyhow::Result<Vec<Prose>> {
    let mut ranges = Vec::new();
    for varied in Varied::on_machines(study)? {
        for key in &varied.keys {
            ranges.push(range(study, &varied, key, &varied.line(study, key)?)?);
        }
    }
    if ranges.is_empty() {
        return Ok(Vec::new());
    }
    let order = SortMultipleOptions::default()
        .with_order_descending(true)
        .with_nulls_last(true)
        .with_maintain_order(true);
    let ranges = concat(ranges, UnionArgs::default())?.filter(col(SPAN).is_not_null());
    let ranges = ranges.sort([SPAN], order).collect()?;
    let parameters = distinct(&ranges, "parameter")?;
    parameters.iter().map(|parameter| effect(study, &ranges, parameter)).collect()
}

/// Describes the first range of a parameter.
fn effect(study: &Study, ranges: &DataFrame, parameter: &str) -> anyhow::Result<Prose> {
    let is_its = col("parameter").eq(lit(parameter));
    let its = ranges.clone().lazy().filter(is_its).first().collect()?;
    let text = |name: &str| -> anyhow::Result<String> {
        Ok(its.column(name)?.str()?.get(0).unwrap_or_default().to_owned())
    };
    let span = its.column(SPAN)?.f64()?.get(0).unwrap_or_default();
    let prose = Prose::default()
        .code(parameter)
        .words(format!(" changes the {} of IPC", study.mean_name()));
    if span < SMALL {
        return Ok(prose.words(" by less than 0.1 %."));
    }
    let prose = prose.words(format!(" by up to {:.1} %: ", 100.0 * span));
    let prose = prose.code(text(series(study))?);
    let prose = match its.column("machine") {
        Ok(_) if series(study) != "machine" => prose.words(" on ").code(text("machine")?),
        _ => prose,
    };
    let prose = prose.words(" is fastest with ").code(text("most with")?);
    Ok(prose.words(" and slowest with ").code(text("least with")?).words("."))
}

fn table(ranges: Vec<LazyFrame>) -> anyhow::Result<Table> {
    let frame = concat(ranges, UnionArgs::default())?.collect()?;
    let mut table = Table::new("sensitivity", "Range of the mean IPC over each parameter", frame);
    let least = "Lowest mean IPC over the values of the parameter, relative to the reference.";
    let most = "Highest mean IPC over the values of the parameter, relative to the reference.";
    table.describe("least", "× reference", least, 3);
    table.describe("most", "× reference", most, 3);
    table
        .describe_percent(SPAN, "Relative difference between the highest and the lowest mean IPC.");
    Ok(table)
}
