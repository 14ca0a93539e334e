//! The sectors of a memory instruction.

use std::cmp::Reverse;
use warpmem_sim::Location;

/// One sector of a memory instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sector {
    pub address: u64,
    /// Parts read or covered, one bit per 1/32 of the sector.
    pub bytes: u32,
    /// Largest number of an atomic's lanes at one address.
    pub max_lanes_per_address: u8,
    /// Slice and DRAM location.
    pub place: Location,
}

impl Sector {
    pub const BLANK: Sector =
        Sector { address: 0, bytes: 0, max_lanes_per_address: 0, place: Location::ZERO };
}

/// Distinct sectors of a memory instruction, in the order in which lanes touch them.
#[derive(Clone, Debug, Default)]
pub(super) struct Sectors {
    items: Vec<Sector>,
}

impl Sectors {
    #[cfg(test)]
    pub fn new() -> Sectors {
        Sectors::default()
    }

    pub fn clear(&mut self) {
        self.items.clear();
    }

    pub fn push(&mut self, sector: Sector) -> usize {
        self.items.push(sector);
        self.items.len() - 1
    }

    /// Sorts by address, highest first.
    pub fn descend(&mut self) {
        // Lanes mostly touch sectors in ascending order.
        if self.items.is_sorted_by_key(|sector| sector.address) {
            self.items.reverse();
        } else {
            self.items.sort_unstable_by_key(|sector| Reverse(sector.address));
        }
    }

    pub fn as_slice(&self) -> &[Sector] {
        &self.items
    }

    pub fn as_mut_slice(&mut self) -> &mut [Sector] {
        &mut self.items
    }

    pub fn at_mut(&mut self, at: usize) -> &mut Sector {
        &mut self.items[at]
    }
}
