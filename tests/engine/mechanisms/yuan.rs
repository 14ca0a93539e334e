//! Yuan 2009: networks that keep the requests of an SM together, in front of DRAM queues that serve
//! each bank in order.

use super::{Mechanism, gain, is_left_out};

/// Returns the gain of `hold-grant` on streams with runs of `run` bytes from `sms` SMs, in %.
fn held(run: u32, sms: u32) -> f64 {
    let streams = Mechanism::generated("row-streams", &format!("--run {run}"), "yuan2009")
        .with(&["policy.dram_scheduler=banked-fifo", &format!("sm.count={sms}")]);
    let [gain] = streams.gains("arbiter", "round-robin", ["hold-grant"]);
    gain
}

/// Figure 4: two requests to each row suffice with the paper's number of SMs and eight channels.
#[test]
fn streams_of_many_sms_gain_from_being_kept_together() {
    let gain = held(128, 28);
    assert!((20.0..40.0).contains(&gain), "{gain}");
}

/// With one request per row there is nothing to keep together.
#[test]
fn runs_of_one_request_gain_little() {
    if is_left_out() {
        return;
    }
    let gain = held(64, 28);
    assert!((-4.0..5.0).contains(&gain), "{gain}");
}

/// Figure 1: with few SMs per channel the network hardly mixes their streams.
#[test]
fn streams_of_few_sms_gain_nothing() {
    let gain = held(4096, 14);
    assert!(gain.abs() <= 0.5, "{gain}");
}

#[test]
fn streams_of_a_few_more_sms_gain_some() {
    if is_left_out() {
        return;
    }
    let gain = held(4096, 20);
    assert!((4.0..10.0).contains(&gain), "{gain}");
}

/// Figure 6: the network's effect on row locality, and the effect that remains when grants are held
/// (section 5.1).
#[test]
fn the_network_mixes_rows_and_held_grants_keep_more_of_them() {
    let streams = Mechanism::generated("row-streams", "--run 512", "yuan2009");
    let run = |arbiter| {
        streams.run(&["policy.dram_scheduler=banked-fifo", &format!("policy.arbiter={arbiter}")])
    };
    let [fair, held] = ["round-robin", "hold-grant"].map(run);
    let activations = |run: &warpmem::gpu::results::RunResult| {
        run.channels
            .iter()
            .flat_map(|channel| &channel.banks)
            .map(|bank| bank.activations)
            .sum::<u64>()
    };
    let (fair_rows, held_rows) = (activations(&fair), activations(&held));
    assert!(held_rows * 10 < fair_rows * 9, "{held_rows} of {fair_rows}");
    assert!(gain(&fair, &held) > 20.0);
}
