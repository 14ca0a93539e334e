//! Warp types in a slice, where the DRAM scheduler needs them (Ausavarungnirun et al., PACT 2015):
//! the requests that bypass the L2, and the insertion position of lines.

use crate::context::Context;
use crate::side::WarpType;
use warpmem_params::Counter;
use warpmem_sim::{Insertion, L2Cycle, RequestId, RequestKind};

#[derive(Default)]
pub(super) struct WarpCounts {
    passed_by: u64,
    inserted_oldest: u64,
    /// Samples completed here, by resulting type.
    samples: [u64; WarpType::COUNT],
}

impl WarpCounts {
    /// Counts a sample that resulted in this type.
    pub fn sampled(&mut self, kind: WarpType) {
        self.samples[kind as usize] += 1;
    }

    /// Counts the miss of a read.
    pub fn inserted(&mut self, insertion: Insertion) {
        self.passed_by += u64::from(insertion == Insertion::Nowhere);
        self.inserted_oldest += u64::from(insertion == Insertion::Oldest);
    }

    pub fn counters(&self) -> [Counter; 7] {
        let counter = |name, value| Counter { name, value };
        let [all_hit, mostly_hit, balanced, mostly_miss, all_miss] = self.samples;
        [
            counter("l2_bypasses", self.passed_by),
            counter("l2_oldest_insertions", self.inserted_oldest),
            counter("all_hit_samples", all_hit),
            counter("mostly_hit_samples", mostly_hit),
            counter("balanced_samples", balanced),
            counter("mostly_miss_samples", mostly_miss),
            counter("all_miss_samples", all_miss),
        ]
    }
}

/// Marks a request that has arrived in L2 cycle `cycle` with the current type of its warp. An
/// atomic never bypasses the cache, because it is carried out in a line.
pub(super) fn mark(id: RequestId, cycle: L2Cycle, ctx: &mut Context) {
    let Some(warps) = &ctx.side.warps else { return };
    let request = ctx.requests.get_mut(id);
    let kind = warps.of(request.warp, cycle);
    request.hit_prone = kind.is_some_and(WarpType::is_hit_prone);
    request.insertion = match kind {
        _ if matches!(request.insertion, Insertion::Asked(_)) => request.insertion,
        _ if warps.bypasses(kind) && request.kind != RequestKind::Atomic => Insertion::Nowhere,
        Some(kind) if kind.is_miss_prone() => Insertion::Oldest,
        _ => Insertion::Newest,
    };
}
