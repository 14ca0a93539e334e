//! Reductions over all threads of a CTA.

use super::super::halves::halvings;
use super::super::prelude::*;

/// Warps per CTA.
pub const WARPS: u32 = 4;
/// Threads per CTA.
pub const THREADS: u32 = 32 * WARPS;

/// A thread's position in its CTA.
pub struct Cta<'w> {
    w: &'w Warp,
    pub warp: Lanes<'w, u32>,
    pub lane: Lanes<'w, u32>,
}

impl<'w> Cta<'w> {
    pub fn new(w: &'w Warp, thread: Lanes<'w, u32>) -> Cta<'w> {
        Cta { w, warp: thread >> 5, lane: thread & 31 }
    }

    /// Reduces the CTA's values by `with` and broadcasts the result: over the lanes that are
    /// `group` apart in each warp, then over the warps through shared memory from `first` on.
    pub async fn fold(
        &self,
        value: Var<'w, f32>,
        group: u32,
        (red_smem, first): (Shared<f32>, u32),
        with: fn(Lanes<'w, f32>, Lanes<'w, f32>) -> Lanes<'w, f32>,
    ) -> Lanes<'w, f32> {
        let fold = |mask| value.set(with(value.get().shuffle_xor(mask), value.get()));
        halvings(16).filter(|&mask| mask as u32 >= group).for_each(fold);
        self.w.when(self.lane.eq(0), || red_smem.at(self.warp).offset(first).store(&value));
        self.w.barrier().await;
        self.w.when(self.lane.lt(WARPS), || {
            value.set(red_smem.at(self.lane).offset(first).load());
        });
        halvings(WARPS / 2).for_each(fold);
        value.get().shuffle(0)
    }
}
