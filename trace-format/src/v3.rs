//! Reads format version 3, without clusters of CTAs. Its dictionaries are converted to the current
//! types.

use serde::Deserialize;

use crate::old_index;
use crate::operands::Operands;
use crate::record::{self, CacheOp, Compute, Kind, OpClass, Space};
use crate::v4;

/// Last minor version.
pub(crate) const MINOR: u16 = 0;

pub(crate) type Index = old_index::Index<[u64; OpClass::COUNT]>;

/// `Width` is the stored type of bytes per lane.
#[derive(Deserialize)]
pub(crate) struct Instruction<Width = u32> {
    pc: u64,
    kind: Kind,
    space: Space,
    cache_op: CacheOp,
    width: Width,
    barrier: u8,
    deps: Vec<u8>,
    operands: Operands,
    use_distance: Option<u32>,
    address_from: Option<u32>,
    compute: Vec<Compute>,
}

impl<Width: Into<u32>> From<Instruction<Width>> for record::Instruction {
    fn from(one: Instruction<Width>) -> record::Instruction {
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
            deps: one.deps,
            operands: one.operands,
            use_distance: one.use_distance,
            address_from: one.address_from,
            compute: one.compute,
        }
    }
}
