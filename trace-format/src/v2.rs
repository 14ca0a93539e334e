//! Reading format version 2: as version 3, but a lane of its records moved at most 255 bytes, as one byte
//! of the file.

use crate::v3;

/// The last minor version.
pub(crate) const MINOR: u16 = 0;

pub(crate) type Instruction = v3::Instruction<u8>;
