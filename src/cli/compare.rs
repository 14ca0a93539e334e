//! `warpmem compare`: policies compared on the same traces and machines.

use super::comparison::{self, parse_metrics};
use super::exit::Interrupted;
use super::format::Format;
use super::interrupt::Interrupt;
use super::machines::{MACHINE_HELP, RunOverrides, claim_machine};
use super::output::{complain, note, print};
use super::policies::PolicyLists;
use super::progress::Board;
use super::recording::RecordingOptions;
use crate::cli::files::{InputFile, NamesFiles, OutputResults};
use crate::files::claims::Claims;
use crate::machine::{DEFAULT_MACHINE, Machine};
use crate::record::ResultsWriter;
use crate::slots::{Baseline, combinations, split_list};
use crate::study::bound::{Bounds, bound};
use crate::study::cells::{Cell, Ended, check_distinct, command, run_all};
use crate::study::traces::NamedTrace;
use crate::study::variants::Variant;
use anyhow::{Context, bail};
use clap::{ValueHint, value_parser};
use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread::available_parallelism;

/// Replay traces under several policies and compare them with a baseline
///
/// Runs every trace on every machine under every combination of the given policies, and prints whether
/// the compared policies can matter, then the results relative to the baseline, per workload and as
/// means. Each workload runs once more on each machine, under the ideal mode of the compared slot
/// (`--no-bound` omits it). Traces that one generator made with different seeds are repeats of one
/// workload.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Traces to replay, or manifests (.toml) written by `suite get`
    #[arg(value_name = "TRACE", required = true, value_hint = ValueHint::FilePath)]
    traces: Vec<InputFile>,
    #[arg(
        long = "machine", value_name = "NAME|FILE,…", default_value = DEFAULT_MACHINE, help = MACHINE_HELP,
        value_parser = Machines::parse, value_hint = ValueHint::FilePath
    )]
    machines: Machines,
    #[command(flatten)]
    overrides: RunOverrides,
    /// Baseline policy: one of the given policies, or one per slot, separated by slashes; by
    /// default the machine's own if given, otherwise the first
    #[arg(long, value_name = "POLICY")]
    baseline: Option<String>,
    /// Run each workload N times, on variants of the machine that matter to no policy: the first SM,
    /// the pages of the data, the parity of the DRAM read queue. Ratios are paired by variant and
    /// have 95 % intervals; policies within noise are equal
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u32).range(1..=100))]
    repeat: u32,
    /// Omit the run of each workload and machine under the ideal mode of the compared slot
    /// (perfect-dram, perfect-l2, infinite-bandwidth-noc), which bounds the gain of its policies
    #[arg(long)]
    no_bound: bool,
    /// Metrics to show beside the IPC, columns of `runs`; `NAME_ratio` is relative to the baseline,
    /// `NAME_reduction` is the fraction below it. By default a selection in the table, every metric
    /// in JSON and CSV
    #[arg(long, value_name = "NAME,…", value_parser = Metrics::parse)]
    metrics: Option<Metrics>,
    /// Directory for the tables of all runs, with a row for every load; created if it does not
    /// exist
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    output: Option<OutputResults>,
    #[command(flatten)]
    recording: RecordingOptions,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Runs at a time; by default one per processor. The results are the same with any number
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    policies: PolicyLists,
}

const AFTER_HELP: &str = "\
Examples:
  warpmem compare sample-traces/*.wmt --dram-scheduler fcfs,banked-fifo,fr-fcfs --baseline fr-fcfs
  warpmem compare sample-traces/*.wmt --dram-scheduler all --baseline fr-fcfs
  warpmem compare k.wmt --dram-scheduler 'fr-fcfs,fr-fcfs(row_hit_cap=4)' --warp-scheduler lrr,gto
  warpmem compare k.wmt --warp-scheduler lrr,gto --metrics l1_miss_rate_reduction,memory_block_cycles_ratio
  warpmem compare bfs-seed*.wmt --machine h100 --dram-scheduler fcfs,fr-fcfs,par-bs --repeat 3
  warpmem compare decode-steps.wmt --machine a100 --dram-scheduler fcfs,fr-fcfs --error 1%
  warpmem compare a.wmt b.wmt --machine li2015,v100 --dram-scheduler fcfs,fr-fcfs -o results/";

/// Names and files of machines.
#[derive(Clone, Debug)]
pub struct Machines(Vec<String>);

impl Machines {
    fn parse(text: &str) -> Result<Machines, String> {
        split_list(text).map(Machines)
    }
}

impl NamesFiles for Machines {
    fn claim(&self, option: &str, claims: &mut Claims) {
        self.0.iter().for_each(|machine| claim_machine(machine, option, claims));
    }
}

/// Metrics to show.
#[derive(Clone, Debug)]
struct Metrics(Vec<String>);

impl Metrics {
    fn parse(text: &str) -> Result<Metrics, String> {
        parse_metrics(text).map(Metrics)
    }
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let machines = load_machines(args)?;
    let baseline = Baseline::choose(args.baseline.as_deref(), &args.policies.0, &machines)?;
    let traces = NamedTrace::open_all(&args.traces)?;
    let mut cells = plan(args, &machines, &traces)?;
    let bounds = plan_bounds(args, &machines, &traces, &baseline);
    let temporary = args.output.is_none().then(tempfile::tempdir).transpose();
    let temporary = temporary.context("failed to create a temporary directory")?;
    let directory = match &temporary {
        Some(temporary) => temporary.path(),
        None => args.output.as_deref().unwrap_or(Path::new(".")),
    };
    run(args, &mut cells, &bounds, directory)?;
    let metrics = args.metrics.as_ref().map(|metrics| metrics.0.as_slice());
    print(&comparison::of_directory(directory, &baseline, metrics, args.format)?)
}

fn load_machines(args: &Args) -> anyhow::Result<Vec<Machine>> {
    let mut names = HashSet::new();
    let mut machines = Vec::new();
    for name_or_path in &args.machines.0 {
        let machine = args.overrides.all().apply(name_or_path)?;
        if !names.insert(machine.name.clone()) {
            bail!("two machines are called `{}`: give one of them another `name`", machine.name);
        }
        machines.push(machine);
    }
    Ok(machines)
}

/// Plans every trace on every machine under every combination of policies, in every variant, in this
/// order.
fn plan<'a>(
    args: &Args,
    machines: &[Machine],
    traces: &'a [NamedTrace],
) -> anyhow::Result<Vec<Cell<'a>>> {
    let combinations = combinations(&args.policies.0);
    let overrides = args.overrides.all().overrides;
    let mut cells = Vec::new();
    for (machine, name) in machines.iter().zip(&args.machines.0) {
        for trace in traces {
            for policies in &combinations {
                let mut machine = machine.clone();
                policies.apply(&mut machine);
                for Variant { number, machine, overrides: further } in
                    Variant::first(&machine, args.repeat, [])
                {
                    let path = trace.trace.path();
                    let all = [overrides.as_slice(), &further].concat();
                    let command = command(path, name, policies, &all);
                    let mut cell = Cell::new(trace, machine, &overrides, command)?;
                    cell.key.variant = number;
                    cells.push(cell);
                }
            }
        }
    }
    check_distinct(&cells)?;
    Ok(cells)
}

/// Plans the runs that bound the effect of the compared policies.
fn plan_bounds<'a>(
    args: &Args,
    machines: &[Machine],
    traces: &'a [NamedTrace],
    baseline: &Baseline,
) -> Vec<Cell<'a>> {
    let lists = &args.policies.0;
    let bounds = Bounds { lists, baseline, combinations: &combinations(lists) };
    if args.no_bound { Vec::new() } else { bounds.cells(machines, traces, |_| true) }
}

/// Runs the cells and their bounds, and writes the tables of the cells that finished to `directory`.
fn run(
    args: &Args,
    cells: &mut [Cell<'_>],
    bounds: &[Cell<'_>],
    directory: &Path,
) -> anyhow::Result<()> {
    // Installed before creating anything that an interrupted process would leave behind.
    let interrupt = Interrupt::install()?;
    let writer = ResultsWriter::create(directory)?;
    let all = || cells.iter().chain(bounds);
    let ctas = all().map(Cell::ctas).sum();
    let instructions = all().map(Cell::warp_instructions).sum();
    let board = Board::new(interrupt, all().count(), ctas, instructions);
    let jobs = args.jobs.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let bounded = bound(bounds, cells, jobs.min(bounds.len().max(1)), &board)?;
    // Without a directory only the metrics of the runs are used.
    let recorded = args.output.as_ref().map(|_| args.recording.recorded()).unwrap_or_default();
    let mut ended = match bounded.finished == bounds.len() {
        true => run_all(cells, jobs.min(cells.len()), &writer, recorded, &board)?,
        false => Ended { finished: 0, failure: None },
    };
    ended.failure = bounded.failure.or(ended.failure);
    writer.finish()?;
    let summary = board.finish();
    if ended.finished == cells.len() {
        note(&summary);
        if cells.iter().any(Cell::is_sampled) {
            note(SAMPLED);
        }
        return Ok(());
    }
    let kept = kept(ended.finished, cells.len(), args.output.as_deref());
    match ended.failure {
        None => Err(Interrupted { kept }.into()),
        Some(failure) if ended.finished == 0 => Err(failure.into()),
        Some(failure) => {
            complain(&format!("note: {kept}"));
            Err(failure.into())
        }
    }
}

const SAMPLED: &str = "note: sampled runs; the column cycles_interval has half of the 95 % interval of the cycles of each";

/// Describes the tables that an incomplete comparison leaves.
fn kept(finished: usize, all: usize, output: Option<&Path>) -> String {
    match output {
        _ if finished == 0 => "no run had finished".to_owned(),
        Some(output) => {
            format!("{finished} of {all} runs finished; their tables are in {}", output.display())
        }
        None => format!("{finished} of {all} runs finished; --output would keep them"),
    }
}
