//! Captured traces of other tools, brought into the container and back.
//!
//! Each source format is a module of its own; what they share is how they report progress, fail and
//! sum up. `docs/import.md` says which variants are read and what is decided where a format is silent.

mod accel_sim;
mod error;
mod input;
mod options;
mod packed;
mod progress;
mod sass;
mod sectors;
mod summary;
mod text;

pub use accel_sim::{ExportOptions, ExportSummary, export_accel_sim, import_accel_sim};
pub use error::ImportError;
pub use options::{EmptyMasks, ImportOptions};
pub use progress::Progress;
pub use summary::{ImportSummary, KernelCounts, MemoryCount};
