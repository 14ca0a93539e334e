//! Reads format version 4, in which every barrier is for all warps of a CTA and accesses have no L2
//! policy. Its dictionaries are converted to the current types.

use serde::Deserialize;

use crate::barrier::Barrier;
use crate::mbarrier::Mbarrier;
use crate::operands::Operands;
use crate::record::{self, CacheOp, Compute, Kind, Space};

/// Last minor version.
pub(crate) const MINOR: u16 = 0;

#[derive(Deserialize)]
pub(crate) struct Instruction {
    pc: u64,
    kind: Kind,
    space: Space,
    cache_op: CacheOp,
    width: u32,
    barrier: u8,
    destinations: u16,
    mbarrier: Option<Mbarrier>,
    deps: Vec<u8>,
    operands: Operands,
    use_distance: Option<u32>,
    address_from: Option<u32>,
    compute: Vec<Compute>,
}

/// Converts the barrier id, which every instruction has and only barriers use.
pub(crate) fn barrier(kind: Kind, id: u8) -> Option<Barrier> {
    (kind == Kind::Barrier).then_some(Barrier::of_cta(id))
}

impl From<Instruction> for record::Instruction {
    fn from(one: Instruction) -> record::Instruction {
        record::Instruction {
            pc: one.pc,
            kind: one.kind,
            space: one.space,
            cache_op: one.cache_op,
            width: one.width,
            barrier: barrier(one.kind, one.barrier),
            destinations: one.destinations,
            mbarrier: one.mbarrier,
            l2_policy: None,
            deps: one.deps,
            operands: one.operands,
            use_distance: one.use_distance,
            address_from: one.address_from,
            compute: one.compute,
        }
    }
}
