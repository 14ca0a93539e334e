//! Address spaces in memory outside the SM.

use serde::Serialize;
use warpmem_trace::Space;

/// An address space whose lines are counted. Shared memory is not counted: it is private to each
/// CTA, even if other CTAs of the cluster access it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MemorySpace {
    Global,
    Local,
    Texture,
    Constant,
}

impl MemorySpace {
    pub const ALL: [MemorySpace; 4] =
        [MemorySpace::Global, MemorySpace::Local, MemorySpace::Texture, MemorySpace::Constant];

    pub(super) fn of(space: Space) -> Option<MemorySpace> {
        match space {
            Space::Global => Some(MemorySpace::Global),
            Space::Local => Some(MemorySpace::Local),
            Space::Texture => Some(MemorySpace::Texture),
            Space::Constant => Some(MemorySpace::Constant),
            Space::Shared | Space::Cluster | Space::None => None,
        }
    }

    /// Returns whether the pages of its instructions are counted.
    pub(super) fn has_translation(self) -> bool {
        matches!(self, MemorySpace::Global | MemorySpace::Local)
    }
}
