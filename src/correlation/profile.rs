//! Profiles of a GPU beside runs of our machine.

use anyhow::{bail, ensure};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread::available_parallelism;
use warpmem_gpu::results::Discard;
use warpmem_gpu::slots::PolicyChoices;
use warpmem_machine::Machine;
use warpmem_record::ncu_rows_json;
use warpmem_study::cells::{Cell, CellError, Watcher, command};
use warpmem_study::correlate::WITHOUT_LAUNCHES;
use warpmem_study::correlate::profile::{
    Compared, Launch, Matching, Profile, Profiler, Row, Summary, TraceLaunch, match_launches,
    summary,
};
use warpmem_study::traces::NamedTrace;
use warpmem_support::text::counted;
use warpmem_trace::Trace;

/// Nsight Compute runs one kernel at a time, and its cycles include the start of the kernel.
const PROFILED: [&str; 2] = ["run.launch=profiled", "run.concurrent_kernels=false"];
/// It empties the caches before each kernel.
const COLD: &str = "run.cold_launches=true";
/// Relative difference below which clocks count as equal.
const SAME_CLOCK: f64 = 0.02;
/// Launches listed by a message.
const LISTED: usize = 8;

/// Profiles, matched with the launches of a trace.
pub struct Profiled {
    profiles: Vec<Profile>,
    launches: Vec<TraceLaunch>,
    matchings: Vec<Matching>,
}

impl Profiled {
    /// Reads profiles of the program that the trace was made from.
    ///
    /// # Errors
    /// If a file is not a profile, or no launch of the trace is in one.
    pub fn read<P: AsRef<Path>>(paths: &[P], trace: &Trace) -> anyhow::Result<Profiled> {
        let profiles = paths.iter().map(|path| Profile::read(path.as_ref()));
        let profiles = profiles.collect::<Result<Vec<Profile>, _>>()?;
        let launches = launches_of(trace);
        let matchings: Vec<Matching> =
            profiles.iter().map(|profile| match_launches(&launches, &profile.launches)).collect();
        ensure_matches(&launches, &profiles, &matchings)?;
        Ok(Profiled { profiles, launches, matchings })
    }

    /// Loads the machine under the conditions of each profiler. `load` opens it with these
    /// overrides; caches are kept between kernels if `warm`.
    ///
    /// # Errors
    /// As `load`, or if a launch cannot run.
    pub fn plan(
        &self,
        name: &str,
        given: &[String],
        warm: bool,
        load: &dyn Fn(&[String]) -> anyhow::Result<Machine>,
    ) -> anyhow::Result<BTreeMap<Profiler, PlannedProfile>> {
        let profilers: BTreeSet<Profiler> =
            self.profiles.iter().map(|profile| profile.profiler).collect();
        let plan = |profiler| {
            let overrides = conditions(profiler, warm).map(str::to_owned);
            let overrides: Vec<String> = overrides.chain(given.iter().cloned()).collect();
            let machine = load(&overrides)?;
            machine.validate_all_launches()?;
            Ok((profiler, PlannedProfile { name: name.to_owned(), machine, overrides }))
        };
        profilers.into_iter().map(plan).collect()
    }

    /// Compares the profiles with our metrics of the runs of a plan.
    pub fn compared<'a>(
        &'a self,
        planned: &BTreeMap<Profiler, PlannedProfile>,
        ours: &'a BTreeMap<Profiler, Metrics>,
    ) -> Vec<Compared<'a>> {
        let both = self.profiles.iter().zip(&self.matchings);
        let compared = both.map(|(profile, matching)| {
            let profiler = &profile.profiler;
            let hz = 1e6 * f64::from(planned[profiler].machine.clocks.core_mhz);
            Compared { profile, trace: &self.launches, matching, ours: &ours[profiler], hz }
        });
        compared.collect()
    }
}

/// Returns the overrides that make a run like one under the profiler.
fn conditions(profiler: Profiler, warm: bool) -> impl Iterator<Item = &'static str> {
    let is_ncu = profiler == Profiler::NsightCompute;
    let profiled = PROFILED.into_iter().filter(move |_| is_ncu);
    WITHOUT_LAUNCHES.into_iter().chain(profiled).chain((is_ncu && !warm).then_some(COLD))
}

/// A machine with its name and the overrides that it includes.
pub struct PlannedProfile {
    pub name: String,
    pub machine: Machine,
    pub overrides: Vec<String>,
}

/// Our metrics of each launch.
pub type Metrics = Vec<Map<String, Value>>;

/// Runs the trace on a machine of a plan.
///
/// # Errors
/// If the run fails or is stopped.
pub fn run(
    trace: &NamedTrace,
    planned: &PlannedProfile,
    watcher: &impl Watcher,
) -> Result<Metrics, CellError> {
    let PlannedProfile { name, machine, overrides } = planned;
    let command = command(trace.trace.path(), name, &PolicyChoices::default(), overrides);
    let mut cell = Cell::new(trace, machine.clone(), overrides, command)?;
    cell.threads = available_parallelism().map_or(1, NonZeroUsize::get);
    let result = cell.simulate(&mut Discard, watcher)?;
    Ok(ncu_rows_json(&cell.key, &result))
}

/// Both sides of all profiles.
pub struct Report<'a> {
    pub trace: &'a str,
    pub machine: &'a str,
    pub rows: Vec<Row>,
    pub summary: Vec<Summary>,
    pub compared: Vec<Compared<'a>>,
}

impl<'a> Report<'a> {
    /// Makes the report on the compared profiles.
    ///
    /// # Errors
    /// If no metric can be compared.
    pub fn new(
        trace: &'a str,
        machine: &'a str,
        compared: Vec<Compared<'a>>,
    ) -> anyhow::Result<Report<'a>> {
        let rows: Vec<Row> = compared.iter().flat_map(Compared::rows).collect();
        ensure!(!rows.is_empty(), "the profile has no metric that can be compared");
        Ok(Report { trace, machine, summary: summary(&rows), rows, compared })
    }

    /// Returns the report as an object of `rows`, `summary` and `unmatched`.
    ///
    /// # Errors
    /// If a number has no form in JSON.
    pub fn object(&self) -> anyhow::Result<Value> {
        Ok(json!({
            "trace": self.trace,
            "machine": self.machine,
            "rows": self.objects()?,
            "summary": serde_json::to_value(&self.summary)?,
            "unmatched": self.compared.iter().map(unmatched).collect::<Vec<Value>>(),
        }))
    }

    /// Returns an object for each row.
    ///
    /// # Errors
    /// If a number has no form in JSON.
    pub fn objects(&self) -> anyhow::Result<Vec<Map<String, Value>>> {
        let object = |row: &Row| match serde_json::to_value(row)? {
            Value::Object(object) => Ok(object),
            other => anyhow::bail!("a row is {other}"),
        };
        self.rows.iter().map(object).collect()
    }
}

fn unmatched(compared: &Compared) -> Value {
    let [trace, profile] = compared.unmatched().map(|launches| {
        let launch = |(launch, count): (String, usize)| json!({"launch": launch, "count": count});
        launches.into_iter().map(launch).collect::<Vec<Value>>()
    });
    json!({
        "profile": compared.profile.path.display().to_string(),
        "only_in_trace": trace,
        "only_in_profile": profile,
    })
}

fn launches_of(trace: &Trace) -> Vec<TraceLaunch> {
    let launch = |kernel: &warpmem_trace::Kernel| {
        let info = &kernel.info;
        TraceLaunch { name: info.name.clone(), grid: info.grid, block: info.block }
    };
    trace.kernels().iter().map(launch).collect()
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
pub fn clock_notes(profile: &Profile, machine: &Machine) -> Vec<String> {
    let mut notes = Vec::new();
    let (path, name) = (profile.path.display(), &machine.name);
    let core = f64::from(machine.clocks.core_mhz);
    let differs = |theirs: f64, ours: f64| (theirs - ours).abs() > SAME_CLOCK * ours;
    match profile.sm_clock().map(|hz| hz / 1e6) {
        Some(mhz) if differs(mhz, core) => notes.push(format!(
            "note: {path}: the SMs ran at {mhz:.0} MHz, those of `{name}` run at {core:.0} MHz; \
             --set clocks.core_mhz={mhz:.0} removes the difference"
        )),
        None if profile.launches.iter().any(Launch::has_only_duration) => notes.push(format!(
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
        notes.push(format!(
            "note: {path}: DRAM ran at {mhz:.0} MHz by the clock of `{name}`, which has {dram:.0} MHz; \
             --set clocks.dram_mhz={mhz:.0} removes the difference"
        ));
    }
    notes
}

/// Lists the launches that one side lacks.
pub fn unmatched_notes(compared: &Compared) -> Vec<String> {
    let mut notes = Vec::new();
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
            notes.push(format!(
                "left out: {} of {side} {} not in {other}: {listed}",
                counted(count, "launch"),
                if count == 1 { "is" } else { "are" }
            ));
        }
    }
    notes
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
