//! Parallel iterative matching: every choice is random.

use super::{Allocator, AllocatorEntry, CandidateSet, Parameters, any};
use warpmem_params::PolicyInfo;
use warpmem_support::random::Random;

const INFO: PolicyInfo = PolicyInfo {
    name: "pim",
    summary: "each takes one of its candidates at random, all equally likely",
    source: "Anderson et al., ACM Trans. Computer Systems 1993; input-first as in Yuan et al., MICRO 2009",
    params: Parameters::params,
};

pub(super) const ENTRY: AllocatorEntry = AllocatorEntry {
    info: INFO,
    build: |context, params| {
        let Parameters { iterations } = params.read();
        Ok(Box::new(Pim { iterations, random: Random::new(context.seed) }) as _)
    },
};

struct Pim {
    iterations: u32,
    random: Random,
}

impl Allocator for Pim {
    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn choose(&mut self, choice: &CandidateSet) -> usize {
        any(choice.set, &mut self.random)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Switch;

    #[test]
    fn one_iteration_leaves_unproposed_outputs_unmatched() {
        for n in [16, 32] {
            let matched = Switch::new(n, "pim").matched_of_full(4000);
            let nobody = (1.0 - 1.0 / n as f64).powi(n as i32);
            let expected = 1.0 - nobody;
            // Five standard deviations of independent choices; the real counts vary less.
            let error = 5.0 * (expected * nobody / (4000.0 * n as f64)).sqrt();
            assert!((matched - expected).abs() < error, "{matched}, not {expected}");
        }
    }

    #[test]
    fn each_further_iteration_leaves_at_most_one_in_e_unmatched() {
        let open = [1, 2, 4]
            .map(|n| 1.0 - Switch::new(16, &format!("pim(iterations={n})")).matched_of_full(4000));
        // Of k inputs and outputs k (1 - 1 / k)^k stay unmatched.
        let most = [1, 2, 4].map(|n| (-1.0f64).exp().powi(n));
        assert!(open.iter().zip(most).all(|(&open, most)| open < most), "{open:?}, {most:?}");
    }

    #[test]
    fn different_seeds_draw_different_choices() {
        let grants = |seed| Switch::seeded(16, "pim", seed).grants_of_full(10);
        assert_eq!(grants(1), grants(1));
        assert_ne!(grants(1), grants(2));
    }
}
