//! The counts of a slice's queue under any policy. They change only with events, so that cycles
//! without one cost nothing.

use super::class_of;
use crate::results::{CRITICAL_CLASSES, QueueLength, QueueResult};
use warpmem_sim::L2Cycle;

/// The counts, and the state of the current intervals.
#[derive(Default)]
pub(in crate::l2) struct QueueAccount {
    result: QueueResult,
    wait_ticks: [u64; CRITICAL_CLASSES],
    /// Cycle up to which the queue length is counted.
    counted: L2Cycle,
    /// First cycle in which the current request was refused.
    refused_since: Option<L2Cycle>,
}

impl QueueAccount {
    /// Counts a request that has arrived at the queue. `waits`: another waits before it or in it.
    pub fn arrived(&mut self, critical_field: u8, waits: bool) {
        self.result.arrivals[class_of(critical_field)] += 1;
        self.result.critical_fields.record(critical_field.into());
        self.result.waiting_arrivals += u64::from(waits);
    }

    /// Records that the queue refused the request that has arrived.
    pub fn refused(&mut self, cycle: L2Cycle) {
        self.refused_since.get_or_insert(cycle);
    }

    /// Records that a request enters the queue of `length` requests.
    pub fn entered(&mut self, cycle: L2Cycle, length: u32) {
        self.count_until(cycle, length);
        if let Some(since) = self.refused_since.take() {
            self.result.refused_cycles += cycle.since(since);
        }
    }

    /// Records that a request leaves the queue of `length` requests, `waited` ticks after its
    /// arrival.
    pub fn served(&mut self, cycle: L2Cycle, length: u32, critical_field: u8, waited: u64) {
        // The cycle of the service counts.
        self.count_until(cycle + 1, length);
        self.wait_ticks[class_of(critical_field)] += waited;
    }

    fn count_until(&mut self, cycle: L2Cycle, length: u32) {
        self.result.length = self.length_until(cycle, length);
        self.counted = cycle;
    }

    /// Returns the occupancy up to L2 cycle `cycle`, exclusive; `length` is the length since the
    /// last event.
    pub fn length_until(&self, cycle: L2Cycle, length: u32) -> QueueLength {
        let mut counted = self.result.length;
        if length > 0 {
            let cycles = cycle.since(self.counted);
            counted.occupied_cycles += cycles;
            counted.length_cycles += u64::from(length) * cycles;
        }
        counted
    }

    /// Returns the counts up to L2 cycle `cycle`; `length` is the length since the last event,
    /// `rotations` the number of priority rotations, `period` the ticks per L2 cycle.
    pub fn so_far(&self, cycle: L2Cycle, length: u32, rotations: u64, period: u64) -> QueueResult {
        let wait_cycles = self.wait_ticks.map(|ticks| ticks / period);
        let length = self.length_until(cycle, length);
        QueueResult { wait_cycles, rotations, length, ..self.result.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cycle_of_the_service_counts_as_occupied() {
        let mut account = QueueAccount::default();
        // One request in cycles 3 to 5, one in 5 to 9, none until 20, one in 20 only.
        account.entered(L2Cycle::new(3), 0);
        account.entered(L2Cycle::new(5), 1);
        account.served(L2Cycle::new(5), 2, 1, 0);
        account.served(L2Cycle::new(9), 1, 1, 0);
        account.entered(L2Cycle::new(20), 0);
        account.served(L2Cycle::new(20), 1, 1, 0);
        let length = account.result.length;
        assert_eq!((length.occupied_cycles, length.length_cycles), (7 + 1, 3 + 5 + 1));
    }

    #[test]
    fn reading_the_length_changes_nothing() {
        let mut account = QueueAccount::default();
        account.entered(L2Cycle::new(3), 0);
        account.entered(L2Cycle::new(5), 1);
        let by_cycle_8 = account.length_until(L2Cycle::new(8), 2);
        assert_eq!((by_cycle_8.occupied_cycles, by_cycle_8.length_cycles), (2 + 3, 2 + 2 * 3));
        account.served(L2Cycle::new(9), 2, 1, 0);
        let length = account.result.length;
        assert_eq!((length.occupied_cycles, length.length_cycles), (2 + 5, 2 + 2 * 5));
    }

    #[test]
    fn waits_are_counted_by_class_in_whole_cycles() {
        let mut account = QueueAccount::default();
        for (field, waited) in [(1, 10), (1, 15), (4, 7), (32, 100)] {
            account.arrived(field, field == 4);
            account.entered(L2Cycle::new(0), 0);
            account.served(L2Cycle::new(0), 1, field, waited);
        }
        let result = account.so_far(L2Cycle::ZERO, 0, 3, 10);
        assert_eq!(result.arrivals, [2, 0, 1, 0, 1]);
        assert_eq!(result.wait_cycles, [2, 0, 0, 0, 10]);
        assert_eq!((result.critical_fields.sum(), result.waiting_arrivals), (38, 1));
        assert_eq!(result.rotations, 3);
    }

    #[test]
    fn a_request_is_refused_from_its_first_attempt_until_it_enters() {
        let mut account = QueueAccount::default();
        account.refused(L2Cycle::new(4));
        account.refused(L2Cycle::new(6));
        account.entered(L2Cycle::new(9), 0);
        account.refused(L2Cycle::new(10));
        account.entered(L2Cycle::new(11), 1);
        assert_eq!(account.result.refused_cycles, 5 + 1);
    }
}
