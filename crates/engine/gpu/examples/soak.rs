//! A long run with all checks: the launches of some traces, repeated, as one run, with assertions
//! and overflow checks in the engine (profile `soak`) and every DRAM command checked against the
//! rules of its standard. Prints its progress and the memory in use every half minute.
//!
//! ```sh
//! cargo run --profile soak -p warpmem-gpu --example soak -- accelsim-qv100 2 a.wmt b.wmt
//! ```

#![allow(clippy::print_stdout, reason = "a program")]

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};
use warpmem_dram::checker::{Checker, Violation};
use warpmem_dram::standard::Standard;
use warpmem_dram::{Command, CommandSink};
use warpmem_gpu::engine::{Progress, ProgressReport, Simulation};
use warpmem_gpu::results::{LoadRow, RunSink, SliceResult};
use warpmem_machine::{Machine, load};
use warpmem_trace::{
    CtaBuilder, Provenance, Record, Trace, TraceError, TraceWriter, WriterOptions,
};

const USAGE: &str = "usage: soak MACHINE TIMES TRACE...";
const PAUSE: Duration = Duration::from_secs(30);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [machine, times, traces @ ..] = &arguments[..] else { return Err(USAGE.into()) };
    let machine = load(machine, &[])?;
    let traces: Vec<Trace> =
        traces.iter().map(|path| Trace::open(Path::new(path))).collect::<Result<_, _>>()?;
    let all = std::env::temp_dir().join(format!("warpmem-soak-{}.wmt", std::process::id()));
    repeat(&traces, times.parse()?, &all)?;
    let end = run(&machine, &all);
    std::fs::remove_file(&all)?;
    end
}

/// Writes the launches of all traces in order, `times` times.
fn repeat(traces: &[Trace], times: usize, output: &Path) -> Result<(), TraceError> {
    let provenance = Provenance { tool: "soak".into(), ..Provenance::default() };
    let mut writer = TraceWriter::create(output, provenance, WriterOptions::default())?;
    for trace in traces.iter().cycle().take(times * traces.len()) {
        for kernel in 0..trace.kernels().len() {
            copy(trace, kernel, &mut writer)?;
        }
    }
    writer.finish().map(drop)
}

fn copy(trace: &Trace, index: usize, writer: &mut TraceWriter) -> Result<(), TraceError> {
    let kernel = &trace.kernels()[index];
    writer.begin_kernel(kernel.info.clone())?;
    let instructions = trace.instructions(index)?;
    let ids: Vec<_> = instructions.iter().map(|one| writer.intern(one)).collect();
    let (mut cta, mut record) = (CtaBuilder::new(), Record::new());
    for number in kernel.chunks.clone() {
        let chunk = trace.chunk(index, number)?;
        for (place, entry) in chunk.ctas().iter().enumerate() {
            cta.begin(entry.block);
            for (warp, entry) in entry.warps.iter().enumerate() {
                cta.begin_warp(entry.warp_in_cta);
                let mut cursor = chunk.warp(place, warp);
                while cursor.next(&mut record)? {
                    let id = ids[record.instruction.0 as usize];
                    cta.push(id, record.mask, &record.compute_lanes, record.active_addresses());
                }
            }
            writer.cta(&cta)?;
        }
    }
    writer.end_kernel()
}

fn run(machine: &Machine, trace: &Path) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let mut checkers = Checkers::new(machine);
    let mut watch = ProgressLog { start, last: start };
    let trace = Trace::open(trace)?;
    let result = Simulation::new(machine, &trace).progress(&mut watch).run(&mut checkers)?;
    let requests: u64 = result.slices.iter().map(accesses).sum();
    let Checkers { commands, violations, .. } = checkers;
    println!(
        "{requests} requests at the L2, {} core cycles, {commands} DRAM commands, {} of them illegal, \
         {:.0} s, {} MB in the end",
        result.core_cycles,
        violations.len(),
        start.elapsed().as_secs_f64(),
        resident_megabytes()
    );
    match violations.first() {
        Some(first) => Err(format!("the first illegal command: {first:?}").into()),
        None => Ok(()),
    }
}

/// Returns the requests that a slice has served.
fn accesses(slice: &SliceResult) -> u64 {
    let cache = &slice.cache;
    let reads = cache.read_hits + cache.read_misses + cache.read_sector_misses;
    let writes = cache.write_hits + cache.write_misses + cache.write_sector_misses;
    reads + cache.read_pending_hits + writes
}

/// A checker per channel, fed with commands as they issue.
struct Checkers {
    channels: Vec<Checker>,
    commands: u64,
    violations: Vec<Violation>,
}

impl Checkers {
    fn new(machine: &Machine) -> Checkers {
        let standard = Standard::of(&machine.dram).expect("a checked machine");
        let checker = |_| Checker::new(&machine.dram, &standard);
        let channels = (0..machine.dram.channels).map(checker).collect();
        Checkers { channels, commands: 0, violations: Vec::new() }
    }
}

impl RunSink for Checkers {
    fn load(&mut self, _: &LoadRow) {}

    fn commands(&mut self) -> Option<&mut dyn CommandSink> {
        Some(self)
    }
}

impl CommandSink for Checkers {
    fn commands(&mut self, channel: u16, commands: &[Command]) {
        let checker = &mut self.channels[usize::from(channel)];
        self.commands += commands.len() as u64;
        for &command in commands {
            self.violations.extend(checker.take(command));
        }
    }
}

struct ProgressLog {
    start: Instant,
    last: Instant,
}

impl Progress for ProgressLog {
    fn report(&mut self, report: &ProgressReport) -> bool {
        if self.last.elapsed() >= PAUSE {
            self.last = Instant::now();
            println!(
                "{:.0} s: {} of {} CTAs, {} core cycles, {} MB",
                self.start.elapsed().as_secs_f64(),
                report.ctas_ended,
                report.ctas,
                report.cycles,
                resident_megabytes()
            );
        }
        true
    }
}

/// Returns the memory in use, without mapped files; 0 where the system does not report it.
fn resident_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1000
}
