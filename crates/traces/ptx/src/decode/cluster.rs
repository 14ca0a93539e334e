//! Decodes the instructions of CTA clusters.

use super::bulk::COMPLETION;
use super::memory::{atomic_op, types_of};
use super::{Decoder, Result};
use crate::cluster::ClusterBarrier;
use crate::op::{Access, Atomic, AtomicOp, Cache, ClusterOp, Op};
use crate::types::Space;
use crate::types::Type::{self, *};

/// Types of `st.async`.
const STORABLE: [Type; 8] = [B32, B64, U32, U64, S32, S64, F32, F64];

impl Decoder<'_> {
    /// Decodes `mapa.shared::cluster.u32 d, a, b` and `getctarank.u64 d, a`.
    pub(super) fn cluster_address(&mut self) -> Result<Op> {
        let space = self.cluster_or_generic();
        let ty = self.modifiers.one_of(&[U32, U64])?;
        if self.opcode == "getctarank" {
            self.operands.dest(U32)?;
            self.operands.source(ty)?;
            return Ok(Op::Cluster(ClusterOp::Rank(space)));
        }
        self.operands.dest(ty)?;
        self.operands.source(ty)?;
        self.operands.source(U32)?;
        Ok(Op::Cluster(ClusterOp::Map(space)))
    }

    fn cluster_or_generic(&mut self) -> Space {
        match self.modifiers.accept("shared::cluster") {
            true => Space::Cluster,
            false => Space::Generic,
        }
    }

    /// Decodes the rest of `barrier.cluster`: `.arrive.relaxed.aligned`, `.wait.acquire`.
    pub(super) fn cluster_barrier(&mut self) -> Result<Op> {
        let (half, semantics): (_, &[&str]) = match self.modifiers.next() {
            Some("arrive") => (ClusterBarrier::Arrive, &["release", "relaxed"]),
            Some("wait") => (ClusterBarrier::Wait, &["acquire"]),
            _ => return Err("`barrier.cluster` lacks `.arrive` or `.wait`".into()),
        };
        self.modifiers.choose(|name| semantics.contains(&name).then_some(()));
        self.modifiers.accept("aligned");
        Ok(Op::ClusterBarrier(half))
    }

    /// Decodes the rest of `st.async`: `.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [a], {b,
    /// c}, [m]`.
    pub(super) fn store_async(&mut self) -> Result<Op> {
        self.modifiers.accept("weak");
        let space = self.completion()?;
        let elements = self.modifiers.choose(|name| match name {
            "v2" => Some(2),
            "v4" => Some(4),
            _ => None,
        });
        let elements = elements.unwrap_or(1);
        let ty = self.modifiers.one_of(&STORABLE)?;
        let offset = self.operands.address()?;
        let count = self.operands.source_vector(ty)?;
        if count != usize::from(elements) {
            return Err(format!("{count} registers for {elements} elements"));
        }
        let mbarrier = self.operands.address()?;
        let access = Access { space, ty, elements, cache: Cache::Default, offset };
        Ok(Op::Cluster(ClusterOp::Store { access, mbarrier }))
    }

    /// Decodes the rest of `red.async`:
    /// `.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [a], b, [m]`.
    pub(super) fn reduction_async(&mut self) -> Result<Op> {
        self.expect_modifiers(&["relaxed", "cluster"])?;
        let space = self.completion()?;
        let op = self.modifiers.require("an operation", atomic_op)?;
        if matches!(op, AtomicOp::Exchange | AtomicOp::CompareAndSwap) {
            return Err("`red.async` of `.exch` or `.cas` is not an instruction".into());
        }
        let ty = self.modifiers.one_of(types_of(op))?;
        if ty.is_float() || matches!(ty, F16x2 | Bf16x2) {
            return Err(format!("`red.async` of type `.{}` is not an instruction", ty.name()));
        }
        let offset = self.operands.address()?;
        self.operands.source(ty)?;
        let mbarrier = self.operands.address()?;
        let atomic = Atomic { space, op, ty, elements: 1, ftz: false, offset };
        Ok(Op::Cluster(ClusterOp::Reduce { atomic, mbarrier }))
    }

    fn completion(&mut self) -> Result<Space> {
        let space = self.cluster_or_generic();
        self.expect_modifiers(&[COMPLETION])?;
        Ok(space)
    }
}
