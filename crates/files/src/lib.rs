//! Reading text of bounded length, decompression, and writing files that appear only when they are
//! complete.

pub mod destination;
pub mod inflate;
pub mod staged;
pub mod text;
