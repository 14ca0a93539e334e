//! A kernel's instructions, flattened and resolved for the issue stage.

use warpmem_sim::ids;
use warpmem_trace::{
    Barrier, CacheOp, Instruction, Kind, L2Policy, Mbarrier, OpClass, Operands, Space,
};

ids! {
    /// An instruction class of the issue stage: a functional unit, [`MEMORY`], or [`SYNC`].
    pub(super) Class(u8);
}

/// Number of classes.
pub(super) const CLASSES: usize = OpClass::COUNT + 2;
pub(super) const INTEGER: Class = Class(OpClass::Integer as u8);
pub(super) const FP64: Class = Class(OpClass::Fp64 as u8);
pub(super) const SFU: Class = Class(OpClass::Sfu as u8);
pub(super) const CONTROL: Class = Class(OpClass::Control as u8);
/// Class of instructions of the load/store unit.
pub(super) const MEMORY: Class = Class(OpClass::COUNT as u8);
/// Class of barriers, fences and exits, which have no unit of their own.
pub(super) const SYNC: Class = Class(OpClass::COUNT as u8 + 1);

/// An instruction to issue.
#[derive(Clone, Copy)]
pub(super) struct Op {
    pub class: Class,
    /// Reads through L1.
    pub reads_l1: bool,
    /// An async copy with the global cache operator, which may bypass L1.
    pub bypassing_copy: bool,
    pub operands: Operands,
    deps: u8,
    first_dep: u32,
}

/// A record's own instruction.
#[derive(Clone, Copy)]
pub(super) struct Static {
    pub pc: u64,
    /// Instructions to the first use of the result; `u32::MAX`: never used.
    pub use_distance: u32,
    first_op: u32,
    /// Number of issued instructions: the compute before it, and itself unless it is
    /// [`Kind::End`].
    ops: u32,
    pub kind: Kind,
    pub space: Space,
    pub cache_op: CacheOp,
    pub width: u32,
    pub barrier: Option<Barrier>,
    pub destinations: u16,
    pub mbarrier: Option<Mbarrier>,
    pub l2_policy: Option<L2Policy>,
    pub operands: Operands,
}

impl Static {
    /// Whether the instruction is an async copy from memory that goes to several CTAs or signals
    /// mbarriers.
    pub fn is_tracked_copy(&self) -> bool {
        let signals = matches!(self.mbarrier, Some(Mbarrier::Signal { .. }));
        self.space == Space::Global && (signals || self.destinations != 0)
    }
}

/// All instructions of a kernel.
#[derive(Default)]
pub struct Code {
    statics: Vec<Static>,
    ops: Vec<Op>,
    deps: Vec<u8>,
}

impl Code {
    pub fn new(instructions: &[Instruction]) -> Code {
        let mut code = Code::default();
        for instruction in instructions {
            code.add(instruction);
        }
        code
    }

    fn add(&mut self, instruction: &Instruction) {
        let first_op = self.ops.len() as u32;
        for compute in &instruction.compute {
            let class = Class(compute.class as u8);
            self.add_op(class, [false; 2], compute.operands, &compute.deps);
        }
        if instruction.kind != Kind::End {
            let reads = [reads_l1(instruction), bypassing_copy(instruction)];
            self.add_op(class_of(instruction), reads, instruction.operands, &instruction.deps);
        }
        self.statics.push(Static {
            pc: instruction.pc,
            use_distance: instruction.use_distance.unwrap_or(u32::MAX),
            first_op,
            ops: self.ops.len() as u32 - first_op,
            kind: instruction.kind,
            space: instruction.space,
            cache_op: instruction.cache_op,
            width: instruction.width,
            barrier: instruction.barrier,
            destinations: instruction.destinations,
            mbarrier: instruction.mbarrier,
            l2_policy: instruction.l2_policy,
            operands: instruction.operands,
        });
    }

    fn add_op(
        &mut self,
        class: Class,
        [reads_l1, bypassing_copy]: [bool; 2],
        operands: Operands,
        deps: &[u8],
    ) {
        let first_dep = self.deps.len() as u32;
        self.deps.extend_from_slice(deps);
        let deps = deps.len() as u8;
        self.ops.push(Op { class, reads_l1, bypassing_copy, operands, deps, first_dep });
    }

    #[inline]
    pub(super) fn get(&self, id: u32) -> &Static {
        &self.statics[id as usize]
    }

    /// Returns the range of a record's issued instructions.
    #[inline]
    pub(super) fn ops_of(&self, id: u32) -> std::ops::Range<u32> {
        let s = self.get(id);
        s.first_op..s.first_op + s.ops
    }

    #[inline]
    pub(super) fn op(&self, at: u32) -> Op {
        self.ops[at as usize]
    }

    /// Returns the distances back to the compute results that an instruction needs.
    #[inline]
    pub(super) fn deps(&self, op: Op) -> &[u8] {
        &self.deps[op.first_dep as usize..op.first_dep as usize + op.deps as usize]
    }
}

fn class_of(instruction: &Instruction) -> Class {
    if instruction.kind.is_memory() { MEMORY } else { SYNC }
}

/// Whether an instruction reads through L1, if L1 is enabled.
fn reads_l1(instruction: &Instruction) -> bool {
    let reads = matches!(instruction.kind, Kind::Load | Kind::AsyncCopy | Kind::Prefetch);
    let cached = matches!(instruction.space, Space::Global | Space::Local | Space::Texture);
    reads && cached && !bypasses_l1(instruction.cache_op)
}

fn bypassing_copy(instruction: &Instruction) -> bool {
    instruction.kind == Kind::AsyncCopy && instruction.cache_op == CacheOp::Global
}

/// Whether reads with this cache operator bypass L1.
pub(super) fn bypasses_l1(op: CacheOp) -> bool {
    matches!(op, CacheOp::Global | CacheOp::Volatile | CacheOp::StrongGpu)
}
