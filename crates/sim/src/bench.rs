//! Units on their own: wake-ups, ports and requests without the rest of the machine.

use crate::{AddressMap, Clock, Context, Domain, Fabric, RequestTable, Ticks, UnitId};

/// What units need to be stepped.
pub struct Bench {
    pub fabric: Fabric,
    pub requests: RequestTable,
    pub map: AddressMap,
}

impl Bench {
    /// `clocks` and `units`, the number of units, are by [`Domain`].
    pub fn new(
        clocks: [Clock; Domain::COUNT],
        units: [usize; Domain::COUNT],
        map: AddressMap,
    ) -> Bench {
        Bench { fabric: Fabric::new(clocks, units), requests: RequestTable::default(), map }
    }

    /// What a unit's step takes.
    pub fn context(&mut self) -> Context<'_> {
        Context { fabric: &mut self.fabric, requests: &mut self.requests, map: &self.map }
    }

    /// When some unit is to be woken next.
    pub fn next(&self) -> Option<Ticks> {
        self.fabric.next_time()
    }

    /// Steps the units that are to be woken next, in the engine's order; nothing if there are none.
    pub fn turn(&mut self, mut step: impl FnMut(&mut Bench, UnitId, u64)) {
        let Some(now) = self.next() else { return };
        for domain in Domain::ALL {
            let Some(cycle) = self.fabric.begin_turn(domain, now) else { continue };
            while let Some(index) = self.fabric.wheel(domain).take() {
                step(self, UnitId { domain, index: index as u32 }, cycle);
            }
            self.fabric.wheel(domain).end();
        }
    }
}
