//! The metrics of L2 slices, of one or all.

use super::{cache, quotient};
use crate::column::{Column, count, maybe_count, ratio};
use warpmem_gpu::results::{
    CRITICAL_CLASSES, MshrState, PrefetchCounts, QueueLength, QueueResult, SliceResult,
};

/// Returns the metrics of an L2 slice, or of all.
pub(crate) fn l2<R: 'static>(of: fn(&R) -> &SliceResult) -> Vec<Column<R>> {
    let mut columns = cache("l2", move |row| &of(row).cache);
    columns.extend([
        count(
            "l2_early_writebacks",
            "lines",
            "Lines written back while they stay, to bound the dirty lines of a set.",
            move |row| of(row).cache.early_writebacks,
        ),
        count(
            "l2_dram_queue_full_cycles",
            "L2 cycles",
            "Cycles in which a request waited for the tags because the queue to DRAM was full; not a reservation failure.",
            move |row| of(row).dram_queue_full_cycles,
        ),
        ratio(
            "mshr_merge_length_mean",
            "requests",
            "Mean number of requests in an L2 MSHR entry when it is released [Li].",
            move |row| of(row).mshr_merge_length.mean(),
        ),
        maybe_count(
            "mshr_merge_length_max",
            "requests",
            "Maximum number of requests in an L2 MSHR entry.",
            move |row| of(row).mshr_merge_length.max(),
        ),
    ]);
    columns.extend(MSHR_STATES.map(|(state, name, doc)| {
        ratio(name, "fraction", doc, move |row| {
            let cycles = &of(row).mshr_cycles;
            quotient(cycles[state as usize], cycles.iter().sum())
        })
    }));
    columns.extend(queue(move |row| &of(row).queue));
    columns
        .extend(PREFETCHES.map(|(name, doc, get)| {
            count(name, "lines", doc, move |row| get(&of(row).prefetches))
        }));
    columns
}

type PrefetchCount = (&'static str, &'static str, fn(&PrefetchCounts) -> u64);

const PREFETCHES: [PrefetchCount; 7] = [
    (
        "prefetches",
        "Lines prefetched by the channel for the slice; sum of the next six [OWL 4.4].",
        |p| p.lines,
    ),
    ("prefetches_used", "Prefetched lines hit by a request.", |p| p.used),
    ("prefetches_late", "Prefetched lines dropped after an earlier miss of a request.", |p| p.late),
    ("prefetches_redundant", "Prefetched lines dropped because they were present.", |p| {
        p.redundant
    }),
    ("prefetches_dropped", "Prefetched lines dropped for lack of a free line.", |p| p.dropped),
    ("prefetches_evicted_unused", "Prefetched lines evicted before a request hit them.", |p| {
        p.evicted_unused
    }),
    ("prefetches_unused", "Prefetched lines without a hit at the end of the run.", |p| p.unused),
];

const MSHR_STATES: [(MshrState, &str, &str); MshrState::COUNT] = [
    (
        MshrState::Shared,
        "inter_core_locality",
        "L2 cycles in which requests of two or more SMs wait in one MSHR entry, of the slice or, for a run, of any \
         slice, over all [Li Fig 5.2].",
    ),
    (
        MshrState::Unshared,
        "no_inter_core_locality",
        "L2 cycles in which requests wait in MSHR entries, of the slice or, for a run, of any slice, but of one SM in \
         each, over all [Li Fig 5.2].",
    ),
    (
        MshrState::Idle,
        "mshr_idle",
        "L2 cycles without an outstanding miss, of the slice or, for a run, of any slice, over all [Li Fig 5.2].",
    ),
];

/// Classes of Critical Fields: name in columns, and description.
const CLASSES: [(&str, &str); CRITICAL_CLASSES] =
    [("1", "1"), ("2", "2"), ("3_4", "3 or 4"), ("5_8", "5 to 8"), ("9_32", "9 to 32")];

fn queue<R: 'static>(
    of: impl Fn(&R) -> &QueueResult + Copy + Send + Sync + 'static,
) -> Vec<Column<R>> {
    let mut columns = vec![
        ratio(
            "waiting_ratio",
            "fraction",
            "Arrivals at the queue of a slice that find a waiting request, over all arrivals [CaLRS; our reading].",
            move |row| quotient(of(row).waiting_arrivals, arrivals(of(row))),
        ),
        queue_length_mean(move |row| &of(row).length),
    ];
    columns.extend(CLASSES.into_iter().enumerate().map(|(class, (_, words))| {
        let doc = format!(
            "Mean time in the queue of a slice of requests of priority class {class}, whose Critical Field was \
             {words} when they arrived, whatever the policy [CaLRS Fig 9]."
        );
        ratio(&format!("queue_latency_class_{class}"), "L2 cycles", &doc, move |row| {
            quotient(of(row).wait_cycles[class], of(row).arrivals[class])
        })
    }));
    columns.extend(CLASSES.into_iter().enumerate().map(|(class, (name, words))| {
        let doc = format!(
            "Requests with a Critical Field of {words} on arrival at the queue of a slice, over all arrivals \
             [CaLRS Fig 6]."
        );
        ratio(&format!("critical_field_{name}"), "fraction", &doc, move |row| {
            quotient(of(row).arrivals[class], arrivals(of(row)))
        })
    }));
    columns.extend([
        ratio(
            "critical_field_mean",
            "requests",
            "Mean Critical Field of requests on arrival at the queue of a slice [CaLRS].",
            move |row| of(row).critical_fields.mean(),
        ),
        ratio(
            "rotation_interval",
            "L2 cycles",
            "L2 cycles with a request in the queue of a slice, over rotations of its priorities; null where none rotate \
             [CaLRS Fig 11].",
            move |row| quotient(of(row).length.occupied_cycles, of(row).rotations),
        ),
        count(
            "queue_refused_cycles",
            "L2 cycles",
            "L2 cycles in which an arrived request could not enter the queue of a slice, which was full or \
             its block signal stood.",
            move |row| of(row).refused_cycles,
        ),
    ]);
    columns
}

/// Returns the queue length of a slice.
pub(crate) fn queue_length_mean<R: 'static>(
    of: impl Fn(&R) -> &QueueLength + Send + Sync + 'static,
) -> Column<R> {
    ratio(
        "queue_length_mean",
        "requests",
        "Mean number of requests in the queue of a slice, over L2 cycles with one; a request that the tags retry \
         waits there [CaLRS AQL].",
        move |row| quotient(of(row).length_cycles, of(row).occupied_cycles),
    )
}

fn arrivals(queue: &QueueResult) -> u64 {
    queue.arrivals.iter().sum()
}
