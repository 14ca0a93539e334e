//! Steps of units that change nothing, which a faster engine could skip.

use crate::controller::MemoryController;
use crate::l2::Slice;
use crate::sm::Sm;
use warpmem_cache::CacheCounts;
use warpmem_sim::{CoreCycle, DramCycle, L2Cycle, add_fields};

/// Steps of the units of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    pub all: u64,
    /// Steps in which no port was popped, no instruction issued, no command sent, no access served,
    /// and no occupancy of the unit changed.
    pub idle: u64,
}

add_fields!(Steps { all, idle });

/// Steps by kind of unit, without networks and the dispatcher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepCounts {
    pub channels: Steps,
    pub slices: Steps,
    pub sms: Steps,
}

add_fields!(StepCounts { channels, slices, sms });

impl Steps {
    /// Adds a step between these two states of a unit.
    pub(in crate::engine) fn add(&mut self, before: &State, after: &State) {
        self.all += 1;
        self.idle += u64::from(before == after);
    }
}

/// The state of a unit that reveals its activity.
#[derive(PartialEq, Eq)]
pub(in crate::engine) struct State {
    /// Requests popped from ports, over all units.
    moves: u64,
    /// Counts of the unit.
    done: u64,
    /// Occupancies of the unit.
    held: String,
}

impl State {
    pub fn of_channel(channel: &MemoryController, cycle: DramCycle, moves: u64) -> State {
        let counts = channel.counts(cycle);
        let banks = counts.total();
        let commands = banks.columns() + banks.activations + banks.precharges;
        // An idle channel refreshes single banks without steps.
        let done = commands + counts.refreshes;
        State { moves, done, held: channel.describe() }
    }

    pub fn of_slice(slice: &Slice, cycle: L2Cycle, moves: u64) -> State {
        let counts = slice.so_far(cycle);
        let arrived = counts.queue.critical_fields.count();
        State { moves, done: arrived + accesses(&counts.cache), held: slice.describe() }
    }

    pub fn of_sm(sm: &mut Sm, cycle: CoreCycle, moves: u64) -> State {
        let counts = sm.so_far(cycle);
        let done = counts.warp_instructions + accesses(&counts.l1) + counts.shared_accesses;
        let passes = counts.shared_bank_conflict_cycles + counts.replies + counts.messages;
        State { moves, done: done + passes, held: sm.describe() }
    }
}

/// Returns the accesses that a cache has served.
fn accesses(counts: &CacheCounts) -> u64 {
    let reads = counts.read_hits + counts.read_misses + counts.read_sector_misses;
    let writes = counts.write_hits + counts.write_misses + counts.write_sector_misses;
    reads + counts.read_pending_hits + writes + counts.atomics + counts.bypasses
}
