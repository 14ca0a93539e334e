//! Trace-driven, event-driven simulator of GPU memory systems.

pub mod cache;
pub mod classify;
pub mod complexity;
pub mod correlate;
pub mod cta;
pub mod destination;
pub mod dram;
pub mod engine;
pub mod ideal;
pub mod import;
mod inflate;
pub mod llc;
pub mod machine;
pub mod network;
pub mod profile;
mod random;
pub mod record;
pub mod registry;
pub mod reproduce;
pub mod sample;
pub mod shell;
pub mod sm;
pub mod suite;
pub mod sweep;
#[cfg(test)]
mod testing;
pub mod text;
pub mod timeline;
pub mod workload;
