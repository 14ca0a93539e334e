//! The tag stage of a slice: how long the tags are busy, and why the request at them waits.

use warpmem_cache::ReservationFail;
use warpmem_sim::L2Cycle;

pub(super) struct TagStage {
    /// First cycle in which the tags are free.
    free: L2Cycle,
    /// Cycles for which the request being served occupies the data port.
    data_cycles: u64,
    /// Why the next request waits, and the first cycle of the wait.
    waiting: Option<(Wait, L2Cycle)>,
}

/// A resource that the next request at the tags lacks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wait {
    /// An entry of the queue to DRAM, without which nothing is looked up.
    DramQueue,
    /// An entry of the queue to the peer slice.
    PeerQueue,
    /// The lookup failed to reserve what the request needs.
    Fail(ReservationFail),
}

impl TagStage {
    pub fn new() -> TagStage {
        TagStage { free: L2Cycle::ZERO, data_cycles: 1, waiting: None }
    }

    /// Returns the first cycle in which the tags are free.
    #[inline]
    pub fn free(&self) -> L2Cycle {
        self.free
    }

    /// Starts a lookup.
    #[inline]
    pub fn begin(&mut self) {
        self.data_cycles = 1;
    }

    /// The request at the tags transfers data for `cycles`, during which the tags are busy
    /// (GPGPU-Sim, `baseline_cache::bandwidth_management`; a fill has a port of its own, whatever
    /// it evicts).
    #[inline]
    pub fn hold_data_port(&mut self, cycles: u64) {
        self.data_cycles = self.data_cycles.max(cycles);
    }

    /// Keeps the tags busy until `cycle`.
    #[inline]
    pub fn hold_until(&mut self, cycle: L2Cycle) {
        self.free = self.free.max(cycle);
    }

    /// Ends the lookup of `cycle`, which served its request.
    #[inline]
    pub fn finish(&mut self, cycle: L2Cycle) {
        self.hold_until(cycle + self.data_cycles);
    }

    /// Starts a wait, after [`TagStage::take_wait`].
    #[inline]
    pub fn wait(&mut self, wait: Wait, cycle: L2Cycle) {
        self.waiting = Some((wait, cycle));
    }

    /// Ends the wait; returns its reason and its first cycle.
    #[inline]
    pub fn take_wait(&mut self) -> Option<(Wait, L2Cycle)> {
        self.waiting.take()
    }

    #[inline]
    pub fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    /// State for the deadlock report.
    pub fn describe(&self) -> String {
        self.waiting.map(|(wait, _)| format!(", waits: {wait:?}")).unwrap_or_default()
    }
}
