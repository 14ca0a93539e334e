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
            format!("from {SUBQUEUES}, a place for each subqueue")
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
    /// The subqueue of priority 0, the highest; those after it have the next, round to the one
    /// before it.
    first: usize,
    /// The block signal: a request has found no room since priorities last rotated.
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

    /// Subqueues from this priority down.
    fn subqueues_from(&self, priority: usize) -> impl Iterator<Item = usize> {
        let first = self.first;
        (priority..SUBQUEUES).map(move |priority| (first + priority) % SUBQUEUES)
    }

    /// The subqueue that a request enters: that of its priority, or the next below it that has
    /// room.
    fn place_for(&self, request: &Request) -> Option<usize> {
        if self.blocked {
            return None;
        }
        self.subqueues_from(class_of(request.critical_field)).find(|&at| {
            let Subqueue { capacity, waiting } = &self.subqueues[at];
            waiting.len() < *capacity
        })
    }

    /// The subqueue that is served next.
    fn served_next(&self) -> Option<usize> {
        self.subqueues_from(0).find(|&at| !self.subqueues[at].waiting.is_empty())
    }
}

impl L2Queue for Calrs {
    fn capacity(&self) -> u32 {
        self.subqueues.iter().map(|subqueue| subqueue.capacity as u32).sum()
    }

    fn accepts(&self, request: &Request) -> bool {
        self.place_for(request).is_some()
    }

    fn push(&mut self, id: RequestId, request: &Request) {
        let place = self.place_for(request).expect("the request was accepted");
        self.subqueues[place].waiting.push_back(id);
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
        let watched = match self.emptied {
            Emptied::Served => served,
            Emptied::Highest => self.first,
        };
        if self.subqueues[watched].waiting.is_empty() {
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
    use super::super::tests::Rig;
    use super::*;

    fn offer_all(rig: &mut Rig, fields: &[u8]) {
        for &field in fields {
            assert!(rig.offer(field), "{field}");
        }
    }

    #[test]
    fn a_queue_of_128_has_the_subqueues_of_the_table() {
        let calrs = Calrs::new(128, Emptied::Served);
        assert_eq!(calrs.subqueues.map(|subqueue| subqueue.capacity), [25, 25, 25, 25, 28]);
    }

    #[test]
    fn the_most_critical_go_first_and_the_oldest_of_these() {
        let mut rig = Rig::new("calrs", &["l2.queue=128"]);
        offer_all(&mut rig, &[32, 1, 4, 2, 9, 1, 3, 8, 5]);
        let order: Vec<u32> = (0..9).filter_map(|_| rig.serve()).collect();
        let fields: Vec<u8> = order.iter().map(|&id| rig.field(id)).collect();
        assert_eq!(fields, [1, 1, 2, 4, 3, 8, 5, 32, 9]);
        assert_eq!(order, [1, 5, 3, 2, 6, 7, 8, 0, 4]);
    }

    #[test]
    fn what_finds_its_subqueue_full_waits_in_the_next_below_never_above() {
        // Two places in each subqueue.
        let mut rig = Rig::new("calrs", &["l2.queue=10"]);
        offer_all(&mut rig, &[1, 1, 1, 2, 2, 3]);
        // Subqueues: 1 1 | 1 2 | 2 3 | - | -.
        offer_all(&mut rig, &[9, 9]);
        assert_eq!(rig.serve_fields(8), [1, 1, 1, 2, 2, 3, 9, 9]);
        offer_all(&mut rig, &[9, 9]);
        assert!(!rig.offer(32), "four subqueues of higher priority are empty");
    }

    #[test]
    fn priorities_rotate_when_the_subqueue_served_is_empty() {
        let mut rig = Rig::new("calrs", &["l2.queue=128"]);
        offer_all(&mut rig, &[1, 1, 2, 2, 5]);
        assert_eq!(rig.serve_fields(1), [1]);
        assert_eq!(rig.counter("rotations"), 0, "one more waits there");
        assert_eq!(rig.serve_fields(1), [1]);
        assert_eq!(rig.counter("rotations"), 1);
        // Subqueue 1, with the two of field 2, has priority 0 now: a new request of field 1 goes
        // behind them, and one of field 9 into subqueue 0, the lowest, behind the one of field 5.
        offer_all(&mut rig, &[1, 9]);
        assert_eq!(rig.serve_fields(3), [2, 2, 1]);
        assert_eq!(rig.counter("rotations"), 2);
        // Subqueue 2 has priority 0, 3 has 1: the one of field 5 goes before a newer one of field
        // 4, that of priority 2.
        offer_all(&mut rig, &[4]);
        assert_eq!(rig.serve_fields(3), [5, 4, 9]);
        assert_eq!(rig.counter("rotations"), 5);
    }

    #[test]
    fn by_the_text_they_rotate_when_the_subqueue_of_priority_0_is_empty() {
        let mut rig = Rig::new("calrs(emptied=highest)", &["l2.queue=128"]);
        offer_all(&mut rig, &[2, 2, 2]);
        assert_eq!(rig.serve_fields(1), [2]);
        assert_eq!(rig.counter("rotations"), 1, "nothing of field 1 waits");
        assert_eq!(rig.serve_fields(1), [2]);
        assert_eq!(rig.counter("rotations"), 1, "the last waits in what is priority 0 now");
        // Field 2 is priority 1: subqueue 2.
        offer_all(&mut rig, &[2]);
        assert_eq!(rig.serve_fields(2), [2, 2]);
        assert_eq!(rig.counter("rotations"), 3);
    }

    #[test]
    fn the_block_signal_stands_until_priorities_rotate() {
        // A place in each subqueue, two in the last.
        let mut rig = Rig::new("calrs", &["l2.queue=6"]);
        offer_all(&mut rig, &[9, 9, 1, 2]);
        assert!(!rig.queue.is_blocked());
        assert!(!rig.offer(32), "no room at its priority, and none below");
        assert!(!rig.offer(32));
        assert!(rig.queue.is_blocked());
        assert_eq!(rig.counter("block_signals"), 1);
        assert!(!rig.offer(3), "its subqueue has room, but nothing enters");
        assert_eq!(rig.serve_fields(1), [1]);
        assert!(!rig.queue.is_blocked(), "the subqueue served is empty");
        assert!(rig.offer(32), "subqueue 0 has the lowest priority now");
    }

    #[test]
    fn room_alone_does_not_lift_the_block_signal() {
        let mut rig = Rig::new("calrs", &["l2.queue=10"]);
        offer_all(&mut rig, &[9, 9]);
        assert!(!rig.offer(9));
        assert_eq!(rig.serve_fields(1), [9]);
        assert!(rig.queue.is_blocked() && !rig.offer(9), "one more waits in the subqueue served");
        assert_eq!(rig.serve_fields(1), [9]);
        assert!(!rig.queue.is_blocked());
        assert_eq!(rig.counter("block_signals"), 1);
    }

    #[test]
    fn a_block_ends_by_the_text_too_though_nothing_of_priority_0_ever_came() {
        let mut rig = Rig::new("calrs(emptied=highest)", &["l2.queue=5"]);
        assert!(rig.offer(32) && !rig.offer(32));
        assert_eq!(rig.serve_fields(1), [32]);
        assert!(rig.offer(32));
    }

    #[test]
    fn nothing_waits_for_ever_where_subqueues_become_empty() {
        let mut rig = Rig::new("calrs", &["l2.queue=128"]);
        offer_all(&mut rig, &[32]);
        // Two of field 1 come whenever both before are served.
        let services = (0..100).find(|turn| {
            if turn % 2 == 0 {
                offer_all(&mut rig, &[1, 1]);
            }
            rig.serve_fields(1) == [32]
        });
        // Its subqueue has priority 0 after four rotations, of two services each.
        assert_eq!(services, Some(8));
    }

    #[test]
    fn five_rotations_serve_all_that_waited() {
        let mut rig = Rig::new("calrs", &["l2.queue=20"]);
        offer_all(&mut rig, &[32, 9, 5, 3, 2, 1, 6, 4]);
        let mut left: Vec<u32> = (0..8).collect();
        while rig.counter("rotations") < 5 {
            let served = rig.serve().unwrap();
            left.retain(|&id| id != served);
            // Most critical ones come for ever, but not so many that a subqueue is never empty.
            if served.is_multiple_of(3) {
                offer_all(&mut rig, &[1]);
            }
        }
        assert_eq!(left, [0u32; 0]);
    }

    #[test]
    fn refuses_a_queue_that_leaves_a_subqueue_without_a_place() {
        let machine = warpmem_testing::machine(&["l2.queue=4"]);
        let error = super::super::L2_QUEUES.build("calrs", &machine.l2).err().unwrap();
        assert!(error.to_string().contains("`l2.queue` = 4"), "{error}");
    }
}
