//! No queue at the slice; entries at the nodes of SMs instead.

use super::{L2Queue, QueueEntry};
use warpmem_params::{PolicyInfo, params};
use warpmem_sim::{Request, RequestId};

const INFO: PolicyInfo = PolicyInfo {
    name: "none",
    summary: "no queue except the request at the tags; entries at the nodes of SMs instead",
    source: "Ma et al., CaLRS, 2015 (Non_Queue)",
    params: Options::params,
};

params! {
    #[derive(Clone, Copy)]
    struct Options {
        /// entries at each node of `network.sms_per_node` SMs
        entries: u32 = 8, in 0..=65_536, unit "requests";
    }
}

pub(super) const ENTRY: QueueEntry = QueueEntry {
    info: INFO,
    build: |_, params| {
        let Options { entries } = params.read();
        Ok(Box::new(NoQueue { entries, at_tags: None }) as _)
    },
};

struct NoQueue {
    entries: u32,
    at_tags: Option<RequestId>,
}

impl L2Queue for NoQueue {
    fn capacity(&self) -> u32 {
        1
    }

    fn accepts(&self, _: &Request) -> bool {
        self.at_tags.is_none()
    }

    fn push(&mut self, id: RequestId, _: &Request) {
        self.at_tags = Some(id);
    }

    fn next(&self) -> Option<RequestId> {
        self.at_tags
    }

    fn pop(&mut self) {
        self.at_tags = None;
    }

    fn len(&self) -> usize {
        usize::from(self.at_tags.is_some())
    }

    fn holds_requests(&self) -> bool {
        false
    }

    fn entries_at_nodes(&self) -> u32 {
        self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::super::L2_QUEUES;
    use super::super::tests::QueueBench;

    #[test]
    fn one_request_waits_at_the_tags() {
        let mut bench = QueueBench::new("none", &[]);
        assert!(bench.offer(1) && !bench.offer(1));
        assert!(!bench.queue.is_blocked());
        assert_eq!(bench.serve(), Some(0));
        assert!(bench.offer(1));
    }

    #[test]
    fn the_entries_at_nodes_are_a_parameter() {
        let entries = |policy: &str| QueueBench::new(policy, &[]).queue.entries_at_nodes();
        assert_eq!(["none", "none(entries=3)", "fifo"].map(entries), [8, 3, 0]);
        let machine = crate::testing::machine(&[]);
        assert!(L2_QUEUES.build("none(entries=65537)", &machine.l2).is_err());
    }
}
