//! The rules that distinguish caches, as data.

use crate::{Cache, ReadAllocate, WriteAllocate, WritePolicy};

/// The behaviour of a cache.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub read_allocate: ReadAllocate,
    pub write: WritePolicy,
    pub write_allocate: WriteAllocate,
    pub fetch_use: FetchUse,
    pub through_miss: ThroughMiss,
}

/// The event that renews a line in the replacement order while a sector is being fetched. A miss
/// that allocates or reserves its line always does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchUse {
    /// Every request that merges into the fetch.
    Join,
    /// Only the fill (GPGPU-Sim, `tag_array::access` and `tag_array::fill` under ON_FILL).
    Fill,
}

/// Behaviour of a store that is sent on and misses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThroughMiss {
    /// Allocates the line, unless stores never allocate, and writes its bytes; fetches nothing.
    /// Bypasses the cache if no line is free.
    Allocate,
    /// Allocates no line. Under fetch-on-write, a store that covers part of a missing sector of a
    /// present line fetches that sector and is *not* sent on.
    Pass,
}

/// Effect of a store on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoreEffect {
    /// Writes the data, dirty.
    Keep,
    /// Writes the data, and is sent on.
    Update,
    /// Drops the sector, and is sent on.
    Drop,
}

impl Rules {
    /// Returns the configured rules, with the two that depend on the level.
    pub fn new(config: &Cache, fetch_use: FetchUse, through_miss: ThroughMiss) -> Rules {
        Rules {
            read_allocate: config.read_allocate,
            write: config.write,
            write_allocate: config.write_allocate,
            fetch_use,
            through_miss,
        }
    }

    #[inline]
    pub(super) fn effect(&self, local: bool) -> StoreEffect {
        match self.write {
            WritePolicy::WriteBack => StoreEffect::Keep,
            WritePolicy::LocalWriteBack if local => StoreEffect::Keep,
            WritePolicy::WriteThrough => StoreEffect::Update,
            WritePolicy::WriteEvict | WritePolicy::LocalWriteBack => StoreEffect::Drop,
        }
    }

    /// Returns whether a store of this effect allocates an absent line.
    #[inline]
    pub(super) fn allocates(&self, effect: StoreEffect) -> bool {
        self.write_allocate != WriteAllocate::None
            && (effect == StoreEffect::Keep || self.through_miss == ThroughMiss::Allocate)
    }

    /// Returns whether a store of this effect fetches a missing sector now.
    #[inline]
    pub(super) fn fetches(&self, effect: StoreEffect) -> bool {
        self.write_allocate == WriteAllocate::FetchOnWrite
            && (effect == StoreEffect::Keep || self.through_miss == ThroughMiss::Pass)
    }
}
