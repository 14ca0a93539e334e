//! The configuration of a cache: its geometry and its policies for loads and stores.

use serde::{Deserialize, Serialize};
use warpmem_sim::IndexHash;

/// Which line of a set is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replacement {
    Lru,
    Fifo,
}

/// What a cache does with a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WritePolicy {
    /// Update the line if present, and send the store on.
    WriteThrough,
    /// Drop the line if present, and send the store on (Fermi, for global memory).
    WriteEvict,
    /// Keep the data in the line, marked dirty.
    WriteBack,
    /// Write-back for local memory, write-evict for all other stores (letter L of an L1 in
    /// GPGPU-Sim, `data_cache::wr_hit_global_we_local_wb`).
    LocalWriteBack,
}

impl WritePolicy {
    /// Whether a cache may have dirty lines.
    pub fn has_dirty_lines(self) -> bool {
        matches!(self, WritePolicy::WriteBack | WritePolicy::LocalWriteBack)
    }
}

/// What a store that misses does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteAllocate {
    /// Nothing is allocated.
    None,
    /// The line is allocated; the bytes that the store does not write are fetched at once.
    FetchOnWrite,
    /// The store is sent on, and the line is allocated and fetched as a whole, even if the store
    /// writes all of it. A store to a line that is being fetched is sent on too and its fetch
    /// merges (LLC only; GPGPU-Sim 3).
    SendAndFetch,
    /// The line is allocated with the bytes written; a later read of other bytes fetches (Volta and
    /// later).
    LazyFetch,
}

/// When a read miss allocates its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadAllocate {
    /// Reserved at the miss.
    OnMiss,
    /// Allocated at the fill, so that a miss never fails because all lines are reserved (streaming
    /// L1).
    OnFill,
}

/// Geometry and miss handling common to L1 and LLC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    pub size_bytes: u32,
    /// Lines per set; 0 = fully associative.
    pub ways: u32,
    pub line_bytes: u32,
    /// Granularity of fetches and requests; equal to `line_bytes` where lines have no sectors.
    pub sector_bytes: u32,
    pub replacement: Replacement,
    pub write: WritePolicy,
    pub write_allocate: WriteAllocate,
    pub read_allocate: ReadAllocate,
    pub index: IndexHash,
    pub mshr_entries: u32,
    /// Requests that one MSHR entry can hold, the first included.
    pub mshr_merges: u32,
    /// Requests that wait to be sent to the level below.
    pub miss_queue: u32,
}

impl Cache {
    pub fn lines(&self) -> u32 {
        self.size_bytes / self.line_bytes
    }

    /// Lines per set, with full associativity resolved.
    pub fn associativity(&self) -> u32 {
        if self.ways == 0 { self.lines() } else { self.ways }
    }

    pub fn sets(&self) -> u32 {
        self.lines() / self.associativity()
    }
}
