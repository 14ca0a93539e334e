//! Launch of clusters: the resources of all CTAs are allocated at once, and each CTA starts in the
//! first cycle in which its SM, and the whole GPU, may start one.

use super::{Dispatcher, Launch};
use crate::cta::clusters::Release;
use crate::sm::{ClusterCta, CtaEnd, Issued};
use std::collections::VecDeque;
use warpmem_sim::CoreCycle;

impl Dispatcher {
    /// Launches a CTA in `cycle`, or holds it if its SM or the GPU has started its CTAs of this
    /// cycle.
    pub(super) fn launch(
        &mut self,
        launch: Launch,
        cycle: CoreCycle,
        launches: &mut VecDeque<Launch>,
    ) {
        let sm = self.sms.logical(launch.sm);
        if self.sms.may_start(sm) && self.rate.allows(cycle) {
            self.sms.start(sm);
            self.rate.start(cycle);
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
