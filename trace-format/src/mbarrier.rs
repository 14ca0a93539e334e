use serde::{Deserialize, Serialize};

/// What an instruction does with mbarriers, counting objects in shared memory on which warps wait for
/// each other and for copies (PTX ISA, "mbarrier"). The addresses of the record are those of
/// the mbarriers, except for [`Mbarrier::Signal`]. What is counted is for each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Mbarrier {
    /// Begins one whose phases are complete after so many arrivals.
    Init { arrivals: u32 },
    /// Expects so many bytes more in this phase (fewer, if negative: they have come), then arrives so
    /// often.
    Arrive { arrivals: u32, bytes: i32 },
    /// As `Arrive`, and as many arrivals fewer are expected from the next phase on.
    ArriveAndDrop { arrivals: u32, bytes: i32 },
    /// Arrives once when all async copies that the warp has issued so far have ended. If it
    /// `increments`, one arrival more is expected in this phase.
    ArriveAfterCopies { increments: bool },
    /// Waits until the phase with this parity is complete: until the present phase has the other.
    Wait { parity: bool },
    /// Of a copy or store, not of an mbarrier's own instruction: its bytes are counted as come by the
    /// mbarrier at this offset in the shared memory of the CTA that they come to.
    Signal { offset: u32 },
}

impl Mbarrier {
    /// A number of its own for each value.
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
    fn every_operation_has_a_key_of_its_own() {
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
