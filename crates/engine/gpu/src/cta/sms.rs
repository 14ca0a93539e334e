//! The SMs as the dispatcher sees them: free resources and resident CTAs. SMs are numbered from the
//! scheduler's first SM (`run.first_sm`).

use super::residency::{CtaNeeds, FreeResources};
use warpmem_machine::Machine;
use warpmem_sim::{Gpcs, SmId};

/// State of every SM, in the scheduler's numbering.
pub(super) struct SmTable {
    sms: Vec<SmState>,
    /// SM that the scheduler sees as SM 0.
    first: usize,
    gpcs: Option<Gpcs>,
    launches_per_cycle: u32,
    flush_between_kernels: bool,
}

#[derive(Clone, Copy)]
struct SmState {
    free: FreeResources,
    /// Resident CTAs.
    resident: u32,
    /// CTAs started in the current cycle.
    started: u32,
    /// Kernel of the last CTA launched.
    last_kernel: Option<usize>,
}

impl SmTable {
    pub fn new(machine: &Machine) -> SmTable {
        let free = FreeResources::of(&machine.sm);
        let empty = SmState { free, resident: 0, started: 0, last_kernel: None };
        SmTable {
            sms: vec![empty; machine.sm.count as usize],
            first: machine.run.first_sm as usize,
            gpcs: machine.gpcs(),
            launches_per_cycle: machine.sm.cta_launches_per_cycle,
            flush_between_kernels: machine.l1.flush_between_kernels || machine.run.cold_launches,
        }
    }

    /// Returns the number of SMs.
    pub fn len(&self) -> usize {
        self.sms.len()
    }

    /// Converts a machine's SM to the scheduler's numbering.
    pub fn logical(&self, sm: SmId) -> SmId {
        let count = self.sms.len();
        SmId::new((sm.index() + count - self.first) % count)
    }

    /// Converts an SM from the scheduler's numbering.
    pub fn physical(&self, sm: SmId) -> SmId {
        SmId::new((sm.index() + self.first) % self.sms.len())
    }

    /// Whether `ctas` CTAs fit on an SM.
    pub fn holds(&self, sm: SmId, needs: &CtaNeeds, ctas: u32) -> bool {
        self.sms[sm.index()].free.holds(needs, ctas)
    }

    /// Returns the number of CTAs that fit in the GPC of an SM.
    pub fn gpc_room(&self, sm: SmId, needs: &CtaNeeds) -> u32 {
        let (gpcs, sm) = (self.gpcs(), self.physical(sm));
        let sms = gpcs.sms(gpcs.of(sm)).map(|sm| self.logical(SmId::new(sm)));
        sms.map(|sm| self.sms[sm.index()].free.ctas(needs)).sum()
    }

    /// Returns the SMs of a cluster of `ctas` CTAs by rank, starting at `first`: the SMs of its GPC
    /// in order, wrapping around while they have room.
    pub fn of_cluster(&self, first: SmId, needs: &CtaNeeds, ctas: u32) -> Vec<SmId> {
        let (gpcs, start) = (self.gpcs(), self.physical(first));
        let gpc = gpcs.sms(gpcs.of(start));
        let order = (start.index()..gpc.end).chain(gpc.start..start.index());
        let mut free: Vec<(SmId, FreeResources)> = order
            .map(|sm| self.logical(SmId::new(sm)))
            .map(|sm| (sm, self.sms[sm.index()].free))
            .collect();
        let mut sms = Vec::with_capacity(ctas as usize);
        while sms.len() < ctas as usize {
            let left = ctas as usize - sms.len();
            let with_room = free.iter_mut().filter(|(_, free)| free.holds(needs, 1));
            sms.extend(with_room.take(left).map(|(sm, free)| {
                free.take(needs);
                *sm
            }));
        }
        sms
    }

    fn gpcs(&self) -> Gpcs {
        self.gpcs.expect("clusters run only on machines with GPCs")
    }

    /// Returns the resident CTAs of an SM.
    pub fn resident(&self, sm: SmId) -> u32 {
        self.sms[sm.index()].resident
    }

    /// Begins a cycle, in which no SM has started a CTA.
    pub fn begin_cycle(&mut self) {
        self.sms.iter_mut().for_each(|sm| sm.started = 0);
    }

    /// Whether an SM may start another CTA in this cycle.
    pub fn may_start(&self, sm: SmId) -> bool {
        self.sms[sm.index()].started < self.launches_per_cycle
    }

    /// Counts the start of a CTA in this cycle.
    pub fn start(&mut self, sm: SmId) {
        self.sms[sm.index()].started += 1;
    }

    /// Allocates the resources of a CTA of `kernel`. Returns whether the SM flushes its L1: at its
    /// first CTA, and between kernels if the machine does so.
    pub fn allocate(&mut self, sm: SmId, needs: &CtaNeeds, kernel: usize) -> bool {
        let flush_between_kernels = self.flush_between_kernels;
        let state = &mut self.sms[sm.index()];
        let flush = state
            .last_kernel
            .is_none_or(|last| flush_between_kernels && state.resident == 0 && last != kernel);
        state.free.take(needs);
        state.resident += 1;
        state.last_kernel = Some(kernel);
        flush
    }

    /// Releases the resources of an ended CTA.
    pub fn release(&mut self, sm: SmId, needs: &CtaNeeds) {
        let state = &mut self.sms[sm.index()];
        state.free.give(needs);
        state.resident -= 1;
    }
}
