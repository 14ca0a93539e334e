//! The port through which data from memory are written to registers.

use std::collections::VecDeque;
use warpmem_sim::CoreCycle;

/// One datum a cycle: data take the first free cycle from the one on in which they are there,
/// however long the queue (GPGPU-Sim, `ldst_unit::writeback`).
#[derive(Default)]
pub(super) struct WritebackPort {
    /// The cycles that are taken, in order; no two spans touch.
    taken: VecDeque<Span>,
}

/// Cycles from `start` on that end before `end`.
struct Span {
    start: CoreCycle,
    end: CoreCycle,
}

impl WritebackPort {
    /// The cycle for a datum that is there in `cycle`, which is not before `now`.
    pub fn take(&mut self, now: CoreCycle, cycle: CoreCycle) -> CoreCycle {
        while self.taken.front().is_some_and(|span| span.end <= now) {
            self.taken.pop_front();
        }
        // The first span that holds the cycle, ends just before it, or lies behind it. Data of
        // replies are there at once, those of shared memory later, each kind in order: there are
        // few spans, and the last of a kind is the one.
        let at = self.taken.partition_point(|span| span.end < cycle);
        match self.taken.get_mut(at) {
            Some(span) if span.start <= cycle => self.append(at),
            Some(span) if span.start == cycle + 1 => {
                span.start = cycle;
                cycle
            }
            _ => {
                self.taken.insert(at, Span { start: cycle, end: cycle + 1 });
                cycle
            }
        }
    }

    /// Takes the cycle behind a span, which may then touch the next.
    fn append(&mut self, at: usize) -> CoreCycle {
        let cycle = self.taken[at].end;
        self.taken[at].end = cycle + 1;
        if self.taken.get(at + 1).is_some_and(|next| next.start == cycle + 1) {
            let next = self.taken.remove(at + 1).expect("there is a next span");
            self.taken[at].end = next.end;
        }
        cycle
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
    fn data_of_one_cycle_take_one_after_the_other() {
        let mut port = WritebackPort::default();
        let cycles = [10, 10, 12, 10, 12].map(|cycle| take(&mut port, 5, cycle));
        assert_eq!(cycles, [10, 11, 12, 13, 14]);
    }

    #[test]
    fn what_comes_later_leaves_the_cycles_before_it_free() {
        let mut port = WritebackPort::default();
        assert_eq!(take(&mut port, 0, 30), 30);
        assert_eq!(take(&mut port, 3, 5), 5);
        assert_eq!(take(&mut port, 29, 30), 31);
        assert_eq!(take(&mut port, 1000, 1000), 1000);
    }

    #[test]
    fn a_long_queue_is_served_one_a_cycle() {
        let mut port = WritebackPort::default();
        let cycles: Vec<u64> = (0..1000).map(|_| take(&mut port, 0, 2)).collect();
        assert_eq!(cycles, (2..1002).collect::<Vec<u64>>());
        assert_eq!([take(&mut port, 500, 502), take(&mut port, 500, 5000)], [1002, 5000]);
        assert_eq!([take(&mut port, 600, 5000), take(&mut port, 600, 4999)], [5001, 4999]);
    }

    proptest! {
        /// Beside a list of the cycles that are taken.
        #[test]
        fn every_datum_takes_the_first_free_cycle(data in prop::collection::vec((0u64..4, 0u64..40), 1..300)) {
            let (mut port, mut taken, mut now) = (WritebackPort::default(), BTreeSet::new(), 0);
            for (passes, ahead) in data {
                now += passes;
                let free = (now + ahead..).find(|cycle| !taken.contains(cycle)).unwrap();
                taken.insert(free);
                prop_assert_eq!(take(&mut port, now, now + ahead), free);
            }
        }
    }
}
