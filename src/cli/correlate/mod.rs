//! `warpmem correlate`: compares our runs with those of a reference simulator.

mod hardware;
mod ours;
mod past;
mod plot;
mod points;
mod profile;
mod table;

use super::format::{self, Format};
use super::machines::Overrides;
use super::output::{complain, note, print};
use super::points::Selection;
use super::tables::{PlotFile, check_plot, parse_plot, write_plot};
use crate::cli::files::{InputFile, InputResults, OutputTraces};
use crate::cli::machines::MachineName;
use crate::correlation::Outcome;
use crate::slots::List;
use crate::study::correlate::{self, Reference, Skipped, choose, object, rows};
use clap::ValueHint;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;

/// Run the traces of a reference simulator's results and print the differences
///
/// Reads Accel-Sim's results, as JSON or as the log that it prints, and runs the same traces on the
/// same machines. Prints both sides' cycles, IPC, miss rates, DRAM commands, row locality, bus
/// utilization and latency with their errors, and a summary of the errors over all runs. Cycles
/// exclude the latency of kernel launches. With --hardware the reference is a GPU: the file that
/// `warpmem hardware` wrote. With --points it is a table of measured figures, with --profile a
/// profile of the program that a trace was made from: the CSV of Nsight Compute or of nvprof.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Results in JSON, or logs of Accel-Sim
    #[arg(value_name = "REFERENCE", required_unless_present_any = ["hardware", "points", "profiles"], value_hint = ValueHint::FilePath)]
    references: Vec<InputFile>,
    #[command(flatten)]
    hardware: hardware::Hardware,
    #[command(flatten)]
    points: Points,
    #[command(flatten)]
    profiles: profile::Profiles,
    #[command(flatten)]
    choice: RunFilter,
    #[command(flatten)]
    places: Places,
    #[command(flatten)]
    overrides: Overrides,
    /// Runs at a time; by default one per processor. The results are the same with any number
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Also compare the time that runs take: our CPU seconds, including reading the trace, against
    /// the reference's; one run at a time. A log has only wall-clock time, which is shown and not
    /// compared
    #[arg(long, conflicts_with = "results")]
    speed: bool,
    /// Number of SM orders in which to repeat every run; orders start at different SMs, spread over
    /// the machine. Cycles are the median over the orders, with their range: the noise due to an
    /// irrelevant order
    #[arg(long, value_name = "N", default_value_t = NonZeroU32::MIN, conflicts_with_all = ["results", "speed"])]
    orders: NonZeroU32,
    /// Also print every kernel, and a summary of the kernels' errors; in CSV, print kernels instead
    /// of runs
    #[arg(long)]
    kernels: bool,
    /// Draw both sides' cycles, or figures of points, as SVG, PDF or PNG according to the file name
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = parse_plot)]
    plot: Option<PlotFile>,
    /// Format of the output; JSON is an object of `runs`, `summary` and, with --kernels, `kernels`
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Measured points as the reference.
#[derive(clap::Args, Clone, Debug)]
struct Points {
    /// Measured points (CSV): figures of GPUs, each with the machine and the workload that models it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["references", "hardware", "exclude", "machines", "machine", "dram_schedulers", "traces", "trace", "results", "speed", "orders", "kernels"])]
    points: Option<InputFile>,
    #[command(flatten)]
    selection: Selection,
}

/// Selection of the reference's runs and machines.
#[derive(clap::Args, Clone, Debug)]
struct RunFilter {
    /// Only runs of these traces, these measurements, or points of these kernels
    #[arg(long, value_name = "TRACE,…", value_parser = List::parse)]
    only: Option<List>,
    /// Exclude runs of these traces, or these measurements
    #[arg(long, value_name = "TRACE,…", value_parser = List::parse)]
    exclude: Option<List>,
    /// Only runs on these machines, by our or the reference's name
    #[arg(long, value_name = "NAME,…", value_parser = List::parse)]
    machines: Option<List>,
    /// Only runs with these DRAM schedulers, by the reference's name
    #[arg(long, value_name = "NAME,…", value_parser = List::parse)]
    dram_schedulers: Option<List>,
    /// Our machine for a configuration of the reference, for a GPU by its name, or for a machine of
    /// the points; may be repeated.
    /// SM7_QV100=accelsim-qv100, SM75_RTX2060_S=accelsim-rtx2060s, SM86_RTX3070=accelsim-rtx3070 and
    /// the GPUs of all presets are built in
    #[arg(long, value_name = "NAME=MACHINE", value_parser = points::parse_map)]
    map: Vec<(String, String)>,
    /// Machine of a log, a profile or a GPU: its name (see `warpmem list machines`) or a TOML file
    #[arg(long, value_name = "NAME|FILE", value_hint = ValueHint::FilePath)]
    machine: Option<MachineName>,
}

/// Locations of traces, imports and results.
#[derive(clap::Args, Clone, Debug)]
struct Places {
    /// Folder of the traces, instead of the paths in the reference: TRACE.wmt, or a folder with a
    /// kernel list
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    traces: Option<InputFile>,
    /// Trace of a log or a profile: .wmt, kernel list, or a folder that contains one
    #[arg(long, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    trace: Option<InputFile>,
    /// Folder in which imported traces, or those of points and the cycles of finished runs, are cached;
    /// created if it does not exist
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    cache: Option<OutputTraces>,
    /// Take our results from these tables, written by `run` or `compare`, instead of running
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with_all = ["traces", "cache"])]
    results: Option<InputResults>,
}

const AFTER_HELP: &str = "\
The DRAM scheduler FR-FCFS means the machine's own, FIFO means `fcfs` with a queue of 2 requests,
as in Accel-Sim. Runs without a trace or a machine are left out and listed. It is an error if the
kernels of a trace have other names or thread instructions than the reference's, or if the machine
is not the log's.

With --points, every workload is generated and run, and errors are summarized by class and GPU.
JSON is an object of `points` and `summary`.

With --hardware, what was measured is executed again without a GPU, from the same PTX, recorded, and
run on the machine. It is an error if the GPU has other SMs, L2 or DRAM than the machine.

With --profile, launches are matched by the name of the kernel without parameters, then by grid and
block, then in order; those that only one side has are listed. Under Nsight Compute every kernel
starts with empty caches, so it does here, unless --warm is given.

Examples:
  warpmem correlate results.json --cache imported/
  warpmem correlate results.json --only spmv,bfs --kernels --set l1.latency=24
  warpmem correlate results.json --kernels --orders 16
  warpmem correlate results.json --dram-schedulers FR-FCFS --exclude pointer-chase --speed
  warpmem correlate results.json --map SM86_RTX3070=mine.toml --plot cycles.svg --format json
  warpmem correlate run.log --trace traces/kernelslist.g --machine v100
  warpmem correlate --hardware hardware.json
  warpmem correlate --hardware hardware.json --only l2-latency,spmv --machine mine.toml --format csv
  warpmem correlate --points docs/points.csv --class latency --map v100=mine.toml --cache points/
  warpmem correlate --profile ncu.csv --trace k.wmt --machine v100
  warpmem correlate --profile trace.csv --profile metrics.csv --trace k.wmt --machine a100 --set clocks.core_mhz=1380";

impl Args {
    fn chosen(&self) -> correlate::RunFilter {
        let RunFilter { only, exclude, machines, dram_schedulers, map, machine } =
            self.choice.clone();
        let [traces, trace] = [&self.places.traces, &self.places.trace]
            .map(|path| path.as_deref().map(Path::to_owned));
        let machine = machine.map(|machine| machine.to_string());
        let overrides = self.overrides.overrides.clone();
        correlate::RunFilter {
            only,
            exclude,
            machines,
            dram_schedulers,
            map,
            traces,
            machine,
            trace,
            overrides,
        }
    }
}

fn of_points(args: &Args, file: &Path) -> anyhow::Result<()> {
    check_plot(args.plot.as_ref())?;
    let request = points::Request {
        file,
        filter: args.points.selection.filter(args.choice.only.as_ref()),
        map: &args.choice.map,
        overrides: &args.overrides.overrides,
        cache: args.places.cache.as_deref(),
        jobs: args.jobs,
        format: args.format,
    };
    points::execute(&request, |outcomes| match &args.plot {
        Some(path) => write_plot(path, &plot::of_points(outcomes)?.svg()?),
        None => Ok(()),
    })
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    if let Some(path) = &args.hardware.hardware {
        return hardware::execute(args, path);
    }
    if let Some(file) = &args.points.points {
        return of_points(args, file);
    }
    if !args.profiles.profiles.is_empty() {
        return profile::execute(args);
    }
    if args.speed && args.jobs.is_some_and(|jobs| jobs > NonZeroUsize::MIN) {
        anyhow::bail!("--speed measures one run at a time: --jobs 1");
    }
    check_plot(args.plot.as_ref())?;
    let references = args.references.iter().map(|path| Reference::read(path));
    let references = references.collect::<Result<Vec<_>, _>>()?;
    let mut skipped = Skipped::default();
    let planned = choose(&args.chosen(), references, &mut skipped, &mut |text| note(text))?;
    let outcome = match &args.places.results {
        Some(directory) => Outcome::of_past(&past::open(directory)?, planned, &mut skipped)?,
        None => ours::run_all(args, planned, &mut skipped)?,
    };
    skipped.notes().for_each(|left_out| complain(&left_out));
    if outcome.comparisons.is_empty() {
        let nothing = || anyhow::anyhow!("no run of the reference is left");
        return Err(outcome.error().unwrap_or_else(nothing));
    }
    let comparisons = &outcome.comparisons;
    if let Some(path) = &args.plot {
        write_plot(path, &plot::chart(comparisons)?.svg()?)?;
    }
    print(&match args.format {
        Format::Table => table::text(comparisons, args.kernels, args.speed),
        Format::Json => format!("{:#}\n", object(comparisons, args.kernels, args.speed)),
        Format::Csv => format::csv(&rows(comparisons, args.kernels, args.speed)),
    })?;
    outcome.error().map_or(Ok(()), Err)
}
