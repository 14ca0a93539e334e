//! Tests of the crate's public interface, in one binary, so that the dataframe engine is linked
//! once.

mod common;
mod compare;
mod effects;
mod loads;
mod output;
mod parameters;
mod read;
mod sql;
