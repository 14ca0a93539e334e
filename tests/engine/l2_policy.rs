//! Accesses with L2 eviction policies.

use crate::trace::{Access, Kernel, Step, Warp, machine, run, write};
use warpmem::gpu::results::RunResult;
use warpmem_trace::{Eviction, Kind, L2Policy};

/// Lines of L2, all in one set.
const LINES: u64 = 16;

/// Eviction policy of an access.
type Policy = Option<L2Policy>;

fn all(eviction: Eviction) -> Policy {
    Some(L2Policy::of_all(eviction))
}

/// Makes a warp that accesses lines in sequence, each access depending on the previous one.
fn chase(kind: Kind, policy: Policy, lines: impl IntoIterator<Item = u64>) -> Warp {
    let access = |line: u64| {
        let load = Access::load(4, vec![128 * line]);
        Access { kind, dest: (kind == Kind::Load).then_some(1), source: Some(1), ..load }
    };
    let step = |line| match policy {
        Some(policy) => Step::L2(policy, access(line)),
        None => Step::Memory(access(line)),
    };
    lines.into_iter().map(step).collect()
}

fn reads(policy: Policy, lines: impl IntoIterator<Item = u64>) -> Warp {
    chase(Kind::Load, policy, lines)
}

/// Returns the read misses of an L2 of one slice with `kept_ways`, without an L1.
fn misses(kept_ways: u32, parts: &[Warp]) -> u64 {
    let kept = format!("l2.kept_ways={kept_ways}");
    read_misses(&["dram.channels=1", &kept], parts)
}

fn read_misses(overrides: &[&str], parts: &[Warp]) -> u64 {
    misses_of(&outcome(overrides, parts))
}

fn misses_of(result: &RunResult) -> u64 {
    result.slices.iter().map(|slice| slice.cache.read_misses).sum()
}

fn outcome(overrides: &[&str], parts: &[Warp]) -> RunResult {
    let kernel = Kernel { ctas: vec![vec![parts.concat()]], ..Kernel::default() };
    outcome_of(overrides, &[kernel])
}

fn outcome_of(overrides: &[&str], kernels: &[Kernel]) -> RunResult {
    let keys = [
        "sm.count=1",
        "l2.slices_per_channel=1",
        "l1.enabled=false",
        "l2.cache.size_bytes=2048",
        "l2.cache.ways=0",
        "l2.cache.index=linear",
    ];
    let file = write(kernels);
    run(&machine("li2015", &[&keys, overrides].concat()), &file.trace)
}

/// Returns lines other than those that are read again.
fn stream() -> std::ops::Range<u64> {
    100..100 + 3 * LINES
}

#[test]
fn evict_last_lines_survive_a_stream() {
    let again = |policy, kept_ways| {
        misses(kept_ways, &[reads(policy, 0..8), reads(None, stream()), reads(None, 0..8)])
    };
    let first = 8 + 3 * LINES;
    assert_eq!(again(None, 12), first + 8);
    assert_eq!(again(all(Eviction::Last), 12), first, "all are there");
    assert_eq!(again(all(Eviction::Last), 0), first + 8, "a machine that keeps none");
    assert_eq!(again(all(Eviction::Last), 5), first + 3, "the first gave way");
}

#[test]
fn a_fraction_of_the_lines_is_evict_last() {
    let policy = L2Policy { sixteenths: 8, ..L2Policy::of_all(Eviction::Last) };
    let kept = (0..8).filter(|&line| policy.of_line(line) == Eviction::Last).count() as u64;
    assert!((1..8).contains(&kept));
    let parts = [reads(Some(policy), 0..8), reads(None, stream()), reads(None, 0..8)];
    assert_eq!(misses(12, &parts), 8 + 3 * LINES + 8 - kept);
}

#[test]
fn accesses_of_all_kinds_have_their_lines_kept() {
    for kind in [Kind::Prefetch, Kind::Store, Kind::Atomic, Kind::Reduction, Kind::AsyncCopy] {
        let begin = chase(kind, all(Eviction::Last), 0..8);
        // Waits for all outstanding accesses.
        let waits = vec![Step::Fence, Step::WaitAsync];
        let parts = [begin, waits, reads(None, stream()), reads(None, 0..8)];
        let without = [&parts[..3], &[Warp::new()]].concat();
        assert_eq!(misses(12, &parts), misses(12, &without), "{kind:?}");
        assert!(misses(0, &parts) >= misses(0, &without) + 8, "{kind:?}");
    }
}

#[test]
fn evict_first_lines_displace_only_each_other() {
    let half = LINES - 1;
    let again =
        |policy| misses(12, &[reads(None, 0..half), reads(policy, stream()), reads(None, 0..half)]);
    assert_eq!(again(None), half + 3 * LINES + half);
    assert_eq!(again(all(Eviction::First)), half + 3 * LINES);
}

#[test]
fn evict_normal_access_releases_a_kept_line() {
    let again = |policy| {
        let parts = [reads(all(Eviction::Last), 0..8), reads(policy, 0..8), reads(None, stream())];
        misses(12, &[&parts[..], &[reads(None, 0..8)]].concat())
    };
    let first = 8 + 3 * LINES;
    assert_eq!(again(None), first, "one that says nothing changes nothing");
    assert_eq!(again(all(Eviction::Unchanged)), first);
    assert_eq!(again(all(Eviction::Normal)), first + 8);
    assert_eq!(again(all(Eviction::First)), first + 8);
}

/// Kernels of one warp: persisting lines are filled, others follow, and the first are read again.
#[test]
fn a_reset_makes_persisting_lines_normal() {
    let misses = |reset_before: Option<usize>| {
        let parts = [reads(all(Eviction::Last), 0..8), reads(None, stream()), reads(None, 0..8)];
        let kernel = |(number, part)| Kernel {
            ctas: vec![vec![part]],
            resets_l2: reset_before == Some(number),
            ..Kernel::default()
        };
        let kernels: Vec<Kernel> = parts.into_iter().enumerate().map(kernel).collect();
        misses_of(&outcome_of(&["dram.channels=1", "l2.kept_ways=12"], &kernels))
    };
    let first = 8 + 3 * LINES;
    assert_eq!(misses(None), first);
    assert_eq!(misses(Some(0)), first, "nothing is kept yet");
    assert_eq!(misses(Some(1)), first + 8);
    assert_eq!(misses(Some(2)), first, "they are still there");
}

/// The second kernel begins with an access of the kind to a line of its own.
#[test]
fn reset_takes_effect_at_the_first_request() {
    let kernels = [Kind::Load, Kind::Store, Kind::Atomic, Kind::Prefetch].map(|kind| {
        let begin =
            Kernel { ctas: vec![vec![reads(all(Eviction::Last), 0..8)]], ..Kernel::default() };
        let parts = [
            chase(kind, None, 50..51),
            vec![Step::Fence],
            reads(None, stream()),
            reads(None, 0..8),
        ];
        let second =
            Kernel { ctas: vec![vec![parts.concat()]], resets_l2: true, ..Kernel::default() };
        (kind, [begin, second])
    });
    for (kind, kernels) in kernels {
        let misses = |kernels: &[Kernel]| {
            misses_of(&outcome_of(&["dram.channels=1", "l2.kept_ways=12"], kernels))
        };
        let [begin, second] = kernels;
        let without = Kernel { resets_l2: false, ..second.clone() };
        assert_eq!(misses(&[begin.clone(), second]), misses(&[begin, without]) + 8, "{kind:?}");
    }
}

#[test]
fn allocate_on_fill_keeps_evict_last_lines() {
    let again = |policy| {
        let keys = ["dram.channels=1", "l2.kept_ways=12", "l2.cache.read_allocate=on-fill"];
        read_misses(&keys, &[reads(policy, 0..8), reads(None, stream()), reads(None, 0..8)])
    };
    assert_eq!(again(None), again(all(Eviction::Last)) + 8);
}

/// Each of two slices keeps its own lines and copies of the other's, until a reset.
#[test]
fn copies_of_far_lines_are_kept() {
    let hits = |policy, resets_l2| {
        let keys = ["sm.count=2", "dram.channels=2", "l2.copies=true", "l2.kept_ways=12"];
        let kernel = |resets_l2, parts: &[Warp]| Kernel {
            ctas: vec![vec![parts.concat()], vec![vec![]]],
            resets_l2,
            ..Kernel::default()
        };
        let first = kernel(false, &[reads(policy, 0..8)]);
        let second = kernel(resets_l2, &[reads(None, stream()), reads(None, 0..8)]);
        let result = outcome_of(&keys, &[first, second]);
        let counters = result.counters.iter().filter(|one| one.counter == "copy_hits");
        counters.map(|one| one.value).sum::<u64>()
    };
    assert_eq!(hits(None, false), 0);
    assert!(hits(all(Eviction::Last), false) >= 2);
    assert_eq!(hits(all(Eviction::Last), true), 0);
}
