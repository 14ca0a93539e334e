//! OWL 2013: CTA-aware warp schedulers, and prefetching from open rows.

use super::{Mechanism, gain, is_left_out};
use warpmem::gpu::results::{PrefetchCounts, RunResult};
use warpmem_testing::is_long;

/// The traces are laid out for channels interleaved every 256 B. The preset interleaves whole rows
/// (Table 4).
const PIECES_OF_ROWS: &str = "dram.address.interleave_bytes=256";
const BLP: &str = "policy.warp_scheduler=cta-aware-locality-blp";
const BLP_OF_RESIDENTS: &str = "policy.warp_scheduler=cta-aware-locality-blp(groups=residents)";
/// Lines that the L2 holds are not prefetched again.
const UNFETCHED: &str = "opportunistic(cached=skip)";

fn prefetches(run: &RunResult, of: fn(&PrefetchCounts) -> u64) -> f64 {
    run.slices.iter().map(|slice| of(&slice.prefetches)).sum::<u64>() as f64
}

/// Returns the mean number of banks with a request, over cycles with any.
fn bank_parallelism(run: &RunResult) -> f64 {
    let of_channels = run.channels.iter();
    let [banks, cycles] = of_channels.fold([0, 0], |[banks, cycles], channel| {
        [banks + channel.bank_outstanding_cycles, cycles + channel.any_bank_outstanding_cycles]
    });
    banks as f64 / cycles as f64
}

/// Makes tiles of 8 KB read `reuse` times by CTAs of four warps, `sharers` CTAs per row: eight CTAs
/// of an SM need twice its L1, the two of a group half of it.
fn tiles(sharers: u32, reuse: u32) -> Mechanism {
    let parameters =
        format!("--ctas 224 --warps 4 --tile 8192 --tiles 1 --sharers {sharers} --reuse {reuse}");
    Mechanism::generated("row-share", &parameters, "owl2013")
}

/// Returns the ratio of banks used, and the gain in %, of `cta-aware-locality-blp` over
/// `cta-aware-locality` with this formation of groups.
fn blp_over_locality(trace: &Mechanism, groups: &str) -> [f64; 2] {
    let run = |policy| trace.run(&[&format!("policy.warp_scheduler={policy}(groups={groups})")]);
    let [locality, blp] = ["cta-aware-locality", "cta-aware-locality-blp"].map(run);
    [bank_parallelism(&blp) / bank_parallelism(&locality), gain(&locality, &blp)]
}

fn locality_gain(tiles: &Mechanism) -> f64 {
    let [gain] = tiles.gains("warp_scheduler", "lrr", ["cta-aware-locality"]);
    gain
}

#[test]
fn reused_tiles_gain_from_fewer_ctas() {
    let run = |policy| tiles(8, 4).run(&[&format!("policy.warp_scheduler={policy}")]);
    let [lrr, locality] = ["lrr", "cta-aware-locality"].map(run);
    let gain = gain(&lrr, &locality);
    assert!((30.0..55.0).contains(&gain), "{gain}");
    let [all, fewer] = [&lrr, &locality].map(l1_misses);
    assert!(fewer < 0.6 * all, "{fewer} of {all}");
}

fn l1_misses(run: &RunResult) -> f64 {
    run.sms.iter().map(|sm| sm.l1.read_misses).sum::<u64>() as f64
}

/// The other readings of the groups keep as few CTAs in L1.
#[test]
fn reused_tiles_gain_however_groups_form() {
    if is_left_out() {
        return;
    }
    let readings = ["slots", "residents"].map(|g| format!("cta-aware-locality(groups={g})"));
    let readings = readings.each_ref().map(String::as_str);
    for gain in tiles(8, 4).gains("warp_scheduler", "lrr", readings) {
        assert!((30.0..55.0).contains(&gain), "{gain}");
    }
}

#[test]
fn tiles_that_are_read_twice_gain_less() {
    if is_left_out() {
        return;
    }
    let gain = locality_gain(&tiles(8, 2));
    assert!((12.0..25.0).contains(&gain), "{gain}");
}

#[test]
fn tiles_that_are_read_once_gain_nothing() {
    let gain = locality_gain(&tiles(8, 1));
    assert!(gain.abs() <= 3.0, "{gain}");
}

/// A CTA with private whole rows sends to one channel at a time, because channels interleave whole
/// rows (Table 4). The warps of the first group wait so long that those of the others displace it
/// in the L1. With an L2 that holds all lines, they do not.
#[test]
fn groups_stalled_on_one_channel_lose_their_tiles() {
    if is_left_out() {
        return;
    }
    let tiles = tiles(1, 4);
    let camped = locality_gain(&tiles);
    assert!((-1.0..5.0).contains(&camped), "{camped}");
    let answered = locality_gain(&tiles.with(&["policy.ideal=perfect-l2"]));
    assert!((25.0..50.0).contains(&answered), "{answered}");
}

/// Section 4.3: groups of different numbers use different rows if consecutive CTAs share rows (a
/// third more banks, and fewer row hits), but not if every CTA has its own. Where a group is first
/// until its CTAs have ended, the first groups of the SMs drift apart anyway: a tenth more banks. IPC does not gain: L1
/// retains nothing of these tiles, so the focus on one group costs more than the recovered banks.
#[test]
fn groups_of_other_numbers_use_more_banks_only_where_ctas_share_rows() {
    let cases = [(4, 1.25..1.45, 1.05..1.2), (1, 0.9..1.1, 0.95..1.05)];
    for (sharers, more, drifting) in cases.into_iter().take(if is_long() { 2 } else { 1 }) {
        let parameters = format!("--sharers {sharers} --tiles 3 --pitch power-of-two");
        let rows = Mechanism::generated("row-share", &parameters, "owl2013");
        let [ratio, gain] = blp_over_locality(&rows, "residents");
        assert!(more.contains(&ratio), "{sharers}: {ratio}");
        assert!(gain < 0.0, "{sharers}: {gain}");
        let [ratio, gain] = blp_over_locality(&rows, "until-end");
        assert!(drifting.contains(&ratio), "{sharers}: {ratio}");
        assert!((-2.0..0.0).contains(&gain), "{sharers}: {gain}");
    }
}

/// Figure 9: groups are whole CTAs, so minimum sizes of 5 and 8 warps give the same groups of
/// four-warp CTAs. A group of one such CTA is too small if it keeps the issue slot while its warps
/// stall, and large enough if it yields the slot.
#[test]
fn groups_of_one_small_cta_do_not_fill_the_pipeline() {
    let parameters = "--ctas 224 --warps 4 --tile 4096 --tiles 1 --sharers 4";
    let tiles = Mechanism::generated("row-share", parameters, "owl2013");
    let run = |group: &str| {
        tiles.run(&[&format!("policy.warp_scheduler=cta-aware-locality-blp(min_warps={group})")])
    };
    assert_eq!(run("5").core_cycles, run("8").core_cycles);
    let [waiting, lending] = ["wait", "lend"]
        .map(|idle| gain(&run(&format!("8,idle={idle}")), &run(&format!("4,idle={idle}"))));
    assert!((-9.0..-3.0).contains(&waiting) && lending > -2.5, "{waiting} {lending}");
}

/// Prefetches are used if all of a row is needed, and not if only a quarter is. Neither costs
/// anything while the bus is mostly idle.
#[test]
fn prefetched_row_remainders_are_used_when_needed() {
    for (sharers, used, expected) in [(16, 2048, 0.9..1.0), (8, 512, 0.1..0.4)] {
        let parameters = format!(
            "--ctas 560 --warps 2 --sharers {sharers} --tile 128 --tiles 4 --compute 11 --used {used}"
        );
        let rows = Mechanism::generated("row-share", &parameters, "owl2013").with(&[BLP]);
        let run = |policy: &str| rows.run(&[&format!("policy.prefetcher={policy}")]);
        let [none, opportunistic] = ["none", "opportunistic"].map(run);
        let share =
            prefetches(&opportunistic, |p| p.used) / prefetches(&opportunistic, |p| p.lines);
        assert!(expected.contains(&share), "{used}: {share}");
        let gain = gain(&none, &opportunistic);
        assert!((-1.0..5.0).contains(&gain), "{used}: {gain}");
    }
}

/// The rest of each row is needed later, and the bus is a third busy. The first half of the kernel gains as much. A degree of 8 or 16 of the 32
/// lines, taken exactly, gains nothing.
#[test]
fn rows_needed_later_gain_from_prefetching() {
    let Some(trace) = Mechanism::open("owl_pf", "owl2013") else { return };
    let trace = if is_long() { trace } else { trace.cut(228_480) };
    let gain_of = |blp: &str, prefetcher: &str, overrides: &[&str]| {
        let blp = format!("policy.warp_scheduler={blp}");
        let run = |prefetcher: &str| {
            let prefetcher = format!("policy.prefetcher={prefetcher}");
            trace.run(&[&[blp.as_str(), &prefetcher], overrides].concat())
        };
        gain(&run("none"), &run(prefetcher))
    };
    let residents = "cta-aware-locality-blp(groups=residents)";
    let whole_rows = gain_of(residents, UNFETCHED, &[]);
    assert!((1.0..3.0).contains(&whole_rows), "{whole_rows}");
    let pieces = gain_of(residents, UNFETCHED, &[PIECES_OF_ROWS]);
    assert!((3.5..5.0).contains(&pieces), "{pieces}");
    if !is_long() {
        return;
    }
    // Groups that are first until their CTAs have ended use rows at more different times.
    for (prefetcher, expected) in [
        ("opportunistic", 1.0..2.5),
        (UNFETCHED, 0.0..2.0),
        ("opportunistic(bus=last)", 1.0..2.5),
        ("opportunistic(degree=exactly)", -1.5..0.0),
    ] {
        let pieces = gain_of("cta-aware-locality-blp", prefetcher, &[PIECES_OF_ROWS]);
        assert!(expected.contains(&pieces), "{prefetcher}: {pieces}");
    }
}

/// A stream of the same lines gains if lines in the L2 are not read again. Knowing only the open row,
/// as the bits of section 4.5 do, costs 39 %.
///
/// With whole rows the bus is 94 % busy without prefetching, which leaves little to gain.
#[test]
fn a_read_only_stream_gains_from_prefetching_new_lines() {
    let Some(trace) = Mechanism::open_long("owl_stream", "owl2013") else { return };
    let readings = [UNFETCHED, "opportunistic"];
    let trace = trace.with(&[BLP]);
    let [unfetched, all] = trace.gains("prefetcher", "none", readings);
    assert!((0.0..2.5).contains(&unfetched) && all < -20.0, "{unfetched} {all}");
    let trace = trace.with(&[PIECES_OF_ROWS]);
    let [unfetched, all] = trace.gains("prefetcher", "none", readings);
    assert!((3.0..6.0).contains(&unfetched), "{unfetched}");
    assert!(all < -30.0, "{all}");
}

/// The first eighth of the stream.
#[test]
fn reading_the_lines_of_the_l2_again_costs_a_stream() {
    let Some(trace) = Mechanism::open("owl_stream", "owl2013") else { return };
    let trace = trace.cut(65_856).with(&[BLP_OF_RESIDENTS, PIECES_OF_ROWS]);
    let [again] = trace.gains("prefetcher", UNFETCHED, ["opportunistic(trigger=all)"]);
    assert!((-25.0..-15.0).contains(&again), "{again}");
}

/// The same beside a stream of stores: rows opened only by write-backs are not prefetched from.
/// With `trigger=all` 85 % of the lines are unused. In a short run, the first quarter of the streams, without the
/// run that does not prefetch.
#[test]
fn a_stream_of_stores_triggers_nothing() {
    let Some(trace) = Mechanism::open("owl_str_w", "owl2013") else { return };
    let trace = trace.with(&[BLP_OF_RESIDENTS]);
    if !is_long() {
        let readings = [UNFETCHED, "opportunistic(cached=skip,trigger=all)"];
        let [loss] = trace.cut(153_216).gains("prefetcher", readings[0], [readings[1]]);
        assert!((-45.0..-30.0).contains(&loss), "{loss}");
        return;
    }
    let prefetched = |text: &str| trace.run(&[&format!("policy.prefetcher={text}")]);
    let [none, reads, all] =
        ["none", UNFETCHED, "opportunistic(cached=skip,trigger=all)"].map(prefetched);
    assert!(gain(&none, &reads) > 0.0, "{}", gain(&none, &reads));
    assert!(gain(&none, &all) < -40.0, "{}", gain(&none, &all));
    let used = |run| prefetches(run, |p| p.used) / prefetches(run, |p| p.lines);
    assert!(used(&reads) > 0.7 && used(&all) < 0.2, "{} {}", used(&reads), used(&all));
}

/// Consecutive CTAs use the same rows, and the four loads of a warp four rows of one bank. Where a
/// warp stalls on the load (section 2.1), the cores' first groups do not fill their MSHRs with
/// requests to one bank: `cta-aware-locality` is then 7 % below `lrr` instead of 23 %, with whole
/// rows 2 %. L1 never hits here, so there is nothing to gain; the 7 % are cycles in which the first
/// group prevents the others from issuing.
#[test]
fn group_focus_costs_the_other_groups() {
    let Some(trace) = Mechanism::open_long("owl_blp", "owl2013") else { return };
    let [whole_rows] = trace.gains("warp_scheduler", "lrr", ["cta-aware-locality"]);
    assert!((-3.0..-1.0).contains(&whole_rows), "{whole_rows}");
    let trace = trace.with(&[PIECES_OF_ROWS]);
    let variants = ["cta-aware-locality", "cta-aware-locality(idle=lend)"];
    let [wait, lend] = trace.gains("warp_scheduler", "lrr", variants);
    assert!((-8.0..-5.0).contains(&wait), "{wait}");
    assert!(lend.abs() < 1.0, "{lend}");
    let trace = trace.with(&["sm.stall=use"]);
    let [lrr, locality] = ["lrr", "cta-aware-locality"]
        .map(|policy| trace.run(&[&format!("policy.warp_scheduler={policy}")]));
    assert!(gain(&lrr, &locality) < -20.0, "{}", gain(&lrr, &locality));
    let [before, after] = [&lrr, &locality].map(bank_parallelism);
    assert!(after < 0.75 * before, "{before} {after}");
}

/// The same where a warp stalls on the use of a load, in the first quarter of the kernel.
#[test]
fn group_focus_takes_banks_from_the_other_groups() {
    let Some(trace) = Mechanism::open("owl_blp", "owl2013") else { return };
    let trace = trace.cut(131_712).with(&[PIECES_OF_ROWS, "sm.stall=use"]);
    let [lrr, locality] = ["lrr", "cta-aware-locality(groups=residents)"]
        .map(|policy| trace.run(&[&format!("policy.warp_scheduler={policy}")]));
    assert!(gain(&lrr, &locality) < -8.0, "{}", gain(&lrr, &locality));
    let [before, after] = [&lrr, &locality].map(bank_parallelism);
    assert!(after < 0.8 * before, "{before} {after}");
}

/// Groups that begin at different positions on each core use more banks, unless a group is first until
/// its CTAs have ended: then the first groups of the cores drift apart without it.
#[test]
fn groups_of_other_numbers_use_more_banks() {
    let Some(trace) = Mechanism::open_long("owl_blp", "owl2013") else { return };
    let trace = trace.with(&[PIECES_OF_ROWS]);
    let [ratio, gain] = blp_over_locality(&trace, "residents");
    assert!(ratio > 1.0 && (1.5..5.0).contains(&gain), "{ratio} {gain}");
    let [ratio, gain] = blp_over_locality(&trace, "until-end");
    assert!((0.95..1.05).contains(&ratio) && (-1.0..2.5).contains(&gain), "{ratio} {gain}");
}
