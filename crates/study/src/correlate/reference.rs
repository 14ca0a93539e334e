//! A reference: runs of another simulator, in any file format.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::error::ReferenceError;
use super::figures::Figures;
use super::identity::Stated;
use super::{accel_sim_log, results_json};

/// What Accel-Sim calls its two DRAM schedulers.
pub const FR_FCFS: &str = "FR-FCFS";
pub const FIFO: &str = "FIFO";

/// Runs of another simulator.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    pub path: PathBuf,
    pub runs: Vec<ReferenceRun>,
}

/// A run of another simulator.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReferenceRun {
    /// Name of its trace; a log does not say it.
    pub trace: Option<String>,
    /// Folder of the trace, relative to the folder of the reference.
    pub trace_dir: Option<PathBuf>,
    /// Name of the configuration of its machine; a log does not say it.
    pub configuration: Option<String>,
    /// [`FR_FCFS`], [`FIFO`], or as the reference names it.
    pub dram_scheduler: String,
    /// What a log states of its machine.
    pub machine: Vec<Stated>,
    /// Options that replace those of the configuration, as the reference writes them.
    pub overrides: Option<String>,
    pub figures: Figures,
    /// Keys that a log should have but has not.
    pub missing: Vec<&'static str>,
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
