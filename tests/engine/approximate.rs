//! `run.alike_launches` in whole machines.

use crate::trace::{Kernel, machine, mixed, run, write};
use warpmem::gpu::engine::Simulation;
use warpmem::gpu::results::{Discard, RunResult};

/// One clock, no refresh: a launch that starts with the same cache contents as the previous one
/// takes the same cycles. Each SM has a CTA of a launch.
const STEADY: [&str; 6] = [
    "sm.count=6",
    "clocks.core_mhz=1000",
    "clocks.network_mhz=1000",
    "clocks.l2_mhz=1000",
    "clocks.dram_mhz=1000",
    "run.launch_latency=2000",
];

const LAUNCHES: usize = 16;

fn steady(most: u32, overrides: &[&str]) -> warpmem::machine::Machine {
    let most = format!("run.alike_launches={most}");
    machine("li2015", &[&STEADY[..], &[most.as_str()], overrides].concat())
}

/// Returns everything that is weighted: the counts of units, and cycles.
fn counts(result: &RunResult) -> RunResult {
    let result = result.clone();
    RunResult { kernels: vec![], progress: vec![], counters: vec![], steps: 0, ..result }
}

fn launches(result: &RunResult) -> Vec<(u32, u32, u32)> {
    result.kernels.iter().map(|k| (k.launch, k.like, k.stands_for)).collect()
}

#[test]
fn identical_launches_extrapolate_exactly() {
    // The last launch's period is open until another starts, so it represents none.
    let last = mixed(1, 2, 1 << 12);
    let file = write(&[vec![mixed(6, 8, 1 << 14); LAUNCHES], vec![last]].concat());
    for topology in ["policy.topology=crossbar", "policy.topology=ideal"] {
        let all = run(&steady(0, &[topology]), &file.trace);
        let periods: Vec<Option<u64>> = all.kernels.iter().map(|kernel| kernel.period).collect();
        assert!(periods[1..LAUNCHES].iter().all(|period| *period == periods[1]), "{periods:?}");
        let some = run(&steady(3, &[topology]), &file.trace);
        assert!(some.kernels.len() < 8, "{:?}", launches(&some));
        assert_eq!(
            some.kernels.iter().map(|kernel| kernel.stands_for).sum::<u32>(),
            LAUNCHES as u32 + 1
        );
        assert!(some.steps < all.steps * 3 / 4, "{} of {} steps", some.steps, all.steps);
        assert!(counts(&some) == counts(&all), "{topology}");
        let fairness = [&some, &all].map(|result| result.warp_fairness().unwrap());
        assert!((fairness[0] - fairness[1]).abs() < 1e-12, "{fairness:?}");
        assert_eq!(some.cycles_error(), Some(0.0));
        assert_eq!(all.cycles_error(), None);
    }
}

#[test]
fn single_launches_are_not_extrapolated() {
    let other = mixed(2, 3, 1 << 16);
    let kernels = [vec![mixed(6, 8, 1 << 14); 6], vec![other], vec![mixed(6, 8, 1 << 14); 3]];
    let file = write(&kernels.concat());
    let (all, some) = (run(&steady(0, &[]), &file.trace), run(&steady(3, &[]), &file.trace));
    assert!(launches(&some).contains(&(6, 6, 1)), "{:?}", launches(&some));
    let issued = |result: &RunResult| result.sms.iter().map(|sm| sm.warp_instructions).sum::<u64>();
    assert_eq!(issued(&some), issued(&all));
}

/// Stores are outstanding when the next launch begins.
#[test]
fn outstanding_memory_of_a_launch_does_not_disturb_extrapolation() {
    let kernel: Kernel = mixed(12, 8, 1 << 22);
    let file = write(&vec![kernel; 7]);
    for overrides in
        [&["run.launch_latency=0"][..], &["run.launch_latency=0", "policy.topology=mesh"]]
    {
        for preset in ["li2015", "accelsim-qv100", "a100"] {
            let overrides = [&["sm.count=4", "run.alike_launches=3"], overrides].concat();
            let result = run(&machine(preset, &overrides), &file.trace);
            let accounted = |sm: &warpmem::gpu::results::SmResult| {
                sm.active_cycles
                    + sm.no_warp_cycles
                    + sm.memory_block_cycles
                    + sm.dependency_stall_cycles
                    + sm.structural_stall_cycles
                    + sm.barrier_cycles
            };
            assert!(result.sms.iter().all(|sm| accounted(sm) == result.core_cycles));
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let file = write(&vec![mixed(20, 12, 1 << 20); 9]);
    let machine = machine("accelsim-qv100", &["sm.count=6", "run.alike_launches=2"]);
    let of = |threads| {
        let simulation = Simulation::new(&machine, &file.trace).threads(threads);
        simulation.run(&mut Discard).unwrap()
    };
    let one = of(1);
    assert!(launches(&one).len() < 9);
    assert!(one == of(2) && one == of(3));
}
