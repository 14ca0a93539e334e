//! CaLRS without hardware limits: one unbounded subqueue per Critical Field.

use super::{L2Queue, QueueEntry};
use crate::side::CriticalFields;
use std::collections::VecDeque;
use warpmem_params::PolicyInfo;
use warpmem_sim::{Request, RequestId};

const INFO: PolicyInfo = PolicyInfo {
    name: "calrs-ideal",
    summary: "lowest Critical Field first, then the oldest; the queue is unbounded",
    source: "Ma et al., CaLRS, 2015",
    params: Vec::new,
};

pub(super) const ENTRY: QueueEntry =
    QueueEntry { info: INFO, build: |_, _| Ok(Box::new(CalrsIdeal::default()) as _) };

const FIELDS: usize = CriticalFields::MOST as usize;

#[derive(Default)]
struct CalrsIdeal {
    /// By Critical Field, minus one.
    subqueues: [VecDeque<RequestId>; FIELDS],
    /// Non-empty subqueues, one bit each.
    occupied: u32,
    len: usize,
}

impl L2Queue for CalrsIdeal {
    fn capacity(&self) -> u32 {
        u32::MAX
    }

    fn accepts(&self, _: &Request) -> bool {
        true
    }

    fn push(&mut self, id: RequestId, request: &Request) {
        let at = usize::from(request.critical_field.clamp(1, CriticalFields::MOST) - 1);
        self.subqueues[at].push_back(id);
        self.occupied |= 1 << at;
        self.len += 1;
    }

    fn next(&self) -> Option<RequestId> {
        let subqueue = self.subqueues.get(self.occupied.trailing_zeros() as usize);
        subqueue.and_then(|waiting| waiting.front().copied())
    }

    fn pop(&mut self) {
        let at = self.occupied.trailing_zeros() as usize;
        let Some(subqueue) = self.subqueues.get_mut(at) else { return };
        subqueue.pop_front();
        self.len -= 1;
        if subqueue.is_empty() {
            self.occupied &= !(1 << at);
        }
    }

    fn len(&self) -> usize {
        self.len
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
