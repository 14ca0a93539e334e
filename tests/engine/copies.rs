//! Copies of far lines: when a slice holds one, when it is invalidated, and the latency of loads
//! with and without.

use crate::closed_forms::is_near;
use crate::recording::Everything;
use crate::trace::{Access, Kernel, NO_REFRESH, Step, loads, machine, run, write};
use warpmem::gpu::engine::Simulation;
use warpmem::gpu::results::RunResult;
use warpmem::machine::Machine;
use warpmem_trace::{CacheOp, Kind};

const LINK: u64 = 40;

/// Makes a machine of two SMs, one in each partition; loads bypass L1.
fn two_sms(overrides: &[&str]) -> Machine {
    let keys = [
        "sm.count=2",
        "l2.copies=true",
        "l2.copy_link_latency=40",
        "l2.copy_link_interval=3",
        "network.flit_bytes=40",
        "l1.flush_between_kernels=true",
    ];
    machine("accelsim-qv100", &[&NO_REFRESH, &keys[..], overrides].concat())
}

/// Returns the first lines whose home is in the partition of SM 0 (`near`) or of SM 1.
fn lines(machine: &Machine, near: bool, count: usize) -> Vec<u64> {
    let map = machine.address_map().unwrap();
    let lines = (0..).map(|line| line * 128);
    lines.filter(|&line| is_near(machine, map.locate(line).slice) == near).take(count).collect()
}

/// An access of one SM in a kernel of its own: one lane, one sector.
#[derive(Clone, Copy)]
struct SmAccess {
    sm: usize,
    kind: Kind,
    address: u64,
}

fn access(sm: usize, kind: Kind, address: u64) -> SmAccess {
    SmAccess { sm, kind, address }
}

/// Runs a kernel per access in sequence, so that nothing is in flight when the next begins.
fn run_in_sequence(machine: &Machine, accesses: &[SmAccess]) -> RunResult {
    let kernel = |&SmAccess { sm, kind, address }: &SmAccess| {
        let load = Access::load(4, vec![address]);
        let access = Access { kind, cache_op: CacheOp::Global, dest: Some(1), ..load };
        // One CTA per SM, so that the next kernel begins with the first SM again.
        let mut ctas = vec![vec![vec![]]; 2];
        ctas[sm][0].push(Step::Memory(access));
        Kernel { ctas, ..Kernel::default() }
    };
    let kernels: Vec<Kernel> = accesses.iter().map(kernel).collect();
    run(machine, &write(&kernels).trace)
}

fn counter(result: &RunResult, name: &str) -> u64 {
    result.counters.iter().filter(|c| c.counter == name).map(|c| c.value).sum()
}

/// Returns copies read, sectors without a copy, invalidations, and evicted copies.
fn copies(result: &RunResult) -> [u64; 4] {
    ["copy_hits", "copy_misses", "invalidations_sent", "copies_dropped"]
        .map(|name| counter(result, name))
}

/// Returns read hits and misses over all slices, each counted once, at the home or at the copy.
fn reads(result: &RunResult) -> [u64; 2] {
    let sum = |of: fn(&warpmem::cache::CacheCounts) -> u64| {
        result.slices.iter().map(|slice| of(&slice.cache)).sum()
    };
    [sum(|c| c.read_hits), sum(|c| c.read_misses + c.read_sector_misses)]
}

use Kind::{Atomic, Load, Store};

#[test]
fn a_far_line_is_requested_once_and_then_read_from_its_copy() {
    let machine = two_sms(&[]);
    let far = lines(&machine, false, 1)[0];
    let result = run_in_sequence(&machine, &[access(0, Load, far); 3]);
    assert_eq!((copies(&result), reads(&result)), ([2, 1, 0, 0], [2, 1]));
    // The home holds it for its own SM, and a near line has no copy.
    let result = run_in_sequence(&machine, &[access(0, Load, far), access(1, Load, far)]);
    assert_eq!((copies(&result), reads(&result)), ([0, 1, 0, 0], [1, 1]));
    let near = lines(&machine, true, 1)[0];
    let result = run_in_sequence(&machine, &[access(0, Load, near); 3]);
    assert_eq!((copies(&result), reads(&result)), ([0; 4], [2, 1]));
}

#[test]
fn a_change_at_home_drops_the_copy_of_its_line() {
    let machine = two_sms(&[]);
    let far = lines(&machine, false, 1)[0];
    for kind in [Store, Atomic] {
        let accesses = [access(0, Load, far), access(1, kind, far), access(0, Load, far)];
        let result = run_in_sequence(&machine, &accesses);
        assert_eq!(copies(&result), [0, 2, 1, 1], "{kind:?}");
        // A second change finds no copy of the line, and sends no invalidation.
        let accesses = [access(0, Load, far), access(1, kind, far), access(1, kind, far)];
        assert_eq!(copies(&run_in_sequence(&machine, &accesses)), [0, 1, 1, 1], "{kind:?}");
    }
    // Another sector of the line is dropped with it: copies are tracked per line.
    let accesses = [access(0, Load, far + 32), access(1, Store, far), access(0, Load, far + 32)];
    assert_eq!(copies(&run_in_sequence(&machine, &accesses)), [0, 2, 1, 1]);
}

#[test]
fn a_home_without_the_line_does_not_track_copies() {
    let machine = two_sms(&[]);
    let far = lines(&machine, false, 1)[0];
    let result = run_in_sequence(&machine, &[access(1, Store, far)]);
    assert_eq!(copies(&result), [0, 0, 1, 0]);
}

#[test]
fn a_remote_store_passes_the_peer_and_drops_its_copy() {
    let machine = two_sms(&[]);
    let far = lines(&machine, false, 1)[0];
    for kind in [Store, Atomic] {
        let accesses = [access(0, Load, far), access(0, kind, far), access(0, Load, far)];
        let result = run_in_sequence(&machine, &accesses);
        assert_eq!(copies(&result), [0, 2, 0, 1], "{kind:?}");
        let atomics: u64 = result.slices.iter().map(|slice| slice.cache.atomics).sum();
        assert_eq!(atomics, u64::from(kind == Atomic), "carried out once, at home");
    }
}

#[test]
fn overtaken_sector_is_not_replicated() {
    let machine = two_sms(&[]);
    let far = lines(&machine, false, 1)[0];
    let access = |kind| {
        let load = Access::load(4, vec![far]);
        Step::Memory(Access { kind, cache_op: CacheOp::Global, ..load })
    };
    // Back to back, while the first is in flight; the same line is read again afterwards.
    let kernel = |kinds: &[Kind]| {
        let warp = kinds.iter().map(|&kind| access(kind)).collect();
        Kernel { ctas: vec![vec![warp], vec![vec![]]], ..Kernel::default() }
    };
    let misses = |first: &[Kind]| {
        let trace = write(&[kernel(first), kernel(&[Load])]).trace;
        counter(&run(&machine, &trace), "copy_misses")
    };
    assert_eq!((misses(&[Load]), misses(&[Load, Store])), (1, 2));
}

#[test]
fn a_copy_occupies_a_way_and_is_replaced_like_a_line() {
    // A set of two lines in each slice.
    let machine = two_sms(&["l2.cache.size_bytes=256", "l2.cache.ways=2"]);
    let map = machine.address_map().unwrap();
    let all = lines(&machine, false, 4096);
    let slice = map.locate(all[0]).slice;
    let same: Vec<u64> =
        all.into_iter().filter(|&line| map.locate(line).slice == slice).take(3).collect();
    let [a, b, c] = same[..] else { panic!("a slice has more lines") };
    let order = [a, b, a, c, a, b].map(|line| access(0, Load, line));
    // `c` replaces `b`, which was read less recently than `a`.
    assert_eq!(copies(&run_in_sequence(&machine, &order))[..2], [2, 4]);
}

#[test]
fn full_set_of_pending_lines_replicates_nothing() {
    let misses = |ways: u64| {
        let (size, ways) =
            (format!("l2.cache.size_bytes={}", 128 * ways), format!("l2.cache.ways={ways}"));
        let machine = two_sms(&[&size, &ways, "l2.to_dram_latency=2000"]);
        let (map, peers) = (machine.address_map().unwrap(), machine.peer_slices().unwrap());
        let far = lines(&machine, false, 1)[0];
        let peer = peers.peer(map.locate(far).slice);
        let near =
            lines(&machine, true, 4096).into_iter().find(|&line| map.locate(line).slice == peer);
        let kernel = |lines: [&[u64]; 2]| {
            let load = |&line: &u64| {
                let load = Access::load(4, vec![line]);
                Step::Memory(Access { cache_op: CacheOp::Global, ..load })
            };
            let ctas = lines.map(|lines| vec![lines.iter().map(load).collect()]).to_vec();
            Kernel { ctas, ..Kernel::default() }
        };
        // The far line is in its home slice. Its copy arrives while the near line waits for DRAM in
        // the same slice.
        let kernels =
            [kernel([&[], &[far]]), kernel([&[near.unwrap(), far], &[]]), kernel([&[far], &[]])];
        counter(&run(&machine, &write(&kernels).trace), "copy_misses")
    };
    assert_eq!((misses(1), misses(2)), (2, 1));
}

#[test]
fn peer_and_own_requests_alternate_at_the_tags() {
    let machine = two_sms(&["l2.atomic_cycles=50", "sm.atomics_stall=false"]);
    let far = lines(&machine, false, 1)[0];
    let atomic = Access { kind: Atomic, ..Access::load(4, vec![far]) };
    let cta = vec![vec![Step::Memory(atomic); 8]; 8];
    let kernel = Kernel { ctas: vec![cta; 2], ..Kernel::default() };
    let mut rows = Everything::but_requests(1000);
    Simulation::new(&machine, &write(&[kernel]).trace).run(&mut rows).unwrap();
    let end = |sm| rows.warps.iter().filter(|row| row.sm == sm).map(|row| row.end_cycle).max();
    let (far, near) = (end(0).unwrap(), end(1).unwrap());
    // With fixed priority, one SM would finish in half the time.
    assert!(4 * far.abs_diff(near) < far, "{far} and {near}");
}

/// Returns the core cycles of a one-sector load of SM 0.
fn load_time(machine: &Machine, before: &[SmAccess], address: u64) -> u64 {
    let with = |accesses: &[SmAccess]| run_in_sequence(machine, accesses).core_cycles;
    let mut accesses = before.to_vec();
    accesses.push(access(0, Load, address));
    with(&accesses) - with(before)
}

/// A copy miss takes a cycle in the peer slice before the link, the flits of request and data on
/// the links, and both latencies. All clocks are equal, so nothing waits for a clock edge.
#[test]
fn a_load_without_a_copy_costs_both_links() {
    let clocks = [
        "clocks.core_mhz=1000",
        "clocks.l2_mhz=1000",
        "clocks.network_mhz=1000",
        "clocks.dram_mhz=1000",
    ];
    let machine = two_sms(&clocks);
    let (far, near) = (lines(&machine, false, 1)[0], lines(&machine, true, 1)[0]);
    // SM 1 has read it: the home holds it, and there is no copy.
    let without = load_time(&machine, &[access(1, Load, far)], far);
    let with = load_time(&machine, &[access(0, Load, far)], far);
    let at_home = load_time(&machine, &[access(0, Load, near)], near);
    assert_eq!(with, at_home, "a copy is as near as a line that is at home");
    let (interval, header, data) = (3, 1, 1);
    let way = |flits: u64| flits * interval + LINK;
    let (fill, reply) = (machine.l2.fill_latency, machine.l2.reply_latency);
    assert_eq!(without - with, 1 + way(header) + way(data) + u64::from(fill + reply));
}

/// Every sector returned by DRAM passes its home slice, and DRAM is read once though both
/// partitions hold the sector.
#[test]
fn dram_is_read_once_for_both_partitions() {
    let kernel = loads([8, 4, 8], |warp, step, lane| (warp % 4 * 8 + step) * 128 + 4 * lane);
    let result = run(&two_sms(&[]), &write(&[kernel]).trace);
    let banks = result.channels.iter().flat_map(|channel| &channel.banks);
    assert_eq!(banks.map(|bank| bank.reads).sum::<u64>(), 4 * 8 * 4);
}

#[test]
fn narrow_partition_link_throttles_remote_reads() {
    let kernel = |machine: &Machine| {
        let far = lines(machine, false, 256);
        let load = |line: &u64| {
            let lanes = (0..32).map(|lane| line + 4 * lane).collect();
            Step::Memory(Access { cache_op: CacheOp::Global, ..Access::load(4, lanes) })
        };
        Kernel { ctas: vec![vec![far.iter().map(load).collect()]], ..Kernel::default() }
    };
    let cycles = |ideal: &str, interval: &str| {
        let key = format!("l2.copy_link_interval={interval}");
        let machine = two_sms(&[ideal, &key]);
        let trace = write(&[kernel(&machine)]).trace;
        (run(&machine, &trace).core_cycles, machine)
    };
    let [(fast, _), (slow, machine)] =
        ["1", "400"].map(|interval| cycles("policy.ideal=perfect-dram", interval));
    // 1024 sectors over the links of half of the slices, one per 400 network cycles on each.
    let links = u64::from(machine.slices() / 2);
    let clocks = &machine.clocks;
    let least = 1024 / links * 400 * u64::from(clocks.core_mhz) / u64::from(clocks.network_mhz);
    assert!(slow >= least && fast < least, "{fast}, {slow}: {least}");
    let [(one, _), (other, _)] =
        ["1", "400"].map(|interval| cycles("policy.ideal=infinite-bandwidth-noc", interval));
    assert_eq!(one, other, "without a limit");
}
