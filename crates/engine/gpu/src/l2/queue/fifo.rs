//! First in, first out.

use super::{L2Queue, QueueEntry};
use std::collections::VecDeque;
use warpmem_params::PolicyInfo;
use warpmem_sim::{Request, RequestId};

const INFO: PolicyInfo = PolicyInfo {
    name: "fifo",
    summary: "one first-in-first-out queue of `l2.queue` entries",
    source: "CaLRS 2015 (baseline)",
    params: Vec::new,
};

pub(super) const ENTRY: QueueEntry = QueueEntry {
    info: INFO,
    build: |l2, _| {
        let capacity = l2.queue as usize;
        Ok(Box::new(Fifo { capacity, waiting: VecDeque::with_capacity(capacity) }) as _)
    },
};

/// A queue that serves requests in order of arrival.
#[derive(Clone)]
pub struct Fifo {
    capacity: usize,
    waiting: VecDeque<RequestId>,
}

impl Fifo {
    /// Returns the request that will leave after `place` others.
    #[inline]
    pub fn peek(&self, place: usize) -> Option<RequestId> {
        self.waiting.get(place).copied()
    }
}

impl L2Queue for Fifo {
    fn capacity(&self) -> u32 {
        self.capacity as u32
    }

    #[inline]
    fn accepts(&self, _: &Request) -> bool {
        self.waiting.len() < self.capacity
    }

    #[inline]
    fn push(&mut self, id: RequestId, _: &Request) {
        self.waiting.push_back(id);
    }

    #[inline]
    fn next(&self) -> Option<RequestId> {
        self.waiting.front().copied()
    }

    #[inline]
    fn pop(&mut self) {
        self.waiting.pop_front();
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }

    fn as_fifo(&self) -> Option<Fifo> {
        Some(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_sim::{RequestTable, test_request};

    #[test]
    fn requests_are_served_in_order_of_arrival_up_to_the_capacity() {
        let mut requests = RequestTable::default();
        let mut fifo = Fifo { capacity: 2, waiting: VecDeque::new() };
        let ids: Vec<RequestId> = (0..3).map(|n| test_request(&mut requests, n * 128)).collect();
        for &id in &ids[..2] {
            assert!(fifo.accepts(requests.get(id)));
            fifo.push(id, requests.get(id));
        }
        assert!(!fifo.accepts(requests.get(ids[2])));
        assert_eq!(fifo.next(), Some(ids[0]));
        fifo.pop();
        assert_eq!(fifo.next(), Some(ids[1]));
    }
}
