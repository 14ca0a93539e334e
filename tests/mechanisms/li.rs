//! Li 2015: DRAM schedulers that know the merges of LLC misses.

use super::Mechanism;

const MSHR: [&str; 3] = ["mshr-m", "mshr-s", "mshr-s+a"];

/// One warp of each CTA follows a chain that all SMs share: what it waits for, many wait for.
#[test]
fn chains_that_sms_share_gain_from_merges() {
    let Some(chain) = Mechanism::open("chain_p1", "li2015") else { return };
    for gain in chain.gains("dram_scheduler", "fr-fcfs", MSHR) {
        assert!((8.0..18.0).contains(&gain), "{gain}");
    }
}

#[test]
fn private_chains_gain_nothing() {
    let Some(chain) = Mechanism::open("chain_p1_private", "li2015") else { return };
    for gain in chain.gains("dram_scheduler", "fr-fcfs", MSHR) {
        assert!(gain.abs() <= 0.5, "{gain}");
    }
}
