//! Warp schedulers: which ready warp issues next.

mod gto;
mod lrr;
// The example of docs/adding-a-policy.md.
#[cfg(test)]
#[path = "../../../docs/examples/strided.rs"]
mod strided;

use crate::machine::Sm;
use crate::registry::{Entry, Registry};

/// What a warp scheduler sees of its SM.
pub struct WarpView<'a> {
    /// Launch order of the warp in each slot: smaller is older.
    pub ages: &'a [u64],
}

/// Chooses among the warps of one scheduler of one SM.
pub trait WarpScheduler: Send {
    /// The warp slot that issues now, one of `candidates`: a bit per slot whose next instruction has its
    /// operands and finds room in its unit. Never empty. Called once per issue.
    fn pick(&mut self, candidates: u64, view: &WarpView) -> u32;

    /// The warp in `slot` has ended; another may take the slot.
    fn retired(&mut self, _slot: u32) {}
}

/// Every warp scheduler.
pub static WARP_SCHEDULERS: Registry<dyn WarpScheduler, Sm> =
    Registry { slot: "warp_scheduler", entries: &[lrr::ENTRY, gto::ENTRY] };

type WarpEntry = Entry<dyn WarpScheduler, Sm>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheduler_picks_a_candidate() {
        let presets = crate::machine::load("li2015", &[]).unwrap();
        let ages: Vec<u64> = (0..64).map(|slot| (slot * 37) % 64).collect();
        let view = WarpView { ages: &ages };
        for name in WARP_SCHEDULERS.names() {
            let mut scheduler = WARP_SCHEDULERS.build(name, &presets.sm).unwrap();
            let mut candidates = 0x8421_0000_0000_1248u64;
            for round in 0..1000 {
                let pick = scheduler.pick(candidates, &view);
                assert!(candidates >> pick & 1 == 1, "{name}");
                candidates = candidates.rotate_left(round % 7) | 1 << (round % 64);
            }
        }
    }

    #[test]
    fn the_documented_example_is_built_with_its_parameter() {
        let examples = Registry { slot: "warp_scheduler", entries: &[strided::ENTRY] };
        let machine = crate::machine::load("li2015", &[]).unwrap();
        let view = WarpView { ages: &[] };
        let mut scheduler = examples.build("strided(stride=3)", &machine.sm).unwrap();
        let order: Vec<u32> = (0..4).map(|_| scheduler.pick(u64::MAX, &view)).collect();
        assert_eq!(order, [0, 3, 6, 9]);
        assert!(examples.build("strided(strides=3)", &machine.sm).is_err());
    }
}
