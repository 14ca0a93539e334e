//! Imports traces of other tools, and exports traces to Accel-Sim.
//!
//! Each source format is a module; they share progress reports, errors and summaries.
//! `docs/import.md` lists the supported variants and the decisions where a format is ambiguous.

mod accel_sim;
mod error;
mod gather;
mod input;
mod mem_trace;
mod options;
mod output;
mod packed;
mod progress;
mod reach;
mod sass;
mod sectors;
mod summary;
mod table;
mod text;

pub use accel_sim::{ExportOptions, ExportSummary, export_accel_sim, import_accel_sim};
pub use error::{ImportError, Place};
pub use gather::Assumptions;
pub use mem_trace::import_mem_trace;
pub use options::{EmptyMasks, ImportOptions, MemTraceOptions, TableOptions};
pub use progress::Progress;
pub use summary::{ImportSummary, KernelCounts, MemoryCount};
pub use table::{import_csv, import_jsonl, import_parquet};
