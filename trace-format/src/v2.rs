//! Reads format version 2: version 3 with at most 255 bytes per lane, stored in one byte.

use crate::v3;

/// Last minor version.
pub(crate) const MINOR: u16 = 0;

pub(crate) type Instruction = v3::Instruction<u8>;
