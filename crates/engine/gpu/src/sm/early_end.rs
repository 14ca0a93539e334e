//! The end of a kernel before its time (`run.launch_instructions`). Each of its warps ends with the record
//! that it is at, and none waits for others any longer: they may have ended before they came.

use super::Sm;
use warpmem_sim::{CoreCycle, WarpSlot};

impl Sm {
    /// Ends the CTAs of a kernel, each of their warps with the record that it is at. Whether any goes on in
    /// the next step that has waited for others.
    pub fn end_early(&mut self, kernel: u32) -> bool {
        for cta in self.residents.of_kernel_mut(kernel) {
            cta.ends_early = true;
            self.given_up |= cta.barriers.give_up() | cta.cluster.give_up();
            for slot in cta.mbarriers.give_up().flat_map(WarpSlot::each) {
                self.given_up |= slot.bit();
                let warp = self.warps[slot.index()].as_mut().expect("a warp that waits is present");
                warp.held -= 1;
            }
            for slot in WarpSlot::each(cta.slots) {
                if let Some(warp) = &mut self.warps[slot.index()] {
                    warp.end_early();
                }
            }
        }
        self.given_up != 0
    }

    /// Those go on that have waited for others when their kernel ended.
    pub(super) fn go_on_alone(&mut self, cycle: CoreCycle) {
        let warps = std::mem::take(&mut self.given_up);
        self.leave_barrier(warps, cycle, cycle);
    }
}
