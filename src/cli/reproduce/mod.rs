//! `warpmem reproduce`: the experiments of papers, with published results next to ours.

mod all;
mod map;
mod programs;
mod runs;

use self::runs::Place;
use super::interrupt::Interrupt;
use super::output::{note, print, width};
use crate::cli::files::{InputFile, OutputFile, OutputResults};
use crate::cli::machines::{MachineName, parse_error};
use crate::cli::program_size::ProgramSize;
use crate::study::reproduce::{Factorial, Paper, Survey, find, find_on, names};
use crate::study::traces::NamedTrace;
use anyhow::Context;
use clap::{ValueEnum, ValueHint};
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread::available_parallelism;
use warpmem_analysis::polars::prelude::DataFrame;
use warpmem_analysis::{Results, table_to_csv, table_to_json, table_to_string};
use warpmem_report::Table;
use warpmem_report::markdown::rows;
use warpmem_reproduce::{
    Effects, FILE, Finding, HEADINGS, LEGEND, Line, NOTE, OfWorkload, Reproduced, Study, Verdict,
    by_workload, changes, coverage, draw, findings, frame, headline, legend, open, robustness,
    shown, summary, survey_frame, survey_shown, tabled, write, write_survey,
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
        let paper = prepared(args, selected(args, name)?);
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
    let place = Place { directory, is_temporary, jobs, interrupt };
    if name == all::NAME {
        return print(&all::reproduce(args, &place)?);
    }
    print(&reproduce(args, &prepared(args, selected(args, name)?), &place)?)?;
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

/// Returns the paper in the size and with the limits of the options.
fn prepared(args: &Args, mut paper: Paper) -> Paper {
    if args.quick {
        paper = paper.quickly();
    }
    if let Some(size) = args.size {
        paper = paper.sized(size.into());
    }
    if let Some(limit) = args.launch_instructions {
        paper = paper.ending_launches_after(limit);
    }
    if let Some(permille) = args.error {
        paper = paper.sampled(permille);
    }
    paper
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

/// The results of a paper's runs.
struct Judged {
    study: Study,
    findings: Vec<Finding>,
    of_workloads: Vec<OfWorkload>,
    /// Workloads that the machine cannot run.
    left_out: Vec<String>,
}

impl Judged {
    /// Runs every configuration of the paper on the traces.
    fn of(paper: &Paper, place: &Place<'_>, traces: &[NamedTrace]) -> anyhow::Result<Judged> {
        let planned = place.run(paper, traces)?;
        let study = open(paper, &Results::open(place.directory)?, &planned)?;
        let is_left_out = |trace: &&NamedTrace| !study.workloads().contains(&trace.name);
        let left_out = traces.iter().filter(is_left_out).map(|trace| trace.name.clone()).collect();
        let findings = findings(paper, &study)?;
        let of_workloads = by_workload(paper, &study)?;
        Ok(Judged { study, findings, of_workloads, left_out })
    }

    fn results<'a>(&'a self, paper: &'a Paper) -> Reproduced<'a> {
        Reproduced {
            paper,
            study: &self.study,
            left_out: &self.left_out,
            findings: &self.findings,
            of_workloads: &self.of_workloads,
        }
    }

    /// Writes the tables, the figures and the page.
    fn write(&self, paper: &Paper, directory: &Path) -> anyhow::Result<()> {
        let charts = draw(paper, &self.study, &self.findings)?;
        Ok(write(&self.results(paper), charts, directory)?)
    }
}

/// Runs all experiments and writes the results; returns the text to print.
fn reproduce(args: &Args, paper: &Paper, place: &Place<'_>) -> anyhow::Result<String> {
    if args.map {
        return map::reproduce(args, paper, place);
    }
    let traces = workloads(args, paper, place)?;
    if let Some(factorial) = &paper.factorial {
        place.run_factorial(paper, factorial, &traces)?;
        return combined(args, paper, factorial, place.directory);
    }
    if let Some(survey) = &paper.survey {
        let planned = place.run(paper, &traces)?;
        let study = open(paper, &Results::open(place.directory)?, &planned)?;
        return surveyed(args, paper, survey, &study, place.directory);
    }
    let judged = Judged::of(paper, place, &traces)?;
    if args.output.is_some() {
        judged.write(paper, place.directory)?;
    }
    let findings = &judged.findings;
    note(&summary(findings));
    if let Some(sentence) = coverage(paper) {
        note(&sentence);
    }
    Ok(match args.format {
        Printed::Table => text(findings)?,
        Printed::Json => table_to_json(&frame(findings)?)?,
        Printed::Csv => table_to_csv(&frame(findings)?)?,
        Printed::Markdown => {
            let tables = [shown(findings)?, legend()?, robustness(findings)?];
            let tables = tables.map(|frame| rows(&Table::new("claims", "", frame)));
            tables.into_iter().collect::<anyhow::Result<Vec<_>>>()?.join("\n")
        }
    })
}

/// Writes the effect of every policy of a survey; returns the text to print.
fn surveyed(
    args: &Args,
    paper: &Paper,
    survey: &Survey,
    study: &Study,
    directory: &Path,
) -> anyhow::Result<String> {
    let changes = changes(paper, survey, study)?;
    if args.output.is_some() {
        write_survey(paper, survey, &changes, study, directory)?;
    }
    Ok(match args.format {
        Printed::Table => table_to_string(&survey_shown(survey, &changes)?, width())?,
        Printed::Json => table_to_json(&survey_frame(survey, &changes)?)?,
        Printed::Csv => table_to_csv(&survey_frame(survey, &changes)?)?,
        Printed::Markdown => rows(&Table::new("survey", "", survey_shown(survey, &changes)?))?,
    })
}

/// Computes and writes the effects of policies, alone and combined; returns the text to print.
fn combined(
    args: &Args,
    paper: &Paper,
    factorial: &Factorial,
    directory: &Path,
) -> anyhow::Result<String> {
    let effects = Effects::of(paper, factorial, &Results::open(directory)?)?;
    if args.output.is_some() {
        effects.write(paper, directory)?;
    }
    let best = effects.best()?;
    Ok(match args.format {
        Printed::Table => {
            let tables = [&effects.effects, &best].map(|frame| table_to_string(frame, width()));
            let [effects, best] = tables;
            format!("{}\n{}", effects?, best?)
        }
        Printed::Json => table_to_json(&effects.effects)?,
        Printed::Csv => table_to_csv(&effects.effects)?,
        Printed::Markdown => of_effects(&effects)?,
    })
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
