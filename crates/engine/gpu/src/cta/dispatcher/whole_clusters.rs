//! Clusters: all CTAs of one take their places at once, and start as their SMs can.

use super::{Dispatcher, Kernel, Launch};
use crate::cta::clusters::Release;
use crate::cta::residency::SmRoom;
use crate::sm::{ClusterCta, CtaEnd, Issued};
use std::collections::VecDeque;
use warpmem_sim::{CoreCycle, SmId};

impl Dispatcher {
    /// The SMs for the CTAs of a cluster, by rank, the first of which is `first`: those of its GPC in
    /// turn, as often as they have room.
    pub(super) fn places_of_cluster(&self, kernel: usize, first: SmId) -> Vec<SmId> {
        let Kernel { needs, cluster, .. } = &self.kernels[kernel];
        let gpcs = self.gpcs.expect("a kernel with clusters needs them");
        let start = self.sm_of(first);
        let gpc = gpcs.sms(gpcs.of(start));
        let in_turn = (start.index()..gpc.end).chain(gpc.start..start.index());
        let mut rooms: Vec<(SmId, SmRoom)> = in_turn
            .map(|sm| self.counted(SmId::new(sm)))
            .map(|sm| (sm, self.rooms[sm.index()]))
            .collect();
        let mut places = Vec::with_capacity(*cluster as usize);
        while places.len() < *cluster as usize {
            let left = *cluster as usize - places.len();
            let with_room = rooms.iter_mut().filter(|(_, room)| room.holds(needs, 1));
            places.extend(with_room.take(left).map(|(sm, room)| {
                room.take(needs);
                *sm
            }));
        }
        places
    }

    /// Hands a CTA to its SM, or holds it if that has started its CTAs of this cycle.
    pub(super) fn launch(&mut self, launch: Launch, launches: &mut VecDeque<Launch>) {
        let sm = self.counted(launch.sm).index();
        if self.started[sm] < self.launches_per_cycle {
            self.started[sm] += 1;
            launches.push_back(launch);
        } else {
            self.held.push_back(launch);
        }
    }

    /// The CTAs of a kernel that have their place and were not started never will be; with the last of
    /// its CTAs the kernel ends.
    pub(super) fn end_held(&mut self, kernel: u32, cycle: CoreCycle) {
        let held = std::mem::take(&mut self.held).into_iter();
        let (held, rest): (Vec<Launch>, Vec<Launch>) =
            held.partition(|launch| launch.cta.kernel == kernel);
        self.held = rest.into();
        for Launch { sm, cta } in held {
            let issued = Issued::default();
            self.cta_ended(CtaEnd { kernel, cta: cta.cta, sm, cycle, issued }, &Vec::new);
        }
        if let Some(at) = self.running.iter().position(|r| r.kernel == kernel as usize) {
            self.end_kernel_if_over(at, cycle);
        }
    }

    /// All warps of a CTA have arrived at the barrier of its cluster.
    pub fn cta_arrived(&mut self, cta: ClusterCta) {
        self.clusters.arrive(cta);
    }

    /// The next CTA whose cluster has arrived at its barrier.
    pub fn take_released(&mut self) -> Option<Release> {
        self.clusters.take_released()
    }
}
