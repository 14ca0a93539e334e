//! Finds, imports and opens the traces of the reference.

use super::super::import::BarProgress;
use super::super::interrupt::Interrupt;
use crate::import::{ImportError, ImportOptions, import_accel_sim};
use crate::record::ENGINE_VERSION;
use crate::study::correlate::{Planned, trace_name};
use crate::study::traces::NamedTrace;
use anyhow::Context;
use std::collections::HashMap;
use std::collections::hash_map::{DefaultHasher, Entry};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{fs, io};
use tempfile::TempDir;
use warpmem_trace::Trace;

/// Finds traces, and imports each once.
pub struct Traces {
    folder: PathBuf,
    /// Temporary folder, kept until the traces are no longer used.
    _temporary: Option<TempDir>,
    interrupt: Interrupt,
    /// Results of the imports so far, by file and number of kernels.
    known: HashMap<(PathBuf, usize), Result<PathBuf, String>>,
}

impl Traces {
    /// Makes a finder that writes imports to the folder `cache`, or to a temporary one.
    pub fn new(cache: Option<&Path>, interrupt: Interrupt) -> anyhow::Result<Traces> {
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
        Ok(Traces { folder, _temporary: temporary, interrupt, known: HashMap::new() })
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
                let path =
                    container(place, &run.trace, Some(kernels), &self.folder, &self.interrupt);
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
        open(&container(place, &name, None, &self.folder, &self.interrupt)?, &name)
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
    interrupt: &Interrupt,
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
    let template =
        format!("{{bar:30}} {name} · {{bytes}}/{{total_bytes}} · {{msg}} · {{eta}} left");
    let watch = BarProgress::new(&template, interrupt.clone());
    let imported = import_accel_sim(place, &output, &options, &watch);
    watch.bar.finish_and_clear();
    imported.with_context(failure)?;
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
