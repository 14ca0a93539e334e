//! `warpmem sweep`: the runs of a plan, in one process or in shards.

mod comparison;
pub mod execute;
mod list;
mod live;
mod slurm;

use self::execute::{Options, complete, dry_run, run};
use self::slurm::SlurmOptions;
use super::format::Format;
use super::interrupt::Interrupt;
use super::output::{note, print};
use crate::cli::files::{InputFile, OutputResults, OutputTraces};
use crate::study::sweep::{Outcome, Plan, Shard};
use clap::ValueHint;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

/// Run the cells of a plan that have no results yet
///
/// A plan is a TOML file: traces or suites, machines, policies by slot, values of machine
/// parameters, and how they are combined. Every finished run is kept at once. A sweep that was
/// killed or interrupted at any moment continues when it is started again.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Plan to run
    #[arg(value_name = "PLAN", value_hint = ValueHint::FilePath)]
    plan: InputFile,
    /// Directory for the tables of all runs; created if it does not exist, continued if it does. By
    /// default NAME-results, where NAME is the plan's name
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    output: Option<OutputResults>,
    /// Run one of several shards of about equal work, each on its own host and in its own directory
    #[arg(long, value_name = "NUMBER/OF")]
    shard: Option<Shard>,
    /// Runs at a time; by default one per processor. The results are the same with any number
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Folder for the traces of suites; by default DIR/traces
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    cache: Option<OutputTraces>,
    /// List the cells without running any, or with --slurm print the batch script; the traces of
    /// suites are generated in any case
    #[arg(long)]
    dry_run: bool,
    /// Remove runs from DIR that are not in the plan
    #[arg(long)]
    prune: bool,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    #[command(flatten)]
    slurm: SlurmOptions,
}

/// Maximum number of cells in a readable table.
const MOST_ROWS: usize = 200;

const AFTER_HELP: &str = "\
Examples:
  warpmem sweep sample-traces/sweep.toml -o results/
  warpmem sweep sample-traces/sweep.toml --dry-run --format csv
  warpmem sweep plan.toml --slurm --partition long --time 12:00:00 --cpus 8 -o results/
  warpmem sweep plan.toml --slurm --dry-run
  warpmem sweep plan.toml --shard 3/16 -o results/3/";

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let plan = Plan::load(&args.plan)?;
    let directory = args.output.as_deref().map(Path::to_owned);
    let directory = directory.unwrap_or_else(|| default_directory(&plan, args.shard));
    let jobs = args.jobs.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let cache = args.cache.as_deref().map(Path::to_owned);
    let options = Options { jobs, shard: args.shard, cache, prune: args.prune };
    let interrupt = Interrupt::install()?;
    let request = slurm::Request {
        plan: &plan,
        file: &args.plan,
        directory: &directory,
        options: &options,
        slurm: &args.slurm,
    };
    if args.dry_run {
        return print(&match args.slurm.is_asked() {
            true => request.script(&interrupt)?,
            false => dry_run(&plan, &directory, &options, &interrupt, args.format)?,
        });
    }
    let outcome = match args.slurm.is_asked() {
        true => request.run(&interrupt)?,
        false => run_here(&plan, &directory, &options, &interrupt)?,
    };
    let outcome = complete(outcome, &directory)?;
    compare(&plan, &outcome, &directory, args.format)
}

/// Runs the cells in this process.
fn run_here(
    plan: &Plan,
    directory: &Path,
    options: &Options,
    interrupt: &Interrupt,
) -> anyhow::Result<Outcome> {
    if slurm::is_under_way(directory) {
        note(&format!(
            "note: a sweep with --slurm is unfinished in {}: only --slurm manages its tasks and their cells",
            directory.display()
        ));
    }
    run(plan, directory, options, interrupt)
}

/// Prints the runs relative to the baseline, if all have finished and the table is short enough to
/// read.
fn compare(plan: &Plan, outcome: &Outcome, directory: &Path, format: Format) -> anyhow::Result<()> {
    if !outcome.is_whole {
        note("note: cells of other shards are missing here: nothing is compared");
        return Ok(());
    }
    if format == Format::Table && outcome.cells / plan.repeat.0 as usize > MOST_ROWS {
        let cells = outcome.cells;
        note(&format!("note: {cells} cells are too many for a table: --format csv prints them"));
        return Ok(());
    }
    match comparison::compare(&outcome.baselines, directory, format) {
        Ok(comparison) => print(&comparison),
        // The user did not request this baseline.
        Err(error) if plan.baseline.is_none() => {
            note(&format!("note: nothing is compared: {error:#}"));
            Ok(())
        }
        Err(error) => Err(error),
    }
}

fn default_directory(plan: &Plan, shard: Option<Shard>) -> PathBuf {
    let part = shard.map_or(String::new(), |s| format!("-{}-of-{}", s.number(), s.of()));
    Path::new(&format!("{}-results{part}", plan.name)).to_owned()
}
