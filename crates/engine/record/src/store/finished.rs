//! The finished runs of a directory of cells.

use super::files::{names, write_file};
use super::recorder::{Recorded, STREAMED};
use crate::file::open_checked;
use crate::{ColumnInfo, ResultsError, RunKey, schema};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use warpmem_gpu::results::Fnv;

/// Folder of the finished runs.
pub(super) const CELLS: &str = "cells";
/// Folder of cells that do not match the plan, and of streams without a cell, in a folder per table.
pub(super) const SUPERSEDED: &str = "superseded";
pub(super) const FOLDERS: [&str; 2] = [CELLS, SUPERSEDED];
/// File with the label of a cell, beside its tables.
pub(super) const LABEL: &str = "cell.json";

/// The finished runs of a directory.
pub struct FinishedCells {
    dir: PathBuf,
    /// Maps by run id, one for each of [`FOLDERS`].
    labels: [HashMap<String, Label>; 2],
}

/// The label of a cell, which is reused only if its label matches. It holds the contents of the tables
/// that do not follow from the run id, except for the command, which assembly rewrites.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Label {
    trace: String,
    machine: String,
    overrides: String,
    workload: String,
    seed: Option<u64>,
    variant: u32,
    /// Names and types of all columns.
    columns: String,
    recorded: Recorded,
}

impl FinishedCells {
    /// Reads the finished runs of `dir`; none if it does not exist.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn read(dir: &Path) -> Result<FinishedCells, ResultsError> {
        let [cells, superseded] = FOLDERS.map(|folder| labels(&dir.join(folder)));
        Ok(FinishedCells { dir: dir.to_owned(), labels: [cells?, superseded?] })
    }

    /// Whether a run is finished with everything in `asked`.
    pub fn holds(&self, key: &RunKey, asked: Recorded) -> bool {
        self.folder(key, asked).is_some()
    }

    /// Returns the first damaged table of a finished run. Reads all its tables.
    ///
    /// # Errors
    /// If a table cannot be read.
    pub fn damaged(&self, key: &RunKey, asked: Recorded) -> Result<Option<PathBuf>, ResultsError> {
        match self.folder(key, asked) {
            Some(folder) => self.damaged_table(folder, key.run_id(), asked),
            None => Ok(None),
        }
    }

    pub(super) fn damaged_table(
        &self,
        folder: &str,
        run_id: &str,
        asked: Recorded,
    ) -> Result<Option<PathBuf>, ResultsError> {
        for path in self.tables(folder, run_id, asked) {
            match open_checked(&path) {
                Err(ResultsError::Damaged { .. }) => return Ok(Some(path)),
                opened => drop(opened?),
            }
        }
        Ok(None)
    }

    /// Returns the folder that has a run with everything in `asked`.
    pub(super) fn folder(&self, key: &RunKey, asked: Recorded) -> Option<&'static str> {
        self.folders(key, asked).next()
    }

    /// Returns all such folders.
    pub(super) fn folders(
        &self,
        key: &RunKey,
        asked: Recorded,
    ) -> impl Iterator<Item = &'static str> {
        let is_as_asked = move |label: &Label| {
            label.recorded.covers(&asked) && *label == Label::new(key, label.recorded)
        };
        let is_there = move |(folder, labels): &(&'static str, &HashMap<String, Label>)| {
            labels.get(key.run_id()).is_some_and(is_as_asked)
                && self.has_files(folder, key.run_id(), asked)
        };
        FOLDERS.into_iter().zip(&self.labels).filter(is_there).map(|(folder, _)| folder)
    }

    /// Whether the run still has all its tables.
    fn has_files(&self, folder: &str, run_id: &str, asked: Recorded) -> bool {
        self.tables(folder, run_id, asked).iter().all(|table| table.is_file())
    }

    /// Returns the files of a run, whose streams may have moved out of the cell.
    fn tables(&self, folder: &str, run_id: &str, asked: Recorded) -> Vec<PathBuf> {
        let cell = self.dir.join(folder).join(run_id);
        let in_cell = |table: &str| cell.join(format!("{table}.parquet"));
        let stream = |table: &str| match in_cell(table) {
            file if file.is_file() => file,
            _ => self.dir.join(table).join(format!("{run_id}.parquet")),
        };
        TABLES.iter().map(|table| in_cell(table)).chain(asked.tables().map(stream)).collect()
    }

    /// Records that the cell of a run has moved here from another directory.
    pub(super) fn take_from(&mut self, other: &mut FinishedCells, run_id: &str) {
        let [cells, superseded] = &mut self.labels;
        superseded.remove(run_id);
        cells.extend(other.labels[0].remove_entry(run_id));
    }

    /// Returns the finished runs that are not among `run_ids`.
    pub fn others(&self, run_ids: &HashSet<&str>) -> HashSet<&str> {
        let finished = self.labels.iter().flat_map(HashMap::keys).map(String::as_str);
        finished.filter(|run_id| !run_ids.contains(run_id)).collect()
    }
}

impl Label {
    pub(super) fn new(key: &RunKey, recorded: Recorded) -> Label {
        Label {
            trace: key.trace.clone(),
            machine: key.machine.name.clone(),
            overrides: key.overrides().to_owned(),
            workload: key.workload.clone(),
            seed: key.seed,
            variant: key.variant,
            columns: COLUMNS.clone(),
            recorded,
        }
    }
}

/// Returns the tables assembled from the cells.
pub(super) static TABLES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let tables = schema().into_iter().map(|table| table.name);
    tables.filter(|table| !STREAMED.contains(table)).collect()
});

/// Returns the hash of the names and types of all columns, so that cells of a build with other columns
/// do not match.
static COLUMNS: LazyLock<String> = LazyLock::new(|| {
    let mut hash = Fnv::new();
    for table in schema() {
        for ColumnInfo { name, kind, nullable, .. } in table.columns {
            hash.update(format!("{} {name} {kind} {nullable}\n", table.name).as_bytes());
        }
    }
    format!("{:016x}", hash.finish())
});

/// Returns the run ids of the cells in `dir` from the names of their folders, cheaply enough to poll
/// every few seconds. None if it does not exist.
///
/// # Errors
/// If it cannot be read.
pub fn cell_names(dir: &Path) -> Result<HashSet<String>, ResultsError> {
    let cells = dir.join(CELLS);
    match cells.is_dir() {
        true => Ok(names(&cells)?.into_iter().filter_map(|name| name.into_string().ok()).collect()),
        false => Ok(HashSet::new()),
    }
}

/// Reads the labels of the cells in a folder; none if it does not exist.
fn labels(cells: &Path) -> Result<HashMap<String, Label>, ResultsError> {
    let mut labels = HashMap::new();
    if !cells.is_dir() {
        return Ok(labels);
    }
    for name in names(cells)? {
        let path = cells.join(&name).join(LABEL);
        // A directory without a readable label is not a cell; the run is repeated.
        let label = fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok());
        let label: Option<Label> = label;
        labels.extend(name.into_string().ok().zip(label));
    }
    Ok(labels)
}

pub(super) fn write_label(folder: &Path, label: &Label) -> Result<(), ResultsError> {
    let path = folder.join(LABEL);
    let text = serde_json::to_string_pretty(label).expect("strings are JSON");
    write_file(&path, &text)
}
