//! Tests of the CTA schedulers in the dispatcher.

use super::{Rig, Started, kernel, of_stream};
use crate::cta::scheduler::CTA_SCHEDULERS;
use crate::sm::IdleCycles;
use crate::testing::machine;
use warpmem_machine::Machine;
use warpmem_sim::SmId;
use warpmem_testing::TestKernel;

/// Builds a machine of `count` SMs of `ctas` CTAs each.
fn sms(count: usize, ctas: u32, policy: &str, overrides: &[&str]) -> Machine {
    let count = format!("sm.count={count}");
    let ctas = format!("sm.max_ctas={ctas}");
    let policy = format!("policy.cta_scheduler={policy}");
    machine(&[&[&*count, &*ctas, &*policy], overrides].concat())
}

/// Dispatches until no more CTAs start; returns the SMs of the started CTAs by cycle.
fn fill(rig: &mut Rig) -> Vec<Vec<usize>> {
    let mut cycles = Vec::new();
    loop {
        let started = rig.step(cycles.len() as u64);
        if started.is_empty() {
            return cycles;
        }
        cycles.push(started.iter().map(|&(sm, ..)| sm).collect());
    }
}

fn counter(rig: &Rig, name: &str) -> u64 {
    let counters = rig.dispatcher.counters();
    counters.iter().find(|counter| counter.name == name).expect("the policy counts it").value
}

#[test]
fn depth_first_fills_an_sm_before_the_next() {
    let mut rig = Rig::new(&sms(3, 2, "depth-first", &[]), &[kernel(20)]);
    let expected = [vec![0], vec![0, 1], vec![1, 2], vec![2]];
    assert_eq!(fill(&mut rig), expected, "an SM starts one CTA per cycle");
    rig.end((1, 0, 2), 10);
    rig.end((2, 0, 4), 10);
    assert_eq!(rig.step(10), [(1, 0, 6), (2, 0, 7)]);
    rig.end((0, 0, 0), 20);
    rig.end((0, 0, 1), 20);
    rig.end((2, 0, 5), 20);
    assert_eq!(rig.step(20), [(0, 0, 8)], "waits for SM 0, which has room");
    assert_eq!(rig.next, Some(21));
    assert_eq!(rig.step(21), [(0, 0, 9), (2, 0, 10)]);
}

#[test]
fn depth_first_uses_all_launches_of_a_cycle() {
    let machine = sms(2, 3, "depth-first", &["sm.cta_launches_per_cycle=2"]);
    let mut rig = Rig::new(&machine, &[kernel(6)]);
    assert_eq!(fill(&mut rig), [vec![0, 0], vec![0, 1, 1], vec![1]]);
}

#[test]
fn consecutive_blocks_go_to_consecutive_sms() {
    let mut rig = Rig::new(&sms(2, 4, "block-clustered", &[]), &[kernel(20)]);
    assert_eq!(fill(&mut rig), [vec![0], vec![0, 1], vec![1, 0], vec![0, 1], vec![1]]);
    let machine = sms(2, 4, "block-clustered(ctas=3)", &["sm.cta_launches_per_cycle=4"]);
    assert_eq!(fill(&mut Rig::new(&machine, &[kernel(20)])), [[0, 0, 0, 1, 1, 1]]);
}

#[test]
fn a_block_waits_for_an_sm_with_room_for_all_its_ctas() {
    let machine = sms(2, 3, "block-clustered", &["sm.cta_launches_per_cycle=4"]);
    let mut rig = Rig::new(&machine, &[kernel(7)]);
    assert_eq!(fill(&mut rig), [[0, 0, 1, 1]], "one free CTA slot does not fit a block");
    rig.end((1, 0, 2), 10);
    let started = [(1, 0, 4), (1, 0, 5), (0, 0, 6)];
    assert_eq!(rig.step(10), started, "the last block has one CTA and fits one free slot");
}

#[test]
fn block_size_is_capped_by_residency() {
    let machine = sms(2, 3, "block-clustered(ctas=100)", &["sm.cta_launches_per_cycle=4"]);
    let mut rig = Rig::new(&machine, &[kernel(8)]);
    assert_eq!(fill(&mut rig), [[0, 0, 0, 1, 1, 1]]);
    rig.end((0, 0, 0), 10);
    assert_eq!(rig.step(10), [], "one free slot does not fit the last two CTAs");
    rig.end((0, 0, 1), 11);
    assert_eq!(rig.step(11), [(0, 0, 6), (0, 0, 7)]);
}

#[test]
fn concurrent_kernels_have_separate_blocks() {
    let overrides = ["run.concurrent_kernels=true"];
    let machine = sms(2, 4, "block-clustered", &overrides);
    let kernels = [of_stream(1, kernel(3)), of_stream(2, kernel(3))];
    let mut rig = Rig::new(&machine, &kernels);
    assert_eq!(rig.step(0), [(0, 0, 0), (1, 1, 0)]);
    assert_eq!(rig.step(1), [(0, 0, 1), (1, 0, 2)], "SM 1 has started its CTA of this cycle");
    assert_eq!(rig.step(2), [(1, 1, 1), (0, 1, 2)]);
}

#[test]
fn lazy_cta_derives_the_limit_from_the_busiest_cta() {
    let machine = sms(2, 4, "lazy-cta", &["sm.cta_launches_per_cycle=4"]);
    let mut rig = Rig::new(&machine, &[kernel(30)]);
    assert_eq!(
        fill(&mut rig),
        [[0, 1, 0, 1, 0, 1, 0, 1]],
        "full residency before the first decision"
    );
    // (100 + 60 + 30 + 20) / 100 = 2.1, rounded up to 3.
    rig.end_after((0, 0, 0), 10, 100, &[60, 30, 20]);
    assert_eq!(rig.step(10), [], "three CTAs are left");
    rig.end_after((0, 0, 2), 20, 1000, &[500, 500]);
    assert_eq!(rig.step(20), [(0, 0, 8)], "later ends do not change the limit");
    // SM 1 decides separately: 10 / 10.
    rig.end_after((1, 0, 1), 30, 10, &[0, 0, 0]);
    rig.end_after((1, 0, 3), 31, 10, &[10, 10]);
    rig.end_after((1, 0, 5), 32, 10, &[10]);
    assert_eq!(rig.step(32), [], "the limit is one, and one CTA is left");
    rig.end_after((1, 0, 7), 33, 10, &[]);
    assert_eq!(rig.step(33), [(1, 0, 9)]);
}

#[test]
fn ctas_that_end_in_one_cycle_share_one_decision() {
    let machine = sms(1, 4, "lazy-cta", &["sm.cta_launches_per_cycle=4"]);
    let mut rig = Rig::new(&machine, &[kernel(30)]);
    fill(&mut rig);
    rig.end_after((0, 0, 0), 10, 0, &[50, 100, 50]);
    assert_eq!(rig.step(10).len(), 1, "a CTA without instructions decides nothing");
    rig.end_after((0, 0, 1), 20, 50, &[50, 0]);
    rig.end_after((0, 0, 2), 20, 30, &[50, 0]);
    // (50 + 50 + 30) / 50 = 2.6, rounded up to 3; two CTAs are left.
    assert_eq!(rig.step(20).len(), 1);
}

#[test]
fn lazy_cta_decides_separately_for_each_kernel() {
    let machine = sms(1, 2, "lazy-cta", &["sm.cta_launches_per_cycle=2"]);
    let mut rig = Rig::new(&machine, &[kernel(3), kernel(3)]);
    assert_eq!(rig.step(0).len(), 2);
    rig.end_after((0, 0, 0), 10, 10, &[0]);
    assert_eq!(rig.step(10), []);
    rig.end_after((0, 0, 1), 20, 10, &[]);
    assert_eq!(rig.step(20), [(0, 0, 2)]);
    rig.end_after((0, 0, 2), 30, 10, &[]);
    assert_eq!(rig.step(31), [(0, 1, 0), (0, 1, 1)]);
    assert_eq!((counter(&rig, "cta_limit_decisions"), counter(&rig, "cta_limit_sum")), (1, 1));
}

#[test]
fn lazy_cta_limits_concurrent_kernels_separately() {
    let machine = sms(1, 4, "lazy-cta", &["run.concurrent_kernels=true"]);
    let kernels = [of_stream(1, kernel(3)), of_stream(2, kernel(3))];
    let mut rig = Rig::new(&machine, &kernels);
    assert_eq!(fill(&mut rig).len(), 4);
    // Three CTAs of the first kernel, one of the second.
    rig.end_after((0, 1, 0), 10, 10, &[]);
    assert_eq!(rig.step(10), [(0, 1, 1)]);
    rig.end_after((0, 0, 0), 20, 10, &[1, 1]);
    assert_eq!(rig.step(20), [], "the limit of the second kernel is one");
}

/// Reports the idle cycles of all SMs to the scheduler at multiples of its period.
struct PeriodDriver {
    cycle: u64,
    period: u64,
    idle: Vec<IdleCycles>,
}

impl PeriodDriver {
    fn new(sms: usize, period: u64) -> PeriodDriver {
        PeriodDriver { cycle: 0, period, idle: vec![IdleCycles::default(); sms] }
    }

    /// Runs a period in which each SM spends the given cycles (without a warp, waiting for
    /// memory).
    fn pass(&mut self, rig: &mut Rig, spent: &[(u64, u64)]) -> Vec<Started> {
        assert_eq!(rig.step(self.cycle + 1), []);
        assert_eq!(
            rig.next,
            Some(self.cycle + self.period),
            "the dispatcher requests the observation"
        );
        self.cycle += self.period;
        assert!(rig.observes(self.cycle) && !rig.observes(self.cycle - 1));
        for (sm, &(no_warp, memory)) in spent.iter().enumerate() {
            self.idle[sm].no_warp += no_warp;
            self.idle[sm].memory += memory;
            rig.dispatcher.observe(SmId::new(sm), self.idle[sm]);
        }
        rig.step(self.cycle)
    }
}

#[test]
fn dyncta_follows_the_idle_cycles_of_an_sm() {
    let policy = "dyncta(period=100,t_idle=5,t_mem_low=20,t_mem_high=40)";
    let machine = sms(2, 4, policy, &["sm.cta_launches_per_cycle=4"]);
    let mut rig = Rig::new(&machine, &[kernel(30)]);
    assert_eq!(fill(&mut rig), [[0, 1, 0, 1]], "half of full residency");
    let limits = |rig: &Rig| [0, 1].map(|sm| rig.dispatcher.running_limit(SmId(sm)));
    let mut driver = PeriodDriver::new(2, 100);
    assert_eq!(
        driver.pass(&mut rig, &[(99, 0), (0, 99)]),
        [],
        "the kernel's first whole period starts here"
    );
    assert_eq!(limits(&rig), [2, 2]);
    assert_eq!(driver.pass(&mut rig, &[(0, 19), (0, 41)]), [(0, 0, 4)]);
    assert_eq!(limits(&rig), [3, 1], "limit raised on SM 0; lowered on SM 1, which holds two CTAs");
    assert_eq!(driver.pass(&mut rig, &[(6, 99), (5, 30)]), [(0, 0, 5)]);
    assert_eq!(limits(&rig), [4, 1]);
    rig.end((1, 0, 1), 310);
    assert_eq!(rig.step(310), [], "the paused CTA resumes instead");
    assert_eq!(driver.pass(&mut rig, &[(0, 0), (0, 0)]), [(1, 0, 6)]);
    assert_eq!(limits(&rig), [4, 2], "limited by residency");
    let names = ["cta_limit_decisions", "cta_limit_sum", "cta_limits_raised", "cta_limits_lowered"];
    assert_eq!(names.map(|name| counter(&rig, name)), [6, 3 + 1 + 4 + 1 + 4 + 2, 3, 1]);
}

#[test]
fn dyncta_starts_every_kernel_at_half() {
    let machine = sms(1, 3, "dyncta(period=100)", &["sm.cta_launches_per_cycle=4"]);
    let small = TestKernel { threads: 768, ..kernel(2) };
    let mut rig = Rig::new(&machine, &[kernel(2), small]);
    assert_eq!(rig.step(0), [(0, 0, 0)], "half of a residency of three");
    let mut driver = PeriodDriver::new(1, 100);
    driver.pass(&mut rig, &[(0, 0)]);
    assert_eq!(driver.pass(&mut rig, &[(0, 0)]), [(0, 0, 1)]);
    rig.end((0, 0, 0), 210);
    rig.end((0, 0, 1), 210);
    rig.step(210);
    assert!(!rig.observes(300), "no kernel runs");
    assert_eq!(rig.step(400), [(0, 1, 0)], "half of a residency of two");
    assert_eq!(rig.dispatcher.running_limit(SmId(0)), 1);
}

/// Every CTA starts and ends, in any order of ends.
#[test]
fn no_cta_starves() {
    let tight = ["block-clustered(ctas=7)", "dyncta(period=5,t_mem_low=0,t_mem_high=0)"];
    for policy in CTA_SCHEDULERS.names().chain(tight) {
        let kernels = [kernel(11), kernel(1), kernel(6)];
        let machine = sms(3, 3, policy, &[]);
        let mut rig = Rig::new(&machine, &kernels);
        let mut resident: Vec<Started> = Vec::new();
        for cycle in 0..2000u64 {
            if rig.observes(cycle) {
                // Memory stalls only.
                let idle = IdleCycles { memory: cycle, ..IdleCycles::default() };
                SmId::all(3).for_each(|sm| rig.dispatcher.observe(sm, idle));
            }
            resident.extend(rig.step(cycle));
            if cycle % 10 == 9 && !resident.is_empty() {
                let ending = resident.swap_remove(cycle as usize / 10 % resident.len());
                let others = resident.iter().filter(|other| other.0 == ending.0);
                let others: Vec<u64> = others.map(|_| 1).collect();
                rig.end_after(ending, cycle, 1000, &others);
            }
        }
        assert!(
            rig.dispatcher.is_done(),
            "{policy}: {:?}",
            rig.dispatcher.describe().collect::<Vec<_>>()
        );
    }
}

#[test]
fn values_out_of_range_are_refused() {
    let refused = [
        ("block-clustered(ctas=0)", "`ctas` = 0"),
        ("dyncta(period=0)", "`period` = 0"),
        (
            "dyncta(t_mem_low=9,t_mem_high=8)",
            "`t_mem_high` = 8 is not valid: expected at least `t_mem_low` = 9",
        ),
        ("lazy-cta(n=1)", "takes no parameters"),
    ];
    for (policy, why) in refused {
        let machine = sms(1, 1, policy, &[]);
        let chosen = CTA_SCHEDULERS.choose(&machine.policy.cta_scheduler);
        let refused = chosen.and_then(|scheduler| scheduler.build(&machine));
        let Err(error) = refused else { panic!("{policy} was accepted") };
        assert!(error.to_string().contains(why), "{error}");
    }
}
