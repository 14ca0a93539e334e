//! The configuration of a cache: its geometry and its policies for loads and stores.

use serde::Serialize;
use warpmem_params::limits::ENTRIES;
use warpmem_params::{choice, section, serde_choice};
use warpmem_sim::IndexHash;

choice! {
    /// Which line of a set is replaced.
    #[derive(Debug, PartialEq, Eq)]
    pub enum Replacement {
        Lru = "lru",
        Fifo = "fifo",
    }
}

serde_choice!(Replacement);

choice! {
    /// Write policy of a cache.
    #[derive(Debug, PartialEq, Eq)]
    pub enum WritePolicy {
        /// Update the line if present, and send the store on.
        WriteThrough = "write-through",
        /// Drop the line if present, and send the store on (Fermi, for global memory).
        WriteEvict = "write-evict",
        /// Keep the data in the line, marked dirty.
        WriteBack = "write-back",
        /// Write-back for local memory, write-evict for all other stores (letter L of an L1 in
        /// GPGPU-Sim, `data_cache::wr_hit_global_we_local_wb`).
        LocalWriteBack = "local-write-back",
    }
}

serde_choice!(WritePolicy);

impl WritePolicy {
    /// Whether a cache may have dirty lines.
    pub fn has_dirty_lines(self) -> bool {
        matches!(self, WritePolicy::WriteBack | WritePolicy::LocalWriteBack)
    }
}

choice! {
    /// Allocation by a store that misses.
    #[derive(Debug, PartialEq, Eq)]
    pub enum WriteAllocate {
        /// Nothing is allocated.
        None = "none",
        /// The line is allocated; the bytes that the store does not write are fetched at once.
        FetchOnWrite = "fetch-on-write",
        /// The store is sent on, and the line is allocated and fetched as a whole, even if the store
        /// writes all of it. A store to a line that is being fetched is sent on too and its fetch
        /// merges (L2 only; GPGPU-Sim 3).
        SendAndFetch = "send-and-fetch",
        /// The line is allocated with the bytes written; a later read of other bytes fetches (Volta and
        /// later).
        LazyFetch = "lazy-fetch",
    }
}

serde_choice!(WriteAllocate);

impl WriteAllocate {
    /// Returns whether a store that misses fetches data.
    pub fn fetches(self) -> bool {
        matches!(self, WriteAllocate::FetchOnWrite | WriteAllocate::SendAndFetch)
    }
}

choice! {
    /// When a read miss allocates its line.
    #[derive(Debug, PartialEq, Eq)]
    pub enum ReadAllocate {
        /// Reserved at the miss.
        OnMiss = "on-miss",
        /// Allocated at the fill, so that a miss never fails because all lines are reserved (streaming
        /// L1).
        OnFill = "on-fill",
    }
}

serde_choice!(ReadAllocate);

section! {
    /// Geometry and miss handling common to L1 and L2.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Cache {
        /// Size of an L1 or of a slice, a multiple of the line. At most 2^24 in L1; with a unified
        /// store it is the remainder at the smallest option.
        size_bytes: u32, in 32..=1 << 26, unit "bytes";
        /// Lines per set; 0 = fully associative.
        ways: u32, in 0..=ENTRIES, unit "lines";
        /// Size of a line, a power of two, the same in L1 and L2.
        line_bytes: u32, in 32..=128, unit "bytes";
        /// Granularity of fetches and requests: a power of two, the same in L1 and L2; equal to
        /// the line if lines have no sectors.
        sector_bytes: u32, in 32..=128, unit "bytes";
        /// Which line of a set is replaced.
        replacement: Replacement = Replacement::Lru;
        /// Policy for stores. `write-through`: updates the line and goes to the level below.
        /// `write-evict`: invalidates the line (in L1 the sector) and goes to the level below.
        /// `write-back`: stays in the line, which becomes dirty. `local-write-back`, L1 only:
        /// `write-back` for local memory, `write-evict` for global memory. A line without a valid
        /// sector is free.
        write: WritePolicy;
        /// Allocation by a store that misses. `none`: nothing. `fetch-on-write`: the line; its
        /// other bytes are fetched at once. `lazy-fetch`: the line; its other bytes are fetched
        /// when they are read. `send-and-fetch`, L2 only, as in GPGPU-Sim 3: the whole line is
        /// fetched, and the store also goes to DRAM, so that the line is clean; a store to a line
        /// that is being fetched also goes to DRAM, and its fetch merges. It needs lines without
        /// sectors and `l2.cache.miss_queue` of at least 3.
        write_allocate: WriteAllocate;
        /// When a read miss allocates its line.
        read_allocate: ReadAllocate = ReadAllocate::OnMiss;
        /// Selection of the set; the hashes need a power of two of sets, at most 65536.
        index: IndexHash = IndexHash::Linear;
        /// MSHR entries.
        mshr_entries: u32, in 1..=ENTRIES, unit "lines or sectors in flight";
        /// Requests that one MSHR entry holds, the first included.
        mshr_merges: u32, in 1..=ENTRIES, unit "requests";
        /// Queue to the level below, one request per cycle; in the L2, the requests that do not fit
        /// in `l2.to_dram_queue`. At least 2 in an L1 with dirty lines: a miss and its dirty
        /// victim.
        miss_queue: u32, in 1..=ENTRIES, unit "requests";
    }
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
