//! Li 2015: DRAM schedulers that know the merges of LLC misses.

use super::{Mechanism, gain};
use warpmem::cache::ReservationFail;
use warpmem::gpu::results::RunResult;

const MSHR: [&str; 3] = ["mshr-m", "mshr-s", "mshr-s+a"];

/// One warp of each CTA follows a chain that all SMs share: what it waits for, many wait for.
#[test]
fn chains_that_sms_share_gain_from_merges() {
    let Some(chain) = Mechanism::open("chain_p1", "li2015") else { return };
    for gain in chain.gains("dram_scheduler", "fr-fcfs", MSHR) {
        assert!((8.0..18.0).contains(&gain), "{gain}");
    }
}

/// What no order of DRAM can help moves by the noise of a run, half a percent either way.
#[test]
fn private_chains_gain_nothing() {
    let Some(chain) = Mechanism::open("chain_p1_private", "li2015") else { return };
    let [m, s, s_a] = chain.gains("dram_scheduler", "fr-fcfs", MSHR);
    assert!(m.abs() <= 0.5 && s.abs() <= 0.75 && s_a.abs() <= 0.5, "{m} {s} {s_a}");
}

/// Half lines that two CTAs share. MSHRs are freed earlier, as in the thesis' Figure 6.4, and requests come back sooner, but
/// the bus is busy for 83 to 85 % of the time in which something waits for it, under either order: IPC moves by the noise,
/// -0.5 to +1.2 % with one or another irrelevant change of the SM.
#[test]
fn tiles_of_half_lines_free_mshrs_and_gain_nothing() {
    let Some(tiles) = Mechanism::open("trans16", "li2015") else { return };
    let run = |policy| tiles.run(&[&format!("policy.dram_scheduler={policy}")]);
    let [plain, s_a] = ["fr-fcfs", "mshr-s+a"].map(run);
    let gain = gain(&plain, &s_a);
    assert!(gain.abs() <= 1.5, "{gain}");
    let [before, after] = [&plain, &s_a].map(full_mshr_cycles);
    assert!(after < before * 9 / 10, "{before} {after}");
}

/// Cycles in which a request wanted an MSHR of a slice in vain.
fn full_mshr_cycles(run: &RunResult) -> u64 {
    let entry = ReservationFail::MshrEntry as usize;
    run.slices.iter().map(|slice| slice.cache.reservation_fails[entry]).sum()
}
