//! Asynchronous copies that a warp has not waited for.

use std::collections::VecDeque;

/// The copies of a warp, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct CopyGroups {
    /// Copies of each group that is committed, and of the one that is not.
    committed: VecDeque<usize>,
    open: usize,
    /// Addresses of mbarriers at which copies arrive, with the number of copies that do, counted
    /// from the oldest one.
    arrivals: Vec<(u64, usize)>,
}

impl CopyGroups {
    /// A copy has been issued.
    pub fn issue(&mut self) {
        self.open += 1;
    }

    /// The copies since the last group become a group.
    pub fn commit(&mut self) {
        self.committed.push_back(std::mem::take(&mut self.open));
    }

    /// Waits until at most so many groups are pending; returns the number of copies, from the oldest
    /// on, that have then ended.
    pub fn wait(&mut self, pending: u32) -> usize {
        let complete = self.committed.len().saturating_sub(pending as usize);
        let copies = self.committed.drain(..complete).sum();
        self.forget(copies);
        copies
    }

    /// All copies so far arrive at an mbarrier when they end.
    pub fn arrive_at(&mut self, mbarrier: u64) {
        let copies = self.committed.iter().sum::<usize>() + self.open;
        self.arrivals.retain(|&(address, _)| address != mbarrier);
        if copies > 0 {
            self.arrivals.push((mbarrier, copies));
        }
    }

    /// The phase of an mbarrier is seen to be complete; returns the number of copies, from the oldest
    /// on, that have then ended.
    pub fn wait_at(&mut self, mbarrier: u64) -> usize {
        let arrival = self.arrivals.iter().find(|&&(address, _)| address == mbarrier);
        let Some(&(_, copies)) = arrival else { return 0 };
        let mut rest = copies;
        while let Some(group) = self.committed.front_mut().filter(|_| rest > 0) {
            let ended = rest.min(*group);
            (rest, *group) = (rest - ended, *group - ended);
            if *group == 0 {
                self.committed.pop_front();
            }
        }
        self.open = self.open.saturating_sub(rest);
        self.forget(copies);
        copies
    }

    /// The oldest copies have ended.
    fn forget(&mut self, copies: usize) {
        for (_, arriving) in &mut self.arrivals {
            *arriving = arriving.saturating_sub(copies);
        }
        self.arrivals.retain(|&(_, arriving)| arriving > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_end_from_the_oldest_on() {
        let mut copies = CopyGroups::default();
        for group in [2, 0, 3] {
            (0..group).for_each(|_| copies.issue());
            copies.commit();
        }
        assert_eq!((copies.wait(1), copies.wait(1), copies.wait(0)), (2, 0, 3));
    }

    #[test]
    fn an_mbarrier_that_is_complete_ends_the_copies_before_the_arrival() {
        let mut copies = CopyGroups::default();
        copies.issue();
        copies.commit();
        copies.issue();
        copies.arrive_at(64);
        copies.issue();
        copies.arrive_at(128);
        assert_eq!((copies.wait_at(0), copies.wait_at(64), copies.wait_at(64)), (0, 2, 0));
        assert_eq!(copies.wait_at(128), 1);
    }
}
