//! Decodes barriers, fences, asynchronous copies, and exchange within a warp.

use super::{Decoder, Result};
use crate::instruction::Value;
use crate::op::{Barrier, BarrierKind, Op, Reduction, Shuffle, Vote};
use crate::operand::Operand;
use crate::types::Type::*;

impl Decoder<'_> {
    pub(super) fn synchronize(&mut self) -> Result<Op> {
        match self.opcode {
            "membar" | "fence" => self.fence(),
            "bar" | "barrier" => self.barrier(),
            "mbarrier" => self.mbarrier(),
            "cp" => self.copy(),
            "vote" => self.vote(),
            "shfl" => self.shuffle(),
            "match" => self.matching(),
            "redux" => self.redux(),
            "activemask" => {
                self.modifiers.one_of(&[B32])?;
                self.operands.dest(B32)?;
                Ok(Op::ActiveMask)
            }
            "elect" => {
                self.sync()?;
                self.operands.dest_pair(B32, Pred)?;
                self.operands.source(B32)?;
                Ok(Op::Elect)
            }
            "setmaxnreg" => self.register_limit(),
            "pmevent" => {
                self.modifiers.accept("mask");
                self.operands.constant()?;
                Ok(Op::Nop)
            }
            "nanosleep" => {
                self.modifiers.one_of(&[U32])?;
                self.operands.source(U32)?;
                Ok(Op::Nop)
            }
            _ => {
                while self.modifiers.next().is_some() {}
                Ok(Op::Nop)
            }
        }
    }

    /// Decodes `fence.acq_rel.gpu`, `fence.proxy.async` and `fence.proxy.tensormap::generic.acquire.gpu
    /// [map], 128`.
    fn fence(&mut self) -> Result<Op> {
        let of_proxies = matches!(self.modifiers.peek(), Some("proxy" | "mbarrier_init"));
        let acquires_map = self.modifiers.accept("proxy")
            && self.modifiers.accept("tensormap::generic")
            && self.modifiers.accept("acquire");
        while self.modifiers.next().is_some() {}
        if acquires_map {
            self.operands.address()?;
            self.operands.constant()?;
        }
        Ok(if of_proxies { Op::ProxyFence } else { Op::Fence })
    }

    fn sync(&mut self) -> Result<()> {
        match self.modifiers.accept("sync") {
            true => Ok(()),
            false => Err(self.modifiers.expected("`.sync`")),
        }
    }

    /// Decodes `bar.sync a, b`, `barrier.cta.red.popc.aligned.u32 d, a, b, p` and `bar.warp.sync m`.
    fn barrier(&mut self) -> Result<Op> {
        if self.opcode == "barrier" && self.modifiers.accept("cluster") {
            return self.cluster_barrier();
        }
        self.modifiers.accept("cta");
        if self.modifiers.accept("warp") {
            self.sync()?;
            self.operands.source(B32)?;
            return Ok(Op::WarpBarrier);
        }
        if self.modifiers.accept("red") {
            return self.barrier_reduction();
        }
        let kind = self.modifiers.require("`.sync`, `.arrive` or `.red`", |name| match name {
            "sync" => Some(BarrierKind::Sync),
            "arrive" => Some(BarrierKind::Arrive),
            _ => None,
        })?;
        self.modifiers.accept("aligned");
        self.operands.source(U32)?;
        let counted = self.operands.len() > 0;
        if counted {
            self.operands.source(U32)?;
        }
        match kind == BarrierKind::Arrive && !counted {
            true => Err("`bar.arrive` lacks the number of threads".into()),
            false => Ok(Op::Barrier(Barrier { kind, counted })),
        }
    }

    fn barrier_reduction(&mut self) -> Result<Op> {
        let kind = self.modifiers.require("`.popc`, `.and` or `.or`", |name| match name {
            "popc" => Some(BarrierKind::CountTrue),
            "and" => Some(BarrierKind::AllTrue),
            "or" => Some(BarrierKind::AnyTrue),
            _ => None,
        })?;
        self.modifiers.accept("aligned");
        let result = if kind == BarrierKind::CountTrue { U32 } else { Pred };
        self.modifiers.one_of(&[result])?;
        self.operands.dest(result)?;
        self.operands.source(U32)?;
        let counted = self.operands.len() > 1;
        if counted {
            self.operands.source(U32)?;
        }
        self.operands.source(Pred)?;
        Ok(Op::Barrier(Barrier { kind, counted }))
    }

    /// Decodes `cp.async.ca.shared.global [d], [s], 16, n` and its group operations.
    fn copy(&mut self) -> Result<Op> {
        if self.modifiers.accept("reduce") {
            return self.bulk_reduction();
        }
        if !self.modifiers.accept("async") {
            return Err(self.modifiers.expected("`.async`"));
        }
        match self.modifiers.next() {
            Some("commit_group") => Ok(Op::CopyAsyncCommit),
            Some("wait_all") => Ok(Op::CopyAsyncWait(None)),
            Some("wait_group") => {
                let groups = self.operands.constant()?;
                Ok(Op::CopyAsyncWait(Some(u32::try_from(groups).unwrap_or(u32::MAX))))
            }
            Some("mbarrier") => self.copy_arrives(),
            Some("bulk") => self.bulk(),
            Some("ca") => self.copy_of(false),
            Some("cg") => self.copy_of(true),
            Some(name) => Err(format!("`cp.async.{name}` is not supported")),
            None => Err("`cp.async` lacks its operation".into()),
        }
    }

    fn copy_of(&mut self, bypass: bool) -> Result<Op> {
        let shared = self.modifiers.accept("shared") || self.modifiers.accept("shared::cta");
        if !shared || !self.modifiers.accept("global") {
            return Err(self.modifiers.expected("`.shared.global`"));
        }
        let mut has_policy = false;
        while let Some(name) = self.modifiers.peek().filter(|name| name.starts_with("L2::")) {
            has_policy |= name == "L2::cache_hint";
            self.modifiers.next();
        }
        let to_offset = self.operands.address()?;
        let from_offset = self.operands.address()?;
        let bytes = self.operands.constant()?;
        if !matches!(bytes, 4 | 8 | 16) || bypass && bytes != 16 {
            return Err(format!("`cp.async` of {bytes} bytes is not an instruction"));
        }
        self.operands.push_source(Value::Bits(bytes));
        match self.operands.len() > usize::from(has_policy) {
            true => self.read_size()?,
            false => self.operands.push_source(Value::Bits(bytes)),
        }
        self.policy(has_policy)?;
        Ok(Op::CopyAsync { bypass, to_offset, from_offset })
    }

    /// Decodes the number of bytes to read; the rest of the destination is zeroed. A true predicate means 0
    /// bytes.
    fn read_size(&mut self) -> Result<()> {
        match self.operands.peek() {
            Some(Operand::Value(value @ (Value::Register(_) | Value::Not(_))))
                if value.register().is_some_and(|r| r.class == Pred.class()) =>
            {
                self.operands.source(Pred)
            }
            _ => self.operands.source(U32),
        }
    }

    /// Decodes `vote.sync.ballot.b32 d, p, m`.
    fn vote(&mut self) -> Result<Op> {
        // Compilers write `.sync` first; the ISA's grammar also allows it after the mode.
        let mut synced = self.modifiers.accept("sync");
        let vote = self.modifiers.require("a vote", |name| {
            Some(match name {
                "all" => Vote::All,
                "any" => Vote::Any,
                "uni" => Vote::Uniform,
                "ballot" => Vote::Ballot,
                _ => return None,
            })
        })?;
        synced |= self.modifiers.accept("sync");
        let result = if vote == Vote::Ballot { B32 } else { Pred };
        self.modifiers.one_of(&[result])?;
        self.operands.dest(result)?;
        self.operands.source(Pred)?;
        self.member_mask(synced)?;
        Ok(Op::Vote(vote))
    }

    /// Decodes the mask of participating lanes: all active ones for the forms before sm_70.
    fn member_mask(&mut self, synced: bool) -> Result<()> {
        match synced {
            true => self.operands.source(B32),
            false => {
                self.operands.push_source(Value::Bits(u32::MAX.into()));
                Ok(())
            }
        }
    }

    /// Decodes `shfl.sync.down.b32 d|p, a, b, c, m`.
    fn shuffle(&mut self) -> Result<Op> {
        let synced = self.modifiers.accept("sync");
        let shuffle = self.modifiers.require("a direction", |name| {
            Some(match name {
                "up" => Shuffle::Up,
                "down" => Shuffle::Down,
                "bfly" => Shuffle::Butterfly,
                "idx" => Shuffle::Index,
                _ => return None,
            })
        })?;
        self.modifiers.one_of(&[B32])?;
        self.operands.dest_pair(B32, Pred)?;
        for _ in 0..3 {
            self.operands.source(B32)?;
        }
        self.member_mask(synced)?;
        Ok(Op::Shuffle(shuffle))
    }

    /// Decodes `match.all.sync.b32 d|p, a, m`.
    fn matching(&mut self) -> Result<Op> {
        let all = match self.modifiers.next() {
            Some("all") => true,
            Some("any") => false,
            _ => return Err("`match` lacks `.all` or `.any`".into()),
        };
        self.sync()?;
        let ty = self.modifiers.one_of(&[B32, B64])?;
        self.operands.dest_pair(B32, Pred)?;
        self.operands.source(ty)?;
        self.operands.source(B32)?;
        Ok(Op::Match { all, ty })
    }

    /// Decodes `redux.sync.add.s32 d, a, m`.
    fn redux(&mut self) -> Result<Op> {
        self.sync()?;
        let reduction = self.modifiers.require("an operation", |name| {
            Some(match name {
                "add" => Reduction::Add,
                "min" => Reduction::Min,
                "max" => Reduction::Max,
                "and" => Reduction::And,
                "or" => Reduction::Or,
                "xor" => Reduction::Xor,
                _ => return None,
            })
        })?;
        let ty = self.modifiers.one_of(&[U32, S32, B32])?;
        self.operands.dest(ty)?;
        self.operands.source(ty)?;
        self.operands.source(B32)?;
        Ok(Op::ReduceLanes(reduction, ty))
    }
}
