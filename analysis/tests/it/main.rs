//! The crate from outside, in one binary: linking the dataframe engine once is enough.

mod common;
mod compare;
mod effects;
mod loads;
mod output;
mod parameters;
mod read;
mod sql;
