//! The metrics and the files of a run whose counts were chosen by hand.

mod cells;
mod energy;
pub(crate) mod fixture;
mod gone;
mod tables;
mod writer;
