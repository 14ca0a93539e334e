//! The replies of fills: merged requests that have not been answered yet.

use std::collections::VecDeque;
use warpmem_cache::{Cache, WriteAllocate};
use warpmem_sim::{CacheLevel, RequestId, RequestTable, Ticks};

/// The unanswered requests of fills, in order of the fills. Requests of one fill are linked through
/// the request table.
pub(super) struct Answers {
    /// Earliest reply time and first unanswered request of each fill.
    fills: VecDeque<(Ticks, RequestId)>,
    /// Stores may make the slice read for itself.
    has_own_fetches: bool,
}

impl Answers {
    /// Reserves room for the fills of the MSHR entries of `cache`.
    pub fn new(cache: &Cache) -> Answers {
        let fetches = [WriteAllocate::FetchOnWrite, WriteAllocate::SendAndFetch];
        Answers {
            fills: VecDeque::with_capacity(cache.mshr_entries as usize),
            has_own_fetches: fetches.contains(&cache.write_allocate),
        }
    }

    /// Adds a fill that answers `first` and the requests linked to it from `due` on.
    pub fn push(&mut self, first: RequestId, due: Ticks) {
        debug_assert!(self.fills.back().is_none_or(|&(last, _)| last <= due));
        self.fills.push_back((due, first));
    }

    /// Returns the time of the next reply; [`Ticks::NEVER`] if there is none.
    #[inline]
    pub fn due(&self) -> Ticks {
        self.fills.front().map_or(Ticks::NEVER, |&(due, _)| due)
    }

    /// Returns the next request to answer, if it is due.
    #[inline]
    pub fn next(&self, now: Ticks) -> Option<RequestId> {
        self.fills.front().filter(|&&(due, _)| due <= now).map(|&(_, first)| first)
    }

    /// Removes the request from [`Answers::next`], which has been answered.
    pub fn pop(&mut self, requests: &mut RequestTable) {
        self.drop_first(requests);
        self.skip_own_fetches(requests);
    }

    /// Drops the slice's own reads at the head, which get no reply.
    #[inline]
    pub fn skip_own_fetches(&mut self, requests: &mut RequestTable) {
        if self.has_own_fetches {
            self.skip(requests);
        }
        debug_assert!(self.fills.front().is_none_or(|&(_, first)| !requests.get(first).own));
    }

    fn skip(&mut self, requests: &mut RequestTable) {
        while let Some(&(_, first)) = self.fills.front()
            && requests.get(first).own
        {
            self.drop_first(requests);
            requests.remove(first);
        }
    }

    /// Replaces the first request by the one linked to it.
    fn drop_first(&mut self, requests: &RequestTable) {
        let Some((_, first)) = self.fills.front_mut() else { return };
        *first = requests.next(*first, CacheLevel::L2);
        if *first == RequestId::NONE {
            self.fills.pop_front();
        }
    }

    /// Returns the number of fills with unanswered requests. They hold their MSHR entries
    /// (GPGPU-Sim, `mshr_table::next_access`).
    pub fn len(&self) -> usize {
        self.fills.len()
    }

    pub fn is_empty(&self) -> bool {
        self.fills.is_empty()
    }
}
