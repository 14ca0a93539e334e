//! `warpmem sample estimate`: estimates the results of a trace from simulated samples, with
//! confidence intervals.

use super::SampleProgress;
use super::options::{PartOptions, SizeOptions};
use super::report::{error, interval, number, percent, signed_percent};
use crate::cli::exit::Interrupted;
use crate::cli::files::InputFile;
use crate::cli::format::{self, Format};
use crate::cli::interrupt::Interrupt;
use crate::cli::machines::{MACHINE_HELP, MachineName, Overrides};
use crate::cli::output::{note, print};
use crate::cli::policies::PolicyOptions;
use crate::cli::progress::Board;
use crate::gpu::results::{Discard, RunResult};
use crate::machine::DEFAULT_MACHINE;
use crate::record::RunKey;
use crate::slots::SLOTS;
use crate::study::cells::{Cell, CellError, command, side_by_side};
use crate::study::sample::{
    Census, Estimate, MetricEstimate, NoInterval, Part, Plan, Samples, Size, Unfilled, measured,
    metric_estimates, whole_kernels, write_parts,
};
use crate::study::traces::NamedTrace;
use anyhow::Context;
use clap::ValueHint;
use clap::builder::RangedU64ValueParser;
use serde_json::{Map, Value};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::thread::available_parallelism;
use warpmem_support::text::aligned;

/// Simulate independent samples of a trace and estimate the results of the whole
///
/// Every replicate is an independent sample, drawn as by `warpmem sample`; the default is a tenth
/// of each kernel's CTAs. Prints the estimate from all replicates, its standard error, and
/// Student's 95 % interval. The interval covers only random error; docs/sampling.md describes the
/// other errors of small samples. There is no interval if the samples do not fill the machine. A
/// sample that would contain everything selected is simulated once, which is exact.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Trace to estimate
    #[arg(value_name = "TRACE", value_hint = ValueHint::FilePath)]
    trace: InputFile,
    #[command(flatten)]
    part: PartOptions,
    #[command(flatten)]
    size: SizeOptions,
    /// Samples to draw and simulate
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = RangedU64ValueParser::<u32>::new().range(2..=1000))]
    replicates: u32,
    /// Also simulate everything selected, and show the error of the estimates
    #[arg(long)]
    full: bool,
    #[arg(long, value_name = "NAME|FILE", default_value = DEFAULT_MACHINE, help = MACHINE_HELP, value_hint = ValueHint::FilePath)]
    machine: MachineName,
    #[command(flatten)]
    overrides: Overrides,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Runs at a time; by default one per processor. The results are the same with any number
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    policies: PolicyOptions,
}

const AFTER_HELP: &str = "\
Examples:
  warpmem sample estimate long.wmt --fraction 5%
  warpmem sample estimate long.wmt --fraction 10% --machine v100 --dram-scheduler fcfs --full";

/// Default fraction of the CTAs.
const FRACTION: Size = Size::Fraction(0.1);

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let mut machine = args.overrides.apply(&args.machine)?;
    machine.validate_all_launches()?;
    args.policies.0.apply(&mut machine);
    let command = command(&args.trace, &args.machine, &args.policies.0, &args.overrides.overrides);
    let trace = NamedTrace::open(&args.trace)?;
    let selected = args.part.selection().of(&trace.trace)?;
    // Fails before any work if the trace cannot run on the machine.
    let original = Cell::new(&trace, machine.clone(), &args.overrides.overrides, command.clone())?;
    let interrupt = Interrupt::install()?;
    let watch = SampleProgress::new(interrupt.clone());
    let census =
        watch.over("CTAs measured", |progress| Census::of(&trace.trace, &selected, progress))?;
    let plan = Plan::new(&selected, &census, &args.size.design_or(FRACTION));
    let whole = whole_kernels(&trace.trace, &plan, &census, &machine);
    let no_interval = NoInterval::of(&plan, &whole);
    let samples = Samples { replicates: args.replicates, seed: args.size.seed, full: args.full };
    let parts = samples.parts(&plan, &selected);
    warn_of_many_samples(&parts, args, &census);
    let folder = tempfile::tempdir().context("failed to create a temporary directory")?;
    let jobs = args.jobs.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let go_on = || match interrupt.is_asked() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let traces = write_parts(&trace, &parts, folder.path(), jobs, &go_on)?;
    let cell =
        |trace| Cell::new(trace, machine.clone(), &args.overrides.overrides, command.clone());
    let cells = traces.iter().map(cell).collect::<Result<Vec<_>, CellError>>()?;
    let results = run(&cells, jobs, interrupt)?;

    let replicates = samples.ratios(&plan, &results, &whole);
    let full = results.last().filter(|_| args.full).map(measured);
    let said = Said {
        rows: metric_estimates(&replicates, full.as_ref()),
        replicates: replicates.len(),
        no_interval,
    };
    print(&match args.format {
        Format::Table => said.text(full.is_some()),
        Format::Json => format::json(&said.objects(&original.key)),
        Format::Csv => format::csv(&said.objects(&original.key)),
    })
}

/// Returns the text shown instead of an interval.
fn cell(no_interval: &NoInterval) -> &'static str {
    match no_interval {
        NoInterval::Whole => "exact",
        NoInterval::Unfilled(_) => "not filled",
    }
}

fn reason(no_interval: &NoInterval) -> String {
    let unfilled = match no_interval {
        NoInterval::Whole => {
            return "the sample is the whole selection: simulated once, exact".to_owned();
        }
        NoInterval::Unfilled(unfilled) => unfilled,
    };
    let Unfilled { kernels, of, at_least } = unfilled;
    let advice = match at_least {
        Some(ctas) => format!("--at-least {ctas} would"),
        None => "only the whole trace would (`warpmem run`)".to_owned(),
    };
    format!("the samples of {kernels} of {of} kernels do not fill the machine twice; {advice}")
}

/// Warns if the samples together are more work than the whole.
fn warn_of_many_samples(parts: &[Part], args: &Args, census: &Census) {
    let samples = if args.full { &parts[..parts.len() - 1] } else { parts };
    let ctas: u64 = samples.iter().map(Part::ctas).sum();
    let all: usize = census.kernels.iter().map(Vec::len).sum();
    if samples.len() > 1 && ctas > all as u64 {
        let times = ctas as f64 / all as f64;
        note(&format!(
            "note: the samples and their halves hold {times:.1} times the selected CTAs; `warpmem run` simulates them once"
        ));
    }
}

fn run(cells: &[Cell<'_>], jobs: usize, interrupt: Interrupt) -> anyhow::Result<Vec<RunResult>> {
    let ctas = cells.iter().map(|cell| cell.ctas()).sum();
    let instructions = cells.iter().map(|cell| cell.warp_instructions()).sum();
    let board = Board::new(interrupt, cells.len(), ctas, instructions);
    let simulate = |_, cell: &Cell<'_>| cell.simulate(&mut Discard, &board);
    let ends = side_by_side(cells, jobs.min(cells.len()), &board, simulate)?;
    let summary = board.finish();
    let (finished, failed): (Vec<_>, Vec<_>) = ends.into_iter().partition(Result::is_ok);
    if failed.is_empty() {
        note(&summary);
        return Ok(finished.into_iter().collect::<Result<_, _>>()?);
    }
    let kept = format!("{} of {} runs finished; no results are kept", finished.len(), cells.len());
    let failure = failed.into_iter().filter_map(Result::err).find(|error| !error.is_interruption());
    Err(failure.map_or_else(|| Interrupted { kept }.into(), anyhow::Error::new))
}

/// Printed estimate.
struct Said {
    rows: Vec<MetricEstimate>,
    replicates: usize,
    no_interval: Option<NoInterval>,
}

impl Said {
    fn text(&self, with_full: bool) -> String {
        let mut heading = vec!["metric", "estimate", "standard error", "95 % interval"];
        if with_full {
            heading.extend(["full run", "off by", "in interval"]);
        }
        let heading = heading.into_iter().map(str::to_owned).collect();
        let line = |row| self.line(row, with_full);
        let lines: Vec<Vec<String>> =
            [heading].into_iter().chain(self.rows.iter().map(line)).collect();
        let table = aligned(&lines, &[1, 2, 3, 4, 5]);
        match &self.no_interval {
            Some(no_interval) => format!("{table}\nNo interval: {}.\n", reason(no_interval)),
            None => table,
        }
    }

    fn line(
        &self,
        MetricEstimate { metric, estimate, full }: &MetricEstimate,
        with_full: bool,
    ) -> Vec<String> {
        let of = estimate.as_ref();
        let mut line = vec![
            metric.name.to_owned(),
            number(of.map(|estimate| estimate.value)),
            percent(of.and_then(Estimate::relative_error)),
            match &self.no_interval {
                Some(no_interval) => cell(no_interval).to_owned(),
                None => interval(of),
            },
        ];
        if with_full {
            let known = of.filter(|_| self.no_interval.is_none());
            let covered = known.zip(*full).and_then(|(estimate, full)| estimate.covers(full));
            let covered = covered.map_or("–", |covered| if covered { "yes" } else { "no" });
            line.extend([number(*full), signed_percent(error(of, *full)), covered.to_owned()]);
        }
        line
    }

    fn objects(&self, key: &RunKey) -> Vec<Map<String, Value>> {
        self.rows.iter().map(|row| self.object(row, key)).collect()
    }

    fn object(
        &self,
        MetricEstimate { metric, estimate, full }: &MetricEstimate,
        key: &RunKey,
    ) -> Map<String, Value> {
        let mut object = Map::new();
        let mut set = |name: &str, value: Value| drop(object.insert(name.to_owned(), value));
        set("trace", key.trace.as_str().into());
        set("machine", key.machine.name.as_str().into());
        let mut policies = key.machine.policy.clone();
        for slot in &SLOTS {
            set(slot.name, slot.policy_of(&mut policies).as_str().into());
        }
        let of = estimate.as_ref();
        let interval = of.filter(|_| self.no_interval.is_none()).and_then(Estimate::interval);
        set("metric", metric.name.into());
        set("unit", metric.unit.into());
        set("replicates", self.replicates.into());
        set("estimate", of.map(|estimate| estimate.value).into());
        set("standard_error", of.and_then(|estimate| estimate.standard_error).into());
        set("interval_low", interval.map(|[low, _]| low).into());
        set("interval_high", interval.map(|[_, high]| high).into());
        set("no_interval_because", self.no_interval.as_ref().map(reason).into());
        set("full", (*full).into());
        set("error", error(of, *full).into());
        object
    }
}
