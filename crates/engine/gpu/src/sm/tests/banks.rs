//! L1 banks, the miss queue, bypasses of L1, and the write-back port.

use super::memory::{sectored, sent_cycles, simple};
use super::*;
use warpmem_cache::ReservationFail::MissQueueFull;
use warpmem_testing::{Step, compute, exit, fence, load, memory, store};
use warpmem_trace::OpClass::Integer;
use warpmem_trace::{CacheOp, Kind, Space};

/// Returns the addresses of 32-byte sectors by number; sector n is in bank n mod 4, four form a
/// line.
fn sectors(numbers: &[u64]) -> Vec<u64> {
    numbers.iter().map(|n| n * 32).collect()
}

#[test]
fn tags_are_looked_up_at_the_end_of_the_bank_pipeline() {
    // The line arrives MISS cycles after the first load issues; the second load enters the
    // pipeline independently.
    let second_load_after = |cycles: u64| {
        let first = vec![load(&[0]).used_after(0), exit()];
        let mut second = vec![compute(Integer, &[]); cycles as usize];
        second.extend([load(&[0]).used_after(0), exit()]);
        let outcome = run(&simple(&["sm.schedulers=2"]), vec![first, second]);
        let used = *outcome.offsets_of(1).last().unwrap();
        (outcome.result.l1.read_hits, outcome.result.l1.read_pending_hits, used - cycles)
    };
    assert_eq!(
        second_load_after(MISS - L1_LATENCY),
        (1, 0, L1_LATENCY),
        "filled before the lookup"
    );
    // One cycle earlier it is pending, and its first reader has priority at the write-back port.
    assert_eq!(second_load_after(MISS - L1_LATENCY - 1), (0, 1, L1_LATENCY + 1 + 1));
}

#[test]
fn stamps_record_bank_entry_and_departure_of_a_sector() {
    let outcome = run(&simple(&[]), vec![vec![load(&lines(2))]]);
    let stamps: Vec<_> =
        outcome.sent.iter().map(|s| (s.stamps.created.0, s.stamps.l1_missed.0)).collect();
    let entered = [START, START + 1];
    assert_eq!(stamps, entered.map(|entered| (entered, entered + TO_MEMORY)));
}

#[test]
fn each_bank_accepts_one_sector_per_cycle() {
    // Cycles that the sectors of a load hit spend entering their banks.
    let entering = |numbers: &[u64]| {
        let load = load(&sectors(numbers)).used_after(0);
        let issues = offsets(&sectored(&[]), vec![load.clone(), load, exit()]);
        issues[2] - issues[1] - L1_LATENCY + 1
    };
    assert_eq!(entering(&[0, 1, 2, 3]), 1, "four banks in parallel");
    assert_eq!(entering(&[0, 4, 8]), 3, "one bank");
    assert_eq!(entering(&[0, 4, 1, 5]), 3, "in order: 0, then 4 and 1, then 5");
}

#[test]
fn one_miss_leaves_per_cycle() {
    let outcome = run(&sectored(&[]), vec![vec![load(&sectors(&[0, 1, 2, 3]))]]);
    assert_eq!(sent_cycles(&outcome), [0, 1, 2, 3].map(|before| TO_MEMORY + before));
}

#[test]
fn the_lowest_bank_takes_a_freed_miss_queue_entry() {
    let warp = vec![load(&sectors(&[0, 1, 2, 3])), load(&sectors(&[4, 5, 6, 7]))];
    let outcome = run(&sectored(&["l1.cache.miss_queue=1"]), vec![warp]);
    // In each bank the second load's sector follows the first's by one cycle and is next once that
    // has left.
    let expected = sectors(&[0, 4, 1, 5, 2, 6, 3, 7]);
    let sent: Vec<u64> = outcome.sent.iter().map(|s| s.request.address).collect();
    assert_eq!(sent, expected);
    let cycles: Vec<u64> = (TO_MEMORY..TO_MEMORY + 8).collect();
    assert_eq!(sent_cycles(&outcome), cycles);
    // Banks 1 to 3 stall until two, four and six requests have left.
    assert_eq!(outcome.result.l1.reservation_fails[MissQueueFull as usize], 2 + 4 + 6);
}

/// Returns the load time of each single-lane load, by sector number. Loads issue one per cycle on
/// a machine with one MSHR entry; the `warm` sectors are in L1.
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
fn a_stalled_lookup_blocks_only_its_bank() {
    // Bank 0: a miss, a miss that stalls for the MSHR entry, and a hit after it. Bank 1: a hit.
    let got = load_times(&[], &[0, 1], &[8, 12, 0, 1]);
    let first_back = MISS;
    // The second miss is at the tags when the first returns, one cycle less after its issue; it
    // leaves in the next cycle and returns.
    let second = (first_back - 1) + 1 + MEMORY_LATENCY;
    // The hit reaches the tags one cycle later.
    let behind = (first_back - 2) + 1;
    assert_eq!(got, [first_back, second, behind, L1_LATENCY]);
}

#[test]
fn a_bank_holds_one_sector_per_pipeline_cycle() {
    let latency = 2;
    let times = |numbers: &[u64]| load_times(&["l1.latency=2"], &[1], numbers);
    // Bank 0 holds the two misses after the first.
    assert_eq!(times(&[8, 12, 16, 1])[3], latency);
    // A third miss stays in the load/store unit until the first returns, and the next instruction
    // one cycle longer.
    let first_back = latency + 1 + MEMORY_LATENCY;
    assert_eq!(times(&[8, 12, 16, 20, 1])[4], (first_back - 4) + 1 + latency);
}

#[test]
fn the_unit_takes_an_instruction_whose_bank_is_full() {
    let four_words_of_a_bank: Vec<u64> = (0..4).map(|word| word * 128).collect();
    let mut warp: WarpSteps = [8, 12, 16].map(|number| load(&sectors(&[number]))).to_vec();
    warp.push(memory(Kind::Load, Space::Shared, &four_words_of_a_bank));
    warp.extend([20, 24].map(|number| load(&sectors(&[number]))));
    let overrides = ["l1.latency=2", "l1.cache.mshr_entries=1", "sm.lsu_queue=1"];
    // The first load misses, the next two fill bank 0. After the four passes that start in cycle 3
    // the unit takes the fifth instruction, and its queue entry is free one cycle later.
    assert_eq!(offsets(&sectored(&overrides), warp), [0, 1, 2, 3, 4, 3 + 4 + 1]);
}

/// Returns the offset of each of four warps' uses of one line; warp 1 runs `other` instead.
fn uses_of_a_line(overrides: &[&str], other: WarpSteps) -> [u64; 4] {
    let reader = || vec![load(&[0]).used_after(0), exit()];
    let machine = simple(&[&["sm.schedulers=4"], overrides].concat());
    let outcome = run(&machine, vec![reader(), other, reader(), reader()]);
    [0, 1, 2, 3].map(|warp| *outcome.offsets_of(warp).last().unwrap())
}

#[test]
fn one_returning_datum_is_written_back_per_cycle() {
    let same = || vec![load(&[0]).used_after(0), exit()];
    let first = MISS;
    assert_eq!(uses_of_a_line(&[], same()), [first, first + 1, first + 2, first + 3]);
    let first = MISS + 2 * 5;
    let writeback = ["sm.writeback_latency=5"];
    assert_eq!(uses_of_a_line(&writeback, same()), [first, first + 1, first + 2, first + 3]);
    // Another line, which returns one cycle after the first, waits until the readers of the first
    // are served.
    let other = vec![load(&[128]).used_after(0), exit()];
    assert_eq!(uses_of_a_line(&[], other), [MISS, MISS + 3, MISS + 1, MISS + 2]);
}

#[test]
fn stores_use_no_write_back_slot() {
    let stores = vec![store(&[128]), fence(), exit()];
    assert_eq!(uses_of_a_line(&[], stores), [MISS, MISS + 1, MISS + 1, MISS + 2]);
}

#[test]
fn shared_memory_results_share_the_write_back_port() {
    let uses = |overrides: &[&str], issue: u64| {
        let mut shared = vec![compute(Integer, &[]); issue as usize];
        shared.extend([memory(Kind::Load, Space::Shared, &[0]).used_after(0), exit()]);
        let machine = simple(&[&["sm.schedulers=2"], overrides].concat());
        let outcome = run(&machine, vec![vec![load(&[0]).used_after(0), exit()], shared]);
        [0, 1].map(|warp| *outcome.offsets_of(warp).last().unwrap())
    };
    // The shared-memory result, scheduled first, is written in the cycle in which the datum
    // arrives.
    let before = ["sm.shared.latency=20"];
    assert_eq!(uses(&before, MISS - 20), [MISS + 1, MISS]);
    assert_eq!(uses(&before, MISS - 20 - 1), [MISS, MISS - 1]);
    // The datum is within its two write-backs of 3 cycles when the shared-memory result is
    // scheduled.
    let after = ["sm.shared.latency=1", "sm.writeback_latency=3"];
    let written = MISS + 2 * 3;
    assert_eq!(uses(&after, written - 1 - 3), [written, written + 1]);
}

/// Returns when requests left, relative to [`START`].
fn left(outcome: &Outcome) -> Vec<u64> {
    outcome.sent.iter().map(|s| s.stamps.l1_missed.0 - START).collect()
}

#[test]
fn bypassing_requests_leave_immediately_one_per_cycle() {
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
fn atomics_make_one_request_per_sector_or_per_conflict() {
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
    assert_eq!((sent, used), (vec![(0, 3), (64, 1)], 2 + MEMORY_LATENCY));
    let (sent, used) = atomics("sm.atomic_requests=per-conflict");
    assert_eq!((sent, used), (vec![(0, 1), (0, 1), (0, 1), (64, 1)], 4 + MEMORY_LATENCY));
}

#[test]
fn a_read_of_a_partly_written_sector_misses() {
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
