//! The port that writes data from memory to registers.

use std::collections::VecDeque;
use warpmem_sim::CoreCycle;

/// Write-back port of a number of data per cycle, one in each of its slots. A datum takes the first
/// free slot from its arrival on, however long the queue (GPGPU-Sim, `ldst_unit::writeback`).
pub(super) struct WritebackPort {
    slots_per_cycle: u64,
    /// Taken slots, in order; spans never touch.
    taken: VecDeque<Span>,
}

/// Slots from `start` up to, not including, `end`.
struct Span {
    start: u64,
    end: u64,
}

impl WritebackPort {
    pub fn new(slots_per_cycle: u32) -> WritebackPort {
        WritebackPort { slots_per_cycle: slots_per_cycle.into(), taken: VecDeque::new() }
    }

    /// Takes the write cycle of a datum available in `cycle`, at or after `now`.
    pub fn take(&mut self, now: CoreCycle, cycle: CoreCycle) -> CoreCycle {
        let slots = self.slots_per_cycle;
        CoreCycle::new(self.take_slot(now.number() * slots, cycle.number() * slots) / slots)
    }

    /// Takes the first free slot from `slot` on, at or after `now`.
    fn take_slot(&mut self, now: u64, slot: u64) -> u64 {
        while self.taken.front().is_some_and(|span| span.end <= now) {
            self.taken.pop_front();
        }
        // The first span that holds the slot, ends just before it, or lies after it. Reply data
        // are available immediately, shared-memory data later, each kind in order, so there are
        // few spans.
        let at = self.taken.partition_point(|span| span.end < slot);
        match self.taken.get_mut(at) {
            Some(span) if span.start <= slot => self.append(at),
            Some(span) if span.start == slot + 1 => {
                span.start = slot;
                slot
            }
            _ => {
                self.taken.insert(at, Span { start: slot, end: slot + 1 });
                slot
            }
        }
    }

    /// Takes the slot after a span, which may then touch the next.
    fn append(&mut self, at: usize) -> u64 {
        let slot = self.taken[at].end;
        self.taken[at].end = slot + 1;
        if self.taken.get(at + 1).is_some_and(|next| next.start == slot + 1) {
            let next = self.taken.remove(at + 1).expect("there is a next span");
            self.taken[at].end = next.end;
        }
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn take(port: &mut WritebackPort, now: u64, cycle: u64) -> u64 {
        port.take(CoreCycle::new(now), CoreCycle::new(cycle)).number()
    }

    #[test]
    fn data_of_one_cycle_take_consecutive_cycles() {
        let mut port = WritebackPort::new(1);
        let cycles = [10, 10, 12, 10, 12].map(|cycle| take(&mut port, 5, cycle));
        assert_eq!(cycles, [10, 11, 12, 13, 14]);
    }

    #[test]
    fn later_data_leave_earlier_cycles_free() {
        let mut port = WritebackPort::new(1);
        assert_eq!(take(&mut port, 0, 30), 30);
        assert_eq!(take(&mut port, 3, 5), 5);
        assert_eq!(take(&mut port, 29, 30), 31);
        assert_eq!(take(&mut port, 1000, 1000), 1000);
    }

    #[test]
    fn a_long_queue_drains_one_datum_per_cycle() {
        let mut port = WritebackPort::new(1);
        let cycles: Vec<u64> = (0..1000).map(|_| take(&mut port, 0, 2)).collect();
        assert_eq!(cycles, (2..1002).collect::<Vec<u64>>());
        assert_eq!([take(&mut port, 500, 502), take(&mut port, 500, 5000)], [1002, 5000]);
        assert_eq!([take(&mut port, 600, 5000), take(&mut port, 600, 4999)], [5001, 4999]);
    }

    #[test]
    fn a_wider_port_writes_as_many_data_in_each_cycle() {
        let mut port = WritebackPort::new(2);
        let cycles = [10, 10, 10, 12, 10].map(|cycle| take(&mut port, 5, cycle));
        assert_eq!(cycles, [10, 10, 11, 12, 11]);
    }

    proptest! {
        /// Compares the port with a set of the taken cycles.
        #[test]
        fn every_datum_takes_the_first_free_cycle(data in prop::collection::vec((0u64..4, 0u64..40), 1..300)) {
            let (mut port, mut taken, mut now) = (WritebackPort::new(1), BTreeSet::new(), 0);
            for (passes, ahead) in data {
                now += passes;
                let free = (now + ahead..).find(|cycle| !taken.contains(cycle)).unwrap();
                taken.insert(free);
                prop_assert_eq!(take(&mut port, now, now + ahead), free);
            }
        }
    }
}
