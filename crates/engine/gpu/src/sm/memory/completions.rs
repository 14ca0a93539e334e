//! Memory instructions whose completion cycle is known, and the write-back of their data.

use super::access::AccessId;
use super::writeback::WritebackPort;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use warpmem_sim::CoreCycle;

/// Accesses with all data ready, by completion cycle, and the write-back port.
pub(super) struct Completions {
    due: BinaryHeap<Reverse<(CoreCycle, AccessId)>>,
    port: WritebackPort,
}

impl Completions {
    /// Builds an empty queue, with a port of `writes_per_cycle` data.
    pub fn new(writes_per_cycle: u32) -> Completions {
        Completions { due: BinaryHeap::new(), port: WritebackPort::new(writes_per_cycle) }
    }

    /// Adds an access that completes in `cycle`.
    pub fn push(&mut self, cycle: CoreCycle, access: AccessId) {
        self.due.push(Reverse((cycle, access)));
    }

    /// Returns the cycle of the next completion.
    #[inline]
    pub fn next(&self) -> CoreCycle {
        self.due.peek().map_or(CoreCycle::NEVER, |&Reverse((at, _))| at)
    }

    /// Takes the next access that completes by `cycle`.
    #[inline]
    pub fn take(&mut self, cycle: CoreCycle) -> Option<AccessId> {
        if self.next() > cycle {
            return None;
        }
        self.due.pop().map(|Reverse((_, access))| access)
    }

    /// Reserves the write-back port, at `now`, for a datum available in `cycle`; returns the cycle
    /// of its write.
    pub fn write_back(&mut self, now: CoreCycle, cycle: CoreCycle) -> CoreCycle {
        self.port.take(now, cycle)
    }
}
