//! Host time of each policy relative to the default of its slot on the same traces.
//!
//! `cargo bench --no-default-features --bench policies [-- [MACHINE] [SLOT…] [TRACE…]]`; by default
//! li2015, every slot and the sample traces. A policy that slows the machine simulates more cycles,
//! so the ratio of core cycles and the ratio of time per simulated cycle are printed too.
#![allow(clippy::print_stdout)]

use std::path::PathBuf;
use std::time::{Duration, Instant};
use warpmem::dram::prefetch::PREFETCHERS;
use warpmem::dram::scheduler::SCHEDULERS;
use warpmem::gpu::cta::scheduler::CTA_SCHEDULERS;
use warpmem::gpu::engine::Simulation;
use warpmem::gpu::ideal::IDEALS;
use warpmem::gpu::l2::queue::L2_QUEUES;
use warpmem::gpu::results::{Discard, RunResult};
use warpmem::gpu::sm::scheduler::WARP_SCHEDULERS;
use warpmem::machine::{Machine, Policies, load, preset_names};
use warpmem::network::TOPOLOGIES;
use warpmem::network::arbiter::ARBITERS;
use warpmem::translation::scheduler::WALK_SCHEDULERS;
use warpmem_trace::Trace;

/// Maximum cost of a policy relative to the default of its slot.
const TARGET: f64 = 1.20;
/// Number of runs, the fastest of which counts.
const ROUNDS: usize = 5;

/// A slot: its name, its policies and its field in a machine.
struct PolicySlot {
    name: &'static str,
    policies: Vec<&'static str>,
    of: fn(&mut Policies) -> &mut String,
}

macro_rules! slot {
    ($registry:ident, $field:ident) => {
        PolicySlot {
            name: stringify!($field),
            policies: $registry.names().collect(),
            of: |policies| &mut policies.$field,
        }
    };
}

fn slots() -> [PolicySlot; 9] {
    [
        slot!(SCHEDULERS, dram_scheduler),
        slot!(WARP_SCHEDULERS, warp_scheduler),
        slot!(CTA_SCHEDULERS, cta_scheduler),
        slot!(L2_QUEUES, l2_queue),
        slot!(TOPOLOGIES, topology),
        slot!(ARBITERS, arbiter),
        slot!(PREFETCHERS, prefetcher),
        slot!(WALK_SCHEDULERS, walk_scheduler),
        slot!(IDEALS, ideal),
    ]
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let machine = arguments.iter().find(|a| preset_names().any(|name| name == a.as_str()));
    // A ring needs two virtual channels.
    let overrides = ["network.virtual_channels=2".to_owned()];
    let machine = load(machine.map_or("li2015", String::as_str), &overrides).expect("a preset");
    let traces = traces(&arguments);
    println!(
        "{} on {} traces; target: at most {TARGET} times the default",
        machine.name,
        traces.len()
    );
    println!(
        "{:16} {:30} {:>8} {:>8} {:>8} {:>10} {:>7}",
        "slot", "policy", "time", "worst", "cycles", "time/cycle", "target"
    );
    let named = |slot: &PolicySlot| arguments.iter().any(|argument| argument == slot.name);
    let all = !slots().iter().any(named);
    for slot in slots().iter().filter(|slot| all || named(slot)) {
        slot.measure(&machine, &traces);
    }
}

/// Opens the named traces, or the samples.
fn traces(arguments: &[String]) -> Vec<Trace> {
    let given = arguments.iter().filter(|argument| argument.ends_with(".wmt"));
    let mut paths: Vec<PathBuf> = given.map(PathBuf::from).collect();
    if paths.is_empty() {
        let folders = ["sample-traces", "sample-traces/cache-resident"];
        let files = |folder| std::fs::read_dir(folder).expect("run in the project's folder");
        paths = folders.into_iter().flat_map(files).map(|e| e.expect("an entry").path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "wmt"));
        paths.sort();
    }
    paths.iter().map(|path| Trace::open(path).expect("a trace")).collect()
}

impl PolicySlot {
    fn measure(&self, machine: &Machine, traces: &[Trace]) {
        let default = (self.of)(&mut machine.policy.clone()).clone();
        for policy in &self.policies {
            let mut other = machine.clone();
            *(self.of)(&mut other.policy) = (*policy).to_owned();
            let ratios: Vec<Ratio> = traces.iter().map(|t| Ratio::of(&other, machine, t)).collect();
            let mean = |of: fn(&Ratio) -> f64| geometric_mean(ratios.iter().map(of));
            let (time, cycles) = (mean(|r| r.time), mean(|r| r.cycles));
            let worst = ratios.iter().map(|r| r.time).fold(0.0, f64::max);
            println!(
                "{:16} {:30} {time:8.2} {worst:8.2} {cycles:8.2} {:10.2} {:>7}",
                self.name,
                if *policy == default {
                    format!("{policy} (default)")
                } else {
                    (*policy).to_owned()
                },
                time / cycles,
                if time <= TARGET { "met" } else { "missed" },
            );
        }
    }
}

/// Ratio of one machine to another on the same trace.
struct Ratio {
    time: f64,
    cycles: f64,
}

impl Ratio {
    /// Alternates the runs of both, so that other load on the host affects them alike.
    fn of(machine: &Machine, base: &Machine, trace: &Trace) -> Ratio {
        let (mut times, mut cycles) = ([Duration::MAX; 2], [0; 2]);
        for _ in 0..ROUNDS {
            for (at, machine) in [machine, base].into_iter().enumerate() {
                let (result, time) = timed(machine, trace);
                times[at] = times[at].min(time);
                cycles[at] = result.core_cycles;
            }
        }
        Ratio {
            time: times[0].as_secs_f64() / times[1].as_secs_f64(),
            cycles: cycles[0] as f64 / cycles[1] as f64,
        }
    }
}

fn timed(machine: &Machine, trace: &Trace) -> (RunResult, Duration) {
    let start = Instant::now();
    let result = Simulation::new(machine, trace).run(&mut Discard);
    let time = start.elapsed();
    (result.unwrap_or_else(|error| panic!("{}: {error}", machine.name)), time)
}

fn geometric_mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count() as f64;
    (values.map(f64::ln).sum::<f64>() / count).exp()
}
