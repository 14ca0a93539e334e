//! Launch of clusters: the resources of all CTAs are allocated at once, and each CTA starts in the
//! first cycle in which its SM may start one.

use super::{Dispatcher, Kernel, Launch};
use crate::cta::clusters::Release;
use crate::cta::residency::FreeResources;
use crate::sm::{ClusterCta, CtaEnd, Issued};
use std::collections::VecDeque;
use warpmem_sim::{CoreCycle, SmId};

impl Dispatcher {
    /// Returns the SMs of a cluster's CTAs by rank, starting at `first`: the SMs of its GPC in
    /// order, wrapping around while they have room.
    pub(super) fn sms_of_cluster(&self, kernel: usize, first: SmId) -> Vec<SmId> {
        let Kernel { needs, cluster, .. } = &self.kernels[kernel];
        let gpcs = self.gpcs.expect("a kernel with clusters needs them");
        let start = self.physical_sm(first);
        let gpc = gpcs.sms(gpcs.of(start));
        let order = (start.index()..gpc.end).chain(gpc.start..start.index());
        let mut free: Vec<(SmId, FreeResources)> = order
            .map(|sm| self.logical_sm(SmId::new(sm)))
            .map(|sm| (sm, self.free[sm.index()]))
            .collect();
        let mut sms = Vec::with_capacity(*cluster as usize);
        while sms.len() < *cluster as usize {
            let left = *cluster as usize - sms.len();
            let with_room = free.iter_mut().filter(|(_, room)| room.holds(needs, 1));
            sms.extend(with_room.take(left).map(|(sm, room)| {
                room.take(needs);
                *sm
            }));
        }
        sms
    }

    /// Launches a CTA, or holds it if its SM has started its CTAs of this cycle.
    pub(super) fn launch(&mut self, launch: Launch, launches: &mut VecDeque<Launch>) {
        let sm = self.logical_sm(launch.sm).index();
        if self.started[sm] < self.launches_per_cycle {
            self.started[sm] += 1;
            launches.push_back(launch);
        } else {
            self.held.push_back(launch);
        }
    }

    /// Drops the held CTAs of a kernel; the kernel ends with its last CTA.
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

    /// Records that all warps of a CTA have arrived at the barrier of its cluster.
    pub fn cta_arrived(&mut self, cta: ClusterCta) {
        self.clusters.arrive(cta);
    }

    /// Takes the next CTA released from the barrier of its cluster.
    pub fn take_released(&mut self) -> Option<Release> {
        self.clusters.take_released()
    }
}
