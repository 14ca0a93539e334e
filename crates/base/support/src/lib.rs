//! Tools shared by all layers: files, text for people, random numbers, checksums, and tables of
//! embedded files. This crate knows no traces, machines or results.

pub mod checksum;
pub mod embed;
pub mod files;
pub mod random;
pub mod text;
