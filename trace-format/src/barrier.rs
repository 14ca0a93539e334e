use serde::{Deserialize, Serialize};

/// A barrier of a CTA. Warps that name the same id synchronise with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Barrier {
    pub id: u8,
    /// Arrivals that complete the barrier, in warps, at least 1; `None`: all warps of the CTA that
    /// have not ended.
    pub warps: Option<u8>,
}

impl Barrier {
    /// Returns the barrier `id` for all warps of the CTA.
    pub fn of_cta(id: u8) -> Barrier {
        Barrier { id, warps: None }
    }

    /// Returns the barrier `id` for `warps` warps.
    pub fn of_warps(id: u8, warps: u8) -> Barrier {
        Barrier { id, warps: Some(warps) }
    }

    /// Returns a nonzero key of 17 bits that is unique to the value.
    pub(crate) fn key(self) -> u64 {
        1 << 16 | u64::from(self.id) << 8 | u64::from(self.warps.unwrap_or(0))
    }
}
