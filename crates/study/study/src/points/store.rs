//! Cycles of finished runs, kept in a file so that a batch continues where it stopped.

use super::error::PointsError;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Name of the file in its folder. Each line is a run id and its core cycles.
pub const RUNS: &str = "runs.txt";

/// Core cycles by run id. Every finished run is a line of the file at once.
pub struct Store {
    path: PathBuf,
    runs: Mutex<Runs>,
}

struct Runs {
    known: HashMap<String, u64>,
    file: File,
}

impl Store {
    /// Opens the store in `folder`, created if it does not exist. A line without an end, left by a
    /// killed process, is removed.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    pub fn open(folder: &Path) -> Result<Store, PointsError> {
        let path = folder.join(RUNS);
        let opened = (|| {
            fs::create_dir_all(folder)?;
            let file = File::options().read(true).append(true).create(true).open(&path)?;
            let text = fs::read_to_string(&path)?;
            let whole = text.rfind('\n').map_or(0, |end| end + 1);
            if whole < text.len() {
                file.set_len(whole as u64)?;
            }
            let known = text[..whole].lines().filter_map(run).collect();
            Ok(Runs { known, file })
        })();
        match opened {
            Ok(runs) => Ok(Store { path, runs: Mutex::new(runs) }),
            Err(source) => Err(PointsError::Store { path, source }),
        }
    }

    /// Returns the core cycles of a run, if it has finished.
    pub fn cycles(&self, run_id: &str) -> Option<u64> {
        self.runs().known.get(run_id).copied()
    }

    /// Adds a finished run.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn add(&self, run_id: &str, cycles: u64) -> Result<(), PointsError> {
        let mut runs = self.runs();
        let written: io::Result<()> =
            runs.file.write_all(format!("{run_id} {cycles}\n").as_bytes());
        written.map_err(|source| PointsError::Store { path: self.path.clone(), source })?;
        runs.known.insert(run_id.to_owned(), cycles);
        Ok(())
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn run(line: &str) -> Option<(String, u64)> {
    let (run_id, cycles) = line.split_once(' ')?;
    Some((run_id.to_owned(), cycles.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finished_runs_outlive_the_process_and_torn_lines_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("new");
        Store::open(&folder).unwrap().add("a", 12).unwrap();
        let path = folder.join(RUNS);
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"b 345").unwrap();
        let store = Store::open(&folder).unwrap();
        assert_eq!((store.cycles("a"), store.cycles("b")), (Some(12), None));
        store.add("b", 3456).unwrap();
        assert_eq!(Store::open(&folder).unwrap().cycles("b"), Some(3456));
        assert_eq!(fs::read_to_string(&path).unwrap(), "a 12\nb 3456\n");
    }
}
