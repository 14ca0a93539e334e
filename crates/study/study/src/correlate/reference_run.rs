//! A run of another simulator, independent of the file format.

use std::path::PathBuf;

use super::figures::Figures;

/// Names of Accel-Sim's two DRAM schedulers.
pub const FR_FCFS: &str = "FR-FCFS";
pub const FIFO: &str = "FIFO";

/// A run of another simulator.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReferenceRun {
    /// Name of the trace; a log does not state it.
    pub trace: Option<String>,
    /// Folder of the trace, relative to the folder of the reference.
    pub trace_dir: Option<PathBuf>,
    /// Name of the configuration of the machine; a log does not state it.
    pub configuration: Option<String>,
    /// [`FR_FCFS`], [`FIFO`], or the reference's own name.
    pub dram_scheduler: String,
    /// Machine keys stated by the log.
    pub machine: Vec<Stated>,
    /// Options that override those of the configuration, as the reference writes them.
    pub overrides: Option<String>,
    pub figures: Figures,
    /// Required keys that the log lacks.
    pub missing: Vec<&'static str>,
}

/// A value of the machine stated by a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Stated {
    /// Our key for the value.
    pub key: &'static str,
    /// Options of the log; several are multiplied.
    pub options: String,
    pub value: f64,
}
