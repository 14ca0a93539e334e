//! Runs of a reference simulator repeated here: its traces, found, imported and opened, and their runs on our
//! machines.

pub mod profile;

use anyhow::Context;
use rayon::prelude::*;
use std::collections::HashMap;
use std::collections::hash_map::{DefaultHasher, Entry};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{fs, io};
use tempfile::TempDir;
use warpmem_import::{ImportError, ImportOptions, ImportSummary};
use warpmem_record::ENGINE_VERSION;
use warpmem_study::cells::Watcher;
use warpmem_study::correlate::{
    Comparison, Figures, OursError, Past, Planned, Skipped, kernels_of, over_orders, run,
    trace_name,
};
use warpmem_study::traces::NamedTrace;
use warpmem_trace::Trace;

/// Imports a trace of Accel-Sim, given by its name in messages, its place, the file to write, and options.
pub type Import<'a> =
    dyn Fn(&str, &Path, &Path, &ImportOptions) -> Result<ImportSummary, ImportError> + 'a;

/// Finds traces, and imports each once.
pub struct Traces<'a> {
    folder: PathBuf,
    /// Temporary folder, kept until the traces are no longer used.
    _temporary: Option<TempDir>,
    import: &'a Import<'a>,
    /// Results of the imports so far, by file and number of kernels.
    known: HashMap<(PathBuf, usize), Result<PathBuf, String>>,
}

impl<'a> Traces<'a> {
    /// Makes a finder that writes imports to the folder `cache`, or to a temporary one.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub fn new(cache: Option<&Path>, import: &'a Import<'a>) -> anyhow::Result<Traces<'a>> {
        let (folder, temporary) = match cache {
            Some(folder) => {
                let failure = || format!("failed to create folder {}", folder.display());
                fs::create_dir_all(folder).with_context(failure)?;
                (folder.to_owned(), None)
            }
            None => {
                let temporary =
                    tempfile::tempdir().context("failed to create a temporary folder")?;
                (temporary.path().to_owned(), Some(temporary))
            }
        };
        Ok(Traces { folder, _temporary: temporary, import, known: HashMap::new() })
    }

    /// Opens the trace of a run, truncated to the kernels that the reference ran, or explains why
    /// there is none.
    ///
    /// # Errors
    /// If the user interrupts an import.
    pub fn open(&mut self, run: &Planned) -> anyhow::Result<Result<NamedTrace, String>> {
        let kernels = run.reference.figures.kernels.len();
        let Some(place) = run.places.iter().find(|place| place.exists()) else {
            let places: Vec<String> = run.places.iter().map(|p| p.display().to_string()).collect();
            return Ok(Err(match places.as_slice() {
                [] => "the reference does not state the location of its trace: --traces DIR"
                    .to_owned(),
                places => format!("there is no trace at {}; --traces DIR", places.join(", ")),
            }));
        };
        let path = match self.known.entry((place.clone(), kernels)) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(new) => {
                let path = container(place, &run.trace, Some(kernels), &self.folder, self.import);
                if let Err(error) = &path
                    && matches!(error.downcast_ref(), Some(ImportError::Cancelled))
                {
                    return Err(ImportError::Cancelled.into());
                }
                new.insert(path.map_err(|error| format!("{error:#}"))).clone()
            }
        };
        Ok(path.and_then(|path| open(&path, &run.trace).map_err(|error| format!("{error:#}"))))
    }

    /// Opens a trace that no run of a reference names.
    ///
    /// # Errors
    /// If it cannot be imported or opened.
    pub fn open_alone(&self, place: &Path) -> anyhow::Result<NamedTrace> {
        let name = trace_name(place);
        open(&container(place, &name, None, &self.folder, self.import)?, &name)
    }
}

/// Outcome of the runs.
#[derive(Default)]
pub struct Outcome {
    /// Comparisons, in the order of the reference.
    pub comparisons: Vec<Comparison>,
    /// Traces that differ from those of the reference, each with its run and the difference.
    pub refused: Vec<String>,
    /// First of the other failures.
    pub failure: Option<anyhow::Error>,
}

impl Outcome {
    /// Returns the reason for an incomplete outcome: the traces that differ, otherwise the first
    /// failure.
    pub fn error(self) -> Option<anyhow::Error> {
        let refused = self.refused.join("\n");
        if refused.is_empty() { self.failure } else { Some(anyhow::anyhow!(refused)) }
    }

    /// Finds our results for every run in the tables of earlier runs; `skipped` collects the others.
    ///
    /// # Errors
    /// If a table lacks a column.
    pub fn of_past(
        past: &Past,
        planned: Vec<Planned>,
        skipped: &mut Skipped,
    ) -> anyhow::Result<Outcome> {
        let mut outcome = Outcome::default();
        for run in planned {
            let figures = match past.find(&run)? {
                Ok(figures) => figures,
                Err(reason) => {
                    skipped.add(run.label(), reason);
                    continue;
                }
            };
            match run.refusal(&past.directory, &figures.kernels) {
                Some(refusal) => outcome.refused.push(refusal),
                None => outcome.comparisons.push(run.beside(figures)),
            }
        }
        Ok(outcome)
    }
}

/// Runs of the reference with their traces.
pub struct Runs {
    runs: Vec<(Planned, NamedTrace)>,
    /// First SMs of every run, its own first: its orders of the SMs.
    first_sms: Vec<Vec<u32>>,
    /// Traces that differ from those of the reference, each with its run and the difference.
    refused: Vec<String>,
}

impl Runs {
    /// Opens the traces, for `orders` runs of each; `skipped` collects the runs without one.
    ///
    /// # Errors
    /// If the user interrupts an import.
    pub fn open(
        planned: Vec<Planned>,
        traces: &mut Traces<'_>,
        orders: u32,
        skipped: &mut Skipped,
    ) -> anyhow::Result<Runs> {
        let mut runs: Vec<(Planned, NamedTrace)> = Vec::new();
        let mut refused = Vec::new();
        for run in planned {
            let trace = match traces.open(&run)? {
                Ok(trace) => trace,
                Err(reason) => {
                    skipped.add(run.label(), reason);
                    continue;
                }
            };
            match run.refusal(trace.trace.path(), &kernels_of(&trace.trace)) {
                Some(refusal) => refused.push(refusal),
                None => runs.push((run, trace)),
            }
        }
        let first_sms = runs.iter().map(|(run, _)| run.machine.first_sms(orders)).collect();
        Ok(Runs { runs, first_sms, refused })
    }

    /// Returns the number of runs of the reference.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Returns the number of runs, each in one order.
    pub fn len(&self) -> usize {
        self.first_sms.iter().map(Vec::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the sum of a number of their traces over all runs.
    pub fn sum(&self, of: fn(&NamedTrace) -> u64) -> u64 {
        self.in_order().map(|((_, trace), _)| of(trace)).sum()
    }

    /// Iterates over the runs in all orders.
    fn in_order(&self) -> impl Iterator<Item = (&(Planned, NamedTrace), u32)> {
        let both = self.runs.iter().zip(&self.first_sms);
        both.flat_map(|(run, first_sms)| first_sms.iter().map(move |&sm| (run, sm)))
    }

    /// Runs on `jobs` threads, 0 for one per processor; the figures are those over all orders.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn run(self, jobs: usize, watcher: &impl Watcher) -> anyhow::Result<Outcome> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
        let pool = pool.context("failed to start threads")?;
        let in_order: Vec<_> = self.in_order().collect();
        let run_one = |&((planned, trace), first): &(&(Planned, NamedTrace), u32)| {
            run(planned, trace.trace.path(), first, watcher)
        };
        let figures: Vec<Result<Figures, OursError>> =
            pool.install(|| in_order.par_iter().with_max_len(1).map(run_one).collect());
        let mut figures = figures.into_iter();
        let mut outcome = Outcome { refused: self.refused, ..Outcome::default() };
        for ((run, _), first_sms) in self.runs.into_iter().zip(&self.first_sms) {
            let mut of_run = figures.by_ref().take(first_sms.len());
            let own = of_run.next().context("a run has an order")?;
            let others: Vec<_> = of_run.collect();
            match over_orders(own, others.into_iter()) {
                Ok(figures) => outcome.comparisons.push(run.beside(figures)),
                Err(error) => outcome.failure = outcome.failure.or(Some(error.into())),
            }
        }
        Ok(outcome)
    }
}

fn open(path: &Path, name: &str) -> anyhow::Result<NamedTrace> {
    let trace = Trace::open(path)?;
    Ok(NamedTrace { name: name.to_owned(), trace })
}

/// Returns the .wmt file of `place`: the file itself, or an import of its first `kernels` kernels, or
/// of all.
fn container(
    place: &Path,
    name: &str,
    kernels: Option<usize>,
    folder: &Path,
    import: &Import<'_>,
) -> anyhow::Result<PathBuf> {
    if place.extension().is_some_and(|extension| extension == "wmt") {
        return Ok(place.to_owned());
    }
    let failure = || format!("failed to import {}", place.display());
    let id = source_id(place, kernels).with_context(failure)?;
    // The name comes from the reference and may be arbitrary.
    let is_plain = |c: char| c.is_alphanumeric() || "-_.+".contains(c);
    let name: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).take(100).collect();
    let count = kernels.map_or_else(|| "all".to_owned(), |kernels| kernels.to_string());
    let output = folder.join(format!("{name}-{count}-{id:016x}.wmt"));
    if output.is_file() {
        return Ok(output);
    }
    let selected = kernels.map_or_else(String::new, |kernels| format!(" --kernels 1..{kernels}"));
    let options = ImportOptions {
        kernels: kernels.map(|kernels| 1..=kernels),
        command: format!("warpmem import accel-sim {}{selected}", place.display()),
        ..ImportOptions::default()
    };
    import(&name, place, &output, &options).with_context(failure)?;
    Ok(output)
}

/// Computes an id that changes with the files of a trace, the imported kernels, and the version of
/// this program.
fn source_id(place: &Path, kernels: Option<usize>) -> io::Result<u64> {
    let mut hash = DefaultHasher::new();
    (ENGINE_VERSION, kernels, fs::canonicalize(place)?).hash(&mut hash);
    let folder = if place.is_dir() { place } else { place.parent().unwrap_or(Path::new("")) };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        files.push((entry.file_name(), metadata.len(), metadata.modified()?));
    }
    files.sort();
    files.hash(&mut hash);
    Ok(hash.finish())
}
