//! What a slice does with the types of warps, where the DRAM scheduler asks for them
//! (Ausavarungnirun et al., PACT 2015): which requests bypass the LLC, and at which age lines enter
//! their sets.

use super::slice::Slice;
use crate::context::Context;
use crate::side::WarpType;
use warpmem_params::Counter;
use warpmem_sim::{CacheLevel, Insertion, LlcCycle, Request, RequestId, RequestKind, Ticks};

/// What was counted.
#[derive(Default)]
pub(super) struct WarpCounts {
    passed_by: u64,
    inserted_oldest: u64,
    /// Samples completed here, by the type that they gave.
    samples: [u64; WarpType::COUNT],
}

impl WarpCounts {
    pub fn counters(&self) -> [Counter; 7] {
        let counter = |name, value| Counter { name, value };
        let [all_hit, mostly_hit, balanced, mostly_miss, all_miss] = self.samples;
        [
            counter("llc_bypasses", self.passed_by),
            counter("llc_oldest_insertions", self.inserted_oldest),
            counter("all_hit_samples", all_hit),
            counter("mostly_hit_samples", mostly_hit),
            counter("balanced_samples", balanced),
            counter("mostly_miss_samples", mostly_miss),
            counter("all_miss_samples", all_miss),
        ]
    }
}

impl Slice {
    /// Counts a read of a warp as a hit or a miss.
    pub(super) fn sample(&mut self, request: &Request, hit: bool, now: Ticks, ctx: &mut Context) {
        let (Some(counts), Some(warps)) = (&mut self.warps, &mut ctx.side.warps) else { return };
        let cycle = self.clock.cycle_of(now);
        if let Some(kind) = warps.sample(request.warp, hit, cycle) {
            counts.samples[kind as usize] += 1;
        }
    }

    /// A read has missed a line.
    pub(super) fn count_insertion(&mut self, insertion: Insertion) {
        let Some(counts) = &mut self.warps else { return };
        counts.passed_by += u64::from(insertion == Insertion::Nowhere);
        counts.inserted_oldest += u64::from(insertion == Insertion::Oldest);
    }

    /// Whether something that waits for the sector at `address` needs a line for it: an atomic.
    pub(super) fn needs_line(&self, address: u64, ctx: &Context) -> bool {
        let entry = self.cache.outstanding(address);
        let mut next = entry.map_or(RequestId::NONE, |entry| self.cache.mshr().first(entry));
        while next != RequestId::NONE {
            if ctx.requests.get(next).kind == RequestKind::Atomic {
                return true;
            }
            next = ctx.requests.next(next, CacheLevel::Llc);
        }
        false
    }
}

/// A request has arrived in LLC cycle `cycle`: it takes along the type of its warp as known now. An
/// atomic never bypasses the cache, as it is carried out in a line.
pub(super) fn mark(id: RequestId, cycle: LlcCycle, ctx: &mut Context) {
    let Some(warps) = &ctx.side.warps else { return };
    let request = ctx.requests.get_mut(id);
    let kind = warps.of(request.warp, cycle);
    request.hit_prone = kind.is_some_and(WarpType::is_hit_prone);
    request.insertion = match kind {
        _ if warps.passes_by(kind) && request.kind != RequestKind::Atomic => Insertion::Nowhere,
        Some(kind) if kind.is_miss_prone() => Insertion::Oldest,
        _ => Insertion::Newest,
    };
}
