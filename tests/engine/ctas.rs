//! CTA schedulers in whole machines: their view of the SMs and their control of them.

use crate::trace::{Access, Kernel, Step, Warp, machine, mixed, write};
use warpmem::gpu::cta::scheduler::CTA_SCHEDULERS;
use warpmem::gpu::engine::Simulation;
use warpmem::gpu::results::{Discard, LoadRow, RunResult, RunSink};
use warpmem::gpu::sm::scheduler::WARP_SCHEDULERS;
use warpmem::machine::Machine;
use warpmem_testing::is_sampled;
use warpmem_trace::OpClass;

#[derive(Default)]
struct Rows(Vec<LoadRow>);

impl RunSink for Rows {
    fn load(&mut self, row: &LoadRow) {
        self.0.push(*row);
    }
}

impl Rows {
    /// Returns the core cycles of the first and the last issue of a CTA's loads.
    fn span(&self, cta: u32) -> (u64, u64) {
        let issues = || self.0.iter().filter(|row| row.cta == cta).map(|row| row.issue_cycle);
        (issues().min().unwrap(), issues().max().unwrap())
    }
}

fn run(machine: &Machine, ctas: Vec<Vec<Warp>>) -> (RunResult, Rows) {
    let file = write(&[Kernel { ctas, ..Kernel::default() }]);
    let mut rows = Rows::default();
    let result = Simulation::new(machine, &file.trace).run(&mut rows).unwrap();
    (result, rows)
}

fn counter(result: &RunResult, policy: &str, name: &str) -> u64 {
    let mut counters = result.counters.iter().filter(|c| (c.unit, c.index) == ("machine", 0));
    counters.find(|c| c.policy == policy && c.counter == name).expect("it is counted").value
}

/// Makes dependent loads, each CTA from lines of its own.
fn chase(cta: u64, loads: u64) -> Warp {
    let load = |n: u64| Access {
        dest: Some(1),
        source: Some(1),
        ..Access::load(4, vec![(cta * loads + n) * 4096])
    };
    (0..loads).map(|n| Step::Memory(load(n))).collect()
}

/// Makes mutually independent instructions.
fn independent(instructions: u16) -> Warp {
    let compute = |n| Step::Compute { class: OpClass::Integer, dest: 2 + n, source: 1 };
    (0..instructions).map(|n| compute(n % 200)).collect()
}

/// Makes a machine of one SM that holds four CTAs.
fn one_sm(policy: &str, overrides: &[&str]) -> Machine {
    let policy = format!("policy.cta_scheduler={policy}");
    machine(
        "li2015",
        &[&["sm.count=1", "sm.max_ctas=4", "sm.schedulers=1", &policy], overrides].concat(),
    )
}

#[test]
fn memory_stalled_ctas_pause_except_the_oldest() {
    let policy = "dyncta(period=500,t_idle=100000,t_mem_low=0,t_mem_high=10)";
    let (result, rows) =
        run(&one_sm(policy, &[]), (0..4).map(|cta| vec![chase(cta, 12)]).collect());
    let [first, second, third, _] = [0, 1, 2, 3].map(|cta| rows.span(cta));
    assert!(second.0 < 500 && first.1 > 1500, "both start, half of what fits, and last: {first:?}");
    // The decision follows the first whole period; one instruction may have issued before it.
    let paused =
        rows.0.iter().filter(|row| row.cta == 1 && (1001..=first.1).contains(&row.issue_cycle));
    assert_eq!(paused.count(), 0);
    assert!(second.1 > first.1 && third.0 > second.1, "one after the other from then on");
    assert_eq!(counter(&result, "dyncta", "cta_limits_lowered"), 1, "from two to one");
    assert_eq!(counter(&result, "dyncta", "cta_limits_raised"), 0);
}

#[test]
fn compute_bound_sms_receive_more_ctas() {
    let policy = "dyncta(period=100,t_idle=100000,t_mem_low=50,t_mem_high=90)";
    let ctas: Vec<Vec<Warp>> = (0..8).map(|_| vec![independent(400)]).collect();
    let (result, _) = run(&one_sm(policy, &[]), ctas);
    assert_eq!(counter(&result, "dyncta", "cta_limits_raised"), 2, "from two to four");
    assert_eq!(counter(&result, "dyncta", "cta_limits_lowered"), 0);
}

#[test]
fn idle_sms_receive_more_ctas() {
    // A single CTA runs, on the first of two SMs.
    let policy = "dyncta(period=100,t_idle=50,t_mem_low=0,t_mem_high=100000)";
    let machine = one_sm(policy, &["sm.count=2"]);
    let (result, _) = run(&machine, vec![vec![chase(0, 6)]]);
    assert_eq!(
        counter(&result, "dyncta", "cta_limits_raised"),
        2,
        "of the second, from two to four"
    );
}

/// Four equal CTAs: when the first ends, most of the second remains under a greedy scheduler, and
/// nothing under a fair one.
#[test]
fn cta_limit_follows_the_instructions_issued_per_cta() {
    let ctas: Vec<Vec<Warp>> = (0..12).map(|_| vec![independent(200)]).collect();
    for (scheduler, limit) in [("gto", 2), ("lrr", 4)] {
        let scheduler = format!("policy.warp_scheduler={scheduler}");
        let (result, _) = run(&one_sm("lazy-cta", &[&scheduler]), ctas.clone());
        assert_eq!(counter(&result, "lazy-cta", "cta_limit_decisions"), 1);
        assert_eq!(counter(&result, "lazy-cta", "cta_limit_sum"), limit, "{scheduler}");
    }
}

#[test]
fn every_cta_runs_under_every_scheduler() {
    let ctas: Vec<Vec<Warp>> =
        (0..23).map(|cta| vec![chase(cta, cta % 4 + 1), independent(9)]).collect();
    for policy in CTA_SCHEDULERS.names() {
        for sms in ["sm.count=1", "sm.count=3"] {
            let (result, rows) = run(&one_sm(policy, &[sms]), ctas.clone());
            assert_eq!(result.kernels[0].ctas, 23, "{policy}");
            assert!((0..23).all(|cta| rows.0.iter().any(|row| row.cta == cta)), "{policy}");
        }
    }
}

/// Under every warp scheduler, paused warps neither block the others nor need a step that the SM
/// does not request.
#[test]
fn ctas_pause_and_resume_under_every_warp_scheduler() {
    let few = ["two-level(warps=2)", "two-level-active(warps=2)", "swl(warps=1)"];
    let file = write(&[mixed(16, 10, 1 << 18)]);
    let policies = [
        "dyncta(period=90,t_mem_low=10,t_mem_high=20)",
        "dyncta(period=13,t_idle=1000,t_mem_low=0,t_mem_high=9)",
    ];
    for (row, scheduler) in WARP_SCHEDULERS.names().chain(few).enumerate() {
        let scheduler = format!("policy.warp_scheduler={scheduler}");
        let policies = policies.into_iter().enumerate();
        for (_, policy) in policies.filter(|(column, _)| is_sampled(row, *column, 2)) {
            let machine = one_sm(policy, &["sm.count=2", "sm.schedulers=2", &scheduler]);
            let simulation = || Simulation::new(&machine, &file.trace);
            let result = simulation().run(&mut Discard);
            let result = result.unwrap_or_else(|error| panic!("{scheduler}, {policy}: {error}"));
            assert!(counter(&result, "dyncta", "cta_limits_lowered") > 0, "{scheduler}, {policy}");
            let mut polled = simulation().every_cycle().run(&mut Discard).unwrap();
            polled.steps = result.steps;
            assert!(result == polled, "{scheduler}, {policy}");
        }
    }
}
