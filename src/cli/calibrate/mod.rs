//! `warpmem calibrate`: values of a machine's keys chosen on measured points.

mod report;

use super::files::{InputFile, OutputFile, OutputTraces};
use super::format::Format;
use super::machines::MachineName;
use super::output::{note, print};
use super::points::{Runner, Selection};
use crate::files::claims::Claims;
use crate::files::{staged, text};
use crate::machine::{Machine, flatten, load_with_conversion, preset_text};
use crate::slots::List;
use crate::study::calibrate::{Best, Calibration, Free, Step, calibrated_text, descend, overrides};
use crate::study::points::{Outcome, Point, PointsFile, place};
use anyhow::{Context, bail};
use clap::ValueHint;
use report::Report;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};

/// Choose values of a machine's keys so that its figures agree with measured points
///
/// Starts from a machine and changes one key at a time, as long as the error falls: the mean absolute
/// logarithm of our figures over the measured ones, every class of points with the same weight. Writes
/// the machine with the chosen values, each marked `c` with the points behind it. Finished runs are
/// kept, so a search that was killed continues where it stopped.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Measured points (CSV), as for `correlate --points`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    points: InputFile,
    #[command(flatten)]
    selection: Selection,
    /// Only points of these kernels
    #[arg(long, value_name = "KERNEL,…", value_parser = List::parse)]
    only: Option<List>,
    /// Machine to start from: its name (see `warpmem list machines`) or a file
    #[arg(long, value_name = "NAME|FILE", value_hint = ValueHint::FilePath)]
    machine: MachineName,
    /// Machine of the points file that --machine replaces; by default the one of its name
    #[arg(long = "for", value_name = "NAME")]
    replaces: Option<String>,
    /// Keys to choose, as `l1.latency=20..40`, `dram.read_queue=32|64` or `l2.queue`; may be repeated.
    /// Without values, a number varies from half to twice its value, and a name over all names
    #[arg(long, value_name = "KEY[=VALUES],…", required = true, value_parser = List::parse)]
    free: Vec<List>,
    /// Rounds over all keys, at most; the search ends earlier if a round gains less than 0.1 %
    #[arg(long, value_name = "N", default_value = "4")]
    rounds: NonZeroU32,
    /// Runs at a time; by default one per processor. The results are the same with any number
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Folder for the traces and the cycles of finished runs; by default the output with the extension
    /// `.cache`
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    cache: Option<OutputTraces>,
    /// Log of every step (CSV); by default the output with the extension `.log.csv`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    log: Option<OutputFile>,
    /// Machine file to write
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: OutputFile,
    /// Format of the errors before and after
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  warpmem calibrate --points docs/points.csv --machine a100 --class latency \\
      --free l1.latency=20..60,l2.input_latency=50..200,l2.to_dram_latency=50..300 -o mine.toml
  warpmem calibrate --points mine.csv --machine mine.toml --for a100 --free 'dram.write_queue=16|32|64' \\
      -o better.toml
  warpmem correlate --points docs/points.csv --gpu A100-40GB --map a100=mine.toml";

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let log = beside(args, args.log.as_deref(), "log.csv");
    let cache = beside(args, args.cache.as_deref(), "cache");
    check_outputs(args, &log, &cache)?;
    let (machine, conversion) = load_with_conversion(&args.machine, &[])?;
    let text = match conversion {
        Some(conversion) => conversion.to_toml(),
        None => base_text(&args.machine)?,
    };
    let free: Vec<String> = args.free.iter().flat_map(|list| list.0.clone()).collect();
    let free = Free::parse_all(&free, &machine)?;
    let file = PointsFile::read(&args.points)?;
    let points = chosen(args, &file, &machine)?;
    let map = points.first().map(|point| (point.machine.clone(), args.machine.to_string()));
    let placed = place(&file, &points, &Vec::from_iter(map), &[])?;
    let runner = Runner::new(Some(&cache), args.jobs)?;
    let traces = runner.traces(&points)?;
    let calibration =
        Calibration { placed: &placed, traces: &traces, store: runner.store(), free: &free };
    let mut steps: Vec<Step> = Vec::new();
    let mut evaluate =
        |lists: &[Vec<String>]| calibration.objectives(lists, &mut |batch| runner.run(batch));
    let mut record = |step: &Step| {
        let Step { round, key, best, objective, .. } = step;
        note(&format!("round {round}: {key} = {best}, mean log error {objective:.4}"));
        steps.push(step.clone());
    };
    let best = descend(&free, args.rounds.get(), &mut evaluate, &mut record);
    let best = best.map_err(|error| runner.explained(error))?;
    let report = report(&calibration, &free, &best, &runner)?;
    let values = chosen_values(&machine, &free, &best)?;
    let origin = origin(&args.points, &report.after);
    let name = args.output.file_stem().and_then(OsStr::to_str).unwrap_or(&machine.name);
    let text = calibrated_text(&text, name, &values, &origin)?;
    staged::write(&log, |partial| Ok(fs::write(partial, report::log(&steps))?))?;
    staged::write(&args.output, |partial| Ok(fs::write(partial, &text)?))?;
    print(&report.text(args.format))?;
    note(&format!("{}; {} runs, log in {}", args.output.display(), runner.runs(), log.display()));
    Ok(())
}

/// Returns a given path, or the output with another extension.
fn beside(args: &Args, given: Option<&Path>, extension: &str) -> PathBuf {
    given.map_or_else(|| args.output.with_extension(extension), Path::to_owned)
}

/// Checks that the outputs can be written and, for those that are not on the command line, that they
/// overwrite nothing.
fn check_outputs(args: &Args, log: &Path, cache: &Path) -> anyhow::Result<()> {
    let mut claims = Claims::default();
    claims.read("--points", &args.points);
    claims.read("--machine", Path::new(&*args.machine));
    claims.write("--output", &args.output);
    claims.write("--log", log);
    claims.check()?;
    if cache.is_file() {
        bail!("{} is a file; --cache names another folder", cache.display());
    }
    staged::check(&args.output)?;
    staged::check(log)
}

/// Returns the text of the machine to start from.
fn base_text(machine: &str) -> anyhow::Result<String> {
    match preset_text(machine) {
        Some(text) => Ok(text.to_owned()),
        None => text::read(Path::new(machine)).with_context(|| format!("failed to read {machine}")),
    }
}

/// Returns the points of the machine that pass the filters.
fn chosen<'p>(
    args: &Args,
    file: &'p PointsFile,
    machine: &Machine,
) -> anyhow::Result<Vec<&'p Point>> {
    let mut points = file.chosen(&args.selection.filter(args.only.as_ref()))?;
    let known: BTreeSet<String> = points.iter().map(|point| point.machine.clone()).collect();
    let name = args.replaces.as_ref().unwrap_or(&machine.name);
    points.retain(|point| point.machine == *name);
    if points.is_empty() {
        let known = known.into_iter().collect::<Vec<_>>().join(", ");
        let path = file.path.display();
        bail!("{path} has no chosen point of the machine `{name}`; --for names one of {known}");
    }
    Ok(points)
}

fn report<'p>(
    calibration: &Calibration<'p>,
    free: &[Free],
    best: &Best,
    runner: &Runner,
) -> anyhow::Result<Report<'p>> {
    let base: Vec<String> = free.iter().map(|free| free.base.clone()).collect();
    let lists = [base, best.values.clone()];
    let outcomes = calibration.outcomes(&lists, &mut |batch| runner.run(batch))?;
    let outcomes: Option<Vec<Vec<Outcome<'p>>>> = outcomes.into_iter().collect();
    let Some([before, after]) = outcomes.and_then(|both| <[_; 2]>::try_from(both).ok()) else {
        bail!("no machine among the candidates is valid");
    };
    let values = free.iter().zip(&best.values);
    let values = values.map(|(free, value)| (free.key.clone(), free.base.clone(), value.clone()));
    Ok(Report { values: values.collect(), before, after })
}

/// Returns the chosen values with their types.
fn chosen_values(
    machine: &Machine,
    free: &[Free],
    best: &Best,
) -> anyhow::Result<Vec<(String, toml::Value)>> {
    let overrides = overrides(free, &best.values);
    let flat = flatten(&machine.clone().with_overrides(&overrides, Path::new(""))?);
    let is_free = |key: &str| free.iter().any(|free| free.key == key);
    Ok(flat.into_iter().filter(|(key, _)| is_free(key)).collect())
}

/// Describes the points: `points.csv, latency 40, stream-few 21`.
fn origin(file: &Path, outcomes: &[Outcome<'_>]) -> String {
    let mut classes: Vec<(&str, usize)> = Vec::new();
    for outcome in outcomes {
        let class = outcome.point.class.as_str();
        match classes.iter_mut().find(|(name, _)| *name == class) {
            Some((_, points)) => *points += 1,
            None => classes.push((class, 1)),
        }
    }
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
    let classes = classes.iter().map(|(class, points)| format!(", {class} {points}"));
    format!("{name}{}", classes.collect::<String>())
}
