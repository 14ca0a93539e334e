//! The queue of a slice, of any policy. First in, first out needs no indirect call.

use super::{Fifo, L2Queue};
use warpmem_sim::{Request, RequestId};

pub(in crate::l2) enum SliceQueue {
    Fifo(Fifo),
    Other(Box<dyn L2Queue>),
}

impl SliceQueue {
    pub fn new(queue: Box<dyn L2Queue>) -> SliceQueue {
        queue.as_fifo().map_or(SliceQueue::Other(queue), SliceQueue::Fifo)
    }

    /// Returns the queue as its policy.
    pub fn policy(&self) -> &dyn L2Queue {
        match self {
            SliceQueue::Fifo(fifo) => fifo,
            SliceQueue::Other(queue) => &**queue,
        }
    }

    /// [`L2Queue::accepts`].
    #[inline]
    pub fn accepts(&self, request: &Request) -> bool {
        match self {
            SliceQueue::Fifo(fifo) => fifo.accepts(request),
            SliceQueue::Other(queue) => queue.accepts(request),
        }
    }

    /// [`L2Queue::push`].
    #[inline]
    pub fn push(&mut self, id: RequestId, request: &Request) {
        match self {
            SliceQueue::Fifo(fifo) => fifo.push(id, request),
            SliceQueue::Other(queue) => queue.push(id, request),
        }
    }

    /// [`L2Queue::refused`].
    pub fn refused(&mut self) {
        match self {
            SliceQueue::Fifo(fifo) => fifo.refused(),
            SliceQueue::Other(queue) => queue.refused(),
        }
    }

    /// [`L2Queue::next`].
    #[inline]
    pub fn next(&self) -> Option<RequestId> {
        match self {
            SliceQueue::Fifo(fifo) => fifo.next(),
            SliceQueue::Other(queue) => queue.next(),
        }
    }

    /// Returns the request that will leave after `place` others, if it is known.
    #[inline]
    pub fn peek(&self, place: usize) -> Option<RequestId> {
        match self {
            SliceQueue::Fifo(fifo) => fifo.peek(place),
            SliceQueue::Other(queue) => queue.next().filter(|_| place == 0),
        }
    }

    /// [`L2Queue::pop`].
    #[inline]
    pub fn pop(&mut self) {
        match self {
            SliceQueue::Fifo(fifo) => fifo.pop(),
            SliceQueue::Other(queue) => queue.pop(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::l2::queue::L2_QUEUES;
    use warpmem_sim::{RequestTable, test_request};

    /// Offers and serves requests; returns the outcome of each step.
    fn outcomes(mut queue: SliceQueue) -> Vec<(bool, Option<RequestId>)> {
        let mut requests = RequestTable::default();
        let step = |n: u64| {
            let id = test_request(&mut requests, n * 128);
            let request = requests.get(id);
            let accepted = queue.accepts(request);
            if accepted {
                queue.push(id, request);
            }
            let next = queue.next().filter(|_| n.is_multiple_of(3));
            if next.is_some() {
                assert_eq!(queue.peek(0), next);
                queue.pop();
            }
            (accepted, next)
        };
        (0..40).map(step).collect()
    }

    #[test]
    fn fifo_is_called_directly_and_behaves_as_the_policy() {
        let machine = crate::testing::machine(&["l2.queue=5"]);
        let fifo = || L2_QUEUES.build("fifo", &machine.l2).unwrap();
        let direct = SliceQueue::new(fifo());
        assert!(matches!(direct, SliceQueue::Fifo(_)));
        assert_eq!(outcomes(direct), outcomes(SliceQueue::Other(fifo())));
    }

    #[test]
    fn other_policies_are_kept() {
        let machine = crate::testing::machine(&["l2.queue=5"]);
        for name in L2_QUEUES.names().filter(|&name| name != "fifo") {
            let queue = SliceQueue::new(L2_QUEUES.build(name, &machine.l2).unwrap());
            assert!(matches!(queue, SliceQueue::Other(_)), "{name}");
        }
    }
}
