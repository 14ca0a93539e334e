//! Parts of long traces that stand for the whole.

mod ranges;

pub use ranges::{BeyondEnd, Ranges, RangesError};
