//! `warpmem reproduce`: the experiments of papers, with published results next to ours.

mod all;
mod map;
mod programs;
mod runs;

use self::runs::Runs;
use super::interrupt::Interrupt;
use super::output::{note, print, width};
use crate::cli::files::{InputFile, OutputFile, OutputResults};
use crate::cli::machines::{MachineName, parse_error};
use crate::cli::program_size::ProgramSize;
use crate::study::reproduce::{Paper, find, find_on, names};
use crate::study::traces::NamedTrace;
use anyhow::Context;
use clap::{ValueEnum, ValueHint};
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread::available_parallelism;
use warpmem_analysis::polars::prelude::DataFrame;
use warpmem_analysis::{table_to_csv, table_to_json, table_to_string};
use warpmem_report::Table;
use warpmem_report::markdown::rows;
use warpmem_reproduce::{
    Change, Effects, FILE, Finding, HEADINGS, LEGEND, Line, NOTE, Outcome, Place, Scope, Verdict,
    coverage, headline, legend, robustness, shown, summary, survey_shown, tabled,
};
use warpmem_support::text::aligned;

/// Run the experiments of a paper and compare its published results with ours
///
/// Replays the paper's own programs, captured into a folder, or generated workloads, on the paper's
/// machine under its policies and sweeps, and prints our result next to each published one with a
/// verdict: reproduced, same direction, null, opposite, or none. No value is fitted to a gain.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Name of the paper (see --list), or `all`: every paper, with an estimate of the duration first
    #[arg(value_name = "NAME", required_unless_present = "list")]
    name: Option<String>,
    /// Traces to replay in place of the paper's workloads, or manifests (.toml)
    #[arg(value_name = "TRACE", value_hint = ValueHint::FilePath)]
    traces: Vec<InputFile>,
    /// Folder of the paper's own programs, captured as SIZE/NAME.wmt (see NAME --list); missing
    /// ones are reported
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "traces")]
    programs: Option<InputFile>,
    /// Size of the programs, by default medium, or small with --quick; of generated workloads, by
    /// default small
    #[arg(long, value_enum)]
    size: Option<ProgramSize>,
    /// End each launch after N warp instructions, 0: never; by default 250,000 in the size
    /// paper and with --quick, otherwise never
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=4_000_000_000))]
    launch_instructions: Option<u32>,
    /// Sample every run, so that its cycles are known within SHARE (95 % interval), in place of ending
    /// launches early
    #[arg(long, value_name = "SHARE", value_parser = parse_error, conflicts_with = "launch_instructions")]
    error: Option<u32>,
    /// Machine of a survey, in place of its own: a name or a TOML file
    #[arg(long, value_name = "NAME|FILE")]
    machine: Option<MachineName>,
    /// Generate our own workloads for programs that are missing
    #[arg(long, requires = "programs")]
    stand_ins: bool,
    /// Map the paper's gain over two axes of a small kernel, and locate the traces or the programs
    /// on the map
    #[arg(long)]
    map: bool,
    /// Fewer and smaller workloads and fewer values of each sweep; takes minutes, and less than two
    /// for `all`, which then has a few workloads of each paper and no maps
    #[arg(long)]
    quick: bool,
    /// Page in Markdown whose generated parts `all` renews: `results`, one for each paper, and
    /// `map NAME` and `combined` without --quick
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    page: Option<OutputFile>,
    /// Directory for the tables, figures and a report, resumed if it exists; by default a temporary
    /// one
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    output: Option<OutputResults>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Printed::Table)]
    format: Printed,
    /// Runs at a time; by default one per processor. The results are the same with any number
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// List the papers, or the programs of a paper and the commands that capture them
    #[arg(long)]
    list: bool,
}

const AFTER_HELP: &str = "\
Examples:
  warpmem reproduce --list
  warpmem reproduce li2015 --quick
  warpmem reproduce li2015 --list
  warpmem reproduce li2015 --programs captured/ -o li/
  warpmem reproduce li2015 --map mine.wmt -o map/
  warpmem reproduce yuan2009 -o yuan/
  warpmem reproduce survey --machine h100 --programs captured/ --error 2% -o survey/
  warpmem reproduce owl2013 captured/*.wmt --format markdown
  warpmem reproduce all --quick
  warpmem reproduce all --programs captured/ --size paper -o all/ --page docs/lab/papers.md";

/// Output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Printed {
    /// Aligned text for people
    Table,
    /// An array with an object per claim
    Json,
    /// A heading and a line per claim
    Csv,
    /// A table for documents
    Markdown,
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let Some(name) = args.name.as_deref() else {
        return print(&list()?);
    };
    anyhow::ensure!(args.page.is_none() || name == all::NAME, "--page needs `{}`", all::NAME);
    anyhow::ensure!(args.machine.is_none() || name != all::NAME, "--machine needs `survey`");
    if args.list {
        let paper = scope(args).of(selected(args, name)?);
        return print(&programs::table(&paper.programs, paper.program_size()));
    }
    let temporary = args.output.is_none().then(tempfile::tempdir).transpose();
    let temporary = temporary.context("failed to create a temporary directory")?;
    let directory = match &temporary {
        Some(temporary) => temporary.path(),
        None => args.output.as_deref().unwrap_or(Path::new(".")),
    };
    let jobs = args.jobs.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let (is_temporary, interrupt) = (temporary.is_some(), Interrupt::install()?);
    let place = Place { directory, jobs, worker: &Runs { is_temporary, jobs, interrupt } };
    if name == all::NAME {
        return print(&all::reproduce(args, &place)?);
    }
    print(&reproduce(args, &scope(args).of(selected(args, name)?), &place)?)?;
    match &args.output {
        Some(output) => note(&output.join(FILE).display().to_string()),
        None => note("note: tables and figures are not kept; --output keeps them"),
    }
    Ok(())
}

/// Returns the paper `name`, on the machine of the options.
fn selected(args: &Args, name: &str) -> anyhow::Result<Paper> {
    Ok(match &args.machine {
        Some(machine) => find_on(name, machine)?,
        None => find(name)?,
    })
}

/// Returns the size and the limits of the options.
fn scope(args: &Args) -> Scope {
    Scope {
        quick: args.quick,
        size: args.size.map(Into::into),
        launch_instructions: args.launch_instructions,
        error: args.error,
    }
}

/// Opens or generates the workloads of a paper.
fn workloads(args: &Args, paper: &Paper, place: &Place<'_>) -> anyhow::Result<Vec<NamedTrace>> {
    let traces = match &args.programs {
        Some(folder) => programs::open(args, paper, folder, place)?,
        None if args.traces.is_empty() => place.generated(paper, &paper.workloads()?)?,
        None => NamedTrace::open_all(&args.traces)?,
    };
    NamedTrace::check_distinct(&traces)?;
    Ok(traces)
}

/// Runs all experiments and writes the results; returns the text to print.
fn reproduce(args: &Args, paper: &Paper, place: &Place<'_>) -> anyhow::Result<String> {
    if args.map {
        return map::reproduce(args, paper, place);
    }
    let traces = workloads(args, paper, place)?;
    let outcome = Outcome::of(paper, place, &traces)?;
    if args.output.is_some() {
        outcome.write(paper, place.directory)?;
    }
    if let Outcome::Claims(judged) = &outcome {
        note(&summary(&judged.findings));
        coverage(paper).iter().for_each(|sentence| note(sentence));
    }
    match args.format {
        Printed::Json => return Ok(table_to_json(&outcome.frame(paper)?)?),
        Printed::Csv => return Ok(table_to_csv(&outcome.frame(paper)?)?),
        Printed::Table | Printed::Markdown => {}
    }
    let is_markdown = args.format == Printed::Markdown;
    match outcome {
        Outcome::Claims(judged) => claims(&judged.findings, is_markdown),
        Outcome::Survey(changes, _) => surveyed(paper, &changes, is_markdown),
        Outcome::Combinations(effects) => combined(&effects, is_markdown),
    }
}

/// Formats claims as text or Markdown.
fn claims(findings: &[Finding], is_markdown: bool) -> anyhow::Result<String> {
    if !is_markdown {
        return text(findings);
    }
    let tables = [shown(findings)?, legend()?, robustness(findings)?];
    let tables = tables.map(|frame| rows(&Table::new("claims", "", frame)));
    Ok(tables.into_iter().collect::<anyhow::Result<Vec<_>>>()?.join("\n"))
}

/// Formats the effect of every policy of a survey as text or Markdown.
fn surveyed(paper: &Paper, changes: &[Change], is_markdown: bool) -> anyhow::Result<String> {
    let survey = paper.survey.as_ref().context("the paper has no survey")?;
    let shown = survey_shown(survey, changes)?;
    match is_markdown {
        true => rows(&Table::new("survey", "", shown)),
        false => Ok(table_to_string(&shown, width())?),
    }
}

/// Formats the effects of policies, alone and combined, as text or Markdown.
fn combined(effects: &Effects, is_markdown: bool) -> anyhow::Result<String> {
    if is_markdown {
        return of_effects(effects);
    }
    let tables = [&effects.effects, &effects.best()?].map(|frame| table_to_string(frame, width()));
    let [effects, best] = tables;
    Ok(format!("{}\n{}", effects?, best?))
}

/// Formats the effects and the best combinations in Markdown.
fn of_effects(effects: &Effects) -> anyhow::Result<String> {
    let best = Table::new("combinations", "", effects.best()?);
    Ok(format!("{}\n{}", rows(&effects.table())?, rows(&best)?))
}

/// Formats the findings as aligned text: which headline results are reproduced, the table with
/// numbered notes, the definition of the verdicts, and the other means.
fn text(findings: &[Finding]) -> anyhow::Result<String> {
    let mut notes: Vec<String> = Vec::new();
    let mut rows: Vec<Vec<String>> = vec![Vec::from(HEADINGS.map(str::to_owned))];
    for line in tabled(findings).map(Line::of) {
        let mut cells = line.cells().map(str::to_owned);
        if !line.note.is_empty() {
            let known = notes.iter().position(|note| *note == line.note);
            let number = known.unwrap_or(notes.len()) + 1;
            if known.is_none() {
                notes.push(line.note.clone());
            }
            cells[NOTE] = format!("[{number}]");
        }
        rows.push(Vec::from(cells));
    }
    let headline = headline(findings).map(|sentence| format!("{sentence}\n\n"));
    let notes = notes.iter().enumerate().map(|(at, note)| format!("[{}] {note}\n", at + 1));
    let parts = [
        headline.unwrap_or_default(),
        aligned(&rows, &[]),
        "\n".to_owned(),
        notes.collect(),
        "\n".to_owned(),
        definitions(),
    ];
    let others = robustness(findings)?;
    Ok(match others.height() {
        0 => parts.concat(),
        _ => format!("{}\n{}", parts.concat(), aligned(&lines(&others)?, &[])),
    })
}

/// Formats the definition of each verdict.
fn definitions() -> String {
    let line = |(verdict, meaning): (Verdict, &str)| {
        vec![format!("{}:", verdict.name()), meaning.to_owned()]
    };
    aligned(&LEGEND.map(line), &[])
}

/// Returns the headings and the cells of a frame of text.
fn lines(frame: &DataFrame) -> anyhow::Result<Vec<Vec<String>>> {
    let headings = frame.get_column_names().iter().map(|name| name.to_string()).collect();
    let rows = Table::new("lines", "", frame.clone()).shown()?;
    Ok([headings].into_iter().chain(rows).collect())
}

fn list() -> anyhow::Result<String> {
    let row = |name: &str| -> anyhow::Result<Vec<String>> {
        let paper = find(name)?;
        Ok(vec![name.to_owned(), paper.machine, paper.title])
    };
    let all = [all::NAME, "", "every paper, and its page of results"].map(str::to_owned);
    let mut rows = names().map(row).collect::<anyhow::Result<Vec<_>>>()?;
    rows.push(Vec::from(all));
    Ok(aligned(&rows, &[]))
}
