use serde::{Deserialize, Serialize};

/// The mbarrier operation of an instruction. Mbarriers are counting objects in shared memory on
/// which warps wait for each other and for copies (PTX ISA, "mbarrier"). The addresses of the
/// record are those of the mbarriers, except for [`Mbarrier::Signal`]. Counts are per lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Mbarrier {
    /// Initialises an mbarrier whose phases complete after `arrivals` arrivals.
    Init { arrivals: u32 },
    /// Adds `bytes` to the bytes expected in this phase (negative: bytes that have already
    /// arrived), then performs `arrivals` arrivals.
    Arrive { arrivals: u32, bytes: i32 },
    /// As `Arrive`, and lowers the expected arrivals of later phases by `arrivals`.
    ArriveAndDrop { arrivals: u32, bytes: i32 },
    /// Arrives once all async copies that the warp has issued so far are complete. With
    /// `increments` this phase expects one arrival more.
    ArriveAfterCopies { increments: bool },
    /// Waits until the phase of this parity is complete, that is, until the current phase has the
    /// other parity.
    Wait { parity: bool },
    /// For a copy or store: signals its bytes to the mbarrier at this offset in the shared memory
    /// of the destination CTA.
    Signal { offset: u32 },
}

impl Mbarrier {
    /// Returns a key that is unique to the value.
    pub(crate) fn key(self) -> [u64; 2] {
        let two =
            |number: u64, high: u32, low: u32| [number, u64::from(high) << 32 | u64::from(low)];
        match self {
            Mbarrier::Init { arrivals } => two(1, 0, arrivals),
            Mbarrier::Arrive { arrivals, bytes } => two(2, arrivals, bytes as u32),
            Mbarrier::ArriveAndDrop { arrivals, bytes } => two(3, arrivals, bytes as u32),
            Mbarrier::ArriveAfterCopies { increments } => two(4, 0, increments.into()),
            Mbarrier::Wait { parity } => two(5, 0, parity.into()),
            Mbarrier::Signal { offset } => two(6, 0, offset),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_unique_key() {
        let mut keys: Vec<[u64; 2]> = [
            Mbarrier::Init { arrivals: 1 },
            Mbarrier::Init { arrivals: 2 },
            Mbarrier::Arrive { arrivals: 1, bytes: 0 },
            Mbarrier::Arrive { arrivals: 0, bytes: 1 },
            Mbarrier::Arrive { arrivals: 0, bytes: -1 },
            Mbarrier::ArriveAndDrop { arrivals: 1, bytes: 0 },
            Mbarrier::ArriveAfterCopies { increments: false },
            Mbarrier::ArriveAfterCopies { increments: true },
            Mbarrier::Wait { parity: false },
            Mbarrier::Wait { parity: true },
            Mbarrier::Signal { offset: 0 },
            Mbarrier::Signal { offset: 1 },
        ]
        .map(Mbarrier::key)
        .into();
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count);
        assert!(!keys.contains(&[0; 2]), "which stands for none");
    }
}
