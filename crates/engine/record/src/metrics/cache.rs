//! The metrics of a cache, L1 or L2.

use super::formulas::{miss_rate, read_miss_rate};
use crate::column::{Column, count, ratio};
use warpmem_cache::{CacheCounts, ReservationFail};

type CacheCount = (&'static str, &'static str, &'static str, fn(&CacheCounts) -> u64);

const CACHE_COUNTS: [CacheCount; 15] = [
    ("read_hits", "requests", "Reads (in the L2 also atomics) that hit.", |c| c.read_hits),
    ("read_misses", "requests", "Reads (in the L2 also atomics) of an absent line.", |c| {
        c.read_misses
    }),
    ("read_sector_misses", "requests", "Reads of an absent sector of a present line.", |c| {
        c.read_sector_misses
    }),
    ("read_pending_hits", "requests", "Reads merged into an outstanding miss.", |c| {
        c.read_pending_hits
    }),
    ("write_hits", "requests", "Writes to a present or pending sector.", |c| c.write_hits),
    ("write_misses", "requests", "Writes whose line was absent.", |c| c.write_misses),
    ("write_sector_misses", "requests", "Writes to an absent sector of a present line.", |c| {
        c.write_sector_misses
    }),
    ("atomics", "requests", "Atomics and reductions.", |c| c.atomics),
    ("atomic_hits", "requests", "Atomics among the read hits.", |c| c.atomic_hits),
    ("atomic_misses", "requests", "Atomics among the read and sector misses.", |c| c.atomic_misses),
    ("atomic_pending_hits", "requests", "Atomics among the merged reads.", |c| {
        c.atomic_pending_hits
    }),
    ("bypasses", "requests", "Requests that bypassed the cache.", |c| c.bypasses),
    ("evictions", "lines", "Lines evicted.", |c| c.evictions),
    ("writebacks", "lines", "Lines evicted with dirty data.", |c| c.writebacks),
    ("write_fetches", "requests", "Reads of the next level caused by writes.", |c| c.write_fetches),
];

/// Returns the counts of a cache, with names that begin with `level`.
pub(crate) fn cache<R: 'static>(
    level: &str,
    of: impl Fn(&R) -> &CacheCounts + Copy + Send + Sync + 'static,
) -> Vec<Column<R>> {
    let mut columns = accesses(level, of);
    columns.extend(retries(level, of));
    columns
}

/// Returns hits and misses of a cache.
pub(crate) fn accesses<R: 'static>(
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
            move |row| read_miss_rate(of(row)).value(),
        ),
        ratio(
            "miss_rate",
            "fraction",
            "Misses and sector misses over accesses, of reads and writes; bypasses excluded.",
            move |row| miss_rate(of(row)).value(),
        ),
    ];
    counts.chain(rates).map(|column| column.prefixed(level)).collect()
}

/// Returns reservation failures: the reasons for retries of a cache.
fn retries<R: 'static>(
    level: &str,
    of: impl Fn(&R) -> &CacheCounts + Copy + Send + Sync + 'static,
) -> Vec<Column<R>> {
    let all = count(
        "reservation_fails",
        "cycles",
        "Cycles in which an access was retried; sum of the next four [Li Fig 6.4].",
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
    (ReservationFail::LineAlloc, "Retries: every line of the set was reserved."),
    (ReservationFail::MissQueueFull, "Retries: the miss queue was full."),
    (ReservationFail::MshrEntry, "Retries: no MSHR entry was free."),
    (ReservationFail::MshrMerge, "Retries: the MSHR entry was full."),
];
