//! Memory instructions in flight.

use crate::engine::{Request, Stamps};
use crate::record::LoadRow;

/// Row of an [`AccessTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AccessId(pub u32);

/// Turnaround of an off-chip request, and its time inside the memory controller, ticks.
#[derive(Clone, Copy, Debug, Default)]
struct Turnaround {
    total: u64,
    in_controller: u64,
}

/// One memory instruction from issue until its last request is back.
#[derive(Clone, Debug, Default)]
pub(super) struct Access {
    pub warp: u32,
    /// A register waits for it: loads, atomics, async copies.
    pub returns: bool,
    /// Requests that are not back, those not sent included.
    pub waiting: u32,
    /// When the data of its hits are there.
    pub ready_cycle: u64,
    pub row: LoadRow,
    slowest: Turnaround,
    fastest: Turnaround,
}

impl Access {
    pub fn new(warp: u32, returns: bool, row: LoadRow) -> Access {
        Access { warp, returns, row, ..Access::default() }
    }

    /// A request is back, `total` ticks after it was created.
    pub fn request_back(&mut self, request: &Request, stamps: &Stamps, total: u64) {
        self.waiting -= 1;
        if !request.offchip {
            return;
        }
        let in_controller = stamps.dram_finished.since(stamps.dram_entered);
        let this = Turnaround { total, in_controller };
        if self.row.offchip_requests == 0 || this.total > self.slowest.total {
            self.slowest = this;
        }
        if self.row.offchip_requests == 0 || this.total < self.fastest.total {
            self.fastest = this;
        }
        self.row.offchip_requests += 1;
    }

    /// The finished row. `period` is the number of ticks in a core cycle.
    pub fn finished_row(&self, cycle: u64, period: u64) -> LoadRow {
        let mut row = self.row;
        row.load_time = cycle - row.issue_cycle;
        if row.offchip_requests >= 2 {
            let spread = self.slowest.total - self.fastest.total;
            let inside = self.slowest.in_controller as i64 - self.fastest.in_controller as i64;
            row.divergence = Some(spread / period);
            row.in_mc_divergence = Some(inside / period as i64);
        }
        row
    }
}

/// The memory instructions in flight of one SM.
#[derive(Default)]
pub(super) struct AccessTable {
    rows: Vec<Access>,
    free: Vec<AccessId>,
}

impl AccessTable {
    pub fn add(&mut self, access: Access) -> AccessId {
        match self.free.pop() {
            Some(id) => {
                self.rows[id.0 as usize] = access;
                id
            }
            None => {
                self.rows.push(access);
                AccessId(self.rows.len() as u32 - 1)
            }
        }
    }

    pub fn remove(&mut self, id: AccessId) {
        self.free.push(id);
    }

    #[inline]
    pub fn get(&self, id: AccessId) -> &Access {
        &self.rows[id.0 as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, id: AccessId) -> &mut Access {
        &mut self.rows[id.0 as usize]
    }

    /// Instructions in flight.
    pub fn len(&self) -> usize {
        self.rows.len() - self.free.len()
    }
}
