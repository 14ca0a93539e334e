//! The operation of an instruction, as far as a memory system is concerned.

use warpmem_trace::{Kind, OpClass, Space};

/// The operation of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Compute(OpClass),
    /// `space` is `None` for generic addressing.
    Memory {
        kind: Kind,
        space: Option<Space>,
    },
    Barrier,
    Fence,
    Exit,
    /// Closes a group of async copies (`LDGDEPBAR`).
    AsyncCommit,
    /// Waits until at most the immediate's number of closed groups are outstanding (`DEPBAR`).
    AsyncWait,
}
