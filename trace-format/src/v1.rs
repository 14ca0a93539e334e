//! Reading format version 1: its index and dictionaries are converted to the present types. It had
//! eight instruction classes and no operands.

use std::ops::Range;

use serde::Deserialize;

use crate::block::Block;
use crate::header::{self, ChunkIndex, KindCount, Provenance};
use crate::operands::Operands;
use crate::record::{self, CacheOp, KernelInfo, Kind, Memcpy, OpClass, Space};

/// The last minor version.
pub(crate) const MINOR: u16 = 0;

const CLASSES: usize = 8;

#[derive(Deserialize)]
pub(crate) struct Index {
    provenance: Provenance,
    memcpys: Vec<Memcpy>,
    content_hash: u64,
    kernels: Vec<KernelIndex>,
}

#[derive(Deserialize)]
struct KernelIndex {
    kernel: Kernel,
    chunks: Vec<ChunkIndex>,
    dictionary: Block,
}

#[derive(Deserialize)]
struct Kernel {
    info: KernelInfo,
    ctas: u32,
    warps: u64,
    records: u64,
    warp_instructions: u64,
    thread_instructions: u64,
    compute_by_class: [u64; CLASSES],
    records_by_kind: Vec<KindCount>,
}

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

impl From<Index> for header::Index {
    fn from(index: Index) -> header::Index {
        header::Index {
            provenance: index.provenance,
            memcpys: index.memcpys,
            content_hash: index.content_hash,
            kernels: index.kernels.into_iter().map(header::KernelIndex::from).collect(),
        }
    }
}

impl From<KernelIndex> for header::KernelIndex {
    fn from(index: KernelIndex) -> header::KernelIndex {
        let KernelIndex { kernel, chunks, dictionary } = index;
        let mut compute_by_class = [0; OpClass::COUNT];
        compute_by_class[..CLASSES].copy_from_slice(&kernel.compute_by_class);
        let kernel = header::Kernel {
            info: kernel.info,
            ctas: kernel.ctas,
            warps: kernel.warps,
            records: kernel.records,
            warp_instructions: kernel.warp_instructions,
            thread_instructions: kernel.thread_instructions,
            compute_by_class,
            records_by_kind: kernel.records_by_kind,
            chunks: Range::default(),
        };
        header::KernelIndex { kernel, chunks, dictionary }
    }
}

impl From<Instruction> for record::Instruction {
    fn from(one: Instruction) -> record::Instruction {
        record::Instruction {
            pc: one.pc,
            kind: one.kind,
            space: one.space,
            cache_op: one.cache_op,
            width: one.width.into(),
            barrier: one.barrier,
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

/// As many sources as dependences, spread over the banks.
fn operands(deps: &[u8]) -> Operands {
    Operands::spread(deps.len())
}
