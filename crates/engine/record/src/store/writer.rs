//! A directory of results: one Parquet file per table; `loads/`, `requests/` and `intervals/` with
//! one file per run.

use super::files::at;
use super::finished::CELLS;
use super::recorder::{Recorded, RunRecorder, STREAMED};
use super::staging::Staging;
use crate::file::StreamedRow;
use crate::run::FinishedRun;
use crate::tables::write_tables;
use crate::{ResultsError, RunKey};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use warpmem_gpu::results::{IntervalRow, LoadRow, RequestRow, RunResult};

/// Contents of a finished results directory in renaming order. `runs.parquet` is last, so its presence
/// marks complete results.
pub(super) const CONTENTS: [&str; 14] = [
    LoadRow::TABLE,
    RequestRow::TABLE,
    IntervalRow::TABLE,
    "histograms.parquet",
    "network_links.parquet",
    "network_nodes.parquet",
    "networks.parquet",
    "policy_counters.parquet",
    "banks.parquet",
    "channels.parquet",
    "slices.parquet",
    "sms.parquet",
    "kernels.parquet",
    "runs.parquet",
];

/// Staging folder of incomplete files, with a folder per run.
const UNFINISHED: &str = "unfinished";

/// Writes the results of several runs into one directory.
///
/// Runs may be recorded concurrently and finish in any order on any thread; the files do not change.
/// Files are written in a hidden directory and renamed by [`ResultsWriter::finish`]; a writer dropped
/// earlier leaves nothing.
pub struct ResultsWriter {
    dir: PathBuf,
    staging: Staging,
    runs: Mutex<Runs>,
    /// Dropped after the staging directory that it contains.
    _made: Option<MadeDirectory>,
}

/// A created directory, removed again if it stays empty.
struct MadeDirectory(PathBuf);

impl Drop for MadeDirectory {
    fn drop(&mut self) {
        // Removes it only if it is empty.
        let _ = fs::remove_dir(&self.0);
    }
}

#[derive(Default)]
struct Runs {
    begun: HashSet<String>,
    /// Finished runs, by the index given at their start.
    finished: BTreeMap<usize, Arc<FinishedRun>>,
}

impl ResultsWriter {
    /// Creates `dir` if it does not exist, and removes it again without results.
    ///
    /// # Errors
    /// If `dir` holds results already, another process writes it, or it cannot be created or
    /// written.
    pub fn create(dir: &Path) -> Result<ResultsWriter, ResultsError> {
        let made = (!dir.exists()).then(|| MadeDirectory(dir.to_owned()));
        fs::create_dir_all(dir).map_err(at(dir, "create directory"))?;
        let staging = Staging::open(dir)?;
        check_empty(dir, CONTENTS.into_iter().chain([CELLS]))?;
        Ok(ResultsWriter { dir: dir.to_owned(), staging, runs: Mutex::default(), _made: made })
    }

    /// Begins a run that records `recorded`.
    ///
    /// # Errors
    /// If the directory is gone, a run of the same [`RunKey::run_id`] has begun before, or its files
    /// cannot be created.
    pub fn begin_run(&self, key: RunKey, recorded: Recorded) -> Result<RunRecorder, ResultsError> {
        self.staging.check()?;
        if !self.runs().begun.insert(key.run_id().to_owned()) {
            let (run_id, trace) = (key.run_id().to_owned(), key.trace);
            return Err(ResultsError::DuplicateRun { run_id, trace });
        }
        let folder = self.staging.path().join(UNFINISHED).join(key.run_id());
        RunRecorder::create(folder, key, recorded)
    }

    /// Adds a finished run at position `index` of the tables. A dropped recorder leaves nothing.
    ///
    /// # Errors
    /// If the directory is gone, or its rows could not be written.
    pub fn finish_run(
        &self,
        index: usize,
        mut recorder: RunRecorder,
        result: &RunResult,
    ) -> Result<(), ResultsError> {
        self.staging.check()?;
        recorder.close()?;
        let RunRecorder { key, folder: unfinished, recorded, .. } = recorder;
        for table in recorded.tables() {
            let folder = self.staging.path().join(table);
            fs::create_dir_all(&folder).map_err(at(&folder, "create directory"))?;
            let whole = folder.join(format!("{}.parquet", key.run_id()));
            let written = unfinished.join(format!("{table}.parquet"));
            fs::rename(written, &whole).map_err(at(&whole, "create"))?;
        }
        let run = Arc::new(FinishedRun::new(key, result.clone()));
        self.runs().finished.insert(index, run);
        Ok(())
    }

    /// Writes the tables of all finished runs and renames everything to its final name. Without a
    /// finished run it leaves nothing.
    ///
    /// # Errors
    /// If the directory is gone, or a file cannot be written or named. No file then keeps its final name.
    pub fn finish(self) -> Result<(), ResultsError> {
        let runs = self.runs.into_inner().unwrap_or_else(PoisonError::into_inner).finished;
        if runs.is_empty() {
            return Ok(());
        }
        self.staging.check()?;
        let folder = self.staging.path();
        write_tables(folder, &runs.into_values().collect::<Vec<_>>())?;
        let left_out = |name: &&str| STREAMED.contains(name) && !folder.join(name).exists();
        let mut named = Vec::new();
        let mut name_all = || {
            for name in CONTENTS.into_iter().filter(|name| !left_out(name)) {
                let last = self.dir.join(name);
                fs::rename(folder.join(name), &last).map_err(at(&last, "create"))?;
                named.push(last);
            }
            self.staging.check()
        };
        let result = name_all();
        if result.is_err() {
            named.iter().rev().for_each(|path| remove(path));
        }
        result
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        // Each run is added by one call, so a panic elsewhere cannot leave it half added.
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes a table with its final name, as far as possible.
fn remove(path: &Path) {
    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

/// Refuses a directory that holds results.
pub(super) fn check_empty(
    dir: &Path,
    contents: impl DoubleEndedIterator<Item = &'static str>,
) -> Result<(), ResultsError> {
    match contents.rev().find(|name| dir.join(name).exists()) {
        Some(found) => {
            let (dir, found) = (dir.to_owned(), found.to_owned());
            Err(ResultsError::AlreadyHoldsResults { dir, found })
        }
        None => Ok(()),
    }
}
