//! Tools shared by all layers: files, text for people, random numbers, checksums, tables of
//! embedded files, and the identity of the program. This crate knows no traces, machines or results.

#[cfg(feature = "run-time")]
pub mod checksum;
pub mod embed;
#[cfg(feature = "run-time")]
pub mod files;
#[cfg(feature = "run-time")]
pub mod parts;
#[cfg(feature = "run-time")]
pub mod program;
#[cfg(feature = "run-time")]
pub mod random;
pub mod statistics;
#[cfg(feature = "run-time")]
pub mod text;
