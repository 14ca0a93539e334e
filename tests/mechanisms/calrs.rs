//! CaLRS 2015: queues of LLC slices that know how many requests of an instruction are under way.

use super::{Mechanism, gain};
use warpmem::gpu::results::RunResult;

/// Runs of `fifo`, `calrs` and `calrs-ideal`; none where the traces are not there.
fn runs(name: &str) -> Option<[RunResult; 3]> {
    let trace = Mechanism::open(name, "calrs2015")?;
    let run = |queue| trace.run(&[&format!("policy.llc_queue={queue}")]);
    Some(["fifo", "calrs", "calrs-ideal"].map(run))
}

/// What the second and the third run gain over the first, in %.
fn gains([fifo, calrs, ideal]: &[RunResult; 3]) -> [f64; 2] {
    [gain(fifo, calrs), gain(fifo, ideal)]
}

/// Half the warps load one line and compute, the others load 16 lines at a time.
#[test]
fn warps_of_one_line_beside_warps_of_sixteen_gain() {
    let Some(runs) = runs("c_typeXX16") else { return };
    let [calrs, ideal] = gains(&runs);
    assert!((0.5..3.0).contains(&calrs), "{calrs}");
    assert!((1.0..5.0).contains(&ideal), "{ideal}");
}

/// Nothing can be preferred: throughput is conserved.
#[test]
fn nothing_is_gained_where_every_warp_has_the_same_mixture() {
    let Some(runs) = runs("c_mix16") else { return };
    let [calrs, ideal] = gains(&runs);
    assert!(calrs.abs() <= 0.5 && ideal.abs() <= 0.5, "{calrs} {ideal}");
}

/// Requests of few siblings are served earlier as the paper has it, but the slices' data ports, at four LLC cycles to a
/// line, are busy for 94 % of the run under `fifo` already, and all of the time but at its ends. What is left to schedule is
/// the order in which warps finish, and those with many requests finish last, when too few are left to keep the ports busy.
#[test]
fn critical_requests_wait_less_but_ports_that_are_always_busy_pass_no_more() {
    let Some(runs) = runs("c_crit") else { return };
    let [fifo, calrs, ideal] = runs.each_ref().map(class_0_wait);
    assert!(calrs < 0.75 * fifo && ideal < 0.1 * fifo, "{fifo} {calrs} {ideal}");
    let busy = port_busy(&runs[0]);
    assert!(busy > 0.92, "{busy}");
    for gain in gains(&runs) {
        assert!((-6.0..0.0).contains(&gain), "{gain}");
    }
}

/// Mean LLC cycles in the queue of requests of Critical Field 1.
fn class_0_wait(run: &RunResult) -> f64 {
    let cycles: u64 = run.slices.iter().map(|slice| slice.queue.wait_cycles[0]).sum();
    let requests: u64 = run.slices.iter().map(|slice| slice.queue.arrivals[0]).sum();
    cycles as f64 / requests as f64
}

/// The part of LLC cycles in which hits have the data ports: four for each, of two core cycles.
fn port_busy(run: &RunResult) -> f64 {
    let hits: u64 = run.slices.iter().map(|slice| slice.cache.read_hits).sum();
    (hits * 4 * 2) as f64 / (run.core_cycles * run.slices.len() as u64) as f64
}
