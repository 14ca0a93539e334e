//! Tests of the dispatcher; the test plays the SMs.

mod schedulers;

use super::scheduler::CTA_SCHEDULERS;
use super::{Dispatcher, KernelSource, Launch};
use crate::results::KernelResult;
use crate::sm::{Code, CtaEnd, CtaLaunch, Issued};
use crate::testing::machine;
use std::collections::VecDeque;
use std::sync::Arc;
use warpmem_machine::Machine;
use warpmem_sim::{CoreCycle, SmId};
use warpmem_testing::{TestKernel, compute, trace};
use warpmem_trace::{Chunk, OpClass, Trace, TraceError};

struct Source(Trace);

impl KernelSource for Source {
    fn code(&mut self, kernel: usize) -> Result<Arc<Code>, TraceError> {
        Ok(Arc::new(Code::new(&self.0.instructions(kernel)?)))
    }

    fn chunk(&mut self, kernel: usize, chunk: usize) -> Result<Arc<Chunk>, TraceError> {
        self.0.chunk(kernel, chunk)
    }

    fn seek(&mut self, kernel: usize, cta: u32) -> Result<(usize, usize), TraceError> {
        self.0.chunk_of_cta(kernel, cta)
    }

    fn end(&mut self, _: usize) {}
}

/// A started CTA: SM, kernel, CTA.
type Started = (usize, u32, u32);

struct Rig {
    dispatcher: Dispatcher,
    source: Source,
    /// Next cycle requested by the dispatcher.
    next: Option<u64>,
}

impl Rig {
    fn new(machine: &Machine, kernels: &[TestKernel]) -> Rig {
        let trace = trace(kernels);
        let scheduler = CTA_SCHEDULERS.choose(&machine.policy.cta_scheduler).unwrap();
        let dispatcher = Dispatcher::new(machine, &scheduler, trace.kernels()).unwrap();
        Rig { dispatcher, source: Source(trace), next: None }
    }

    fn step_launches(&mut self, cycle: u64) -> Vec<Launch> {
        let mut launches = VecDeque::new();
        let cycle = CoreCycle::new(cycle);
        let next = self.dispatcher.step(cycle, &mut self.source, &mut launches).unwrap();
        self.next = next.map(CoreCycle::number);
        launches.into()
    }

    fn step(&mut self, cycle: u64) -> Vec<Started> {
        let launches = self.step_launches(cycle);
        launches.iter().map(|l| (l.sm.index(), l.cta.kernel, l.cta.cta)).collect()
    }

    /// Returns the only CTA launched in a cycle.
    fn only(&mut self, cycle: u64) -> CtaLaunch {
        let mut launches = self.step_launches(cycle);
        assert_eq!(launches.len(), 1);
        launches.remove(0).cta
    }

    fn end(&mut self, (sm, kernel, cta): Started, cycle: u64) {
        self.end_after((sm, kernel, cta), cycle, 1, &[]);
    }

    /// Reports the instructions issued by the resident CTAs of a kernel; returns whether it is at
    /// its limit.
    fn count(&mut self, kernel: u32, resident: u64, cycle: u64) -> bool {
        self.dispatcher.count_instructions(kernel, resident, CoreCycle::new(cycle))
    }

    /// Ends a CTA that has issued `issued` instructions; the other CTAs of its kernel on the SM
    /// have issued `others`.
    fn end_after(&mut self, (sm, kernel, cta): Started, cycle: u64, issued: u64, others: &[u64]) {
        let cycle = CoreCycle::new(cycle);
        let issued = Issued { warp: issued, thread: 32 * issued };
        let end = CtaEnd { kernel, cta, sm: SmId::new(sm), cycle, issued };
        self.dispatcher.cta_ended(end, &|| others.to_vec());
    }

    /// Whether the scheduler observes the SMs in a cycle.
    fn observes(&self, cycle: u64) -> bool {
        self.dispatcher.observes(CoreCycle::new(cycle))
    }

    fn result(&self, kernel: usize) -> &KernelResult {
        &self.dispatcher.results()[kernel]
    }
}

/// `ctas` CTAs of one warp with one instruction.
fn kernel(ctas: usize) -> TestKernel {
    TestKernel::new(vec![vec![vec![compute(OpClass::Integer, &[])]]; ctas])
}

fn of_stream(stream: u64, kernel: TestKernel) -> TestKernel {
    TestKernel { stream, ..kernel }
}

/// Two SMs of two CTAs each.
fn two_sms(overrides: &[&str]) -> Machine {
    machine(&[&["sm.count=2", "sm.max_ctas=2"], overrides].concat())
}

#[test]
fn ctas_are_dispatched_round_robin_one_per_sm_and_cycle() {
    let mut rig = Rig::new(&two_sms(&[]), &[kernel(6)]);
    assert_eq!(rig.step(0), [(0, 0, 0), (1, 0, 1)]);
    assert_eq!(rig.next, Some(1));
    assert_eq!(rig.step(1), [(0, 0, 2), (1, 0, 3)]);
    assert_eq!(rig.step(2), [], "both SMs are full");
    assert_eq!(rig.next, None, "until a CTA ends");
    rig.end((1, 0, 3), 10);
    assert_eq!(rig.step(10), [(1, 0, 4)]);
    rig.end((0, 0, 0), 12);
    assert_eq!(rig.step(12), [(0, 0, 5)]);
    assert_eq!(rig.step(13), []);
}

/// Dispatch is identical up to the numbering of SMs.
#[test]
fn first_sm_rotates_the_assignment_of_ctas() {
    let run = |first: usize| {
        let machine = machine(&["sm.count=3", "sm.max_ctas=1", &format!("run.first_sm={first}")]);
        let mut rig = Rig::new(&machine, &[kernel(6)]);
        let moved = |sm: usize| (sm + first) % 3;
        let mut started = rig.step(0);
        rig.end((moved(1), 0, 1), 5);
        started.extend(rig.step(5));
        rig.end((moved(1), 0, 3), 7);
        rig.end((moved(0), 0, 0), 7);
        started.extend(rig.step(7));
        let back = |(sm, kernel, cta)| ((sm + 3 - first) % 3, kernel, cta);
        started.into_iter().map(back).collect::<Vec<Started>>()
    };
    assert_eq!(run(0), [(0, 0, 0), (1, 0, 1), (2, 0, 2), (1, 0, 3), (0, 0, 4), (1, 0, 5)]);
    assert_eq!([run(1), run(2)], [run(0), run(0)]);
}

#[test]
fn launches_per_cycle_bound_the_ctas_started_by_an_sm() {
    let mut rig = Rig::new(&two_sms(&["sm.cta_launches_per_cycle=2"]), &[kernel(5)]);
    assert_eq!(rig.step(0), [(0, 0, 0), (1, 0, 1), (0, 0, 2), (1, 0, 3)]);
}

#[test]
fn a_cta_launches_with_its_chunk() {
    let mut rig = Rig::new(&two_sms(&["sm.count=1", "sm.max_ctas=8"]), &[kernel(5)]);
    for cta in 0..5 {
        let launch = rig.only(u64::from(cta));
        let entry = &launch.chunk.ctas()[launch.cta_in_chunk];
        assert_eq!((launch.cta, entry.block), (cta, [cta, 0, 0]));
    }
}

#[test]
fn cta_numbers_are_unique_in_the_trace_and_leave_gaps_between_kernels() {
    let streams = [of_stream(0, kernel(2)), of_stream(1, kernel(0)), of_stream(2, kernel(3))];
    let machine = two_sms(&["sm.max_ctas=8", "run.concurrent_kernels=true"]);
    let mut rig = Rig::new(&machine, &streams);
    let launches = (0..4).flat_map(|cycle| rig.step_launches(cycle));
    let numbers: Vec<(u32, u32)> = launches.map(|l| (l.cta.kernel, l.cta.number)).collect();
    assert_eq!(numbers, [(0, 0), (0, 1), (2, 4), (2, 5), (2, 6)]);
}

#[test]
fn residency_follows_the_resources_of_a_cta() {
    let fits = |machine: &Machine, kernel: TestKernel| {
        let mut rig = Rig::new(machine, &[kernel]);
        (0..20).map(|cycle| rig.step(cycle).len()).sum::<usize>()
    };
    let one_sm = machine(&["sm.max_ctas=8", "sm.shared_bytes=49152"]);
    assert_eq!(fits(&one_sm, kernel(20)), 8, "CTA slots");
    assert_eq!(fits(&one_sm, TestKernel { threads: 768, ..kernel(20) }), 2, "threads");
    assert_eq!(fits(&one_sm, TestKernel { shared_bytes: 16384, ..kernel(20) }), 3, "shared memory");
}

#[test]
fn kernels_run_one_after_another() {
    let mut rig = Rig::new(&two_sms(&[]), &[kernel(2), kernel(1)]);
    assert_eq!(rig.step(0), [(0, 0, 0), (1, 0, 1)]);
    rig.end((0, 0, 0), 9);
    assert_eq!(rig.step(9), [], "a CTA of the first kernel is still running");
    rig.end((1, 0, 1), 20);
    assert_eq!(rig.step(20), []);
    assert_eq!(rig.next, Some(21));
    assert_eq!(rig.step(21), [(0, 1, 0)]);
    assert!(!rig.dispatcher.is_done());
    rig.end((0, 1, 0), 30);
    assert_eq!(rig.step(30), []);
    assert!(rig.dispatcher.is_done());
    assert_eq!(rig.next, None);
    // SMs see a CTA one cycle after its dispatch; the end cycle is exclusive.
    assert_eq!((rig.result(0).start_cycle, rig.result(0).end_cycle), (1, 21));
    assert_eq!((rig.result(1).start_cycle, rig.result(1).end_cycle), (22, 31));
    assert_eq!((rig.result(0).ctas, rig.result(1).ctas), (2, 1));
    assert_eq!((rig.dispatcher.ctas_ended(), rig.dispatcher.ctas()), (3, 3));
}

#[test]
fn the_next_kernel_starts_after_the_launch_latency() {
    let mut rig = Rig::new(&two_sms(&["run.launch_latency=50"]), &[kernel(1), kernel(1)]);
    assert_eq!(rig.step(0), [(0, 0, 0)], "the first kernel starts immediately");
    rig.end((0, 0, 0), 20);
    assert_eq!(rig.step(20), []);
    assert_eq!(rig.next, Some(71));
    assert_eq!(rig.step(70), []);
    assert_eq!(rig.step(71), [(1, 1, 0)]);
}

/// 456 starts per 1,000 cycles: start n is due more than 1000 n / 456 - 1 cycles after the first.
#[test]
fn the_whole_gpu_starts_ctas_at_a_limited_rate() {
    let machine = machine(&["sm.count=8", "sm.max_ctas=2", "sm.cta_dispatch_permille=456"]);
    let mut rig = Rig::new(&machine, &[kernel(12)]);
    let (mut starts, mut next) = (Vec::new(), Some(0));
    while let Some(cycle) = next {
        starts.extend(rig.step(cycle).into_iter().map(|(sm, ..)| (cycle, sm)));
        next = rig.next;
    }
    let due = |n: u64| (1000 * n + 1).div_ceil(456) - 1;
    let expected: Vec<(u64, usize)> =
        (0..12).map(|n| (if n == 0 { 0 } else { due(n) }, n as usize % 8)).collect();
    assert_eq!(starts, expected);
    rig.end((3, 0, 3), 500);
    assert_eq!((rig.step(500), rig.next), (vec![], None), "no CTA is left");
}

#[test]
fn ctas_of_a_cluster_count_towards_the_rate_one_by_one() {
    let mut rig = clusters(3, 6, &["sm.cta_dispatch_permille=1000"]);
    let steps: Vec<Vec<Started>> = (0..8).map(|cycle| rig.step(cycle)).collect();
    assert!(steps[..6].iter().all(|started| started.len() == 1), "{steps:?}");
    assert!(steps[6..].iter().all(Vec::is_empty));
    let mut slow = clusters(3, 3, &["sm.cta_dispatch_permille=100"]);
    assert_eq!(slow.step(0), [(0, 0, 0)]);
    assert_eq!(slow.next, Some(1), "the counts of the kernel begin");
    assert_eq!((slow.step(1), slow.next), (vec![], Some(10)));
    assert_eq!(slow.step(10), [(1, 0, 1)]);
    assert_eq!((slow.step(15), slow.next), (vec![], Some(20)), "a step between has no effect");
    assert_eq!(slow.step(20), [(0, 0, 2)]);
}

#[test]
fn clusters_spread_over_the_sms_however_slowly_they_start() {
    for scheduler in ["round-robin", "lazy-cta", "dyncta", "block-clustered(ctas=1)"] {
        let scheduler = format!("policy.cta_scheduler={scheduler}");
        let keys = ["cluster.gpcs=1", "sm.cta_dispatch_permille=1000", &scheduler];
        let mut rig = clusters(2, 4, &keys);
        let sms: Vec<usize> = (0..4).flat_map(|cycle| rig.step(cycle)).map(|(sm, ..)| sm).collect();
        assert_eq!(sms, [0, 1, 2, 3], "{scheduler}: the second would fit beside the first");
    }
}

/// Returns, for two kernels of 20 cycles, the cycles in which their CTAs are dispatched, and their
/// results' start and end.
fn two_launches(overrides: &[&str]) -> [(u64, u64, u64); 2] {
    const COSTS: [&str; 3] =
        ["launch.graph_ns=1200", "launch.stream_ns=2500", "launch.profiled_cycles=2500"];
    let machine = two_sms(&[&COSTS[..], &["clocks.core_mhz=1500"], overrides].concat());
    let mut rig = Rig::new(&machine, &[kernel(1), kernel(1)]);
    let mut next = 0;
    [0, 1].map(|kernel| {
        let started = loop {
            if let [(sm, ..)] = rig.step(next)[..] {
                break sm;
            }
            next = rig.next.expect("a kernel waits");
        };
        let dispatched = next;
        next += 20;
        rig.end((started, kernel, 0), next);
        let result = rig.result(kernel as usize);
        (dispatched, result.start_cycle, result.end_cycle)
    })
}

#[test]
fn the_kind_of_launch_determines_its_cost() {
    assert_eq!(two_launches(&[]), [(0, 1, 21), (21, 22, 42)]);
    let after = |cycles: u64| [(0, 1, 21), (21 + cycles, 22 + cycles, 42 + cycles)];
    assert_eq!(two_launches(&["run.launch=graph"]), after(1800), "1.2 µs at 1,500 MHz");
    assert_eq!(two_launches(&["run.launch=stream"]), after(3750));
    assert_eq!(two_launches(&["run.launch=stream", "run.launch_latency=10"]), after(3760));
    // The first CTA of a profiled kernel starts late, but the kernel does not.
    let profiled = [(2500, 1, 2521), (5021, 2522, 5042)];
    assert_eq!(two_launches(&["run.launch=profiled"]), profiled);
}

/// Two SMs of one CTA and two schedulers each, with a limit of ten instructions per kernel.
fn limited() -> Machine {
    two_sms(&["sm.max_ctas=1", "sm.schedulers=2", "run.launch_instructions=10"])
}

#[test]
fn instructions_are_counted_at_the_earliest_cycle_of_the_limit() {
    let mut rig = Rig::new(&limited(), &[kernel(3)]);
    assert_eq!(rig.step(0).len(), 2);
    assert_eq!(rig.dispatcher.to_count(CoreCycle::new(0)), None);
    assert_eq!(rig.dispatcher.to_count(CoreCycle::new(1)), Some(0));
    assert!(!rig.count(0, 1, 1), "nine instructions are left, at most four per cycle");
    assert_eq!(rig.step(1), []);
    assert_eq!(rig.next, Some(4));
    assert_eq!(rig.dispatcher.to_count(CoreCycle::new(3)), None);
    assert_eq!(rig.dispatcher.to_count(CoreCycle::new(4)), Some(0));
    assert!(!rig.count(0, 9, 4));
    assert_eq!(rig.dispatcher.to_count(CoreCycle::new(5)), Some(0));
    assert!(rig.count(0, 12, 5), "two more issued in this cycle");
    assert_eq!(rig.dispatcher.to_count(CoreCycle::new(9)), None, "no further count");
}

#[test]
fn a_kernel_at_its_limit_starts_no_cta_and_ends_with_its_resident_ctas() {
    let mut rig = Rig::new(&limited(), &[kernel(5), kernel(1)]);
    assert_eq!(rig.step(0), [(0, 0, 0), (1, 0, 1)]);
    rig.end_after((0, 0, 0), 6, 7, &[]);
    assert_eq!(rig.step(6), [(0, 0, 2)], "7 of 10 have issued");
    assert!(rig.count(0, 3, 8), "instructions of ended CTAs count");
    rig.end_after((1, 0, 1), 9, 2, &[]);
    assert_eq!(rig.step(9), [], "the fourth CTA does not start");
    rig.end_after((0, 0, 2), 11, 1, &[]);
    assert_eq!(rig.step(12), [(1, 1, 0)], "the next kernel starts");
    let first = rig.result(0);
    assert_eq!((first.ctas, first.warp_instructions, first.thread_instructions), (3, 10, 320));
    assert_eq!((rig.dispatcher.ctas_ended(), rig.dispatcher.ctas()), (3, 4));
}

#[test]
fn a_kernel_at_its_limit_without_resident_ctas_ends_immediately() {
    let mut rig = Rig::new(&limited(), &[kernel(3), kernel(1)]);
    rig.step(0);
    rig.end_after((0, 0, 0), 5, 6, &[]);
    rig.end_after((1, 0, 1), 5, 6, &[]);
    assert!(rig.count(0, 0, 5));
    assert_eq!(rig.step(6), [(0, 1, 0)]);
}

#[test]
fn kernels_of_different_streams_run_concurrently_if_enabled() {
    let kernels = [of_stream(1, kernel(1)), of_stream(2, kernel(1)), of_stream(1, kernel(1))];
    let mut alone = Rig::new(&two_sms(&[]), &kernels);
    assert_eq!(alone.step(0), [(0, 0, 0)]);
    assert_eq!(alone.step(1), []);

    let mut together = Rig::new(&two_sms(&["run.concurrent_kernels=true"]), &kernels);
    assert_eq!(together.step(0), [(0, 0, 0), (1, 1, 0)]);
    assert_eq!(together.step(1), [], "the third kernel waits for the first of its stream");
    together.end((1, 1, 0), 10);
    assert_eq!(together.step(11), []);
    together.end((0, 0, 0), 20);
    assert_eq!(together.step(21), [(0, 2, 0)]);
    together.end((0, 2, 0), 30);
    assert!(together.dispatcher.is_done());
}

#[test]
fn the_earlier_of_concurrent_kernels_dispatches_first() {
    let machine = two_sms(&["run.concurrent_kernels=true"]);
    let mut rig = Rig::new(&machine, &[of_stream(1, kernel(3)), of_stream(2, kernel(3))]);
    assert_eq!(rig.step(0), [(0, 0, 0), (1, 0, 1)]);
    assert_eq!(rig.step(1), [(0, 0, 2), (1, 1, 0)], "the second kernel takes the remaining room");
}

#[test]
fn kernels_without_ctas_end_at_their_start() {
    let mut rig = Rig::new(&two_sms(&[]), &[kernel(0), kernel(0), kernel(1), kernel(0)]);
    assert_eq!(rig.step(0), [(0, 2, 0)]);
    assert!(!rig.dispatcher.is_done());
    rig.end((0, 2, 0), 9);
    assert_eq!(rig.step(9), []);
    assert_eq!(rig.next, Some(10), "the last kernel has not started");
    assert_eq!(rig.step(10), []);
    assert!(rig.dispatcher.is_done());
    for (kernel, cycle) in [(0, 1), (1, 1), (3, 11)] {
        let result = rig.result(kernel);
        assert_eq!((result.ctas, result.start_cycle, result.end_cycle), (0, cycle, cycle));
    }
}

#[test]
fn a_trace_of_empty_kernels_ends_immediately() {
    let mut rig = Rig::new(&two_sms(&[]), &[kernel(0), kernel(0)]);
    assert_eq!(rig.step(0), []);
    assert!(rig.dispatcher.is_done());
}

/// Returns whether SM 0 flushes its L1 for each of two CTAs of a kernel and one of the next.
fn flushes(overrides: &[&str]) -> [bool; 3] {
    let machine = machine(&[&["sm.max_ctas=1"], overrides].concat());
    let mut rig = Rig::new(&machine, &[kernel(2), kernel(1)]);
    let first = rig.only(0).flush;
    rig.end((0, 0, 0), 5);
    let second = rig.only(5).flush;
    rig.end((0, 0, 1), 9);
    rig.step(9);
    [first, second, rig.only(10).flush]
}

#[test]
fn l1_is_flushed_between_kernels_but_not_between_ctas() {
    // The very first CTA sets the size of L1.
    assert_eq!(flushes(&["l1.flush_between_kernels=true"]), [true, false, true]);
    assert_eq!(flushes(&["l1.flush_between_kernels=false"]), [true, false, false]);
    let cold = ["l1.flush_between_kernels=false", "run.cold_launches=true"];
    assert_eq!(flushes(&cold), [true, false, true]);
}

#[test]
fn l1_is_not_flushed_under_a_resident_cta() {
    let machine = two_sms(&["sm.count=1", "run.concurrent_kernels=true"]);
    let mut rig = Rig::new(&machine, &[of_stream(1, kernel(1)), of_stream(2, kernel(1))]);
    assert!(rig.only(0).flush);
    assert!(!rig.only(1).flush);
}

#[test]
fn l1_takes_the_capacity_left_by_shared_memory() {
    let v100 = warpmem_machine::load("accelsim-qv100", &["sm.count=1".to_owned()]).unwrap();
    let l1_bytes = |shared_bytes, threads| {
        let kernel = TestKernel { shared_bytes, threads, ..kernel(1) };
        Rig::new(&v100, &[kernel]).only(0).l1_bytes >> 10
    };
    assert_eq!(l1_bytes(0, 1024), 128);
    assert_eq!(l1_bytes(4 << 10, 1024), 128 - 8, "two CTAs of 4 KB");
    assert_eq!(l1_bytes(5 << 10, 1024), 128 - 16, "10 KB round up to the next carve-out");
    assert_eq!(l1_bytes(96 << 10, 1024), 128 - 96);
}

/// A kernel of clusters on two GPCs of two SMs of four CTAs each.
fn clusters(size: u32, ctas: usize, overrides: &[&str]) -> Rig {
    let keys = ["sm.count=4", "sm.max_ctas=4", "cluster.gpcs=2"];
    let kernel = TestKernel { cluster: Some([size, 1, 1]), ..kernel(ctas) };
    Rig::new(&machine(&[&keys, overrides].concat()), &[kernel])
}

#[test]
fn a_cluster_allocates_all_ctas_and_starts_each_as_its_sm_allows() {
    let mut rig = clusters(3, 9, &[]);
    // Two clusters, each with two CTAs on one SM.
    assert_eq!(rig.step(0), [(0, 0, 0), (1, 0, 1), (2, 0, 3), (3, 0, 4)]);
    assert_eq!(rig.next, Some(1));
    // SM 3 is next; it has started no CTA in this cycle.
    assert_eq!(rig.step(1), [(0, 0, 2), (2, 0, 5), (3, 0, 6)]);
    assert_eq!(rig.step(2), [(2, 0, 7), (3, 0, 8)]);
    assert_eq!((rig.step(3), rig.next), (vec![], None));
}

#[test]
fn a_cluster_waits_for_a_gpc_with_room_for_all_its_ctas() {
    let mut rig = clusters(2, 8, &["sm.max_ctas=1"]);
    assert_eq!(rig.step(0), [(0, 0, 0), (1, 0, 1), (2, 0, 2), (3, 0, 3)]);
    rig.end((1, 0, 1), 5);
    rig.end((2, 0, 2), 5);
    assert_eq!(rig.step(5), [], "the two free SMs are in different GPCs");
    rig.end((3, 0, 3), 7);
    assert_eq!(rig.step(7), [(3, 0, 4), (2, 0, 5)], "SM 3 is next");
}

#[test]
fn held_ctas_end_with_their_kernel() {
    let mut rig = clusters(3, 3, &["run.launch_instructions=5", "cluster.gpcs=1", "sm.count=1"]);
    assert_eq!(rig.step(0), [(0, 0, 0)]);
    assert!(rig.count(0, 5, 3));
    rig.end((0, 0, 0), 4);
    assert!(rig.dispatcher.is_done());
    assert_eq!(rig.step(5), []);
}
