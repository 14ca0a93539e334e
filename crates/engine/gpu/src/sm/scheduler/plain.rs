//! Test helpers that drive a policy with plain integers.

use super::{CtaSlot, ResidentCta, WarpScheduler, WarpView};
use warpmem_sim::WarpSlot;

/// Picks a slot.
pub fn pick(policy: &mut dyn WarpScheduler, candidates: u64, view: &WarpView) -> Option<u16> {
    policy.pick(candidates, view).map(|slot| slot.0)
}

/// Launches a CTA in `slot` with (warp slot, records) for each warp.
pub fn launch(policy: &mut dyn WarpScheduler, slot: u32, warps: &[(u16, u32)]) {
    let warps: Vec<_> = warps.iter().map(|&(slot, records)| (WarpSlot(slot), records)).collect();
    policy.launched(&ResidentCta { slot: CtaSlot(slot), warps: &warps });
}

/// Retires the warp in `slot`.
pub fn retire(policy: &mut dyn WarpScheduler, slot: u16) {
    policy.retired(WarpSlot(slot));
}
