//! Tools shared by all layers: files, text for people, random numbers, checksums, tables of
//! embedded files, and the identity of the program. This crate knows no traces, machines or results.

pub mod checksum;
pub mod embed;
pub mod files;
pub mod program;
pub mod random;
pub mod text;
