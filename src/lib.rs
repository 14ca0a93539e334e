//! Trace-driven, event-driven simulator of GPU memory systems.
//!
//! A program with policies of its own implements the traits of [`policy`] and adds the policies to
//! the command line, [`cli()`].
//!
//! Programs that embed the simulator depend on this crate without its default features, which
//! belong to the command line, or on the crates below alone: [`gpu::engine::Simulation`] is a whole
//! run.

#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "capture")]
pub mod correlation;
#[cfg(feature = "capture")]
pub mod device;
pub mod policy;

#[cfg(feature = "cli")]
pub use cli::{CommandLine, cli};

pub use warpmem_cache as cache;
#[cfg(feature = "capture")]
pub use warpmem_capture as capture;
pub use warpmem_dram as dram;
pub use warpmem_gpu as gpu;
pub use warpmem_gpu::slots;
#[cfg(feature = "capture")]
pub use warpmem_hardware as hardware;
pub use warpmem_import as import;
pub use warpmem_machine as machine;
pub use warpmem_network as network;
pub use warpmem_params as params;
pub use warpmem_params::{choice, params};
pub use warpmem_record as record;
pub use warpmem_sim as sim;
#[cfg(feature = "capture")]
pub use warpmem_simt as simt;
pub use warpmem_standalone as standalone;
pub use warpmem_study as study;
pub use warpmem_support::files;
pub use warpmem_trace as trace;
pub use warpmem_translation as translation;
pub use warpmem_workload as workload;
