//! Warped-MC 2023: a DRAM scheduler that knows what warps wait for.

use super::{Mechanism, gain};
use warpmem::gpu::results::RunResult;

const SCHEDULER: &str = "dram_scheduler";

/// What Warped-MC gains with DRAM queues of 64, as the preset has it, and of 256.
fn gains_by_queue(trace: &str) -> Option<[f64; 2]> {
    let by_queue = |queue| {
        let trace = Mechanism::open(trace, "warpedmc2023")?.with(&[queue]);
        let [gain] = trace.gains(SCHEDULER, "fr-fcfs", ["warped-mc"]);
        Some(gain)
    };
    Some([by_queue("dram.read_queue=64")?, by_queue("dram.read_queue=256")?])
}

fn with_scheduler(trace: &Mechanism, overrides: &[&str], policy: &str) -> RunResult {
    let policy = format!("policy.{SCHEDULER}={policy}");
    trace.run(&[overrides, &[policy.as_str()]].concat())
}

/// Half the warps load one sector, half 32 at a time: the last request of a warp goes first.
#[test]
fn warps_of_two_kinds_gain() {
    let Some([short, long]) = gains_by_queue("w_typ8") else { return };
    assert!((4.0..12.0).contains(&short) && (20.0..30.0).contains(&long), "{short} {long}");
}

/// More of the same: 38 % of the divergence arises in a controller with a queue of 64, and 96 % in one of 256.
#[test]
fn many_warps_of_two_kinds_gain_where_the_queue_holds_their_requests() {
    let Some([short, long]) = gains_by_queue("w_typ16") else { return };
    assert!((0.0..3.0).contains(&short) && (22.0..32.0).contains(&long), "{short} {long}");
}

#[test]
fn warps_that_are_all_alike_gain_little() {
    let Some([short, long]) = gains_by_queue("w_r32_8") else { return };
    assert!((0.0..3.0).contains(&short) && (0.0..3.0).contains(&long), "{short} {long}");
}

/// Matrix rows at power-of-two pitches (GESUMMV, SYR2K): the XOR bank hash of section 2.2 spreads them over banks. They still
/// camp on few channels, of whose hash the paper says nothing: with one, Warped-MC loses less than 1 % and all is faster.
#[test]
fn power_of_two_pitches_use_banks_by_the_hash_of_the_paper() {
    for (name, faster, faster_still) in [("p_gmv", 4.0, 400.0), ("p_sy2", 20.0, 30.0)] {
        let Some(trace) = Mechanism::open(name, "warpedmc2023") else { return };
        let run = |overrides: &[&str], policy| with_scheduler(&trace, overrides, policy);
        let paper = run(&[], "fr-fcfs");
        let linear = run(&["dram.address.bank_hash=linear"], "fr-fcfs");
        assert!(gain(&linear, &paper) > faster, "{name}: {}", gain(&linear, &paper));
        let camped = gain(&paper, &run(&[], "warped-mc"));
        assert!((-9.0..-2.0).contains(&camped), "{name}: {camped}");
        let spread = ["dram.address.partition_hash=ipoly"];
        let [base, warped] = ["fr-fcfs", "warped-mc"].map(|policy| run(&spread, policy));
        assert!(gain(&paper, &base) > faster_still, "{name}: {}", gain(&paper, &base));
        assert!(gain(&base, &warped).abs() < 1.0, "{name}: {}", gain(&base, &warped));
    }
}
