//! `run.launch_instructions` in whole machines.

use crate::trace::{machine, mixed, run, write};
use warpmem::gpu::results::{KernelResult, RunResult};

const LIMIT: u64 = 300;

fn limited(ctas: usize, overrides: &[&str]) -> RunResult {
    let limit = format!("run.launch_instructions={LIMIT}");
    let machine = machine("li2015", &[&[limit.as_str()], overrides].concat());
    let file = write(&[mixed(ctas, 8, 1 << 20), mixed(1, 1, 1 << 16), mixed(ctas, 4, 1 << 16)]);
    run(&machine, &file.trace)
}

fn issued(result: &RunResult) -> Vec<u64> {
    result.kernels.iter().map(|kernel| kernel.warp_instructions).collect()
}

#[test]
fn instruction_limit_ends_a_launch_and_starts_the_next() {
    let result = limited(200, &[]);
    let &[first, short, last] = issued(&result).as_slice() else { panic!("three kernels") };
    // Beyond the limit only the current record of each warp issues.
    assert!((LIMIT..200 * 8 * 10).contains(&first), "{first}");
    assert!(last >= LIMIT, "{last}");
    assert!(short < LIMIT, "{short}: the whole of a short one");
    let ends = |k: &KernelResult| (k.start_cycle, k.end_cycle);
    assert!(ends(&result.kernels[0]).1 < ends(&result.kernels[1]).0);
    assert!(result.kernels[0].ctas < 200, "{} of 200 CTAs", result.kernels[0].ctas);
}

#[test]
fn every_request_of_an_ended_launch_returns() {
    // `run` checks the queues, and the counts of SMs against those of kernels.
    let all = ["run.concurrent_kernels=true", "policy.cta_scheduler=dyncta"];
    for overrides in [&[][..], &all] {
        let result = limited(200, overrides);
        let issued: u64 = issued(&result).iter().sum();
        assert_eq!(result.sms.iter().map(|sm| sm.warp_instructions).sum::<u64>(), issued);
    }
}

#[test]
fn unreached_instruction_limit_changes_nothing() {
    let file = write(&[mixed(4, 8, 1 << 20), mixed(2, 4, 1 << 16)]);
    let of = |limit: &str| run(&machine("li2015", &[limit]), &file.trace);
    let whole = of("run.launch_instructions=0");
    let limited = of("run.launch_instructions=1000000");
    let steps = |result: &RunResult| RunResult { steps: 0, ..result.clone() };
    assert!(steps(&whole) == steps(&limited));
}
