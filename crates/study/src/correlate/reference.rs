//! A reference: runs of another simulator, in any file format.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::error::ReferenceError;
use super::reference_run::ReferenceRun;
use super::{accel_sim_log, results_json};

/// Runs of another simulator.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    pub path: PathBuf,
    pub runs: Vec<ReferenceRun>,
}

impl Reference {
    /// Reads results in JSON or a log of Accel-Sim, distinguished by their beginning.
    ///
    /// # Errors
    /// If the file cannot be read, contains an invalid value, or contains no run.
    pub fn read(path: &Path) -> Result<Reference, ReferenceError> {
        let io = |source| ReferenceError::Io { path: path.to_owned(), source };
        let mut file = BufReader::new(File::open(path).map_err(io)?);
        let head = file.fill_buf().map_err(io)?.trim_ascii_start();
        let runs = if matches!(head.first(), Some(b'{' | b'[')) {
            results_json::read(path, file)?
        } else {
            vec![accel_sim_log::read(path, file)?]
        };
        Ok(Reference { path: path.to_owned(), runs })
    }
}
