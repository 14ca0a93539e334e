//! The metrics and files of a run with hand-chosen counts.

mod cells;
mod energy;
pub(crate) mod fixture;
mod gone;
mod tables;
mod writer;
