//! Decodes bulk copies through tensor maps (ISA, "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor" and
//! "cp.async.bulk.prefetch.tensor"), in tiled mode only.

use super::bulk::{COMPLETION, FROM_SHARED};
use super::memory::atomic_op;
use super::{Decoder, Result};
use crate::op::{AtomicOp, Op, TensorCopy};
use crate::operand::Operand;
use crate::types::Type::{B64, S32, U16};

impl Decoder<'_> {
    /// Decodes the rest of `cp.async.bulk.tensor`: `.2d.shared::cluster.global.mbarrier::complete_tx::bytes
    /// [d], [map, {x, y}], [m]` and `.2d.global.shared::cta.bulk_group [map, {x, y}], [s]`.
    pub(super) fn tensor_copy(&mut self) -> Result<Op> {
        let rank = self.rank()?;
        match self.modifiers.next() {
            Some("shared::cluster") => self.tensor_load(rank, true),
            Some("shared::cta") => self.tensor_load(rank, false),
            Some("global") => {
                self.expect_modifiers(&FROM_SHARED[..1])?;
                self.tensor_store(TensorCopy::Store, rank)
            }
            _ => Err("`cp.async.bulk.tensor` lacks its spaces: `.shared::cluster.global` or \
                 `.global.shared::cta`"
                .into()),
        }
    }

    fn tensor_load(&mut self, rank: u8, to_cluster: bool) -> Result<Op> {
        self.expect_modifiers(&["global"])?;
        self.tiled()?;
        self.expect_modifiers(&[COMPLETION])?;
        let is_multicast = to_cluster && self.modifiers.accept("multicast::cluster");
        let has_policy = self.tensor_hint()?;
        let to = self.operands.address()?;
        self.map_and_coordinates(rank)?;
        let mbarrier = self.operands.address()?;
        if is_multicast {
            self.operands.source(U16)?;
        }
        self.policy(has_policy)?;
        let f = if is_multicast { TensorCopy::Multicast } else { TensorCopy::Load };
        Ok(Op::Tensor { f, rank, offsets: [to, mbarrier] })
    }

    /// Decodes the part after the spaces and the operation of a reduction.
    fn tensor_store(&mut self, f: TensorCopy, rank: u8) -> Result<Op> {
        self.tiled()?;
        self.expect_modifiers(&FROM_SHARED[1..])?;
        let has_policy = self.tensor_hint()?;
        self.map_and_coordinates(rank)?;
        let from = self.operands.address()?;
        self.policy(has_policy)?;
        Ok(Op::Tensor { f, rank, offsets: [from, 0] })
    }

    /// Decodes the rest of `cp.reduce.async.bulk.tensor`: `.2d.global.shared::cta.add.bulk_group [map, {x,
    /// y}], [s]`. The tensor map defines the type.
    pub(super) fn tensor_reduction(&mut self) -> Result<Op> {
        let rank = self.rank()?;
        self.expect_modifiers(&["global"])?;
        self.expect_modifiers(&FROM_SHARED[..1])?;
        let op = self.modifiers.require("an operation", atomic_op)?;
        if matches!(op, AtomicOp::Exchange | AtomicOp::CompareAndSwap) {
            let text = "`cp.reduce.async.bulk.tensor` of `.exch` or `.cas` is not an instruction";
            return Err(text.into());
        }
        self.tensor_store(TensorCopy::Reduce(op), rank)
    }

    /// Decodes the rest of `cp.async.bulk.prefetch.tensor`: `.2d.L2.global [map, {x, y}]`.
    pub(super) fn tensor_prefetch(&mut self) -> Result<Op> {
        let rank = self.rank()?;
        self.expect_modifiers(&["L2", "global"])?;
        self.tiled()?;
        let has_policy = self.tensor_hint()?;
        self.map_and_coordinates(rank)?;
        self.policy(has_policy)?;
        Ok(Op::Tensor { f: TensorCopy::Prefetch, rank, offsets: [0; 2] })
    }

    fn rank(&mut self) -> Result<u8> {
        self.modifiers.require("a dimension, `.1d` to `.5d`,", |name| {
            Some(match name {
                "1d" => 1,
                "2d" => 2,
                "3d" => 3,
                "4d" => 4,
                "5d" => 5,
                _ => return None,
            })
        })
    }

    /// Accepts the mode, which defaults to `.tile`.
    fn tiled(&mut self) -> Result<()> {
        let is_mode = |name: &&str| name.starts_with("tile::") || name.starts_with("im2col");
        match self.modifiers.peek().filter(is_mode) {
            Some(name) => {
                Err(format!("mode `.{name}` of tensor copies is not supported, only `.tile` is"))
            }
            None => {
                self.modifiers.accept("tile");
                Ok(())
            }
        }
    }

    /// Returns whether a cache policy follows the other operands.
    fn tensor_hint(&mut self) -> Result<bool> {
        let is_variant =
            |name: &&str| *name == "multicast::cluster" || name.starts_with("cta_group::");
        match self.modifiers.peek().filter(is_variant) {
            Some(name) => Err(format!("`.{name}` of tensor copies is not supported")),
            None => Ok(self.modifiers.accept("L2::cache_hint")),
        }
    }

    /// Decodes `[map, {x, y}]`.
    fn map_and_coordinates(&mut self, rank: u8) -> Result<()> {
        let Operand::Texture(operands) = self.operands.take()? else {
            return Err("expected a tensor map and its coordinates in brackets".into());
        };
        let [map, coordinates] = <[Operand<'_>; 2]>::try_from(operands)
            .map_err(|_| "expected a tensor map and one vector of coordinates")?;
        self.operands.put_back([map, coordinates]);
        self.operands.source(B64)?;
        let given = self.operands.source_vector(S32)?;
        match given == usize::from(rank) {
            true => Ok(()),
            false => Err(format!("{given} coordinates for a box of {rank} dimensions")),
        }
    }
}
