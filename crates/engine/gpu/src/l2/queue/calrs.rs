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
        /// priorities rotate after a service if the subqueue of priority 0 is empty (`highest`), if
        /// that service emptied it (`highest-served`), or if the service emptied any subqueue
        /// (`served`)
        emptied: Emptied = Emptied::Highest;
        /// subqueue that a rotation gives priority 0: the one after that of priority 0 (`next`), or the
        /// one before it (`previous`)
        rotate: Direction = Direction::Next;
        /// largest Critical Fields of the priorities 0 to 4: 1, 2, 4, 8 and 32 (`table-2`), or 1, 4, 8,
        /// 18 and 32 (`algorithm-1`)
        classes: Classes = Classes::Table2;
    }
}

choice! {
    /// The state of the subqueues in which priorities rotate.
    #[derive(PartialEq, Eq)]
    pub(super) enum Emptied {
        /// "All the memory requests in the highest priority subqueue have been served" (section 4.2).
        Highest = "highest",
        /// "When the subqueue of the highest priority is emptied" (section 4.3), as an event.
        HighestServed = "highest-served",
        /// Algorithm 1.
        Served = "served",
    }
}

impl Emptied {
    /// Returns whether priorities rotate after subqueue `served` has been served while `first` has
    /// priority 0.
    pub(super) fn rotates(
        self,
        served: usize,
        first: usize,
        is_empty: impl Fn(usize) -> bool,
    ) -> bool {
        match self {
            Emptied::Highest => is_empty(first),
            Emptied::HighestServed => served == first && is_empty(first),
            Emptied::Served => is_empty(served),
        }
    }
}

choice! {
    enum Direction {
        /// "The priority of subqueue (i + 1) % 5 becomes 0" (section 4.3).
        Next = "next",
        /// Algorithm 1 adds 4 to its map from priorities to subqueues.
        Previous = "previous",
    }
}

choice! {
    enum Classes {
        Table2 = "table-2",
        /// The table of Algorithm 1.
        Algorithm1 = "algorithm-1",
    }
}

impl Classes {
    /// Returns the priority of a Critical Field before any rotation.
    fn priority(self, critical_field: u8) -> usize {
        match self {
            Classes::Table2 => class_of(critical_field),
            Classes::Algorithm1 => {
                [1, 4, 8, 18].iter().filter(|&&largest| critical_field > largest).count()
            }
        }
    }
}

pub(super) const ENTRY: QueueEntry = QueueEntry {
    info: INFO,
    build: |l2, params| {
        let options = params.read();
        let queue = l2.queue as usize;
        INFO.fits(queue >= SUBQUEUES, "l2.queue", queue, || {
            format!("from {SUBQUEUES}, one entry per subqueue")
        })?;
        Ok(Box::new(Calrs::new(queue, options)) as _)
    },
};

struct Subqueue {
    capacity: usize,
    waiting: VecDeque<RequestId>,
}

struct Calrs {
    options: Options,
    subqueues: [Subqueue; SUBQUEUES],
    /// The subqueue of priority 0, the highest; the following ones, cyclically, have priorities 1,
    /// 2, …
    first: usize,
    /// The block signal: a request was refused and has not been followed by a service after which the
    /// subqueue of priority 0 was empty, or by a rotation.
    blocked: bool,
    block_signals: u64,
    rotations: u64,
}

impl Calrs {
    fn new(queue: usize, options: Options) -> Calrs {
        let share = queue / SUBQUEUES;
        let subqueues = std::array::from_fn(|at| {
            let capacity = if at == SUBQUEUES - 1 { queue - at * share } else { share };
            Subqueue { capacity, waiting: VecDeque::with_capacity(capacity) }
        });
        Calrs { options, subqueues, first: 0, blocked: false, block_signals: 0, rotations: 0 }
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
        self.subqueues_from(self.options.classes.priority(request.critical_field)).find(|&at| {
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
        let is_empty = |at: usize| self.subqueues[at].waiting.is_empty();
        let (emptied, first) = (self.options.emptied, self.first);
        let rotates = emptied.rotates(served, first, is_empty);
        // Algorithm 1 lifts the block signal with a rotation, the text when priority 0 is empty.
        let lifts = rotates || emptied != Emptied::Served && is_empty(first);
        self.blocked &= !lifts;
        if rotates {
            let step = match self.options.rotate {
                Direction::Next => 1,
                Direction::Previous => SUBQUEUES - 1,
            };
            self.first = (self.first + step) % SUBQUEUES;
            self.rotations += 1;
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
        let calrs = Calrs::new(128, Options::default());
        assert_eq!(calrs.subqueues.map(|subqueue| subqueue.capacity), [25, 25, 25, 25, 28]);
    }

    /// Algorithm 1's rotation, by which priorities rotate only when a subqueue becomes empty.
    const SERVED: &str = "calrs(emptied=served)";

    #[test]
    fn the_most_critical_are_served_first_then_the_oldest() {
        let mut bench = QueueBench::new(SERVED, &["l2.queue=128"]);
        offer_all(&mut bench, &[32, 1, 4, 2, 9, 1, 3, 8, 5]);
        let order: Vec<u32> = (0..9).filter_map(|_| bench.serve()).collect();
        let fields: Vec<u8> = order.iter().map(|&id| bench.field(id)).collect();
        assert_eq!(fields, [1, 1, 2, 4, 3, 8, 5, 32, 9]);
        assert_eq!(order, [1, 5, 3, 2, 6, 7, 8, 0, 4]);
    }

    #[test]
    fn a_full_subqueue_overflows_to_the_next_lower_priority() {
        // Two entries per subqueue.
        let mut bench = QueueBench::new(SERVED, &["l2.queue=10"]);
        offer_all(&mut bench, &[1, 1, 1, 2, 2, 3]);
        // Subqueues: 1 1 | 1 2 | 2 3 | - | -.
        offer_all(&mut bench, &[9, 9]);
        assert_eq!(bench.serve_fields(8), [1, 1, 1, 2, 2, 3, 9, 9]);
        offer_all(&mut bench, &[9, 9]);
        assert!(!bench.offer(32), "four subqueues of higher priority are empty");
    }

    #[test]
    fn with_emptied_served_priorities_rotate_when_the_served_subqueue_is_empty() {
        let mut bench = QueueBench::new(SERVED, &["l2.queue=128"]);
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
    fn priorities_rotate_when_priority_0_is_empty() {
        let mut bench = QueueBench::new("calrs", &["l2.queue=128"]);
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

    /// Served are one request of field 2, which empties its subqueue, and two of field 1, the second
    /// of which empties that of priority 0.
    #[test]
    fn rotations_depend_on_the_subqueue_that_must_be_empty() {
        let rotations = |emptied: &str, fields: &[u8]| {
            let text = format!("calrs(emptied={emptied})");
            let mut bench = QueueBench::new(&text, &["l2.queue=128"]);
            offer_all(&mut bench, fields);
            (0..fields.len())
                .map(|_| {
                    bench.serve();
                    bench.counter("rotations")
                })
                .collect::<Vec<u64>>()
        };
        for (emptied, of_2, of_both) in
            [("highest", 1, [0, 1, 2]), ("highest-served", 0, [0, 1, 2]), ("served", 1, [0, 1, 2])]
        {
            assert_eq!(rotations(emptied, &[2]), [of_2], "{emptied}");
            assert_eq!(rotations(emptied, &[1, 1, 2]), of_both, "{emptied}");
        }
        assert_eq!(rotations("highest", &[4, 4]), [1, 2]);
        assert_eq!(rotations("highest-served", &[4, 4]), [0, 0]);
        assert_eq!(rotations("served", &[4, 4]), [0, 1]);
    }

    /// The subqueue of field 1 is empty after its only request.
    #[test]
    fn a_rotation_goes_to_the_next_subqueue_or_to_the_previous_one() {
        let second_and_third = |rotate: &str| {
            let text = format!("calrs(emptied=highest-served,rotate={rotate})");
            let mut bench = QueueBench::new(&text, &["l2.queue=128"]);
            offer_all(&mut bench, &[2, 32, 1]);
            bench.serve_fields(3)
        };
        assert_eq!(second_and_third("next"), [1, 2, 32]);
        assert_eq!(second_and_third("previous"), [1, 32, 2]);
    }

    /// Fields 2, 3 and 9 share priorities with others in Algorithm 1's table.
    #[test]
    fn classes_are_those_of_table_2_or_of_algorithm_1() {
        let order = |classes: &str| {
            let text = format!("calrs(emptied=served,classes={classes})");
            let mut bench = QueueBench::new(&text, &["l2.queue=128"]);
            offer_all(&mut bench, &[4, 2, 19, 9, 1]);
            bench.serve_fields(5)
        };
        assert_eq!(order("table-2"), [1, 2, 4, 19, 9]);
        assert_eq!(order("algorithm-1"), [1, 4, 2, 9, 19]);
        let algorithm: Vec<usize> = (1..=32).map(|f| Classes::Algorithm1.priority(f)).collect();
        let table = [vec![0], vec![1; 3], vec![2; 4], vec![3; 10], vec![4; 14]].concat();
        assert_eq!(algorithm, table);
    }

    #[test]
    fn the_block_signal_lasts_until_priorities_rotate() {
        // One entry per subqueue, two in the last.
        let mut bench = QueueBench::new(SERVED, &["l2.queue=6"]);
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
        let mut bench = QueueBench::new(SERVED, &["l2.queue=10"]);
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
    fn a_block_ends_without_requests_of_priority_0() {
        for emptied in ["highest", "highest-served"] {
            let mut bench = QueueBench::new(&format!("calrs(emptied={emptied})"), &["l2.queue=5"]);
            assert!(bench.offer(32) && !bench.offer(32), "{emptied}");
            assert_eq!(bench.serve_fields(1), [32], "{emptied}");
            assert!(bench.offer(32), "{emptied}");
        }
    }

    /// Two requests of field 1 wait when one of field 9 is refused.
    #[test]
    fn a_block_lasts_while_requests_of_priority_0_wait() {
        for emptied in ["highest", "highest-served"] {
            let text = format!("calrs(emptied={emptied})");
            let mut bench = QueueBench::new(&text, &["l2.queue=10"]);
            offer_all(&mut bench, &[1, 1, 9, 9]);
            assert!(!bench.offer(9), "{emptied}");
            assert_eq!(bench.serve_fields(1), [1]);
            assert!(bench.queue.is_blocked(), "{emptied}");
            assert_eq!(bench.serve_fields(1), [1]);
            assert!(!bench.queue.is_blocked(), "{emptied}");
        }
    }

    #[test]
    fn no_request_starves_while_subqueues_become_empty() {
        let mut bench = QueueBench::new(SERVED, &["l2.queue=128"]);
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
        let mut bench = QueueBench::new(SERVED, &["l2.queue=20"]);
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
