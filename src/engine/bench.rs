//! Units on their own: the engine's wake-ups, ports and requests without the rest of the machine.

use super::{Clock, Context, Domain, Fabric, Recording, RequestTable, SideChannels, Ticks, UnitId};
use crate::dram::AddressMap;
use crate::machine::Machine;
use crate::record::Wanted;

/// What units need to have their turns.
pub struct Bench {
    pub fabric: Fabric,
    pub requests: RequestTable,
    pub map: AddressMap,
    pub record: Recording,
    pub side: SideChannels,
}

impl Bench {
    /// `units` is the number of units in each domain.
    ///
    /// # Panics
    /// If the machine is not valid.
    pub fn new(machine: &Machine, units: [usize; Domain::COUNT]) -> Bench {
        let periods = machine.clocks.periods();
        let clocks = [periods.dram, periods.llc, periods.network, periods.core].map(Clock::new);
        let map = AddressMap::new(&machine.dram, machine.llc.slices_per_channel);
        Bench {
            fabric: Fabric::new(clocks, units),
            requests: RequestTable::default(),
            map: map.expect("machines are validated when they are loaded"),
            record: Recording::new(periods.core, &Wanted::default()),
            side: SideChannels::default(),
        }
    }

    /// What a unit's step takes.
    pub fn context(&mut self) -> Context<'_> {
        Context {
            fabric: &mut self.fabric,
            requests: &mut self.requests,
            map: &self.map,
            record: &mut self.record,
            side: &mut self.side,
        }
    }

    /// When some unit is to be woken next.
    pub fn next(&self) -> Option<Ticks> {
        self.fabric.next_time()
    }

    /// Gives the units that are to be woken next their turns, in the engine's order; nothing if there are none.
    pub fn turn(&mut self, step: &mut impl FnMut(UnitId, u64, &mut Context)) {
        let Some(now) = self.next() else { return };
        for domain in Domain::ALL {
            self.turn_of(domain, now, step);
        }
    }

    fn turn_of(
        &mut self,
        domain: Domain,
        now: Ticks,
        step: &mut impl FnMut(UnitId, u64, &mut Context),
    ) {
        let Some(cycle) = self.fabric.begin_turn(domain, now) else { return };
        while let Some(index) = self.fabric.wheel(domain).take() {
            step(UnitId { domain, index: index as u32 }, cycle, &mut self.context());
        }
        self.fabric.wheel(domain).end();
    }
}
