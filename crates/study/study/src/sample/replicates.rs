//! Independent simulated samples of a trace: their traces, and the evaluation of their results.

use super::{
    Census, Estimate, KernelPlan, METRICS, Measures, Metric, Part, Plan, Ratio, Ratios, Replicate,
    SampleError, Unfilled, WholeKernel, extrapolated, measured, write,
};
use crate::cells::{ThreadsError, threads};
use crate::traces::{NamedTrace, OpenError};
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::path::Path;
use warpmem_gpu::cta::CtaNeeds;
use warpmem_gpu::results::RunResult;
use warpmem_machine::Machine;
use warpmem_trace::{Provenance, Trace, TraceError, WriterOptions};

/// Reason why the traces of samples do not exist.
#[derive(Debug, thiserror::Error)]
pub enum PartsError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Sample(#[from] SampleError),
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error(transparent)]
    Threads(#[from] ThreadsError),
}

impl PartsError {
    pub fn is_interruption(&self) -> bool {
        matches!(self, PartsError::Sample(SampleError::Interrupted))
    }
}

/// Reason why estimates have no 95 % confidence interval.
pub enum NoInterval {
    /// The samples contain everything selected, so the results are exact.
    Whole,
    /// A partially filled machine behaves differently from one that the whole trace fills.
    Unfilled(Unfilled),
}

impl NoInterval {
    pub fn of(plan: &Plan, whole: &[WholeKernel]) -> Option<NoInterval> {
        match plan.is_whole() {
            true => Some(NoInterval::Whole),
            false => Unfilled::of(plan, whole).map(NoInterval::Unfilled),
        }
    }
}

/// Returns the kernels of a part, with the number of their CTAs that fit on the machine.
pub fn whole_kernels(
    trace: &Trace,
    plan: &Plan,
    census: &Census,
    machine: &Machine,
) -> Vec<WholeKernel> {
    let kernels = plan.kernels.iter().zip(&census.kernels);
    let whole = kernels.map(|(plan, ctas)| WholeKernel {
        warp_instructions: Measures::sum(ctas).warp_instructions,
        ctas: ctas.len() as u64,
        held: held(trace, plan, machine),
    });
    whole.collect()
}

/// Returns the number of a kernel's CTAs that fit on the machine.
fn held(trace: &Trace, plan: &KernelPlan, machine: &Machine) -> u64 {
    let needs = CtaNeeds::of(&trace.kernels()[plan.kernel].info, &machine.sm);
    let per_sm = needs.map_or(0, |needs| needs.per_sm(&machine.sm));
    u64::from(per_sm) * u64::from(machine.sm.count)
}

/// Samples to simulate.
#[derive(Clone, Copy, Debug)]
pub struct Samples {
    /// Number of independent samples.
    pub replicates: u32,
    pub seed: u64,
    /// Whether everything selected is simulated too.
    pub full: bool,
}

impl Samples {
    /// Returns, for every replicate, its sample and a half of it, and the whole if it is to run;
    /// only the whole if the sample is the whole.
    pub fn parts(&self, plan: &Plan, selected: &Part) -> Vec<Part> {
        if plan.is_whole() {
            return vec![selected.clone()];
        }
        let replicate = |number: u32| {
            let draw = plan.draw(self.seed, number);
            [draw.clone(), plan.half(&draw)].map(|draw| plan.part(selected, &draw))
        };
        let mut parts: Vec<Part> = (0..self.replicates).flat_map(replicate).collect();
        parts.extend(self.full.then(|| selected.clone()));
        parts
    }

    /// Computes the ratios of each replicate from the results of [`Samples::parts`]; one replicate if the sample is the
    /// whole.
    pub fn ratios(&self, plan: &Plan, results: &[RunResult], whole: &[WholeKernel]) -> Vec<Ratios> {
        if plan.is_whole() {
            return results.iter().map(measured).collect();
        }
        let samples = &results[..2 * self.replicates as usize];
        let ratios =
            |[sample, half]: &[RunResult; 2]| extrapolated(&Replicate { sample, half }, whole);
        samples.as_chunks().0.iter().map(ratios).collect()
    }
}

/// Writes each part as a trace in `folder`, on `jobs` threads; the whole keeps its own file.
///
/// # Errors
/// If a trace cannot be written, or `go_on` stops the work.
pub fn write_parts(
    trace: &NamedTrace,
    parts: &[Part],
    folder: &Path,
    jobs: usize,
    go_on: &(dyn Fn() -> ControlFlow<()> + Sync),
) -> Result<Vec<NamedTrace>, PartsError> {
    // The traces are read once and deleted soon.
    let options = WriterOptions { level: 1, ..WriterOptions::default() };
    let write_part = |(number, part): (usize, &Part)| {
        if part.is_whole(&trace.trace) {
            return Ok(NamedTrace::open(trace.trace.path())?);
        }
        let path = folder.join(format!("{number}.wmt"));
        let provenance = Provenance::default();
        write(&trace.trace, part, &path, provenance, options.clone(), &mut |_| go_on())?;
        Ok(NamedTrace { name: trace.name.clone(), trace: Trace::open(&path)? })
    };
    threads(jobs)?.install(|| parts.par_iter().enumerate().map(write_part).collect())
}

/// Estimate of a metric, and its value in the full run.
pub struct MetricEstimate {
    pub metric: &'static Metric,
    pub estimate: Option<Estimate>,
    pub full: Option<f64>,
}

/// Estimates every metric, from the replicates and the full run.
pub fn metric_estimates(replicates: &[Ratios], full: Option<&Ratios>) -> Vec<MetricEstimate> {
    let row = |(at, metric): (usize, &'static Metric)| {
        let ratios: Vec<Ratio> = replicates.iter().map(|ratios| ratios[at]).collect();
        MetricEstimate {
            metric,
            estimate: Estimate::of_replicates(&ratios),
            full: full.and_then(|ratios| ratios[at].value()),
        }
    };
    METRICS.iter().enumerate().map(row).collect()
}
