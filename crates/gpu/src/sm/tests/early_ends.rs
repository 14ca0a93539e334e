//! CTAs that end early: each warp with the record that it is at.

use super::*;
use warpmem_testing::{barrier, compute, load, machine};
use warpmem_trace::OpClass::Integer;

/// CTAs that start together on an SM that is told to end them: after its step of a cycle.
fn run_until(ctas: Vec<Vec<WarpSteps>>, cycle: u64) -> Outcome {
    let mut rig = Rig::new(&machine(&[]), Below::default());
    rig.launch(&trace(&[TestKernel::new(ctas)]), START);
    rig.end_early(cycle);
    rig.run()
}

fn steps(loads: u64) -> WarpSteps {
    (0..loads).flat_map(|n| [compute(Integer, &[]), load(&[n * 128]).used_after(0)]).collect()
}

#[test]
fn the_record_that_a_warp_is_at_is_its_last() {
    let warp = steps(5);
    let whole = run(&machine(&[]), vec![warp.clone()]).issues_of(0);
    // The second load has issued; the warp is at the record of the third.
    let early = run_until(vec![vec![warp.clone()]], whole[3]);
    assert_eq!(early.issues_of(0), whole[..6]);
    assert_eq!(early.ended[0].issued, Issued { warp: 6, thread: 3 * (32 + 1) });
    assert_eq!(early.loads.len(), 3, "what was sent comes back");
    // A cycle before, it is at the second.
    let earlier = run_until(vec![vec![warp]], whole[3] - 1);
    assert_eq!(earlier.issues_of(0), whole[..4]);
}

#[test]
fn a_warp_that_ends_early_is_not_awaited_at_a_barrier() {
    let waits = vec![barrier(0), compute(Integer, &[])];
    let works = [steps(4), vec![barrier(0)]].concat();
    let outcome = run_until(vec![vec![waits, works]], START + 20);
    assert_eq!(outcome.ended.len(), 1);
    assert_eq!(outcome.issues_of(1).len(), 4, "it waits for the first load, at the second");
}

#[test]
fn other_kernels_go_on() {
    let mut rig = Rig::new(&machine(&[]), Below::default());
    rig.launch(&trace(&[TestKernel::new(vec![vec![steps(3)]; 2])]), START);
    rig.launches[1].1.kernel = 1;
    rig.end_early(START);
    let outcome = rig.run();
    assert_eq!((outcome.issues_of(0).len(), outcome.issues_of(1).len()), (2, 6));
}
