//! CaLRS without hardware limits: one unbounded subqueue per Critical Field.

use super::calrs::Emptied;
use super::{L2Queue, QueueEntry};
use crate::side::CriticalFields;
use std::collections::VecDeque;
use warpmem_params::{PolicyInfo, choice, params};
use warpmem_sim::{Request, RequestId};

const INFO: PolicyInfo = PolicyInfo {
    name: "calrs-ideal",
    summary: "lowest Critical Field first, then the oldest; the queue is unbounded",
    source: "Ma et al., CaLRS, 2015",
    params: Options::params,
};

pub(super) const ENTRY: QueueEntry = QueueEntry {
    info: INFO,
    build: |_, params| {
        let Options { rotation } = params.read();
        Ok(Box::new(CalrsIdeal { rotation, ..CalrsIdeal::default() }) as _)
    },
};

params! {
    struct Options {
        /// rotation of the priorities of the subqueues: `never`, or as `emptied` of `calrs`
        rotation: Rotation = Rotation::Never;
    }
}

choice! {
    #[derive(Default)]
    enum Rotation {
        #[default]
        Never = "never",
        Highest = "highest",
        HighestServed = "highest-served",
        Served = "served",
    }
}

impl Rotation {
    fn emptied(self) -> Option<Emptied> {
        match self {
            Rotation::Never => None,
            Rotation::Highest => Some(Emptied::Highest),
            Rotation::HighestServed => Some(Emptied::HighestServed),
            Rotation::Served => Some(Emptied::Served),
        }
    }
}

const FIELDS: usize = CriticalFields::MOST as usize;

#[derive(Default)]
struct CalrsIdeal {
    rotation: Rotation,
    subqueues: [VecDeque<RequestId>; FIELDS],
    /// Non-empty subqueues, one bit each.
    occupied: u32,
    /// The subqueue of the lowest Critical Field; the following ones, cyclically, have the next
    /// fields.
    first: usize,
    len: usize,
    rotations: u64,
}

impl CalrsIdeal {
    /// Returns the non-empty subqueue of the lowest field.
    fn served_next(&self) -> Option<usize> {
        let from_first = self.occupied.rotate_right(self.first as u32).trailing_zeros() as usize;
        (from_first < FIELDS).then_some((self.first + from_first) % FIELDS)
    }
}

impl L2Queue for CalrsIdeal {
    fn capacity(&self) -> u32 {
        u32::MAX
    }

    fn accepts(&self, _: &Request) -> bool {
        true
    }

    fn push(&mut self, id: RequestId, request: &Request) {
        let field = usize::from(request.critical_field.clamp(1, CriticalFields::MOST));
        let at = (self.first + field - 1) % FIELDS;
        self.subqueues[at].push_back(id);
        self.occupied |= 1 << at;
        self.len += 1;
    }

    fn next(&self) -> Option<RequestId> {
        self.served_next().and_then(|at| self.subqueues[at].front().copied())
    }

    fn pop(&mut self) {
        let Some(served) = self.served_next() else { return };
        self.subqueues[served].pop_front();
        self.len -= 1;
        if self.subqueues[served].is_empty() {
            self.occupied &= !(1 << served);
        }
        let Some(emptied) = self.rotation.emptied() else { return };
        if emptied.rotates(served, self.first, |at| self.subqueues[at].is_empty()) {
            self.first = (self.first + 1) % FIELDS;
            self.rotations += 1;
        }
    }

    fn len(&self) -> usize {
        self.len
    }

    fn rotations(&self) -> u64 {
        self.rotations
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::QueueBench;

    #[test]
    fn the_lowest_field_is_served_first_then_the_oldest() {
        let mut bench = QueueBench::new("calrs-ideal", &[]);
        [32, 4, 31, 3, 1, 4, 1].into_iter().for_each(|field| assert!(bench.offer(field)));
        let order: Vec<u32> = (0..7).filter_map(|_| bench.serve()).collect();
        assert_eq!(order, [4, 6, 3, 1, 5, 2, 0]);
    }

    /// After the only request of field 1, field 2 has priority 0: a new request of field 32 enters the
    /// subqueue that was field 1's, and one of field 1 that of the waiting request of field 2.
    #[test]
    fn priorities_rotate_if_asked() {
        let order = |rotation: &str| {
            let mut bench = QueueBench::new(&format!("calrs-ideal(rotation={rotation})"), &[]);
            [1, 2, 31].into_iter().for_each(|field| assert!(bench.offer(field)));
            let mut order = bench.serve_fields(1);
            [1, 30].into_iter().for_each(|field| assert!(bench.offer(field)));
            order.extend(bench.serve_fields(4));
            (order, bench.queue.rotations())
        };
        assert_eq!(order("never"), (vec![1, 1, 2, 30, 31], 0));
        assert_eq!(order("highest-served"), (vec![1, 2, 1, 31, 30], 2));
        assert_eq!(order("served"), (vec![1, 2, 1, 31, 30], 3));
        assert_eq!(order("highest").0, [1, 2, 1, 31, 30]);
    }

    #[test]
    fn the_queue_is_unbounded() {
        let mut bench = QueueBench::new("calrs-ideal", &["l2.queue=1"]);
        assert!((0..10_000).all(|_| bench.offer(1)));
        assert_eq!(bench.queue.len(), 10_000);
    }

    #[test]
    fn a_request_waits_while_more_critical_ones_arrive() {
        let mut bench = QueueBench::new("calrs-ideal", &[]);
        assert!(bench.offer(32));
        for _ in 0..1000 {
            assert!(bench.offer(31));
            assert_eq!(bench.serve_fields(1), [31]);
        }
        assert_eq!(bench.serve(), Some(0));
    }
}
