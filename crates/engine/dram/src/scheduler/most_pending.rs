//! `most-pending`: row hits first, then the row with the most waiting requests.

use super::{BankView, Family, Scheduler, SchedulerContext, Slot, Tie};
use warpmem_params::{Complexity, Entry, PolicyInfo, Shape, params};

const INFO: PolicyInfo = PolicyInfo {
    name: "most-pending",
    summary: "row hits first, then the row with the most pending requests",
    source: "Rixner et al., ISCA 2000 (most pending)",
    params: Options::params,
};

pub const ENTRY: Entry<dyn Family, SchedulerContext> = Entry {
    info: INFO,
    build: |_, params| {
        let Options { tie } = params.read();
        Ok(Box::new(move |_| Box::new(MostPending { tie }) as _))
    },
};

params! {
    struct Options {
        /// among rows with equally many pending requests, that of the `oldest` request or the
        /// `lowest-row`
        tie: Tie = Tie::Oldest;
    }
}

struct MostPending {
    tie: Tie,
}

impl Scheduler for MostPending {
    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        let most = || bank.best_row_or(self.tie, |row| row.count.into()).oldest;
        bank.oldest_hit().or_else(|| Some(most()))
    }

    /// Returns the cost: the number of waiting requests to its row, stored and compared per
    /// request.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        let counts = shape.queue * shape.queue_bits();
        Some(Complexity { stored: counts, compared: shape.row_search() + counts })
    }
}

#[cfg(test)]
mod tests {
    use crate::DramRequest;
    use crate::tests::harness::*;

    /// Returns reads of bank 0, one to each of these rows.
    fn rows(rows: &[u32]) -> Vec<DramRequest> {
        rows.iter().zip(0..).map(|(&row, id)| read(id, 0, row)).collect()
    }

    #[test]
    fn the_row_with_most_waiting_requests_goes_first() {
        let queue = rows(&[1, 2, 2]);
        assert_eq!(order("fr-fcfs", &queue), [0, 1, 2]);
        assert_eq!(order("most-pending", &queue), [1, 2, 0]);
        let queue = rows(&[1, 2, 3, 3, 2, 3]);
        assert_eq!(order("fr-fcfs", &queue), [0, 1, 4, 2, 3, 5]);
        assert_eq!(order("most-pending", &queue), [2, 3, 5, 1, 4, 0]);
    }

    #[test]
    fn among_equal_rows_that_of_the_oldest_request_goes_first() {
        let queue = rows(&[1, 2, 3, 3, 2]);
        assert_eq!(order("fr-fcfs", &queue), [0, 1, 4, 2, 3]);
        assert_eq!(order("most-pending", &queue), [1, 4, 2, 3, 0]);
    }

    #[test]
    fn ties_may_go_to_the_lowest_row() {
        let queue = rows(&[1, 3, 2, 2, 3]);
        assert_eq!(order("most-pending", &queue), [1, 4, 2, 3, 0]);
        assert_eq!(order("most-pending(tie=lowest-row)", &queue), [2, 3, 1, 4, 0]);
    }

    /// A refresh closes row 1, whose waiting request is younger than that to row 2.
    #[test]
    fn ties_go_to_the_row_of_the_oldest_waiting_request() {
        let mut dram = gddr5();
        (dram.timing.trefi, dram.timing.trfc) = (100, 50);
        let long = |id, row| DramRequest { bursts: 6, ..read(id, 0, row) };
        let requests = [(80, long(0, 1)), (90, long(1, 1)), (91, long(2, 2)), (92, long(3, 1))];
        let run = run_with(&dram, "most-pending", &requests, Stepping::Events, |_| u32::MAX);
        assert_eq!(run.order(), [0, 1, 2, 3]);
    }

    /// Row 2 has more waiting requests when the second request to row 1, which is open, arrives.
    #[test]
    fn row_hits_go_before_fuller_rows() {
        let later = [read(1, 0, 2), read(2, 0, 2), read(3, 0, 2), read(4, 0, 1)];
        let requests: Vec<_> =
            [(0, read(0, 0, 1))].into_iter().chain(later.map(|r| (5, r))).collect();
        let run = run_with(&gddr5(), "most-pending", &requests, Stepping::Events, |_| u32::MAX);
        assert_eq!(run.order(), [0, 4, 1, 2, 3]);
    }

    /// No bound: a lone request waits as long as two or more arrive for each other row.
    #[test]
    fn a_lone_request_starves_behind_fuller_rows() {
        let mut requests = vec![(0, read(0, 0, 0))];
        let at = |n: u32| u64::from(n.saturating_sub(1)) * 40;
        let pair = |n| [1, 2].map(|i| (at(n), read(2 * n + i, 0, n + 1)));
        requests.extend((0..50).flat_map(pair));
        let order =
            |policy| run_with(&gddr5(), policy, &requests, Stepping::Events, |_| u32::MAX).order();
        assert_eq!(order("fr-fcfs")[0], 0);
        assert_eq!(order("most-pending").last(), Some(&0));
    }
}
