//! Options of imports.

use std::ops::RangeInclusive;

use warpmem_trace::WriterOptions;

use crate::gather::Assumptions;

/// Options of an import of Accel-Sim traces.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// Kernels to import, by position in the list, from 1; all by default.
    pub kernels: Option<RangeInclusive<usize>>,
    /// Kernel files in flight. More than one helps only with several kernels; memory grows with it.
    pub jobs: usize,
    /// The import command, stored in the trace's provenance.
    pub command: String,
    pub empty_masks: EmptyMasks,
    /// Codec, level and chunk size of the trace.
    pub writer: WriterOptions,
}

/// Options of an import of a `mem_trace` log.
#[derive(Clone, Debug, Default)]
pub struct MemTraceOptions {
    /// Kernels to import, by launch order in the log, from 1; all by default.
    pub kernels: Option<RangeInclusive<usize>>,
    pub assumptions: Assumptions,
    /// As [`ImportOptions::command`].
    pub command: String,
    pub writer: WriterOptions,
}

/// Options of an import of a table.
#[derive(Clone, Debug, Default)]
pub struct TableOptions {
    /// Columns to ignore. Any other unknown column is an error.
    pub ignored_columns: Vec<String>,
    pub assumptions: Assumptions,
    /// As [`ImportOptions::command`].
    pub command: String,
    pub writer: WriterOptions,
}

/// Treatment of instructions with no active lane. They are counted either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EmptyMasks {
    /// Keeps them in the trace, where each takes its issue slot, as on hardware.
    #[default]
    Keep,
    /// Omits them, and with them the dependences through their registers.
    Drop,
}

impl Default for ImportOptions {
    fn default() -> ImportOptions {
        let jobs =
            std::thread::available_parallelism().map_or(1, |n| n.get().min(MAX_DEFAULT_JOBS));
        ImportOptions {
            kernels: None,
            jobs,
            command: String::new(),
            empty_masks: EmptyMasks::default(),
            writer: WriterOptions::default(),
        }
    }
}

/// More files in flight outrun the single writer of the trace.
const MAX_DEFAULT_JOBS: usize = 4;
