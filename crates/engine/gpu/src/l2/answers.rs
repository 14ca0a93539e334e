//! Fills that are not answered in full: requests that still get their replies.

use std::collections::VecDeque;
use warpmem_sim::{CacheLevel, RequestId, RequestTable, Ticks};

/// The requests that fills answer, fill after fill. Those of one fill are linked through the
/// request table.
pub(super) struct Answers {
    /// The first request of each fill that is left to answer, and from when it may be.
    fills: VecDeque<(Ticks, RequestId)>,
}

impl Answers {
    /// Room for the fills of so many MSHR entries.
    pub fn new(entries: u32) -> Answers {
        Answers { fills: VecDeque::with_capacity(entries as usize) }
    }

    /// A fill answers `first` and the requests linked to it from `due` on.
    pub fn push(&mut self, first: RequestId, due: Ticks) {
        debug_assert!(self.fills.back().is_none_or(|&(last, _)| last <= due));
        self.fills.push_back((due, first));
    }

    /// When the next request may be answered; [`Ticks::NEVER`] if there is none.
    #[inline]
    pub fn due(&self) -> Ticks {
        self.fills.front().map_or(Ticks::NEVER, |&(due, _)| due)
    }

    /// The request that is answered next, if it may be.
    #[inline]
    pub fn next(&self, now: Ticks) -> Option<RequestId> {
        self.fills.front().filter(|&&(due, _)| due <= now).map(|&(_, first)| first)
    }

    /// The request that [`Answers::next`] named has been answered.
    pub fn pop(&mut self, requests: &mut RequestTable) {
        self.drop_first(requests);
        self.skip_own_fetches(requests);
    }

    /// Drops reads that the slice made for itself: they get no reply.
    pub fn skip_own_fetches(&mut self, requests: &mut RequestTable) {
        while let Some(&(_, first)) = self.fills.front()
            && requests.get(first).own
        {
            self.drop_first(requests);
            requests.remove(first);
        }
    }

    /// The request linked to the first takes its place.
    fn drop_first(&mut self, requests: &RequestTable) {
        let Some((_, first)) = self.fills.front_mut() else { return };
        *first = requests.next(*first, CacheLevel::L2);
        if *first == RequestId::NONE {
            self.fills.pop_front();
        }
    }

    /// Fills that are not answered in full: their MSHR entries are taken till then (GPGPU-Sim,
    /// mshr_table::next_access).
    pub fn len(&self) -> usize {
        self.fills.len()
    }

    pub fn is_empty(&self) -> bool {
        self.fills.is_empty()
    }
}
