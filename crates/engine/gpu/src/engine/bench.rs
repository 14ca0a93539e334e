//! Steps units in isolation, with the test as the rest of the machine.

use crate::context::{Context, Recording};
use crate::results::{LoadRow, RunSink, Wanted, WarpRow};
use crate::side::SideChannels;
use warpmem_machine::Machine;
use warpmem_sim::{self as sim, Domain, Ticks, UnitId};

/// Steps after which a test is stuck.
const TOO_MANY: usize = 1_000_000;

/// The shared state that the step of a unit needs.
pub struct Bench {
    pub sim: sim::Bench,
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
        let clocks = machine.clocks.by_domain();
        let map = machine.address_map();
        let map = map.expect("machines are validated when they are loaded");
        Bench {
            sim: sim::Bench::new(clocks, units, map),
            record: Recording::new(periods.core, &Wanted { warps: true, ..Wanted::default() }),
            side: SideChannels::default(),
        }
    }

    /// Returns the context for the step of a unit.
    pub fn context(&mut self) -> Context<'_> {
        Context {
            fabric: &mut self.sim.region.fabric,
            requests: &mut self.sim.region.requests,
            map: &self.sim.map,
            record: &mut self.record,
            side: &mut self.side,
        }
    }

    /// Returns the time of the earliest wake-up.
    pub fn next(&self) -> Option<Ticks> {
        self.sim.next()
    }

    /// Steps the units that are due at the earliest wake-up, in the engine's order; does nothing
    /// without a wake-up.
    pub fn step(&mut self, step: &mut impl FnMut(UnitId, u64, &mut Context)) {
        let Bench { sim, record, side } = self;
        sim.step(|sim, unit, cycle| {
            let mut context = Context {
                fabric: &mut sim.region.fabric,
                requests: &mut sim.region.requests,
                map: &sim.map,
                record: &mut *record,
                side: &mut *side,
            };
            step(unit, cycle, &mut context);
        });
    }

    /// Steps units, in the engine's order, until no wake-up is left.
    pub fn run(&mut self, mut step: impl FnMut(UnitId, u64, &mut Context)) {
        for _ in 0..TOO_MANY {
            if self.next().is_none() {
                return;
            }
            self.step(&mut step);
        }
        panic!("the units never become idle");
    }

    /// Takes the rows of the loads and warps completed so far.
    pub fn rows(&mut self) -> Rows {
        let mut rows = Rows::default();
        self.record.flush(&mut rows);
        rows
    }
}

/// Collects the rows of loads and warps.
#[derive(Default)]
pub struct Rows {
    pub loads: Vec<LoadRow>,
    pub warps: Vec<WarpRow>,
}

impl RunSink for Rows {
    fn load(&mut self, row: &LoadRow) {
        self.loads.push(*row);
    }

    fn warp(&mut self, row: &WarpRow) {
        self.warps.push(*row);
    }
}
