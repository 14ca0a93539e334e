//! Execution of warps outside simulated time: which of their accesses reach L2.

use super::coalescer::Coalescer;
use super::l1::L1;
use super::sectors::Sectors;
use crate::sm::code::{Code, Static, bypasses_l1};
use warpmem_machine::Machine;
use warpmem_trace::{CacheOp, Kind, Record, Space, TraceError, WarpCursor};
use warpmem_translation::Placement;

/// An access to a sector of L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    /// Of these parts of the sector, one bit per 1/32.
    Store(u32),
    Atomic,
}

/// Executes records one by one, with an L1 for each SM.
pub struct Replay {
    coalescer: Coalescer,
    placement: Option<Placement>,
    /// Async copies with the global cache operator bypass L1.
    async_bypass: bool,
    /// By SM; empty without L1.
    l1s: Vec<L1>,
    sectors: Sectors,
    record: Record,
}

impl Replay {
    pub fn new(machine: &Machine) -> Replay {
        let sms = if machine.l1.enabled { machine.sm.count } else { 0 };
        Replay {
            coalescer: Coalescer::new(machine),
            placement: Placement::new(&machine.vm),
            async_bypass: machine.l1.async_bypass,
            l1s: (0..sms).map(|_| L1::new(&machine.l1)).collect(),
            sectors: Sectors::default(),
            record: Record::new(),
        }
    }

    /// Flushes and resizes every L1, at the start of a kernel.
    pub fn begin_kernel(&mut self, l1_bytes: u32) {
        self.l1s.iter_mut().for_each(|l1| l1.reset(l1_bytes));
    }

    /// Executes the next record of a warp on an SM, and passes each sector that reaches L2 to `access`,
    /// at its physical address. Without an SM, nothing hits in L1. Returns whether there was a record.
    pub fn step(
        &mut self,
        warp: &mut WarpCursor,
        code: &Code,
        sm: Option<usize>,
        access: impl FnMut(u64, Access),
    ) -> Result<bool, TraceError> {
        if !warp.next(&mut self.record)? {
            return Ok(false);
        }
        let instruction = code.get(self.record.instruction.0);
        let is_cached = matches!(instruction.space, Space::Global | Space::Local | Space::Texture);
        if instruction.kind.is_memory() && is_cached {
            self.send(instruction, sm, access);
        }
        Ok(true)
    }

    fn send(
        &mut self,
        instruction: &Static,
        sm: Option<usize>,
        mut access: impl FnMut(u64, Access),
    ) {
        let is_store = instruction.kind == Kind::Store;
        let is_atomic = matches!(instruction.kind, Kind::Atomic | Kind::Reduction);
        let bypasses = self.bypasses_l1(instruction);
        let addresses = self.record.active_addresses();
        self.coalescer.sectors(addresses, instruction.width, is_store, &mut self.sectors);
        let mut l1 = sm.and_then(|sm| self.l1s.get_mut(sm));
        for sector in self.sectors.as_slice() {
            let physical = self.placement.as_ref().map(|placed| placed.physical(sector.address));
            let address = physical.unwrap_or(sector.address);
            let l1 = l1.as_deref_mut();
            if is_atomic {
                l1.into_iter().for_each(|l1| l1.warm_drop(address));
                access(address, Access::Atomic);
            } else if is_store {
                l1.into_iter().for_each(|l1| l1.warm_write(address, sector.bytes));
                access(address, Access::Store(sector.bytes));
            } else if bypasses || !l1.is_some_and(|l1| l1.warm_read(address)) {
                access(address, Access::Read);
            }
        }
    }

    /// Whether a read bypasses L1.
    fn bypasses_l1(&self, instruction: &Static) -> bool {
        let is_copy = instruction.kind == Kind::AsyncCopy;
        let is_kept = is_copy && instruction.cache_op == CacheOp::Global && !self.async_bypass;
        instruction.destinations != 0 || bypasses_l1(instruction.cache_op) && !is_kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::machine;
    use warpmem_testing::{TestKernel, load, store, trace};

    /// Executes a warp on an SM, and returns what reaches L2.
    fn reaches_l2(overrides: &[&str], sm: Option<usize>) -> Vec<(u64, Access)> {
        let warp = vec![load(&[0]), load(&[4]), store(&[64, 68, 72, 76]), load(&[0]), load(&[64])];
        let trace = trace(&[TestKernel::new(vec![vec![warp]])]);
        let code = Code::new(&trace.instructions(0).unwrap());
        let mut warp = trace.chunk(0, 0).unwrap().warp(0, 0);
        let mut replay = Replay::new(&machine(overrides));
        replay.begin_kernel(16384);
        let mut accesses = Vec::new();
        let mut access = |address, access| accesses.push((address, access));
        while replay.step(&mut warp, &code, sm, &mut access).unwrap() {}
        accesses
    }

    #[test]
    fn hits_in_l1_do_not_reach_l2_and_stores_do_with_their_bytes() {
        // 128-byte sectors: a bit for each 4 bytes. The store evicts the line from L1.
        let stored = (0, Access::Store(0xf_0000));
        let (read, all) = ((0, Access::Read), reaches_l2(&[], None));
        assert_eq!(all, [read, read, stored, read, read], "without an SM everything does");
        assert_eq!(reaches_l2(&[], Some(0)), [read, stored, read]);
        assert_eq!(reaches_l2(&["l1.enabled=false"], Some(0)), all);
    }
}
