//! Runs units on their own: the engine's wake-ups, ports and requests, with the test as the rest of the machine.

use super::{Clock, Context, Domain, Fabric, Recording, RequestTable, SideChannels, Ticks, UnitId};
use crate::dram::AddressMap;
use crate::machine::Machine;
use crate::record::{LoadRow, LoadSink};

/// What units need to have their turns.
pub struct Bench {
    pub fabric: Fabric,
    pub requests: RequestTable,
    pub map: AddressMap,
    pub record: Recording,
    pub side: SideChannels,
}

/// Turns after which a test has gone wrong.
const TOO_MANY: usize = 1_000_000;

impl Bench {
    /// `units` is the number of units in each domain.
    pub fn new(machine: &Machine, units: [usize; Domain::COUNT]) -> Bench {
        let periods = machine.clocks.periods();
        let clocks = [periods.dram, periods.llc, periods.network, periods.core].map(Clock::new);
        Bench {
            fabric: Fabric::new(clocks, units),
            requests: RequestTable::default(),
            map: AddressMap::new(&machine.dram, machine.llc.slices_per_channel).unwrap(),
            record: Recording::new(periods.core),
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

    /// Gives every unit its turns, in the engine's order, until nobody is to be woken.
    pub fn run(&mut self, mut step: impl FnMut(UnitId, u64, &mut Context)) {
        for _ in 0..TOO_MANY {
            let Some(now) = self.fabric.next_time() else { return };
            for domain in Domain::ALL {
                self.run_domain(domain, now, &mut step);
            }
        }
        panic!("the units do not come to rest");
    }

    fn run_domain(
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

    /// The rows of the loads finished so far.
    pub fn loads(&mut self) -> Vec<LoadRow> {
        let mut rows = Rows::default();
        self.record.flush(&mut rows);
        rows.0
    }
}

/// Keeps the rows of loads.
#[derive(Default)]
pub struct Rows(pub Vec<LoadRow>);

impl LoadSink for Rows {
    fn load(&mut self, row: &LoadRow) {
        self.0.push(*row);
    }
}
