//! Pairs of runs, ours and the reference's, and summaries over many pairs.

use super::figures::Figures;
use super::metric::{Compared, Metric, Unit};
use super::reference_run::{FIFO, FR_FCFS};
use super::statistics::{correlation, geometric_mean, mean};

/// One of our runs and the same run of the reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    pub trace: String,
    /// Our machine.
    pub machine: String,
    /// The reference's name of the machine.
    pub configuration: String,
    /// DRAM scheduler as named by the reference.
    pub dram_scheduler: String,
    pub ours: Figures,
    pub reference: Figures,
}

impl Comparison {
    pub fn of(&self, metric: &Metric) -> Compared {
        metric.compare(&self.ours, &self.reference)
    }

    /// Returns our cycles over the reference's.
    fn ratio(&self) -> f64 {
        time_ratio(self.ours.cycles, self.reference.cycles)
    }
}

/// Returns the ratio of two numbers of cycles.
fn time_ratio(cycles: u64, others: u64) -> f64 {
    cycles as f64 / others as f64
}

/// Run with the largest error, and that error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worst<'a> {
    pub run: &'a Comparison,
    pub error: f64,
}

/// Returns the first of the largest errors.
fn worst<'a>(errors: &[(&'a Comparison, f64)]) -> Option<Worst<'a>> {
    let greater = |worst: Option<Worst<'a>>, &(run, error): &(&'a Comparison, f64)| match worst {
        Some(worst) if worst.error.abs() >= error.abs() => Some(worst),
        _ => Some(Worst { run, error }),
    };
    errors.iter().fold(None, greater)
}

/// Agreement of cycles over runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CycleSummary<'a> {
    pub runs: usize,
    /// Mean of the absolute errors, as a fraction.
    pub mape: f64,
    pub worst: Worst<'a>,
    /// Pearson's correlation of the logarithms of both sides' cycles.
    pub log_correlation: Option<f64>,
    /// Geometric mean of our cycles over theirs.
    pub ratio: f64,
}

/// Summarizes cycles; `None` without runs.
pub fn cycle_summary<'a>(runs: &[&'a Comparison]) -> Option<CycleSummary<'a>> {
    let errors: Vec<(&Comparison, f64)> =
        runs.iter().map(|&run| (run, run.ratio() - 1.0)).collect();
    let absolute: Vec<f64> = errors.iter().map(|(_, error)| error.abs()).collect();
    let logarithms: Vec<(f64, f64)> = runs
        .iter()
        .map(|run| ((run.ours.cycles as f64).ln(), (run.reference.cycles as f64).ln()))
        .collect();
    let ratios: Vec<f64> = runs.iter().map(|run| run.ratio()).collect();
    Some(CycleSummary {
        runs: runs.len(),
        mape: mean(&absolute)?,
        worst: worst(&errors)?,
        log_correlation: correlation(&logarithms),
        ratio: geometric_mean(&ratios)?,
    })
}

/// Agreement of the cycles of kernels over runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelSummary<'a> {
    pub kernels: usize,
    /// Mean of the absolute errors, as a fraction.
    pub mape: f64,
    /// Geometric mean of our cycles over theirs.
    pub ratio: f64,
    /// Run with the kernel of the largest error, and the index of that kernel.
    pub worst: Worst<'a>,
    pub worst_kernel: usize,
}

/// Summarizes kernels; `None` without kernels.
pub fn kernel_summary<'a>(runs: &[&'a Comparison]) -> Option<KernelSummary<'a>> {
    let mut ratios = Vec::new();
    let mut greatest: Option<(Worst<'a>, usize)> = None;
    for &run in runs {
        let pairs = run.ours.kernels.iter().zip(&run.reference.kernels);
        for ((ours, reference), place) in pairs.zip(0..) {
            let ratio = time_ratio(ours.cycles, reference.cycles);
            let error = ratio - 1.0;
            if greatest.is_none_or(|(worst, _)| error.abs() > worst.error.abs()) {
                greatest = Some((Worst { run, error }, place));
            }
            ratios.push(ratio);
        }
    }
    let (worst, worst_kernel) = greatest?;
    let absolute: Vec<f64> = ratios.iter().map(|ratio| (ratio - 1.0).abs()).collect();
    let (mape, ratio) = (mean(&absolute)?, geometric_mean(&ratios)?);
    Some(KernelSummary { kernels: ratios.len(), mape, ratio, worst, worst_kernel })
}

/// Number of activations below which row locality is too uncertain for the summary.
pub const FEW_ACTIVATIONS: u64 = 1000;

/// Agreement of a metric over the runs in which both sides report it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricSummary<'a> {
    pub runs: usize,
    /// Mean of the absolute errors.
    pub mean: f64,
    pub worst: Worst<'a>,
}

/// Summarizes a metric; `None` if no run has both values.
pub fn metric_summary<'a>(metric: &Metric, runs: &[&'a Comparison]) -> Option<MetricSummary<'a>> {
    let counts = |run: &&&Comparison| {
        metric.name != "row_locality"
            || run.reference.activations.is_none_or(|activations| activations > FEW_ACTIVATIONS)
    };
    let errors: Vec<(&Comparison, f64)> =
        runs.iter().filter(counts).filter_map(|&run| Some((run, run.of(metric).error?))).collect();
    let absolute: Vec<f64> = errors.iter().map(|(_, error)| error.abs()).collect();
    Some(MetricSummary { runs: errors.len(), mean: mean(&absolute)?, worst: worst(&errors)? })
}

/// Cost of FIFO: its cycles over those of FR-FCFS for a trace on a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair<'a> {
    pub fifo: &'a Comparison,
    pub ratio: Compared,
}

/// Pairs each run with FIFO with the same run with FR-FCFS, if it exists.
pub fn pairs(runs: &[Comparison]) -> Vec<Pair<'_>> {
    let names =
        |run: &Comparison| [&run.trace, &run.machine, &run.configuration].map(String::to_owned);
    let with = |scheduler: &'static str| move |run: &&Comparison| run.dram_scheduler == scheduler;
    let pair = |fifo| {
        let fr_fcfs = runs.iter().filter(with(FR_FCFS)).find(|run| names(run) == names(fifo))?;
        let ratio =
            |of: fn(&Comparison) -> &Figures| Some(time_ratio(of(fifo).cycles, of(fr_fcfs).cycles));
        let (ours, reference) = (ratio(|run| &run.ours), ratio(|run| &run.reference));
        Some(Pair { fifo, ratio: Compared::new(Unit::Ratio, ours, reference) })
    };
    runs.iter().filter(with(FIFO)).filter_map(pair).collect()
}

/// Seconds of the reference over ours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed<'a> {
    pub runs: usize,
    /// Geometric mean.
    pub mean: f64,
    /// Run with the lowest speed-up.
    pub least: (&'a Comparison, f64),
}

impl Comparison {
    /// Returns our speed relative to the reference, in CPU time; `None` if a side has no time, or
    /// one too short to measure.
    pub fn speedup(&self) -> Option<f64> {
        let (ours, reference) = self.ours.cpu_seconds.zip(self.reference.cpu_seconds)?;
        (ours > 0.0 && reference > 0.0).then(|| reference / ours)
    }
}

/// Summarizes speed; `None` if no run has both times.
pub fn speed<'a>(runs: &[&'a Comparison]) -> Option<Speed<'a>> {
    let speedups: Vec<(&Comparison, f64)> =
        runs.iter().filter_map(|&run| Some((run, run.speedup()?))).collect();
    let values: Vec<f64> = speedups.iter().map(|&(_, speedup)| speedup).collect();
    let least = speedups.iter().copied().min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    Some(Speed { runs: speedups.len(), mean: geometric_mean(&values)?, least })
}

#[cfg(test)]
mod tests {
    use super::super::figures::KernelFigures;
    use super::super::metric::metric;
    use super::*;

    fn run(trace: &str, scheduler: &str, ours: u64, reference: u64) -> Comparison {
        let figures = |cycles| Figures { cycles, ..Figures::default() };
        Comparison {
            trace: trace.to_owned(),
            machine: "accelsim-qv100".to_owned(),
            configuration: "SM7_QV100".to_owned(),
            dram_scheduler: scheduler.to_owned(),
            ours: figures(ours),
            reference: figures(reference),
        }
    }

    fn close(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 1e-12
    }

    #[test]
    fn cycles_are_summed_up_over_runs() {
        let runs = [
            run("a", FR_FCFS, 110, 100),
            run("b", FR_FCFS, 150, 200),
            run("c", FR_FCFS, 1000, 1000),
        ];
        let summary = cycle_summary(&runs.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(summary.runs, 3);
        assert!(close(summary.mape, (0.1 + 0.25 + 0.0) / 3.0));
        assert_eq!(summary.worst.run.trace, "b");
        assert!(close(summary.worst.error, -0.25));
        assert!(close(summary.ratio, (1.1f64 * 0.75 * 1.0).cbrt()));
        let correlation = summary.log_correlation.unwrap();
        assert!(correlation > 0.98 && correlation < 1.0, "{correlation}");
        assert_eq!(cycle_summary(&[]), None);
    }

    #[test]
    fn kernels_are_summed_up_over_all_runs() {
        let kernels = |cycles: &[u64]| {
            let kernel = |&cycles| KernelFigures { cycles, ..KernelFigures::default() };
            cycles.iter().map(kernel).collect()
        };
        let of = |trace: &str, ours: &[u64], reference: &[u64]| {
            let mut run = run(trace, FR_FCFS, 1, 1);
            (run.ours.kernels, run.reference.kernels) = (kernels(ours), kernels(reference));
            run
        };
        let runs = [of("a", &[110, 100], &[100, 100]), of("b", &[100, 150], &[100, 200])];
        let summary = kernel_summary(&runs.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!((summary.kernels, summary.worst.run.trace.as_str()), (4, "b"));
        assert_eq!(summary.worst_kernel, 1);
        assert!(close(summary.worst.error, -0.25));
        assert!(close(summary.mape, (0.1 + 0.25) / 4.0));
        assert!(close(summary.ratio, (1.1f64 * 0.75).powf(0.25)));
        assert_eq!(kernel_summary(&[]), None);
    }

    #[test]
    fn the_correlation_is_of_logarithms() {
        // Our cycles are the squares: exactly proportional only in logarithms.
        let runs =
            [run("a", FR_FCFS, 100, 10), run("b", FR_FCFS, 400, 20), run("c", FR_FCFS, 8100, 90)];
        let summary = cycle_summary(&runs.iter().collect::<Vec<_>>()).unwrap();
        assert!(close(summary.log_correlation.unwrap(), 1.0));
    }

    #[test]
    fn a_metric_is_summed_up_over_the_runs_that_have_it() {
        let reads = |trace: &str, ours: Option<u64>, reference| {
            let mut run = run(trace, FR_FCFS, 1, 1);
            (run.ours.dram_reads, run.reference.dram_reads) = (ours, reference);
            run
        };
        let runs = [
            reads("a", Some(90), Some(100)),
            reads("b", Some(130), Some(100)),
            reads("c", None, Some(100)),
        ];
        let runs: Vec<&Comparison> = runs.iter().collect();
        let summary = metric_summary(metric("dram_reads").unwrap(), &runs).unwrap();
        assert_eq!((summary.runs, summary.worst.run.trace.as_str()), (2, "b"));
        assert!(close(summary.mean, 0.2));
        assert_eq!(metric_summary(metric("dram_writes").unwrap(), &runs), None);
    }

    #[test]
    fn row_locality_of_few_activations_is_left_out() {
        let locality = |activations| {
            let mut run = run("a", FR_FCFS, 1, 1);
            (run.ours.row_locality, run.reference.row_locality) = (Some(3.0), Some(2.0));
            run.reference.activations = activations;
            run
        };
        let runs = [locality(Some(1000)), locality(Some(1001)), locality(None)];
        let runs: Vec<&Comparison> = runs.iter().collect();
        assert_eq!(metric_summary(metric("row_locality").unwrap(), &runs).unwrap().runs, 2);
    }

    #[test]
    fn fifo_runs_pair_with_their_fr_fcfs_runs() {
        let mut elsewhere = run("a", FR_FCFS, 7, 7);
        elsewhere.machine = "accelsim-rtx2060s".to_owned();
        let runs = [
            elsewhere,
            run("a", FIFO, 300, 1000),
            run("b", FIFO, 1, 1),
            run("a", FR_FCFS, 100, 500),
        ];
        let pairs = pairs(&runs);
        assert_eq!(pairs.len(), 1);
        assert_eq!(pairs[0].fifo.trace, "a");
        assert_eq!((pairs[0].ratio.ours, pairs[0].ratio.reference), (Some(3.0), Some(2.0)));
        assert_eq!(pairs[0].ratio.error, Some(0.5));
    }

    #[test]
    fn speed_is_the_geometric_mean_of_the_quotients_of_times() {
        let timed = |trace: &str, ours, reference| {
            let mut run = run(trace, FR_FCFS, 1, 1);
            (run.ours.cpu_seconds, run.reference.cpu_seconds) = (Some(ours), reference);
            run
        };
        let runs = [
            timed("a", 0.5, Some(200.0)),
            timed("b", 2.0, Some(200.0)),
            timed("c", 1.0, None),
            timed("d", 0.0, Some(1.0)),
        ];
        let speed = speed(&runs.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!((speed.runs, speed.least.0.trace.as_str(), speed.least.1), (2, "b", 100.0));
        assert!(close(speed.mean / 200.0, 1.0));
    }
}
