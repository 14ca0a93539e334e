//! Allocation of draws to groups of launches.
//!
//! The draws of a group grow with the standard deviation of its cycles and fall with the root of the cost
//! of a draw: Neyman's allocation (Cochran, *Sampling Techniques*, 1977, 5.5). The most items for which a
//! draw may stand are the largest with which the interval of the sum over all groups, from the draws so
//! far and those to come, is as narrow as asked.

use super::draws::{Draws, Variance};
use warpmem_support::statistics::student;

/// Halvings of the items for which draws stand, at most.
const HALVINGS: usize = 40;

/// A group of items as it seems from the draws so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stratum<'d> {
    pub draws: &'d Draws,
    /// Cycles of an item.
    pub cycles: f64,
    /// Host's work for an item, in any unit.
    pub cost: f64,
}

impl Stratum<'_> {
    /// Returns the standard deviation of the cycles.
    fn deviation(&self) -> f64 {
        self.cycles * self.draws.relative_variance().value.sqrt()
    }

    /// Returns the items that a draw represents at a scale.
    fn items(&self, scale: f64) -> f64 {
        f64::from(self.draws.length(scale * self.cost.sqrt() / self.deviation()))
    }

    /// Returns the variance that the draws to come add, if each represents this many items.
    fn added(&self, items: f64) -> f64 {
        self.deviation().powi(2) * f64::from(self.draws.left()) * (items - 1.0)
    }

    /// Returns the variance of the draws so far.
    fn past(&self) -> f64 {
        self.deviation().powi(2) * self.draws.weight()
    }

    /// Returns the variance at the end, if each draw to come represents this many items.
    fn total(&self, items: f64) -> Variance {
        let draws = f64::from(self.draws.runs()) + f64::from(self.draws.left()) / items;
        Variance { value: self.past() + self.added(items), freedom: Draws::freedom_of(draws) }
    }
}

/// Returns the most items of stratum `at` for which its next draw may stand, so that half of the 95 %
/// interval of the cycles of all strata is `half` at the end. If the draws so far exceed that, those to
/// come keep the share of their items.
pub(super) fn most_items(strata: &[Stratum<'_>], at: usize, half: f64) -> f64 {
    let past: f64 = strata.iter().map(Stratum::past).sum();
    let cycles = |items: fn(&Draws) -> u32| -> f64 {
        strata.iter().map(|stratum| stratum.cycles * f64::from(items(stratum.draws))).sum()
    };
    let left = cycles(Draws::left) / cycles(Draws::items);
    let suffices = |scale: f64| {
        let with_items = strata.iter().map(|stratum| (stratum, stratum.items(scale)));
        let total = Variance::sum(with_items.clone().map(|(stratum, items)| stratum.total(items)));
        let added: f64 = with_items.map(|(stratum, items)| stratum.added(items)).sum();
        let allowed = (half / student(total.freedom.max(1.0))).powi(2);
        added <= (allowed - past).max(allowed * left)
    };
    let roots = strata
        .iter()
        .map(|stratum| f64::from(stratum.draws.left()) * stratum.deviation() * stratum.cost.sqrt());
    // Neyman's, for a single standard error in half of the interval.
    let widest = half * half / roots.sum::<f64>();
    let scales = std::iter::successors(Some(widest), |scale| Some(scale / 2.0));
    let scale = scales.take(HALVINGS).find(|&scale| suffices(scale)).unwrap_or(0.0);
    strata[at].items(scale)
}
