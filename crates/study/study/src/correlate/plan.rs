//! Selects runs of the reference, and our machines for them.

use super::error::RunFilterError;
use super::figures::{Figures, KernelFigures};
use super::reference::Reference;
use super::reference_run::{FIFO, FR_FCFS, ReferenceRun};
use super::summary::Comparison;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use warpmem_gpu::slots::List;
use warpmem_machine::{Machine, load};
use warpmem_params::{did_you_mean, nearest};

/// Configurations of Accel-Sim with a corresponding preset.
const KNOWN: [(&str, &str); 3] = [
    ("SM7_QV100", "accelsim-qv100"),
    ("SM75_RTX2060_S", "accelsim-rtx2060s"),
    ("SM86_RTX3070", "accelsim-rtx3070"),
];

/// Overrides of every run, before those of the user: launches take no time, because measured times
/// and those of references exclude it.
pub const WITHOUT_LAUNCHES: [&str; 2] = ["run.launch_latency=0", "run.launch=none"];
/// GPGPU-Sim's FIFO: its queue holds 2 requests per channel, reads and writes together.
const AS_FIFO: [&str; 2] = ["policy.dram_scheduler=fcfs(banks=overlap)", "dram.read_queue=2"];

/// Selection of the reference's runs, machines and traces.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    /// Only runs of these traces.
    pub only: Option<List>,
    /// No runs of these traces.
    pub exclude: Option<List>,
    /// Only runs on these machines, by our or the reference's name.
    pub machines: Option<List>,
    /// Only runs with these DRAM schedulers, by the reference's name.
    pub dram_schedulers: Option<List>,
    /// Our machines for configurations of the reference; they take precedence over the built-in
    /// ones.
    pub map: Vec<(String, String)>,
    /// Folder of the traces, instead of the paths in the reference.
    pub traces: Option<PathBuf>,
    /// Machine and trace of a log.
    pub machine: Option<String>,
    pub trace: Option<PathBuf>,
    /// Overrides of every machine.
    pub overrides: Vec<String>,
}

/// A run of the reference and our machine for it.
pub struct Planned {
    pub trace: String,
    /// Candidate paths of the trace; the first that exists is used.
    pub places: Vec<PathBuf>,
    /// The run's machine as readers know it.
    pub configuration: String,
    pub machine: Machine,
    /// Name or file of the machine and its overrides, for the command that runs it alone.
    pub machine_name: String,
    pub overrides: Vec<String>,
    pub reference: ReferenceRun,
}

impl Planned {
    /// Formats a label: `vecadd on SM7_QV100 with FIFO`.
    pub fn label(&self) -> String {
        label(&self.trace, &self.configuration, &self.reference.dram_scheduler)
    }

    /// Describes how `path`, with these kernels, differs from the trace of the run; none if it does
    /// not.
    pub fn refusal(&self, path: &Path, kernels: &[KernelFigures]) -> Option<String> {
        let reason = self.reference.other_kernels(kernels)?;
        let (label, path) = (self.label(), path.display());
        Some(format!("{label}: {path} is not the trace of the reference: {reason}"))
    }

    /// Combines our figures with the reference's.
    pub fn beside(self, ours: Figures) -> Comparison {
        Comparison {
            trace: self.trace,
            machine: self.machine.name,
            configuration: self.configuration,
            dram_scheduler: self.reference.dram_scheduler,
            ours,
            reference: self.reference.figures,
        }
    }
}

fn label(trace: &str, configuration: &str, dram_scheduler: &str) -> String {
    format!("{trace} on {configuration} with {dram_scheduler}")
}

/// Omitted runs, by reason.
#[derive(Default)]
pub struct Skipped(Vec<(String, Vec<String>)>);

impl Skipped {
    pub fn add(&mut self, label: String, reason: String) {
        match self.0.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, labels)) => labels.push(label),
            None => self.0.push((reason, vec![label])),
        }
    }

    /// Formats a note for each reason: `left out: vecadd on SM7_QV100 with FIFO and 2 more: …`.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(reason, labels)| {
            let others = match labels.len() - 1 {
                0 => String::new(),
                others => format!(" and {others} more"),
            };
            format!("left out: {}{others}: {reason}", labels[0])
        })
    }
}

/// A run of the reference with all its names, including those missing from its file.
struct Named {
    trace: String,
    configuration: String,
    /// Name or file of our machine, if there is one.
    machine: Option<String>,
    places: Vec<PathBuf>,
    run: ReferenceRun,
}

/// Callback for notes to the user about a reference.
pub type Note<'a> = dyn FnMut(&str) + 'a;

/// Selects the runs that pass the filters, in the reference's order; `skipped` collects those
/// without a machine.
///
/// # Errors
/// If the choice names something that does not exist, or a machine is not that of its log.
pub fn choose(
    choice: &RunFilter,
    references: Vec<Reference>,
    skipped: &mut Skipped,
    note: &mut Note<'_>,
) -> Result<Vec<Planned>, RunFilterError> {
    let mut runs = Vec::new();
    for Reference { path, runs: of_file } in references {
        for run in of_file {
            runs.push(named(choice, &path, run, note)?);
        }
    }
    filter(choice, &mut runs)?;
    let mut planned = Vec::new();
    for run in runs {
        let label = label(&run.trace, &run.configuration, &run.run.dram_scheduler);
        match plan(choice, run, note)? {
            Ok(run) => planned.push(run),
            Err(reason) => skipped.add(label, reason),
        }
    }
    Ok(planned)
}

fn named(
    choice: &RunFilter,
    path: &Path,
    mut run: ReferenceRun,
    note: &mut Note<'_>,
) -> Result<Named, RunFilterError> {
    let Some((trace, configuration)) = run.trace.take().zip(run.configuration.take()) else {
        return of_log(choice, path, run, note);
    };
    let map = choice.map.iter().map(|(name, machine)| (name.as_str(), machine.as_str()));
    let mut map = map.chain(KNOWN);
    let machine = map.find(|(name, _)| *name == configuration).map(|(_, m)| m.to_owned());
    let places = match &choice.traces {
        Some(folder) => {
            let last = run.trace_dir.as_deref().and_then(Path::file_name);
            let names = [Some(format!("{trace}.wmt").into()), last.map(PathBuf::from)];
            let names = names.into_iter().flatten().chain([PathBuf::from(&trace)]);
            let mut places: Vec<PathBuf> = names.map(|name| folder.join(name)).collect();
            places.dedup();
            places
        }
        None => {
            let folder = path.parent().unwrap_or(Path::new(""));
            run.trace_dir.iter().map(|place| folder.join(place)).collect()
        }
    };
    Ok(Named { trace, configuration, machine, places, run })
}

/// Names the trace and the machine of a log, which does not state them.
fn of_log(
    choice: &RunFilter,
    path: &Path,
    run: ReferenceRun,
    note: &mut Note<'_>,
) -> Result<Named, RunFilterError> {
    let (Some(trace), Some(machine)) = (&choice.trace, &choice.machine) else {
        return Err(RunFilterError::Log { path: path.to_owned() });
    };
    if !run.missing.is_empty() {
        note(&format!("note: {} does not state {}", path.display(), run.missing.join(", ")));
    }
    Ok(Named {
        trace: trace_name(trace),
        configuration: machine.clone(),
        machine: Some(machine.clone()),
        places: vec![trace.clone()],
        run,
    })
}

/// Names a trace: a kernel list after its folder, any other file after itself.
pub fn trace_name(path: &Path) -> String {
    let is_list =
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("kernelslist"));
    let parent = path.parent().filter(|parent| is_list && parent.file_name().is_some());
    let name = parent.unwrap_or(path).file_stem().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// A list given by the user, and the kind of names that it filters.
struct Filter<'a> {
    list: &'a Option<List>,
    what: &'static str,
    names: fn(&Named) -> Vec<&str>,
    /// Whether the list names the runs to keep or to omit.
    stays: bool,
}

fn filter(choice: &RunFilter, runs: &mut Vec<Named>) -> Result<(), RunFilterError> {
    let RunFilter { only, exclude, machines, dram_schedulers, .. } = choice;
    let filter = |list, what, names, stays| Filter { list, what, names, stays };
    let filters = [
        filter(only, "trace", |run| vec![&run.trace], true),
        filter(exclude, "trace", |run| vec![&run.trace], false),
        filter(
            machines,
            "machine",
            |run| run.machine.iter().chain([&run.configuration]).map(String::as_str).collect(),
            true,
        ),
        filter(dram_schedulers, "DRAM scheduler", |run| vec![&run.run.dram_scheduler], true),
    ];
    filters.iter().try_for_each(|filter| filter.check(runs))?;
    runs.retain(|run| filters.iter().all(|filter| filter.passes(run)));
    if runs.is_empty() {
        return Err(RunFilterError::NoRun);
    }
    Ok(())
}

impl Filter<'_> {
    fn passes(&self, run: &Named) -> bool {
        let is_listed = |list: &List| {
            (self.names)(run).iter().any(|name| list.0.iter().any(|listed| listed == name))
        };
        self.list.as_ref().is_none_or(|list| is_listed(list) == self.stays)
    }

    /// Refuses a name that matches no run.
    fn check(&self, runs: &[Named]) -> Result<(), RunFilterError> {
        let known: BTreeSet<&str> = runs.iter().flat_map(self.names).collect();
        let mut listed = self.list.iter().flat_map(|list| &list.0);
        let Some(unknown) = listed.find(|name| !known.contains(name.as_str())) else {
            return Ok(());
        };
        let meant = did_you_mean(nearest(unknown, known.iter().copied()));
        let known = known.into_iter().collect::<Vec<_>>().join(", ");
        Err(RunFilterError::Unknown { what: self.what, name: unknown.clone(), meant, known })
    }
}

/// Pairs the run with our machine, or explains why there is none.
fn plan(
    choice: &RunFilter,
    named: Named,
    note: &mut Note<'_>,
) -> Result<Result<Planned, String>, RunFilterError> {
    let Named { trace, configuration, machine, places, run } = named;
    let Some(machine_name) = machine else {
        return Ok(Err(format!(
            "no machine is known for {configuration}: --map {configuration}=MACHINE"
        )));
    };
    let as_scheduler: &[&str] = match run.dram_scheduler.as_str() {
        FR_FCFS => &[],
        FIFO => &AS_FIFO,
        other => {
            let reason = format!("unknown DRAM scheduler {other}; valid: {FR_FCFS} and {FIFO}");
            return Ok(Err(reason));
        }
    };
    if let Some(overrides) = &run.overrides {
        let label = label(&trace, &configuration, &run.dram_scheduler);
        note(&format!("note: {label} was run with options that are ignored here: {overrides}"));
    }
    let fixed = WITHOUT_LAUNCHES.iter().chain(as_scheduler).map(|text| (*text).to_owned());
    let overrides: Vec<String> = fixed.chain(choice.overrides.iter().cloned()).collect();
    let machine = load(&machine_name, &overrides)?;
    machine.validate_all_launches()?;
    if let Some(contradiction) = run.contradiction(&machine) {
        let label = label(&trace, &configuration, &run.dram_scheduler);
        return Err(RunFilterError::OtherMachine { label, machine: machine_name, contradiction });
    }
    Ok(Ok(Planned {
        trace,
        places,
        configuration,
        machine,
        machine_name,
        overrides,
        reference: run,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_called_after_its_folder() {
        let name = |path| trace_name(Path::new(path));
        assert_eq!(name("traces/spmv/kernelslist.g"), "spmv");
        assert_eq!(name("traces/spmv"), "spmv");
        assert_eq!(name("traces/spmv.wmt"), "spmv");
        assert_eq!(name("kernelslist.g"), "kernelslist");
    }
}
