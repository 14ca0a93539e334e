//! Resident CTAs of an SM: launch, end, allocation of warp slots, and pausing.

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

/// A CTA dispatched to an SM.
pub struct CtaLaunch {
    /// Index of the kernel in the trace.
    pub kernel: u32,
    /// Index of the CTA in the kernel.
    pub cta: u32,
    /// Number of the CTA in the trace; see [`warpmem_sim::Request::cta`].
    pub number: u32,
    pub code: Arc<Code>,
    pub chunk: Arc<Chunk>,
    pub cta_in_chunk: usize,
    /// L1 capacity in bytes while this kernel runs; the cache is flushed if `flush` is set.
    pub l1_bytes: u32,
    pub flush: bool,
    /// SMs of its cluster's CTAs, by rank; none without a cluster.
    pub cluster: Option<Arc<[SmId]>>,
}

/// A CTA that has ended on an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CtaEnd {
    pub kernel: u32,
    pub cta: u32,
    pub sm: SmId,
    pub cycle: CoreCycle,
    /// Instructions issued by the CTA.
    pub issued: Issued,
}

/// Warp instructions and thread instructions.
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
    /// Number of CTAs launched on the SM before it.
    pub age: u64,
    /// Instructions of its retired warps.
    pub issued: Issued,
    /// Warps that have not retired.
    pub live: u32,
    /// Warp slots of the CTA.
    pub slots: u64,
    pub barriers: Barriers,
    pub cluster: Cluster,
    pub mbarriers: Mbarriers,
    /// Its kernel was terminated: none of its warps waits for others.
    pub is_terminated: bool,
}

/// A dispatched CTA that has not started.
struct Pending {
    launch: CtaLaunch,
    /// Cycle of its start.
    at: CoreCycle,
    /// Its kernel was terminated: it ends without starting.
    is_terminated: bool,
}

/// Dispatched, resident and ended CTAs of an SM.
pub(super) struct Residents {
    /// In the order of their starts.
    launches: VecDeque<Pending>,
    ctas: Vec<Option<Cta>>,
    ended: VecDeque<CtaEnd>,
    /// Number of warp slots, and slots taken by resident CTAs.
    slots: u32,
    taken: u64,
    /// Number of CTAs that may issue, and warp slots of the paused others.
    limit: u32,
    paused: u64,
    /// Cycles without a resident CTA up to the last launch on an empty SM, and the first cycle
    /// after the last end of a CTA.
    empty_cycles: u64,
    empty_since: CoreCycle,
}

impl Residents {
    /// Creates an empty SM with `ctas` CTA slots and `warps` warp slots.
    pub fn new(ctas: u32, warps: u32) -> Residents {
        Residents {
            launches: VecDeque::new(),
            ctas: (0..ctas).map(|_| None).collect(),
            ended: VecDeque::new(),
            slots: warps,
            taken: 0,
            limit: u32::MAX,
            paused: 0,
            empty_cycles: 0,
            empty_since: CoreCycle::ZERO,
        }
    }

    /// Takes the next CTA that starts by `cycle`.
    fn take_launch(&mut self, cycle: CoreCycle) -> Option<Pending> {
        if self.next_start() <= cycle { self.launches.pop_front() } else { None }
    }

    /// Makes the pending CTAs of a kernel end without starting, at the next step. Returns whether
    /// there are any.
    pub fn terminate_pending(&mut self, kernel: u32) -> bool {
        let pending = std::mem::take(&mut self.launches).into_iter();
        let (mut ended, others): (Vec<Pending>, Vec<Pending>) =
            pending.partition(|pending| pending.launch.kernel == kernel);
        for pending in &mut ended {
            (pending.at, pending.is_terminated) = (CoreCycle::ZERO, true);
        }
        let ends_any = !ended.is_empty();
        self.launches = ended.into_iter().chain(others).collect();
        ends_any
    }

    /// Counts the cycles before `cycle` in which no CTA was resident, before CTAs start in it.
    fn end_empty_cycles(&mut self, cycle: CoreCycle) {
        if self.ctas.iter().all(Option::is_none) {
            self.empty_cycles += cycle.since(self.empty_since);
        }
    }

    /// Returns the number of cycles before `cycle` with resident CTAs.
    #[inline]
    pub fn occupied_cycles(&self, cycle: CoreCycle) -> u64 {
        cycle.number() - self.empty_cycles
    }

    /// Returns the cycle in which the next dispatched CTA starts, or never.
    #[inline]
    pub fn next_start(&self) -> CoreCycle {
        self.launches.front().map_or(CoreCycle::NEVER, |pending| pending.at)
    }

    /// Adds a CTA of `live` warps, launched after `age` others; returns its CTA slot and its warp
    /// slots.
    pub fn add(&mut self, launch: &CtaLaunch, live: u32, age: u64) -> (CtaSlot, u64) {
        let free = self.ctas.iter().position(Option::is_none);
        let slot = CtaSlot::new(free.expect("the dispatcher reserved a CTA slot"));
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
            is_terminated: false,
        });
        self.choose_paused();
        (slot, slots)
    }

    /// Allocates the lowest adjacent free warp slots for a CTA of `warps`, or any free slots if no
    /// run is long enough.
    fn free_slots(&self, warps: u32) -> u64 {
        let all = |n: u32| u64::MAX.checked_shr(64 - n).unwrap_or(0);
        let free = all(self.slots) & !self.taken;
        let row = all(warps);
        let mut positions = 0..=(self.slots - warps);
        if let Some(at) = positions.find(|&at| free >> at & row == row) {
            return row << at;
        }
        assert!(free.count_ones() >= warps, "the dispatcher reserved warp slots");
        let lowest = |free: &u64| Some(free & (free - 1)).filter(|&rest| rest != 0);
        let rest = std::iter::successors(Some(free), lowest).nth(warps as usize).unwrap_or(0);
        free & !rest
    }

    /// Whether a CTA is resident in `slot`.
    pub fn has(&self, slot: CtaSlot) -> bool {
        self.ctas[slot.index()].is_some()
    }

    /// Returns the slot of a CTA, if it is resident.
    pub fn slot_of(&self, ClusterCta { kernel, cta }: ClusterCta) -> Option<CtaSlot> {
        let is_it = |one: &Cta| one.kernel == kernel && one.index == cta;
        self.ctas.iter().position(|one| one.as_ref().is_some_and(is_it)).map(CtaSlot::new)
    }

    pub fn cta(&self, slot: CtaSlot) -> &Cta {
        self.ctas[slot.index()].as_ref().expect("the CTA is resident")
    }

    pub fn cta_mut(&mut self, slot: CtaSlot) -> &mut Cta {
        self.ctas[slot.index()].as_mut().expect("the CTA is resident")
    }

    /// Ends the CTA in `slot` on SM `sm`.
    pub fn end(&mut self, slot: CtaSlot, sm: SmId, cycle: CoreCycle) {
        let cta = self.ctas[slot.index()].take().expect("the CTA is resident");
        self.taken &= !cta.slots;
        self.choose_paused();
        self.empty_since = cycle + 1;
        let Cta { kernel, index, issued, .. } = cta;
        self.ended.push_back(CtaEnd { kernel, cta: index, sm, cycle, issued });
    }

    pub fn take_ended(&mut self) -> Option<CtaEnd> {
        self.ended.pop_front()
    }

    /// Iterates over the resident CTAs of a kernel.
    pub fn of_kernel(&self, kernel: u32) -> impl Iterator<Item = &Cta> {
        self.ctas.iter().flatten().filter(move |cta| cta.kernel == kernel)
    }

    /// Iterates over the resident CTAs of a kernel.
    pub fn of_kernel_mut(&mut self, kernel: u32) -> impl Iterator<Item = &mut Cta> {
        self.ctas.iter_mut().flatten().filter(move |cta| cta.kernel == kernel)
    }

    /// Returns the warp slots of paused CTAs.
    #[inline]
    pub fn paused(&self) -> u64 {
        self.paused
    }

    /// Limits the CTAs that may issue; returns whether the limit changed.
    pub fn limit(&mut self, ctas: u32) -> bool {
        if self.limit == ctas {
            return false;
        }
        self.limit = ctas;
        self.choose_paused();
        true
    }

    /// Pauses the most recently launched CTAs beyond the limit.
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
    /// Dispatches a CTA to the SM. It starts at the SM's step of cycle `at`, which is not before
    /// the start of earlier ones; the caller wakes the SM for it.
    pub fn launch(&mut self, launch: CtaLaunch, at: CoreCycle) {
        self.ctas.launches.push_back(Pending { launch, at, is_terminated: false });
    }

    /// Takes the next ended CTA.
    pub fn take_ended(&mut self) -> Option<CtaEnd> {
        self.ctas.take_ended()
    }

    #[inline(never)]
    pub(super) fn start_ctas(&mut self, cycle: CoreCycle) -> Result<(), TraceError> {
        while let Some(Pending { launch, is_terminated, .. }) = self.ctas.take_launch(cycle) {
            if launch.flush {
                self.memory.reset_l1(launch.l1_bytes);
            }
            if is_terminated {
                let CtaLaunch { kernel, cta, .. } = launch;
                let issued = Issued::default();
                self.ctas.ended.push_back(CtaEnd { kernel, cta, sm: self.id, cycle, issued });
            } else {
                self.ctas.end_empty_cycles(cycle);
                self.start_cta(&launch, cycle)?;
            }
        }
        Ok(())
    }

    fn start_cta(&mut self, launch: &CtaLaunch, cycle: CoreCycle) -> Result<(), TraceError> {
        let entry = &launch.chunk.ctas()[launch.cta_in_chunk];
        let live = entry.warps.len() as u32;
        let (cta, slots) = self.ctas.add(launch, live, self.result.ctas);
        self.result.ctas += 1;
        let warps =
            WarpSlot::each(slots).zip(&entry.warps).map(|(slot, warp)| (slot, warp.records));
        let warps: Vec<(WarpSlot, u32)> = warps.collect();
        self.issue.policy.launched(&ResidentCta { slot: cta, warps: &warps });
        for (index, (warp, (slot, _))) in entry.warps.iter().zip(warps).enumerate() {
            let cursor = launch.chunk.warp(launch.cta_in_chunk, index);
            let warp = Warp::new(Arc::clone(&launch.code), cursor, cta, warp.warp_in_cta);
            self.start_warp(slot, warp, cycle)?;
        }
        if live == 0 {
            self.ctas.end(cta, self.id, self.cycle);
        }
        Ok(())
    }

    /// Returns the warp instructions issued by each resident CTA of a kernel.
    pub fn issued_by_ctas(&self, kernel: u32) -> Vec<u64> {
        let issued = |slot: WarpSlot| self.warps.find(slot).map_or(0, |warp| warp.index);
        let of_cta =
            |cta: &Cta| cta.issued.warp + WarpSlot::each(cta.slots).map(issued).sum::<u64>();
        self.ctas.of_kernel(kernel).map(of_cta).collect()
    }

    /// Limits the CTAs that may issue from the next step on, at least 1; returns whether the limit
    /// changed.
    pub fn limit_running(&mut self, ctas: u32) -> bool {
        self.ctas.limit(ctas)
    }
}
