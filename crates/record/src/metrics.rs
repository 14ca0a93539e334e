//! The metrics that several tables share, each defined once: how it is derived from raw counts, with
//! its name, unit, definition and source. `docs/schema.md` is printed from these definitions.
//!
//! Sources: [Li] inter-core locality 2015, [OWL] 2013, [CaLRS] 2015, [Yuan] 2009, [WMC] Warped-MC 2023.

use super::RunKey;
use super::column::{Column, count, maybe_count, ratio, text};
use warpmem_cache::{CacheCounts, ReservationFail};
use warpmem_gpu::results::SmResult;
use warpmem_sim::Histogram;
use warpmem_trace::OpClass;

/// `above / below`, or nothing where there is nothing below.
pub(super) fn quotient(above: u64, below: u64) -> Option<f64> {
    (below > 0).then(|| above as f64 / below as f64)
}

/// Mean, percentiles and maximum of a distribution, named `NAME_mean`, `NAME_p50`.
pub(super) fn distribution<R: 'static>(
    name: &str,
    unit: &'static str,
    what: &str,
    percents: &[u8],
    of: impl Fn(&R) -> &Histogram + Copy + Send + Sync + 'static,
) -> Vec<Column<R>> {
    let mean = ratio("mean", unit, &format!("{what}: mean."), move |row| of(row).mean());
    let percentiles = percents.iter().map(|&percent| {
        let doc = format!("{what}: percentile {percent}, within 1.6 %.");
        maybe_count(&format!("p{percent}"), unit, &doc, move |row| {
            of(row).quantile(f64::from(percent) / 100.0)
        })
    });
    let max = maybe_count("max", unit, &format!("{what}: maximum."), move |row| of(row).max());
    [mean].into_iter().chain(percentiles).chain([max]).map(|column| column.prefixed(name)).collect()
}

/// What names a run in every table: its identifier, trace, machine and the policy of every slot.
pub fn key<R: 'static>(of: fn(&R) -> &RunKey) -> Vec<Column<R>> {
    vec![
        text(
            "run_id",
            "64-bit FNV-1a hash of trace content, machine parameters, policies, seed and engine \
             version, in hexadecimal.",
            move |row| of(row).run_id(),
        ),
        text("trace", "Name of the trace.", move |row| &of(row).trace),
        text("machine", "Name of the machine.", move |row| &of(row).machine.name),
        text(
            "overrides",
            "Parameters set beside the machine's own, `key=value` with semicolons between; empty where none is.",
            move |row| of(row).overrides(),
        ),
        text("dram_scheduler", "DRAM scheduler and its parameters.", move |row| {
            &of(row).machine.policy.dram_scheduler
        }),
        text("warp_scheduler", "Warp scheduler and its parameters.", move |row| {
            &of(row).machine.policy.warp_scheduler
        }),
        text("cta_scheduler", "CTA scheduler and its parameters.", move |row| {
            &of(row).machine.policy.cta_scheduler
        }),
        text("llc_queue", "Queue policy of the LLC slices and its parameters.", move |row| {
            &of(row).machine.policy.llc_queue
        }),
        text("topology", "Network topology and its parameters.", move |row| {
            &of(row).machine.policy.topology
        }),
        text("arbiter", "Arbitration rule of the network and its parameters.", move |row| {
            &of(row).machine.policy.arbiter
        }),
        text("prefetcher", "Prefetcher and its parameters.", move |row| {
            &of(row).machine.policy.prefetcher
        }),
        text("ideal", "Idealisation of the machine, and its parameters.", move |row| {
            &of(row).machine.policy.ideal
        }),
    ]
}

/// Instructions per core cycle, of a run, a kernel or an SM.
pub(super) fn ipc<R: 'static>(
    warp_instructions: fn(&R) -> u64,
    thread_instructions: fn(&R) -> u64,
    cycles: fn(&R) -> u64,
) -> Vec<Column<R>> {
    vec![
        ratio(
            "ipc_warp",
            "warp instructions / core cycle",
            "Warp instructions, compute included, over cycles.",
            move |row| quotient(warp_instructions(row), cycles(row)),
        ),
        ratio(
            "ipc_thread",
            "thread instructions / core cycle",
            "Thread instructions (active lanes), compute included, over cycles.",
            move |row| quotient(thread_instructions(row), cycles(row)),
        ),
        count(
            "warp_instructions",
            "warp instructions",
            "Issued warp instructions, compute included.",
            warp_instructions,
        ),
        count(
            "thread_instructions",
            "thread instructions",
            "Active lanes of the issued warp instructions.",
            thread_instructions,
        ),
    ]
}

/// Instruction and CTA counts of an SM or of all.
pub(super) fn work<R: 'static>(of: fn(&R) -> &SmResult) -> Vec<Column<R>> {
    let mut columns = vec![
        count("ctas", "CTAs", "CTAs completed.", move |row| of(row).ctas),
        count(
            "memory_instructions",
            "warp instructions",
            "Issued warp instructions that access memory.",
            move |row| of(row).memory_instructions,
        ),
    ];
    columns.extend(OpClass::ALL.into_iter().enumerate().map(|(index, class)| {
        count(
            &format!("warp_instructions_{}", class.name()),
            "warp instructions",
            &format!("Issued warp instructions of class {}.", class.name()),
            move |row| of(row).warp_instructions_by_class[index],
        )
    }));
    columns.extend([
        count(
            "requesting_instructions",
            "warp instructions",
            "Memory instructions that make requests: loads, stores and atomics of global and local memory.",
            move |row| of(row).requesting_instructions,
        ),
        ratio(
            "channels_per_instruction",
            "channels",
            "Mean number of different channels among the requests of such an instruction.",
            move |row| quotient(of(row).requested_channels, of(row).requesting_instructions),
        ),
        ratio(
            "banks_per_instruction",
            "banks",
            "Mean number of different banks of all channels among the requests of such an instruction \
             [Yuan Fig 14].",
            move |row| quotient(of(row).requested_banks, of(row).requesting_instructions),
        ),
        count(
            "shared_accesses",
            "warp instructions",
            "Warp instructions that access shared memory.",
            move |row| of(row).shared_accesses,
        ),
        count(
            "shared_bank_conflict_cycles",
            "passes",
            "Passes beyond the first of shared-memory instructions.",
            move |row| of(row).shared_bank_conflict_cycles,
        ),
    ]);
    columns
}

/// A part of an SM's cycles: its name, its definition and its count.
pub(super) type CyclePart = (&'static str, &'static str, fn(&SmResult) -> u64);

/// Where an SM's cycles go. `inactive_cycles` is the sum of the five that follow it.
pub(super) const SM_CYCLES: [CyclePart; 7] = [
    ("active_cycles", "Cycles in which the SM issues something.", |sm| sm.active_cycles),
    (
        "inactive_cycles",
        "Cycles in which the SM issues nothing; sum of the next five [OWL CINV].",
        inactive_cycles,
    ),
    (
        "memory_block_cycles",
        "Nothing issued: warps are present and all wait for memory [OWL].",
        |sm| sm.memory_block_cycles,
    ),
    (
        "no_warp_cycles",
        "Nothing issued: no warp is on the SM while the application runs [OWL].",
        |sm| sm.no_warp_cycles,
    ),
    (
        "dependency_stall_cycles",
        "Nothing issued: some warp waits for a compute result [Li Fig 6.7].",
        |sm| sm.dependency_stall_cycles,
    ),
    (
        "structural_stall_cycles",
        "Nothing issued: a ready warp finds its unit or the load/store queue taken, or the warp scheduler holds it back.",
        |sm| sm.structural_stall_cycles,
    ),
    (
        "barrier_cycles",
        "Nothing issued: some warp waits at a barrier, the others for memory.",
        |sm| sm.barrier_cycles,
    ),
];

fn inactive_cycles(sm: &SmResult) -> u64 {
    sm.memory_block_cycles
        + sm.no_warp_cycles
        + sm.dependency_stall_cycles
        + sm.structural_stall_cycles
        + sm.barrier_cycles
}

/// SM schedulability.
pub(super) fn schedulable_warps<R: 'static>(of: fn(&R) -> &SmResult) -> Column<R> {
    ratio(
        "schedulable_warps",
        "warps",
        "Mean number of ready warps of an SM, over its core cycles with warps present [CaLRS].",
        move |row| {
            let sm = of(row);
            let present = sm.active_cycles + inactive_cycles(sm) - sm.no_warp_cycles;
            quotient(sm.ready_warp_cycles, present)
        },
    )
}

type CacheCount = (&'static str, &'static str, &'static str, fn(&CacheCounts) -> u64);

const CACHE_COUNTS: [CacheCount; 15] = [
    ("read_hits", "requests", "Reads, of the LLC atomics too, that found their data.", |c| {
        c.read_hits
    }),
    ("read_misses", "requests", "Reads, of the LLC atomics too, whose line was absent.", |c| {
        c.read_misses
    }),
    ("read_sector_misses", "requests", "Reads whose line was present but not their sector.", |c| {
        c.read_sector_misses
    }),
    ("read_pending_hits", "requests", "Reads merged into an outstanding miss.", |c| {
        c.read_pending_hits
    }),
    ("write_hits", "requests", "Writes whose sector was there or on its way.", |c| c.write_hits),
    ("write_misses", "requests", "Writes whose line was absent.", |c| c.write_misses),
    (
        "write_sector_misses",
        "requests",
        "Writes whose line was present but not their sector.",
        |c| c.write_sector_misses,
    ),
    ("atomics", "requests", "Atomics and reductions.", |c| c.atomics),
    ("atomic_hits", "requests", "Atomics among the read hits.", |c| c.atomic_hits),
    ("atomic_misses", "requests", "Atomics among the read misses and sector misses.", |c| {
        c.atomic_misses
    }),
    ("atomic_pending_hits", "requests", "Atomics among the reads merged.", |c| {
        c.atomic_pending_hits
    }),
    ("bypasses", "requests", "Requests that passed by the cache.", |c| c.bypasses),
    ("evictions", "lines", "Lines evicted.", |c| c.evictions),
    ("writebacks", "lines", "Lines evicted with dirty data.", |c| c.writebacks),
    ("write_fetches", "requests", "Reads of the next level caused by writes.", |c| c.write_fetches),
];

/// Counts of a cache, their names beginning with `level`.
pub(super) fn cache<R: 'static>(
    level: &str,
    of: impl Fn(&R) -> &CacheCounts + Copy + Send + Sync + 'static,
) -> Vec<Column<R>> {
    let mut columns = accesses(level, of);
    columns.extend(retries(level, of));
    columns
}

/// What accesses of a cache found.
pub(super) fn accesses<R: 'static>(
    level: &str,
    of: impl Fn(&R) -> &CacheCounts + Copy + Send + Sync + 'static,
) -> Vec<Column<R>> {
    let counts = CACHE_COUNTS
        .into_iter()
        .map(|(name, unit, doc, get)| count(name, unit, doc, move |row| get(of(row))));
    let rates = [
        ratio(
            "read_miss_rate",
            "fraction",
            "Read misses and sector misses over reads; merged reads count as reads only.",
            move |row| quotient(read_misses(of(row)), reads(of(row))),
        ),
        ratio(
            "miss_rate",
            "fraction",
            "Misses and sector misses of reads and writes over reads and writes; bypasses are left out.",
            move |row| {
                let c = of(row);
                let write_misses = c.write_misses + c.write_sector_misses;
                quotient(read_misses(c) + write_misses, reads(c) + c.write_hits + write_misses)
            },
        ),
    ];
    counts.chain(rates).map(|column| column.prefixed(level)).collect()
}

/// Why accesses of a cache had to be tried again.
fn retries<R: 'static>(
    level: &str,
    of: impl Fn(&R) -> &CacheCounts + Copy + Send + Sync + 'static,
) -> Vec<Column<R>> {
    let all = count(
        "reservation_fails",
        "cycles",
        "Cycles in which an access had to be tried again; sum of the next four [Li Fig 6.4].",
        move |row| of(row).reservation_fails.iter().sum(),
    );
    let reasons = RESERVATION_FAILS.into_iter().map(|(reason, doc)| {
        count(
            &format!("reservation_fails_{}", ReservationFail::NAMES[reason as usize]),
            "cycles",
            doc,
            move |row| of(row).reservation_fails[reason as usize],
        )
    });
    [all].into_iter().chain(reasons).map(|column| column.prefixed(level)).collect()
}

const RESERVATION_FAILS: [(ReservationFail, &str); ReservationFail::COUNT] = [
    (ReservationFail::LineAlloc, "Tried again: every line of the set was reserved."),
    (ReservationFail::MissQueueFull, "Tried again: the miss queue was full."),
    (ReservationFail::MshrEntry, "Tried again: every MSHR entry was taken."),
    (ReservationFail::MshrMerge, "Tried again: the MSHR entry could take no more requests."),
];

fn reads(c: &CacheCounts) -> u64 {
    c.read_hits + c.read_misses + c.read_sector_misses + c.read_pending_hits
}

fn read_misses(c: &CacheCounts) -> u64 {
    c.read_misses + c.read_sector_misses
}
