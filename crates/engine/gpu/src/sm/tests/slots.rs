//! Allocation of warp slots to CTAs.

use super::*;
use crate::testing::machine;
use warpmem_testing::{compute, load};
use warpmem_trace::OpClass::Integer;

/// A warp that retires a few cycles after its launch.
fn short() -> WarpSteps {
    vec![compute(Integer, &[])]
}

/// A warp that retires when its load returns.
fn long() -> WarpSteps {
    vec![load(&[0])]
}

/// Returns the slots in issue order, older warps first, of one-instruction warps of CTAs that
/// start the given number of cycles after [`START`].
fn slots(overrides: &[&str], ctas: Vec<(u64, Vec<WarpSteps>)>) -> Vec<u32> {
    let base = ["l1.latency=30", "policy.warp_scheduler=gto"];
    let mut rig = Rig::new(&machine(&[&base, overrides].concat()), MemoryStub::default());
    for (start, warps) in ctas {
        rig.launch(&trace(&[TestKernel::new([warps])]), START + start);
    }
    rig.run().order()
}

#[test]
fn a_cta_keeps_its_slots_until_its_last_warp_ends() {
    let ctas = vec![
        (0, vec![short(), long()]),
        (MISS - 1, vec![short()]),
        // The load of warp 1, issued in cycle 1, returns and its CTA ends in cycle MISS + 1.
        (MISS + 2, vec![short(), short()]),
    ];
    assert_eq!(slots(&[], ctas), [0, 1, 2, 0, 1]);
}

#[test]
fn warps_of_a_cta_take_adjacent_slots_if_available() {
    // When the last CTA starts, the first has ended and the second has not.
    let pair = || vec![short(), short()];
    let ctas = |second| vec![(0, vec![short()]), (second, vec![long()]), (20, pair())];
    assert_eq!(slots(&[], ctas(0)), [0, 1, 2, 3]);
    assert_eq!(slots(&[], ctas(10)), [0, 0, 1, 2], "the lowest adjacent slots");
    let full = ["sm.max_warps=3", "sm.max_threads=96"];
    assert_eq!(slots(&full, ctas(0)), [0, 1, 0, 2], "any free slots otherwise");
}
