//! A directory of results: one Parquet file per table, `loads/` with one file per run.

use super::file::{Field, GROUP_ROWS, TableFile};
use super::loads::LoadRecorder;
use super::network::{link_columns, network_columns, node_columns};
use super::rows::{BankRow, CounterRow, LinkRow, NodeRow, UnitRow};
use super::tables::{
    bank_columns, channel_columns, counter_columns, kernel_columns, run_columns, slice_columns,
    sm_columns,
};
use super::{Column, FinishedRun, LoadRow, LoadSink, ResultsError, RunKey, RunResult};
use std::borrow::Borrow;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;

/// What a finished results directory holds, in the order in which the names appear: `runs.parquet`
/// comes last, so that where it is, everything is.
const CONTENTS: [&str; 11] = [
    LOADS,
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

const LOADS: &str = "loads";
/// Staging folder of load rows that may not be whole.
const UNFINISHED: &str = "unfinished";

/// Writes the results of several runs into one directory.
///
/// Runs may be recorded at the same time and finish in any order on any threads; the files are the
/// same. Everything is written in a hidden directory beside and moved to its final name by
/// [`ResultsWriter::finish`]; a writer that is dropped without leaves nothing.
pub struct ResultsWriter {
    dir: PathBuf,
    staging: TempDir,
    runs: Mutex<Runs>,
}

#[derive(Default)]
struct Runs {
    begun: HashSet<String>,
    /// By the index that was given at their beginning.
    finished: BTreeMap<usize, Arc<FinishedRun>>,
}

/// Records one run; the engine gives it the load rows.
pub struct RunRecorder {
    index: usize,
    key: RunKey,
    loads: LoadRecorder,
}

impl LoadSink for RunRecorder {
    fn load(&mut self, row: &LoadRow) {
        self.loads.load(row);
    }
}

impl ResultsWriter {
    /// Creates `dir` where it does not exist.
    ///
    /// # Errors
    /// If `dir` holds results already, or cannot be created or written.
    pub fn create(dir: &Path) -> Result<ResultsWriter, ResultsError> {
        fs::create_dir_all(dir).map_err(at(dir, "create directory"))?;
        if let Some(found) = CONTENTS.into_iter().rev().find(|name| dir.join(name).exists()) {
            let found = found.to_owned();
            return Err(ResultsError::AlreadyHoldsResults { dir: dir.to_owned(), found });
        }
        let staging = tempfile::Builder::new()
            .prefix(".partial-")
            .tempdir_in(dir)
            .map_err(at(dir, "write in directory"))?;
        for folder in [LOADS, UNFINISHED] {
            let folder = staging.path().join(folder);
            fs::create_dir(&folder).map_err(at(&folder, "create directory"))?;
        }
        Ok(ResultsWriter { dir: dir.to_owned(), staging, runs: Mutex::default() })
    }

    /// Begins the run whose rows take place `index` in the tables.
    ///
    /// # Errors
    /// If a run of the same [`RunKey::run_id`] has begun before, or its file cannot be created.
    pub fn begin_run(&self, index: usize, key: RunKey) -> Result<RunRecorder, ResultsError> {
        if !self.runs().begun.insert(key.run_id().to_owned()) {
            let (run_id, trace) = (key.run_id().to_owned(), key.trace);
            return Err(ResultsError::DuplicateRun { run_id, trace });
        }
        let loads = LoadRecorder::create(&self.staged(UNFINISHED, &key), &key)?;
        Ok(RunRecorder { index, key, loads })
    }

    /// Adds a finished run. A recorder that is dropped instead leaves its run out.
    ///
    /// # Errors
    /// If its load rows could not be written.
    pub fn finish_run(
        &self,
        recorder: RunRecorder,
        result: &RunResult,
    ) -> Result<(), ResultsError> {
        let RunRecorder { index, key, loads } = recorder;
        loads.finish()?;
        let whole = self.staged(LOADS, &key);
        fs::rename(self.staged(UNFINISHED, &key), &whole).map_err(at(&whole, "create"))?;
        let run = Arc::new(FinishedRun::new(key, result.clone()));
        self.runs().finished.insert(index, run);
        Ok(())
    }

    /// Writes the tables of all finished runs and gives everything its final name. Without a
    /// finished run nothing is left.
    ///
    /// # Errors
    /// If a file cannot be written or named.
    pub fn finish(self) -> Result<(), ResultsError> {
        let runs = self.runs.into_inner().unwrap_or_else(PoisonError::into_inner).finished;
        if runs.is_empty() {
            return Ok(());
        }
        let folder = self.staging.path();
        let runs = || runs.values();
        write(folder, "runs", &run_columns(), runs().cloned())?;
        write(folder, "kernels", &kernel_columns(), runs().flat_map(UnitRow::kernels))?;
        write(folder, "sms", &sm_columns(), runs().flat_map(UnitRow::sms))?;
        write(folder, "slices", &slice_columns(), runs().flat_map(UnitRow::slices))?;
        write(folder, "channels", &channel_columns(), runs().flat_map(UnitRow::channels))?;
        write(folder, "banks", &bank_columns(), runs().flat_map(BankRow::all))?;
        write(folder, "networks", &network_columns(), runs().flat_map(UnitRow::networks))?;
        write(folder, "network_nodes", &node_columns(), runs().flat_map(NodeRow::all))?;
        write(folder, "network_links", &link_columns(), runs().flat_map(LinkRow::all))?;
        let counters = runs().flat_map(CounterRow::all);
        write(folder, "policy_counters", &counter_columns(), counters)?;
        for name in CONTENTS {
            let last = self.dir.join(name);
            fs::rename(folder.join(name), &last).map_err(at(&last, "create"))?;
        }
        Ok(())
    }

    /// Where the load rows of a run wait in one of the staging folders.
    fn staged(&self, folder: &str, key: &RunKey) -> PathBuf {
        self.staging.path().join(folder).join(format!("{}.parquet", key.run_id()))
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        // Runs are added by single calls: a panic elsewhere leaves them whole.
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the table `name` into `folder`.
fn write<R, B: Borrow<R>>(
    folder: &Path,
    name: &str,
    columns: &[Column<R>],
    mut rows: impl Iterator<Item = B>,
) -> Result<(), ResultsError> {
    let path = folder.join(format!("{name}.parquet"));
    let mut file = TableFile::create(&path, name, &Field::all(columns))?;
    loop {
        let group: Vec<B> = rows.by_ref().take(GROUP_ROWS).collect();
        if group.is_empty() {
            return file.close();
        }
        file.write(columns, &group)?;
    }
}

fn at(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> ResultsError {
    let path = path.to_owned();
    move |source| ResultsError::Io { path, action, source }
}
