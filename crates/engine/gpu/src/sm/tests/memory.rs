//! Load/store unit and L1.

use super::*;
use crate::testing::machine;
use warpmem_cache::ReservationFail;
use warpmem_testing::{Step, TestKernel, compute, exit, fence, load, memory, store, trace};
use warpmem_trace::OpClass::Integer;
use warpmem_trace::{CacheOp, Kind, Space};

pub(super) fn simple(overrides: &[&str]) -> Machine {
    machine(&[&["l1.latency=30"], overrides].concat())
}

/// V100 layout: sectors of 32 bytes, four banks.
pub(super) fn sectored(overrides: &[&str]) -> Machine {
    let sectors = ["l1.cache.sector_bytes=32", "l2.cache.sector_bytes=32", "l1.banks=4"];
    let dram = ["dram.bus_bytes=4", "dram.address.map=row:12 bank:4 column:7 burst:5"];
    simple(&[&sectors[..], &dram, overrides].concat())
}

/// Returns the arrival cycles of requests at the stub, relative to [`START`].
pub(super) fn sent_cycles(outcome: &Outcome) -> Vec<u64> {
    outcome.sent.iter().map(|s| s.cycle - START).collect()
}

#[test]
fn a_line_is_requested_once_and_then_hits() {
    let warp = vec![load(&[0, 4]).used_after(0), load(&[64]).used_after(0), exit()];
    let outcome = run(&simple(&[]), vec![warp]);
    assert_eq!(outcome.traffic(), [(RequestKind::Read, 0, START + TO_MEMORY)]);
    let l1 = &outcome.result.l1;
    assert_eq!((l1.read_misses, l1.read_hits, l1.read_pending_hits), (1, 1, 0));
}

#[test]
fn loads_of_a_pending_line_merge() {
    let warps =
        vec![vec![load(&[0]).used_after(0), exit()], vec![load(&[8]).used_after(0), exit()]];
    let outcome = run(&simple(&[]), warps);
    assert_eq!(outcome.sent.len(), 1);
    assert_eq!(outcome.result.l1.read_pending_hits, 1);
    assert_eq!(outcome.offsets_of(0), [0, MISS]);
    assert_eq!(outcome.offsets_of(1), [1, MISS + 1]);
}

#[test]
fn a_bank_sends_one_request_per_cycle() {
    let outcome = run(&simple(&[]), vec![vec![load(&lines(4))]]);
    assert_eq!(sent_cycles(&outcome), [0, 1, 2, 3].map(|entered| entered + TO_MEMORY));
}

#[test]
fn an_instruction_without_active_lanes_issues_without_traffic() {
    let warp = vec![load(&[]).used_after(0), store(&[]), compute(Integer, &[])];
    let outcome = run(&simple(&[]), vec![warp]);
    assert_eq!(outcome.issues_of(0), [START, START + 1, START + 2]);
    assert_eq!(outcome.result.memory_instructions, 2);
    assert!(outcome.sent.is_empty() && outcome.loads.is_empty());
}

#[test]
fn a_warp_ends_with_or_without_the_acknowledgement_of_its_stores() {
    let end = |keys: &[&str], warp: &[Step]| run(&simple(keys), vec![warp.to_vec()]).end_cycle();
    let outlives = ["sm.stores_outlive_warps=true"];
    let (posted, none) = ([store(&[0]), exit()], [exit()]);
    assert_eq!(end(&outlives, &posted), end(&[], &none) + 1);
    assert!(end(&[], &posted) > end(&outlives, &posted) + MEMORY_LATENCY);
    let loads = [load(&[0]), exit()];
    assert_eq!(end(&outlives, &loads), end(&[], &loads), "loads are awaited");
}

/// The second CTA takes the warp slot of the first, whose stores are acknowledged later.
#[test]
fn acknowledgements_of_an_ended_warp_leave_its_successor_alone() {
    let machine = simple(&["sm.stores_outlive_warps=true", "sm.max_ctas=1"]);
    let mut rig = Rig::new(&machine, MemoryStub::default());
    rig.launch(&trace(&[TestKernel::new(vec![vec![vec![store(&lines(3)), exit()]]])]), START);
    let second = vec![store(&[4096]), fence(), load(&[8192]).used_after(0), exit()];
    rig.launch(&trace(&[TestKernel::new(vec![vec![second]])]), START + 20);
    let outcome = rig.run();
    assert_eq!(outcome.ended.len(), 2);
    let fenced = outcome.loads[0].issue_cycle - START;
    assert!(fenced > 20 + MEMORY_LATENCY, "the fence awaits the successor's own store: {fenced}");
}

#[test]
fn an_sm_takes_its_replies_per_cycle() {
    let last = |replies: u32| {
        let key = format!("sm.replies_per_cycle={replies}");
        let warp = vec![load(&lines(8)).used_after(0), exit()];
        let keys = [key.as_str(), "l1.banks=8", "l1.requests_per_cycle=8"];
        run(&simple(&keys), vec![warp]).offsets_of(0)[1]
    };
    assert!(last(1) > last(8), "{} {}", last(1), last(8));
}

#[test]
fn a_prefetch_makes_traffic_and_stalls_no_warp() {
    let prefetch = memory(Kind::Prefetch, Space::Global, &[0]);
    let warp = vec![prefetch, compute(Integer, &[]), load(&[0]).used_after(0), exit()];
    let outcome = run(&simple(&[]), vec![warp]);
    assert_eq!(outcome.issues_of(0)[..3], [START, START + 1, START + 2]);
    assert_eq!(outcome.traffic(), [(RequestKind::Read, 0, START + TO_MEMORY)], "the load merges");
    assert_eq!(outcome.loads.len(), 1, "a prefetch is not a load");
}

#[test]
fn an_async_copy_loads_its_global_addresses() {
    let copy = memory(Kind::AsyncCopy, Space::Global, &[0]).used_after(0);
    let outcome = run(&simple(&[]), vec![vec![copy, exit()]]);
    assert_eq!(outcome.offsets_of(0), [0, MISS]);
    assert_eq!(outcome.loads.len(), 1);
}

#[test]
fn async_copy_bypass_follows_the_machine() {
    let copy = memory(Kind::AsyncCopy, Space::Global, &[0]).with(|i| i.cache_op = CacheOp::Global);
    let counts = |overrides: &[&str]| {
        let outcome = run(&simple(overrides), vec![vec![copy.clone(), exit()]]);
        let l1 = &outcome.result.l1;
        (l1.read_misses, l1.bypasses)
    };
    assert_eq!(counts(&["l1.async_bypass=true"]), (0, 1));
    assert_eq!(counts(&["l1.async_bypass=false"]), (1, 0));
}

/// A one-lane instruction that moves 1 KiB from address 0 on, 32 sectors of 32 bytes.
fn bulk(kind: Kind) -> Step {
    memory(kind, Space::Global, &[0]).with(|i| {
        i.cache_op = CacheOp::Global;
        i.width = 1024;
    })
}

#[test]
fn a_bulk_copy_requests_one_sector_per_cycle_and_completes_with_the_last() {
    let copy = bulk(Kind::AsyncCopy).used_after(0);
    let outcome = run(&sectored(&["l1.async_bypass=true"]), vec![vec![copy, exit()]]);
    let expected: Vec<_> = (0..32).map(|at| (RequestKind::Read, 32 * at, START + 1 + at)).collect();
    assert_eq!(outcome.traffic(), expected);
    assert!(outcome.sent.iter().all(|sent| sent.request.bypass));
    // The last request is sent 31 cycles after the first.
    assert_eq!(outcome.offsets_of(0), [0, 1 + 31 + MEMORY_LATENCY]);
    let [row] = outcome.loads[..] else { panic!("{:?}", outcome.loads) };
    assert_eq!(row.requests, 32);
    assert_eq!((outcome.result.l1.bypasses, outcome.result.memory_instructions), (32, 1));
}

#[test]
fn a_bulk_store_bypasses_l1_and_invalidates_cached_sectors() {
    let warp = vec![
        load(&[64]).used_after(0),
        bulk(Kind::Store),
        load(&[64]).used_after(0),
        load(&[2048]).used_after(0),
        exit(),
    ];
    let outcome = run(&sectored(&["l1.cache.write_allocate=lazy-fetch"]), vec![warp]);
    let of = |kind| outcome.sent.iter().filter(|sent| sent.request.kind == kind).count();
    assert_eq!([of(RequestKind::Write), of(RequestKind::Read)], [32, 3]);
    let writes = outcome.sent.iter().filter(|sent| sent.request.kind == RequestKind::Write);
    assert!(writes.clone().all(|sent| sent.request.bytes == u32::MAX && sent.request.bypass));
    let cycles: Vec<u64> = writes.map(|sent| sent.cycle).collect();
    assert_eq!(cycles[31] - cycles[0], 31, "one per cycle");
    assert_eq!((outcome.result.l1.read_hits, outcome.result.l1.atomics), (0, 0));
}

#[test]
fn a_bulk_reduction_is_an_atomic_per_sector_and_stalls_no_warp() {
    let warp = vec![bulk(Kind::Reduction), compute(Integer, &[])];
    let outcome = run(&sectored(&[]), vec![warp]);
    assert_eq!(outcome.issues_of(0), [START, START + 1]);
    let expected: Vec<_> =
        (0..32).map(|at| (RequestKind::Atomic, 32 * at, START + 1 + at)).collect();
    assert_eq!(outcome.traffic(), expected);
    assert!(outcome.sent.iter().all(|sent| sent.request.max_lanes_per_address == 1));
    assert_eq!(outcome.end_cycle(), START + 1 + 31 + MEMORY_LATENCY);
}

#[test]
fn a_bulk_prefetch_makes_traffic_and_stalls_no_warp() {
    let outcome = run(&sectored(&[]), vec![vec![bulk(Kind::Prefetch), compute(Integer, &[])]]);
    assert_eq!(outcome.issues_of(0), [START, START + 1]);
    assert_eq!((outcome.sent.len(), outcome.result.l1.bypasses), (32, 32));
}

/// A stride of 33 words has no bank conflicts and 32 lines: (32 + 2) / 4 cycles of the tags.
#[test]
fn the_data_of_a_hit_are_complete_with_its_last_wavefront() {
    let keys = ["l1.data_path=wavefronts", "l1.requests_per_cycle=16", "network.input_buffer=64"];
    let hit = |addresses: &[u64]| {
        let load = || load(addresses).used_after(0);
        let warp = vec![load(), load(), exit()];
        let outcome = run(&sectored(&keys), vec![warp]);
        let offsets = outcome.offsets_of(0);
        (offsets[2] - offsets[1], outcome.result.l1_wavefront_cycles)
    };
    let strided: Vec<u64> = (0..32).map(|lane| 132 * lane).collect();
    let ((short, _), (long, wavefronts)) = (hit(&[0]), hit(&strided));
    assert_eq!((long, wavefronts), (short + 8 - 1, 2 * 8));
}

/// The pipeline holds fewer sectors than the copy has.
#[test]
fn a_long_bulk_copy_enters_the_wavefronts_in_parts() {
    let keys = ["l1.data_path=wavefronts", "l1.async_bypass=false", "l1.latency=1"];
    let copy = bulk(Kind::AsyncCopy).with(|i| i.width = 1 << 14).used_after(0);
    let outcome = run(&sectored(&keys), vec![vec![copy, exit()]]);
    assert_eq!((outcome.sent.len(), outcome.result.l1.bypasses), (512, 0));
}

#[test]
fn an_atomic_bypasses_l1_and_invalidates_the_cached_sector() {
    let atomic = memory(Kind::Atomic, Space::Global, &[0, 0, 4]).used_after(0);
    let warp = vec![load(&[0]).used_after(0), atomic, load(&[0]).used_after(0), exit()];
    let outcome = run(&simple(&[]), vec![warp]);
    let kinds: Vec<RequestKind> = outcome.sent.iter().map(|s| s.request.kind).collect();
    assert_eq!(kinds, [RequestKind::Read, RequestKind::Atomic, RequestKind::Read]);
    let atomic = outcome.sent[1].request;
    assert_eq!(
        (atomic.max_lanes_per_address, atomic.bypass),
        (2, true),
        "two lanes access one address"
    );
    let cycles = outcome.issues_of(0);
    assert_eq!(cycles[2] - cycles[1], 1 + MEMORY_LATENCY, "returns the old value");
    assert_eq!(outcome.result.l1.atomics, 1);
    assert_eq!(outcome.loads.len(), 3, "an atomic returns data");
}

#[test]
fn a_reduction_is_acknowledged_without_stalling_the_warp() {
    let reduction = memory(Kind::Reduction, Space::Global, &[0]);
    let outcome = run(&simple(&[]), vec![vec![reduction, compute(Integer, &[])]]);
    assert_eq!(outcome.issues_of(0), [START, START + 1]);
    assert_eq!(outcome.traffic(), [(RequestKind::Atomic, 0, START + 1)]);
    assert_eq!(
        outcome.end_cycle(),
        START + 1 + MEMORY_LATENCY,
        "the warp retires after the acknowledgement"
    );
    assert!(outcome.loads.is_empty());
}

/// Without the stall a warp issues past posted instructions and loads whose value it does not
/// need.
#[test]
fn atomics_stall_blocks_the_warp_until_all_atomics_return() {
    let cycles = |step: Step, stalls: bool| {
        let machine = simple(&[&format!("sm.atomics_stall={stalls}")]);
        let outcome = run(&machine, vec![vec![step, compute(Integer, &[])]]);
        let issues = outcome.issues_of(0);
        issues[1] - issues[0]
    };
    let back = 1 + MEMORY_LATENCY;
    for kind in [Kind::Atomic, Kind::Reduction] {
        let global = || memory(kind, Space::Global, &[0]);
        assert_eq!(cycles(global(), false), 1, "{kind:?}");
        assert_eq!(cycles(global(), true), back, "{kind:?}");
        // The second of two requests leaves one cycle later.
        assert_eq!(cycles(memory(kind, Space::Global, &[0, 4096]), true), back + 1, "{kind:?}");
    }
    assert!(cycles(memory(Kind::Atomic, Space::Shared, &[0]), true) > 1, "shared memory too");
    assert_eq!(cycles(load(&[0]), true), 1);
    assert_eq!(cycles(store(&[0]), true), 1);
}

/// The second load merges in L1 and makes no request; every request spends equal time in memory.
#[test]
fn replies_of_all_kinds_are_counted_with_their_round_trip_times() {
    let warp = vec![
        load(&[0]),
        load(&[4]),
        store(&[4096]),
        memory(Kind::Atomic, Space::Global, &[8192]),
        memory(Kind::Reduction, Space::Global, &[0]),
    ];
    let outcome = run(&simple(&[]), vec![warp]);
    let of = |kind| outcome.sent.iter().filter(|sent| sent.request.kind == kind).count() as u64;
    assert_eq!(outcome.result.replies, outcome.sent.len() as u64);
    let [reads, writes, atomics] =
        [RequestKind::Read, RequestKind::Write, RequestKind::Atomic].map(of);
    assert_eq!((reads, writes, atomics), (1, 1, 2));
    let in_l1 = (reads + writes) * TO_MEMORY;
    assert!(
        outcome.result.reply_ticks >= 4 * MEMORY_LATENCY + in_l1,
        "{}",
        outcome.result.reply_ticks
    );
    assert!(outcome.result.reply_ticks <= 4 * (MEMORY_LATENCY + TO_MEMORY + 8));
}

#[test]
fn uncached_loads_bypass_l1() {
    for op in [CacheOp::Global, CacheOp::Volatile, CacheOp::StrongGpu] {
        let through = load(&[0]).with(|i| i.cache_op = op).used_after(0);
        let warp = vec![load(&[0]).used_after(0), through, load(&[0]).used_after(0), exit()];
        let outcome = run(&simple(&[]), vec![warp]);
        assert_eq!(outcome.sent.len(), 2, "{op:?}");
        assert!(outcome.sent[1].request.bypass);
        assert_eq!(outcome.result.l1.bypasses, 1);
        assert_eq!(outcome.result.l1.read_hits, 1, "the cached sector stays valid");
    }
    for op in
        [CacheOp::Default, CacheOp::All, CacheOp::Streaming, CacheOp::LastUse, CacheOp::ReadOnly]
    {
        let cached = load(&[0]).with(|i| i.cache_op = op).used_after(0);
        let outcome = run(&simple(&[]), vec![vec![cached.clone(), cached, exit()]]);
        assert_eq!(outcome.sent.len(), 1, "{op:?}");
    }
}

#[test]
fn local_and_texture_loads_share_l1_with_global_ones() {
    let of = |space| memory(Kind::Load, space, &[0]).used_after(0);
    let warp = vec![of(Space::Local), of(Space::Texture), of(Space::Global), exit()];
    let outcome = run(&simple(&[]), vec![warp]);
    assert_eq!((outcome.sent.len(), outcome.result.l1.read_hits), (1, 2));
}

#[test]
fn without_l1_every_access_goes_to_memory() {
    let warp = vec![load(&[0]).used_after(0), load(&[0]).used_after(0), store(&[0]), exit()];
    let outcome = run(&simple(&["l1.enabled=false"]), vec![warp]);
    let kinds: Vec<RequestKind> = outcome.sent.iter().map(|s| s.request.kind).collect();
    assert_eq!(kinds, [RequestKind::Read, RequestKind::Read, RequestKind::Write]);
}

#[test]
fn stores_write_through_with_their_byte_mask() {
    let addresses: Vec<u64> = (0..8).map(|lane| 128 + 4 * lane).collect();
    let outcome = run(&simple(&[]), vec![vec![store(&addresses)]]);
    assert_eq!(outcome.traffic(), [(RequestKind::Write, 128, START + TO_MEMORY)]);
    assert_eq!(outcome.sent[0].request.bytes, 0xff, "eight words of 32");
    assert!(outcome.loads.is_empty(), "a store is not a load");
}

#[test]
fn write_back_l1_keeps_stores_and_evicts_dirty_lines() {
    let small = [
        "l1.cache.write=write-back",
        "l1.cache.write_allocate=fetch-on-write",
        "l1.cache.size_bytes=128",
        "l1.cache.ways=1",
    ];
    let whole_line: Vec<u64> = (0..32).map(|lane| 4 * lane).collect();
    let warp =
        vec![store(&whole_line), load(&[0]).used_after(0), load(&[128]).used_after(0), exit()];
    let outcome = run(&simple(&small), vec![warp]);
    let traffic: Vec<_> = outcome.traffic().iter().map(|t| (t.0, t.1)).collect();
    assert_eq!(traffic, [(RequestKind::Writeback, 0), (RequestKind::Read, 128)]);
    assert_eq!(outcome.result.l1.writebacks, 1);

    let partial = run(&simple(&small), vec![vec![store(&[0]), load(&[64]).used_after(0), exit()]]);
    let traffic: Vec<_> = partial.traffic().iter().map(|t| t.0).collect();
    assert_eq!(traffic, [RequestKind::Fetch], "the load merges into the store's fetch");
    assert_eq!(partial.result.l1.write_fetches, 1);
}

#[test]
fn shared_memory_takes_one_pass_per_bank_conflict() {
    let access = |stride: u64| {
        let addresses: Vec<u64> = (0..32).map(|lane| lane * stride).collect();
        memory(Kind::Load, Space::Shared, &addresses).used_after(0)
    };
    let machine = simple(&["sm.shared.latency=20"]);
    let free = run(&machine, vec![vec![access(4), exit()]]);
    assert_eq!(free.issues_of(0), [START, START + 20]);
    let conflict = run(&machine, vec![vec![access(32), exit()]]);
    assert_eq!(conflict.issues_of(0), [START, START + 20 + 7], "eight passes");
    assert_eq!(conflict.result.shared_bank_conflict_cycles, 7);
    assert_eq!((conflict.result.shared_accesses, conflict.loads.len()), (1, 0));
    assert!(conflict.sent.is_empty());
}

#[test]
fn shared_memory_passes_occupy_the_unit() {
    let same_bank: Vec<u64> = (0..16).map(|lane| lane * 128).collect();
    let shared = memory(Kind::Store, Space::Shared, &same_bank);
    let outcome = run(&simple(&[]), vec![vec![shared, load(&[0])]]);
    assert_eq!(sent_cycles(&outcome), [16 + TO_MEMORY], "after 16 passes");
}

#[test]
fn a_full_request_port_stalls_the_unit_until_it_drains() {
    let machine = simple(&["l1.cache.miss_queue=2", "network.input_buffer=1", "l1.latency=1"]);
    let closed_until = 500;
    let mut rig = Rig::new(&machine, MemoryStub { closed_until, ..MemoryStub::default() });
    rig.launch(&trace(&[TestKernel::new([vec![vec![load(&lines(8))]]])]), START);
    let outcome = rig.run();
    assert_eq!(outcome.sent.len(), 8, "all requests are sent eventually");
    // Three entries, in the miss queue and the network's input, take one line per cycle from the
    // first lookup, one cycle after the issue. The fourth line stalls until the port drains.
    let fails = outcome.result.l1.reservation_fails[ReservationFail::MissQueueFull as usize];
    assert_eq!(fails, closed_until - (START + 1 + 3));
}

#[test]
fn reservation_fails_count_stall_cycles() {
    let fails = |machine: &Machine, warp: WarpSteps| {
        let outcome = run(machine, vec![warp]);
        outcome.result.l1.reservation_fails
    };
    // The third lookup is at the tags two cycles after the first, whose reply frees its resource.
    let machine = simple(&["l1.cache.mshr_entries=2"]);
    let wait = MISS - L1_LATENCY - 2;
    assert_eq!(fails(&machine, vec![load(&lines(3))]), [0, 0, wait, 0]);
    let machine = simple(&["l1.cache.mshr_merges=2"]);
    assert_eq!(fails(&machine, vec![load(&[0]); 3]), [0, 0, 0, wait]);
    let machine = simple(&["l1.cache.size_bytes=256", "l1.cache.ways=2"]);
    assert_eq!(fails(&machine, vec![load(&lines(3))]), [wait, 0, 0, 0]);
}

#[test]
fn a_load_row_records_the_requests_of_a_load() {
    let warp = vec![
        compute(Integer, &[]),
        load(&[0, 4, 128, 256]).with(|i| i.pc = 0x70).used_after(0),
        exit(),
    ];
    let outcome = run(&simple(&[]), vec![warp]);
    let [row] = outcome.loads[..] else { panic!("{:?}", outcome.loads) };
    assert_eq!((row.pc, row.issue_cycle, row.requests), (0x70, START + 1, 3));
    assert_eq!(row.load_time, MISS + 2, "the third request leaves two cycles later");
    assert_eq!((row.channels, row.banks), (2, 2), "256 bytes per channel");
    assert_eq!((row.offchip_requests, row.divergence), (0, None));
}

#[test]
fn channels_and_banks_are_counted_for_requesting_instructions() {
    let shared = memory(Kind::Load, Space::Shared, &[0]);
    // With 256 bytes per channel: 1, 2 and 1 channels and as many banks, the last in L1; shared
    // memory and empty lane masks make no requests.
    let warp =
        vec![load(&[0]).used_after(0), store(&[0, 256]), load(&[0]), shared, load(&[]), exit()];
    let result = run(&simple(&[]), vec![warp]).result;
    assert_eq!(result.memory_instructions, 5);
    assert_eq!(result.requesting_instructions, 3);
    assert_eq!((result.requested_channels, result.requested_banks), (4, 4));
}

#[test]
fn requests_carry_their_cta() {
    let ctas = vec![vec![vec![load(&[0]), exit()]], vec![vec![store(&[128]), exit()]]];
    let sent = run_ctas(&simple(&[]), ctas).sent;
    let from: Vec<_> = sent.iter().map(|s| (s.request.address, s.request.cta)).collect();
    assert_eq!(from, [(0, 0), (128, 1)]);
}

#[test]
fn a_flush_empties_and_resizes_l1() {
    let machine = simple(&["l1.cache.size_bytes=512", "l1.cache.ways=4"]);
    let twice = trace(&[TestKernel::new([vec![vec![
        load(&lines(4)).used_after(0),
        load(&lines(4)).used_after(0),
        exit(),
    ]]])]);
    let misses = |l1_bytes| {
        let mut rig = Rig::new(&machine, MemoryStub::default());
        rig.l1_bytes = l1_bytes;
        rig.launch(&twice, START);
        rig.run().result.l1.read_misses
    };
    assert_eq!(misses(512), 4);
    assert_eq!(misses(256), 8, "cycling through four lines thrashes two ways");
}

/// Returns the arrival cycles at the stub of five line loads and two stores, relative to the
/// first, and the cycles stalled for a free request.
fn seven_requests(overrides: &[&str]) -> (Vec<u64>, u64) {
    let machine = simple(&[&["l1.cache.index=linear"], overrides].concat());
    let outcome = run(&machine, vec![vec![load(&lines(5)), store(&[1 << 20, 1 << 21])]]);
    let cycles = outcome.sent.iter().map(|s| s.cycle - outcome.sent[0].cycle).collect();
    let fails = outcome.result.l1.reservation_fails[ReservationFail::MissQueueFull as usize];
    (cycles, fails)
}

#[test]
fn max_requests_bounds_the_requests_in_flight() {
    for l1 in ["l1.enabled=false", "l1.enabled=true"] {
        assert_eq!(seven_requests(&[l1]), (vec![0, 1, 2, 3, 4, 5, 6], 0));
        // The next request is sent in the cycle of a reply and arrives one cycle later.
        let back = MEMORY_LATENCY + 1;
        let expected = [0, 1, back, back + 1, 2 * back, 2 * back + 1, 3 * back];
        let (cycles, waited) = seven_requests(&[l1, "sm.max_requests=2"]);
        assert_eq!(cycles, expected, "{l1}");
        assert!(waited > 0, "{l1}: {waited}");
    }
}

#[test]
fn write_backs_do_not_count_as_requests_in_flight() {
    let machine = simple(&[
        "sm.max_requests=1",
        "l1.cache.write=write-back",
        "l1.cache.write_allocate=lazy-fetch",
        "l1.cache.size_bytes=128",
        "l1.cache.ways=1",
    ]);
    let outcome = run(&machine, vec![vec![store(&[1 << 20]), load(&lines(3)), exit()]]);
    let kinds: Vec<RequestKind> = outcome.sent.iter().map(|s| s.request.kind).collect();
    assert_eq!(kinds[0], RequestKind::Writeback);
    assert_eq!(kinds.len(), 1 + 3);
}
