//! Stepping a few units by themselves, without the rest of the machine, for tests and standalone
//! models.

use crate::{AddressMap, Clock, Context, Domain, Fabric, RequestTable, Ticks, UnitId};

/// The shared state that units need to be stepped.
pub struct Bench {
    pub fabric: Fabric,
    pub requests: RequestTable,
    pub map: AddressMap,
}

impl Bench {
    /// `clocks` and the number of `units`, both indexed by [`Domain`].
    pub fn new(
        clocks: [Clock; Domain::COUNT],
        units: [usize; Domain::COUNT],
        map: AddressMap,
    ) -> Bench {
        Bench { fabric: Fabric::new(clocks, units), requests: RequestTable::default(), map }
    }

    /// The context that a unit's step takes.
    pub fn context(&mut self) -> Context<'_> {
        Context { fabric: &mut self.fabric, requests: &mut self.requests, map: &self.map }
    }

    /// The time of the earliest wake-up, if there is one.
    pub fn next(&self) -> Option<Ticks> {
        self.fabric.next_time()
    }

    /// Steps the units that have the earliest wake-up, in the engine's order; does nothing if there
    /// is no wake-up.
    pub fn step(&mut self, mut step: impl FnMut(&mut Bench, UnitId, u64)) {
        let Some(now) = self.next() else { return };
        for domain in Domain::ALL {
            let Some(cycle) = self.fabric.begin_cycle(domain, now) else { continue };
            while let Some(index) = self.fabric.wheel(domain).take() {
                step(self, UnitId { domain, index: index as u32 }, cycle);
            }
            self.fabric.wheel(domain).end();
        }
    }
}
