//! Checks that samples fill the machine as the whole does. A sample that leaves SMs empty says
//! little about the throughput of a full machine.

use super::{Plan, WholeKernel};

/// Kernels whose samples do not fill the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfilled {
    pub kernels: usize,
    pub of: usize,
    /// CTAs of each kernel that would fill it; none if the part has no more.
    pub at_least: Option<u64>,
}

/// Number of times that a sample must fill the machine: its half, used for extrapolation, must fill
/// it too.
const HOLDINGS: u64 = 2;

impl Unfilled {
    /// Finds the unfilled kernels of a plan; none if every sample fills the machine or is the whole
    /// kernel.
    pub fn of(plan: &Plan, whole: &[WholeKernel]) -> Option<Unfilled> {
        let needed = |kernel: &WholeKernel| HOLDINGS * kernel.held;
        let kernels = plan.kernels.iter().zip(whole);
        let short =
            kernels.filter(|(plan, kernel)| !plan.is_whole() && plan.ctas_drawn() < needed(kernel));
        let short: Vec<u64> = short.map(|(_, kernel)| needed(kernel)).collect();
        let enough = short.iter().copied().max()?;
        let is_all = whole.iter().all(|kernel| kernel.ctas <= enough);
        Some(Unfilled {
            kernels: short.len(),
            of: whole.len(),
            at_least: (!is_all).then_some(enough),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{KernelPlan, Stratum};
    use super::*;

    /// Draws `drawn` of `ctas` CTAs individually.
    fn kernel(ctas: usize, drawn: usize) -> KernelPlan {
        let strata = vec![Stratum { runs: (0..ctas).collect(), drawn }];
        KernelPlan { kernel: 0, runs: (0..ctas).map(|cta| cta..cta + 1).collect(), strata }
    }

    fn of(kernels: &[(usize, usize, u64)]) -> Option<Unfilled> {
        let plan =
            Plan { kernels: kernels.iter().map(|&(all, drawn, _)| kernel(all, drawn)).collect() };
        let whole = kernels.iter().map(|&(ctas, _, held)| WholeKernel {
            warp_instructions: 1,
            ctas: ctas as u64,
            held,
        });
        Unfilled::of(&plan, &whole.collect::<Vec<_>>())
    }

    #[test]
    fn half_a_sample_must_fill_the_machine() {
        assert_eq!(of(&[(1000, 180, 90)]), None);
        let short = Unfilled { kernels: 1, of: 1, at_least: Some(180) };
        assert_eq!(of(&[(1000, 179, 90)]), Some(short));
    }

    #[test]
    fn whole_kernels_need_not_fill_the_machine() {
        assert_eq!(of(&[(10, 10, 90), (1000, 180, 90)]), None);
        let short = Unfilled { kernels: 1, of: 2, at_least: Some(180) };
        assert_eq!(of(&[(10, 10, 90), (1000, 100, 90)]), Some(short));
    }

    #[test]
    fn sample_of_everything_is_refused() {
        let short = Unfilled { kernels: 2, of: 2, at_least: None };
        assert_eq!(of(&[(150, 15, 90), (180, 18, 80)]), Some(short));
    }
}
