//! Memory divergence: the spread of a load's replies, and the duration of loads.

use super::{Scope, file_name, folded_if_long, scopes};
use crate::columns::{POLICY, SETTING};
use crate::document::Section;
use crate::frame::{distinct, has_some, is_one_of, joined};
use crate::limits::Shown;
use crate::prose::Prose;
use crate::study::Study;
use crate::table::Table;
use polars::prelude::*;
use warpmem_analysis::{LOAD_TIME_PERCENTILES, divergence, load_time, polars, tail};
use warpmem_chart::{Axis, Bars, Boxes, Chart, Kind, Tails};
use warpmem_support::text::counted;

const DIVERGENCE: [&str; 8] = [
    "loads",
    "divergent_loads",
    "divergence_mean",
    "divergence_p50",
    "divergence_p90",
    "divergence_p99",
    "divergence_max",
    "in_mc_fraction",
];
/// Number of workloads whose tails are drawn.
const PANELS: usize = 12;

pub fn section(study: &Study, shown: &Shown) -> anyhow::Result<Section> {
    let section = Section::new("divergence", "Load time and divergence");
    if !has_some(&study.runs, "divergent_loads") {
        let why = "No load of any run had two or more off-chip requests, so none diverged.";
        return Ok(section.note(Prose::new(why)));
    }
    let loads = Loads::of(study)?;
    let mut section = section.text(introduction()).note(loads.source());
    for note in missing(study, &loads)? {
        section = section.note(note);
    }
    let tails = if loads.is_exact { tails(study, shown)? } else { Vec::new() };
    let scopes = scopes(study, shown)?;
    for scope in &scopes {
        section = section.figure(times(&loads, scope)?);
        if study.only_run().is_none() {
            section = section.figure(in_mc(&loads, scope)?);
        }
    }
    for scope in &scopes {
        for tail in &tails {
            section = section.figure(tail.chart(scope)?);
        }
    }
    Ok(section.table(loads.divergence(study)?).table(loads.times(study)?))
}

fn introduction() -> Prose {
    Prose::new(
        "A load diverges if it has two or more off-chip requests; this section covers only such loads. Divergence is the slowest minus the fastest turnaround of these requests. Load time is from the issue of the load until its last datum returns; it is shown relative to its mean within the run, as in [WMC Fig 5, 12], so it shows how even load times are, not how short. A DRAM scheduler can reduce only the part of the divergence that arises in the memory controller.",
    )
}

/// Describes the runs missing from this section.
fn missing(study: &Study, loads: &Loads) -> anyhow::Result<Vec<Prose>> {
    let runs = study.runs.clone().lazy().filter(diverges()).collect()?;
    let with = distinct(&runs, "trace")?;
    let without: Vec<String> =
        study.traces.iter().filter(|trace| !with.contains(trace)).cloned().collect();
    let mut notes = Vec::new();
    if !without.is_empty() {
        let why = "Workloads without divergent loads are omitted: ";
        notes.push(Prose::new(why).codes(without).words("."));
    }
    let unrecorded = runs.height().saturating_sub(loads.frame.height());
    if unrecorded > 0 {
        let count = counted(unrecorded, "run");
        notes.push(Prose::new(format!("Loads of {count} were not recorded.")));
    }
    Ok(notes)
}

fn diverges() -> Expr {
    col("divergent_loads").gt(lit(0))
}

/// Percentiles of each run, from the rows of single loads if present, otherwise from the histograms
/// of `runs`.
struct Loads {
    frame: DataFrame,
    is_exact: bool,
}

impl Loads {
    fn of(study: &Study) -> anyhow::Result<Loads> {
        let is_exact = study.results.has("loads")?;
        let frame = if is_exact { from_loads(study)? } else { from_runs(study)? };
        let frame = frame.lazy().filter(diverges()).collect()?;
        Ok(Loads { frame, is_exact })
    }

    fn source(&self) -> Prose {
        match self.is_exact {
            true => Prose::new("Percentiles are exact, from the rows of ").code("loads").words("."),
            false => Prose::new(
                "Percentiles are from histograms, within 1.6 %: single loads were not recorded (",
            )
            .code("loads = true")
            .words(" in a plan does), so there are no tails."),
        }
    }

    fn divergence(&self, study: &Study) -> anyhow::Result<Table> {
        let title = "Divergence of loads, in each run";
        let mut table = self.table(study, "loads", title, DIVERGENCE.map(str::to_owned))?;
        for percentile in ["p50", "p90", "p99"] {
            let definition = format!("Divergence: percentile {}.", &percentile[1..]);
            table.describe(&format!("divergence_{percentile}"), "core cycles", &definition, 0);
        }
        Ok(table)
    }

    fn times(&self, study: &Study) -> anyhow::Result<Table> {
        let title = "Times of loads that diverge, in each run";
        let columns = ["load_time_mean".to_owned()].into_iter().chain(times_of_mean());
        let mut table = self.table(study, "load-times", title, columns)?;
        for name in times_of_mean() {
            let definition = "Load time of divergent loads, over its mean within the run.";
            table.describe(&name, "× mean", definition, 2);
        }
        Ok(table)
    }

    fn table(
        &self,
        study: &Study,
        name: &str,
        title: &str,
        columns: impl IntoIterator<Item = String>,
    ) -> anyhow::Result<Table> {
        let columns = study.keys().into_iter().map(str::to_owned).chain(columns);
        let table = Table::new(name, title, self.frame.select(columns)?);
        Ok(folded_if_long(table))
    }
}

fn times_of_mean() -> impl Iterator<Item = String> {
    let percentiles = LOAD_TIME_PERCENTILES.map(|percent| format!("load_time_p{percent}"));
    percentiles.into_iter().chain(["load_time_max".to_owned()])
}

fn from_loads(study: &Study) -> anyhow::Result<DataFrame> {
    let results = &study.results;
    let divergence = results.by_run("loads", divergence)?;
    let time = results.by_run("loads", load_time)?;
    let time = time.drop(by_name(["divergent_loads"], true, false));
    let key = [col("run_id")];
    let mut join = JoinArgs::new(JoinType::Left);
    join.maintain_order = MaintainOrderJoin::Left;
    let named = study.names_by_id().join(divergence, &key, &key, join.clone());
    Ok(named.join(time, &key, &key, join).collect()?)
}

fn from_runs(study: &Study) -> anyhow::Result<DataFrame> {
    let over_mean = |name: String| {
        let mean = col("load_time_mean");
        when(mean.clone().gt(lit(0.0))).then(col(&name) / mean).otherwise(lit(NULL)).alias(&name)
    };
    let runs = study.runs.clone().lazy();
    Ok(runs.with_columns(times_of_mean().map(over_mean).collect::<Vec<_>>()).collect()?)
}

/// Rows of the runs in a scope.
fn within(frame: &DataFrame, scope: &Scope) -> anyhow::Result<DataFrame> {
    let ids = scope.runs.column("run_id")?.as_materialized_series().clone();
    let is_within = col("run_id").is_in(lit(ids).implode(true), false);
    Ok(frame.clone().lazy().filter(is_within).collect()?)
}

fn times(loads: &Loads, scope: &Scope) -> anyhow::Result<Chart> {
    let columns = ["trace", POLICY].map(str::to_owned).into_iter().chain(times_of_mean());
    let data = within(&loads.frame, scope)?.select(columns)?;
    let axis = Axis::new("load time over its mean", "").log();
    let boxes = Boxes::of("load_time", "trace", POLICY, axis).reference(1.0);
    let caption = format!(
        "Load times{}: percentiles 1, 25, 50, 75 and 99, and the longest as a dot, over the mean of the run.",
        scope.on
    );
    Ok(Chart::new(
        format!("load-time{}", scope.file),
        "Load time over its mean",
        caption,
        data,
        Kind::Boxes(boxes),
    ))
}

/// Share of each shown run's divergent loads at or above each value.
struct LoadTail {
    column: &'static str,
    called: &'static str,
    points: DataFrame,
    left_out: usize,
}

fn tails(study: &Study, shown: &Shown) -> anyhow::Result<Vec<LoadTail>> {
    let traces = &shown.traces[..shown.traces.len().min(PANELS)];
    let is_drawn = [(SETTING, &shown.settings[..]), ("trace", traces), (POLICY, &shown.policies)];
    let is_drawn = is_drawn.map(|(column, values)| is_one_of(column, values));
    let is_drawn = is_drawn.into_iter().fold(diverges(), Expr::and);
    let names = study.runs.clone().lazy().filter(is_drawn);
    let names = names.select(["run_id", "trace", POLICY].map(col)).collect()?;
    let tail_of = |(column, called)| {
        // Includes runs that are not drawn: filtering each row by its run would be slower.
        let of_run = |loads: LazyFrame, keys: &[&str]| {
            tail(loads.filter(col("divergence").is_not_null()), column, keys)
        };
        let points = study.results.by_run("loads", of_run)?;
        let points = joined(names.clone().lazy(), points, "run_id")?;
        Ok(LoadTail { column, called, points, left_out: shown.traces.len() - traces.len() })
    };
    [("load_time", "load time"), ("divergence", "divergence")].into_iter().map(tail_of).collect()
}

impl LoadTail {
    fn chart(&self, scope: &Scope) -> anyhow::Result<Chart> {
        let LoadTail { column, called, .. } = *self;
        let data = within(&self.points, scope)?.drop("run_id")?;
        let axis = Axis::new(called, "core cycles");
        let kind = Tails::new(column, "share", POLICY, axis).panels("trace");
        let left_out = match self.left_out {
            0 => String::new(),
            more => format!(" {} are left out.", counted(more, "workload")),
        };
        let caption = format!(
            "Share of the divergent loads whose {called} is at least this long, by workload{}.{left_out}",
            scope.on
        );
        let name = format!("{}-tail{}", file_name(column), scope.file);
        Ok(Chart::new(name, format!("Tail of the {called}"), caption, data, Kind::Tails(kind)))
    }
}

fn in_mc(loads: &Loads, scope: &Scope) -> anyhow::Result<Chart> {
    let data = within(&loads.frame, scope)?.select(["trace", POLICY, "in_mc_fraction"])?;
    let axis = Axis::percent("divergence that arises in the controller");
    let bars = Bars::new("trace", POLICY, "in_mc_fraction", axis);
    let caption = format!(
        "Fraction of the divergence{} that arises between entering the queue of a memory controller and the last datum: ratio of sums over the loads of a run.",
        scope.on
    );
    let (name, title) =
        (format!("in-controller{}", scope.file), "Divergence that arises in the memory controller");
    Ok(Chart::new(name, title, caption, data, Kind::Bars(bars)))
}
