//! Gathers warp instructions, which may arrive in any order of CTAs and warps, until their kernel
//! is complete, and then writes them CTA by CTA.
//!
//! For formats with little more than addresses: [`Assumptions`] states the defaults for missing
//! data, and the notes of the summary say where they applied.

mod assemble;
mod rows;

pub use assemble::Assembler;
pub use rows::{MAX_BYTES, Rows};

use warpmem_trace::{Barrier, L2Policy, MemoryOp, OpClass, Reg, Registers, Space};

use crate::sass::opcode::Decoded;
use crate::sass::operation::Op;

/// Defaults for data missing in an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assumptions {
    /// Without registers: number of following instructions of the warp before the result of a load
    /// or atomic is used (0 = the next one uses it). `None`: never.
    pub use_distance: Option<u32>,
    /// Integer instructions before each memory instruction, at most [`Assumptions::MOST_GAP`].
    pub gap: u32,
}

impl Assumptions {
    pub const MOST_GAP: u32 = 1000;
}

impl Default for Assumptions {
    fn default() -> Assumptions {
        Assumptions { use_distance: Some(0), gap: 0 }
    }
}

/// The known parameters of a kernel launch.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    pub name: String,
    pub stream: u64,
    pub grid: Option<[u32; 3]>,
    pub block: Option<[u32; 3]>,
    pub registers: u32,
    pub shared_bytes: u32,
}

/// Maximum warps per CTA on any GPU.
pub const MOST_WARPS: usize = 32;

/// The part of an instruction that all its executions share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Code {
    /// Name in the input.
    pub opcode: Box<str>,
    pub pc: Option<u64>,
    pub action: Action,
    /// `None` if the input lacks them.
    pub registers: Option<CodeRegisters>,
    /// Policy of an access to global memory.
    pub l2_policy: Option<L2Policy>,
}

/// The registers that an instruction writes and reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CodeRegisters {
    pub dests: Box<[Reg]>,
    pub srcs: Box<[Reg]>,
}

impl CodeRegisters {
    fn of(registers: Option<&CodeRegisters>) -> Registers<'_> {
        let (dests, srcs) = registers.map_or((&[][..], &[][..]), |r| (&*r.dests, &*r.srcs));
        Registers::new(dests, srcs)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Memory(MemoryOp),
    Compute { class: OpClass, count: u32 },
    Barrier(Barrier),
    BarrierArrive(Barrier),
    Fence,
    Exit,
}

impl Code {
    /// Returns the number of addresses of an execution with this mask.
    fn addresses(&self, mask: u32) -> usize {
        match self.action {
            Action::Memory(_) => mask.count_ones() as usize,
            _ => 0,
        }
    }
}

impl Action {
    /// Returns the action of an opcode. Generic addresses are taken as global.
    pub fn of(decoded: &Decoded) -> Action {
        let Decoded { width, cache_op, .. } = *decoded;
        match decoded.op {
            Op::Memory { kind, space } => {
                let space = space.unwrap_or(Space::Global);
                Action::Memory(MemoryOp { kind, space, width: width.into(), cache_op })
            }
            Op::Compute(class) => Action::Compute { class, count: 1 },
            Op::AsyncCommit | Op::AsyncWait => {
                Action::Compute { class: OpClass::Control, count: 1 }
            }
            Op::Barrier => Action::Barrier(Barrier::of_cta(0)),
            Op::Fence => Action::Fence,
            Op::Exit => Action::Exit,
        }
    }

    /// Returns the number of instructions of one row.
    fn instructions(self) -> u64 {
        match self {
            Action::Compute { count, .. } => count.into(),
            _ => 1,
        }
    }
}

/// A warp instruction and its position.
#[derive(Debug)]
pub struct Row<'a> {
    pub cta: [u32; 3],
    pub warp: u32,
    pub code: Code,
    pub mask: u32,
    /// One per active lane, lowest lane first; empty except for memory instructions.
    pub addresses: &'a [u64],
}
