//! Side channels: information that crosses the levels of the machine apart from requests and
//! replies, for the DRAM schedulers that need it ([`Needs`]). An unneeded channel is absent and
//! costs one test. Critical Fields and MSHR states are always kept, because tables have columns for
//! them.

mod fields;
mod loads;
mod merges;
mod mshrs;
mod warps;

pub use fields::CriticalFields;
pub use loads::LoadEnds;
pub use merges::{MergeUpdates, Sent};
pub use mshrs::{MshrChange, SharedMshrs};
pub use warps::{WarpTable, WarpType};

use warpmem_machine::Machine;
use warpmem_sim::Needs;

/// The side channels of a region.
#[derive(Default)]
pub struct SideChannels {
    pub fields: CriticalFields,
    /// Changes for [`SharedMshrs`] since they were last taken.
    pub mshr_changes: Vec<MshrChange>,
    pub critical: Option<CriticalShare>,
    pub loads: Option<LoadEnds>,
    pub merges: Option<MergeUpdates>,
    pub warps: Option<WarpTable>,
}

impl SideChannels {
    /// `several`: the machine has several regions.
    pub fn new(machine: &Machine, needs: &Needs, several: bool) -> SideChannels {
        SideChannels {
            fields: if several { CriticalFields::replicated() } else { CriticalFields::default() },
            mshr_changes: Vec::new(),
            critical: needs.critical_share.map(CriticalShare::new),
            loads: needs.load_ends.then(|| LoadEnds::new(machine.dram.channels as usize)),
            merges: needs.merges.map(|_| MergeUpdates::new(machine.slices() as usize)),
            warps: needs.warp_types.map(|types| WarpTable::new(machine, types)),
        }
    }
}

/// Returns whether the schedulers need a table that all SMs and slices share, so that one thread
/// must step them all.
pub fn share_tables(needs: &Needs) -> bool {
    needs.load_ends || needs.warp_types.is_some()
}

/// The share of an SM's warps that must wait for memory to make its requests critical.
#[derive(Clone, Copy, Debug)]
pub struct CriticalShare {
    millionths: u64,
}

impl CriticalShare {
    fn new(share: f64) -> CriticalShare {
        CriticalShare { millionths: (share * 1e6).round() as u64 }
    }

    /// Returns whether more than the share of the `resident` warps wait.
    pub fn is_critical(self, waiting: u32, resident: u32) -> bool {
        u64::from(waiting) * 1_000_000 > u64::from(resident) * self.millionths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_critical_above_the_share() {
        let half = CriticalShare::new(0.5);
        let critical = |waiting| half.is_critical(waiting, 4);
        assert_eq!([0, 1, 2, 3, 4].map(critical), [false, false, false, true, true]);
        assert!(!CriticalShare::new(0.0).is_critical(0, 0), "no warp waits");
        assert!(!CriticalShare::new(1.0).is_critical(4, 4));
    }

    #[test]
    fn unneeded_side_channels_are_absent() {
        let machine = crate::testing::machine(&[]);
        let side = SideChannels::new(&machine, &Needs::default(), false);
        assert!(side.critical.is_none() && side.loads.is_none());
        assert!(side.merges.is_none() && side.warps.is_none());
    }
}
