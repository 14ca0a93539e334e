//! CTAs that end early: each warp with the record that it is at.

use super::*;
use warpmem_testing::{barrier, barrier_arrive, barrier_of_warps, cluster_arrive, cluster_wait};
use warpmem_testing::{compute, exit, fence, load, machine, memory};
use warpmem_trace::OpClass::Integer;
use warpmem_trace::{Mbarrier, Space};

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

/// One waits for its cluster, for which another has not arrived that waits for a third: that one ends.
#[test]
fn those_who_wait_for_warps_that_never_come_go_on_with_the_end() {
    let waits_for_the_next = [
        vec![cluster_arrive(), cluster_wait(), exit()],
        vec![barrier_of_warps(1, 2), cluster_arrive(), exit()],
        [steps(4), vec![barrier_arrive(1, 2)]].concat(),
    ];
    let outcome = run_until(vec![waits_for_the_next.to_vec()], START + 20);
    let next = START + 21;
    assert_eq!((outcome.issues_of(0)[2], outcome.issues_of(1)[1]), (next, next + 1));
    assert_eq!(outcome.issues_of(1).len(), 2, "the record that it was at");
    assert_eq!(outcome.issues_of(2).len(), 4);
}

/// The other CTA of the cluster, on another SM, does not start before the end.
#[test]
fn nobody_begins_to_wait_for_others_after_the_end() {
    let work = vec![compute(Integer, &[]); 30];
    let waits = [
        [work.clone(), vec![barrier_of_warps(1, 2)]].concat(),
        [vec![cluster_arrive()], work.clone(), vec![cluster_wait()]].concat(),
        vec![load(&[0])],
    ];
    let mut rig = Rig::new(&machine(&["sm.schedulers=4", "l1.latency=30"]), Below::default());
    rig.launch(&trace(&[TestKernel::new(vec![waits.to_vec()])]), START);
    rig.launches[0].1.cluster = Some(Arc::from([SmId(0), SmId(1)]));
    rig.end_early(START + 5);
    let outcome = rig.run();
    let last_issue = |warp| *outcome.issues_of(warp).last().unwrap();
    for row in &outcome.warps {
        let after = if row.warp_in_cta == 2 { MISS } else { PIPELINE };
        assert_eq!(row.end_cycle, last_issue(row.warp_in_cta) + after, "{row:?}");
    }
    assert_eq!(outcome.warps.len(), 3);
}

/// Two mbarriers for two warps each: one warp waits at both when the kernel ends, another begins to after it.
#[test]
fn nobody_waits_at_mbarriers_after_the_end() {
    let both = |kind, operation| {
        memory(kind, Space::Shared, &[0, 8]).with(|i| i.mbarrier = Some(operation))
    };
    let init = both(Kind::Store, Mbarrier::Init { arrivals: 2 });
    let wait = || both(Kind::Load, Mbarrier::Wait { parity: false });
    let works = [vec![barrier(0)], vec![compute(Integer, &[]); 100]].concat();
    let warps = vec![
        vec![init, fence(), barrier(0), wait(), exit()],
        [works.clone(), vec![wait()]].concat(),
        works,
    ];
    let mut rig = Rig::new(&machine(&["sm.schedulers=4"]), Below::default());
    rig.launch(&trace(&[TestKernel::new(vec![warps])]), START);
    rig.end_early(START + 100);
    let outcome = rig.run();
    assert!(outcome.issues_of(0)[3] < START + 50, "it waits");
    assert_eq!(outcome.issues_of(0)[4], START + 101);
    assert_eq!(outcome.issues_of(1).len(), 1 + 100 + 1);
}
