//! What a cache is made of and how it treats loads and stores.

use serde::{Deserialize, Serialize};
use warpmem_sim::IndexHash;

/// Which line of a set gives way.
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
    /// Keep what belongs to local memory as under write-back, and send other stores on as under write-evict (GPGPU-Sim's
    /// letter L of an L1, `data_cache::wr_hit_global_we_local_wb`).
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
    /// The line is allocated; what the store does not cover is fetched at once.
    FetchOnWrite,
    /// The store goes on, and the line is allocated and fetched, whatever the store covers; a store to a line on its way
    /// does the same and its read merges (LLC only; GPGPU-Sim 3).
    SendAndFetch,
    /// The line is allocated with the bytes written; a later read of other bytes fetches (Volta and later).
    LazyFetch,
}

/// When a read miss takes its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadAllocate {
    /// Reserved at the miss.
    OnMiss,
    /// Taken at the fill: misses never fail for want of a line (streaming L1).
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
    /// Granule of fetch and of requests; equal to `line_bytes` where lines have no sectors.
    pub sector_bytes: u32,
    pub replacement: Replacement,
    pub write: WritePolicy,
    pub write_allocate: WriteAllocate,
    pub read_allocate: ReadAllocate,
    pub index: IndexHash,
    pub mshr_entries: u32,
    /// Requests that one MSHR entry can hold, the first included.
    pub mshr_merges: u32,
    /// Requests that wait to leave downwards.
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
