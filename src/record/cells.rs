//! A results directory that grows run by run and survives being killed: what a sweep writes.
//!
//! Every finished run is a directory of its own, `cells/RUN_ID/`, with all its tables, named when it is whole: that one
//! rename is what makes a run finished. At the end the tables are put together from the cells. As long as
//! they are not, a file called `unfinished` says so and names the runs of the plan, and everything of a cell is in its
//! directory; without that file the
//! streams (`loads/` and the like) are where other results have them. Tables that lack a run of the plan have the same
//! names beside them, in `incomplete`. Whatever is killed at
//! whatever moment leaves at most files that nobody names, and these go at the next opening.

use super::concatenate::concatenate;
use super::fnv::Fnv;
use super::recorder::{Recorded, RunRecorder, STREAMED};
use super::staging::Staging;
use super::writer::{CONTENTS, at, check_empty, write_tables};
use super::{ColumnInfo, FinishedRun, ResultsError, RunKey, RunResult, schema};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

/// Where the finished runs are.
pub(super) const CELLS: &str = "cells";
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
}

/// The finished runs of a directory.
pub struct FinishedCells {
    dir: PathBuf,
    /// By their identifiers.
    labels: HashMap<String, Label>,
}

/// What must be as it was for a cell to be taken instead of running it again: whatever its tables hold that does not
/// follow from the run's identifier.
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
    /// Opens `dir` for a plan of these runs, creates it where it does not exist, and clears what a killed process has left.
    ///
    /// # Errors
    /// If another process writes it, it holds results that were not written in cells, or it cannot be
    /// read or written.
    pub fn open<'a>(
        dir: &Path,
        plan: impl IntoIterator<Item = &'a RunKey>,
    ) -> Result<CellStore, ResultsError> {
        fs::create_dir_all(dir).map_err(at(dir, "create directory"))?;
        let staging = Staging::open(dir)?;
        let cells = dir.join(CELLS);
        if !cells.exists() {
            check_empty(dir, CONTENTS.into_iter())?;
        }
        fs::create_dir_all(&cells).map_err(at(&cells, "create directory"))?;
        mark(dir, staging.path(), plan)?;
        gather(dir)?;
        let finished = FinishedCells::read(dir)?;
        Ok(CellStore { dir: dir.to_owned(), staging, finished })
    }

    /// The runs that were there when it was opened.
    pub fn finished(&self) -> &FinishedCells {
        &self.finished
    }

    /// Removes the runs that are not among `run_ids`.
    ///
    /// # Errors
    /// If a directory cannot be removed.
    pub fn prune(&mut self, run_ids: &HashSet<&str>) -> Result<(), ResultsError> {
        let others = self.finished.others(run_ids).into_iter().map(str::to_owned);
        for run_id in others.collect::<Vec<String>>() {
            self.discard(&run_id)?;
            self.finished.labels.remove(&run_id);
        }
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
        self.discard(&run_id)?;
        let cell = self.cell(&run_id);
        fs::rename(&folder, &cell).map_err(at(&cell, "create"))
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
        let runs = plan.iter().filter(|key| finished.holds(key, asked));
        let cells: Vec<PathBuf> = runs.map(|key| self.cell(key.run_id())).collect();
        for table in TABLES.iter() {
            let name = format!("{table}.parquet");
            let sources: Vec<PathBuf> = cells.iter().map(|cell| cell.join(&name)).collect();
            concatenate(&sources, &self.staging.path().join(&name), table)?;
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

    /// Takes a run's directory away whole.
    fn discard(&self, run_id: &str) -> Result<(), ResultsError> {
        let cell = self.cell(run_id);
        if !cell.exists() {
            return Ok(());
        }
        let gone = self.staging.path().join(format!("{run_id}-gone"));
        fs::rename(&cell, &gone).map_err(at(&cell, "remove"))?;
        fs::remove_dir_all(&gone).map_err(at(&gone, "remove"))
    }

    fn cell(&self, run_id: &str) -> PathBuf {
        self.dir.join(CELLS).join(run_id)
    }
}

impl FinishedCells {
    /// Those of `dir`; none where it is not there.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn read(dir: &Path) -> Result<FinishedCells, ResultsError> {
        let cells = dir.join(CELLS);
        let labels = match cells.is_dir() {
            true => labels(&cells)?,
            false => HashMap::new(),
        };
        Ok(FinishedCells { dir: dir.to_owned(), labels })
    }

    /// Whether this run is there, with everything that is asked for.
    pub fn holds(&self, key: &RunKey, asked: Recorded) -> bool {
        let is_labelled = self.labels.get(key.run_id()).is_some_and(|label| {
            label.recorded.covers(&asked) && *label == Label::new(key, label.recorded)
        });
        is_labelled && self.has_files(key.run_id(), asked)
    }

    /// Whether nobody has taken a table of the run away.
    fn has_files(&self, run_id: &str, asked: Recorded) -> bool {
        let cell = self.dir.join(CELLS).join(run_id);
        let in_cell = |table: &str| cell.join(format!("{table}.parquet")).is_file();
        let handed_out = |table| self.dir.join(table).join(format!("{run_id}.parquet")).is_file();
        TABLES.iter().all(|table| in_cell(table))
            && asked.tables().all(|table| in_cell(table) || handed_out(table))
    }

    /// Runs that are there and not among `run_ids`.
    pub fn others(&self, run_ids: &HashSet<&str>) -> Vec<&str> {
        let finished = self.labels.keys().map(String::as_str);
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
fn mark<'a>(
    dir: &Path,
    partial: &Path,
    plan: impl IntoIterator<Item = &'a RunKey>,
) -> Result<(), ResultsError> {
    let mut text = "# A sweep that has not ended: of these runs the finished ones are in `cells`. \
                    Run it again to go on.\n"
        .to_owned();
    for key in plan {
        text.push_str(key.run_id());
        text.push('\n');
    }
    let (whole, last) = (partial.join(UNFINISHED), dir.join(UNFINISHED));
    write_file(&whole, &text)?;
    fs::rename(&whole, &last).map_err(at(&last, "create"))
}

/// Moves the streams back to their cells, and removes those that have none.
fn gather(dir: &Path) -> Result<(), ResultsError> {
    for table in STREAMED {
        let folder = dir.join(table);
        if !folder.is_dir() {
            continue;
        }
        for name in names(&folder)? {
            let file = folder.join(&name);
            let cell = dir.join(CELLS).join(Path::new(&name).with_extension(""));
            match cell.is_dir() {
                true => {
                    let back = cell.join(format!("{table}.parquet"));
                    fs::rename(&file, &back).map_err(at(&back, "create"))?;
                }
                false => remove_file(&file)?,
            }
        }
        fs::remove_dir(&folder).map_err(at(&folder, "remove"))?;
    }
    Ok(())
}

fn labels(cells: &Path) -> Result<HashMap<String, Label>, ResultsError> {
    let mut labels = HashMap::new();
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
