//! Early termination of a kernel (`run.launch_instructions`): each warp ends with its current
//! record, and no warp waits for others, which may have ended before their arrival.

use super::Sm;
use warpmem_sim::{CoreCycle, WarpSlot};

impl Sm {
    /// Terminates the CTAs of a kernel. Returns whether the SM must be stepped in the next cycle: a
    /// warp that waited for others resumes, or a CTA ends before its start.
    pub fn end_early(&mut self, kernel: u32) -> bool {
        let ends_pending = self.ctas.terminate_pending(kernel);
        for cta in self.ctas.of_kernel_mut(kernel) {
            cta.is_terminated = true;
            self.sync.released |= cta.barriers.release_all() | cta.cluster.release_all();
            for slot in cta.mbarriers.release_all().flat_map(WarpSlot::each) {
                self.sync.released |= slot.bit();
                self.warps.get_mut(slot).held -= 1;
            }
            for slot in WarpSlot::each(cta.slots) {
                if let Some(warp) = self.warps.find_mut(slot) {
                    warp.end_early();
                }
            }
        }
        ends_pending || self.sync.released != 0
    }

    /// Resumes warps released by the early termination of their kernel.
    #[inline(never)]
    pub(super) fn resume_released(&mut self, cycle: CoreCycle) {
        let warps = std::mem::take(&mut self.sync.released);
        self.leave_barrier(warps, cycle, cycle);
    }
}
