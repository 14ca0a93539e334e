//! Tag array and miss-status registers, used by L1 and LLC.

mod index;
mod mshr;
mod tags;

pub use mshr::{Merge, Mshr, MshrEntry};
pub use tags::{ALL_BYTES, Geometry, Slot, Tags, Victim};
