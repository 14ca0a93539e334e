//! Decodes barriers in shared memory.

use super::{Decoder, Result};
use crate::mbarrier::{Arrival, Mbarrier};
use crate::op::Op;
use crate::types::Space;
use crate::types::Type::*;

impl Decoder<'_> {
    /// Decodes `mbarrier.init.shared.b64 [a], n` and the other operations.
    pub(super) fn mbarrier(&mut self) -> Result<Op> {
        let name = self.modifiers.require("an operation", Some)?;
        let arrival = self.arrival(name);
        let parity = name.ends_with("_wait") && self.modifiers.accept("parity");
        while let Some("release" | "acquire" | "relaxed" | "cta" | "cluster") =
            self.modifiers.peek()
        {
            self.modifiers.next();
        }
        let space = self.shared_or_generic();
        self.modifiers.one_of(&[B64])?;
        let f = match name {
            "init" => Mbarrier::Init,
            "inval" => Mbarrier::Invalidate,
            "arrive" => Mbarrier::Arrive(arrival),
            "arrive_drop" => Mbarrier::ArriveDrop(arrival),
            "expect_tx" => Mbarrier::ExpectBytes,
            "complete_tx" => Mbarrier::CompleteBytes,
            "test_wait" => Mbarrier::TestWait { parity },
            "try_wait" => Mbarrier::TryWait { parity },
            "pending_count" => Mbarrier::PendingCount,
            name => return Err(format!("`mbarrier.{name}` is not supported")),
        };
        let offset = self.mbarrier_operands(f)?;
        if space == Space::Cluster {
            self.check_remote(name, f)?;
        }
        Ok(Op::Mbarrier { f, space, offset })
    }

    /// Refuses operations that are limited to mbarriers of the CTA itself: returned states and waits.
    fn check_remote(&self, name: &str, f: Mbarrier) -> Result<()> {
        match f {
            Mbarrier::Arrive(_) | Mbarrier::ArriveDrop(_) if self.operands.writes_register() => {
                Err(format!("`mbarrier.{name}.shared::cluster` returns no state: write `_`"))
            }
            Mbarrier::Arrive(_)
            | Mbarrier::ArriveDrop(_)
            | Mbarrier::ExpectBytes
            | Mbarrier::CompleteBytes => Ok(()),
            _ => Err(format!("`mbarrier.{name}` of `.shared::cluster` is not an instruction")),
        }
    }

    fn arrival(&mut self, opcode: &str) -> Arrival {
        let arrival = self.modifiers.choose(|name| match (opcode, name) {
            ("arrive" | "arrive_drop", "noComplete") => Some(Arrival::NoComplete),
            ("arrive" | "arrive_drop", "expect_tx") => Some(Arrival::ExpectBytes),
            _ => None,
        });
        arrival.unwrap_or(Arrival::Plain)
    }

    fn shared_or_generic(&mut self) -> Space {
        let space = self.modifiers.choose(|name| match name {
            "shared" | "shared::cta" | "shared::cluster" => Space::named(name),
            _ => None,
        });
        space.unwrap_or(Space::Generic)
    }

    /// Decodes the operands; returns the constant offset of the address.
    fn mbarrier_operands(&mut self, f: Mbarrier) -> Result<i64> {
        match f {
            Mbarrier::PendingCount => {
                self.operands.dest(U32)?;
                self.operands.source(B64)?;
                Ok(0)
            }
            Mbarrier::Init | Mbarrier::ExpectBytes | Mbarrier::CompleteBytes => {
                let offset = self.operands.address()?;
                self.operands.source(U32)?;
                Ok(offset)
            }
            Mbarrier::Invalidate | Mbarrier::AsyncArrive { .. } => self.operands.address(),
            Mbarrier::Arrive(arrival) | Mbarrier::ArriveDrop(arrival) => {
                self.operands.dest(B64)?;
                let offset = self.operands.address()?;
                if arrival != Arrival::Plain || self.operands.len() > 0 {
                    self.operands.source(U32)?;
                }
                Ok(offset)
            }
            Mbarrier::TestWait { parity } | Mbarrier::TryWait { parity } => {
                self.operands.dest(Pred)?;
                let offset = self.operands.address()?;
                self.operands.source(if parity { U32 } else { B64 })?;
                // The time limit after which it may give up; here it gives up at once.
                if matches!(f, Mbarrier::TryWait { .. }) && self.operands.len() > 0 {
                    self.operands.take()?;
                }
                Ok(offset)
            }
        }
    }

    /// Decodes `cp.async.mbarrier.arrive.noinc.shared.b64 [a]`.
    pub(super) fn copy_arrives(&mut self) -> Result<Op> {
        if !self.modifiers.accept("arrive") {
            return Err(self.modifiers.expected("`.arrive`"));
        }
        let increments = !self.modifiers.accept("noinc");
        let space = self.shared_or_generic();
        self.modifiers.one_of(&[B64])?;
        let f = Mbarrier::AsyncArrive { increments };
        let offset = self.mbarrier_operands(f)?;
        Ok(Op::Mbarrier { f, space, offset })
    }
}
