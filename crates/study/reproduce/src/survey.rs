//! Surveys: the effect of every policy, by class of workloads.

use crate::error::Result;
use crate::line::signed;
use crate::noise::Measured;
use crate::report;
use crate::samples::Samples;
use crate::study::Study;
use std::collections::BTreeMap;
use std::path::Path;
use warpmem_analysis::polars::df;
use warpmem_analysis::polars::prelude::{Column, DataFrame};
use warpmem_analysis::write_csv;
use warpmem_report::{Prose, Section, Table};
use warpmem_study::reproduce::{Mean, Paper, Runs, Shown, Survey, Surveyed};

/// File name of the table.
const FILE: &str = "survey.csv";
/// Metrics besides IPC: name, column of `runs`.
const OTHERS: [(&str, &str); 2] = [("energy", "energy_nj"), ("fairness", "warp_fairness")];

/// Effect of a policy, %.
#[derive(Clone, Debug)]
pub struct Change {
    pub surveyed: Surveyed,
    /// Change of IPC, geometric means: over all workloads, then over each class; none for a class
    /// without workloads.
    pub ipc: Vec<Option<Measured>>,
    /// Changes of DRAM energy and of fairness among warps, geometric means over all workloads.
    pub others: [Option<Measured>; OTHERS.len()],
    /// Workload with the lowest IPC relative to its own, and the change.
    pub worst: Option<(String, f64)>,
    /// Workload with the highest.
    pub best: Option<(String, f64)>,
}

/// Computes the change of every policy of a survey, in its order.
///
/// # Errors
/// If an expression does not fit the results.
pub fn changes(paper: &Paper, survey: &Survey, study: &Study) -> Result<Vec<Change>> {
    let all = paper.surveyed()?.into_iter();
    all.map(|surveyed| change(paper, survey, study, surveyed)).collect()
}

fn change(paper: &Paper, survey: &Survey, study: &Study, surveyed: Surveyed) -> Result<Change> {
    let scheme = surveyed.scheme();
    let runs = |metric: &str, classes: &[String]| Runs {
        of: scheme.clone(),
        over: Some(survey.plain.clone()),
        with: BTreeMap::new(),
        metric: metric.to_owned(),
        value: None,
        classes: classes.to_vec(),
        than: None,
        mean: Mean::Geometric,
    };
    let of = |runs: &Runs| -> Result<Option<Measured>> {
        Ok(Samples::of(paper, study, runs)?.mean(runs.mean, Shown::Change))
    };
    let ipc = "ipc_thread";
    let classes = survey.classes.iter().map(|class| vec![class.clone()]);
    let classes = [Vec::new()].into_iter().chain(classes);
    let by_class = classes.map(|classes| of(&runs(ipc, &classes))).collect::<Result<_>>()?;
    let [energy, fairness] = OTHERS.map(|(_, metric)| of(&runs(metric, &[])));
    let each = Samples::of(paper, study, &runs(ipc, &[]))?;
    let each = each.measured_each(Shown::Change);
    let each: Vec<(String, f64)> =
        each.map(|(workload, measured)| (workload, measured.mean)).collect();
    let least = each.iter().min_by(|one, other| one.1.total_cmp(&other.1));
    let greatest = each.iter().max_by(|one, other| one.1.total_cmp(&other.1));
    Ok(Change {
        surveyed,
        ipc: by_class,
        others: [energy?, fairness?],
        worst: least.cloned(),
        best: greatest.cloned(),
    })
}

/// Returns the headings of the changes of IPC.
fn columns(survey: &Survey) -> impl Iterator<Item = (usize, &str)> {
    ["all"].into_iter().chain(survey.classes.iter().map(String::as_str)).enumerate()
}

/// Makes a frame with a row for each policy; changes in %.
///
/// # Errors
/// If the dataframe engine fails.
pub fn survey_frame(survey: &Survey, changes: &[Change]) -> Result<DataFrame> {
    let mut frame = df!(
        "slot" => changes.iter().map(|one| one.surveyed.slot).collect::<Vec<_>>(),
        "policy" => changes.iter().map(|one| one.surveyed.policy).collect::<Vec<_>>(),
    )?;
    let mut add = |name: &str, of: &dyn Fn(&Change) -> Option<Measured>| -> Result<()> {
        let numbers: Vec<Option<f64>> =
            changes.iter().map(|one| of(one).map(|measured| measured.mean)).collect();
        let noises: Vec<Option<f64>> =
            changes.iter().map(|one| of(one).and_then(|measured| measured.noise)).collect();
        frame.with_column(Column::new(name.into(), numbers))?;
        frame.with_column(Column::new(format!("{name}_noise").into(), noises))?;
        Ok(())
    };
    for (at, class) in columns(survey) {
        add(&format!("ipc_{class}"), &|one| one.ipc[at])?;
    }
    for (at, (name, _)) in OTHERS.into_iter().enumerate() {
        add(name, &|one| one.others[at])?;
    }
    let named = |of: fn(&Change) -> &Option<(String, f64)>| {
        let names = changes.iter().map(move |one| of(one).as_ref().map(|worst| worst.0.clone()));
        let numbers = changes.iter().map(move |one| of(one).as_ref().map(|worst| worst.1));
        (names.collect::<Vec<_>>(), numbers.collect::<Vec<_>>())
    };
    for (name, of) in [("worst", named(|one| &one.worst)), ("best", named(|one| &one.best))] {
        frame.with_column(Column::new(format!("{name}_workload").into(), of.0))?;
        frame.with_column(Column::new(name.into(), of.1))?;
    }
    Ok(frame)
}

/// Makes the frame for display: changes with their noise.
///
/// # Errors
/// If the dataframe engine fails.
pub fn survey_shown(survey: &Survey, changes: &[Change]) -> Result<DataFrame> {
    let mut names: Vec<String> = vec!["slot".to_owned(), "policy".to_owned()];
    names.extend(columns(survey).map(|(_, class)| class.to_owned()));
    names.extend(OTHERS.map(|(name, _)| name.to_owned()));
    names.extend(["worst".to_owned(), "best".to_owned()]);
    let rows: Vec<Vec<String>> = changes.iter().map(cells).collect();
    let column = |(at, name): (usize, &String)| {
        let cells: Vec<&str> = rows.iter().map(|row| row[at].as_str()).collect();
        Column::new(name.as_str().into(), cells)
    };
    let columns: Vec<Column> = names.iter().enumerate().map(column).collect();
    Ok(DataFrame::new(rows.len(), columns)?)
}

fn cells(change: &Change) -> Vec<String> {
    let measured = |measured: &Option<Measured>| match measured {
        None => "–".to_owned(),
        Some(Measured { mean, noise: None }) => format!("{} %", signed(*mean)),
        Some(Measured { mean, noise: Some(noise) }) => format!("{} ± {noise:.1} %", signed(*mean)),
    };
    let extreme = |extreme: &Option<(String, f64)>| match extreme {
        None => "–".to_owned(),
        Some((workload, change)) => format!("{} % {workload}", signed(*change)),
    };
    let Change { surveyed, ipc, others, worst, best } = change;
    let mut cells = vec![surveyed.slot.to_owned(), surveyed.policy.to_owned()];
    cells.extend(ipc.iter().chain(others).map(measured));
    cells.extend([extreme(worst), extreme(best)]);
    cells
}

/// Writes the table as CSV, and a page with it.
///
/// # Errors
/// If a file cannot be written.
pub fn write_survey(
    paper: &Paper,
    survey: &Survey,
    changes: &[Change],
    study: &Study,
    directory: &Path,
) -> Result<()> {
    write_csv(&survey_frame(survey, changes)?, directory.join(FILE))?;
    let about = "IPC, geometric mean over all workloads and over each class; DRAM energy and fairness among warps, over all. Changes relative to the machine's own policy, with half of their 95 % interval over irrelevant variants of the machine.";
    let table = Table::new("survey", "Changes", survey_shown(survey, changes)?);
    let names = study.workloads();
    let classes: Vec<String> = names.iter().map(|name| study.classes().of(name)).collect();
    let workloads = df!("workload" => names, "classes" => classes)?;
    let sections = vec![
        Section::new("survey", "Changes").text(Prose::new(about)).table(table),
        Section::new("workloads", "Workloads").table(Table::new(
            "workloads",
            "Workloads",
            workloads,
        )),
    ];
    report::page(paper, sections, Vec::new(), directory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::Classes;

    /// Makes two workloads under the machine's own scheduler and under `fcfs`.
    fn study() -> Study {
        let schemes = ["own", "own", "dram_scheduler: fcfs", "dram_scheduler: fcfs"];
        let runs = df!(
            "workload" => ["a", "b", "a", "b"],
            "configuration" => schemes,
            "ipc_thread" => [4.0, 1.0, 2.0, 2.0],
            "energy_nj" => [1.0, 1.0, 1.1, 1.1],
            "warp_fairness" => [0.5, 0.5, 0.25, 0.25],
        );
        Study::new(runs.unwrap()).unwrap().classified(Classes::known(&[("a", "HIL"), ("b", "LIL")]))
    }

    #[test]
    fn policies_report_class_means_and_the_worst_workload() {
        let paper = warpmem_study::reproduce::find("survey").unwrap();
        let survey = paper.survey.clone().unwrap();
        let changes = changes(&paper, &survey, &study()).unwrap();
        let fcfs = changes.iter().find(|one| one.surveyed.policy == "fcfs").unwrap();
        let of = |at: usize| fcfs.ipc[at].map(|measured| measured.mean.round());
        assert_eq!((of(0), of(1), of(2), of(3)), (Some(0.0), None, Some(100.0), Some(-50.0)));
        assert_eq!(fcfs.worst, Some(("a".to_owned(), -50.0)));
        assert_eq!(fcfs.best, Some(("b".to_owned(), 100.0)));
        assert_eq!(fcfs.others.map(|one| one.unwrap().mean.round()), [10.0, -50.0]);
        let frame = survey_frame(&survey, &changes).unwrap();
        assert_eq!(frame.height(), changes.len());
        assert_eq!(frame.column("ipc_insensitive").unwrap().null_count(), changes.len());
        let shown = survey_shown(&survey, &changes[..1]).unwrap();
        let worst = shown.column("worst").unwrap().str().unwrap().get(0);
        assert_eq!(worst, Some("-50.0 % a"));
    }
}
