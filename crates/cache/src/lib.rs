//! What every cache is made of: its configuration, tags and miss-status registers (MSHRs), and what it counts.

mod config;
mod counts;
mod index;
mod mshr;
mod tags;

pub use config::{Cache, ReadAllocate, Replacement, WriteAllocate, WritePolicy};
pub use counts::{CacheCounts, ReservationFail};
pub use mshr::{Merge, Mshr, MshrEntry};
pub use tags::{ALL_BYTES, Geometry, Slot, Tags, Victim};
