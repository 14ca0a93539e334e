//! `warpmem network`: a stand-alone network.

mod loads;
#[cfg(feature = "tables")]
mod plot;
mod rows;
mod run;

use super::format::Format;
use super::machines::{MACHINE_HELP, MachineName, Overrides};
use super::output::{note, print};
#[cfg(not(feature = "tables"))]
use super::tables as plot;
use super::tables::{PlotFile, check_plot, parse_plot};
use crate::machine::{DEFAULT_MACHINE, Machine, MachineError};
use crate::slots::{List, PolicySlot};
use crate::standalone::network::{Curve, PATTERNS, Setup, StandaloneError, Window};
use anyhow::Context;
use clap::ValueHint;
use loads::Loads;
use run::Plan;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

/// Drive a stand-alone network with synthetic traffic, and print its latency against load
///
/// Sources generate packets independently in every cycle and queue them without limit. After a
/// warm-up, the packets of a measurement window are tracked until they arrive, at constant load.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    #[command(flatten)]
    traffic: Traffic,
    #[command(flatten)]
    networks: Networks,
    /// Draw the curves, as SVG, PDF or PNG according to the file name
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = parse_plot)]
    plot: Option<PlotFile>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Loads at a time; by default one per processor. The results are the same with any number
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
}

/// The traffic.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Traffic")]
struct Traffic {
    #[arg(long, value_name = "PATTERN", default_value = "uniform", help = pattern_help())]
    pattern: String,
    /// Nodes, which all send and receive, 64 by default; not with `many-to-few` and `few-to-many`
    #[arg(long, value_name = "N")]
    nodes: Option<usize>,
    /// Loads, in flits per source and cycle: `0.1,0.2`, or `0.05..0.95/10` for ten evenly spaced
    /// ones; by default steps of a twentieth of the load that the busiest terminal could accept, up
    /// to saturation
    #[arg(long, value_name = "LOADS", value_parser = Loads::parse)]
    rate: Option<Loads>,
    /// Flits per packet
    #[arg(long, value_name = "N", default_value_t = 1)]
    packet_flits: u64,
    /// Warm-up cycles before the measurement window
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    warmup: u64,
    /// Cycles of the measurement window
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    cycles: u64,
    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// The network.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Networks")]
struct Networks {
    #[arg(long, value_name = "NAME|FILE", default_value = DEFAULT_MACHINE, help = MACHINE_HELP, value_hint = ValueHint::FilePath)]
    machine: MachineName,
    #[command(flatten)]
    overrides: Overrides,
    /// How the network connects its terminals: one topology, or several to compare (`warpmem list topologies`); the
    /// machine's own by default
    #[arg(long, value_name = "POLICY,…|all", value_parser = List::parse)]
    topology: Option<List>,
    /// Which input an output serves next: one rule, or several to compare (`warpmem list arbiters`); the machine's
    /// own by default
    #[arg(long, value_name = "POLICY,…|all", value_parser = List::parse)]
    arbiter: Option<List>,
    /// How routers match inputs and outputs, as `--set network.allocator=…` (`warpmem list allocators`)
    #[arg(long, value_name = "POLICY")]
    allocator: Option<String>,
}

const AFTER_HELP: &str = "\
The same options and seed give the same numbers, on any number of threads.

Examples:
  warpmem network --topology mesh,ring --nodes 64 --set network.virtual_channels=4 --plot load.svg
  warpmem network --topology 'crossbar(form=router)' --allocator 'pim(iterations=2)' --rate 0.5..1/6
  warpmem network --pattern 'hotspot(fraction=0.2,nodes=4)' --packet-flits 5 --format csv
  warpmem network --pattern many-to-few --machine li2015 --arbiter all";

fn pattern_help() -> String {
    let names: Vec<String> =
        PATTERNS.infos().map(|info| format!("`{}` ({})", info.name, info.summary)).collect();
    format!("Where packets go: {}", names.join("; "))
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let machine = args.networks.machine()?;
    let setup = args.traffic.setup(&machine)?;
    let plan = match &args.traffic.rate {
        Some(loads) => Plan { loads: loads.0.clone(), to_the_end: true },
        None => Plan { loads: setup.loads(), to_the_end: false },
    };
    let networks = args.networks.all(&machine)?;
    let setups = networks.iter().map(|(topology, arbiter)| setup.with(topology, arbiter));
    let curves = setups.map(Curve::new).collect::<Result<Vec<_>, _>>();
    let curves =
        curves.with_context(|| format!("failed to set up the network of {}", machine.name))?;
    check_plot(args.plot.as_ref())?;
    let jobs = args.jobs.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    let pool = pool.context("failed to start threads")?;
    let (curves, told) = pool.install(|| run::measure(&curves, &plan))?;
    if let Some(path) = &args.plot {
        plot::draw(path, &curves)?;
    }
    note(&told);
    print(&rows::print(&curves, args.format))
}

impl Networks {
    fn machine(&self) -> Result<Machine, MachineError> {
        let allocator = self.allocator.iter().map(|name| format!("network.allocator={name}"));
        let overrides = allocator.chain(self.overrides.overrides.iter().cloned()).collect();
        Overrides { overrides }.apply(&self.machine)
    }

    /// Returns every topology with every arbiter.
    fn all(&self, machine: &Machine) -> anyhow::Result<Vec<(String, String)>> {
        let given = |name, list: &Option<List>, own: &String| {
            let slot = PolicySlot::find(name).context("no such slot")?;
            let given = list.as_ref().map(|list| list.of(slot));
            anyhow::Ok(given.unwrap_or_else(|| vec![own.clone()]))
        };
        let topologies = given("topology", &self.topology, &machine.policy.topology)?;
        let arbiters = given("arbiter", &self.arbiter, &machine.policy.arbiter)?;
        let with =
            |topology: String| arbiters.iter().map(move |rule| (topology.clone(), rule.clone()));
        Ok(topologies.into_iter().flat_map(with).collect())
    }
}

impl Traffic {
    fn setup(&self, machine: &Machine) -> Result<Setup, StandaloneError> {
        let window = Window { warmup: self.warmup, cycles: self.cycles };
        Setup::new(machine, &self.pattern, self.nodes, self.packet_flits, self.seed, window)
    }
}
