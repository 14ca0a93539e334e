use serde::{Deserialize, Serialize};

/// A barrier of a CTA, as an instruction names it. Warps that use one id meet each other there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Barrier {
    pub id: u8,
    /// It is complete when so many warps have arrived, at least 1; `None`: when all of the CTA have
    /// that have not ended.
    pub warps: Option<u8>,
}

impl Barrier {
    /// The barrier `id` for all warps of the CTA.
    pub fn of_cta(id: u8) -> Barrier {
        Barrier { id, warps: None }
    }

    /// The barrier `id` for so many warps.
    pub fn of_warps(id: u8, warps: u8) -> Barrier {
        Barrier { id, warps: Some(warps) }
    }

    /// A number of its own for each value, in 17 bits; not 0.
    pub(crate) fn key(self) -> u64 {
        1 << 16 | u64::from(self.id) << 8 | u64::from(self.warps.unwrap_or(0))
    }
}
