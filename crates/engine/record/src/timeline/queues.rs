//! Queue lengths over time, from the entries and exits of requests.

use std::collections::BTreeMap;

/// The queues of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Queue {
    /// The queue of an L2 slice.
    Slice(u32),
    /// A DRAM channel, before the first command of the request.
    Waiting(u32),
    /// A DRAM channel, from the first command of the request.
    InService(u32),
}

/// Entries and exits with their times.
#[derive(Default)]
pub(super) struct Queues {
    changes: Vec<Change>,
}

#[derive(Clone, Copy)]
struct Change {
    queue: Queue,
    at: u64,
    by: i64,
}

impl Queues {
    /// Records the stay of a request in `queue`, in ticks.
    pub fn passed(&mut self, queue: Queue, from: u64, to: u64) {
        if from < to {
            self.changes.push(Change { queue, at: from, by: 1 });
            self.changes.push(Change { queue, at: to, by: -1 });
        }
    }

    /// Returns the number of entries and exits.
    pub fn changes(&self) -> usize {
        self.changes.len()
    }

    pub fn times(&self) -> impl Iterator<Item = u64> {
        self.changes.iter().map(|change| change.at)
    }

    /// Removes entries and exits from `end` on.
    pub fn end_at(&mut self, end: u64) {
        self.changes.retain(|change| change.at < end);
    }

    /// Returns the length of each queue at `begin` and at every later change.
    pub fn lengths(&self, begin: u64) -> BTreeMap<Queue, Vec<(u64, i64)>> {
        let mut sums: BTreeMap<Queue, BTreeMap<u64, i64>> = BTreeMap::new();
        for Change { queue, at, by } in &self.changes {
            *sums.entry(*queue).or_default().entry((*at).max(begin)).or_default() += by;
        }
        sums.into_iter().map(|(queue, changes)| (queue, running(changes))).collect()
    }
}

fn running(changes: BTreeMap<u64, i64>) -> Vec<(u64, i64)> {
    let mut length = 0;
    let changes = changes.into_iter().filter(|&(_, by)| by != 0);
    changes
        .map(|(at, by)| {
            length += by;
            (at, length)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_length_counts_its_requests() {
        let mut queues = Queues::default();
        let queue = Queue::Slice(0);
        for (from, to) in [(10, 30), (20, 40), (30, 50), (60, 60)] {
            queues.passed(queue, from, to);
        }
        queues.passed(Queue::Waiting(0), 0, 5);
        let lengths = queues.lengths(0);
        assert_eq!(lengths[&queue], [(10, 1), (20, 2), (40, 1), (50, 0)]);
        assert_eq!(queues.lengths(25)[&queue], [(25, 2), (40, 1), (50, 0)], "those in it then");
        queues.end_at(40);
        assert_eq!(queues.lengths(0)[&queue], [(10, 1), (20, 2)]);
    }
}
