//! `reproduce all`: every paper, and the parts of the page of their results.

use super::{Args, Printed, definitions, lines, of_effects, scope, workloads};
use crate::cli::output::note;
use crate::study::reproduce::{self, Paper, find, names};
use crate::study::sweep::Case;
use anyhow::Context;
use chrono::{DateTime, Utc};
use std::fs;
use std::path::Path;
use std::time::SystemTime;
use warpmem_analysis::polars::prelude::DataFrame;
use warpmem_analysis::{Results, table_to_csv, table_to_json};
use warpmem_report::Table;
use warpmem_report::markdown::rows;
use warpmem_reproduce::{
    Effects, Judged, Place, headline, of_kernels, overview, part, plan, renewed,
};
use warpmem_support::files::staged;
use warpmem_support::text::{aligned, counted};

/// Name that means every paper.
pub const NAME: &str = "all";

/// Name of the part of the page with the outcomes of all papers.
const RESULTS: &str = "results";

/// Name of the part of the page with the combinations of policies, and of their description.
const COMBINED: &str = "combined";

/// Limit of warp instructions per launch in a quick run of every paper.
const QUICK_INSTRUCTIONS: u32 = 10_000;
/// CPU seconds of a quick run of every paper, which two cores halve.
const QUICK_SECONDS: f64 = 180.0;

/// CPU seconds of a run: of a quick one, and of another.
const SECONDS: [f64; 2] = [0.17, 0.8];
/// Duration of a run on a mesh or a ring relative to a crossbar.
const TOPOLOGY: f64 = 2.5;
/// CPU seconds of a map.
const MAP_SECONDS: f64 = 100.0;
/// CPU seconds of the combinations of policies.
const COMBINED_SECONDS: f64 = 400.0;

/// Reproduces every paper, and renews the page; returns the text to print.
///
/// # Errors
/// If a run fails, or results cannot be written.
pub fn reproduce(args: &Args, place: &Place<'_>) -> anyhow::Result<String> {
    anyhow::ensure!(!args.map, "`{NAME}` maps every paper unless it is quick; leave out --map");
    let page = args.page.as_deref().map(read).transpose()?;
    let papers = papers(args)?;
    if let Some(page) = &page {
        let names = part_names(args, &papers).into_iter();
        renewed(page, &names.map(|name| (name, String::new())).collect::<Vec<_>>())?;
    }
    note(&expectation(args, &papers, place.jobs)?);
    let mut judged = Vec::new();
    for paper in &papers {
        let folder = place.part(&paper.name);
        let place = place.within(&folder);
        let found = Judged::of(paper, &place, &workloads(args, paper, &place)?)?;
        if args.output.is_some() {
            found.write(paper, &folder)?;
        }
        judged.push((paper, found));
    }
    let findings: Vec<_> =
        judged.iter().map(|(paper, found)| (paper.name.as_str(), &found.findings[..])).collect();
    let overview = overview(&findings)?;
    if let (Some(path), Some(text)) = (&args.page, page) {
        let mut parts = vec![(RESULTS.to_owned(), of_all(args, &overview)?)];
        for (paper, found) in &judged {
            parts.push((paper.name.clone(), part(&found.results(paper))?));
        }
        if !args.quick {
            parts.extend(maps(&papers, place)?);
            parts.push((COMBINED.to_owned(), combinations(args, place)?));
        }
        let text = renewed(&text, &parts)?;
        staged::write(path, |partial| Ok(fs::write(partial, &text)?))?;
    }
    Ok(match args.format {
        Printed::Table => {
            let sentence = |(name, of): &(&str, &[_])| Some(format!("{name}: {}\n", headline(of)?));
            let sentences: String = findings.iter().filter_map(sentence).collect();
            let table = aligned(&lines(&overview)?, &[]);
            format!("{sentences}\n{table}\n{}", definitions())
        }
        Printed::Json => table_to_json(&overview)?,
        Printed::Csv => table_to_csv(&overview)?,
        Printed::Markdown => rows(&Table::new(RESULTS, "", overview))?,
    })
}

/// Returns the names of the parts of the page.
fn part_names(args: &Args, papers: &[Paper]) -> Vec<String> {
    let own = papers.iter().map(|paper| paper.name.clone());
    let mut names: Vec<String> = [RESULTS.to_owned()].into_iter().chain(own).collect();
    if !args.quick {
        names.extend(papers.iter().filter(|paper| paper.map.is_some()).map(map_name));
        names.push(COMBINED.to_owned());
    }
    names
}

fn map_name(paper: &Paper) -> String {
    format!("map {}", paper.name)
}

/// Returns the papers with claims, in the size of the options. In a quick run, each keeps the
/// workloads that fit its share of the time, spread over the quick ones.
fn papers(args: &Args) -> anyhow::Result<Vec<Paper>> {
    let all = names().map(find).collect::<Result<Vec<_>, _>>()?;
    let is_paper = |paper: &Paper| paper.survey.is_none() && paper.factorial.is_none();
    let all: Vec<Paper> =
        all.into_iter().filter(is_paper).map(|paper| scope(args).of(paper)).collect();
    if !args.quick {
        return Ok(all);
    }
    let share = QUICK_SECONDS / all.len() as f64;
    let shortened = |paper: Paper| -> anyhow::Result<Paper> {
        let limit = args.launch_instructions.unwrap_or(QUICK_INSTRUCTIONS);
        let mut paper = paper.ending_launches_after(limit);
        let most = (share / seconds_of_workload(args, &paper)?) as usize;
        paper.workloads.quick = spread(&paper.workloads.quick, most.max(1));
        Ok(paper)
    };
    all.into_iter().map(shortened).collect()
}

/// Picks at most `count` items at equal distances.
fn spread(items: &[String], count: usize) -> Vec<String> {
    let count = count.min(items.len());
    (0..count).map(|at| items[at * items.len() / count].clone()).collect()
}

/// Estimates the CPU seconds of a paper's runs on one workload.
fn seconds_of_workload(args: &Args, paper: &Paper) -> anyhow::Result<f64> {
    let (plan, _) = plan(paper, &[])?;
    let is_slow = |case: &&Case| case.policies.contains_key("topology");
    let slow = plan.cases.iter().filter(is_slow).count() as f64;
    let others = plan.cases.len() as f64 - slow;
    Ok(SECONDS[usize::from(!args.quick)] * (others + TOPOLOGY * slow))
}

/// Formats the number of runs and the expected duration.
fn expectation(args: &Args, papers: &[Paper], jobs: usize) -> anyhow::Result<String> {
    let (mut runs, mut seconds) = (0, 0.0);
    for paper in papers {
        let workloads = match (&args.programs, args.traces.is_empty()) {
            (Some(folder), _) => paper.captured(folder, paper.program_size())?.traces.len(),
            (None, true) => paper.workloads()?.len(),
            (None, false) => args.traces.len(),
        };
        runs += plan(paper, &[])?.0.cases.len() * workloads;
        seconds += seconds_of_workload(args, paper)? * workloads as f64;
    }
    if !args.quick && args.page.is_some() {
        seconds += MAP_SECONDS * papers.len() as f64 + COMBINED_SECONDS;
    }
    let minutes = (seconds / 60.0 / jobs as f64).ceil();
    Ok(format!(
        "{} of {}: about {} on {}",
        counted(runs, "run"),
        counted(papers.len(), "paper"),
        counted(minutes as usize, "minute"),
        counted(jobs, "core"),
    ))
}

fn read(path: &Path) -> anyhow::Result<String> {
    let shown = path.display();
    fs::read_to_string(path).with_context(|| format!("failed to read the page {shown}"))
}

/// Formats the date and the kind of the runs, and the outcomes of every paper.
fn of_all(args: &Args, overview: &DataFrame) -> anyhow::Result<String> {
    let today = DateTime::<Utc>::from(SystemTime::now()).format("%-d %B %Y");
    let workloads = match (&args.programs, args.quick) {
        (Some(_), _) => "the papers' programs",
        (None, true) => "a few generated kernels",
        (None, false) => "generated kernels",
    };
    let size = args.size.map(|size| format!(", size `{}`", reproduce::Size::from(size).name()));
    Ok(format!(
        "Runs of {today}, version {}: {workloads}{}.\n\n{}",
        env!("CARGO_PKG_VERSION"),
        size.unwrap_or_default(),
        rows(&Table::new(RESULTS, "", overview.clone()))?
    ))
}

/// Maps every paper.
fn maps(papers: &[Paper], place: &Place<'_>) -> anyhow::Result<Vec<(String, String)>> {
    let mut parts = Vec::new();
    for paper in papers {
        let Some(map) = &paper.map else { continue };
        let folder = place.part(&paper.name);
        let grid = of_kernels(paper, map, &place.within(&folder))?.rows(map);
        parts.push((map_name(paper), markdown(&grid)));
    }
    Ok(parts)
}

/// Formats rows, the first of which are headings, in Markdown.
fn markdown(rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let Some((headings, cells)) = rows.split_first() else { return String::new() };
    let rule: Vec<String> = headings.iter().map(|_| "---:".to_owned()).collect();
    let lines = cells.iter().map(|cells| line(cells));
    [line(headings), line(&rule)].into_iter().chain(lines).collect()
}

/// Runs the combinations of policies, and formats their effects.
fn combinations(args: &Args, place: &Place<'_>) -> anyhow::Result<String> {
    let paper = scope(args).of(find(COMBINED)?);
    let factorial = paper.factorial.as_ref().context("`combined` combines nothing")?;
    let folder = place.part(&paper.name);
    let place = place.within(&folder);
    let traces = place.generated(&paper, &paper.workloads()?)?;
    place.run_factorial(&paper, factorial, &traces)?;
    of_effects(&Effects::of(&paper, factorial, &Results::open(&folder)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_workloads_are_spread_over_all() {
        let all: Vec<String> = ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
        assert_eq!(spread(&all, 2), ["a", "c"]);
        assert_eq!(spread(&all, 9), all);
        assert_eq!(spread(&all, 1), ["a"]);
    }

    #[test]
    fn maps_are_tables_in_markdown() {
        let of = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let text = markdown(&[of(["y \\ x", "1"]), of(["2", "+3 %"])]);
        assert_eq!(text, "| y \\ x | 1 |\n| ---: | ---: |\n| 2 | +3 % |\n");
    }
}
