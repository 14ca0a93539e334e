//! The banks of L1, its miss queue, the ways past it, and the port on which data are written back.

use super::memory::{sectored, sent_cycles, simple};
use super::*;
use warpmem_cache::ReservationFail::MissQueueFull;
use warpmem_testing::{Step, compute, exit, fence, load, memory, store};
use warpmem_trace::OpClass::Integer;
use warpmem_trace::{CacheOp, Kind, Space};

/// Addresses of 32-byte sectors by number; sector n is in bank n mod 4, four are a line.
fn sectors(numbers: &[u64]) -> Vec<u64> {
    numbers.iter().map(|n| n * 32).collect()
}

#[test]
fn the_tags_are_at_the_end_of_a_banks_pipeline() {
    // The line comes MISS cycles after the first load's issue; the second enters the pipeline on
    // its own.
    let second_load_after = |cycles: u64| {
        let first = vec![load(&[0]).used_after(0), exit()];
        let mut second = vec![compute(Integer, &[]); cycles as usize];
        second.extend([load(&[0]).used_after(0), exit()]);
        let outcome = run(&simple(&["sm.schedulers=2"]), vec![first, second]);
        let used = *outcome.offsets_of(1).last().unwrap();
        (outcome.result.l1.read_hits, outcome.result.l1.read_pending_hits, used - cycles)
    };
    assert_eq!(second_load_after(MISS - L1_LATENCY), (1, 0, L1_LATENCY), "it is there by then");
    // A cycle earlier it is not; its first reader has the write-back port first.
    assert_eq!(second_load_after(MISS - L1_LATENCY - 1), (0, 1, L1_LATENCY + 1 + 1));
}

#[test]
fn stamps_say_when_a_sector_entered_its_bank_and_when_it_left() {
    let outcome = run(&simple(&[]), vec![vec![load(&lines(2))]]);
    let stamps: Vec<_> =
        outcome.sent.iter().map(|s| (s.stamps.created.0, s.stamps.l1_missed.0)).collect();
    let entered = [START, START + 1];
    assert_eq!(stamps, entered.map(|entered| (entered, entered + LEAVES)));
}

#[test]
fn each_bank_takes_one_sector_a_cycle() {
    // Cycles in which the sectors of a load that hits enter their banks, beside its latency.
    let entering = |numbers: &[u64]| {
        let load = load(&sectors(numbers)).used_after(0);
        let issues = offsets(&sectored(&[]), vec![load.clone(), load, exit()]);
        issues[2] - issues[1] - L1_LATENCY + 1
    };
    assert_eq!(entering(&[0, 1, 2, 3]), 1, "four banks at once");
    assert_eq!(entering(&[0, 4, 8]), 3, "one bank");
    assert_eq!(entering(&[0, 4, 1, 5]), 3, "in order: 0 | 4, 1 | 5");
}

#[test]
fn one_miss_leaves_in_a_cycle() {
    let outcome = run(&sectored(&[]), vec![vec![load(&sectors(&[0, 1, 2, 3]))]]);
    assert_eq!(sent_cycles(&outcome), [0, 1, 2, 3].map(|before| LEAVES + before));
}

#[test]
fn the_lowest_bank_has_the_place_that_comes_free() {
    let warp = vec![load(&sectors(&[0, 1, 2, 3])), load(&sectors(&[4, 5, 6, 7]))];
    let outcome = run(&sectored(&["l1.cache.miss_queue=1"]), vec![warp]);
    // In each bank the second load's sector is a cycle behind the first's: when that has gone, it
    // is the next.
    let expected = sectors(&[0, 4, 1, 5, 2, 6, 3, 7]);
    let sent: Vec<u64> = outcome.sent.iter().map(|s| s.request.address).collect();
    assert_eq!(sent, expected);
    let cycles: Vec<u64> = (LEAVES..LEAVES + 8).collect();
    assert_eq!(sent_cycles(&outcome), cycles);
    // Banks 1 to 3 fail until two, four and six have gone.
    assert_eq!(outcome.result.l1.reservation_fails[MissQueueFull as usize], 2 + 4 + 6);
}

/// Time from issue to the last datum of each load of one lane, by the number of its sector. The
/// loads issue one a cycle, on a machine with one MSHR entry where `warm` sectors are in L1.
fn load_times(overrides: &[&str], warm: &[u64], numbers: &[u64]) -> Vec<u64> {
    let one_entry = ["l1.cache.mshr_entries=1", "sm.lsu_queue=8"];
    let machine = sectored(&[&one_entry, overrides].concat());
    let of = |&number: &u64| load(&sectors(&[number])).with(|i| i.pc = 1 + number);
    let mut warp: WarpSteps =
        warm.iter().map(|number| of(number).with(|i| i.pc = 0).used_after(0)).collect();
    warp.extend(numbers.iter().map(of));
    let outcome = run(&machine, vec![warp]);
    let row = |number: &u64| outcome.loads.iter().find(|row| row.pc == 1 + number);
    numbers.iter().map(|number| row(number).expect("a load has ended").load_time).collect()
}

#[test]
fn what_fails_holds_up_its_bank_and_no_other() {
    // Bank 0: a miss, a miss that finds no MSHR entry until the first is back, a hit behind it.
    // Bank 1: a hit.
    let got = load_times(&[], &[0, 1], &[8, 12, 0, 1]);
    let first_back = MISS;
    // It is at the tags when the first is back, a cycle less after its issue, leaves in the next
    // and comes back.
    let second = (first_back - 1) + 1 + BELOW;
    // The hit is at the tags in the cycle after that.
    let behind = (first_back - 2) + 1;
    assert_eq!(got, [first_back, second, behind, L1_LATENCY]);
}

#[test]
fn a_bank_holds_as_many_sectors_as_its_pipeline_has_cycles() {
    let latency = 2;
    let times = |numbers: &[u64]| load_times(&["l1.latency=2"], &[1], numbers);
    // Bank 0 holds the two misses behind the first.
    assert_eq!(times(&[8, 12, 16, 1])[3], latency);
    // A third stays in the load/store unit until the first is back, and what is behind it for one
    // cycle more.
    let first_back = latency + 1 + BELOW;
    assert_eq!(times(&[8, 12, 16, 20, 1])[4], (first_back - 4) + 1 + latency);
}

#[test]
fn the_unit_begins_with_an_instruction_whose_bank_is_full() {
    let four_words_of_a_bank: Vec<u64> = (0..4).map(|word| word * 128).collect();
    let mut warp: WarpSteps = [8, 12, 16].map(|number| load(&sectors(&[number]))).to_vec();
    warp.push(memory(Kind::Load, Space::Shared, &four_words_of_a_bank));
    warp.extend([20, 24].map(|number| load(&sectors(&[number]))));
    let overrides = ["l1.latency=2", "l1.cache.mshr_entries=1", "sm.lsu_queue=1"];
    // The first misses, the next two fill bank 0. After four passes, from cycle 3 on, the unit
    // begins with the fourth, whose place the fifth takes in the cycle after.
    assert_eq!(offsets(&sectored(&overrides), warp), [0, 1, 2, 3, 4, 3 + 4 + 1]);
}

/// Offsets of the uses of a line that four warps ask for, warp 1 with `other` in its place.
fn uses_of_a_line(overrides: &[&str], other: WarpSteps) -> [u64; 4] {
    let reader = || vec![load(&[0]).used_after(0), exit()];
    let machine = simple(&[&["sm.schedulers=4"], overrides].concat());
    let outcome = run(&machine, vec![reader(), other, reader(), reader()]);
    [0, 1, 2, 3].map(|warp| *outcome.offsets_of(warp).last().unwrap())
}

#[test]
fn one_datum_that_comes_back_is_written_in_a_cycle() {
    let same = || vec![load(&[0]).used_after(0), exit()];
    let first = MISS;
    assert_eq!(uses_of_a_line(&[], same()), [first, first + 1, first + 2, first + 3]);
    let first = MISS + 2 * 5;
    let writeback = ["sm.writeback_latency=5"];
    assert_eq!(uses_of_a_line(&writeback, same()), [first, first + 1, first + 2, first + 3]);
    // Another line, which left and comes back a cycle after the first, waits until its readers have
    // theirs.
    let other = vec![load(&[128]).used_after(0), exit()];
    assert_eq!(uses_of_a_line(&[], other), [MISS, MISS + 3, MISS + 1, MISS + 2]);
}

#[test]
fn what_has_no_result_needs_no_write_back() {
    let stores = vec![store(&[128]), fence(), exit()];
    assert_eq!(uses_of_a_line(&[], stores), [MISS, MISS + 1, MISS + 1, MISS + 2]);
}

#[test]
fn shared_memory_results_are_written_on_the_same_port() {
    let uses = |overrides: &[&str], issue: u64| {
        let mut shared = vec![compute(Integer, &[]); issue as usize];
        shared.extend([memory(Kind::Load, Space::Shared, &[0]).used_after(0), exit()]);
        let machine = simple(&[&["sm.schedulers=2"], overrides].concat());
        let outcome = run(&machine, vec![vec![load(&[0]).used_after(0), exit()], shared]);
        [0, 1].map(|warp| *outcome.offsets_of(warp).last().unwrap())
    };
    // The shared-memory result, known first, is written in the cycle in which the datum comes.
    let before = ["sm.shared.latency=20"];
    assert_eq!(uses(&before, MISS - 20), [MISS + 1, MISS]);
    assert_eq!(uses(&before, MISS - 20 - 1), [MISS, MISS - 1]);
    // The datum is on its way through two write-backs of 3 cycles when the shared-memory result is
    // known.
    let after = ["sm.shared.latency=1", "sm.writeback_latency=3"];
    let written = MISS + 2 * 3;
    assert_eq!(uses(&after, written - 1 - 3), [written, written + 1]);
}

/// When requests left, counted from [`START`].
fn left(outcome: &Outcome) -> Vec<u64> {
    outcome.sent.iter().map(|s| s.stamps.l1_missed.0 - START).collect()
}

#[test]
fn what_passes_l1_leaves_at_once_one_a_cycle() {
    let past = |step: Step, overrides: &[&str]| {
        let outcome = run(&sectored(overrides), vec![vec![step]]);
        assert!(outcome.sent.iter().all(|s| s.request.bypass));
        left(&outcome)
    };
    let addresses = sectors(&[0, 1, 2]);
    let uncached = load(&addresses).with(|i| i.cache_op = CacheOp::Global);
    assert_eq!(past(uncached, &[]), [0, 1, 2]);
    assert_eq!(past(memory(Kind::Atomic, Space::Global, &addresses), &[]), [0, 1, 2]);
    assert_eq!(past(memory(Kind::Reduction, Space::Global, &addresses), &[]), [0, 1, 2]);
    for step in [load(&addresses), store(&addresses)] {
        assert_eq!(past(step, &["l1.enabled=false"]), [0, 1, 2]);
    }
}

#[test]
fn atomics_are_one_request_a_sector_or_one_a_conflict() {
    let atomics = |requests: &str| {
        let three_on_one = memory(Kind::Atomic, Space::Global, &[0, 4, 0, 0, 64]).used_after(0);
        let outcome = run(&sectored(&[requests]), vec![vec![three_on_one, exit()]]);
        let sent: Vec<_> = outcome
            .sent
            .iter()
            .map(|s| (s.request.address, s.request.max_lanes_per_address))
            .collect();
        (sent, outcome.offsets_of(0)[1])
    };
    let (sent, used) = atomics("sm.atomic_requests=per-sector");
    assert_eq!((sent, used), (vec![(0, 3), (64, 1)], 2 + BELOW));
    let (sent, used) = atomics("sm.atomic_requests=per-conflict");
    assert_eq!((sent, used), (vec![(0, 1), (0, 1), (0, 1), (64, 1)], 4 + BELOW));
}

#[test]
fn a_sector_written_in_part_is_fetched_by_a_read_of_that_part() {
    let volta = ["l1.cache.write=write-through", "l1.cache.write_allocate=lazy-fetch"];
    let after = |addresses: &[u64]| {
        let warp = vec![store(addresses), fence(), load(&[0]).used_after(0), exit()];
        let outcome = run(&sectored(&volta), vec![warp]);
        (outcome.sent.len(), outcome.result.l1.read_sector_misses, outcome.result.l1.read_hits)
    };
    assert_eq!(after(&[0]), (2, 1, 0));
    let whole: Vec<u64> = (0..8).map(|lane| 4 * lane).collect();
    assert_eq!(after(&whole), (1, 0, 1));
}
