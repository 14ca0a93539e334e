//! Critical-aware L2 request scheduling (CaLRS): five subqueues whose priorities rotate.

use super::{L2Queue, QueueEntry, class_of};
use crate::results::CRITICAL_CLASSES as SUBQUEUES;
use std::collections::VecDeque;
use warpmem_params::{Counter, PolicyInfo, choice, params};
use warpmem_sim::{Request, RequestId};

const INFO: PolicyInfo = PolicyInfo {
    name: "calrs",
    summary: "five first-in-first-out subqueues by Critical Field, fewest outstanding siblings first, priorities rotating",
    source: "Ma et al., CaLRS, 2015",
    params: Options::params,
};

params! {
    #[derive(Clone, Copy)]
    struct Options {
        /// subqueue that must be empty after a service for the priorities to rotate: the one served
        /// (`served`), or that of priority 0 (`highest`)
        emptied: Emptied = Emptied::Served;
    }
}

choice! {
    enum Emptied {
        /// Algorithm 1.
        Served = "served",
        /// The text of Section 4.3.
        Highest = "highest",
    }
}

pub(super) const ENTRY: QueueEntry = QueueEntry {
    info: INFO,
    build: |l2, params| {
        let Options { emptied } = params.read();
        let queue = l2.queue as usize;
        INFO.fits(queue >= SUBQUEUES, "l2.queue", queue, || {
            format!("from {SUBQUEUES}, one entry per subqueue")
        })?;
        Ok(Box::new(Calrs::new(queue, emptied)) as _)
    },
};

struct Subqueue {
    capacity: usize,
    waiting: VecDeque<RequestId>,
}

struct Calrs {
    emptied: Emptied,
    subqueues: [Subqueue; SUBQUEUES],
    /// The subqueue of priority 0, the highest; the following ones, cyclically, have priorities 1,
    /// 2, …
    first: usize,
    /// The block signal: a request was refused since the last rotation.
    blocked: bool,
    block_signals: u64,
    rotations: u64,
}

impl Calrs {
    fn new(queue: usize, emptied: Emptied) -> Calrs {
        let share = queue / SUBQUEUES;
        let subqueues = std::array::from_fn(|at| {
            let capacity = if at == SUBQUEUES - 1 { queue - at * share } else { share };
            Subqueue { capacity, waiting: VecDeque::with_capacity(capacity) }
        });
        Calrs { emptied, subqueues, first: 0, blocked: false, block_signals: 0, rotations: 0 }
    }

    /// Iterates over the subqueues from this priority down.
    fn subqueues_from(&self, priority: usize) -> impl Iterator<Item = usize> {
        let first = self.first;
        (priority..SUBQUEUES).map(move |priority| (first + priority) % SUBQUEUES)
    }

    /// Returns the subqueue that a request enters: that of its priority, or the next lower one with
    /// room.
    fn entry_for(&self, request: &Request) -> Option<usize> {
        if self.blocked {
            return None;
        }
        self.subqueues_from(class_of(request.critical_field)).find(|&at| {
            let Subqueue { capacity, waiting } = &self.subqueues[at];
            waiting.len() < *capacity
        })
    }

    /// Returns the subqueue that is served next.
    fn served_next(&self) -> Option<usize> {
        self.subqueues_from(0).find(|&at| !self.subqueues[at].waiting.is_empty())
    }
}

impl L2Queue for Calrs {
    fn capacity(&self) -> u32 {
        self.subqueues.iter().map(|subqueue| subqueue.capacity as u32).sum()
    }

    fn accepts(&self, request: &Request) -> bool {
        self.entry_for(request).is_some()
    }

    fn push(&mut self, id: RequestId, request: &Request) {
        let entry = self.entry_for(request).expect("the request was accepted");
        self.subqueues[entry].waiting.push_back(id);
    }

    fn refused(&mut self) {
        self.block_signals += u64::from(!self.blocked);
        self.blocked = true;
    }

    fn is_blocked(&self) -> bool {
        self.blocked
    }

    fn next(&self) -> Option<RequestId> {
        self.served_next().and_then(|at| self.subqueues[at].waiting.front().copied())
    }

    fn pop(&mut self) {
        let Some(served) = self.served_next() else { return };
        self.subqueues[served].waiting.pop_front();
        let emptied = match self.emptied {
            Emptied::Served => served,
            Emptied::Highest => self.first,
        };
        if self.subqueues[emptied].waiting.is_empty() {
            self.first = (self.first + 1) % SUBQUEUES;
            self.rotations += 1;
            self.blocked = false;
        }
    }

    fn len(&self) -> usize {
        self.subqueues.iter().map(|subqueue| subqueue.waiting.len()).sum()
    }

    fn rotations(&self) -> u64 {
        self.rotations
    }

    fn counters(&self) -> Vec<Counter> {
        let counter = |name, value| Counter { name, value };
        vec![counter("rotations", self.rotations), counter("block_signals", self.block_signals)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::QueueBench;
    use super::*;

    fn offer_all(bench: &mut QueueBench, fields: &[u8]) {
        for &field in fields {
            assert!(bench.offer(field), "{field}");
        }
    }

    #[test]
    fn a_queue_of_128_has_the_subqueues_of_the_table() {
        let calrs = Calrs::new(128, Emptied::Served);
        assert_eq!(calrs.subqueues.map(|subqueue| subqueue.capacity), [25, 25, 25, 25, 28]);
    }

    #[test]
    fn the_most_critical_are_served_first_then_the_oldest() {
        let mut bench = QueueBench::new("calrs", &["l2.queue=128"]);
        offer_all(&mut bench, &[32, 1, 4, 2, 9, 1, 3, 8, 5]);
        let order: Vec<u32> = (0..9).filter_map(|_| bench.serve()).collect();
        let fields: Vec<u8> = order.iter().map(|&id| bench.field(id)).collect();
        assert_eq!(fields, [1, 1, 2, 4, 3, 8, 5, 32, 9]);
        assert_eq!(order, [1, 5, 3, 2, 6, 7, 8, 0, 4]);
    }

    #[test]
    fn a_full_subqueue_overflows_to_the_next_lower_priority() {
        // Two entries per subqueue.
        let mut bench = QueueBench::new("calrs", &["l2.queue=10"]);
        offer_all(&mut bench, &[1, 1, 1, 2, 2, 3]);
        // Subqueues: 1 1 | 1 2 | 2 3 | - | -.
        offer_all(&mut bench, &[9, 9]);
        assert_eq!(bench.serve_fields(8), [1, 1, 1, 2, 2, 3, 9, 9]);
        offer_all(&mut bench, &[9, 9]);
        assert!(!bench.offer(32), "four subqueues of higher priority are empty");
    }

    #[test]
    fn priorities_rotate_when_the_served_subqueue_is_empty() {
        let mut bench = QueueBench::new("calrs", &["l2.queue=128"]);
        offer_all(&mut bench, &[1, 1, 2, 2, 5]);
        assert_eq!(bench.serve_fields(1), [1]);
        assert_eq!(bench.counter("rotations"), 0, "one more waits there");
        assert_eq!(bench.serve_fields(1), [1]);
        assert_eq!(bench.counter("rotations"), 1);
        // Subqueue 1, with two requests of field 2, has priority 0: a new request of field 1 enters
        // it behind them, and one of field 9 enters subqueue 0, the lowest, behind the request of
        // field 5.
        offer_all(&mut bench, &[1, 9]);
        assert_eq!(bench.serve_fields(3), [2, 2, 1]);
        assert_eq!(bench.counter("rotations"), 2);
        // Subqueue 2 has priority 0 and 3 has 1: the request of field 5 precedes a newer one of
        // field 4, which has priority 2.
        offer_all(&mut bench, &[4]);
        assert_eq!(bench.serve_fields(3), [5, 4, 9]);
        assert_eq!(bench.counter("rotations"), 5);
    }

    #[test]
    fn with_emptied_highest_priorities_rotate_when_priority_0_is_empty() {
        let mut bench = QueueBench::new("calrs(emptied=highest)", &["l2.queue=128"]);
        offer_all(&mut bench, &[2, 2, 2]);
        assert_eq!(bench.serve_fields(1), [2]);
        assert_eq!(bench.counter("rotations"), 1, "nothing of field 1 waits");
        assert_eq!(bench.serve_fields(1), [2]);
        assert_eq!(bench.counter("rotations"), 1, "the last waits in what is priority 0 now");
        // Field 2 is priority 1: subqueue 2.
        offer_all(&mut bench, &[2]);
        assert_eq!(bench.serve_fields(2), [2, 2]);
        assert_eq!(bench.counter("rotations"), 3);
    }

    #[test]
    fn the_block_signal_lasts_until_priorities_rotate() {
        // One entry per subqueue, two in the last.
        let mut bench = QueueBench::new("calrs", &["l2.queue=6"]);
        offer_all(&mut bench, &[9, 9, 1, 2]);
        assert!(!bench.queue.is_blocked());
        assert!(!bench.offer(32), "no room at its priority, and none below");
        assert!(!bench.offer(32));
        assert!(bench.queue.is_blocked());
        assert_eq!(bench.counter("block_signals"), 1);
        assert!(!bench.offer(3), "its subqueue has room, but nothing enters");
        assert_eq!(bench.serve_fields(1), [1]);
        assert!(!bench.queue.is_blocked(), "the subqueue served is empty");
        assert!(bench.offer(32), "subqueue 0 has the lowest priority now");
    }

    #[test]
    fn room_alone_does_not_lift_the_block_signal() {
        let mut bench = QueueBench::new("calrs", &["l2.queue=10"]);
        offer_all(&mut bench, &[9, 9]);
        assert!(!bench.offer(9));
        assert_eq!(bench.serve_fields(1), [9]);
        assert!(
            bench.queue.is_blocked() && !bench.offer(9),
            "one more waits in the subqueue served"
        );
        assert_eq!(bench.serve_fields(1), [9]);
        assert!(!bench.queue.is_blocked());
        assert_eq!(bench.counter("block_signals"), 1);
    }

    #[test]
    fn with_emptied_highest_a_block_ends_without_requests_of_priority_0() {
        let mut bench = QueueBench::new("calrs(emptied=highest)", &["l2.queue=5"]);
        assert!(bench.offer(32) && !bench.offer(32));
        assert_eq!(bench.serve_fields(1), [32]);
        assert!(bench.offer(32));
    }

    #[test]
    fn no_request_starves_while_subqueues_become_empty() {
        let mut bench = QueueBench::new("calrs", &["l2.queue=128"]);
        offer_all(&mut bench, &[32]);
        // Two requests of field 1 arrive whenever the previous two are served.
        let services = (0..100).find(|turn| {
            if turn % 2 == 0 {
                offer_all(&mut bench, &[1, 1]);
            }
            bench.serve_fields(1) == [32]
        });
        // Its subqueue has priority 0 after four rotations, of two services each.
        assert_eq!(services, Some(8));
    }

    #[test]
    fn five_rotations_serve_every_waiting_request() {
        let mut bench = QueueBench::new("calrs", &["l2.queue=20"]);
        offer_all(&mut bench, &[32, 9, 5, 3, 2, 1, 6, 4]);
        let mut left: Vec<u32> = (0..8).collect();
        while bench.counter("rotations") < 5 {
            let served = bench.serve().unwrap();
            left.retain(|&id| id != served);
            // The most critical requests never stop, but their subqueue is sometimes empty.
            if served.is_multiple_of(3) {
                offer_all(&mut bench, &[1]);
            }
        }
        assert_eq!(left, [0u32; 0]);
    }

    #[test]
    fn a_queue_smaller_than_the_subqueues_is_refused() {
        let machine = crate::testing::machine(&["l2.queue=4"]);
        let error = super::super::L2_QUEUES.build("calrs", &machine.l2).err().unwrap();
        assert!(error.to_string().contains("`l2.queue` = 4"), "{error}");
    }
}
