//! A results directory that grows run by run and survives being killed: what a sweep writes.
//!
//! A *cell* is the directory of one finished run, with all its tables and a label that says what
//! the run was. It is written in a hidden directory and renamed to its final name when it is
//! complete: that one rename is what makes a run finished.
//!
//! ```text
//! DIR/cells/RUN_ID/         cell.json, runs.parquet, ...      the finished runs
//! DIR/superseded/RUN_ID/    cells that do not match the plan, until their runs are made again
//! DIR/TABLE.parquet         tables assembled from the cells
//! DIR/STREAM/RUN_ID.parquet streamed tables (`loads` and the like), moved out of the cells
//! DIR/unfinished            run ids of the plan, while the tables are not those of the cells
//! DIR/incomplete            run ids of the plan, beside tables that lack some of these runs
//!
//!           `finish`: rename                `assemble`
//! staging ───────────────────▶ cells/RUN_ID ──────────▶ DIR/TABLE.parquet, DIR/STREAM/RUN_ID.parquet
//!                                │     ▲
//!          its label or a table  │     │ a later plan
//!          does not match        ▼     │ asks for it again
//!                            superseded/RUN_ID ───────▶ removed when its run has been made again
//! ```
//!
//! Invariants, so that the process may be killed at any moment:
//! - `unfinished` exists while the assembled tables do not match the cells. Readers then use only the
//!   cells of its runs. Streams belong in the cells; the next opening moves them back.
//! - In `cells/`, a run of the plan matches the plan. While a run is replaced, its old cell is in
//!   `superseded/`, so a finished run is never missing from both folders.
//! - A damaged cell loses its label and no longer counts as a cell.
//! - All other remains have temporary names, and the next opening removes them.
//!
//! If the directory is removed or replaced during a run, the next step fails and removes tables that
//! already have their names: cells may remain, but no table that lacks some of them.

use super::files::{at, names, remove_file, write_file};
use super::finished::{
    CELLS, FOLDERS, FinishedCells, LABEL, Label, SUPERSEDED, TABLES, write_label,
};
use super::recorder::{Recorded, RunRecorder, STREAMED};
use super::staging::Staging;
use super::writer::{CONTENTS, check_empty};
use crate::file::{ColumnRewrite, concatenate};
use crate::run::FinishedRun;
use crate::tables::{COMMAND, write_tables};
use crate::{ResultsError, RunKey};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use warpmem_gpu::results::RunResult;
use warpmem_support::checksum::with_checksum;

/// Exists while the assembled tables do not match the cells.
pub(super) const UNFINISHED: &str = "unfinished";
/// The same list, beside tables that lack some of its runs.
pub(super) const INCOMPLETE: &str = "incomplete";

/// A directory of runs, open for writing by one process.
pub struct CellStore {
    dir: PathBuf,
    staging: Staging,
    finished: FinishedCells,
    /// Tables found damaged at opening.
    damaged: Vec<PathBuf>,
}

impl CellStore {
    /// Opens `dir` for a plan of runs, each with everything in `asked`. Creates it if it does not
    /// exist, and removes the remains of a killed process.
    ///
    /// # Errors
    /// If another process writes it, it holds results that were not written in cells, or it cannot
    /// be read or written.
    pub fn open<'a>(
        dir: &Path,
        plan: impl IntoIterator<Item = &'a RunKey>,
        asked: Recorded,
    ) -> Result<CellStore, ResultsError> {
        fs::create_dir_all(dir).map_err(at(dir, "create directory"))?;
        let staging = Staging::open(dir)?;
        let cells = dir.join(CELLS);
        if !cells.exists() {
            check_empty(dir, CONTENTS.into_iter())?;
        }
        fs::create_dir_all(&cells).map_err(at(&cells, "create directory"))?;
        let finished = FinishedCells::read(dir)?;
        let damaged = Vec::new();
        let mut store = CellStore { dir: dir.to_owned(), staging, finished, damaged };
        let plan: Vec<&RunKey> = plan.into_iter().collect();
        store.match_plan(&plan, asked)?;
        store.finished = FinishedCells::read(dir)?;
        Ok(store)
    }

    /// Keeps in `cells` the undamaged runs that match the plan. Mismatched cells leave before the plan
    /// is marked and cells that match again return after it, so a reader never finds a cell of another
    /// plan.
    fn match_plan(&mut self, plan: &[&RunKey], asked: Recorded) -> Result<(), ResultsError> {
        let mut places: Vec<(&str, Option<&str>)> = Vec::new();
        for key in plan {
            let mut place = None;
            for folder in self.finished.folders(key, asked) {
                match self.finished.damaged_table(folder, key.run_id(), asked)? {
                    Some(table) => {
                        // Without a label it does not count as a cell in any folder.
                        remove_file(&self.cell(folder, key.run_id()).join(LABEL))?;
                        self.damaged.push(table);
                    }
                    None => place = place.or(Some(folder)),
                }
            }
            places.push((key.run_id(), place));
        }
        for &(run_id, place) in &places {
            match place {
                Some(CELLS) => self.discard(SUPERSEDED, run_id)?,
                Some(_) => self.discard(CELLS, run_id)?,
                None => self.supersede(run_id)?,
            }
        }
        self.mark(UNFINISHED, plan)?;
        for (run_id, _) in places.iter().filter(|(_, place)| *place == Some(SUPERSEDED)) {
            let (superseded, cell) = (self.cell(SUPERSEDED, run_id), self.cell(CELLS, run_id));
            fs::rename(&superseded, &cell).map_err(at(&cell, "create"))?;
        }
        move_streams_back(&self.dir)
    }

    /// Returns the tables found damaged at opening, whose runs do not count as finished.
    pub fn damaged(&self) -> &[PathBuf] {
        &self.damaged
    }

    /// Returns the runs finished at opening, updated by [`CellStore::take_from`].
    pub fn finished(&self) -> &FinishedCells {
        &self.finished
    }

    /// Removes the runs that are not among `run_ids`, and everything superseded.
    ///
    /// # Errors
    /// If a directory cannot be removed.
    pub fn prune(&mut self, run_ids: &HashSet<&str>) -> Result<(), ResultsError> {
        for run_id in self.finished.others(run_ids) {
            self.discard(CELLS, run_id)?;
        }
        let superseded = self.dir.join(SUPERSEDED);
        if superseded.exists() {
            fs::remove_dir_all(&superseded).map_err(at(&superseded, "remove"))?;
        }
        self.finished = FinishedCells::read(&self.dir)?;
        Ok(())
    }

    /// Begins a run that records `recorded`.
    ///
    /// # Errors
    /// If the directory is gone, or its files cannot be created.
    pub fn begin(&self, key: RunKey, recorded: Recorded) -> Result<RunRecorder, ResultsError> {
        self.staging.check()?;
        let folder = self.staging.path().join(key.run_id());
        RunRecorder::create(folder, key, recorded).map_err(|error| self.staging.reason(error))
    }

    /// Turns a finished run into a cell. A dropped recorder leaves nothing.
    ///
    /// # Errors
    /// If the directory is gone, or its tables cannot be written.
    pub fn finish(
        &self,
        mut recorder: RunRecorder,
        result: &RunResult,
    ) -> Result<(), ResultsError> {
        self.staging.check()?;
        recorder.close()?;
        let RunRecorder { key, folder, recorded, .. } = recorder;
        let label = Label::new(&key, recorded);
        let run_id = key.run_id().to_owned();
        write_tables(&folder, &[Arc::new(FinishedRun::new(key, result.clone()))])
            .and_then(|()| write_label(&folder, &label))
            .and_then(|()| self.name_cell(&folder, &run_id))
            .map_err(|error| self.staging.reason(error))
    }

    /// Moves finished runs here from another directory on the same file system: the `runs` that the
    /// other directory has with everything in `asked` and this one lacks.
    ///
    /// # Errors
    /// If a run cannot be moved. Each run is in one of the two directories at any moment.
    pub fn take_from<'a>(
        &mut self,
        other: &mut CellStore,
        runs: impl IntoIterator<Item = &'a RunKey>,
        asked: Recorded,
    ) -> Result<(), ResultsError> {
        for key in runs {
            let is_there = other.finished.folder(key, asked) == Some(CELLS);
            if is_there && !self.finished.holds(key, asked) {
                self.name_cell(&other.cell(CELLS, key.run_id()), key.run_id())?;
                self.finished.take_from(&mut other.finished, key.run_id());
            }
        }
        Ok(())
    }

    /// Renames a complete folder to the cell of a run.
    fn name_cell(&self, folder: &Path, run_id: &str) -> Result<(), ResultsError> {
        self.supersede(run_id)?;
        let cell = self.cell(CELLS, run_id);
        fs::rename(folder, &cell).map_err(at(&cell, "create"))?;
        self.discard(SUPERSEDED, run_id)
    }

    /// Assembles the tables in the order of `runs` from the runs finished with everything in `asked`,
    /// and returns their number.
    ///
    /// # Errors
    /// If the directory is gone, a cell cannot be read or a table cannot be written. The cells are
    /// not changed.
    pub fn assemble<'a>(
        self,
        runs: impl IntoIterator<Item = &'a RunKey>,
        asked: Recorded,
    ) -> Result<usize, ResultsError> {
        self.staging.check()?;
        let finished = FinishedCells::read(&self.dir)?;
        let plan: Vec<&RunKey> = runs.into_iter().collect();
        let is_there = |key: &&&RunKey| finished.folder(key, asked) == Some(CELLS);
        let runs: Vec<&RunKey> = plan.iter().filter(is_there).copied().collect();
        let cells: Vec<PathBuf> = runs.iter().map(|key| self.cell(CELLS, key.run_id())).collect();
        self.concatenate_cells(&runs, &cells)?;
        for table in asked.tables() {
            self.move_stream_out(&cells, table)?;
        }
        if let Err(error) = self.name_tables(&plan, cells.len()) {
            self.remove_tables()?;
            return Err(error);
        }
        // Removes it only if it is empty.
        let _ = fs::remove_dir(self.dir.join(SUPERSEDED));
        Ok(cells.len())
    }

    /// Writes the tables of these runs, from their cells, in the hidden directory.
    fn concatenate_cells(&self, runs: &[&RunKey], cells: &[PathBuf]) -> Result<(), ResultsError> {
        // The command names the trace file, which may have moved since the cell was written.
        let texts = runs.iter().map(|key| key.command.as_str()).collect();
        let commands = ColumnRewrite { column: COMMAND, texts };
        for table in TABLES.iter() {
            let name = format!("{table}.parquet");
            let sources: Vec<PathBuf> = cells.iter().map(|cell| cell.join(&name)).collect();
            let rewrite = (*table == "runs").then_some(&commands);
            concatenate(&sources, &self.staging.path().join(&name), table, rewrite)?;
        }
        Ok(())
    }

    /// Renames the tables, which hold `runs` runs of the plan, to their final names. `incomplete` exists
    /// before tables that lack runs.
    fn name_tables(&self, plan: &[&RunKey], runs: usize) -> Result<(), ResultsError> {
        // Another process may have removed it.
        self.mark(UNFINISHED, plan)?;
        if runs == 0 {
            self.remove_tables()?;
        }
        if runs < plan.len() {
            self.mark(INCOMPLETE, plan)?;
        }
        // `runs` is renamed last, so its presence marks complete results.
        for table in TABLES.iter().rev().filter(|_| runs > 0) {
            let name = format!("{table}.parquet");
            let last = self.dir.join(&name);
            fs::rename(self.staging.path().join(&name), &last).map_err(at(&last, "create"))?;
        }
        self.staging.check()?;
        if runs == plan.len() {
            remove_file(&self.dir.join(INCOMPLETE))?;
        }
        remove_file(&self.dir.join(UNFINISHED))
    }

    /// Removes the assembled tables, `runs` first.
    fn remove_tables(&self) -> Result<(), ResultsError> {
        TABLES.iter().try_for_each(|table| remove_file(&self.dir.join(format!("{table}.parquet"))))
    }

    /// Moves a streamed table out of the cells, to the folder of this table.
    fn move_stream_out(&self, cells: &[PathBuf], table: &str) -> Result<(), ResultsError> {
        let folder = self.dir.join(table);
        for cell in cells {
            let file = cell.join(format!("{table}.parquet"));
            fs::create_dir_all(&folder).map_err(at(&folder, "create directory"))?;
            let name = cell.file_name().unwrap_or_default();
            let last = folder.join(name).with_extension("parquet");
            fs::rename(&file, &last).map_err(at(&last, "create"))?;
        }
        Ok(())
    }

    /// Moves the cell of a run, if there is one, to the superseded cells.
    fn supersede(&self, run_id: &str) -> Result<(), ResultsError> {
        let (cell, superseded) = (self.cell(CELLS, run_id), self.cell(SUPERSEDED, run_id));
        if !cell.exists() {
            return Ok(());
        }
        self.discard(SUPERSEDED, run_id)?;
        let folder = self.dir.join(SUPERSEDED);
        fs::create_dir_all(&folder).map_err(at(&folder, "create directory"))?;
        fs::rename(&cell, &superseded).map_err(at(&superseded, "create"))
    }

    /// Removes the directory of a run from `folder`, after a rename, so that it is never partial.
    fn discard(&self, folder: &str, run_id: &str) -> Result<(), ResultsError> {
        let cell = self.cell(folder, run_id);
        if !cell.exists() {
            return Ok(());
        }
        let gone = self.staging.path().join(format!("{run_id}-gone"));
        fs::rename(&cell, &gone).map_err(at(&cell, "remove"))?;
        fs::remove_dir_all(&gone).map_err(at(&gone, "remove"))
    }

    /// Writes the run ids of the plan to a file. While [`UNFINISHED`] exists, the tables do not match
    /// the cells, and readers use only the cells of these runs.
    fn mark(&self, name: &str, plan: &[&RunKey]) -> Result<(), ResultsError> {
        let mut text =
            "# A sweep that has not ended: of these runs the finished ones are in `cells`. \
                        Run it again to go on.\n"
                .to_owned();
        for key in plan {
            text.push_str(key.run_id());
            text.push('\n');
        }
        let (whole, last) = (self.staging.path().join(name), self.dir.join(name));
        write_file(&whole, &with_checksum(text))?;
        fs::rename(&whole, &last).map_err(at(&last, "create"))
    }

    fn cell(&self, folder: &str, run_id: &str) -> PathBuf {
        self.dir.join(folder).join(run_id)
    }
}

/// Moves streams back to their cells. A stream without a cell moves to `superseded`, since readers
/// would read it beside the tables. Files of other programs stay.
fn move_streams_back(dir: &Path) -> Result<(), ResultsError> {
    for table in STREAMED {
        let folder = dir.join(table);
        if !folder.is_dir() {
            continue;
        }
        for name in names(&folder)? {
            let Some(run_id) = streamed_run(&name) else { continue };
            let cells = FOLDERS.map(|folder| dir.join(folder).join(run_id));
            let back = match cells.into_iter().find(|cell| cell.is_dir()) {
                Some(cell) => cell.join(format!("{table}.parquet")),
                None => {
                    let superseded = dir.join(SUPERSEDED).join(table);
                    fs::create_dir_all(&superseded).map_err(at(&superseded, "create directory"))?;
                    superseded.join(&name)
                }
            };
            fs::rename(folder.join(&name), &back).map_err(at(&back, "create"))?;
        }
        // Removes it only if it is empty.
        let _ = fs::remove_dir(&folder);
    }
    Ok(())
}

/// Returns the run whose stream has this file name.
fn streamed_run(name: &OsStr) -> Option<&str> {
    let run_id = name.to_str()?.strip_suffix(".parquet")?;
    (run_id.len() == 16 && run_id.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(run_id)
}
