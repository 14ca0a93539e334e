//! `warpmem report`: results of runs as one HTML page, or as Markdown with pictures.

use super::comparison::parse_metrics;
use super::exit::Interrupted;
use super::interrupt::Interrupt;
use super::output::note;
use super::progress::bar;
use super::tables::{note_boxes, note_without_checksum};
use crate::cli::files::{InputFile, InputResults, OutputCharts, OutputFile};
use clap::ValueHint;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use indicatif::ProgressBar;
use std::collections::BTreeSet;
use std::path::Path;
use warpmem_analysis::{MEANS, Mean};
use warpmem_report::{Document, Outputs, Question, STEPS, Study, StyleFile, compose};
use warpmem_support::text::counted;

/// Report on runs: comparisons, distributions and charts as one HTML page, or as Markdown
///
/// Reads the tables that `run`, `compare` and `sweep` leave. Without `--html`, `--markdown` and `--plots` the page is
/// written to `report.html` in the first directory.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Directories of results; several, such as the shards of a sweep, are read as one
    #[arg(value_name = "DIR", required = true, value_hint = ValueHint::DirPath)]
    directories: Vec<InputResults>,
    /// HTML page to write: a single file, which needs no network
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    html: Option<OutputFile>,
    /// Markdown file to write; its pictures go to `--plots`, or to a folder named after FILE with
    /// `-plots` appended
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    markdown: Option<OutputFile>,
    /// Folder for every chart as SVG, PDF, PNG and CSV, and every table as CSV, LaTeX and Markdown;
    /// created if it does not exist
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    plots: Option<OutputCharts>,
    /// Baseline policy: one that was run, or one per slot, separated by slashes; by default the
    /// machine's own if it was run, otherwise the first
    #[arg(long, value_name = "POLICY")]
    baseline: Option<String>,
    /// Metrics to show beside the IPC, columns of `runs`; `NAME_ratio` is relative to the baseline,
    /// `NAME_reduction` is the fraction below it
    #[arg(long, value_name = "NAME,…", value_parser = Metrics::parse)]
    metrics: Option<Metrics>,
    /// Mean of IPC ratios over workloads in charts and in tables per workload
    #[arg(long, value_parser = parse_mean(), default_value = Mean::Geometric.name())]
    mean: Mean,
    /// Compare and mark runs even if their traces, machines or engine versions have the same name
    /// but differ
    #[arg(long)]
    allow_mixed: bool,
    /// TOML file with colours, labels, order and selection of policies and workloads, and the font
    /// and widths of charts; docs/reports.md lists its keys
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    style: Option<InputFile>,
    /// Title of the report
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
}

const AFTER_HELP: &str = "\
Examples:
  warpmem report results/
  warpmem report results/ --baseline fr-fcfs --mean harmonic --markdown report.md
  warpmem report results/ --style paper.toml --plots figures/
  warpmem report shard-0/ shard-1/ --html report.html --plots figures/ --title 'DRAM schedulers'";

/// Metrics to show.
#[derive(Clone, Debug)]
struct Metrics(Vec<String>);

impl Metrics {
    fn parse(text: &str) -> Result<Metrics, String> {
        parse_metrics(text).map(Metrics)
    }
}

fn parse_mean() -> impl TypedValueParser<Value = Mean> {
    let named = |name: String| Mean::ALL.into_iter().find(|mean| mean.name() == name);
    PossibleValuesParser::new(MEANS).try_map(move |name| named(name).ok_or("no such mean"))
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let interrupt = Interrupt::install()?;
    let study = Study::open(&Question {
        directories: args.directories.iter().map(|directory| directory.to_path_buf()).collect(),
        baseline: args.baseline.clone(),
        metrics: args.metrics.as_ref().map(|metrics| metrics.0.clone()),
        mean: args.mean,
        allow_mixed: args.allow_mixed,
        style: args.style.as_deref().map(StyleFile::read).transpose()?,
    })?;
    study.notes.iter().for_each(|line| note(&format!("note: {line}")));
    let outputs = outputs(args);
    outputs.check()?;
    let steps = bar("{bar:30} {msg} {pos}/{len}");
    let document = composed(&study, args.title.as_deref(), &steps, &interrupt)?;
    let lacking = write(&outputs, &document, &steps, &interrupt)?;
    steps.finish_and_clear();
    note_boxes(&lacking);
    note_without_checksum(&study.results);
    note(&summary(&study, &document, &outputs));
    Ok(())
}

/// Returns the destinations: the usual page if none is named.
fn outputs(args: &Args) -> Outputs {
    let [html, markdown] =
        [&args.html, &args.markdown].map(|path| path.as_deref().map(Path::to_owned));
    let plots = args.plots.as_deref().map(Path::to_owned);
    let is_told = html.is_some() || markdown.is_some() || plots.is_some();
    let usual = args.directories.first().filter(|_| !is_told);
    Outputs::new(html.or(usual.map(|directory| Outputs::usual(directory))), markdown, plots)
}

/// Fails if the user requested a stop; `kept` describes the results kept.
fn check(interrupt: &Interrupt, kept: &str) -> anyhow::Result<()> {
    match interrupt.is_asked() {
        true => Err(Interrupted { kept: kept.to_owned() }.into()),
        false => Ok(()),
    }
}

/// Composes the report, with progress by section.
fn composed(
    study: &Study,
    title: Option<&str>,
    steps: &ProgressBar,
    interrupt: &Interrupt,
) -> anyhow::Result<Document> {
    steps.set_message("sections");
    steps.set_length(STEPS as u64);
    compose(study, title, || {
        steps.inc(1);
        check(interrupt, "no report was written")
    })
}

/// Writes the report, with progress by chart; returns the characters that PDFs and PNGs cannot show.
fn write(
    outputs: &Outputs,
    document: &Document,
    steps: &ProgressBar,
    interrupt: &Interrupt,
) -> anyhow::Result<BTreeSet<char>> {
    if outputs.has_plots() {
        steps.set_message("charts");
        steps.set_length(document.charts().count() as u64);
        steps.set_position(0);
    }
    outputs.write(document, &|| {
        steps.inc(1);
        check(interrupt, "some charts were written")
    })
}

fn summary(study: &Study, document: &Document, outputs: &Outputs) -> String {
    let written = outputs.paths().map(|path| path.display().to_string()).collect::<Vec<_>>();
    format!(
        "{}, {}, {}: {}",
        counted(study.runs.height(), "run"),
        counted(document.charts().count(), "chart"),
        counted(document.tables().count(), "table"),
        written.join(", ")
    )
}
