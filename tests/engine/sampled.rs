//! Sampled runs (`run.error_permille`) and runs that start in the middle (`run.fast_forward`) in whole
//! machines.

use crate::trace::{Kernel, machine, mixed, run, write};
use warpmem::gpu::engine::Simulation;
use warpmem::gpu::results::{Discard, KernelResult, RunResult};
use warpmem::machine::Machine;

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

const LAUNCHES: usize = 40;

fn steady(overrides: &[&str]) -> Machine {
    machine("li2015", &[&STEADY[..], overrides].concat())
}

/// Returns everything that is weighted: the counts of units, and cycles.
fn counts(result: &RunResult) -> RunResult {
    let result = result.clone();
    let cycles_error = None;
    RunResult {
        kernels: vec![],
        progress: vec![],
        counters: vec![],
        steps: 0,
        cycles_error,
        ..result
    }
}

fn launches(result: &RunResult) -> Vec<(u32, u32, u32)> {
    result.kernels.iter().map(|k| (k.launch, k.like, k.stands_for)).collect()
}

fn issued(result: &RunResult) -> u64 {
    result.sms.iter().map(|sm| sm.warp_instructions).sum()
}

#[test]
fn identical_launches_extrapolate_exactly() {
    // The last launch's period is open until another starts, so it represents none.
    let last = mixed(1, 2, 1 << 12);
    let file = write(&[vec![mixed(6, 8, 1 << 14); LAUNCHES], vec![last]].concat());
    for topology in ["policy.topology=crossbar", "policy.topology=ideal"] {
        let all = run(&steady(&[topology]), &file.trace);
        let periods: Vec<Option<u64>> = all.kernels.iter().map(|kernel| kernel.period).collect();
        assert!(periods[1..LAUNCHES].iter().all(|period| *period == periods[1]), "{periods:?}");
        let some = run(&steady(&[topology, "run.error_permille=10"]), &file.trace);
        assert!(some.kernels.len() < 12, "{:?}", launches(&some));
        let stand = some.kernels.iter().map(|kernel| kernel.stands_for).sum::<u32>();
        assert_eq!(stand, LAUNCHES as u32 + 1);
        assert!(some.steps < all.steps / 2, "{} of {} steps", some.steps, all.steps);
        assert!(counts(&some) == counts(&all), "{topology}");
        let fairness = [&some, &all].map(|result| result.warp_fairness().unwrap());
        assert!((fairness[0] - fairness[1]).abs() < 1e-12, "{fairness:?}");
        let half = some.cycles_error.unwrap().half_interval;
        assert!(half <= 0.01 * all.core_cycles as f64, "that of the assumed spread: {half}");
        assert!(all.cycles_error.is_none());
    }
}

#[test]
fn single_launches_are_not_extrapolated() {
    let other = mixed(2, 3, 1 << 16);
    let kernels = [vec![mixed(6, 8, 1 << 14); 20], vec![other], vec![mixed(6, 8, 1 << 14); 20]];
    let file = write(&kernels.concat());
    let (all, some) =
        (run(&steady(&[]), &file.trace), run(&steady(&["run.error_permille=10"]), &file.trace));
    assert!(launches(&some).contains(&(20, 20, 1)), "{:?}", launches(&some));
    assert!(some.kernels.len() < 15);
    assert_eq!(issued(&some), issued(&all));
}

/// Many more CTAs than a machine of few SMs holds.
fn long_launch(ctas: usize) -> Kernel {
    mixed(ctas, 2, 1 << 21)
}

#[test]
fn the_ctas_of_a_long_launch_are_sampled_within_the_stated_interval() {
    let file = write(&[long_launch(10_000)]);
    let small = ["sm.count=2", "sm.max_ctas=4"];
    let all = run(&machine("li2015", &small), &file.trace);
    let sampled = [&small[..], &["run.error_permille=20"]].concat();
    let some = run(&machine("li2015", &sampled), &file.trace);
    let KernelResult { ctas, simulated_ctas, warp_instructions, .. } = some.kernels[0];
    assert_eq!((ctas, warp_instructions), (all.kernels[0].ctas, all.kernels[0].warp_instructions));
    assert!(simulated_ctas < ctas / 2, "{simulated_ctas} of {ctas}");
    let error = some.core_cycles as f64 / all.core_cycles as f64 - 1.0;
    let stated = some.cycles_error.unwrap().half_interval / all.core_cycles as f64;
    assert!(stated < 0.04 && error.abs() < stated.max(0.01), "{error} for {stated}");
    let near = |of: fn(&RunResult) -> u64| {
        let [some, all] = [&some, &all].map(|result| of(result) as f64);
        (some / all - 1.0).abs() < 0.02
    };
    assert!(near(issued), "instructions");
    assert!(near(|r| r.slices.iter().map(|slice| slice.cache.read_hits).sum()), "L2 hits");
    assert!(near(|r| r.kernels[0].counts.as_ref().unwrap().read_requests), "counts of the launch");
    assert!(near(|r| r.kernels[0].extrapolated_cycles.unwrap_or(r.core_cycles)), "its cycles");
}

/// Stores are outstanding when the next launch begins.
#[test]
fn outstanding_memory_of_a_launch_does_not_disturb_extrapolation() {
    let file = write(&vec![mixed(12, 8, 1 << 22); 20]);
    for overrides in
        [&["run.launch_latency=0"][..], &["run.launch_latency=0", "policy.topology=mesh"]]
    {
        for preset in ["li2015", "accelsim-qv100", "a100"] {
            let overrides = [&["sm.count=4", "run.error_permille=100"], overrides].concat();
            let result = run(&machine(preset, &overrides), &file.trace);
            assert!(result.kernels.len() < 20);
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
    let file = write(&[vec![mixed(20, 12, 1 << 20); 20], vec![long_launch(6_000)]].concat());
    let overrides = ["sm.count=6", "sm.max_ctas=4", "run.error_permille=50"];
    let machine = machine("accelsim-qv100", &overrides);
    let of = |threads| {
        let simulation = Simulation::new(&machine, &file.trace).threads(threads);
        simulation.run(&mut Discard).unwrap()
    };
    let one = of(1);
    assert!(launches(&one).len() < 21);
    assert!(one == of(2) && one == of(3));
}

/// L2 holds all data of both launches: the second one finds the lines of the first, and what it wrote.
#[test]
fn a_run_that_starts_in_the_middle_finds_the_lines_that_skipped_launches_left() {
    let file = write(&vec![mixed(6, 8, 1 << 14); 3]);
    for preset in ["li2015", "accelsim-qv100", "h100"] {
        let of = |skipped: &str| run(&machine(preset, &["sm.count=6", skipped]), &file.trace);
        let (all, last) = (of("run.fast_forward=0"), of("run.fast_forward=2"));
        assert_eq!(launches(&last), [(2, 2, 1)]);
        let misses = |result: &RunResult| {
            let l2 = &result.kernels.last().unwrap().counts.as_ref().unwrap().l2;
            [l2.read_misses + l2.read_sector_misses, l2.atomic_misses]
        };
        assert_eq!(misses(&last), misses(&all), "{preset}");
        assert_eq!(misses(&last), [0, 0], "{preset}");
    }
}
