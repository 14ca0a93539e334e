//! CTAs on an SM: how they come and go, what they have issued, and which of them pause when fewer
//! may issue than are resident.

use super::scheduler::ResidentCta;
use super::warp::Warp;
use super::{Code, Sm, bits};
use std::sync::Arc;
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
}

/// A CTA that has ended on an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CtaEnd {
    pub kernel: u32,
    pub cta: u32,
    pub sm: u32,
    pub cycle: u64,
    /// Warp instructions that it issued.
    pub issued: u64,
}

/// A resident CTA.
pub(super) struct Cta {
    pub kernel: u32,
    pub index: u32,
    pub number: u32,
    /// CTAs that came to the SM before it.
    pub age: u64,
    /// Warp instructions of its warps that have ended.
    pub issued: u64,
    /// Warps that have not ended.
    pub live: u32,
    /// Warps that wait at a barrier, by slot.
    pub waiting: u64,
    /// Its warp slots.
    pub slots: u64,
}

impl Sm {
    /// Hands the SM a CTA; it starts at the SM's next step.
    pub fn launch(&mut self, launch: CtaLaunch) {
        self.launches.push_back(launch);
    }

    /// Takes the first of the CTAs that have ended.
    pub fn take_ended(&mut self) -> Option<CtaEnd> {
        self.ended.pop_front()
    }

    pub(super) fn start_ctas(&mut self, cycle: u64) -> Result<(), TraceError> {
        while let Some(launch) = self.launches.pop_front() {
            self.start_cta(&launch, cycle)?;
        }
        Ok(())
    }

    fn start_cta(&mut self, launch: &CtaLaunch, cycle: u64) -> Result<(), TraceError> {
        if launch.flush {
            self.memory.reset_l1(launch.l1_bytes);
        }
        let entry = &launch.chunk.ctas()[launch.cta_in_chunk];
        let slot =
            self.ctas.iter().position(Option::is_none).expect("a free CTA slot was promised");
        let live = entry.warps.len() as u32;
        let slots = self.free_slots(live);
        self.taken |= slots;
        let CtaLaunch { kernel, cta: index, number, .. } = *launch;
        self.ctas[slot] = Some(Cta {
            kernel,
            index,
            number,
            age: self.result.ctas,
            issued: 0,
            live,
            waiting: 0,
            slots,
        });
        self.result.ctas += 1;
        self.choose_paused();
        let places = bits(slots).zip(&entry.warps).map(|(place, warp)| (place, warp.records));
        let places: Vec<(u32, u32)> = places.collect();
        self.policy.launched(&ResidentCta { slot: slot as u32, warps: &places });
        for (index, (warp, (place, _))) in entry.warps.iter().zip(places).enumerate() {
            let cursor = launch.chunk.warp(launch.cta_in_chunk, index);
            let warp = Warp::new(Arc::clone(&launch.code), cursor, slot as u32, warp.warp_in_cta);
            self.start_warp(place, warp, cycle)?;
        }
        if live == 0 {
            self.end_cta(slot);
        }
        Ok(())
    }

    /// The lowest free warp slots in a row for a CTA of `warps`, or any where none are in a row.
    fn free_slots(&self, warps: u32) -> u64 {
        let all = |n: usize| u64::MAX.checked_shr(64 - n as u32).unwrap_or(0);
        let free = all(self.warps.len()) & !self.taken;
        let row = all(warps as usize);
        let places = 0..=(self.warps.len() - warps as usize);
        if let Some(at) = places.into_iter().find(|&at| free >> at & row == row) {
            return row << at;
        }
        assert!(free.count_ones() >= warps, "free warp slots were promised");
        let lowest = |free: &u64| Some(free & (free - 1)).filter(|&rest| rest != 0);
        let rest = std::iter::successors(Some(free), lowest).nth(warps as usize).unwrap_or(0);
        free & !rest
    }

    pub(super) fn end_cta(&mut self, slot: usize) {
        let cta = self.ctas[slot].take().expect("the CTA is present");
        self.taken &= !cta.slots;
        self.choose_paused();
        self.ended.push_back(CtaEnd {
            kernel: cta.kernel,
            cta: cta.index,
            sm: u32::from(self.id),
            cycle: self.cycle,
            issued: cta.issued,
        });
    }

    /// Warp instructions that each CTA of a kernel on this SM has issued.
    pub fn issued_by_ctas(&self, kernel: u32) -> Vec<u64> {
        let issued = |slot: u32| self.warps[slot as usize].as_ref().map_or(0, |warp| warp.index);
        let of_cta = |cta: &Cta| cta.issued + bits(cta.slots).map(issued).sum::<u64>();
        self.ctas.iter().flatten().filter(|cta| cta.kernel == kernel).map(of_cta).collect()
    }

    /// Sets the most CTAs that may issue from the next step on, at least 1; whether that is a
    /// change.
    pub fn limit_running(&mut self, ctas: u32) -> bool {
        if self.running_limit == ctas {
            return false;
        }
        self.running_limit = ctas;
        self.choose_paused();
        true
    }

    /// The CTAs launched last pause, as many as there are beyond the limit.
    fn choose_paused(&mut self) {
        if self.running_limit == u32::MAX {
            return;
        }
        let mut ctas: Vec<(u64, u64)> =
            self.ctas.iter().flatten().map(|cta| (cta.age, cta.slots)).collect();
        ctas.sort_unstable();
        let beyond = ctas.iter().skip(self.running_limit as usize);
        self.paused = beyond.fold(0, |paused, &(_, slots)| paused | slots);
    }
}
