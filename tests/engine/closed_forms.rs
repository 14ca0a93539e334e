//! Latency of a dependent load in closed form, from the configuration alone; `docs/validation.md`
//! has the formulas.

use crate::trace::{
    Access, Kernel, NO_REFRESH, Step, UNTRANSLATED, loads, machine, mixed, run, write,
};
use std::collections::BTreeSet;
use warpmem::cache::CacheCounts;
use warpmem::dram::CommandKind::{Act, Pre, Rd};
use warpmem::dram::DoneWith;
use warpmem::dram::scheduler::SCHEDULERS;
use warpmem::dram::standard::Standard;
use warpmem::gpu::engine::Simulation;
use warpmem::gpu::results::{LoadRow, RunResult, RunSink, SliceResult};
use warpmem::machine::{LatencyCount, Machine, preset_names};
use warpmem::network::NetworkResult;
use warpmem::sim::SliceId;
use warpmem_testing::is_sampled;
use warpmem_trace::CacheOp;

/// Level at which a load hits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    L1,
    L2,
    RowHit,
    RowMiss,
    RowConflict,
}

/// Clock periods of the domains, in a common unit.
struct Periods {
    core: u64,
    network: u64,
    l2: u64,
    dram: u64,
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Periods {
    fn of(machine: &Machine) -> Periods {
        let c = &machine.clocks;
        let mhz = [c.core_mhz, c.network_mhz, c.l2_mhz, c.dram_mhz].map(u64::from);
        let lcm = mhz.iter().fold(1, |lcm, mhz| lcm / gcd(lcm, *mhz) * mhz);
        let [core, network, l2, dram] = mhz.map(|mhz| lcm / mhz);
        Periods { core, network, l2, dram }
    }
}

/// Returns the first clock edge at or after a time.
fn edge(time: u64, period: u64) -> u64 {
    time.div_ceil(period) * period
}

/// Returns the first clock edge after a time.
fn edge_after(time: u64, period: u64) -> u64 {
    edge(time + 1, period)
}

/// Returns the network cycles from SM 0 to a slice, excluding flit serialization, from the shape of
/// the network alone.
fn way(machine: &Machine, slice: SliceId) -> u64 {
    let hop = u64::from(machine.network.router_latency) + u64::from(machine.network.link_latency);
    let columns = 6;
    let memory = &machine.network.memory_nodes;
    let sm = (0..).find(|node| !memory.contains(node)).unwrap();
    match machine.policy.topology.as_str() {
        "crossbar" | "crossbar(form=router)" => hop,
        "mesh(columns=6)" => {
            let slice = memory[slice.index()];
            let apart =
                (slice / columns).abs_diff(sm / columns) + (slice % columns).abs_diff(sm % columns);
            (u64::from(apart) + 1) * hop
        }
        // 15 pairs of SMs and 6 slices.
        "butterfly(radix=21)" => hop,
        partitioned => {
            let link = partitioned.strip_prefix("partitioned-crossbar(link_latency=");
            let link = link.and_then(|rest| rest.split(',').next()?.parse::<u64>().ok());
            let link = link.unwrap_or_else(|| panic!("how far is it in {partitioned}?"));
            if is_near(machine, slice) { hop } else { 2 * hop + link }
        }
    }
}

/// Returns whether a slice of a two-partition machine is in the partition of SM 0: the first half
/// of the slices.
pub fn is_near(machine: &Machine, slice: SliceId) -> bool {
    let slices = machine.dram.channels * machine.l2.slices_per_channel;
    2 * u32::from(slice.0) < slices
}

/// Returns the core cycles of a load of one sector that issues in core cycle `issue` on an
/// otherwise idle machine.
pub fn load_time(
    machine: &Machine,
    place: Place,
    cache_op: CacheOp,
    slice: SliceId,
    issue: u64,
) -> u64 {
    let p = Periods::of(machine);
    let (network, l2) = (&machine.network, &machine.l2);
    let header = u64::from(network.header_bytes.div_ceil(network.flit_bytes).max(1));
    let packet = network.header_bytes + l2.cache.sector_bytes;
    let data = u64::from(packet.div_ceil(network.flit_bytes));
    let way = way(machine, slice);
    let flits = |flits: u64| match machine.policy.ideal.as_str() {
        "infinite-bandwidth-noc" => 1,
        _ => flits,
    };
    let crossing = |packet: u64| (flits(packet) + way) * p.network;
    let begun = issue + u64::from(machine.sm.operand_latency);
    let at_l1_tags = begun + u64::from(machine.l1.latency);
    if place == Place::L1 {
        return at_l1_tags - issue;
    }
    let passes_l1 = cache_op == CacheOp::Global || !machine.l1.enabled;
    let sent = match passes_l1 {
        // Sent in a step of the SM, which follows the network's at the same time.
        true => edge_after(begun * p.core, p.network),
        false => edge((at_l1_tags + 1) * p.core, p.network),
    };
    let arrived = edge(sent + crossing(header), p.l2);
    let found = data_at_slice(machine, place, arrived, &p);
    let back = edge(edge(found, p.network) + crossing(data), p.core) / p.core;
    back + 2 * u64::from(machine.sm.writeback_latency) - issue
}

/// Returns the time at which the slice has the data of a request that arrived at `arrived`.
fn data_at_slice(machine: &Machine, place: Place, arrived: u64, p: &Periods) -> u64 {
    let l2 = &machine.l2;
    let in_queue = edge(arrived + u64::from(l2.input_latency) * p.core, p.l2);
    let at_tags = in_queue + u64::from(l2.queue_reserve > 0) * p.l2;
    match place {
        // A slice checks for hits before a request reaches the tags.
        Place::L2 => at_tags + u64::from((l2.latency + l2.reply_latency).max(1)) * p.l2,
        _ => {
            let on_bus = dram_end(machine, place, at_tags, p);
            let filled = edge(on_bus + u64::from(machine.dram.return_latency) * p.dram, p.l2);
            let latency = if l2.enabled { l2.fill_latency } else { 0 };
            filled + u64::from(latency + l2.reply_latency) * p.l2
        }
    }
}

/// Returns the time at which DRAM has delivered a sector that missed in the slice at `missed`.
fn dram_end(machine: &Machine, place: Place, missed: u64, p: &Periods) -> u64 {
    let (dram, t) = (&machine.dram, &machine.dram.timing);
    let way = u64::from(machine.l2.to_dram_latency) * p.core;
    let sent = missed + p.l2;
    let entered = match machine.l2.to_dram_count {
        LatencyCount::Elapsed => edge(edge(sent, p.dram) + way, p.dram),
        LatencyCount::Numbers => {
            let taken = edge_after(sent, p.dram);
            edge_after(edge(taken, p.core) + way - p.core, p.dram)
        }
    };
    let burst = dram.burst_length / dram.transfers_per_clock;
    let columns = machine.l2.cache.sector_bytes / (dram.bus_bytes * dram.burst_length);
    let standard = Standard::of(dram).unwrap();
    let ticks = |kind| standard.command_ticks(kind);
    let on_grid = |kind, at: u64| at.next_multiple_of(u64::from(standard.command_grid(kind)));
    // Distances involving multi-tick commands are measured between their last ticks; data follow
    // the first.
    let follows = |at: u64, from, to, distance| {
        on_grid(to, at + u64::from(distance + ticks(from) - ticks(to)))
    };
    let now = entered / p.dram;
    let column = match place {
        Place::RowConflict => {
            let act = follows(on_grid(Pre, now), Pre, Act, t.trp);
            follows(act, Act, Rd, t.trcd)
        }
        Place::RowMiss => follows(on_grid(Act, now), Act, Rd, t.trcd),
        _ => on_grid(Rd, now),
    };
    let [latency, _] = standard.latencies(dram);
    let done_after = match dram.done_with {
        DoneWith::LastDatum => burst,
        DoneWith::FirstDatum => 1,
    };
    let transfer = (columns - 1) * t.tccdl.max(burst) + latency + done_after;
    (column + u64::from(transfer)) * p.dram
}

/// Returns addresses of successive loads; each but the first hits at `place`.
fn addresses(machine: &Machine, place: Place, count: usize) -> Vec<u64> {
    let map = machine.address_map().unwrap();
    let lines = (0..1u64 << 26).map(|line| line * 128);
    let home = map.locate(0);
    let bank = |address: u64| (map.locate(address).channel, map.locate(address).bank);
    let in_bank = |address: &u64| bank(*address) == (home.channel, home.bank);
    match place {
        Place::L1 | Place::L2 => vec![0; count],
        Place::RowHit => lines
            .filter(|&line| map.locate(line).row == home.row)
            .filter(in_bank)
            .take(count)
            .collect(),
        Place::RowMiss => {
            let mut seen = BTreeSet::new();
            lines.filter(|&line| seen.insert(bank(line))).take(count).collect()
        }
        Place::RowConflict => {
            let mut seen = BTreeSet::new();
            let in_new_row = |&line: &u64| seen.insert(map.locate(line).row);
            lines.filter(in_bank).filter(in_new_row).take(count).collect()
        }
    }
}

#[derive(Default)]
struct Rows(Vec<LoadRow>);

impl RunSink for Rows {
    fn load(&mut self, row: &LoadRow) {
        self.0.push(*row);
    }
}

/// Returns the cache operation: bypass if the line must not hit in L1.
pub fn cache_op(place: Place) -> CacheOp {
    if place == Place::L2 { CacheOp::Global } else { CacheOp::Default }
}

/// Returns a chase: one warp, one lane, each load's address from the previous load.
pub fn chase(machine: &Machine, place: Place, hops: usize) -> (Vec<LoadRow>, RunResult) {
    let cache_op = cache_op(place);
    let hop = |address| {
        let load = Access::load(4, vec![address]);
        Step::Memory(Access { cache_op, dest: Some(1), source: Some(1), ..load })
    };
    let warp = addresses(machine, place, hops).into_iter().map(hop).collect();
    let file = write(&[Kernel { ctas: vec![vec![warp]], ..Kernel::default() }]);
    let mut rows = Rows::default();
    let result = Simulation::new(machine, &file.trace).run(&mut rows).unwrap();
    (rows.0, result)
}

pub const HOPS: usize = 8;

/// Returns the levels at which the machine can hold data.
fn places(machine: &Machine) -> impl Iterator<Item = Place> {
    let (l1, l2) = (machine.l1.enabled, machine.l2.enabled);
    [Place::L1, Place::L2, Place::RowHit, Place::RowMiss, Place::RowConflict].into_iter().filter(
        move |place| match place {
            Place::L1 => l1,
            Place::L2 => l2,
            _ => true,
        },
    )
}

/// Returns the slices accessed by a chase.
pub fn slices(machine: &Machine, place: Place) -> Vec<SliceId> {
    let map = machine.address_map().unwrap();
    let addresses = addresses(machine, place, HOPS).into_iter();
    addresses.map(|address| map.locate(address).slice).collect()
}

/// Checks chases on `machine` to the cycle, at every level.
pub fn check_chases(machine: &Machine, name: &str) {
    for place in places(machine) {
        let (rows, result) = chase(machine, place, HOPS);
        let slices = slices(machine, place);
        let expected = |found, hop: usize, row: &LoadRow| {
            load_time(machine, found, cache_op(place), slices[hop], row.issue_cycle)
        };
        assert_eq!(rows.len(), HOPS);
        for (hop, pair) in rows.windows(2).enumerate() {
            let (last, row) = (pair[0], pair[1]);
            let context = format!("{name}, {place:?}, hop {}", hop + 1);
            assert_eq!(row.load_time, expected(place, hop + 1, &row), "{context}");
            assert_eq!(row.issue_cycle, last.issue_cycle + last.load_time, "{context}");
        }
        let first = expected(Place::RowMiss, 0, &rows[0]);
        assert_eq!(rows[0].load_time, first, "{name}, {place:?}");
        assert_counts(&result, place);
    }
}

#[test]
fn a_chase_costs_the_sum_of_the_latencies_on_its_path() {
    for (row, preset) in preset_names().enumerate() {
        let names = SCHEDULERS.names().chain(["fr-fcfs(banks=stepping,picks_per_cycle=1)"]);
        for (_, scheduler) in names.enumerate().filter(|(column, _)| is_sampled(row, *column, 10)) {
            let scheduled = format!("policy.dram_scheduler={scheduler}");
            let machine = machine(preset, &[&NO_REFRESH[..], &[UNTRANSLATED, &scheduled]].concat());
            check_chases(&machine, &format!("{preset}, {scheduler}"));
        }
    }
}

#[test]
fn without_caches_every_load_costs_the_round_trip_to_dram() {
    let cases = [&["l2.enabled=false"][..], &["l2.enabled=false", "l1.enabled=false"]];
    for (row, preset) in preset_names().enumerate() {
        let cases = cases.into_iter().enumerate();
        for (_, off) in cases.filter(|(column, _)| is_sampled(row, *column, 2)) {
            let machine = machine(preset, &[&NO_REFRESH, &[UNTRANSLATED][..], off].concat());
            check_chases(&machine, &format!("{preset}, {off:?}"));
        }
    }
}

/// Loads of one line, each by a lane of a different warp.
#[test]
fn without_a_cache_equal_addresses_are_read_separately_from_dram() {
    let file = write(&[loads([4, 8, 1], |_, _, _| 0)]);
    let machine = machine("li2015", &["l2.enabled=false", "l1.enabled=false"]);
    let result = run(&machine, &file.trace);
    let columns = machine.l2.cache.sector_bytes / machine.dram.burst_bytes();
    let reads: u64 = result.channels.iter().flat_map(|c| &c.banks).map(|bank| bank.reads).sum();
    assert_eq!(reads, 32 * u64::from(columns));
    assert_eq!(result.loads.offchip_requests.sum(), 32);
    for slice in &result.slices {
        let waits = slice.cache.reservation_fails;
        let cache = CacheCounts { reservation_fails: waits, ..CacheCounts::default() };
        let queue = slice.queue.clone();
        assert_eq!(*slice, SliceResult { cache, queue, ..SliceResult::default() });
    }
}

/// Every store and every atomic writes DRAM; every load and every atomic reads it.
#[test]
fn uncached_dram_traffic_equals_sm_traffic() {
    let file = write(&[mixed(6, 10, 1 << 18)]);
    for preset in preset_names() {
        let machine = machine(preset, &["l2.enabled=false", "l1.enabled=false"]);
        let result = run(&machine, &file.trace);
        let columns = u64::from(machine.l2.cache.sector_bytes / machine.dram.burst_bytes());
        let banks = || result.channels.iter().flat_map(|channel| &channel.banks);
        let (down, up) = (&result.networks[0], &result.networks[1]);
        let packets = |network: &NetworkResult| network.latency.count();
        assert_eq!(packets(down), packets(up), "{preset}: everything is answered");
        let atomics: u64 = result.sms.iter().map(|sm| sm.l1.atomics).sum();
        let reads_and_writes: u64 = banks().map(|bank| bank.reads + bank.writes).sum();
        assert!(atomics > 0);
        assert_eq!(reads_and_writes, columns * (packets(down) + atomics), "{preset}");
    }
}

/// Checks that the loads hit at the intended level.
fn assert_counts(result: &RunResult, place: Place) {
    let later = HOPS as u64 - 1;
    let banks = || result.channels.iter().flat_map(|channel| &channel.banks);
    let found = match place {
        Place::L1 => result.sms.iter().map(|sm| sm.l1.read_hits).sum(),
        Place::L2 => result.slices.iter().map(|slice| slice.cache.read_hits).sum(),
        Place::RowHit => banks().map(|bank| bank.row_hits).sum(),
        Place::RowMiss => banks().map(|bank| bank.row_misses).sum::<u64>() - 1,
        Place::RowConflict => banks().map(|bank| bank.row_conflicts).sum(),
    };
    assert_eq!(found, later, "{place:?}");
}

/// Returns the minimum latency of a load that hits at `place`, over all issue times and slices.
fn least(machine: &Machine, place: Place) -> u64 {
    let slices = SliceId::all(machine.slices() as usize);
    let time = |slice| move |issue| load_time(machine, place, CacheOp::Default, slice, issue);
    slices.flat_map(|slice| (0..machine.clocks.core_mhz.into()).map(time(slice))).min().unwrap()
}

/// "Min. L2 latency 120 cycles", "Min. DRAM latency 460 cycles".
#[test]
fn minimum_latencies_of_calrs2015_match_table_1() {
    let machine = machine("calrs2015", &[]);
    assert_eq!([Place::L2, Place::RowHit].map(|place| least(&machine, place)), [120, 460]);
}

/// An L2 miss takes at least 120 core cycles, from the slice to DRAM and back.
#[test]
fn minimum_miss_latency_of_owl2013_is_120_core_cycles() {
    let machine = machine("owl2013", &[]);
    let p = Periods::of(&machine);
    let arrivals = (0..u64::from(machine.clocks.l2_mhz)).map(|cycle| cycle * p.l2);
    let time = |arrived| data_at_slice(&machine, Place::RowHit, arrived, &p) - arrived;
    assert_eq!(arrivals.map(time).min(), Some(120 * p.core));
}
