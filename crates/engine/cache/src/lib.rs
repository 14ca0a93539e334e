//! Caches of any level: configuration, counts, and the controller with its tags and miss-status
//! holding registers (MSHRs).

mod config;
mod controller;
mod counts;
mod homes;
mod index;
mod line_tags;
mod mshr;
mod tags;

pub use config::{Cache, ReadAllocate, Replacement, WriteAllocate, WritePolicy};
pub use controller::{
    Allocation, CacheController, Evicted, Fetch, FetchUse, Fill, Miss, Prefetch, Read, ReadAccess,
    Room, Rules, ThroughMiss, Warmed, Write, WriteAccess,
};
pub use counts::{CacheCounts, ReservationFail};
pub use line_tags::LineTags;
pub use mshr::{Mshr, MshrEntry};
pub use tags::{Geometry, LineSlot};
