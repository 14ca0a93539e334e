//! Directories of results.

mod cells;
mod files;
mod finished;
mod recorder;
mod staging;
mod writer;

pub use cells::CellStore;
pub use finished::FinishedCells;
#[cfg(test)]
pub(crate) use recorder::STREAMED;
pub use recorder::{Recorded, RunRecorder};
pub use writer::ResultsWriter;
