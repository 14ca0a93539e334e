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
use crate::machine::Machine;
use crate::study::correlate::WITHOUT_LAUNCHES;
use crate::study::correlate::profile::{
    Compared, Launch, Matching, Profile, Profiler, TraceLaunch, match_launches, summary,
};
use anyhow::{bail, ensure};
use clap::ValueHint;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use warpmem_support::text::counted;
use warpmem_trace::Trace;

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

/// Nsight Compute runs one kernel at a time, and its cycles include the start of the kernel.
const PROFILED: [&str; 2] = ["run.launch=profiled", "run.concurrent_kernels=false"];
/// It empties the caches before each kernel.
const COLD: &str = "run.cold_launches=true";
/// Relative difference below which clocks count as equal.
const SAME_CLOCK: f64 = 0.02;
/// Launches listed by a message.
const LISTED: usize = 8;

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let profiles = args.profiles.profiles.iter().map(|path| Profile::read(path));
    let profiles = profiles.collect::<Result<Vec<Profile>, _>>()?;
    let interrupt = Interrupt::install()?;
    let import = importer(interrupt.clone());
    let traces = Traces::new(args.places.cache.as_deref(), &import)?;
    let place = args.places.trace.as_deref().expect("--profile requires --trace");
    let trace = traces.open_alone(place)?;
    let launches = launches_of(&trace.trace);
    let matchings: Vec<Matching> =
        profiles.iter().map(|profile| match_launches(&launches, &profile.launches)).collect();
    ensure_matches(&launches, &profiles, &matchings)?;
    let profilers: BTreeSet<Profiler> = profiles.iter().map(|profile| profile.profiler).collect();
    let machines = profilers.into_iter().map(|profiler| Ok((profiler, plan(args, profiler)?)));
    let machines = machines.collect::<anyhow::Result<BTreeMap<Profiler, ours::Planned>>>()?;
    let ours = ours::run_all(&trace, &machines, interrupt)?;
    let both = profiles.iter().zip(&matchings);
    let compared: Vec<Compared> = both
        .map(|(profile, matching)| {
            let profiler = &profile.profiler;
            let hz = 1e6 * f64::from(machines[profiler].machine.clocks.core_mhz);
            Compared { profile, trace: &launches, matching, ours: &ours[profiler], hz }
        })
        .collect();
    for one in &compared {
        note_clocks(one.profile, &machines[&one.profile.profiler].machine);
        note_unmatched(one);
    }
    let machine = &machines.values().next().expect("there is a profile").machine.name;
    let rows: Vec<_> = compared.iter().flat_map(Compared::rows).collect();
    ensure!(!rows.is_empty(), "the profile has no metric that can be compared");
    let report =
        table::Report { trace: &trace.name, machine, summary: summary(&rows), rows, compared };
    print(&match args.format {
        Format::Table => report.text(),
        Format::Json => report.json()?,
        Format::Csv => format::csv(&report.csv_rows()?),
    })
}

fn launches_of(trace: &Trace) -> Vec<TraceLaunch> {
    let launch = |kernel: &warpmem_trace::Kernel| {
        let info = &kernel.info;
        TraceLaunch { name: info.name.clone(), grid: info.grid, block: info.block }
    };
    trace.kernels().iter().map(launch).collect()
}

/// Loads the machine, under the conditions of a profiler.
fn plan(args: &Args, profiler: Profiler) -> anyhow::Result<ours::Planned> {
    let name = args.choice.machine.as_deref().expect("--profile requires --machine");
    let mut own = WITHOUT_LAUNCHES.to_vec();
    if profiler == Profiler::NsightCompute {
        own.extend(PROFILED);
        own.extend((!args.profiles.warm).then_some(COLD));
    }
    let given = args.overrides.overrides.iter().cloned();
    let overrides: Vec<String> = own.into_iter().map(str::to_owned).chain(given).collect();
    let overrides = Overrides { overrides };
    let machine = overrides.apply(name)?;
    machine.validate_all_launches()?;
    Ok(ours::Planned { name: name.to_owned(), machine, overrides: overrides.overrides })
}

/// Refuses profiles of other programs.
fn ensure_matches(
    trace: &[TraceLaunch],
    profiles: &[Profile],
    matchings: &[Matching],
) -> anyhow::Result<()> {
    if matchings.iter().any(|matching| !matching.matches.is_empty()) {
        return Ok(());
    }
    let ours = shortly(trace.iter().map(TraceLaunch::to_string));
    let theirs = profiles.iter().flat_map(|profile| &profile.launches);
    let theirs = shortly(theirs.map(Launch::to_string));
    bail!(
        "no launch of the trace is in the profile: names, grids and blocks must be the same\n  \
         trace: {ours}\n  profile: {theirs}"
    );
}

/// Notes clocks of the GPU that differ from the machine's.
fn note_clocks(profile: &Profile, machine: &Machine) {
    let (path, name) = (profile.path.display(), &machine.name);
    let core = f64::from(machine.clocks.core_mhz);
    let differs = |theirs: f64, ours: f64| (theirs - ours).abs() > SAME_CLOCK * ours;
    match profile.sm_clock().map(|hz| hz / 1e6) {
        Some(mhz) if differs(mhz, core) => note(&format!(
            "note: {path}: the SMs ran at {mhz:.0} MHz, those of `{name}` run at {core:.0} MHz; \
             --set clocks.core_mhz={mhz:.0} removes the difference"
        )),
        None if profile.launches.iter().any(Launch::has_only_duration) => note(&format!(
            "note: {path} has durations and no clock: cycles are at the {core:.0} MHz of `{name}`; \
             --set clocks.core_mhz=… if the GPU ran at another clock"
        )),
        _ => {}
    }
    // The clock of a profile is half of the data rate of a pin.
    let transfers = f64::from(machine.dram.transfers_per_clock);
    let dram = f64::from(machine.clocks.dram_mhz);
    if let Some(mhz) = profile.dram_clock().map(|hz| 2.0 * hz / 1e6 / transfers)
        && differs(mhz, dram)
    {
        note(&format!(
            "note: {path}: DRAM ran at {mhz:.0} MHz by the clock of `{name}`, which has {dram:.0} MHz; \
             --set clocks.dram_mhz={mhz:.0} removes the difference"
        ));
    }
}

/// Lists the launches that one side lacks.
fn note_unmatched(compared: &Compared) {
    let path = compared.profile.path.display().to_string();
    let [trace, profile] = compared.unmatched();
    for (launches, side, other) in
        [(trace, "the trace", path.as_str()), (profile, &path, "the trace")]
    {
        let count: usize = launches.iter().map(|(_, count)| count).sum();
        if count > 0 {
            let listed = shortly(launches.iter().map(|(launch, count)| match count {
                1 => launch.clone(),
                count => format!("{launch} ({count} times)"),
            }));
            complain(&format!(
                "left out: {} of {side} {} not in {other}: {listed}",
                counted(count, "launch"),
                if count == 1 { "is" } else { "are" }
            ));
        }
    }
}

/// Joins the first texts.
fn shortly(texts: impl Iterator<Item = String>) -> String {
    let texts: Vec<String> = texts.collect();
    let first = texts.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", ");
    match texts.len().saturating_sub(LISTED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Our metrics of each launch.
type Metrics = Vec<Map<String, Value>>;
