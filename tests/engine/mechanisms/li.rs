//! Li 2015: DRAM schedulers that know the merges of L2 misses.

use super::{Mechanism, gain, is_left_out, over_irrelevant};
use warpmem::cache::ReservationFail;
use warpmem::gpu::results::RunResult;
use warpmem_testing::is_long;

const MSHR: [&str; 3] = ["mshr-m", "mshr-s", "mshr-s+a"];

/// Returns the gain of `mshr-s+a` where a fraction `share` of each chain is common, with
/// `read_queue` entries, in %.
fn s_a_gain(share: &str, read_queue: u32) -> f64 {
    let parameters = format!("--share {share}");
    let chain = Mechanism::generated("shared-chain", &parameters, "li2015")
        .with(&[&format!("dram.read_queue={read_queue}")]);
    let [gain] = chain.gains("dram_scheduler", "fr-fcfs", ["mshr-s+a"]);
    gain
}

#[test]
fn a_common_chain_gains_from_merges() {
    let gain = s_a_gain("1", 64);
    assert!((10.0..20.0).contains(&gain), "{gain}");
}

/// Neither early merges, known to the controller or not, nor ties of rows decide.
#[test]
fn a_common_chain_gains_under_every_reading() {
    if is_left_out() {
        return;
    }
    let chain = Mechanism::generated("shared-chain", "--share 1", "li2015");
    let readings =
        ["count=inter-core", "early_merges=lost", "early_merges=carried", "tie=lowest-row"];
    for reading in readings {
        let [gain] = chain.gains("dram_scheduler", "fr-fcfs", [&*format!("mshr-s+a({reading})")]);
        assert!((10.0..20.0).contains(&gain), "{reading}: {gain}");
    }
}

/// With private chains all orders are equally good: the gain is noise, up to 1.5 % with other
/// seeds.
#[test]
fn separate_chains_gain_nothing() {
    let gain = s_a_gain("0", 64);
    assert!(gain.abs() <= 1.5, "{gain}");
}

#[test]
fn mostly_shared_chains_gain_less() {
    if is_left_out() {
        return;
    }
    let gain = s_a_gain("0.75", 64);
    assert!((4.0..10.0).contains(&gain), "{gain}");
}

/// Figure 6.11: a queue of 16 rarely holds the few requests with many waiters.
#[test]
fn short_queues_leave_little_to_choose_from() {
    if is_left_out() {
        return;
    }
    let gain = s_a_gain("1", 16);
    assert!((1.0..5.0).contains(&gain), "{gain}");
}

/// CTAs with private chains finish last, and their requests wait for those of the common chain: IPC
/// is determined by the last CTA, which masks the gain of three quarters of the CTAs.
#[test]
fn private_ctas_mask_the_gain_of_shared_ones() {
    if is_left_out() {
        return;
    }
    let parameters = "--share 0.75 --share-of ctas";
    let chain = Mechanism::generated("shared-chain", parameters, "li2015");
    let [gain] = chain.gains("dram_scheduler", "fr-fcfs", ["mshr-s+a"]);
    assert!(gain.abs() <= 2.5, "{gain}");
}

/// Nothing is merged, and among equal rows the one with the oldest request goes first: `mshr-m` is
/// FR-FCFS behind the same path from the L2, so it delays no request longer. S counts the waiters
/// of a row, and leaves the rows with the fewest waiting; age reverses most of that.
#[test]
fn without_merges_only_sums_delay_requests_longer() {
    let streams = Mechanism::generated("row-streams", "", "li2015");
    let run = |policy| streams.run(&[&format!("policy.dram_scheduler={policy}")]);
    let [plain, m, s, s_a] =
        ["delay(requests=0,count=all)", "mshr-m", "mshr-s", "mshr-s+a"].map(run);
    assert_eq!((m.core_cycles, longest(&m)), (plain.core_cycles, longest(&plain)));
    assert!(longest(&s) > 2 * longest(&m), "{} {}", longest(&s), longest(&m));
    assert!((longest(&m)..longest(&s)).contains(&longest(&s_a)), "{}", longest(&s_a));
}

/// Returns the latency of the slowest read.
fn longest(run: &RunResult) -> u64 {
    run.latency.total.max().unwrap()
}

/// One warp of each CTA follows a chain shared by all SMs: many wait for each of its loads.
#[test]
fn chains_that_sms_share_gain_from_merges() {
    let Some(chain) = Mechanism::open("chain_p1", "li2015") else { return };
    for gain in chain.gains("dram_scheduler", "fr-fcfs", MSHR) {
        assert!((8.0..18.0).contains(&gain), "{gain}");
    }
}

/// A kernel that no DRAM order can help changes by the noise of a run, at most half a percent.
#[test]
fn private_chains_gain_nothing() {
    let Some(chain) = Mechanism::open_long("chain_p1_private", "li2015") else { return };
    let [m, s, s_a] = chain.gains("dram_scheduler", "fr-fcfs", MSHR);
    assert!(m.abs() <= 0.5 && s.abs() <= 0.75 && s_a.abs() <= 0.5, "{m} {s} {s_a}");
}

/// Half lines that two CTAs share. MSHRs are freed earlier, as in the thesis' Figure 6.4, and
/// requests return sooner; the delay of the merge path, with FR-FCFS behind it
/// (`delay(requests=0,count=all)`), suffices for that. IPC changes by the noise: from -2.9 to +2.2 % with one
/// or another irrelevant change, -0.6 ± 1.8 % on average.
#[test]
fn tiles_of_half_lines_free_mshrs_and_gain_nothing() {
    let Some(tiles) = Mechanism::open("trans16", "li2015") else { return };
    let run = |policy| tiles.run(&[&format!("policy.dram_scheduler={policy}")]);
    let [plain, path, s_a] = ["fr-fcfs", "delay(requests=0,count=all)", "mshr-s+a"].map(run);
    if is_long() {
        let [mean, half] = over_irrelevant(|change| {
            let run = |policy| tiles.run(&[&format!("policy.dram_scheduler={policy}"), change]);
            gain(&run("fr-fcfs"), &run("mshr-s+a"))
        });
        assert!(mean.abs() <= 1.5 && mean.abs() < half, "{mean} {half}");
    }
    let [before, with_path, after] = [&plain, &path, &s_a].map(full_mshr_cycles);
    assert!(after < before * 9 / 10, "{before} {after}");
    assert!(with_path < before * 9 / 10, "{before} {with_path}");
}

/// Counts the cycles in which a request stalled for an MSHR of a slice.
fn full_mshr_cycles(run: &RunResult) -> u64 {
    let entry = ReservationFail::MshrEntry as usize;
    run.slices.iter().map(|slice| slice.cache.reservation_fails[entry]).sum()
}
