//! No queue at the slice: the same number of entries is at the SMs.

use super::{L2Queue, QueueEntry};
use warpmem_params::{PolicyInfo, params};
use warpmem_sim::{Request, RequestId};

const INFO: PolicyInfo = PolicyInfo {
    name: "none",
    summary: "no queue except the request at the tags; entries at the clusters of SMs instead",
    source: "Ma et al., CaLRS, 2015 (Non_Queue)",
    params: Options::params,
};

params! {
    #[derive(Clone, Copy)]
    struct Options {
        /// entries at each cluster of `network.sms_per_node` SMs
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

    fn entries_at_clusters(&self) -> u32 {
        self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::super::L2_QUEUES;
    use super::super::tests::Rig;

    #[test]
    fn one_request_is_at_the_tags_and_no_other_enters() {
        let mut rig = Rig::new("none", &[]);
        assert!(rig.offer(1) && !rig.offer(1));
        assert!(!rig.queue.is_blocked());
        assert_eq!(rig.serve(), Some(0));
        assert!(rig.offer(1));
    }

    #[test]
    fn the_entries_at_clusters_are_a_parameter() {
        let places = |policy: &str| Rig::new(policy, &[]).queue.entries_at_clusters();
        assert_eq!(["none", "none(entries=3)", "fifo"].map(places), [8, 3, 0]);
        let machine = warpmem_testing::machine(&[]);
        assert!(L2_QUEUES.build("none(entries=65537)", &machine.l2).is_err());
    }
}
