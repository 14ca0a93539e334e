//! `warpmem correlate --profile`: profiles of a GPU against runs of our machine.

mod ours;
mod table;

use super::Args;
use super::ours::importer;
use crate::cli::files::InputFile;
use crate::cli::format::{self, Format};
use crate::cli::interrupt::Interrupt;
use crate::cli::machines::Overrides;
use crate::cli::output::{complain, note, print};
use crate::correlation::Traces;
use crate::correlation::profile::{Profiled, Report, clock_notes, unmatched_notes};
use clap::ValueHint;

/// Profiles as the reference.
#[derive(clap::Args, Clone, Debug)]
pub struct Profiles {
    /// Profile of a GPU, as Nsight Compute or nvprof prints it with --csv; may be repeated
    #[arg(long = "profile", value_name = "FILE", value_hint = ValueHint::FilePath, requires_all = ["trace", "machine"], conflicts_with_all = ["references", "hardware", "points", "only", "exclude", "machines", "dram_schedulers", "map", "traces", "results", "jobs", "speed", "orders", "kernels", "plot"])]
    pub profiles: Vec<InputFile>,
    /// Keep the caches between kernels, for a profile of `ncu --cache-control none`. Otherwise every
    /// kernel starts with empty caches, except for nvprof
    #[arg(long, requires = "profiles")]
    warm: bool,
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let interrupt = Interrupt::install()?;
    let import = importer(interrupt.clone());
    let traces = Traces::new(args.places.cache.as_deref(), &import)?;
    let place = args.places.trace.as_deref().expect("--profile requires --trace");
    let trace = traces.open_alone(place)?;
    let profiled = Profiled::read(&args.profiles.profiles, &trace.trace)?;
    let name = args.choice.machine.as_deref().expect("--profile requires --machine");
    let load = |overrides: &[String]| Ok(Overrides { overrides: overrides.to_vec() }.apply(name)?);
    let planned = profiled.plan(name, &args.overrides.overrides, args.profiles.warm, &load)?;
    let ours = ours::run_all(&trace, &planned, interrupt)?;
    let compared = profiled.compared(&planned, &ours);
    for one in &compared {
        let machine = &planned[&one.profile.profiler].machine;
        clock_notes(one.profile, machine).iter().for_each(|text| note(text));
        unmatched_notes(one).iter().for_each(|text| complain(text));
    }
    let machine = &planned.values().next().expect("there is a profile").machine.name;
    let report = Report::new(&trace.name, machine, compared)?;
    print(&match args.format {
        Format::Table => table::text(&report),
        Format::Json => format!("{:#}\n", report.object()?),
        Format::Csv => format::csv(&report.objects()?),
    })
}
