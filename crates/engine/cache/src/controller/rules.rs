//! The rules in which caches differ, as data.

use crate::{Cache, ReadAllocate, WriteAllocate, WritePolicy};

/// What a cache does, beside its geometry.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub read_allocate: ReadAllocate,
    pub write: WritePolicy,
    pub write_allocate: WriteAllocate,
    pub fetch_use: FetchUse,
    pub through_miss: ThroughMiss,
}

/// What makes a line young while one of its sectors is being fetched. (A miss that allocates or
/// reserves its line always does.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchUse {
    /// Every request that joins the fetch.
    Join,
    /// The fill alone (GPGPU-Sim, `tag_array::access` and `tag_array::fill` under ON_FILL).
    Fill,
}

/// What a store that is sent on does if its data are not in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThroughMiss {
    /// It allocates its line, unless nothing is allocated for stores, and leaves its bytes there;
    /// nothing is fetched. If no line is free, it bypasses the cache.
    Allocate,
    /// It allocates no line. Under fetch-on-write, one that covers part of a missing sector of a
    /// present line fetches that sector and is *not* sent on.
    Pass,
}

/// What a store does in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoreEffect {
    /// Its data stay there, dirty.
    Keep,
    /// Its data are written there, and it is sent on.
    Update,
    /// It drops its sector, and is sent on.
    Drop,
}

impl Rules {
    /// The rules that the configuration names, and the two that depend on the level.
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

    /// Whether a store of this effect allocates an absent line.
    #[inline]
    pub(super) fn allocates(&self, effect: StoreEffect) -> bool {
        self.write_allocate != WriteAllocate::None
            && (effect == StoreEffect::Keep || self.through_miss == ThroughMiss::Allocate)
    }

    /// Whether a store of this effect fetches at once what it lacks.
    #[inline]
    pub(super) fn fetches(&self, effect: StoreEffect) -> bool {
        self.write_allocate == WriteAllocate::FetchOnWrite
            && (effect == StoreEffect::Keep || self.through_miss == ThroughMiss::Pass)
    }
}
