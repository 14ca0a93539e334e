//! Trace-driven, event-driven simulator of GPU memory systems.

pub mod dram;
pub mod machine;
pub mod record;
pub mod registry;
pub mod workload;
