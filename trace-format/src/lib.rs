//! Per-warp memory-instruction traces of GPU kernels, and the `.wmt` container that stores them.
//!
//! [`TraceWriter`] streams a trace to disk CTA by CTA; [`WarpAssembler`] turns a warp's full
//! instruction stream into its records; [`Trace`] maps a file and returns [`Chunk`]s of CTAs, whose
//! warps [`WarpCursor`] replays record by record. `docs/traces.md` describes the bytes.
//!
//! # Writing a trace
//!
//! The CTAs of a kernel are written one after the other, the instructions of each warp in program
//! order. The assembler derives dependences from the registers of each instruction, under any
//! numbering. Where registers are unknown, [`WarpAssembler::used_after`] sets the first use of a
//! load. The example is `examples/write_trace.rs`.
//! ```no_run
#![doc = include_str!("../examples/write_trace.rs")]
//! ```
//!
//! # Reading a trace
//!
//! The example is `examples/read_trace.rs`.
//! ```no_run
#![doc = include_str!("../examples/read_trace.rs")]
//! ```
//!
//! Invariant: this crate knows nothing of machines or engines.

mod assemble;
mod barrier;
mod block;
mod chain;
mod chunk;
mod cluster;
mod context;
mod cta;
mod dictionary;
mod encode;
mod error;
mod hash;
mod header;
#[cfg(test)]
mod hostile;
mod l2_policy;
mod mbarrier;
mod old_index;
mod operands;
mod output;
mod pack;
mod packing;
mod ranges;
mod reader;
mod record;
mod serial;
mod sink;
mod v1;
mod v2;
mod v3;
mod v4;
mod varint;
mod writer;

pub use assemble::{MemoryOp, Reg, Registers, WarpAssembler};
pub use barrier::Barrier;
pub use block::Codec;
pub use chain::segment_chain_cycles;
pub use chunk::WarpCursor;
pub use chunk::{Chunk, CtaEntry, WarpEntry};
pub use cluster::{ClusterAddress, MAX_CLUSTER};
pub use cta::CtaBuilder;
pub use dictionary::Dictionary;
pub use error::TraceError;
pub use header::{FORMAT_VERSION, Header, Kernel, KindCount, Provenance};
pub use l2_policy::{Eviction, L2Policy};
pub use mbarrier::Mbarrier;
pub use operands::Operands;
pub use ranges::{BeyondEnd, Ranges, RangesError};
pub use reader::Trace;
pub use record::*;
pub use sink::TraceSink;
pub use writer::{TraceSummary, TraceWriter, WriterOptions};
