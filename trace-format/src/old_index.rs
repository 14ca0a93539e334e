//! The index of format versions 1 to 3, without clusters.

use std::ops::Range;

use serde::Deserialize;

use crate::block::Block;
use crate::header::{self, ChunkIndex, KindCount, Provenance};
use crate::record::{self, Memcpy, OpClass};

/// `Counts`: an array with a count for each instruction class of the version.
#[derive(Deserialize)]
pub(crate) struct Index<Counts> {
    provenance: Provenance,
    memcpys: Vec<Memcpy>,
    content_hash: u64,
    kernels: Vec<KernelIndex<Counts>>,
}

#[derive(Deserialize)]
struct KernelIndex<Counts> {
    kernel: Kernel<Counts>,
    chunks: Vec<ChunkIndex>,
    dictionary: Block,
}

#[derive(Deserialize)]
struct Kernel<Counts> {
    info: KernelInfo,
    ctas: u32,
    warps: u64,
    records: u64,
    warp_instructions: u64,
    thread_instructions: u64,
    compute_by_class: Counts,
    records_by_kind: Vec<KindCount>,
}

#[derive(Deserialize)]
struct KernelInfo {
    name: String,
    stream: u64,
    grid: [u32; 3],
    block: [u32; 3],
    registers_per_thread: u32,
    shared_bytes: u32,
    sm_version: u32,
}

impl<Counts: AsRef<[u64]>> From<Index<Counts>> for header::Index {
    fn from(index: Index<Counts>) -> header::Index {
        header::Index {
            provenance: index.provenance,
            memcpys: index.memcpys,
            content_hash: index.content_hash,
            kernels: index.kernels.into_iter().map(header::KernelIndex::from).collect(),
            l2_resets: Vec::new(),
        }
    }
}

impl<Counts: AsRef<[u64]>> From<KernelIndex<Counts>> for header::KernelIndex {
    fn from(index: KernelIndex<Counts>) -> header::KernelIndex {
        let KernelIndex { kernel, chunks, dictionary } = index;
        header::KernelIndex { kernel: kernel.into(), chunks, dictionary }
    }
}

impl<Counts: AsRef<[u64]>> From<Kernel<Counts>> for header::Kernel {
    fn from(kernel: Kernel<Counts>) -> header::Kernel {
        let mut compute_by_class = [0; OpClass::COUNT];
        for (class, &count) in compute_by_class.iter_mut().zip(kernel.compute_by_class.as_ref()) {
            *class = count;
        }
        header::Kernel {
            info: kernel.info.into(),
            ctas: kernel.ctas,
            warps: kernel.warps,
            records: kernel.records,
            warp_instructions: kernel.warp_instructions,
            thread_instructions: kernel.thread_instructions,
            compute_by_class,
            records_by_kind: kernel.records_by_kind,
            chunks: Range::default(),
        }
    }
}

impl From<KernelInfo> for record::KernelInfo {
    fn from(info: KernelInfo) -> record::KernelInfo {
        record::KernelInfo {
            name: info.name,
            stream: info.stream,
            grid: info.grid,
            block: info.block,
            registers_per_thread: info.registers_per_thread,
            shared_bytes: info.shared_bytes,
            sm_version: info.sm_version,
            cluster: None,
        }
    }
}
