//! Captured traces of other tools, brought into the container and back.
//!
//! Each source format is a module of its own; what they share is how they report progress, fail and
//! sum up. `docs/import.md` says which variants are read and what is decided where a format is silent.

mod accel_sim;
mod error;
mod summary;

use std::ops::RangeInclusive;

use warpmem_trace::WriterOptions;

pub use accel_sim::{ExportOptions, ExportSummary, export_accel_sim, import_accel_sim};
pub use error::ImportError;
pub use summary::{ImportSummary, KernelCounts, MemoryCount};

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

/// Hears how an import or export goes, and may stop it. Called from several threads.
pub trait Progress: Sync {
    /// How many bytes of (compressed) input there are in all; called once, before any `advance`.
    fn total(&self, _bytes: u64) {}
    /// So many more bytes of input have been read.
    fn advance(&self, _bytes: u64) {}
    /// A kernel is complete in the output; `done` of `kernels`.
    fn kernel(&self, _done: usize, _kernels: usize) {}
    /// Asked now and then: true stops the work with an error, leaving no output behind.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Hears nothing and never stops.
impl Progress for () {}
