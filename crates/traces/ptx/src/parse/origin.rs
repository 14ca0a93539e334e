//! Properties of a statement that the instructions it expands to share.

use crate::instruction::Guard;

/// Source location and guard of emitted instructions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub line: u32,
    pub guard: Option<Guard>,
}
