//! `warpmem dram --stream …`: drives channels with a stream of requests.

use super::super::format::Format;
use super::super::interrupt::Interrupt;
use super::super::machines::{MACHINE_HELP, MachineName, Overrides, check_standard};
use super::super::output::{note, print, warn};
use super::super::progress::bar;
use super::rows;
use crate::cli::files::{InputFile, OutputFile};
use crate::dram::{CommandSink, Dram};
use crate::machine::DEFAULT_MACHINE;
use crate::record::command_log::CommandLogWriter;
use crate::slots::{List, PolicySlot};
use crate::standalone::dram::{
    Device, Mix, Origin, Outcome, Pattern, RateText, Sources, StandaloneError, Stream, run_with_log,
};
use anyhow::{Context, bail};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{ArgGroup, ValueHint};
use indicatif::{HumanCount, ProgressBar};
use rayon::prelude::*;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::thread::available_parallelism;
use std::time::Instant;

#[derive(clap::Args, Debug)]
#[command(group = ArgGroup::new("origin").args(["stream", "trace"]).required(true))]
pub struct StreamArgs {
    /// Requests to generate
    #[arg(long, value_name = "PATTERN", value_parser = streams(), help_heading = ORIGIN)]
    stream: Option<String>,
    /// Accesses to read: CSV with a heading (`op`, `address`, and if known `cycle`, `bytes`, `sm`,
    /// `warp`, `load`, `pc`), or the formats of Ramulator (`0x1f40 R`, `LD 0x1f40`, `R 0,0,1,2,100,3`,
    /// `3 8000 9024`), DRAMsim3 (`0x1f40 READ 17`) and DRAMSys (`8: read 0x1f40`); may be compressed
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = ORIGIN)]
    trace: Option<InputFile>,
    /// Requests of the stream, to all channels together
    #[arg(long, value_name = "N", default_value_t = 1_000_000, help_heading = GENERATED, conflicts_with = "trace")]
    requests: u64,
    /// Requests per visit of a row
    #[arg(long, value_name = "K", help_heading = GENERATED, conflicts_with = "trace")]
    locality: Option<u32>,
    /// Fraction of the requests that are reads
    #[arg(long, value_name = "FRACTION", default_value_t = 1.0, help_heading = GENERATED, conflicts_with = "trace")]
    reads: f64,
    /// Bytes from one address to the next, for `--stream strided`
    #[arg(long, value_name = "BYTES", help_heading = GENERATED, conflicts_with = "trace")]
    stride: Option<u64>,
    /// Channels to drive, each with its share of the requests; 1 by default. With `strided` and `--trace` all
    /// channels of the machine are driven
    #[arg(long, value_name = "N", help_heading = GENERATED, conflicts_with = "trace")]
    channels: Option<u32>,
    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = GENERATED, conflicts_with = "trace")]
    seed: u64,
    /// Bytes of a request, a power of two; by default the bytes of a column command
    #[arg(long, value_name = "BYTES", help_heading = REQUESTS)]
    bytes: Option<u32>,
    /// Requests of each channel per command clock cycle, such as `0.25`, or `20GB/s`; by default as
    /// fast as a channel accepts them, or at the cycles of the file
    #[arg(long, value_name = "RATE", value_parser = RateText::parse, help_heading = REQUESTS)]
    rate: Option<RateText>,
    /// Number of SMs that issue the loads, in round-robin order
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = REQUESTS)]
    sources: u32,
    /// Warps of each SM that issue its loads, in round-robin order
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = REQUESTS)]
    warps: u32,
    /// Consecutive requests of a channel that form one warp's load
    #[arg(long, value_name = "K", default_value_t = 1, help_heading = REQUESTS)]
    group: u32,
    #[arg(long, value_name = "NAME|FILE", default_value = DEFAULT_MACHINE, help = MACHINE_HELP, value_hint = ValueHint::FilePath, help_heading = CHANNELS)]
    machine: MachineName,
    /// Channel of a DRAM standard instead of the machine's, such as `gddr5` or
    /// `hbm2:HBM2_8Gb:HBM2_2000Mbps`, or of a TOML file
    #[arg(long, value_name = "NAME[:ORGANISATION[:SPEED]]", help_heading = CHANNELS)]
    standard: Option<String>,
    /// Address map, as `--set dram.address.map=…`
    #[arg(long, value_name = "MAP", help_heading = CHANNELS)]
    map: Option<String>,
    #[command(flatten)]
    overrides: Overrides,
    /// Which request a DRAM bank serves next: one policy, or several to compare (`warpmem list
    /// dram-schedulers`); the machine's own by default
    #[arg(long, value_name = "POLICY,…|all", value_parser = List::parse, help_heading = CHANNELS)]
    dram_scheduler: Option<List>,
    /// Log every command of the only scheduler, for `warpmem dram check`; Parquet if the name ends
    /// in .parquet
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    command_log: Option<OutputFile>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Runs at a time; by default one per processor. The results are the same with any number
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
}

const ORIGIN: &str = "Stream (one of these)";
const GENERATED: &str = "Generated streams";
const REQUESTS: &str = "Requests";
const CHANNELS: &str = "Channels";

pub const AFTER_HELP: &str = "\
The same stream, options and seed give the same numbers, on any number of threads.

Examples:
  warpmem dram --stream random --locality 4 --reads 0.7 --dram-scheduler fcfs,banked-fifo,fr-fcfs
  warpmem dram --stream sequential --rate 20GB/s --standard hbm2 --format json
  warpmem dram --trace accesses.csv --set dram.read_queue=32
  warpmem dram --stream random --standard gddr6 --command-log log.csv && warpmem dram check log.csv";

/// Name of the stream given by addresses.
const STRIDED: &str = "strided";

fn streams() -> PossibleValuesParser {
    let strided = PossibleValue::new(STRIDED).help("addresses from 0 on, `--stride` bytes apart");
    let patterns = Pattern::ALL.map(|(name, _, summary)| PossibleValue::new(name).help(summary));
    PossibleValuesParser::new(patterns.into_iter().chain([strided]))
}

pub fn execute(args: &StreamArgs) -> anyhow::Result<()> {
    let device = args.device()?;
    check_standard(&device.dram, &[("--command-log", args.command_log.as_deref())])?;
    let stream = args.stream(&device)?;
    let slot = PolicySlot::find("dram_scheduler").context("no slot for DRAM schedulers")?;
    let schedulers = args.dram_scheduler.as_ref().map(|list| list.of(slot));
    let schedulers = schedulers.unwrap_or_else(|| vec![device.scheduler.clone()]);
    let board = Board::new(Interrupt::install()?, &stream, schedulers.len());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs(args)).build();
    let pool = pool.context("failed to start threads")?;
    let outcomes: Result<Vec<Outcome>, StandaloneError> = match &args.command_log {
        Some(path) => {
            let [scheduler] = &schedulers[..] else {
                bail!("`--command-log` takes a single scheduler, not {}", schedulers.len());
            };
            let channels = match stream.origin {
                Origin::Pattern { channels, .. } => channels,
                _ => device.dram.channels,
            };
            let driven = Dram { channels, ..device.dram.clone() };
            let mut log = CommandLogWriter::create(path, &driven)?;
            let outcome = board.run(&device, scheduler, &stream, Some(&mut log));
            if outcome.is_ok() {
                log.finish()?;
            }
            outcome.map(|outcome| vec![outcome])
        }
        None => {
            let simulate = |scheduler: &String| board.run(&device, scheduler, &stream, None);
            pool.install(|| schedulers.par_iter().with_max_len(1).map(simulate).collect())
        }
    };
    let outcomes =
        outcomes.with_context(|| format!("failed to drive the channels of {}", device.name))?;
    note(&board.finish());
    outcomes.first().and_then(|outcome| outcome.note).into_iter().for_each(note);
    print(&rows::print(outcomes, args.format))
}

fn jobs(args: &StreamArgs) -> usize {
    args.jobs
        .map_or_else(|| available_parallelism().map_or(1, NonZeroUsize::get), NonZeroUsize::get)
}

impl StreamArgs {
    fn device(&self) -> Result<Device, StandaloneError> {
        let map = self.map.iter().map(|map| format!("dram.address.map={map}"));
        let overrides: Vec<String> = map.chain(self.overrides.overrides.iter().cloned()).collect();
        let device = Device::load(&self.machine, self.standard.as_deref(), &overrides)?;
        device.warnings.iter().for_each(|warning| warn(warning));
        Ok(device)
    }

    fn stream(&self, device: &Device) -> anyhow::Result<Stream> {
        Ok(Stream {
            origin: self.origin()?,
            bytes: self.bytes.unwrap_or(device.dram.burst_bytes()),
            rate: self.rate,
            sources: Sources { sms: self.sources, warps: self.warps, group: self.group },
        })
    }

    fn origin(&self) -> anyhow::Result<Origin> {
        if let Some(path) = &self.trace {
            return Ok(Origin::file(path)?);
        }
        let name = self.stream.as_deref().unwrap_or(STRIDED);
        let mix = Mix { requests: self.requests, reads: self.reads, seed: self.seed };
        let Some(pattern) = Pattern::named(name) else {
            let unused = [("locality", self.locality), ("channels", self.channels)];
            refuse_unused(name, &unused)?;
            let stride = self.stride.context("`--stream strided` needs `--stride`")?;
            return Ok(Origin::Strided { stride, mix });
        };
        refuse_unused(name, &[("stride", self.stride)])?;
        let (locality, channels) = (self.locality.unwrap_or(1), self.channels.unwrap_or(1));
        Ok(Origin::Pattern { pattern, locality, channels, mix })
    }
}

fn refuse_unused<T>(stream: &str, options: &[(&str, Option<T>)]) -> anyhow::Result<()> {
    match options.iter().find(|(_, value)| value.is_some()) {
        Some((option, _)) => bail!("`--{option}` has no effect with `--stream {stream}`"),
        None => Ok(()),
    }
}

/// Progress of all runs together.
struct Board {
    bar: ProgressBar,
    begun: Instant,
    interrupt: Interrupt,
}

impl Board {
    fn new(interrupt: Interrupt, stream: &Stream, runs: usize) -> Board {
        let bar = match stream.requests() {
            Some(requests) => {
                let bar =
                    bar("{bar:30} {percent:>3} % · {human_pos} requests · {per_sec} · {eta} left");
                bar.set_length(requests * runs as u64);
                bar
            }
            None => bar("{spinner} {human_pos} requests · {per_sec}"),
        };
        Board { bar, begun: Instant::now(), interrupt }
    }

    fn run(
        &self,
        device: &Device,
        scheduler: &str,
        stream: &Stream,
        commands: Option<&mut dyn CommandSink>,
    ) -> Result<Outcome, StandaloneError> {
        let mut progress = |served| {
            self.bar.inc(served);
            if self.interrupt.is_asked() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        run_with_log(device, scheduler, stream, &mut progress, commands)
    }

    /// Removes the bar and returns the summary: `2,000,000 requests in 1.2 s, 1,666,666 per
    /// second`.
    fn finish(self) -> String {
        let (requests, seconds) = (self.bar.position(), self.begun.elapsed().as_secs_f64());
        self.bar.finish_and_clear();
        format!(
            "{} requests in {seconds:.1} s, {} per second",
            HumanCount(requests),
            HumanCount((requests as f64 / seconds) as u64)
        )
    }
}
