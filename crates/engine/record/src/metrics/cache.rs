//! The metrics of a cache, L1 or L2.

use super::formulas::{miss_rate, read_miss_rate};
use crate::column::{Column, count, ratio};
use warpmem_cache::{CacheCounts, ReservationFail};

type CacheCount = (&'static str, &'static str, &'static str, fn(&CacheCounts) -> u64);

const CACHE_COUNTS: [CacheCount; 15] = [
    ("read_hits", "requests", "Reads, of the L2 atomics too, that found their data.", |c| {
        c.read_hits
    }),
    ("read_misses", "requests", "Reads, of the L2 atomics too, whose line was absent.", |c| {
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
pub(crate) fn cache<R: 'static>(
    level: &str,
    of: impl Fn(&R) -> &CacheCounts + Copy + Send + Sync + 'static,
) -> Vec<Column<R>> {
    let mut columns = accesses(level, of);
    columns.extend(retries(level, of));
    columns
}

/// Hits and misses of a cache.
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
            "Misses and sector misses of reads and writes over reads and writes; bypasses are left out.",
            move |row| miss_rate(of(row)).value(),
        ),
    ];
    counts.chain(rates).map(|column| column.prefixed(level)).collect()
}

/// Reservation failures: why accesses of a cache had to be retried.
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
