//! Results of a run that both sides report, in the same units.

use serde_json::{Map, Value};

use super::error::NoColumn;
use warpmem_cache::CacheCounts;
use warpmem_gpu::results::KernelResult;
use warpmem_record::metrics::{ipc, kernel_cycles, miss_rate, quotient};

/// Results of a run on one side; `None` where that side reports nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Core cycles, excluding launch latency.
    pub cycles: u64,
    /// Range of the cycles over several orders of the SMs, if there are several; `cycles` is then
    /// the median.
    pub range: Option<Range>,
    /// Thread instructions: active lanes of the issued warp instructions.
    pub thread_instructions: Option<u64>,
    pub l1: CacheFigures,
    pub l2: CacheFigures,
    /// Column commands.
    pub dram_reads: Option<u64>,
    pub dram_writes: Option<u64>,
    pub activations: Option<u64>,
    /// Column commands per activation.
    pub row_locality: Option<f64>,
    /// Fraction of DRAM cycles in which the data bus is busy.
    pub bus_utilization: Option<f64>,
    /// Mean latency of replies through the network to SMs, core cycles.
    pub reply_latency: Option<f64>,
    /// Kernels in launch order.
    pub kernels: Vec<KernelFigures>,
    /// CPU time of the simulation, s.
    pub cpu_seconds: Option<f64>,
    /// Wall-clock time of the simulation, s, if only that is known, as from a log.
    pub wall_seconds: Option<f64>,
}

/// Accesses of all caches of a level, in sectors. Stores count like loads: a store that does not
/// find its sector is a miss. A load that merges into an outstanding fetch of its sector is not a
/// miss if its line is allocated; in a cache that allocates on fill it is a miss, because Accel-Sim
/// finds no line for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheFigures {
    pub accesses: Option<u64>,
    pub misses: Option<u64>,
}

/// A kernel launch of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelFigures {
    pub name: String,
    /// Core cycles, excluding launch latency.
    pub cycles: u64,
    /// Range of the cycles, as for a run.
    pub range: Option<Range>,
    pub thread_instructions: Option<u64>,
}

/// Minimum and maximum of cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub least: u64,
    pub most: u64,
}

impl Figures {
    /// Extracts our figures from a row of the table `runs`, as made by
    /// [`run_row_json`](warpmem_record::run_row_json).
    ///
    /// # Errors
    /// If the row lacks a column.
    pub fn of_row(
        row: &Map<String, Value>,
        kernels: Vec<KernelFigures>,
    ) -> Result<Figures, NoColumn> {
        let [reads, writes, activations] =
            ["reads", "writes", "activations"].map(|name| count(row, name));
        let (reads, writes, activations) = (reads?, writes?, activations?);
        Ok(Figures {
            cycles: count(row, "cycles")?,
            range: None,
            thread_instructions: Some(count(row, "thread_instructions")?),
            l1: CacheFigures::of_row(row, &L1)?,
            l2: CacheFigures::of_row(row, &L2)?,
            dram_reads: Some(reads),
            dram_writes: Some(writes),
            activations: Some(activations),
            row_locality: row_locality(reads, writes, activations),
            bus_utilization: row.get("bandwidth_utilization").and_then(Value::as_f64),
            reply_latency: row.get("reply_latency_mean").and_then(Value::as_f64),
            kernels,
            cpu_seconds: None,
            wall_seconds: None,
        })
    }

    /// Returns thread instructions per cycle.
    pub fn ipc(&self) -> Option<f64> {
        ipc(self.thread_instructions?, self.cycles)
    }

    /// Replaces the cycles by their median and range over this and `others`, which are other orders
    /// of the SMs. All other figures remain those of this order.
    pub fn over_orders(mut self, others: &[Figures]) -> Figures {
        let cycles = |of: &dyn Fn(&Figures) -> Option<u64>, own| {
            let mut all: Vec<u64> = others.iter().filter_map(of).chain([own]).collect();
            all.sort_unstable();
            let range = Range { least: all[0], most: all[all.len() - 1] };
            let middle = all[(all.len() - 1) / 2].midpoint(all[all.len() / 2]);
            (middle, (!others.is_empty()).then_some(range))
        };
        (self.cycles, self.range) = cycles(&|other| Some(other.cycles), self.cycles);
        for (at, kernel) in self.kernels.iter_mut().enumerate() {
            let of = |other: &Figures| Some(other.kernels.get(at)?.cycles);
            (kernel.cycles, kernel.range) = cycles(&of, kernel.cycles);
        }
        self
    }

    /// Subtracts `latency` for each of `launches` from the cycles, and from the idle time of the
    /// data bus. The error message names the part with too few cycles.
    pub(super) fn without_launches(
        mut self,
        latency: u64,
        launches: usize,
    ) -> Result<Figures, String> {
        let with = self.cycles;
        let less = |cycles: u64, launches: u64, whose: &str| {
            let left = cycles.checked_sub(latency.saturating_mul(launches));
            left.filter(|&left| left > 0).ok_or_else(|| {
                format!(
                    "{whose} has {cycles} cycles, no more than its launch latencies: {latency} each"
                )
            })
        };
        self.cycles = less(with, launches as u64, "the run")?;
        for (kernel, number) in self.kernels.iter_mut().zip(1..) {
            kernel.cycles = less(kernel.cycles, 1, &format!("kernel {number}"))?;
        }
        let stretch = with as f64 / self.cycles as f64;
        self.bus_utilization = self.bus_utilization.map(|share| share * stretch);
        Ok(self)
    }
}

/// Columns of a cache level.
struct Level {
    /// Columns of the counts, in the order of [`CacheFigures::of_row`].
    counts: [&'static str; 7],
    /// Parameter that selects when a line is allocated.
    read_allocate: &'static str,
}

const L1: Level = Level {
    counts: [
        "l1_read_hits",
        "l1_read_misses",
        "l1_read_sector_misses",
        "l1_read_pending_hits",
        "l1_write_hits",
        "l1_write_misses",
        "l1_write_sector_misses",
    ],
    read_allocate: "l1.cache.read_allocate",
};
const L2: Level = Level {
    counts: [
        "l2_read_hits",
        "l2_read_misses",
        "l2_read_sector_misses",
        "l2_read_pending_hits",
        "l2_write_hits",
        "l2_write_misses",
        "l2_write_sector_misses",
    ],
    read_allocate: "l2.cache.read_allocate",
};

impl CacheFigures {
    fn of_row(row: &Map<String, Value>, level: &Level) -> Result<CacheFigures, NoColumn> {
        let mut counts = [0; 7];
        for (number, column) in counts.iter_mut().zip(level.counts) {
            *number = count(row, column)?;
        }
        let [hits, misses, sector_misses, merged, write_hits, write_misses, write_sector_misses] =
            counts;
        let rate = miss_rate(&CacheCounts {
            read_hits: hits,
            read_misses: misses,
            read_sector_misses: sector_misses,
            read_pending_hits: merged,
            write_hits,
            write_misses,
            write_sector_misses,
            ..CacheCounts::default()
        });
        // Merged reads count as misses if lines are allocated on fill.
        let merged_misses = match allocates_on_fill(row, level.read_allocate)? {
            true => merged,
            false => 0,
        };
        Ok(CacheFigures { accesses: Some(rate.below), misses: Some(rate.above + merged_misses) })
    }

    /// Returns misses over accesses.
    pub fn miss_rate(&self) -> Option<f64> {
        quotient(self.misses?, self.accesses?)
    }
}

impl KernelFigures {
    /// Extracts our figures from a row of the table `kernels`.
    ///
    /// # Errors
    /// If the row lacks a column.
    pub fn of_row(row: &Map<String, Value>) -> Result<KernelFigures, NoColumn> {
        let name = row.get("name").and_then(Value::as_str).ok_or(NoColumn("name"))?;
        Ok(KernelFigures {
            name: name.to_owned(),
            cycles: count(row, "cycles")?,
            range: None,
            thread_instructions: Some(count(row, "thread_instructions")?),
        })
    }

    /// Returns thread instructions per cycle.
    pub fn ipc(&self) -> Option<f64> {
        ipc(self.thread_instructions?, self.cycles)
    }
}

impl From<&KernelResult> for KernelFigures {
    fn from(kernel: &KernelResult) -> KernelFigures {
        KernelFigures {
            name: kernel.name.clone(),
            cycles: kernel_cycles(kernel),
            range: None,
            thread_instructions: Some(kernel.thread_instructions),
        }
    }
}

/// Returns whether this cache parameter of the row's machine is `on-fill`.
fn allocates_on_fill(row: &Map<String, Value>, parameter: &str) -> Result<bool, NoColumn> {
    let parameters = row.get("parameters").and_then(Value::as_str);
    let parameters = parameters.and_then(|text| serde_json::from_str::<Value>(text).ok());
    let parameters = parameters.ok_or(NoColumn("parameters"))?;
    Ok(parameters.get(parameter).and_then(Value::as_str) == Some("on-fill"))
}

fn count(row: &Map<String, Value>, column: &'static str) -> Result<u64, NoColumn> {
    row.get(column).and_then(Value::as_u64).ok_or(NoColumn(column))
}

/// Sums numbers from a file, which may be arbitrarily large.
pub(super) fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// Returns column commands per activation. The table `runs` counts requests instead, which the
/// reference does not report.
pub(super) fn row_locality(reads: u64, writes: u64, activations: u64) -> Option<f64> {
    quotient(reads.saturating_add(writes), activations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_dram::{BankResult, ChannelResult};
    use warpmem_gpu::results::{RunResult, SliceResult, SmResult};
    use warpmem_machine::load;
    use warpmem_record::{RunKey, run_row_json};

    fn run() -> RunResult {
        let cache = |factor| CacheCounts {
            read_hits: factor,
            read_misses: 2 * factor,
            read_sector_misses: 3 * factor,
            read_pending_hits: 5 * factor,
            write_hits: 7 * factor,
            write_misses: 11 * factor,
            write_sector_misses: 13 * factor,
            atomics: 1000,
            bypasses: 1000,
            ..CacheCounts::default()
        };
        let bank = BankResult { reads: 30, writes: 10, activations: 8, ..BankResult::default() };
        let channel = ChannelResult {
            cycles: 100,
            data_bus_busy_cycles: 40,
            banks: vec![bank],
            ..ChannelResult::default()
        };
        let mut result = RunResult {
            core_cycles: 500,
            kernels: vec![KernelResult {
                name: "k".to_owned(),
                start_cycle: 100,
                end_cycle: 350,
                thread_instructions: 500,
                ..KernelResult::default()
            }],
            sms: vec![SmResult {
                thread_instructions: 500,
                l1: cache(1),
                replies: 2,
                reply_ticks: 2400,
                ..SmResult::default()
            }],
            slices: vec![SliceResult { cache: cache(10), ..SliceResult::default() }],
            channels: vec![channel],
            ..RunResult::default()
        };
        result.latency.ticks_per_core_cycle = 4;
        result
    }

    fn row() -> Map<String, Value> {
        row_on("accelsim-qv100")
    }

    fn row_on(machine: &str) -> Map<String, Value> {
        run_row_json(&RunKey::new("t", 1, load(machine, &[]).unwrap(), ""), &run())
    }

    #[test]
    fn cycles_are_the_median_over_orders_and_other_figures_are_unchanged() {
        let figures = |cycles, kernel| Figures {
            cycles,
            dram_reads: Some(cycles),
            kernels: vec![KernelFigures { cycles: kernel, ..KernelFigures::default() }],
            ..Figures::default()
        };
        let others = [figures(500, 90), figures(100, 95)];
        let over = figures(400, 99).over_orders(&others);
        assert_eq!((over.cycles, over.range), (400, Some(Range { least: 100, most: 500 })));
        assert_eq!(over.dram_reads, Some(400));
        let kernel = &over.kernels[0];
        assert_eq!((kernel.cycles, kernel.range), (95, Some(Range { least: 90, most: 99 })));
        let two = figures(400, 99).over_orders(&others[..1]);
        assert_eq!(two.cycles, 450, "between two in the middle");
        assert_eq!(figures(400, 99).over_orders(&[]), figures(400, 99), "one order has no range");
    }

    #[test]
    fn store_misses_count_and_atomics_do_not_count_twice() {
        let figures = Figures::of_row(&row(), Vec::new()).unwrap();
        assert_eq!(figures.l1, CacheFigures { accesses: Some(42), misses: Some(29) });
        assert_eq!(figures.l2, CacheFigures { accesses: Some(420), misses: Some(290) });
        assert_eq!(figures.l1.miss_rate(), Some(29.0 / 42.0));
    }

    #[test]
    fn merged_loads_count_as_misses_with_allocate_on_fill() {
        let figures = Figures::of_row(&row_on("accelsim-rtx2060s"), Vec::new()).unwrap();
        assert_eq!(figures.l1, CacheFigures { accesses: Some(42), misses: Some(34) });
        assert_eq!(figures.l2, CacheFigures { accesses: Some(420), misses: Some(290) });
    }

    #[test]
    fn figures_of_a_row_are_those_of_its_columns() {
        let figures = Figures::of_row(&row(), Vec::new()).unwrap();
        assert_eq!((figures.cycles, figures.thread_instructions), (500, Some(500)));
        assert_eq!((figures.dram_reads, figures.dram_writes), (Some(30), Some(10)));
        assert_eq!((figures.activations, figures.row_locality), (Some(8), Some(5.0)));
        assert_eq!((figures.bus_utilization, figures.reply_latency), (Some(0.4), Some(300.0)));
    }

    #[test]
    fn a_kernel_is_timed_from_its_start() {
        let kernel = KernelFigures::from(&run().kernels[0]);
        assert_eq!((kernel.cycles, kernel.ipc()), (250, Some(2.0)));
    }

    #[test]
    fn a_missing_column_is_named() {
        let mut row = row();
        row.remove("l2_write_hits");
        assert_eq!(Figures::of_row(&row, Vec::new()), Err(NoColumn("l2_write_hits")));
    }

    #[test]
    fn launch_latency_is_subtracted_from_cycles_and_idle_bus_time() {
        let kernel = |cycles| KernelFigures { cycles, ..KernelFigures::default() };
        let figures = Figures {
            cycles: 400,
            kernels: vec![kernel(250), kernel(150)],
            bus_utilization: Some(0.25),
            ..Figures::default()
        };
        let without = figures.clone().without_launches(100, 2).unwrap();
        assert_eq!(without.cycles, 200);
        assert_eq!(without.kernels, [kernel(150), kernel(50)]);
        assert_eq!(without.bus_utilization, Some(0.5));
        let message = figures.clone().without_launches(150, 2).unwrap_err();
        assert!(message.contains("kernel 2 has 150 cycles"), "{message}");
        assert!(figures.without_launches(200, 2).unwrap_err().contains("the run has 400 cycles"));
    }
}
