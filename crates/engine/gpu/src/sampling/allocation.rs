//! Allocation of draws to groups of launches.
//!
//! The draws of a group grow with the standard deviation of its cycles and fall with the root of the cost
//! of a draw: Neyman's allocation (Cochran, *Sampling Techniques*, 1977, 5.5). The most items for which a
//! draw may stand are the largest with which the interval of the sum over all groups, from the draws so
//! far and those to come, is as narrow as asked.

use super::draws::Draws;
use warpmem_support::statistics::{Variance, student};

/// Halvings of the items for which draws stand, at most.
const HALVINGS: usize = 40;

/// A group of items as it seems from the draws so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stratum<'d> {
    draws: &'d Draws,
    /// Cycles of an item, and their standard deviation.
    cycles: f64,
    deviation: f64,
    /// Root of the host's work for an item, in any unit.
    root: f64,
}

impl Stratum<'_> {
    /// `cost`: the host's work for an item, in any unit.
    pub fn new(draws: &Draws, cycles: f64, cost: f64) -> Stratum<'_> {
        let deviation = cycles * draws.relative_variance().value.sqrt();
        Stratum { draws, cycles, deviation, root: cost.sqrt() }
    }

    /// Returns the items that a draw represents at a scale.
    fn items(&self, scale: f64) -> f64 {
        f64::from(self.draws.length(scale * self.root / self.deviation))
    }

    /// Returns the variance that the draws to come add, if each represents this many items.
    fn added(&self, items: f64) -> f64 {
        self.deviation.powi(2) * f64::from(self.draws.left()) * (items - 1.0)
    }

    /// Returns the variance of the draws so far.
    fn past(&self) -> f64 {
        self.deviation.powi(2) * self.draws.weight()
    }

    /// Returns the variance at the end, if each draw to come represents this many items.
    fn total(&self, items: f64) -> Variance {
        let draws = f64::from(self.draws.runs()) + f64::from(self.draws.left()) / items;
        Variance { value: self.past() + self.added(items), degrees: Draws::degrees_of(draws) }
    }
}

/// Returns the most items for which the next draw of stratum `own` may stand, so that half of the 95 %
/// interval of the cycles of all strata is `half` at the end. If the draws so far exceed that, those to
/// come keep the share of their items.
pub(super) fn most_items(strata: &[Stratum<'_>], own: &Stratum<'_>, half: f64) -> f64 {
    let past: f64 = strata.iter().map(Stratum::past).sum();
    let cycles = |items: fn(&Draws) -> u32| -> f64 {
        strata.iter().map(|stratum| stratum.cycles * f64::from(items(stratum.draws))).sum()
    };
    let left = cycles(Draws::left) / cycles(Draws::items);
    let suffices = |scale: f64| {
        let with_items = strata.iter().map(|stratum| (stratum, stratum.items(scale)));
        let total = Variance::sum(with_items.clone().map(|(stratum, items)| stratum.total(items)));
        let added: f64 = with_items.map(|(stratum, items)| stratum.added(items)).sum();
        let allowed = (half / student(total.degrees.max(1.0))).powi(2);
        added <= (allowed - past).max(allowed * left)
    };
    let roots = strata
        .iter()
        .map(|stratum| f64::from(stratum.draws.left()) * stratum.deviation * stratum.root);
    // Neyman's, for a single standard error in half of the interval.
    let widest = half * half / roots.sum::<f64>();
    let scales = std::iter::successors(Some(widest), |scale| Some(scale / 2.0));
    let scale = scales.take(HALVINGS).find(|&scale| suffices(scale)).unwrap_or(0.0);
    own.items(scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Items of a group, and the spread of their cycles that is assumed.
    fn draws(items: u32, spread: f64) -> Draws {
        Draws::new(items, 2, spread, 1)
    }

    /// Returns the most items of each of two strata, if 1 % is asked.
    fn most(draws: [&Draws; 2], costs: [f64; 2]) -> [f64; 2] {
        let strata = [0, 1].map(|at| Stratum::new(draws[at], 1e4, costs[at]));
        let cycles: f64 = draws.iter().map(|draws| 1e4 * f64::from(draws.items())).sum();
        strata.map(|own| most_items(&strata, &own, 0.01 * cycles))
    }

    #[test]
    fn draws_follow_the_deviation_and_the_root_of_the_cost() {
        let (calm, wild) = (draws(1 << 16, 0.01), draws(1 << 16, 0.08));
        let [one, other] = most([&calm, &wild], [1.0, 1.0]);
        assert_eq!(one / other, 8.0, "{one}, {other}");
        let [cheap, dear] = most([&calm, &calm], [1.0, 64.0]);
        assert_eq!(dear / cheap, 8.0, "{dear}, {cheap}");
    }

    /// Two strata of n items of 10,000 cycles whose draws stand for m items, all with a deviation of 4 %:
    /// 400 cycles · √(2 n (m - 1)), with 1.96 standard errors on either side.
    #[test]
    fn the_interval_is_as_wide_as_asked_within_a_power_of_two() {
        let group = draws(1 << 16, 0.04);
        let [items, _] = most([&group, &group], [1.0, 1.0]);
        let half =
            |items: f64| 1.96 * 400.0 * (2.0 * 65536.0 * (items - 1.0)).sqrt() / (2e4 * 65536.0);
        assert!(half(items) <= 0.01 && half(4.0 * items) > 0.01, "{items}: {}", half(items));
    }

    /// A draw that stands for half of the items spends more than the interval allows. The next ones have the
    /// share of their items, not none.
    #[test]
    fn draws_after_a_costly_one_are_not_all_of_the_items() {
        let mut group = draws(1 << 12, 0.2);
        group.next_run(f64::INFINITY);
        let stratum = Stratum::new(&group, 1e4, 1.0);
        let half = 0.01 * 1e4 * 4096.0;
        assert!(stratum.past().sqrt() * 1.96 > half, "{}", stratum.past().sqrt());
        assert!(most_items(&[stratum], &stratum, half) > 1.0);
    }
}
