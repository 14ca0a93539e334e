//! A run of another simulator, whatever its file format.

use std::path::PathBuf;

use super::figures::Figures;

/// Names of Accel-Sim's two DRAM schedulers.
pub const FR_FCFS: &str = "FR-FCFS";
pub const FIFO: &str = "FIFO";

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
    /// Machine keys that the log states.
    pub machine: Vec<Stated>,
    /// Options that replace those of the configuration, as the reference writes them.
    pub overrides: Option<String>,
    pub figures: Figures,
    /// Keys that a log should have but has not.
    pub missing: Vec<&'static str>,
}

/// A number of its machine that a log states.
#[derive(Clone, Debug, PartialEq)]
pub struct Stated {
    /// Our key for it.
    pub key: &'static str,
    /// Options of the log, multiplied where there are several.
    pub options: String,
    pub value: f64,
}
