//! The metrics of DRAM: requests, commands and row streaks of banks; cycles and data of channels.

use super::quotient;
use crate::column::{Column, count, ratio};
use crate::run::FinishedRun;
use warpmem_dram::{BankResult, Breaker, ChannelResult, SharedRows};

/// Returns the metrics of a bank or a sum of banks.
pub(crate) fn bank<R: 'static>(of: fn(&R) -> BankResult) -> Vec<Column<R>> {
    let mut columns = rows(of);
    columns.extend(prefetches(of));
    columns.extend(streaks(of));
    columns
}

/// Returns requests and commands of a bank or a sum of banks.
pub(crate) fn rows<R: 'static>(
    of: impl Fn(&R) -> BankResult + Copy + Send + Sync + 'static,
) -> Vec<Column<R>> {
    vec![
        count("reads", "commands", "Column reads, prefetches included.", move |row| of(row).reads),
        count("writes", "commands", "Column writes.", move |row| of(row).writes),
        count("activations", "commands", "Row activations.", move |row| of(row).activations),
        count("precharges", "commands", "Row precharges.", move |row| of(row).precharges),
        count(
            "row_hits",
            "requests",
            "Requests that found their row open at their first service decision.",
            move |row| of(row).row_hits,
        ),
        count(
            "row_misses",
            "requests",
            "Requests that found their bank closed at their first service decision.",
            move |row| of(row).row_misses,
        ),
        count(
            "row_conflicts",
            "requests",
            "Requests that found another row open at their first service decision.",
            move |row| of(row).row_conflicts,
        ),
        ratio(
            "row_hit_rate",
            "fraction",
            "Row hits over hits, misses and conflicts, counted once per request [OWL RBL].",
            move |row| of(row).row_hit_rate(),
        ),
        ratio(
            "row_locality",
            "requests / activation",
            "Requests served per row activation [Li, Yuan].",
            move |row| of(row).row_locality(),
        ),
    ]
}

/// Returns prefetches and the row ratios that include them.
fn prefetches<R: 'static>(of: fn(&R) -> BankResult) -> Vec<Column<R>> {
    vec![
        count("prefetch_reads", "commands", "Column reads of prefetches.", move |row| {
            of(row).prefetch_reads
        }),
        count(
            "prefetched_lines",
            "lines",
            "Lines prefetched, not counted as requests.",
            move |row| of(row).prefetched_lines,
        ),
        ratio(
            "row_hit_rate_with_prefetches",
            "fraction",
            "Row hits and prefetched lines over requests and prefetched lines.",
            move |row| of(row).row_hit_rate_with_prefetches(),
        ),
        ratio(
            "row_locality_with_prefetches",
            "requests / activation",
            "Requests served and lines prefetched per row activation.",
            move |row| of(row).row_locality_with_prefetches(),
        ),
    ]
}

/// Returns the sharing of rows among CTAs.
pub(crate) fn row_sharing() -> Vec<Column<FinishedRun>> {
    vec![
        ratio(
            "ctas_per_row",
            "CTAs",
            "Mean number of distinct CTAs with requests to a DRAM row in the queue, over the rows that any \
             had [OWL Table 4]; null unless `run.count_row_sharing`.",
            |run: &FinishedRun| {
                let sharing = || run.result.row_sharing.iter();
                let ctas = sharing().map(|(&ctas, shared)| u64::from(ctas) * shared.rows).sum();
                quotient(ctas, sharing().map(|(_, shared)| shared.rows).sum())
            },
        ),
        ratio(
            "consecutive_cta_row_sharing",
            "fraction",
            "Fraction of the CTAs of a row with a consecutive CTA of their kernel among them, mean over \
             rows [OWL Table 4]; null unless `run.count_row_sharing`.",
            |run: &FinishedRun| {
                let sharing = || run.result.row_sharing.iter();
                let share = |(&ctas, shared): (&u32, &SharedRows)| {
                    shared.consecutive_ctas as f64 / f64::from(ctas)
                };
                let rows: u64 = sharing().map(|(_, shared)| shared.rows).sum();
                (rows > 0).then(|| sharing().map(share).sum::<f64>() / rows as f64)
            },
        ),
    ]
}

/// Returns row streaks and their breakers.
fn streaks<R: 'static>(of: fn(&R) -> BankResult) -> Vec<Column<R>> {
    let mut columns = vec![
        count(
            "row_switches",
            "switches",
            "Requests served to another row than the previous request of the bank: row \
             streaks that ended [Yuan 5.2].",
            move |row| of(row).row_switches,
        ),
        count(
            "stranded_switches",
            "switches",
            "Switches that stranded a request to the old row, which waited and had arrived after the \
             request to the new row [Yuan 5.2].",
            move |row| of(row).stranded_switches,
        ),
    ];
    for (breaker, whose) in BREAKERS {
        let (name, kind) = (Breaker::NAMES[breaker as usize], breaker as usize);
        let doc = format!(
            "Switches with a breaker {whose} (from the request to the new row up to the first \
             stranded one, in the order of arrival) [Yuan 5.2]."
        );
        columns.push(count(&format!("streak_breakers_{name}"), "switches", &doc, move |row| {
            of(row).streak_breakers[kind]
        }));
    }
    for (breaker, _) in BREAKERS {
        let name = Breaker::NAMES[breaker as usize];
        let doc = format!(
            "streak_breakers_{name} over row_switches; [Yuan Fig 10] divides by the switches of the baseline."
        );
        let name = format!("streak_breaker_rate_{name}");
        columns
            .push(ratio(&name, "fraction", &doc, move |row| of(row).streak_breaker_rate(breaker)));
    }
    columns
}

const BREAKERS: [(Breaker, &str); Breaker::COUNT] = [
    (
        Breaker::OtherCore,
        "of another SM than the stranded request, or without an SM that waits for one of them",
    ),
    (Breaker::SameCoreOtherCta, "of the same SM but another CTA"),
    (Breaker::SameCta, "of the same CTA"),
];

/// Returns cycles and rates of a channel, or of all channels as ratios of sums.
pub(crate) fn channel<R: 'static>(
    of: impl Fn(&R) -> &ChannelResult + Copy + Send + Sync + 'static,
) -> Vec<Column<R>> {
    let counted = |name, unit, doc, get: fn(&ChannelResult) -> u64| {
        count(name, unit, doc, move |row| get(of(row)))
    };
    let rate = |name, unit, doc, get: fn(&ChannelResult) -> Option<f64>| {
        ratio(name, unit, doc, move |row| get(of(row)))
    };
    let cycles = "DRAM cycles";
    vec![
        counted("refreshes", "commands", "Refreshes of all banks.", |c| c.refreshes),
        counted("bank_refreshes", "commands", "Refreshes of one bank.", |c| c.bank_refreshes),
        counted("turnarounds", "turnarounds", "Direction changes of the data bus.", |c| {
            c.turnarounds
        }),
        counted("write_drains", "drains", "Drains of the write queue.", |c| c.write_drains),
        counted(
            "dram_cycles",
            cycles,
            "Cycles of the run until memory is idle after the last CTA, of the interval, or of the kernel until the next one starts; per channel.",
            |c| c.cycles,
        ),
        counted(
            "data_bus_busy_cycles",
            cycles,
            "Cycles with data on the bus, mean over pseudo channels.",
            |c| c.data_bus_busy_cycles,
        ),
        counted(
            "pending_cycles",
            cycles,
            "Cycles with a request waiting or in service, or a prefetch in service.",
            |c| c.pending_cycles,
        ),
        counted("open_cycles", cycles, "Cycles with a row open in some bank.", |c| c.open_cycles),
        rate(
            "bandwidth_utilization",
            "fraction",
            "Data-bus busy cycles over all DRAM cycles [Li Fig 6.9].",
            ChannelResult::bandwidth_utilization,
        ),
        rate(
            "dram_efficiency",
            "fraction",
            "Data-bus busy cycles over cycles with a request pending in the channel [Yuan].",
            ChannelResult::dram_efficiency,
        ),
        rate(
            "blp",
            "banks",
            "Mean number of banks of a channel with an outstanding request, over the cycles with any \
             [OWL].",
            ChannelResult::blp,
        ),
        rate(
            "blp_busy",
            "banks",
            "Mean number of banks of a channel in service (activating, bursting, precharging), over \
             the cycles with any.",
            ChannelResult::blp_busy,
        ),
        rate(
            "queue_occupancy_mean",
            "requests",
            "Mean number of requests in the queues of a channel, over all DRAM cycles.",
            ChannelResult::queue_occupancy_mean,
        ),
    ]
}

/// Returns the bytes moved by DRAM, in total and per time: `cycles` of a channel. All channels use
/// the same time, so that their bandwidths add up to the bandwidth of the run.
pub(crate) fn data<R: 'static>(
    banks: fn(&R) -> BankResult,
    run: fn(&R) -> &FinishedRun,
    cycles: fn(&R) -> u64,
) -> Vec<Column<R>> {
    let bytes = move |row: &R| run(row).bytes(&banks(row));
    vec![
        count("dram_bytes", "bytes", "Column commands times bus width times burst length.", bytes),
        ratio(
            "dram_bandwidth",
            "GB/s",
            "dram_bytes over the time until memory is idle, or the next kernel starts (dram_cycles of a channel over the DRAM \
             clock); 1 GB is 10^9 bytes.",
            move |row| {
                // bytes / cycle x cycles / us = MB/s
                let megabytes = quotient(bytes(row), cycles(row))? * run(row).dram_mhz() as f64;
                Some(megabytes / 1000.0)
            },
        ),
    ]
}
