//! PTX: parses and decodes the modules of CUDA programs.
//!
//! ```text
//!  fat binary ─▶ text ─▶ tokens ─▶ statements ─▶ instructions ─▶ control flow, liveness
//!  fatbin               lexer      parse         decode           flow, liveness
//! ```
//!
//! [`parse`] returns a [`Module`] in which every name is resolved. Unsupported statements are listed by
//! line, function by function ([`Body::unsupported`]), so that only the kernels that need them are
//! refused. Source: NVIDIA, "Parallel Thread Execution ISA", called the ISA in comments.
//!
//! Invariant: this crate executes nothing, and no input makes it panic.

mod cache_policy;
mod cluster;
mod decode;
mod error;
pub mod fatbin;
mod flow;
mod ids;
mod instruction;
mod lexer;
pub mod listing;
mod liveness;
mod matrix;
mod mbarrier;
mod module;
mod op;
mod operand;
mod parse;
mod special;
mod tensor_map;
#[cfg(test)]
mod tests;
mod types;
mod video;

pub use cache_policy::{BlockRange, CachePolicy, EvictionPriority, PrimaryLines};
pub use cluster::{ClusterBarrier, ClusterLimit};
pub use decode::opcodes;
pub use error::PtxError;
pub use flow::Flow;
pub use ids::{FunctionId, VariableId};
pub use instruction::{Guard, Instruction, Register, Value};
pub use liveness::{MAX_WORDS, live_words};
pub use matrix::{
    Combine, Element, Factor, GroupProduct, Layout, Mma, MmaForm, Wgmma, WmmaAccess, WmmaOperand,
};
pub use mbarrier::{Arrival, Mbarrier};
pub use module::{
    Argument, Body, Call, Callee, Function, Module, Reference, Relocation, Target, ThreadLimit,
    Variable,
};
pub use op::*;
pub use parse::parse;
pub use special::{Axis, Special};
pub use tensor_map::TensorMapField;
pub use types::{Compare, RegisterClass, Rounding, Space, Type};
pub use video::{Finish, Video, VideoMultiplyAdd, VideoOp, VideoPart, VideoVector};
