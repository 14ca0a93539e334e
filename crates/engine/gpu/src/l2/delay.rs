//! A delay line of fixed length within a slice: first in, first out.

use std::collections::VecDeque;
use warpmem_sim::{Due, RequestId, Ticks};

/// Requests in a delay line, in due order.
pub(super) struct DelayLine {
    /// When the first is due; [`Ticks::NEVER`] if there is none.
    due: Ticks,
    line: VecDeque<Due>,
}

impl DelayLine {
    pub fn new() -> DelayLine {
        DelayLine { due: Ticks::NEVER, line: VecDeque::new() }
    }

    /// When the first is due; [`Ticks::NEVER`] if there is none.
    #[inline]
    pub fn due(&self) -> Ticks {
        self.due
    }

    /// Returns the first request if it is due.
    #[inline]
    pub fn ready(&self, now: Ticks) -> Option<RequestId> {
        if self.due > now {
            return None;
        }
        self.line.front().map(|due| due.request)
    }

    /// Adds a request that is due at `due`, no earlier than the others.
    #[inline]
    pub fn push(&mut self, due: Ticks, id: RequestId) {
        debug_assert!(self.line.back().is_none_or(|last| { last.at } <= due));
        if self.line.is_empty() {
            self.due = due;
        }
        self.line.push_back(Due { at: due, request: id });
    }

    /// Removes the first request.
    #[inline]
    pub fn pop(&mut self) {
        self.line.pop_front();
        self.due = self.line.front().map_or(Ticks::NEVER, |due| due.at);
    }

    /// Returns the second request.
    #[inline]
    pub fn second(&self) -> Option<RequestId> {
        self.line.get(1).map(|due| due.request)
    }

    pub fn len(&self) -> usize {
        self.line.len()
    }

    pub fn is_empty(&self) -> bool {
        self.line.is_empty()
    }
}
