//! The papers' figures, redrawn from our runs.

use crate::claims::number;
use crate::claims::{Answer, Finding};
use crate::error::{Error, Result};
use crate::study::{Study, Value, mean};
use warpmem_analysis::polars::df;
use warpmem_analysis::polars::prelude::{Column, DataFrame};
use warpmem_chart::{Axis, Bars, Boxes, Chart, Kind, Lines, Scatter};
use warpmem_study::reproduce;
use warpmem_study::reproduce::{Drawn, Figure, Many, Metrics, Ours, Paper, Runs, Shown};

/// Names of the columns of a figure's data.
const CATEGORY: &str = "category";
const SERIES: &str = "series";
const X: &str = "x";
const VALUE: &str = "value";

/// Draws every figure of a paper, and one of all published numbers next to ours.
///
/// # Errors
/// If an expression does not fit the results.
pub fn draw(paper: &Paper, study: &Study, findings: &[Finding]) -> Result<Vec<Chart>> {
    let figures = paper.figures.iter().map(|figure| {
        let chart = drawn(paper, study, figure);
        chart.map_err(|source| Error::Figure {
            figure: figure.name.clone(),
            source: Box::new(source),
        })
    });
    let mut charts = figures.collect::<Result<Vec<_>>>()?;
    if let Some(chart) = beside(findings)? {
        charts.insert(0, chart);
    }
    Ok(charts)
}

fn drawn(paper: &Paper, study: &Study, figure: &Figure) -> Result<Chart> {
    match &figure.drawn {
        Drawn::Bars(bars) => of_many(paper, study, figure, bars),
        Drawn::Metrics(metrics) => of_metrics(study, figure, metrics),
        Drawn::Lines(lines) => of_lines(paper, study, figure, lines),
        Drawn::Scatter(scatter) => of_points(study, figure, scatter),
        Drawn::LoadTimes(times) => of_load_times(study, figure, times),
    }
}

/// Makes a chart with the title and labels of the figure.
fn chart(figure: &Figure, caption: &str, data: DataFrame, kind: Kind) -> Chart {
    let caption = format!("After {}. {caption}", figure.source);
    Chart::new(figure.name.clone(), figure.title.clone(), caption, data, kind)
}

/// Rows of a figure's data: category, series and value.
#[derive(Default)]
struct Rows {
    category: Vec<String>,
    series: Vec<String>,
    value: Vec<Option<f64>>,
}

impl Rows {
    fn push(&mut self, category: &str, series: &str, value: Option<f64>) {
        self.category.push(category.to_owned());
        self.series.push(series.to_owned());
        self.value.push(value);
    }

    fn frame(self) -> Result<DataFrame> {
        Ok(df!(CATEGORY => self.category, SERIES => self.series, VALUE => self.value)?)
    }
}

/// Returns the name of the series of published means.
fn published(name: &str) -> String {
    format!("{name}, published")
}

/// Returns the classes for which a figure shows means: those of the paper's claim about classes,
/// unless the figure covers only some classes.
fn classes(paper: &Paper, runs: &Runs) -> Vec<String> {
    let listed = paper.claims.iter().find_map(|claim| match &claim.ours {
        Ours::Classes(classes) => Some(classes),
        _ => None,
    });
    let is_shown = |class: &&String| runs.classes.is_empty() || runs.classes.contains(class);
    listed.map_or_else(Vec::new, |listed| listed.iter().filter(is_shown).cloned().collect())
}

fn of_many(paper: &Paper, study: &Study, figure: &Figure, bars: &Many) -> Result<Chart> {
    let classes = classes(paper, &bars.runs);
    let mut rows = Rows::default();
    let mut means = Rows::default();
    for runs in bars.each() {
        let values = study.values(&runs)?;
        for Value { workload, value, .. } in &values {
            rows.push(workload, &runs.of, *value);
        }
        for (name, found) in means_of(study, &classes, &values, &runs) {
            means.push(&name, &runs.of, found);
        }
        if let Some(number) = bars.published.get(&runs.of) {
            means.push(MEAN, &published(&runs.of), Some(*number));
        }
    }
    let apart: Vec<String> = means.category.clone();
    let data = by_workload(study, &rows).frame()?.vstack(&means.frame()?)?;
    let axis = Axis::new(&figure.label, "");
    let mut kind = Bars::new(CATEGORY, SERIES, VALUE, axis).set_apart(apart);
    if let Some(reference) = bars.reference {
        kind = kind.reference(reference);
    }
    let caption = format!("Means are {}.", bars.runs.mean.name());
    Ok(chart(figure, &caption, data, Kind::Bars(kind)))
}

/// Category of the mean over everything drawn.
const MEAN: &str = "mean";

/// Computes the means of each class that has workloads, and of all workloads.
fn means_of(
    study: &Study,
    classes: &[String],
    values: &[Value],
    runs: &Runs,
) -> Vec<(String, Option<f64>)> {
    let of_class = |class: &String| {
        let is_in =
            |value: &&Value| study.classes().holds(std::slice::from_ref(class), &value.workload);
        let own: Vec<Value> = values.iter().filter(is_in).cloned().collect();
        (format!("{MEAN} {class}"), mean(&own, runs.mean))
    };
    let several = if classes.len() > 1 { classes } else { &[] };
    let of_classes = several.iter().map(of_class).filter(|(_, found)| found.is_some());
    of_classes.chain([(MEAN.to_owned(), mean(values, runs.mean))]).collect()
}

/// Sorts the rows by workload.
fn by_workload(study: &Study, rows: &Rows) -> Rows {
    let place = |name: &String| study.workloads().iter().position(|known| known == name);
    let mut order: Vec<usize> = (0..rows.category.len()).collect();
    order.sort_by_key(|&at| place(&rows.category[at]));
    let mut sorted = Rows::default();
    for at in order {
        sorted.push(&rows.category[at], &rows.series[at], rows.value[at]);
    }
    sorted
}

fn of_metrics(study: &Study, figure: &Figure, metrics: &Metrics) -> Result<Chart> {
    let mut rows = Rows::default();
    for (name, runs) in metrics.each() {
        if let Some(number) = metrics.published.get(name) {
            rows.push(name, "published", Some(*number));
        }
        rows.push(name, "ours", mean(&study.values(&runs)?, runs.mean));
    }
    let mut kind = Bars::new(CATEGORY, SERIES, VALUE, Axis::new(&figure.label, ""));
    if let Some(reference) = metrics.reference {
        kind = kind.reference(reference);
    }
    let caption = format!("Means over workloads are {}.", metrics.runs.mean.name());
    Ok(chart(figure, &caption, rows.frame()?, Kind::Bars(kind)))
}

fn of_lines(
    paper: &Paper,
    study: &Study,
    figure: &Figure,
    lines: &reproduce::Lines,
) -> Result<Chart> {
    let (mut x, mut rows) = (Vec::new(), Rows::default());
    for line in &lines.lines {
        let runs = line.runs(&lines.runs);
        for (value, runs) in runs.swept(paper.swept(&lines.setting)) {
            x.push(number(value)?);
            rows.push(value, &line.name, mean(&study.values(&runs)?, runs.mean));
        }
    }
    let data = df!(X => x, SERIES => rows.series, VALUE => rows.value)?;
    let label = paper.settings.get(&lines.setting).map_or("", |setting| &setting.label);
    let y = Axis::new(&figure.label, "");
    let kind = Lines::new(X, VALUE, SERIES, Axis::new(label, ""), y);
    let caption = format!("Means over workloads are {}.", lines.runs.mean.name());
    Ok(chart(figure, &caption, data, Kind::Lines(kind)))
}

fn of_points(study: &Study, figure: &Figure, scatter: &reproduce::Scatter) -> Result<Chart> {
    let (mut x, mut rows) = (Vec::new(), Rows::default());
    for of in &scatter.of {
        let across = study.metric(of, &scatter.x)?;
        let up = study.metric(of, &scatter.y)?;
        for name in study.workloads() {
            let is_drawn = study.classes().holds(&scatter.classes, name);
            if let (true, Some(across), Some(up)) = (is_drawn, across.get(name), up.get(name)) {
                x.push(*across);
                rows.push(name, of, Some(*up));
            }
        }
    }
    let Rows { category, series, value } = rows;
    let data = df!(CATEGORY => category, SERIES => series, X => x, VALUE => value)?;
    let (across, up) = (Axis::new(&scatter.x_label, ""), Axis::new(&figure.label, ""));
    let kind = Scatter::new(X, VALUE, SERIES, across, up).group(CATEGORY);
    Ok(chart(figure, "A point is a workload.", data, Kind::Scatter(kind)))
}

/// Percentiles by their names in the columns of `runs`.
const PERCENTILES: [&str; 5] = ["p1", "p25", "p50", "p75", "p99"];

fn of_load_times(study: &Study, figure: &Figure, times: &reproduce::LoadTimes) -> Result<Chart> {
    let base = times.of.first().ok_or(Error::NoConfiguration)?;
    let base = study.metric(base, "load_time_mean")?;
    let (mut workloads, mut series) = (Vec::new(), Vec::new());
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); PERCENTILES.len() + 1];
    let mut each = Vec::new();
    for of in &times.of {
        let metric = |name: &&str| study.metric(of, &format!("load_time_{name}"));
        let percentiles = PERCENTILES.iter().chain(&["max"]).map(metric);
        each.push((of, percentiles.collect::<Result<Vec<_>>>()?));
    }
    for name in study.workloads() {
        for (of, percentiles) in &each {
            let is_drawn = study.classes().holds(&times.classes, name);
            let found = percentiles.iter().map(|known| known.get(name).copied());
            let found: Option<Vec<f64>> = found.collect();
            let (true, Some(found), Some(mean)) = (is_drawn, found, base.get(name)) else {
                continue;
            };
            workloads.push(name.clone());
            series.push((*of).clone());
            columns.iter_mut().zip(found).for_each(|(column, value)| column.push(value / mean));
        }
    }
    let mut data = df!(CATEGORY => workloads, SERIES => series)?;
    for (name, column) in PERCENTILES.iter().chain(&["max"]).zip(columns) {
        data.with_column(Column::new(format!("load_time_{name}").into(), column))?;
    }
    let axis = Axis::new(&figure.label, "").log();
    let kind = Boxes::of("load_time", CATEGORY, SERIES, axis).reference(1.0);
    Ok(chart(figure, "Percentiles 1, 25, 50, 75 and 99, and the maximum.", data, Kind::Boxes(kind)))
}

/// Draws every published numeric change next to ours.
fn beside(findings: &[Finding]) -> Result<Option<Chart>> {
    let mut rows = Rows::default();
    for Finding { claim, ours, .. } in findings {
        let is_change = claim.shown == Shown::Change;
        if let (true, Some(number), Answer::Number { shown, .. }) =
            (is_change, claim.published, ours)
        {
            rows.push(&claim.what, "published", Some(number));
            rows.push(&claim.what, "ours", Some(*shown));
        }
    }
    if rows.category.is_empty() {
        return Ok(None);
    }
    let kind = Bars::new(CATEGORY, SERIES, VALUE, Axis::new("change", "%")).horizontal();
    let (name, title) = ("published", "Published changes next to ours");
    let caption = "Means over the workloads; verdicts are in the table.";
    Ok(Some(Chart::new(name, title, caption, rows.frame()?, Kind::Bars(kind))))
}
