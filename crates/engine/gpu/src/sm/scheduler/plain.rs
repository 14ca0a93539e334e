//! Policies that are asked in plain numbers.

use super::{CtaSlot, ResidentCta, WarpScheduler, WarpView};
use warpmem_sim::WarpSlot;

/// The slot that issues.
pub fn pick(policy: &mut dyn WarpScheduler, candidates: u64, view: &WarpView) -> Option<u16> {
    policy.pick(candidates, view).map(|slot| slot.0)
}

/// A CTA comes into `slot`, with warps in these slots, each with so many records.
pub fn launch(policy: &mut dyn WarpScheduler, slot: u32, warps: &[(u16, u32)]) {
    let warps: Vec<_> = warps.iter().map(|&(slot, records)| (WarpSlot(slot), records)).collect();
    policy.launched(&ResidentCta { slot: CtaSlot(slot), warps: &warps });
}

/// The warp in `slot` ends.
pub fn retire(policy: &mut dyn WarpScheduler, slot: u16) {
    policy.retired(WarpSlot(slot));
}
