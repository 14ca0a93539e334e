//! A results directory, or several treated as one.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use polars::prelude::*;
use warpmem_comparison::{Launches, RUN_ID};
use warpmem_support::checksum::check_text;

use crate::compare::launches;
use crate::error::{Error, Result};
use crate::read::{Checked, TableFile, countable, parquet_files, together};

/// Names of the tables of a run.
pub const TABLES: [&str; 14] = [
    "runs",
    "kernels",
    "sms",
    "slices",
    "channels",
    "banks",
    "networks",
    "network_nodes",
    "network_links",
    "policy_counters",
    "histograms",
    "loads",
    "requests",
    "intervals",
];

/// Marker file of a directory whose sweep has not assembled its tables. It has a line for each run
/// of the plan; lines that begin with `#` are comments.
const UNFINISHED: &str = "unfinished";
/// Marker file of a directory whose tables lack some runs of the plan; same format.
const INCOMPLETE: &str = "incomplete";
/// Folder of the finished cells of an unfinished sweep: a directory of tables for each.
const CELLS: &str = "cells";

/// Tables of one directory, or of several treated as one.
#[derive(Clone, Debug)]
pub struct Results {
    directories: Vec<Directory>,
    checked: Checked,
}

impl Results {
    /// Opens the results under `directory`. No table is read yet.
    ///
    /// # Errors
    /// If `directory` is not a directory that can be read.
    pub fn open(directory: impl Into<PathBuf>) -> Result<Results> {
        Results::open_all(&[directory.into()])
    }

    /// Opens several results, such as the shards of a sweep, as one: tables are concatenated. Runs
    /// that an earlier directory has are dropped from all tables of a later one.
    ///
    /// An unfinished sweep's directory is read as the finished cells of its plan.
    ///
    /// # Errors
    /// If a directory cannot be read, or, given several, the `runs` table of one.
    pub fn open_all<P: AsRef<Path>>(directories: &[P]) -> Result<Results> {
        let mut opened = Results { directories: Vec::new(), checked: Checked::default() };
        let mut known = None;
        for path in directories {
            let mut directory = Directory::open(path.as_ref())?;
            if directories.len() > 1 {
                directory.repeated = opened.repeated_in(&directory, &mut known)?;
            }
            opened.directories.push(directory);
        }
        Ok(opened)
    }

    /// Returns the runs of `directory` that are `known` from earlier directories, and adds its runs to these.
    fn repeated_in(
        &self,
        directory: &Directory,
        known: &mut Option<Series>,
    ) -> Result<Option<Series>> {
        if directory.files("runs")?.is_empty() {
            return Ok(None);
        }
        let runs = together(directory.scans("runs", &self.checked)?)?;
        let runs = runs.select([col("run_id")]).collect()?;
        let ids = runs.column("run_id")?.as_materialized_series().clone();
        let Some(earlier) = known else {
            *known = Some(ids);
            return Ok(None);
        };
        let is_known = col("run_id").is_in(lit(earlier.clone()).implode(true), false);
        earlier.append(&ids)?;
        let repeated = runs.lazy().filter(is_known).collect()?;
        let repeated = repeated.column("run_id")?.as_materialized_series().clone();
        Ok((!repeated.is_empty()).then_some(repeated))
    }

    /// Returns whether some directory has the table `name`.
    ///
    /// # Errors
    /// If a directory cannot be read.
    pub fn has(&self, name: &str) -> Result<bool> {
        for directory in &self.directories {
            if !directory.files(name)?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the table `name` (one of [`TABLES`] or any other): from each directory
    /// `name.parquet` or, if there is no such file, all of `name/*.parquet` in the order of their
    /// names. A directory without it adds no rows; a column that only some files have is null in
    /// the others.
    ///
    /// # Errors
    /// If no directory has the table, or as [`read_table`](crate::read_table).
    pub fn table(&self, name: &str) -> Result<LazyFrame> {
        together(self.scans(name)?)
    }

    /// Applies `function` to each file of the table `name`, one after the other, and stacks the
    /// results. If a file contains whole runs, only a few files are in memory at a time.
    ///
    /// # Errors
    /// As [`Results::table`] and as `function`.
    pub fn by_file(
        &self,
        name: &str,
        function: impl Fn(LazyFrame) -> Result<LazyFrame>,
    ) -> Result<LazyFrame> {
        let scans = self.scans(name)?.into_iter().map(|(_, frame)| function(frame));
        Ok(countable(concat(scans.collect::<Result<Vec<_>>>()?, UnionArgs::default())?))
    }

    /// Applies `function` to each run of the table `name`, whose files contain whole runs, as those
    /// of `loads` do. `function` receives the rows of a file and the keys that distinguish its
    /// runs. The keys are empty if the file states that it contains a single run, whose `run_id` is
    /// then added to the result: grouping millions of rows by key would cost more than the function
    /// itself.
    ///
    /// ```no_run
    /// use warpmem_analysis::{Results, divergence};
    ///
    /// let results = Results::open("results")?;
    /// let table = results.by_run("loads", divergence)?.collect()?;
    /// # Ok::<(), warpmem_analysis::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Results::table`] and as `function`.
    pub fn by_run(
        &self,
        name: &str,
        function: impl Fn(LazyFrame, &[&str]) -> Result<LazyFrame>,
    ) -> Result<LazyFrame> {
        // A run that an earlier directory has leaves no rows, and a function without keys would
        // still answer for it.
        let are_whole = self.directories.iter().all(|directory| directory.repeated.is_none());
        let of_file = |(file, frame): (TableFile, LazyFrame)| match file.only_text(RUN_ID)? {
            Some(run) if are_whole => {
                let answer = function(frame, &[])?;
                Ok(answer.select([lit(run).alias(RUN_ID), all().as_expr()]))
            }
            _ => function(frame, &[RUN_ID]),
        };
        let answers = self.scans(name)?.into_iter().map(of_file).collect::<Result<Vec<_>>>()?;
        Ok(countable(concat(answers, UnionArgs::default())?))
    }

    /// Counts the runs that the sweeps of these directories planned, and those that no directory
    /// has. A sweep that finished all its runs counts as having no plan.
    ///
    /// ```no_run
    /// let results = warpmem_analysis::Results::open("results")?;
    /// let (planned, missing) = results.planned()?;
    /// # Ok::<(), warpmem_analysis::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the table `runs` cannot be read.
    pub fn planned(&self) -> Result<(usize, usize)> {
        let plans = self.directories.iter().flat_map(|directory| &directory.plan);
        let planned: HashSet<&str> = plans.map(String::as_str).collect();
        if planned.is_empty() || !self.has("runs")? {
            return Ok((planned.len(), planned.len()));
        }
        let runs = self.runs()?.select([col(RUN_ID)]).collect()?;
        let there: HashSet<&str> = runs.column(RUN_ID)?.str()?.iter().flatten().collect();
        Ok((planned.len(), planned.difference(&there).count()))
    }

    fn scans(&self, name: &str) -> Result<Vec<(TableFile, LazyFrame)>> {
        let mut scans = Vec::new();
        for directory in &self.directories {
            scans.extend(directory.scans(name, &self.checked)?);
        }
        if scans.is_empty() {
            let directories = self.directories.iter().map(|directory| directory.path.clone());
            return Err(Error::NoTable {
                table: name.to_owned(),
                directories: directories.collect(),
            });
        }
        Ok(scans)
    }

    /// Returns the files of the tables opened so far that carry no checksum and cannot be verified:
    /// files of other programs, and of versions of Warpmem whose tables had no checksums.
    ///
    /// ```no_run
    /// let results = warpmem_analysis::Results::open("results")?;
    /// let runs = results.runs()?;
    /// println!("{:?}", results.without_checksum());
    /// # Ok::<(), warpmem_analysis::Error>(())
    /// ```
    pub fn without_checksum(&self) -> Vec<PathBuf> {
        self.checked.without_checksum()
    }

    /// Returns one row per run: configuration, policies, trace, all scalar metrics.
    ///
    /// # Errors
    /// As [`Results::table`].
    pub fn runs(&self) -> Result<LazyFrame> {
        self.table("runs")
    }

    /// Returns the launches that sampled runs simulated; none if no run was sampled.
    ///
    /// # Errors
    /// As [`Results::table`].
    pub fn launches(&self) -> Result<Launches> {
        match self.table("kernels") {
            Ok(kernels) => launches(self.runs()?, kernels),
            Err(Error::NoTable { .. }) => Ok(Launches::default()),
            Err(error) => Err(error),
        }
    }

    /// Returns one row per load warp instruction.
    ///
    /// # Errors
    /// As [`Results::table`].
    pub fn loads(&self) -> Result<LazyFrame> {
        self.table("loads")
    }
}

/// A directory of results.
#[derive(Clone, Debug)]
struct Directory {
    path: PathBuf,
    /// Planned runs of a sweep that lacks some of them.
    plan: Vec<String>,
    /// Finished cells of an unfinished sweep: a directory of tables for each, named after the run.
    cells: Option<Vec<PathBuf>>,
    /// Runs that an earlier directory has.
    repeated: Option<Series>,
}

impl Directory {
    fn open(path: &Path) -> Result<Directory> {
        fs::read_dir(path).map_err(|source| Error::read(path, source))?;
        let unfinished = plan(&path.join(UNFINISHED))?;
        let cells = unfinished.as_ref().map(|plan| finished_cells(path, plan));
        let plan =
            unfinished.map_or_else(|| plan(&path.join(INCOMPLETE)), |plan| Ok(Some(plan)))?;
        let plan = plan.unwrap_or_default();
        Ok(Directory { path: path.to_owned(), plan, cells, repeated: None })
    }

    /// Returns the files of the table `name`; none if it does not exist.
    fn files(&self, name: &str) -> Result<Vec<PathBuf>> {
        let Some(cells) = &self.cells else {
            return files_in(&self.path, name);
        };
        let mut files = Vec::new();
        for cell in cells {
            files.extend(files_in(cell, name)?);
            files.extend(self.streamed(name, cell));
        }
        Ok(files)
    }

    /// Returns a cell's file of a streamed table: each run writes its own file beside the cells.
    fn streamed(&self, name: &str, cell: &Path) -> Option<PathBuf> {
        let run = cell.file_name()?.to_str()?;
        let file = self.path.join(name).join(format!("{run}.parquet"));
        file.is_file().then_some(file)
    }

    fn scans(&self, name: &str, checked: &Checked) -> Result<Vec<(TableFile, LazyFrame)>> {
        let files = self.files(name)?.into_iter().map(|path| TableFile::open(path, checked));
        let scan = |file: Result<TableFile>| {
            let file = file?;
            let frame = file.clone().scan_lazily()?;
            Ok((file, self.without_repeated(frame)))
        };
        files.map(scan).collect()
    }

    fn without_repeated(&self, frame: LazyFrame) -> LazyFrame {
        match &self.repeated {
            Some(ids) => {
                let repeated = col("run_id").is_in(lit(ids.clone()).implode(true), false);
                frame.filter(repeated.fill_null(lit(false)).not())
            }
            None => frame,
        }
    }
}

/// Returns the files of the table `name` in `directory`.
fn files_in(directory: &Path, name: &str) -> Result<Vec<PathBuf>> {
    let (file, folder) = (directory.join(format!("{name}.parquet")), directory.join(name));
    if file.is_file() {
        return Ok(vec![file]);
    }
    if folder.is_dir() { parquet_files(&folder) } else { Ok(Vec::new()) }
}

/// Reads the runs of a plan from `file`; none if it does not exist.
fn plan(file: &Path) -> Result<Option<Vec<String>>> {
    let plan = match fs::read_to_string(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        plan => plan.map_err(|source| Error::read(file, source))?,
    };
    let damaged = |source| Error::Damaged { path: file.to_owned(), source };
    check_text(&plan).map_err(damaged)?;
    let runs = plan.lines().filter(|line| !line.starts_with('#'));
    Ok(Some(runs.map(str::to_owned).collect()))
}

/// Returns the directories of the finished cells of an unfinished sweep, in the order of its plan:
/// those that contain `runs`, which is renamed last. Cells of an older plan may exist there too,
/// but are not part of its tables.
fn finished_cells(directory: &Path, plan: &[String]) -> Vec<PathBuf> {
    let cells = plan.iter().map(|run| directory.join(CELLS).join(run));
    cells.filter(|cell| cell.join("runs.parquet").is_file()).collect()
}
