//! Directories of results: [`ResultsWriter`] writes all tables at the end, [`CellStore`] keeps each
//! run as soon as it is finished. Both write in a hidden directory of the results directory and
//! rename, so that no file has its final name before it is complete.

mod cells;
mod files;
mod finished;
mod recorder;
mod staging;
mod writer;

pub use cells::CellStore;
pub use finished::{FinishedCells, cell_names};
#[cfg(test)]
pub(crate) use recorder::STREAMED;
pub use recorder::{Recorded, RunRecorder};
pub use writer::ResultsWriter;
