//! Decodes bulk copies (ISA, "Data Movement and Conversion Instructions: Bulk copy").

use super::memory::{atomic_op, types_of};
use super::{Decoder, Result};
use crate::op::{AtomicOp, Bulk, Op};
use crate::types::Type::{U16, U32};

impl Decoder<'_> {
    /// Decodes the rest of `cp.async.bulk`: `.shared::cluster.global.mbarrier::complete_tx::bytes [d], [s],
    /// n, [m]` and the other forms.
    pub(super) fn bulk(&mut self) -> Result<Op> {
        match self.modifiers.next() {
            Some("commit_group") => Ok(Op::BulkGroup),
            Some("wait_group") => {
                self.modifiers.accept("read");
                self.operands.constant()?;
                Ok(Op::BulkGroup)
            }
            Some("prefetch") => self.bulk_prefetch(),
            Some("shared::cluster") if self.modifiers.accept("shared::cta") => self.bulk_share(),
            Some("shared::cluster") => self.bulk_load(true),
            Some("shared::cta") => self.bulk_load(false),
            Some("global") => {
                self.expect_modifiers(FROM_SHARED)?;
                let has_policy = self.bulk_hint()?;
                self.bulk_store(Bulk::Store, has_policy)
            }
            Some("tensor") => self.tensor_copy(),
            Some(name) => Err(format!("`cp.async.bulk.{name}` is not supported")),
            None => Err("`cp.async.bulk` lacks its operation".into()),
        }
    }

    fn bulk_load(&mut self, to_cluster: bool) -> Result<Op> {
        self.expect_modifiers(&["global", COMPLETION])?;
        let is_multicast = to_cluster && self.modifiers.accept("multicast::cluster");
        let has_policy = self.bulk_hint()?;
        let offsets = self.bulk_operands()?;
        if is_multicast {
            self.operands.source(U16)?;
        }
        self.policy(has_policy)?;
        let f = if is_multicast { Bulk::Multicast } else { Bulk::Load };
        Ok(Op::Bulk { f, offsets })
    }

    /// Decodes the rest of `cp.async.bulk.shared::cluster.shared::cta`.
    fn bulk_share(&mut self) -> Result<Op> {
        self.expect_modifiers(&[COMPLETION])?;
        Ok(Op::Bulk { f: Bulk::Share, offsets: self.bulk_operands()? })
    }

    /// Decodes `[to], [from], bytes, [mbarrier]`; returns the constant offsets of the addresses.
    fn bulk_operands(&mut self) -> Result<[i64; 3]> {
        let to = self.operands.address()?;
        let from = self.operands.address()?;
        self.operands.source(U32)?;
        Ok([to, from, self.operands.address()?])
    }

    fn bulk_store(&mut self, f: Bulk, has_policy: bool) -> Result<Op> {
        let to = self.operands.address()?;
        let from = self.operands.address()?;
        self.operands.source(U32)?;
        self.policy(has_policy)?;
        Ok(Op::Bulk { f, offsets: [to, from, 0] })
    }

    /// Decodes `cp.async.bulk.prefetch.L2.global [a], n`.
    fn bulk_prefetch(&mut self) -> Result<Op> {
        if self.modifiers.accept("tensor") {
            return self.tensor_prefetch();
        }
        self.expect_modifiers(&["L2", "global"])?;
        let has_policy = self.bulk_hint()?;
        let from = self.operands.address()?;
        self.operands.source(U32)?;
        self.policy(has_policy)?;
        Ok(Op::Bulk { f: Bulk::Prefetch, offsets: [from, 0, 0] })
    }

    /// Decodes the rest of `cp.reduce`: `.async.bulk.global.shared::cta.bulk_group.add.u32 [d], [s], n`.
    pub(super) fn bulk_reduction(&mut self) -> Result<Op> {
        self.expect_modifiers(&["async", "bulk"])?;
        match self.modifiers.next() {
            Some("global") => self.expect_modifiers(FROM_SHARED)?,
            Some("tensor") => return self.tensor_reduction(),
            _ => return Err("`cp.reduce.async.bulk` is only supported to `.global`".into()),
        }
        let has_policy = self.bulk_hint()?;
        let op = self.modifiers.require("an operation", atomic_op)?;
        if matches!(op, AtomicOp::Exchange | AtomicOp::CompareAndSwap) {
            return Err("`cp.reduce.async.bulk` of `.exch` or `.cas` is not an instruction".into());
        }
        self.modifiers.accept("noftz");
        let ty = self.modifiers.one_of(types_of(op))?;
        self.bulk_store(Bulk::Reduce { op, ty }, has_policy)
    }

    /// Returns whether a cache policy follows the other operands; no other variant exists.
    fn bulk_hint(&mut self) -> Result<bool> {
        match self.modifiers.peek() {
            Some(name @ ("multicast::cluster" | "cp_mask" | "ignore_oob")) => {
                Err(format!("`.{name}` of bulk copies is not supported"))
            }
            _ => Ok(self.modifiers.accept("L2::cache_hint")),
        }
    }

    pub(super) fn expect_modifiers(&mut self, names: &[&str]) -> Result<()> {
        match names.iter().find(|name| !self.modifiers.accept(name)) {
            None => Ok(()),
            Some(name) => Err(self.modifiers.expected(&format!("`.{name}`"))),
        }
    }
}

/// Modifier for the completion mechanism of copies to shared memory.
pub(super) const COMPLETION: &str = "mbarrier::complete_tx::bytes";
pub(super) const FROM_SHARED: &[&str] = &["shared::cta", "bulk_group"];
