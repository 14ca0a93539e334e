//! Request queues of a slice: in which order waiting requests reach the tags.

mod fifo;

use crate::engine::{Request, RequestId};
use crate::machine::Llc;
use crate::registry::{Entry, Registry};

/// The requests that wait for the tags of one slice.
pub trait LlcQueue: Send {
    /// Whether one more request may enter.
    fn accepts(&self, request: &Request) -> bool;

    /// Adds a request that was accepted.
    fn push(&mut self, id: RequestId, request: &Request);

    /// The request that reaches the tags next. Stays the same until [`LlcQueue::pop`] or a push.
    fn next(&self) -> Option<RequestId>;

    /// Removes the request that [`LlcQueue::next`] named.
    fn pop(&mut self);

    /// Requests waiting.
    fn len(&self) -> usize;

    /// Whether none waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Every queue policy.
pub static LLC_QUEUES: Registry<dyn LlcQueue, Llc> =
    Registry { slot: "llc_queue", entries: &[fifo::ENTRY] };

type QueueEntry = Entry<dyn LlcQueue, Llc>;
