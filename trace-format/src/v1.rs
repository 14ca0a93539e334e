//! Reads format version 1, with eight instruction classes and no operands. Its dictionaries are
//! converted to the current types.

use serde::Deserialize;

use crate::old_index;
use crate::operands::Operands;
use crate::record::{self, CacheOp, Kind, OpClass, Space};
use crate::v4;

/// Last minor version.
pub(crate) const MINOR: u16 = 0;

pub(crate) type Index = old_index::Index<[u64; 8]>;

#[derive(Deserialize)]
pub(crate) struct Instruction {
    pc: u64,
    kind: Kind,
    space: Space,
    cache_op: CacheOp,
    width: u8,
    barrier: u8,
    deps: Vec<u8>,
    use_distance: Option<u32>,
    address_from: Option<u32>,
    compute: Vec<Compute>,
}

#[derive(Deserialize)]
struct Compute {
    class: OpClass,
    deps: Vec<u8>,
}

impl From<Instruction> for record::Instruction {
    fn from(one: Instruction) -> record::Instruction {
        record::Instruction {
            pc: one.pc,
            kind: one.kind,
            space: one.space,
            cache_op: one.cache_op,
            width: one.width.into(),
            barrier: v4::barrier(one.kind, one.barrier),
            destinations: 0,
            mbarrier: None,
            l2_policy: None,
            operands: operands(&one.deps),
            deps: one.deps,
            use_distance: one.use_distance,
            address_from: one.address_from,
            compute: one.compute.into_iter().map(record::Compute::from).collect(),
        }
    }
}

impl From<Compute> for record::Compute {
    fn from(Compute { class, deps }: Compute) -> record::Compute {
        record::Compute { class, operands: operands(&deps), deps }
    }
}

/// Assumes one source per dependence, spread over the banks.
fn operands(deps: &[u8]) -> Operands {
    Operands::spread(deps.len())
}
