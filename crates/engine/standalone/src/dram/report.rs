//! The results of a run: a row for all channels together, and one per channel.

use super::outcome::{ChannelOutcome, Outcome};
use std::ops::Range;
use std::sync::Arc;
use warpmem_dram::{Activity, BankResult, ChannelResult, Energy};
use warpmem_params::Counter;
use warpmem_record::{Column, count, energy, maybe_count, ratio, text};
use warpmem_sim::Histogram;
use warpmem_sim::Total;

/// One channel of a run, or all together.
pub struct Row {
    run: Arc<Outcome>,
    channels: Range<usize>,
    /// Sum over the channels.
    counts: ChannelResult,
    banks: BankResult,
    read_latency: Histogram,
    write_latency: Histogram,
    delay: Histogram,
}

/// Returns the row of all channels together, followed by one per channel if there are several.
pub fn rows(run: Outcome) -> Vec<Row> {
    let run = Arc::new(run);
    let count = run.channels.len();
    let each = (0..count).filter(|_| count > 1).map(|channel| channel..channel + 1);
    std::iter::once(0..count).chain(each).map(|channels| Row::new(&run, channels)).collect()
}

impl Row {
    fn new(run: &Arc<Outcome>, channels: Range<usize>) -> Row {
        let merged = |of: fn(&ChannelOutcome) -> &Histogram| {
            let mut sum = Histogram::default();
            run.channels[channels.clone()].iter().for_each(|channel| sum.merge(of(channel)));
            sum
        };
        let mut counts = ChannelResult::default();
        run.channels[channels.clone()].iter().for_each(|channel| counts.add(&channel.counts));
        Row {
            banks: counts.total(),
            counts,
            read_latency: merged(|channel| &channel.read_latency),
            write_latency: merged(|channel| &channel.write_latency),
            delay: merged(|channel| &channel.delay),
            run: Arc::clone(run),
            channels,
        }
    }

    /// Returns the channel's number; none for the row of all channels.
    pub fn channel(&self) -> Option<u64> {
        let is_one = self.run.channels.len() > 1 && self.channels.len() == 1;
        is_one.then_some(self.channels.start as u64)
    }

    pub fn scheduler(&self) -> &str {
        &self.run.scheduler
    }

    /// Returns the scheduler's own counts, by name.
    pub fn counters(&self) -> Vec<Counter> {
        let mut sums: Vec<Counter> = Vec::new();
        for counter in self.outcomes().iter().flat_map(|channel| &channel.counters) {
            match sums.iter_mut().find(|sum| sum.name == counter.name) {
                Some(sum) => sum.value += counter.value,
                None => sums.push(*counter),
            }
        }
        sums
    }

    fn outcomes(&self) -> &[ChannelOutcome] {
        &self.run.channels[self.channels.clone()]
    }

    /// Returns the cycles until the last data of the last channel.
    fn cycles(&self) -> u64 {
        self.outcomes().iter().map(|channel| channel.counts.cycles).max().unwrap_or(0)
    }

    fn bytes(&self) -> u64 {
        self.banks.columns() * u64::from(self.run.device.dram.burst_bytes())
    }

    /// Returns the sum over channels, each until the end of its own last data.
    fn energy(&self) -> Option<Energy> {
        let device = &self.run.device;
        let activity = Activity::new(&self.counts, &self.banks);
        Energy::of(&device.dram, device.period.nanoseconds(), &activity)
    }

    /// Returns the bytes that the data buses could have moved.
    fn possible_bytes(&self) -> u64 {
        let per_cycle = u64::from(self.run.device.dram.bytes_per_cycle());
        per_cycle * self.channels.len() as u64 * self.cycles()
    }

    fn nanoseconds(&self, cycles: f64) -> f64 {
        cycles * self.run.device.period.nanoseconds()
    }
}

/// Returns the columns of a row, in the order of the tables.
pub fn columns() -> Vec<Column<Row>> {
    let mut columns = identity();
    columns.extend(bandwidth());
    columns.extend(rows_and_banks());
    columns.extend(commands());
    columns.extend(energy::<Row>(Row::energy, Row::bytes));
    columns.extend(latency("read", "reads", |row| &row.read_latency));
    columns.extend(latency("write", "writes", |row| &row.write_latency));
    columns.extend(delay());
    columns
}

fn identity() -> Vec<Column<Row>> {
    vec![
        text("device", "Machine or standard of the channels.", |row: &Row| &row.run.device.name),
        text("stream", "Stream of requests with all parameters.", |row: &Row| &row.run.stream),
        text("dram_scheduler", "DRAM scheduler and its parameters.", |row: &Row| row.scheduler()),
        maybe_count(
            "channel",
            "",
            "Number of the channel; none: all channels together.",
            |row: &Row| row.channel(),
        ),
    ]
}

fn bandwidth() -> Vec<Column<Row>> {
    vec![
        count("cycles", "cycles", "Command clock cycles until the last datum.", |row: &Row| {
            row.cycles()
        }),
        ratio("time_us", "us", "`cycles` in microseconds.", |row: &Row| {
            Some(row.nanoseconds(row.cycles() as f64) / 1000.0)
        }),
        count("read_requests", "requests", "Reads served.", |row: &Row| row.counts.read_requests),
        count("write_requests", "requests", "Writes served.", |row: &Row| {
            row.counts.write_requests
        }),
        ratio(
            "bandwidth_gbps",
            "GB/s",
            "Bytes moved over time, in 10^9 bytes per second.",
            |row: &Row| {
                let time = row.nanoseconds(row.cycles() as f64);
                (time > 0.0).then(|| row.bytes() as f64 / time)
            },
        ),
        ratio(
            "bandwidth_utilization",
            "fraction",
            "Bytes moved over the bytes that the data buses could have moved in `cycles` [Li Fig 6.9].",
            |row: &Row| {
                let possible = row.possible_bytes();
                (possible > 0).then(|| row.bytes() as f64 / possible as f64)
            },
        ),
        ratio(
            "dram_efficiency",
            "fraction",
            "Data-bus busy cycles over cycles with a request pending in the channel, averaged over the data buses of its pseudo channels [Yuan].",
            |row: &Row| row.counts.dram_efficiency(),
        ),
        ratio(
            "queue_occupancy_mean",
            "requests",
            "Mean number of requests in the queues of a channel.",
            |row: &Row| row.counts.queue_occupancy_mean(),
        ),
    ]
}

fn rows_and_banks() -> Vec<Column<Row>> {
    vec![
        count(
            "row_hits",
            "requests",
            "Requests that found their row open at their first command.",
            |row: &Row| row.banks.row_hits,
        ),
        count(
            "row_misses",
            "requests",
            "Requests that found the bank closed at their first command.",
            |row: &Row| row.banks.row_misses,
        ),
        count(
            "row_conflicts",
            "requests",
            "Requests that found another row open at their first command.",
            |row: &Row| row.banks.row_conflicts,
        ),
        ratio(
            "row_hit_rate",
            "fraction",
            "Column commands to a row opened by an earlier one, over all column commands [OWL RBL].",
            |row: &Row| row.banks.row_buffer_locality(),
        ),
        ratio(
            "row_locality",
            "commands",
            "Column commands per activation [Li, Yuan].",
            |row: &Row| row.banks.columns_per_activation(),
        ),
        ratio(
            "blp",
            "banks",
            "Mean number of banks with an outstanding request, over cycles with at least one [OWL].",
            |row: &Row| row.counts.blp(),
        ),
        ratio(
            "blp_busy",
            "banks",
            "Mean number of busy banks, over cycles with at least one.",
            |row: &Row| row.counts.blp_busy(),
        ),
    ]
}

fn commands() -> Vec<Column<Row>> {
    let command = |name, doc, of: fn(&Row) -> u64| count(name, "commands", doc, of);
    vec![
        command("activations", "ACT commands.", |row| row.banks.activations),
        command("precharges", "PRE commands.", |row| row.banks.precharges),
        command("auto_precharges", "Column commands that closed their row.", |row| {
            row.banks.auto_precharges
        }),
        command("reads", "RD commands.", |row| row.banks.reads),
        command("writes", "WR commands.", |row| row.banks.writes),
        command("refreshes", "REF commands.", |row| row.counts.refreshes),
        command("bank_refreshes", "REFPB commands.", |row| row.counts.bank_refreshes),
        count("open_cycles", "cycles", "Cycles with at least one open row.", |row: &Row| {
            row.counts.open_cycles
        }),
        count(
            "turnarounds",
            "turnarounds",
            "Turnarounds of the data bus between reads and writes.",
            |row: &Row| row.counts.turnarounds,
        ),
        count(
            "write_drains",
            "drains",
            "Drains started by the high watermark of the write queue.",
            |row: &Row| row.counts.write_drains,
        ),
    ]
}

/// Adds mean, percentiles and maximum, in cycles and in nanoseconds.
fn latency(
    name: &'static str,
    of_what: &'static str,
    of: fn(&Row) -> &Histogram,
) -> Vec<Column<Row>> {
    type Statistic = (&'static str, &'static str, fn(&Histogram) -> Option<f64>);
    const STATISTICS: [Statistic; 5] = [
        ("mean", "Mean", Histogram::mean),
        ("p50", "Median", |h| quantile(h, 0.5)),
        ("p95", "95th percentile", |h| quantile(h, 0.95)),
        ("p99", "99th percentile", |h| quantile(h, 0.99)),
        ("max", "Largest", |h| h.max().map(|max| max as f64)),
    ];
    let statistic = move |(short, long, value): Statistic| {
        let doc = format!("{long} time of {of_what} from entering the queue to the last datum.");
        [
            ratio(&format!("{name}_latency_{short}"), "cycles", &doc, move |row: &Row| {
                value(of(row))
            }),
            ratio(&format!("{name}_latency_{short}_ns"), "ns", &doc, move |row: &Row| {
                value(of(row)).map(|cycles| row.nanoseconds(cycles))
            }),
        ]
    };
    STATISTICS.into_iter().flat_map(statistic).collect()
}

fn quantile(histogram: &Histogram, q: f64) -> Option<f64> {
    histogram.quantile(q).map(|cycles| cycles as f64)
}

fn delay() -> Vec<Column<Row>> {
    vec![
        ratio(
            "entry_delay_mean",
            "cycles",
            "Mean delay from the due cycle of a request until it enters the queue.",
            |row: &Row| row.delay.mean(),
        ),
        maybe_count(
            "entry_delay_max",
            "cycles",
            "Largest delay from the due cycle of a request until it enters the queue.",
            |row: &Row| row.delay.max(),
        ),
    ]
}
