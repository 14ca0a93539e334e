//! Early termination: each warp ends with its current record.

use super::*;
use crate::testing::machine;
use warpmem_testing::{barrier, barrier_arrive, barrier_of_warps, cluster_arrive, cluster_wait};
use warpmem_testing::{compute, exit, fence, load, memory};
use warpmem_trace::OpClass::Integer;
use warpmem_trace::{Mbarrier, Space};

/// Runs CTAs and terminates their kernel after the SM's step of `cycle`.
fn run_until(ctas: Vec<Vec<WarpSteps>>, cycle: u64) -> Outcome {
    let mut rig = Rig::new(&machine(&[]), MemoryStub::default());
    rig.launch(&trace(&[TestKernel::new(ctas)]), START);
    rig.end_early(cycle);
    rig.run()
}

fn steps(loads: u64) -> WarpSteps {
    (0..loads).flat_map(|n| [compute(Integer, &[]), load(&[n * 128]).used_after(0)]).collect()
}

#[test]
fn the_current_record_of_a_warp_is_its_last() {
    let warp = steps(5);
    let whole = run(&machine(&[]), vec![warp.clone()]).issues_of(0);
    // The second load has issued; the current record is the third load's.
    let early = run_until(vec![vec![warp.clone()]], whole[3]);
    assert_eq!(early.issues_of(0), whole[..6]);
    assert_eq!(early.ended[0].issued, Issued { warp: 6, thread: 3 * (32 + 1) });
    assert_eq!(early.loads.len(), 3, "loads in flight return");
    // One cycle earlier, the current record is the second.
    let earlier = run_until(vec![vec![warp]], whole[3] - 1);
    assert_eq!(earlier.issues_of(0), whole[..4]);
}

#[test]
fn barriers_do_not_wait_for_terminated_warps() {
    let waits = vec![barrier(0), compute(Integer, &[])];
    let works = [steps(4), vec![barrier(0)]].concat();
    let outcome = run_until(vec![vec![waits, works]], START + 20);
    assert_eq!(outcome.ended.len(), 1);
    assert_eq!(
        outcome.issues_of(1).len(),
        4,
        "terminated at the second load, waiting for the first"
    );
}

#[test]
fn other_kernels_are_unaffected() {
    let mut rig = Rig::new(&machine(&[]), MemoryStub::default());
    rig.launch(&trace(&[TestKernel::new(vec![vec![steps(3)]; 2])]), START);
    rig.launches[1].1.kernel = 1;
    rig.end_early(START);
    let outcome = rig.run();
    assert_eq!((outcome.issues_of(0).len(), outcome.issues_of(1).len()), (2, 6));
}

/// Warp 0 waits for its cluster, in which warp 1 has not arrived, which waits for warp 2, which is
/// terminated.
#[test]
fn termination_releases_warps_waiting_for_other_warps() {
    let waits_for_the_next = [
        vec![cluster_arrive(), cluster_wait(), exit()],
        vec![barrier_of_warps(1, 2), cluster_arrive(), exit()],
        [steps(4), vec![barrier_arrive(1, 2)]].concat(),
    ];
    let outcome = run_until(vec![waits_for_the_next.to_vec()], START + 20);
    let next = START + 21;
    assert_eq!((outcome.issues_of(0)[2], outcome.issues_of(1)[1]), (next, next + 1));
    assert_eq!(outcome.issues_of(1).len(), 2, "its current record");
    assert_eq!(outcome.issues_of(2).len(), 4);
}

/// The other CTA of the cluster, on another SM, does not start before termination.
#[test]
fn no_warp_waits_for_others_after_termination() {
    let work = vec![compute(Integer, &[]); 30];
    let waits = [
        [work.clone(), vec![barrier_of_warps(1, 2)]].concat(),
        [vec![cluster_arrive()], work.clone(), vec![cluster_wait()]].concat(),
        vec![load(&[0])],
    ];
    let mut rig = Rig::new(&machine(&["sm.schedulers=4", "l1.latency=30"]), MemoryStub::default());
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

/// Two mbarriers for two warps each: one warp waits at both at termination, another reaches its
/// wait later.
#[test]
fn no_warp_waits_at_mbarriers_after_termination() {
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
    let mut rig = Rig::new(&machine(&["sm.schedulers=4"]), MemoryStub::default());
    rig.launch(&trace(&[TestKernel::new(vec![warps])]), START);
    rig.end_early(START + 100);
    let outcome = rig.run();
    assert!(outcome.issues_of(0)[3] < START + 50, "waiting");
    assert_eq!(outcome.issues_of(0)[4], START + 101);
    assert_eq!(outcome.issues_of(1).len(), 1 + 100 + 1);
}

#[test]
fn a_cta_that_has_not_started_ends_without_an_instruction() {
    let mut rig = Rig::new(&machine(&[]), MemoryStub::default());
    rig.launch(&trace(&[TestKernel::new(vec![vec![steps(3)]; 2])]), START);
    for (start, (_, cta)) in [START, START + 500].into_iter().zip(std::mem::take(&mut rig.launches))
    {
        rig.sm.launch(cta, CoreCycle::new(start));
    }
    rig.end_early(START);
    let outcome = rig.run();
    let issued: Vec<u64> = outcome.ended.iter().map(|end| end.issued.warp).collect();
    assert_eq!((outcome.ended[0].cta, outcome.ended[0].cycle.number()), (1, START + 1));
    assert_eq!(issued, [0, 2]);
}
