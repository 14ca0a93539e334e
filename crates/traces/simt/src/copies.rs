//! Asynchronous copies of a warp that it has not waited for.

use std::collections::VecDeque;

/// Outstanding copies of a warp, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct CopyGroups {
    /// Copies of each committed group; the uncommitted group is counted separately.
    committed: VecDeque<usize>,
    open: usize,
    /// Mbarriers at which copies arrive: address, and number of arriving copies, counted from the oldest.
    arrivals: Vec<(u64, usize)>,
}

impl CopyGroups {
    /// Adds an issued copy.
    pub fn issue(&mut self) {
        self.open += 1;
    }

    /// Commits the copies since the last group as a new group.
    pub fn commit(&mut self) {
        self.committed.push_back(std::mem::take(&mut self.open));
    }

    /// Waits until at most `pending` groups remain; returns the number of copies, from the oldest, that are
    /// then complete.
    pub fn wait(&mut self, pending: u32) -> usize {
        let complete = self.committed.len().saturating_sub(pending as usize);
        let copies = self.committed.drain(..complete).sum();
        self.forget(copies);
        copies
    }

    /// Makes all outstanding copies arrive at an mbarrier on completion.
    pub fn arrive_at(&mut self, mbarrier: u64) {
        let copies = self.committed.iter().sum::<usize>() + self.open;
        self.arrivals.retain(|&(address, _)| address != mbarrier);
        if copies > 0 {
            self.arrivals.push((mbarrier, copies));
        }
    }

    /// Observes the completion of an mbarrier's phase; returns the number of copies, from the oldest, that
    /// are then complete.
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

    /// Removes the oldest copies.
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
    fn groups_complete_in_order() {
        let mut copies = CopyGroups::default();
        for group in [2, 0, 3] {
            (0..group).for_each(|_| copies.issue());
            copies.commit();
        }
        assert_eq!((copies.wait(1), copies.wait(1), copies.wait(0)), (2, 0, 3));
    }

    #[test]
    fn a_completed_mbarrier_completes_the_copies_before_it() {
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
