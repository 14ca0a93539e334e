//! Cluster barriers of the resident clusters.

use crate::sm::ClusterCta;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use warpmem_sim::SmId;

/// A CTA released from the barrier of its cluster, and its SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    pub cta: ClusterCta,
    pub sm: SmId,
}

/// A resident cluster; CTA sets have a bit per rank.
struct Open {
    sms: Arc<[SmId]>,
    /// CTAs that have arrived at the current barrier, and CTAs that have ended, for which no
    /// barrier waits.
    arrived: u16,
    ended: u16,
}

impl Open {
    fn all(&self) -> u16 {
        u16::MAX >> (u16::BITS as usize - self.sms.len())
    }
}

/// Resident clusters of all kernels.
#[derive(Default)]
pub struct Clusters {
    /// Open clusters by kernel and first CTA.
    open: BTreeMap<(u32, u32), Open>,
    released: VecDeque<Release>,
}

impl Clusters {
    /// Opens a cluster of `kernel` whose CTAs, from `first` on, start on `sms`.
    pub fn start(&mut self, kernel: u32, first: u32, sms: Arc<[SmId]>) {
        self.open.insert((kernel, first), Open { sms, arrived: 0, ended: 0 });
    }

    /// Records that all warps of a CTA have arrived.
    pub fn arrive(&mut self, cta: ClusterCta) {
        self.change(cta, |open, bit| open.arrived |= bit);
    }

    /// Records the end of a CTA; ignores CTAs without a cluster.
    pub fn end(&mut self, cta: ClusterCta) {
        self.change(cta, |open, bit| open.ended |= bit);
    }

    fn change(&mut self, cta: ClusterCta, change: impl Fn(&mut Open, u16)) {
        let before = (cta.kernel, 0)..=(cta.kernel, cta.cta);
        let Some((&key, open)) = self.open.range_mut(before).next_back() else { return };
        let rank = (cta.cta - key.1) as usize;
        if rank >= open.sms.len() {
            return;
        }
        change(open, 1 << rank);
        if open.ended == open.all() {
            self.open.remove(&key);
            return;
        }
        if open.arrived | open.ended != open.all() {
            return;
        }
        let left = (0..open.sms.len()).filter(|rank| open.ended >> rank & 1 == 0);
        let release = |rank: usize| Release {
            cta: ClusterCta { kernel: key.0, cta: key.1 + rank as u32 },
            sm: open.sms[rank],
        };
        self.released.extend(left.map(release));
        open.arrived = 0;
    }

    /// Takes the next released CTA.
    pub fn take_released(&mut self) -> Option<Release> {
        self.released.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn released(clusters: &mut Clusters) -> Vec<(u32, u32, u16)> {
        let taken = std::iter::from_fn(|| clusters.take_released());
        taken.map(|release| (release.cta.kernel, release.cta.cta, release.sm.0)).collect()
    }

    fn cta(kernel: u32, cta: u32) -> ClusterCta {
        ClusterCta { kernel, cta }
    }

    /// Two clusters of two CTAs, on SMs 4 and 5, and 6 and 7.
    fn two() -> Clusters {
        let mut clusters = Clusters::default();
        clusters.start(3, 0, Arc::from([4, 5].map(SmId)));
        clusters.start(3, 2, Arc::from([6, 7].map(SmId)));
        clusters
    }

    #[test]
    fn a_cluster_is_released_when_all_of_its_ctas_have_arrived() {
        let mut clusters = two();
        clusters.arrive(cta(3, 1));
        clusters.arrive(cta(3, 2));
        assert_eq!(released(&mut clusters), []);
        clusters.arrive(cta(3, 0));
        assert_eq!(released(&mut clusters), [(3, 0, 4), (3, 1, 5)]);
        clusters.arrive(cta(3, 1));
        assert_eq!(released(&mut clusters), [], "the next barrier waits for all CTAs again");
    }

    #[test]
    fn barriers_do_not_wait_for_ended_ctas() {
        let mut clusters = two();
        clusters.arrive(cta(3, 3));
        clusters.end(cta(3, 2));
        assert_eq!(released(&mut clusters), [(3, 3, 7)]);
        clusters.arrive(cta(3, 3));
        assert_eq!(released(&mut clusters), [(3, 3, 7)], "nor do later barriers");
        clusters.end(cta(3, 3));
        assert_eq!(released(&mut clusters), []);
        assert_eq!(clusters.open.len(), 1);
    }

    #[test]
    fn ctas_without_a_cluster_are_ignored() {
        let mut clusters = two();
        for other in [cta(3, 4), cta(2, 0), cta(4, 1)] {
            clusters.end(other);
        }
        clusters.arrive(cta(3, 0));
        assert_eq!(released(&mut clusters), []);
    }
}
