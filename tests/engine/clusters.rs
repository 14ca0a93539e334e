//! Clusters of CTAs: placement, barrier latency, access to each other's shared memory, and
//! multicast copies.

use crate::trace::{Access, Kernel, NO_REFRESH, Step, Warp, machine, run, write};
use std::slice::from_ref;
use warpmem::cache::CacheCounts;
use warpmem::gpu::engine::Simulation;
use warpmem::gpu::results::{Discard, RunResult};
use warpmem::machine::Machine;
use warpmem_trace::{CacheOp, ClusterAddress, Kind, OpClass, Space};

const LATENCY: u64 = 20;
const BARRIER: u64 = 9;
const SHARED: u64 = 11;

/// Makes a machine of two GPCs of two SMs; each SM holds one CTA.
fn four_sms(overrides: &[&str]) -> Machine {
    let keys = [
        "sm.count=4",
        "sm.max_ctas=1",
        "sm.operand_latency=0",
        "sm.collectors=0",
        "sm.register_banks=0",
        "sm.writeback_latency=0",
        "sm.shared.latency=11",
        "cluster.gpcs=2",
        "cluster.latency=20",
        "cluster.port_bytes=32",
        "cluster.barrier_latency=9",
        "network.flit_bytes=40",
    ];
    machine("accelsim-qv100", &[&NO_REFRESH, &keys[..], overrides].concat())
}

fn address(rank: u32, offset: u32) -> u64 {
    ClusterAddress { rank, offset }.encode()
}

/// Makes an access of `lanes` lanes to words of the CTA of `rank`, `stride` bytes apart.
fn access(kind: Kind, rank: u32, lanes: u32, stride: u32) -> Access {
    let addresses = (0..lanes).map(|lane| address(rank, lane * stride)).collect();
    Access { kind, space: Space::Cluster, ..Access::load(4, addresses) }
}

/// Makes a load that depends on the previous one.
fn chained(rank: u32) -> Step {
    Step::Memory(Access { dest: Some(1), source: Some(1), ..access(Kind::Load, rank, 1, 4) })
}

/// Makes a kernel of the given clusters, whose CTAs have one warp each.
fn kernel(clusters: Vec<Vec<Warp>>) -> Kernel {
    let size = clusters[0].len() as u32;
    let ctas = clusters.into_iter().flatten().map(|warp| vec![warp]).collect();
    Kernel { cluster: Some([size, 1, 1]), ctas, ..Kernel::default() }
}

/// Repeats the steps `count` times.
fn times(count: usize, steps: &[Step]) -> Warp {
    (0..count).flat_map(|_| steps.to_vec()).collect()
}

fn meet() -> [Step; 2] {
    [Step::ClusterArrive, Step::ClusterWait]
}

/// Makes a kernel of `clusters` clusters of two CTAs of two warps that read, write, add to and copy
/// to each other's shared memory, and synchronize.
pub fn exchange(clusters: usize) -> Kernel {
    let warp = |rank: u32| -> Warp {
        let other = 1 - rank;
        let both = (0..32).map(|lane| address(lane % 2, 64 * lane)).collect();
        let copy = Access { kind: Kind::AsyncCopy, width: 400, ..access(Kind::Load, other, 1, 4) };
        let from_memory = Access::load(256, vec![1 << 12]);
        let from_memory = Access { kind: Kind::AsyncCopy, ..from_memory };
        let steps = [
            Step::Memory(access(Kind::Store, other, 32, 4)),
            Step::ClusterArrive,
            Step::Memory(Access { dest: Some(2), ..access(Kind::Load, rank, 32, 128) }),
            Step::ClusterWait,
            chained(other),
            Step::Memory(Access { space: Space::Cluster, ..Access::load(4, both) }),
            Step::Memory(Access { dest: Some(3), ..access(Kind::Atomic, other, 8, 4) }),
            Step::Memory(copy),
            Step::CopyTo(0b11, from_memory),
            Step::WaitAsync,
        ];
        steps.into_iter().chain(meet()).collect()
    };
    let ctas = (0..2 * clusters as u32).map(|cta| vec![warp(cta % 2); 2]).collect();
    Kernel { cluster: Some([2, 1, 1]), ctas, ..Kernel::default() }
}

fn cycles(machine: &Machine, kernel: Kernel) -> u64 {
    run(machine, &write(&[kernel]).trace).core_cycles
}

/// Returns the core cycles of a load from the shared memory of another SM.
pub fn load_from_other_sm(machine: &Machine) -> u64 {
    cost_of(machine, &chained(1))
}

/// Returns the bytes per core cycle that an SM loads from its partner while all SMs do the same.
pub fn bytes_from_other_sm(machine: &Machine) -> f64 {
    const WARPS: usize = 16;
    let pairs = machine.sm.count / 2;
    let with = |steps: usize| {
        let warp = |rank| times(steps, &[Step::Memory(access(Kind::Load, rank, 32, 4))]);
        let ctas = (0..2 * pairs).map(|cta| vec![warp(1 - cta % 2); WARPS]).collect();
        cycles(machine, Kernel { cluster: Some([2, 1, 1]), ctas, ..Kernel::default() })
    };
    let [half, whole] = [20, 40].map(with);
    (20 * WARPS * 128) as f64 / (whole - half) as f64
}

/// Returns the core cycles of one more step while the other CTAs of the cluster are idle.
fn cost_of(machine: &Machine, step: &Step) -> u64 {
    let with = |steps: usize| {
        let busy: Warp = times(steps, from_ref(step)).into_iter().chain(meet()).collect();
        cycles(machine, kernel(vec![vec![busy, meet().to_vec()]]))
    };
    let (few, many) = (with(10), with(30));
    assert_eq!((many - few) % 20, 0);
    (many - few) / 20
}

#[test]
fn remote_shared_load_pays_both_crossings_and_the_banks() {
    // The unit processes it in the cycle of its issue.
    let own = cost_of(&four_sms(&[]), &chained(0));
    assert_eq!(own, SHARED);
    // From the unit to the network takes a cycle, and sending takes one, in either direction.
    let remote = own + 2 * LATENCY + 3;
    assert_eq!(cost_of(&four_sms(&[]), &chained(1)), remote);
    assert_eq!(cost_of(&four_sms(&["cluster.latency=50"]), &chained(1)), remote + 60);
    let shared = Access { space: Space::Shared, ..Access::load(4, vec![0]) };
    let shared = Step::Memory(Access { dest: Some(1), source: Some(1), ..shared });
    assert_eq!(own, cost_of(&four_sms(&[]), &shared), "its own CTA is no way off");
}

#[test]
fn two_ctas_of_a_cluster_on_one_sm_need_no_network() {
    let one_sm = four_sms(&["sm.max_ctas=8", "sm.count=1", "cluster.gpcs=1"]);
    let result = run(&one_sm, &write(&[kernel(vec![vec![vec![chained(1)], vec![]]])]).trace);
    assert_eq!((result.sms[0].ctas, result.sms[0].messages), (2, 0));
    assert_eq!(cost_of(&one_sm, &chained(1)), cost_of(&one_sm, &chained(0)));
}

#[test]
fn store_bandwidth_follows_the_ports_and_load_bandwidth_the_replies() {
    for (width, expected) in [(32, 4), (16, 8), (4, 32), (128, 1)] {
        let port = format!("cluster.port_bytes={width}");
        let machine = four_sms(&[&port, "sm.atomics_stall=false"]);
        for kind in [Kind::Store, Kind::Reduction, Kind::Load] {
            let step = Step::Memory(access(kind, 1, 32, 4));
            assert_eq!(cost_of(&machine, &step), expected, "{kind:?} at {width} bytes");
        }
        // An address carries no data, and a word is read once for all lanes.
        let broadcast = Step::Memory(access(Kind::Load, 1, 32, 0));
        assert_eq!(cost_of(&machine, &broadcast), 1);
    }
    let unlimited = ["cluster.port_bytes=1", "policy.ideal=infinite-bandwidth-noc"];
    assert_eq!(cost_of(&four_sms(&unlimited), &Step::Memory(access(Kind::Store, 1, 32, 4))), 1);
}

#[test]
fn remote_bank_conflicts_take_passes_at_the_remote_banks() {
    let machine = four_sms(&["cluster.port_bytes=128"]);
    for (stride, passes) in [(4, 1), (8, 2), (16, 4), (128, 32)] {
        let step = Step::Memory(access(Kind::Load, 1, 32, stride));
        assert_eq!(cost_of(&machine, &step), passes, "{stride} bytes apart");
    }
}

/// SM 1 has bank conflicts of its own: its banks alternate between both.
#[test]
fn banks_alternate_between_messages_and_local_warps() {
    let machine = four_sms(&["cluster.port_bytes=128"]);
    let conflict = |rank| Step::Memory(access(Kind::Load, rank, 32, 128));
    let with = |own: usize, others: usize| {
        let other: Warp = times(others, &[conflict(1)]).into_iter().chain(meet()).collect();
        let own: Warp = times(own, &[conflict(1)]).into_iter().chain(meet()).collect();
        cycles(&machine, kernel(vec![vec![other, own]]))
    };
    let (both, own, others) = (with(40, 40), with(80, 0), with(0, 80));
    assert!(both.abs_diff(own) < 120 && both.abs_diff(others) < 120, "{both} {own} {others}");
}

#[test]
fn senders_share_the_bandwidth_of_one_sm() {
    let keys = ["cluster.gpcs=1"];
    let machine = four_sms(&keys);
    let store = |rank| Step::Memory(access(Kind::Store, rank, 32, 4));
    let with = |steps: usize, targets: [u32; 3]| {
        let warp = |rank: u32| times(steps, &[store(rank)]).into_iter().chain(meet()).collect();
        let mut warps: Vec<Warp> = targets.map(warp).into();
        warps.push(meet().to_vec());
        cycles(&machine, kernel(vec![warps]))
    };
    let per_step = |targets| (with(60, targets) - with(20, targets)) as f64 / 40.0;
    assert_eq!(per_step([3, 0, 1]), 4.0, "each has a partner of its own");
    assert_eq!(per_step([3, 3, 3]), 12.0);
}

/// The reply to a store signals its completion, as a fence requires.
#[test]
fn a_fence_waits_for_remote_stores() {
    let machine = four_sms(&[]);
    let round_trip = cost_of(&machine, &chained(1));
    let step = |kind| {
        let with = |steps: usize| {
            let pair = [Step::Memory(access(kind, 1, 1, 4)), Step::Fence];
            let warp: Warp = times(steps, &pair).into_iter().chain(meet()).collect();
            cycles(&machine, kernel(vec![vec![warp, meet().to_vec()]]))
        };
        (with(30) - with(10)) / 20
    };
    // The instruction after the fence issues on the reply.
    assert_eq!(step(Kind::Store), round_trip);
}

#[test]
fn the_barrier_releases_all_warps_on_the_last_arrival() {
    let machine = four_sms(&[]);
    let compute = Step::Compute { class: OpClass::Integer, dest: 1, source: 1 };
    let with = |meetings: usize, work: usize| {
        let busy = times(work, from_ref(&compute));
        let last = busy.into_iter().chain(times(meetings, &meet()));
        cycles(&machine, kernel(vec![vec![last.collect(), times(meetings, &meet())]]))
    };
    let per_meeting = (with(30, 0) - with(10, 0)) / 20;
    // The wait issues meanwhile.
    assert_eq!(per_meeting, BARRIER);
    // A chain of additions takes two cycles for each.
    assert_eq!(with(1, 300) - with(1, 200), 200, "all wait for the last");
    let slower = four_sms(&["cluster.barrier_latency=50"]);
    let meetings = |machine: &Machine, n: usize| {
        cycles(machine, kernel(vec![vec![times(n, &meet()), times(n, &meet())]]))
    };
    let difference = |n| meetings(&slower, n) - meetings(&machine, n);
    assert_eq!(difference(20), 20 * (50 - BARRIER));
}

/// Work between arrival and wait overlaps with the other warps' arrivals.
#[test]
fn warp_runs_between_arrival_and_wait() {
    let machine = four_sms(&["cluster.barrier_latency=500"]);
    let compute = Step::Compute { class: OpClass::Integer, dest: 1, source: 1 };
    let work = |count| times(count, from_ref(&compute));
    let warp = |parts: [&[Step]; 3]| vec![vec![parts.concat(), meet().to_vec()]];
    let (arrive, wait) = ([Step::ClusterArrive], [Step::ClusterWait]);
    let between = |count| cycles(&machine, kernel(warp([&arrive, &work(count), &wait])));
    let before = |count| cycles(&machine, kernel(warp([&work(count), &arrive, &wait])));
    assert_eq!((between(50), between(100)), (between(0), between(0)));
    assert_eq!(before(100) - before(50), 100);
}

#[test]
fn barriers_ignore_ended_warps_and_ctas() {
    let machine = four_sms(&[]);
    let twice: Warp = times(2, &meet());
    for others in [vec![], vec![Step::Exit], meet().to_vec()] {
        cycles(&machine, kernel(vec![vec![twice.clone(), others.clone()]]));
        let ctas = vec![vec![twice.clone(), others.clone()], vec![others, twice.clone()]];
        let kernel = Kernel { cluster: Some([2, 1, 1]), ctas, ..Kernel::default() };
        cycles(&machine, kernel);
    }
}

/// Without a cluster, the barrier synchronizes the warps of the CTA.
#[test]
fn a_cta_alone_is_a_cluster_of_one() {
    let alone =
        machine("accelsim-qv100", &[&NO_REFRESH[..], &["cluster.barrier_latency=9"]].concat());
    let warps = |meetings: usize| {
        let compute = Step::Compute { class: OpClass::Integer, dest: 1, source: 1 };
        let busy: Warp =
            times(40, &[compute]).into_iter().chain(times(meetings, &meet())).collect();
        let ctas = vec![vec![busy, times(meetings, &meet())]];
        cycles(&alone, Kernel { ctas, ..Kernel::default() })
    };
    assert!(warps(1) > 40);
    assert_eq!(warps(21) - warps(1), 20 * BARRIER);
    let ctas = vec![vec![vec![chained(0)]]];
    cycles(&alone, Kernel { ctas, ..Kernel::default() });
}

/// Returns the SMs that ran CTAs.
fn used(result: &RunResult) -> Vec<u64> {
    result.sms.iter().map(|sm| sm.ctas).collect()
}

#[test]
fn a_cluster_runs_concurrently_in_one_gpc() {
    let result = |machine: &Machine, clusters: usize, size: usize| {
        let warps = vec![meet().to_vec(); size];
        run(machine, &write(&[kernel(vec![warps; clusters])]).trace)
    };
    let machine = four_sms(&[]);
    assert_eq!(used(&result(&machine, 1, 2)), [1, 1, 0, 0]);
    assert_eq!(used(&result(&machine, 2, 2)), [1, 1, 1, 1]);
    assert_eq!(used(&result(&machine, 4, 2)), [2, 2, 2, 2]);
    // A GPC of three SMs holds three CTAs; the remaining SM stays empty.
    let uneven = four_sms(&["sm.count=5"]);
    assert_eq!(used(&result(&uneven, 2, 3)), [0, 0, 2, 2, 2]);
    // CTAs in excess of the SMs start on the first again, one per cycle.
    let roomy = four_sms(&["sm.max_ctas=4"]);
    assert_eq!(used(&result(&roomy, 1, 7)), [4, 3, 0, 0]);
    assert_eq!(used(&result(&four_sms(&["run.first_sm=3", "sm.max_ctas=4"]), 1, 3)), [0, 0, 1, 2]);
}

#[test]
fn every_cta_scheduler_launches_whole_clusters() {
    let policies = [
        "round-robin",
        "depth-first",
        "block-clustered",
        "lazy-cta",
        "dyncta(period=7,t_idle=3,t_mem_low=0,t_mem_high=2)",
    ];
    for policy in policies {
        for room in ["sm.max_ctas=1", "sm.max_ctas=3", "sm.max_ctas=8"] {
            let machine = four_sms(&[&format!("policy.cta_scheduler={policy}"), room]);
            let result = run(&machine, &write(&[exchange(12)]).trace);
            assert_eq!(used(&result).iter().sum::<u64>(), 24, "{policy}");
        }
    }
}

#[test]
fn concurrent_kernels_do_not_deadlock_on_partial_clusters() {
    let machine = four_sms(&["run.concurrent_kernels=true", "sm.max_ctas=2"]);
    let second = Kernel { stream: 1, ..exchange(9) };
    let result = run(&machine, &write(&[exchange(9), second]).trace);
    assert_eq!(used(&result).iter().sum::<u64>(), 36);
}

fn error(machine: &Machine, kernel: Kernel) -> String {
    let file = write(&[kernel]);
    Simulation::new(machine, &file.trace).run(&mut Discard).unwrap_err().to_string()
}

#[test]
fn oversized_cluster_is_refused_before_the_run() {
    let text = error(&machine("accelsim-qv100", &[]), exchange(1));
    assert!(
        text.contains("launches clusters of 2 CTAs but machine `accelsim-qv100` has no clusters"),
        "{text}"
    );
    let text = error(&four_sms(&[]), kernel(vec![vec![meet().to_vec(); 3]]));
    assert!(
        text.contains("a cluster has 3 CTAs but the largest GPC has room for only 2"),
        "{text}"
    );
}

fn sum(result: &RunResult, of: fn(&warpmem::gpu::results::SmResult) -> u64) -> u64 {
    result.sms.iter().map(of).sum()
}

#[test]
fn messages_are_counted_at_the_sender() {
    let result = |step| {
        let kernel = kernel(vec![vec![vec![step], vec![]]]);
        let result = run(&four_sms(&[]), &write(&[kernel]).trace);
        (
            sum(&result, |sm| sm.messages),
            sum(&result, |sm| sm.message_bytes),
            result.sms[0].messages,
        )
    };
    assert_eq!(result(Step::Memory(access(Kind::Store, 1, 32, 4))), (1, 128, 1));
    assert_eq!(result(Step::Memory(access(Kind::Load, 1, 32, 4))), (1, 128, 1));
    assert_eq!(result(Step::Memory(access(Kind::Load, 1, 32, 0))), (1, 4, 1));
    assert_eq!(result(Step::Memory(access(Kind::Atomic, 1, 3, 4))), (1, 24, 1));
    assert_eq!(result(Step::Memory(access(Kind::Store, 0, 32, 4))), (0, 0, 0));
    // Three passes, the last of 44 bytes.
    let copy = Access { kind: Kind::AsyncCopy, width: 300, ..access(Kind::Load, 1, 1, 4) };
    assert_eq!(result(Step::Memory(copy)), (3, 300, 3));
}

/// Makes a copy of 1 KB from memory to the CTAs of the cluster, by the first of them or by each.
fn copies(destinations: Option<u16>) -> Kernel {
    let from =
        Access { kind: Kind::AsyncCopy, cache_op: CacheOp::Global, ..Access::load(1024, vec![0]) };
    let copy = match destinations {
        Some(mask) => Step::CopyTo(mask, from),
        None => Step::Memory(from),
    };
    let busy = || [copy.clone(), Step::WaitAsync].into_iter().chain(meet()).collect::<Warp>();
    let others = |destinations: Option<u16>| match destinations {
        Some(_) => meet().to_vec(),
        None => busy(),
    };
    kernel(vec![vec![busy(), others(destinations)]])
}

#[test]
fn a_copy_for_several_ctas_is_read_once() {
    let machine = four_sms(&[]);
    let reads = |kernel: Kernel| {
        let result = run(&machine, &write(&[kernel]).trace);
        let reads = |c: &CacheCounts| {
            c.read_hits + c.read_misses + c.read_sector_misses + c.read_pending_hits
        };
        let accesses: u64 = result.slices.iter().map(|slice| reads(&slice.cache)).sum();
        (accesses, sum(&result, |sm| sm.messages), sum(&result, |sm| sm.message_bytes))
    };
    let sectors = 1024 / 32;
    assert_eq!(reads(copies(None)), (2 * sectors, 0, 0), "each reads its own");
    assert_eq!(reads(copies(Some(0b11))), (sectors, sectors, 1024));
    assert_eq!(reads(copies(Some(0b01))), (sectors, 0, 0), "to itself only");
    assert_eq!(reads(copies(Some(0b10))), (sectors, sectors, 1024));
}

/// The network replicates the data: the sender does not pay for each destination.
#[test]
fn a_copy_for_several_ctas_leaves_its_senders_port_free() {
    let keys = ["cluster.gpcs=1", "cluster.port_bytes=1"];
    let machine = four_sms(&keys);
    let with = |mask: u16| {
        let from = Access {
            kind: Kind::AsyncCopy,
            cache_op: CacheOp::Global,
            ..Access::load(8192, vec![0])
        };
        let warps = vec![vec![Step::CopyTo(mask, from)], vec![], vec![], vec![]];
        cycles(&machine, kernel(vec![warps]))
    };
    // A receiver takes 32 cycles per sector; three receivers in parallel take as long as one.
    assert!(with(0b1110).abs_diff(with(0b0010)) < 32);
    assert!(with(0b0010) > 256 * 32);
}

/// Of four CTAs on two SMs, those on the sender's SM need no network, and those on the other SM
/// share one message per access; a copy is delivered to each CTA separately.
#[test]
fn ctas_on_one_sm_share_access_messages_but_not_copies() {
    let machine = four_sms(&["sm.count=2", "sm.max_ctas=2", "cluster.gpcs=1"]);
    let sent = |step: Step| {
        let result =
            run(&machine, &write(&[kernel(vec![vec![vec![step], vec![], vec![], vec![]]])]).trace);
        assert_eq!(used(&result), [2, 2]);
        (sum(&result, |sm| sm.messages), sum(&result, |sm| sm.message_bytes))
    };
    let lanes = (0..32).map(|lane| address(lane % 4, 64 * lane)).collect();
    let all = Access { space: Space::Cluster, ..Access::load(4, lanes) };
    assert_eq!(sent(Step::Memory(all)), (1, 16 * 4));
    let from = || {
        let load = Access::load(256, vec![0]);
        Access { kind: Kind::AsyncCopy, cache_op: CacheOp::Global, ..load }
    };
    assert_eq!(sent(Step::CopyTo(0b0101, from())), (0, 0));
    assert_eq!(sent(Step::CopyTo(0b1111, from())), (2 * 8, 2 * 256));
}
