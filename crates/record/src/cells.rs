//! A results directory that grows run by run and survives being killed: what a sweep writes.
//!
//! Every finished run is a directory of its own, `cells/RUN_ID/`, with all its tables, named when it is whole: that one
//! rename is what makes a run finished. At the end the tables are put together from the cells. As long as
//! they are not, a file called `unfinished` says so and names the runs of the plan, and everything of a cell is in its
//! directory; without that file the
//! streams (`loads/` and the like) are where other results have them. Tables that lack a run of the plan have the same
//! names beside them, in `incomplete`. Whatever is killed at
//! whatever moment leaves at most files that nobody names, and these go at the next opening.
//!
//! A cell of the plan that is not as the plan has it is kept in `aside/` until its run has been made again: what is in
//! `cells/` can be read as it is, and a finished run is never away. A cell of which a table is damaged goes there without
//! its label, so that it is none any more.

use super::concatenate::{Anew, concatenate};
use super::file::open_checked;
use super::recorder::{Recorded, RunRecorder, STREAMED};
use super::staging::Staging;
use super::tables::COMMAND;
use super::writer::{CONTENTS, at, check_empty, write_tables};
use super::{ColumnInfo, FinishedRun, ResultsError, RunKey, schema};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use warpmem_checksum::with_checksum;
use warpmem_gpu::results::{Fnv, RunResult};

/// Where the finished runs are.
pub(super) const CELLS: &str = "cells";
/// Where those are that the plan has otherwise; also rows of runs that have no cell, in a folder for each table.
const ASIDE: &str = "aside";
const FOLDERS: [&str; 2] = [CELLS, ASIDE];
/// Stands as long as the tables of the directory are not those of its cells.
const UNFINISHED: &str = "unfinished";
/// The same list, beside tables that lack some of these runs.
const INCOMPLETE: &str = "incomplete";
/// What a cell is, beside its tables.
const LABEL: &str = "cell.json";

/// A directory of runs, open for writing by one process.
pub struct CellStore {
    dir: PathBuf,
    staging: Staging,
    finished: FinishedCells,
    /// Tables that were damaged when it was opened.
    damaged: Vec<PathBuf>,
}

/// The finished runs of a directory.
pub struct FinishedCells {
    dir: PathBuf,
    /// Of each of the folders, by their identifiers.
    labels: [HashMap<String, Label>; 2],
}

/// What must be as it was for a cell to be taken instead of running it again: whatever its tables hold that does not
/// follow from the run's identifier, but for the command, which the tables get anew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Label {
    trace: String,
    machine: String,
    overrides: String,
    /// Names and types of all columns.
    columns: String,
    recorded: Recorded,
}

impl CellStore {
    /// Opens `dir` for a plan of these runs with all that is `asked` for, creates it where it does not exist, and clears
    /// what a killed process has left.
    ///
    /// # Errors
    /// If another process writes it, it holds results that were not written in cells, or it cannot be
    /// read or written.
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
        store.sort(&plan, asked)?;
        store.finished = FinishedCells::read(dir)?;
        Ok(store)
    }

    /// Has those of the plan's runs in `cells`, and no others, that are as it has them and not damaged. Whoever reads
    /// while the plan is marked, or before, finds no cell that is of another.
    fn sort(&mut self, plan: &[&RunKey], asked: Recorded) -> Result<(), ResultsError> {
        let mut places: Vec<(&str, Option<&str>)> = Vec::new();
        for key in plan {
            let mut place = None;
            for folder in self.finished.folders(key, asked) {
                match self.finished.damaged_table(folder, key.run_id(), asked)? {
                    Some(table) => {
                        // Without a label it is no cell, wherever it goes.
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
                Some(CELLS) => self.discard(ASIDE, run_id)?,
                Some(_) => self.discard(CELLS, run_id)?,
                None => self.set_aside(run_id)?,
            }
        }
        mark(&self.dir, self.staging.path(), plan)?;
        for (run_id, _) in places.iter().filter(|(_, place)| *place == Some(ASIDE)) {
            let (aside, cell) = (self.cell(ASIDE, run_id), self.cell(CELLS, run_id));
            fs::rename(&aside, &cell).map_err(at(&cell, "create"))?;
        }
        gather(&self.dir)
    }

    /// Tables of the plan's runs that were damaged when it was opened: their runs do not count as finished.
    pub fn damaged(&self) -> &[PathBuf] {
        &self.damaged
    }

    /// The runs that were there when it was opened.
    pub fn finished(&self) -> &FinishedCells {
        &self.finished
    }

    /// Removes the runs that are not among `run_ids`, and all that is set aside.
    ///
    /// # Errors
    /// If a directory cannot be removed.
    pub fn prune(&mut self, run_ids: &HashSet<&str>) -> Result<(), ResultsError> {
        for run_id in self.finished.others(run_ids) {
            self.discard(CELLS, run_id)?;
        }
        let aside = self.dir.join(ASIDE);
        if aside.exists() {
            fs::remove_dir_all(&aside).map_err(at(&aside, "remove"))?;
        }
        self.finished = FinishedCells::read(&self.dir)?;
        Ok(())
    }

    /// Begins a run of which this is `recorded`.
    ///
    /// # Errors
    /// If its files cannot be created.
    pub fn begin(&self, key: RunKey, recorded: Recorded) -> Result<RunRecorder, ResultsError> {
        RunRecorder::create(self.staging.path().join(key.run_id()), key, recorded)
    }

    /// Keeps a finished run. A recorder that is dropped instead leaves its run out.
    ///
    /// # Errors
    /// If its tables cannot be written.
    pub fn finish(
        &self,
        mut recorder: RunRecorder,
        result: &RunResult,
    ) -> Result<(), ResultsError> {
        recorder.close()?;
        let RunRecorder { key, folder, recorded, .. } = recorder;
        let label = Label::new(&key, recorded);
        let run_id = key.run_id().to_owned();
        write_tables(&folder, &[Arc::new(FinishedRun::new(key, result.clone()))])?;
        write_label(&folder, &label)?;
        self.set_aside(&run_id)?;
        let cell = self.cell(CELLS, &run_id);
        fs::rename(&folder, &cell).map_err(at(&cell, "create"))?;
        self.discard(ASIDE, &run_id)
    }

    /// Puts the tables together from those of `runs` that are there with all that is `asked` for, in their order. How many
    /// runs they hold.
    ///
    /// # Errors
    /// If a cell cannot be read or a table not be written; the cells stay what they are.
    pub fn assemble<'a>(
        self,
        runs: impl IntoIterator<Item = &'a RunKey>,
        asked: Recorded,
    ) -> Result<usize, ResultsError> {
        let finished = FinishedCells::read(&self.dir)?;
        let plan: Vec<&RunKey> = runs.into_iter().collect();
        let is_there = |key: &&&RunKey| finished.folder(key, asked) == Some(CELLS);
        let runs: Vec<&RunKey> = plan.iter().filter(is_there).copied().collect();
        let cells: Vec<PathBuf> = runs.iter().map(|key| self.cell(CELLS, key.run_id())).collect();
        // A cell stays what it is where a file of its run has been moved since.
        let texts = runs.iter().map(|key| key.command.as_str()).collect();
        let commands = Anew { column: COMMAND, texts };
        for table in TABLES.iter() {
            let name = format!("{table}.parquet");
            let sources: Vec<PathBuf> = cells.iter().map(|cell| cell.join(&name)).collect();
            let anew = (*table == "runs").then_some(&commands);
            concatenate(&sources, &self.staging.path().join(&name), table, anew)?;
        }
        for table in asked.tables() {
            self.hand_out(&cells, table)?;
        }
        // `runs` comes first among the tables and is named last.
        for table in TABLES.iter().rev() {
            let name = format!("{table}.parquet");
            let (whole, last) = (self.staging.path().join(&name), self.dir.join(&name));
            match cells.is_empty() {
                true => remove_file(&last)?,
                false => fs::rename(&whole, &last).map_err(at(&last, "create"))?,
            }
        }
        let (unfinished, incomplete) = (self.dir.join(UNFINISHED), self.dir.join(INCOMPLETE));
        if cells.len() < plan.len() {
            fs::rename(&unfinished, &incomplete).map_err(at(&incomplete, "create"))?;
        } else {
            remove_file(&incomplete)?;
            remove_file(&unfinished)?;
        }
        // Only an empty one goes.
        let _ = fs::remove_dir(self.dir.join(ASIDE));
        Ok(cells.len())
    }

    /// Moves a streamed table of the cells to the folder of this table.
    fn hand_out(&self, cells: &[PathBuf], table: &str) -> Result<(), ResultsError> {
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

    /// Keeps a run's directory, if it is there, where nobody reads it.
    fn set_aside(&self, run_id: &str) -> Result<(), ResultsError> {
        let (cell, aside) = (self.cell(CELLS, run_id), self.cell(ASIDE, run_id));
        if !cell.exists() {
            return Ok(());
        }
        self.discard(ASIDE, run_id)?;
        let folder = self.dir.join(ASIDE);
        fs::create_dir_all(&folder).map_err(at(&folder, "create directory"))?;
        fs::rename(&cell, &aside).map_err(at(&aside, "create"))
    }

    /// Takes a run's directory out of `folder`, whole.
    fn discard(&self, folder: &str, run_id: &str) -> Result<(), ResultsError> {
        let cell = self.cell(folder, run_id);
        if !cell.exists() {
            return Ok(());
        }
        let gone = self.staging.path().join(format!("{run_id}-gone"));
        fs::rename(&cell, &gone).map_err(at(&cell, "remove"))?;
        fs::remove_dir_all(&gone).map_err(at(&gone, "remove"))
    }

    fn cell(&self, folder: &str, run_id: &str) -> PathBuf {
        self.dir.join(folder).join(run_id)
    }
}

impl FinishedCells {
    /// Those of `dir`; none where it is not there.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn read(dir: &Path) -> Result<FinishedCells, ResultsError> {
        let [cells, aside] = FOLDERS.map(|folder| labels(&dir.join(folder)));
        Ok(FinishedCells { dir: dir.to_owned(), labels: [cells?, aside?] })
    }

    /// Whether this run is there, with everything that is asked for.
    pub fn holds(&self, key: &RunKey, asked: Recorded) -> bool {
        self.folder(key, asked).is_some()
    }

    /// A table of this run that is damaged, if it is there. Reads all of them.
    ///
    /// # Errors
    /// If a table cannot be read.
    pub fn damaged(&self, key: &RunKey, asked: Recorded) -> Result<Option<PathBuf>, ResultsError> {
        match self.folder(key, asked) {
            Some(folder) => self.damaged_table(folder, key.run_id(), asked),
            None => Ok(None),
        }
    }

    fn damaged_table(
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

    /// The folder in which this run is, with everything that is asked for.
    fn folder(&self, key: &RunKey, asked: Recorded) -> Option<&'static str> {
        self.folders(key, asked).next()
    }

    /// All such folders.
    fn folders(&self, key: &RunKey, asked: Recorded) -> impl Iterator<Item = &'static str> {
        let is_as_asked = move |label: &Label| {
            label.recorded.covers(&asked) && *label == Label::new(key, label.recorded)
        };
        let is_there = move |(folder, labels): &(&'static str, &HashMap<String, Label>)| {
            labels.get(key.run_id()).is_some_and(is_as_asked)
                && self.has_files(folder, key.run_id(), asked)
        };
        FOLDERS.into_iter().zip(&self.labels).filter(is_there).map(|(folder, _)| folder)
    }

    /// Whether nobody has taken a table of the run away.
    fn has_files(&self, folder: &str, run_id: &str, asked: Recorded) -> bool {
        self.tables(folder, run_id, asked).iter().all(|table| table.is_file())
    }

    /// The files of a run. Streams may have been handed out.
    fn tables(&self, folder: &str, run_id: &str, asked: Recorded) -> Vec<PathBuf> {
        let cell = self.dir.join(folder).join(run_id);
        let in_cell = |table: &str| cell.join(format!("{table}.parquet"));
        let stream = |table: &str| match in_cell(table) {
            file if file.is_file() => file,
            _ => self.dir.join(table).join(format!("{run_id}.parquet")),
        };
        TABLES.iter().map(|table| in_cell(table)).chain(asked.tables().map(stream)).collect()
    }

    /// Runs that are there and not among `run_ids`.
    pub fn others(&self, run_ids: &HashSet<&str>) -> HashSet<&str> {
        let finished = self.labels.iter().flat_map(HashMap::keys).map(String::as_str);
        finished.filter(|run_id| !run_ids.contains(run_id)).collect()
    }
}

impl Label {
    fn new(key: &RunKey, recorded: Recorded) -> Label {
        Label {
            trace: key.trace.clone(),
            machine: key.machine.name.clone(),
            overrides: key.overrides().to_owned(),
            columns: COLUMNS.clone(),
            recorded,
        }
    }
}

/// The tables that are put together.
static TABLES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let tables = schema().into_iter().map(|table| table.name);
    tables.filter(|table| !STREAMED.contains(table)).collect()
});

/// Hash of names and types of all columns: cells of a build that has others are not taken for one's own.
static COLUMNS: LazyLock<String> = LazyLock::new(|| {
    let mut hash = Fnv::new();
    for table in schema() {
        for ColumnInfo { name, kind, nullable, .. } in table.columns {
            hash.update(format!("{} {name} {kind} {nullable}\n", table.name).as_bytes());
        }
    }
    format!("{:016x}", hash.finish())
});

/// Says that the tables are not those of the cells, and of which runs they will be: readers take only these meanwhile.
fn mark(dir: &Path, partial: &Path, plan: &[&RunKey]) -> Result<(), ResultsError> {
    let mut text = "# A sweep that has not ended: of these runs the finished ones are in `cells`. \
                    Run it again to go on.\n"
        .to_owned();
    for key in plan {
        text.push_str(key.run_id());
        text.push('\n');
    }
    let (whole, last) = (partial.join(UNFINISHED), dir.join(UNFINISHED));
    write_file(&whole, &with_checksum(text))?;
    fs::rename(&whole, &last).map_err(at(&last, "create"))
}

/// Moves the streams back to their cells. Those of which somebody has taken the cell away go aside: beside the tables
/// they would be read. What this program has not put there stays.
fn gather(dir: &Path) -> Result<(), ResultsError> {
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
                    let aside = dir.join(ASIDE).join(table);
                    fs::create_dir_all(&aside).map_err(at(&aside, "create directory"))?;
                    aside.join(&name)
                }
            };
            fs::rename(folder.join(&name), &back).map_err(at(&back, "create"))?;
        }
        // Only an empty one goes.
        let _ = fs::remove_dir(&folder);
    }
    Ok(())
}

/// The run of which a file of this name is a stream.
fn streamed_run(name: &OsStr) -> Option<&str> {
    let run_id = name.to_str()?.strip_suffix(".parquet")?;
    (run_id.len() == 16 && run_id.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(run_id)
}

/// Labels of the cells in a folder; none where it is not there.
fn labels(cells: &Path) -> Result<HashMap<String, Label>, ResultsError> {
    let mut labels = HashMap::new();
    if !cells.is_dir() {
        return Ok(labels);
    }
    for name in names(cells)? {
        let path = cells.join(&name).join(LABEL);
        // A directory without a label that can be read is no cell of this program's: the run is made again.
        let label = fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok());
        let label: Option<Label> = label;
        labels.extend(name.into_string().ok().zip(label));
    }
    Ok(labels)
}

fn write_label(folder: &Path, label: &Label) -> Result<(), ResultsError> {
    let path = folder.join(LABEL);
    let text = serde_json::to_string_pretty(label).expect("strings are JSON");
    write_file(&path, &text)
}

fn write_file(path: &Path, text: &str) -> Result<(), ResultsError> {
    let write = || {
        let mut file = File::create(path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    write().map_err(at(path, "write"))
}

fn names(folder: &Path) -> Result<Vec<OsString>, ResultsError> {
    let entries = fs::read_dir(folder).and_then(|entries| {
        entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<OsString>>>()
    });
    entries.map_err(at(folder, "read directory"))
}

fn remove_file(path: &Path) -> Result<(), ResultsError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(path, "remove")(error)),
        _ => Ok(()),
    }
}
