//! CTAs on an SM: how they come and go, what they have issued, and which of them pause when fewer
//! may issue than are resident.

use super::barrier::Barriers;
use super::cluster::{Cluster, ClusterCta};
use super::mbarrier::Mbarriers;
use super::scheduler::{CtaSlot, ResidentCta};
use super::warp::Warp;
use super::{Code, Sm};
use std::collections::VecDeque;
use std::sync::Arc;
use warpmem_sim::{CoreCycle, SmId, WarpSlot};
use warpmem_trace::{Chunk, TraceError};

/// A CTA on its way to an SM.
pub struct CtaLaunch {
    /// Index of the kernel in the trace.
    pub kernel: u32,
    /// Index of the CTA in the kernel.
    pub cta: u32,
    /// Number of the CTA in the trace: see [`warpmem_sim::Request::cta`].
    pub number: u32,
    pub code: Arc<Code>,
    pub chunk: Arc<Chunk>,
    pub cta_in_chunk: usize,
    /// L1 bytes while this kernel runs; the cache is emptied if `flush` is set.
    pub l1_bytes: u32,
    pub flush: bool,
    /// The SMs of its cluster's CTAs, by rank; none if it is of no cluster.
    pub cluster: Option<Arc<[SmId]>>,
}

/// A CTA that has ended on an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CtaEnd {
    pub kernel: u32,
    pub cta: u32,
    pub sm: SmId,
    pub cycle: CoreCycle,
    /// Instructions that it issued.
    pub issued: Issued,
}

/// Instructions of warps, and of their threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Issued {
    pub warp: u64,
    pub thread: u64,
}

/// A resident CTA.
pub(super) struct Cta {
    pub kernel: u32,
    pub index: u32,
    pub number: u32,
    /// CTAs that came to the SM before it.
    pub age: u64,
    /// Instructions of its warps that have ended.
    pub issued: Issued,
    /// Warps that have not ended.
    pub live: u32,
    /// Its warp slots.
    pub slots: u64,
    pub barriers: Barriers,
    pub cluster: Cluster,
    pub mbarriers: Mbarriers,
    /// Its kernel ended before its time: none of its warps waits for others any longer.
    pub ends_early: bool,
}

/// The CTAs of an SM: those that have been launched, those that are resident, those that have
/// ended.
pub(super) struct Residents {
    launches: VecDeque<CtaLaunch>,
    ctas: Vec<Option<Cta>>,
    ended: VecDeque<CtaEnd>,
    /// Those that have arrived at the barrier of their cluster, and those whose cluster has, with the
    /// cycle in which they go on.
    pub arrivals: VecDeque<ClusterCta>,
    pub releases: VecDeque<(CoreCycle, ClusterCta)>,
    /// Warp slots of the SM, and those of resident CTAs.
    slots: u32,
    taken: u64,
    /// The most CTAs that may issue, and the warp slots of those that may not.
    limit: u32,
    paused: u64,
}

impl Residents {
    /// An SM has room for so many CTAs and warps.
    pub fn new(ctas: u32, warps: u32) -> Residents {
        Residents {
            launches: VecDeque::new(),
            ctas: (0..ctas).map(|_| None).collect(),
            ended: VecDeque::new(),
            arrivals: VecDeque::new(),
            releases: VecDeque::new(),
            slots: warps,
            taken: 0,
            limit: u32::MAX,
            paused: 0,
        }
    }

    /// A CTA comes with the next step.
    pub fn launch(&mut self, launch: CtaLaunch) {
        self.launches.push_back(launch);
    }

    pub fn take_launch(&mut self) -> Option<CtaLaunch> {
        self.launches.pop_front()
    }

    /// Whether no CTA is there.
    pub fn is_empty(&self) -> bool {
        self.ctas.iter().all(Option::is_none)
    }

    /// Whether a CTA has been launched that has not come.
    pub fn has_launches(&self) -> bool {
        !self.launches.is_empty()
    }

    /// A CTA of `live` warps comes: its slot, and its warps' slots. `age`: CTAs that came before
    /// it.
    pub fn add(&mut self, launch: &CtaLaunch, live: u32, age: u64) -> (CtaSlot, u64) {
        let free = self.ctas.iter().position(Option::is_none);
        let slot = CtaSlot::new(free.expect("a free CTA slot was promised"));
        let slots = self.free_slots(live);
        self.taken |= slots;
        let CtaLaunch { kernel, cta: index, number, .. } = *launch;
        self.ctas[slot.index()] = Some(Cta {
            kernel,
            index,
            number,
            age,
            issued: Issued::default(),
            live,
            slots,
            barriers: Barriers::default(),
            cluster: Cluster::of(launch.cluster.clone()),
            mbarriers: Mbarriers::default(),
            ends_early: false,
        });
        self.choose_paused();
        (slot, slots)
    }

    /// The lowest free warp slots in a row for a CTA of `warps`, or any where none are in a row.
    fn free_slots(&self, warps: u32) -> u64 {
        let all = |n: u32| u64::MAX.checked_shr(64 - n).unwrap_or(0);
        let free = all(self.slots) & !self.taken;
        let row = all(warps);
        let mut positions = 0..=(self.slots - warps);
        if let Some(at) = positions.find(|&at| free >> at & row == row) {
            return row << at;
        }
        assert!(free.count_ones() >= warps, "free warp slots were promised");
        let lowest = |free: &u64| Some(free & (free - 1)).filter(|&rest| rest != 0);
        let rest = std::iter::successors(Some(free), lowest).nth(warps as usize).unwrap_or(0);
        free & !rest
    }

    /// Whether there is a CTA in `slot`.
    pub fn has(&self, slot: CtaSlot) -> bool {
        self.ctas[slot.index()].is_some()
    }

    /// The slot of a CTA, if it has not ended.
    pub fn slot_of(&self, ClusterCta { kernel, cta }: ClusterCta) -> Option<CtaSlot> {
        let is_it = |one: &Cta| one.kernel == kernel && one.index == cta;
        self.ctas.iter().position(|one| one.as_ref().is_some_and(is_it)).map(CtaSlot::new)
    }

    pub fn cta(&self, slot: CtaSlot) -> &Cta {
        self.ctas[slot.index()].as_ref().expect("the CTA is present")
    }

    pub fn cta_mut(&mut self, slot: CtaSlot) -> &mut Cta {
        self.ctas[slot.index()].as_mut().expect("the CTA is present")
    }

    /// The CTA in `slot` ends on SM `sm`.
    pub fn end(&mut self, slot: CtaSlot, sm: SmId, cycle: CoreCycle) {
        let cta = self.ctas[slot.index()].take().expect("the CTA is present");
        self.taken &= !cta.slots;
        self.choose_paused();
        let Cta { kernel, index, issued, .. } = cta;
        self.ended.push_back(CtaEnd { kernel, cta: index, sm, cycle, issued });
    }

    pub fn take_ended(&mut self) -> Option<CtaEnd> {
        self.ended.pop_front()
    }

    /// The resident CTAs of a kernel, by slot.
    pub fn of_kernel(&self, kernel: u32) -> impl Iterator<Item = &Cta> {
        self.ctas.iter().flatten().filter(move |cta| cta.kernel == kernel)
    }

    /// The same, to be changed.
    pub fn of_kernel_mut(&mut self, kernel: u32) -> impl Iterator<Item = &mut Cta> {
        self.ctas.iter_mut().flatten().filter(move |cta| cta.kernel == kernel)
    }

    /// Warp slots of CTAs that may not issue.
    #[inline]
    pub fn paused(&self) -> u64 {
        self.paused
    }

    /// Sets the most CTAs that may issue; whether that is a change.
    pub fn limit(&mut self, ctas: u32) -> bool {
        if self.limit == ctas {
            return false;
        }
        self.limit = ctas;
        self.choose_paused();
        true
    }

    /// The CTAs launched last pause, as many as there are beyond the limit.
    fn choose_paused(&mut self) {
        if self.limit == u32::MAX {
            return;
        }
        let mut ctas: Vec<(u64, u64)> =
            self.ctas.iter().flatten().map(|cta| (cta.age, cta.slots)).collect();
        ctas.sort_unstable();
        let beyond = ctas.iter().skip(self.limit as usize);
        self.paused = beyond.fold(0, |paused, &(_, slots)| paused | slots);
    }
}

impl Sm {
    /// Hands the SM a CTA; it starts at the SM's next step.
    pub fn launch(&mut self, launch: CtaLaunch) {
        self.residents.launch(launch);
    }

    /// Takes the first of the CTAs that have ended.
    pub fn take_ended(&mut self) -> Option<CtaEnd> {
        self.residents.take_ended()
    }

    pub(super) fn start_ctas(&mut self, cycle: CoreCycle) -> Result<(), TraceError> {
        if self.residents.is_empty() {
            self.cycles_without_ctas += cycle.since(self.without_ctas_from);
        }
        while let Some(launch) = self.residents.take_launch() {
            self.start_cta(&launch, cycle)?;
        }
        Ok(())
    }

    fn start_cta(&mut self, launch: &CtaLaunch, cycle: CoreCycle) -> Result<(), TraceError> {
        if launch.flush {
            self.memory.reset_l1(launch.l1_bytes);
        }
        let entry = &launch.chunk.ctas()[launch.cta_in_chunk];
        let live = entry.warps.len() as u32;
        let (cta, slots) = self.residents.add(launch, live, self.result.ctas);
        self.result.ctas += 1;
        let warps =
            WarpSlot::each(slots).zip(&entry.warps).map(|(slot, warp)| (slot, warp.records));
        let warps: Vec<(WarpSlot, u32)> = warps.collect();
        self.policy.launched(&ResidentCta { slot: cta, warps: &warps });
        for (index, (warp, (slot, _))) in entry.warps.iter().zip(warps).enumerate() {
            let cursor = launch.chunk.warp(launch.cta_in_chunk, index);
            let warp = Warp::new(Arc::clone(&launch.code), cursor, cta, warp.warp_in_cta);
            self.start_warp(slot, warp, cycle)?;
        }
        if live == 0 {
            self.end_cta(cta);
        }
        Ok(())
    }

    pub(super) fn end_cta(&mut self, slot: CtaSlot) {
        self.residents.end(slot, self.id, self.cycle);
        self.without_ctas_from = self.cycle + 1;
    }

    /// Warp instructions that each CTA of a kernel on this SM has issued.
    pub fn issued_by_ctas(&self, kernel: u32) -> Vec<u64> {
        let issued =
            |slot: WarpSlot| self.warps[slot.index()].as_ref().map_or(0, |warp| warp.index);
        let of_cta =
            |cta: &Cta| cta.issued.warp + WarpSlot::each(cta.slots).map(issued).sum::<u64>();
        self.residents.of_kernel(kernel).map(of_cta).collect()
    }

    /// Sets the most CTAs that may issue from the next step on, at least 1; whether that is a
    /// change.
    pub fn limit_running(&mut self, ctas: u32) -> bool {
        self.residents.limit(ctas)
    }
}
