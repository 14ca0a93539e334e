//! Estimates from a sample without simulation: totals and ratios of the sampled part, with their
//! errors.
//!
//! Stratum h has N runs, n of them drawn, with values y (a sum over the CTAs of a run) and their
//! sample variance s². All strata together yield (Cochran 5.3, 5.6, 5.16, 6.11):
//!
//! ```text
//! total      Y  =  Σ_h  N/n · Σ y                        each drawn run represents N/n runs
//! variance   V  =  Σ_h  N·(N − n)/n · s²                 0 for a fully drawn stratum
//! ratio      R  =  Y/X,  variance  V(y − R·x) / X²       the combined ratio estimator
//! degrees of freedom  =  V² / Σ_h (part of V)²/(n − 1)   Satterthwaite's
//! ```

use super::{Census, Draw, Estimate, KernelPlan, Measures, Plan};
use warpmem_record::metrics::quotient;
use warpmem_support::statistics::Variance;

/// A quantity of a part that can be estimated from a sample: a total over the CTAs, or the ratio of
/// two totals.
pub struct Quantity {
    pub name: &'static str,
    pub unit: &'static str,
    pub doc: &'static str,
    above: fn(&Measures) -> u64,
    below: Option<fn(&Measures) -> u64>,
}

/// The estimated quantities, in display order.
pub static QUANTITIES: [Quantity; 5] = [
    Quantity {
        name: "warp_instructions",
        unit: "warp instructions",
        doc: "Warp instructions, compute included.",
        above: |of| of.warp_instructions,
        below: None,
    },
    Quantity {
        name: "records",
        unit: "records",
        doc: "Records of the trace.",
        above: |of| of.records,
        below: None,
    },
    Quantity {
        name: "global_lines",
        unit: "lines",
        doc: "Distinct 128-byte lines of global memory per record, summed over records.",
        above: |of| of.lines,
        below: None,
    },
    Quantity {
        name: "global_bytes",
        unit: "bytes",
        doc: "Bytes of global memory accessed by active lanes.",
        above: |of| of.bytes,
        below: None,
    },
    Quantity {
        name: "lines_per_load",
        unit: "lines",
        doc: "Mean number of 128-byte lines per load of global memory.",
        above: |of| of.load_lines,
        below: Some(|of| of.loads),
    },
];

/// A quantity estimated from a sample, and its true value.
pub struct QuantityEstimate {
    pub quantity: &'static Quantity,
    /// Estimate; none for a ratio whose denominator is 0.
    pub estimate: Option<Estimate>,
    pub truth: Option<f64>,
}

/// Estimates every quantity of the part of `census` and `plan` from `draw`, with its true value.
pub fn estimates(plan: &Plan, census: &Census, draw: &Draw) -> Vec<QuantityEstimate> {
    let sample = Sample { plan, census, draw };
    let total = census.total();
    let quantity = |quantity: &'static Quantity| QuantityEstimate {
        quantity,
        estimate: quantity.estimate(&sample),
        truth: quantity.of(&total),
    };
    QUANTITIES.iter().map(quantity).collect()
}

impl Quantity {
    /// Returns the quantity's value for these measures.
    pub fn of(&self, measures: &Measures) -> Option<f64> {
        let above = (self.above)(measures);
        match self.below {
            None => Some(above as f64),
            Some(below) => quotient(above, below(measures)),
        }
    }

    fn estimate(&self, sample: &Sample<'_>) -> Option<Estimate> {
        let above = |of: &Measures| (self.above)(of) as f64;
        let Some(below) = self.below else { return Some(sample.total(above)) };
        let below = |of: &Measures| below(of) as f64;
        let under = sample.total(below).value;
        if under == 0.0 {
            return None;
        }
        // The combined ratio estimator; its error is the error of the residuals' total (Cochran
        // 6.11).
        let value = sample.total(above).value / under;
        let residuals = sample.total(|of: &Measures| above(of) - value * below(of));
        let standard_error = residuals.standard_error / under;
        Some(Estimate { value, standard_error, ..residuals })
    }
}

/// A part and the runs drawn from it.
struct Sample<'a> {
    plan: &'a Plan,
    census: &'a Census,
    draw: &'a Draw,
}

impl Sample<'_> {
    /// Estimates the total over all CTAs: each stratum is expanded by the inverse of its sampling
    /// fraction (Cochran 5.3 and 5.6, with runs as units), with Satterthwaite's degrees of freedom
    /// (5.16).
    fn total(&self, of: impl Fn(&Measures) -> f64) -> Estimate {
        let (mut value, mut parts) = (0.0, Vec::new());
        for ((plan, ctas), drawn) in
            self.plan.kernels.iter().zip(&self.census.kernels).zip(&self.draw.kernels)
        {
            for (stratum, drawn) in plan.strata.iter().zip(drawn) {
                let values: Vec<f64> =
                    drawn.iter().map(|&run| of_run(plan, ctas, run, &of)).collect();
                let [all, drawn] = [stratum.runs.len(), drawn.len()].map(|count| count as f64);
                value += all / drawn * values.iter().sum::<f64>();
                if drawn < all {
                    let of_mean = Variance::of_mean(&values);
                    parts.extend(of_mean.map(|variance| variance.scaled(all * (all - drawn))));
                }
            }
        }
        let Variance { value: squares, degrees } = Variance::sum(parts.into_iter());
        Estimate { value, standard_error: squares.sqrt(), degrees }
    }
}

fn of_run(plan: &KernelPlan, ctas: &[Measures], run: usize, of: impl Fn(&Measures) -> f64) -> f64 {
    ctas[plan.runs[run].clone()].iter().map(of).sum()
}
