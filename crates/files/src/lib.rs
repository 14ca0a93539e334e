//! Files as they come and as they are left: text of bounded length, decompression, and where a finished file takes its name.

pub mod destination;
pub mod inflate;
pub mod staged;
pub mod text;
