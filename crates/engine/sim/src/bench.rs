//! Steps a few units without the rest of the machine, for tests and standalone models.

use crate::{AddressMap, Clock, Context, Domain, Region, Ticks, UnitId};
use std::slice;

/// The shared state that the step of a unit needs.
pub struct Bench {
    pub region: Region,
    pub map: AddressMap,
}

impl Bench {
    /// `clocks` and the number of `units`, both indexed by [`Domain`].
    pub fn new(
        clocks: [Clock; Domain::COUNT],
        units: [usize; Domain::COUNT],
        map: AddressMap,
    ) -> Bench {
        Bench { region: Region::new(0, clocks, units), map }
    }

    /// Returns the context for the step of a network.
    pub fn context(&mut self) -> Context<'_> {
        Context { regions: slice::from_mut(&mut self.region), map: &self.map }
    }

    /// Returns the time of the earliest wake-up.
    pub fn next(&self) -> Option<Ticks> {
        self.region.fabric.next_time()
    }

    /// Steps the units that are due at the earliest wake-up, in the engine's order; does nothing
    /// without a wake-up.
    pub fn step(&mut self, mut step: impl FnMut(&mut Bench, UnitId, u64)) {
        let Some(now) = self.next() else { return };
        for domain in Domain::ALL {
            let Some(cycle) = self.region.fabric.begin_cycle(domain, now) else { continue };
            while let Some(index) = self.region.fabric.wheel(domain).take() {
                step(self, UnitId { domain, index: index as u32 }, cycle);
            }
            self.region.fabric.wheel(domain).end();
        }
    }
}
