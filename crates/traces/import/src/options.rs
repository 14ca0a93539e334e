//! What to import, and how.

use std::ops::RangeInclusive;

use warpmem_trace::WriterOptions;

use crate::gather::Assumptions;

/// What to import and how to write it.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// Kernels to import, by their place in the list, from 1; all by default.
    pub kernels: Option<RangeInclusive<usize>>,
    /// Kernel files read, inflated and parsed at once. More than one only helps where there is more
    /// than one kernel; memory grows with it.
    pub jobs: usize,
    /// The command that asked for the import, kept in the trace's provenance.
    pub command: String,
    pub empty_masks: EmptyMasks,
    /// Codec, level and chunk size of the trace to write.
    pub writer: WriterOptions,
}

/// What to import of a log of `mem_trace` and how to write it.
#[derive(Clone, Debug, Default)]
pub struct MemTraceOptions {
    /// Kernels to import, by the order of their launches in the log, from 1; all by default.
    pub kernels: Option<RangeInclusive<usize>>,
    pub assumptions: Assumptions,
    /// As [`ImportOptions::command`].
    pub command: String,
    pub writer: WriterOptions,
}

/// How to read a table and how to write it.
#[derive(Clone, Debug, Default)]
pub struct TableOptions {
    /// Columns of the table that are of no interest. Any other unknown column is an error.
    pub ignored_columns: Vec<String>,
    pub assumptions: Assumptions,
    /// As [`ImportOptions::command`].
    pub command: String,
    pub writer: WriterOptions,
}

/// What becomes of instructions with no active lane. They are counted either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EmptyMasks {
    /// They stay in the trace, where each takes its issue slot, as it does on hardware.
    #[default]
    Keep,
    /// They are left out, and with them the dependences through the registers they name.
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

/// More files at once than this outrun the one writer of the trace.
const MAX_DEFAULT_JOBS: usize = 4;
