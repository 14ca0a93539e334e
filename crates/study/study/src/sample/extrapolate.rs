//! Extrapolation: the metrics of a whole part on a machine, from simulated samples of it.
//!
//! A replicate is a sample and a half of it, both simulated. Every count is extrapolated along the
//! straight line through the two, so that a constant part (filling and draining the machine, first
//! touches of shared data) is not multiplied:
//!
//! ```text
//! count │                                ○ whole (extrapolated)
//!       │                      . ˙ ˙
//!       │            ● sample
//!       │      ● half
//!       │  ˙  ← constant part
//!       └──────┴─────┴───────────────────┴─▶ warp instructions
//! ```
//!
//! A metric is the ratio of two extrapolated counts.

use warpmem_gpu::results::{KernelResult, RunResult};
use warpmem_record::metrics::{Fraction, read_miss_rate, row_hit_rate};

/// An extrapolated count of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
enum Count {
    Cycles,
    WarpInstructions,
    L1ReadMisses,
    L1Reads,
    L2ReadMisses,
    L2Reads,
    RowHits,
    RowRequests,
    ReadLatency,
    ReadsLeavingL1,
    OffChipRequests,
    Loads,
}

const COUNTS: usize = Count::Loads as usize + 1;

/// Counts, indexed by [`Count`].
type Counts = [f64; COUNTS];

/// A metric of a run estimated from samples: a count, or the ratio of two.
pub struct Metric {
    /// Name of the column of `runs`, or of a metric without one.
    pub name: &'static str,
    pub unit: &'static str,
    above: Count,
    below: Option<Count>,
}

const fn metric(
    name: &'static str,
    unit: &'static str,
    above: Count,
    below: Option<Count>,
) -> Metric {
    Metric { name, unit, above, below }
}

/// The extrapolated metrics, in display order.
pub static METRICS: [Metric; 8] = [
    metric("cycles", "core cycles", Count::Cycles, None),
    metric(
        "ipc_warp",
        "warp instructions / core cycle",
        Count::WarpInstructions,
        Some(Count::Cycles),
    ),
    metric(
        "cycles_per_warp_instruction",
        "core cycles / warp instruction",
        Count::Cycles,
        Some(Count::WarpInstructions),
    ),
    metric("l1_read_miss_rate", "fraction", Count::L1ReadMisses, Some(Count::L1Reads)),
    metric("l2_read_miss_rate", "fraction", Count::L2ReadMisses, Some(Count::L2Reads)),
    metric("row_hit_rate", "fraction", Count::RowHits, Some(Count::RowRequests)),
    metric("latency_mean", "core cycles", Count::ReadLatency, Some(Count::ReadsLeavingL1)),
    metric("offchip_per_load", "requests", Count::OffChipRequests, Some(Count::Loads)),
];

/// A simulated sample, and a smaller one within it.
pub struct Replicate<'a> {
    pub sample: &'a RunResult,
    pub half: &'a RunResult,
}

/// A kernel of the whole part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WholeKernel {
    pub warp_instructions: u64,
    pub ctas: u64,
    /// Maximum number of its CTAs resident on the machine at a time.
    pub held: u64,
}

/// Numerator and denominator of a metric; a count has the denominator 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    pub above: f64,
    pub below: f64,
}

impl Ratio {
    /// Returns the quotient; none if the denominator is 0.
    pub fn value(&self) -> Option<f64> {
        (self.below != 0.0).then(|| self.above / self.below)
    }
}

/// Ratios, indexed by metric.
pub type Ratios = [Ratio; METRICS.len()];

/// Returns the metrics of a run itself.
pub fn measured(run: &RunResult) -> Ratios {
    ratios(&counts(run))
}

/// Extrapolates the metrics of the whole from one replicate. `whole` has the kernels of the samples
/// in launch order.
///
/// Every count of the run is extrapolated along the straight line through both samples, over warp
/// instructions: additional work costs as much as the second half of the sample. Cycles are
/// extrapolated per kernel. If the half does not fill the machine, that line is too flat: while
/// there is room, more CTAs take hardly longer. The cycles of such a kernel grow in proportion to
/// its warp instructions (a ratio estimator, Cochran 6.2), unless the whole kernel fits on the
/// machine.
pub fn extrapolated(replicate: &Replicate<'_>, whole: &[WholeKernel]) -> Ratios {
    let [more, less] = [replicate.sample, replicate.half].map(counts);
    let all = whole.iter().map(|kernel| kernel.warp_instructions).sum::<u64>() as f64;
    let at = Count::WarpInstructions as usize;
    let mut counts =
        std::array::from_fn(|count| line([less[at], less[count]], [more[at], more[count]]).at(all));
    counts[Count::Cycles as usize] = cycles(replicate, whole);
    ratios(&counts)
}

fn ratios(counts: &Counts) -> Ratios {
    METRICS.each_ref().map(|metric| Ratio {
        above: counts[metric.above as usize],
        below: metric.below.map_or(1.0, |below| counts[below as usize]),
    })
}

fn counts(run: &RunResult) -> Counts {
    let l1: Fraction = run.sms.iter().map(|sm| read_miss_rate(&sm.l1)).sum();
    let l2: Fraction = run.slices.iter().map(|slice| read_miss_rate(&slice.cache)).sum();
    let banks = run.channels.iter().flat_map(|channel| &channel.banks);
    let rows: Fraction = banks.map(row_hit_rate).sum();
    let mut counts = [0.0; COUNTS];
    let mut set = |count: Count, value: u64| counts[count as usize] = value as f64;
    set(Count::Cycles, run.core_cycles);
    set(Count::WarpInstructions, run.sms.iter().map(|sm| sm.warp_instructions).sum());
    set(Count::L1ReadMisses, l1.above);
    set(Count::L1Reads, l1.below);
    set(Count::L2ReadMisses, l2.above);
    set(Count::L2Reads, l2.below);
    set(Count::RowHits, rows.above);
    set(Count::RowRequests, rows.below);
    set(Count::ReadLatency, run.latency.total.sum() as u64);
    set(Count::ReadsLeavingL1, run.latency.total.count());
    set(Count::OffChipRequests, run.loads.offchip_requests.sum() as u64);
    set(Count::Loads, run.loads.loads);
    counts
}

fn cycles(replicate: &Replicate<'_>, whole: &[WholeKernel]) -> f64 {
    let [sample, half] = [replicate.sample, replicate.half].map(|run| run.kernels.as_slice());
    let [more, less] = [sample, half].map(Spans::of);
    let of_kernel = |(kernel, all): (usize, &WholeKernel)| {
        let point = |results: &[KernelResult], spans: &Spans| {
            [results[kernel].warp_instructions, spans.kernels[kernel]].map(|count| count as f64)
        };
        let to = point(sample, &more);
        let is_full = half[kernel].ctas >= all.held || all.ctas <= all.held;
        let from = if is_full { point(half, &less) } else { [0.0; 2] };
        line(from, to).at(all.warp_instructions as f64)
    };
    more.between as f64 + whole.iter().enumerate().map(of_kernel).sum::<f64>()
}

/// A line that does not descend.
struct Line {
    to: [f64; 2],
    slope: f64,
}

/// Returns the line through two points; horizontal if they have the same x.
fn line(from: [f64; 2], to: [f64; 2]) -> Line {
    let [run, rise] = [0, 1].map(|axis| to[axis] - from[axis]);
    let slope = if run > 0.0 { (rise / run).max(0.0) } else { 0.0 };
    Line { to, slope }
}

impl Line {
    fn at(&self, x: f64) -> f64 {
        self.to[1] + self.slope * (x - self.to[0])
    }
}

/// Cycles of a run, partitioned: they add up to the cycles of the run.
struct Spans {
    /// Cycles by kernel: from its first CTA, or the end of kernels that began earlier, to its end.
    kernels: Vec<u64>,
    /// Cycles in which no kernel ran.
    between: u64,
}

impl Spans {
    fn of(kernels: &[KernelResult]) -> Spans {
        let mut order: Vec<usize> = (0..kernels.len()).collect();
        order.sort_by_key(|&kernel| kernels[kernel].start_cycle);
        let mut spans = Spans { kernels: vec![0; kernels.len()], between: 0 };
        // The first core cycle in which anything runs is 1.
        let mut covered = 1;
        for kernel in order {
            let KernelResult { start_cycle, end_cycle, .. } = kernels[kernel];
            let start = start_cycle.max(covered);
            let end = end_cycle.max(start);
            spans.between += start - covered;
            spans.kernels[kernel] = end - start;
            covered = end;
        }
        spans
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use std::path::Path;
    use warpmem_cache::CacheCounts;
    use warpmem_gpu::engine::Simulation;
    use warpmem_gpu::results::{Discard, SmResult};
    use warpmem_machine::load;
    use warpmem_record::{RunKey, run_columns, run_row_json};
    use warpmem_trace::Trace;

    #[test]
    fn metrics_are_those_of_the_columns_with_their_names() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../../sample-traces/cache-resident/bfs-rmat.wmt");
        let trace = Trace::open(&path).unwrap();
        let machine = load("li2015", &[]).unwrap();
        let run = Simulation::new(&machine, &trace).run(&mut Discard).unwrap();
        let row = run_row_json(&RunKey::new("t", 0, machine, ""), &run);
        let values = measured(&run).map(|ratio| ratio.value());
        let mut compared = 0;
        for (metric, value) in METRICS.iter().zip(values) {
            let Some(column) = row.get(metric.name).and_then(Value::as_f64) else { continue };
            assert!((value.unwrap() / column - 1.0).abs() < 1e-12, "{}", metric.name);
            compared += 1;
        }
        assert_eq!(compared, METRICS.len() - 1);
        assert!((values[1].unwrap() * values[2].unwrap() - 1.0).abs() < 1e-12);
        let spans = Spans::of(&run.kernels);
        assert_eq!(spans.between + spans.kernels.iter().sum::<u64>(), run.core_cycles);
    }

    #[test]
    fn units_are_those_of_the_columns_with_their_names() {
        let columns = run_columns();
        for metric in &METRICS {
            let column = columns.iter().find(|column| column.name == metric.name);
            assert!(column.is_none_or(|column| column.unit == metric.unit), "{}", metric.name);
        }
    }

    fn kernel(cycles: std::ops::Range<u64>, ctas: u64, warp_instructions: u64) -> KernelResult {
        KernelResult {
            start_cycle: cycles.start,
            end_cycle: cycles.end,
            ctas,
            warp_instructions,
            ..KernelResult::default()
        }
    }

    /// Builds a run of these kernels with `reads` L1 reads: the first 100 miss, then one in four.
    fn run(kernels: Vec<KernelResult>, reads: u64) -> RunResult {
        let warp_instructions = kernels.iter().map(|kernel| kernel.warp_instructions).sum();
        let read_misses = 100 + (reads - 100) / 4;
        let l1 =
            CacheCounts { read_misses, read_hits: reads - read_misses, ..CacheCounts::default() };
        let core_cycles = kernels.iter().map(|kernel| kernel.end_cycle).max().unwrap() - 1;
        let sm = SmResult { warp_instructions, l1, ..SmResult::default() };
        RunResult { core_cycles, kernels, sms: vec![sm], ..RunResult::default() }
    }

    /// Makes a kernel of more CTAs than the ten that fit on the machine.
    fn large(warp_instructions: u64) -> WholeKernel {
        WholeKernel { warp_instructions, ctas: 200, held: 10 }
    }

    fn value(ratios: &Ratios, name: &str) -> Option<f64> {
        ratios[METRICS.iter().position(|metric| metric.name == name).unwrap()].value()
    }

    #[test]
    fn the_constant_part_is_not_extrapolated() {
        // 50 cycles plus one for every two instructions.
        let half = run(vec![kernel(1..151, 10, 200)], 200);
        let sample = run(vec![kernel(1..251, 20, 400)], 400);
        let whole = [large(4000)];
        let values = extrapolated(&Replicate { sample: &sample, half: &half }, &whole);
        assert_eq!(value(&values, "cycles"), Some(2050.0));
        assert_eq!(value(&values, "ipc_warp"), Some(4000.0 / 2050.0));
        // Misses of 4000 reads: 100, and a quarter of the others.
        assert_eq!(value(&values, "l1_read_miss_rate"), Some(1075.0 / 4000.0));
        assert_eq!(value(&values, "l2_read_miss_rate"), None);
    }

    #[test]
    fn underfilled_halves_extrapolate_in_proportion() {
        let half = run(vec![kernel(1..201, 9, 200)], 200);
        let sample = run(vec![kernel(1..201, 18, 400)], 400);
        let whole = [large(4000)];
        let values = extrapolated(&Replicate { sample: &sample, half: &half }, &whole);
        assert_eq!(value(&values, "cycles"), Some(2000.0));
        let whole = [WholeKernel { ctas: 10, ..large(4000) }];
        let values = extrapolated(&Replicate { sample: &sample, half: &half }, &whole);
        assert_eq!(value(&values, "cycles"), Some(200.0), "all at once take as long as some");
    }

    #[test]
    fn kernels_extrapolate_separately_and_whole_ones_are_unchanged() {
        // Both samples contain the first kernel unchanged; 20 cycles separate the two.
        let half = run(vec![kernel(1..101, 30, 50), kernel(121..221, 30, 100)], 150);
        let sample = run(vec![kernel(1..101, 30, 50), kernel(121..321, 60, 200)], 250);
        let whole = [large(50), large(1000)];
        let values = extrapolated(&Replicate { sample: &sample, half: &half }, &whole);
        assert_eq!(value(&values, "cycles"), Some(100.0 + 20.0 + 1000.0));
    }

    #[test]
    fn a_full_sample_reports_its_measurements() {
        let sample = run(vec![kernel(1..101, 4, 50), kernel(111..211, 4, 100)], 200);
        let whole = [large(50), large(100)];
        let replicate = Replicate { sample: &sample, half: &sample };
        assert_eq!(extrapolated(&replicate, &whole), measured(&sample));
    }

    #[test]
    fn overlapping_kernels_divide_their_cycles() {
        let spans =
            Spans::of(&[kernel(1..100, 1, 1), kernel(50..80, 1, 1), kernel(120..130, 1, 1)]);
        // The second kernel runs within the first.
        assert_eq!((spans.kernels, spans.between), (vec![99, 0, 10], 20));
    }
}
