//! `warpmem sweep`: the runs of a plan, in one go or in many.

mod baseline;
pub mod execute;
mod expand;
mod list;
mod live;
pub mod traces;

use self::execute::{Options, Outcome, dry_run, run};
use super::format::Format;
use super::interrupt::Interrupt;
use super::output::{note, print};
use clap::ValueHint;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use warpmem::study::sweep::{Plan, Shard};

/// Run the cells of a plan, those that are not there yet
///
/// A plan is a TOML file: traces or suites, machines, policies by slot, values of machine parameters, and how they are
/// combined. Every finished run is kept at once: killed or interrupted at any moment, the sweep goes on where it was when it is
/// run again.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Plan to run
    #[arg(value_name = "PLAN", value_hint = ValueHint::FilePath)]
    plan: PathBuf,
    /// Directory for the tables of all runs; created if need be, gone on with if there. By default NAME-results, after the
    /// plan's name
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    output: Option<PathBuf>,
    /// Run one of several parts of about the same work, each on a machine and in a directory of its own
    #[arg(long, value_name = "NUMBER/OF")]
    shard: Option<Shard>,
    /// Runs at a time; by default one per processor. The results are the same with any number
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Folder where the traces of suites are kept; by default DIR/traces
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    cache: Option<PathBuf>,
    /// List the cells and run none; traces of suites are generated all the same
    #[arg(long)]
    dry_run: bool,
    /// Remove runs from DIR that are not of the plan
    #[arg(long)]
    prune: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Cells of which a table is still read by people.
const MOST_ROWS: usize = 200;

const AFTER_HELP: &str = "\
Examples:
  warpmem sweep sample-traces/sweep.toml -o results/
  warpmem sweep sample-traces/sweep.toml --dry-run --format csv
  warpmem sweep plan.toml --shard 3/16 -o results/3/";

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let plan = Plan::load(&args.plan)?;
    let directory = args.output.clone().unwrap_or_else(|| default_directory(&plan, args.shard));
    let jobs = args.jobs.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let options = Options { jobs, shard: args.shard, cache: args.cache.clone(), prune: args.prune };
    let interrupt = Interrupt::install()?;
    if args.dry_run {
        return print(&dry_run(&plan, &directory, &options, &interrupt, args.format)?);
    }
    let outcome = run(&plan, &directory, &options, &interrupt)?.complete(&directory)?;
    compare(&plan, &outcome, &directory, args.format)
}

/// Prints the runs beside the baseline, where they are all there and a table of them can be read.
fn compare(plan: &Plan, outcome: &Outcome, directory: &Path, format: Format) -> anyhow::Result<()> {
    if !outcome.is_whole {
        note("note: cells of other shards are not here: nothing is compared");
        return Ok(());
    }
    if format == Format::Table && outcome.cells > MOST_ROWS {
        let cells = outcome.cells;
        note(&format!("note: {cells} cells are too many for a table: --format csv prints them"));
        return Ok(());
    }
    match outcome.baselines.compare(directory, format) {
        Ok(comparison) => print(&comparison),
        // Nobody asked for this baseline.
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
