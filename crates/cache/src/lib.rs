//! The parts that L1 and LLC share: configuration, tags, miss-status holding registers (MSHRs) and
//! counts.

mod config;
mod counts;
mod index;
mod mshr;
mod tags;

pub use config::{Cache, ReadAllocate, Replacement, WriteAllocate, WritePolicy};
pub use counts::{CacheCounts, ReservationFail};
pub use mshr::{Merge, Mshr, MshrEntry};
pub use tags::{ALL_BYTES, Geometry, Slot, Tags, Victim};
