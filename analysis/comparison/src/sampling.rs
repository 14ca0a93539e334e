//! Errors of ratios of sampled runs.
//!
//! A sampled run simulates some launches of each group of alike ones, weighted. Runs of two policies draw
//! mostly the same launches, and a launch that takes long under one takes long under the other. For a
//! group whose draws are the same, the ratio's error is therefore that of the differences
//!
//! ```text
//! d = y/Y - x/X      x, y: cycles of a drawn launch;  X, Y: cycles of the runs
//! ```
//! a combined ratio estimate (Cochran, *Sampling Techniques*, 1977, 6.11). The variances of other groups
//! are those of the two runs, added.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use warpmem_support::statistics::Variance;

use crate::keys::RUN_ID;
use crate::table::Table;

/// Standard errors in half of a 95 % interval.
const HALF_INTERVAL: f64 = 2.0;

/// Launches that sampled runs simulated.
#[derive(Clone, Debug, Default)]
pub struct Launches {
    of_run: HashMap<String, Arc<Drawn>>,
}

/// A simulated launch.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Launch {
    launch: i64,
    stands_for: f64,
    cycles: f64,
}

/// The simulated launches of a run, by group. The first launch of a group stands for itself.
#[derive(Debug, Default, PartialEq)]
struct Drawn {
    groups: BTreeMap<i64, Vec<Launch>>,
    /// Cycles of the first launches.
    first: f64,
    /// Whether some launches were simulated in part.
    has_parts: bool,
}

/// The error of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sampling {
    /// Half of the 95 % interval of the cycles, as a fraction: 0 of a run that simulates everything,
    /// infinite if it is unknown.
    pub(crate) half: f64,
    drawn: Option<Arc<Drawn>>,
}

impl Launches {
    /// Columns of `kernels` that are read, beside the id of the run.
    pub const COLUMNS: [&str; 6] =
        ["alike", "kernel", "stands_for", "cycles", "ctas", "simulated_ctas"];

    /// Reads the table `kernels`. Without its columns nothing is known, and nothing is lost: errors of runs
    /// are then added.
    pub fn of(kernels: &Table) -> Launches {
        let mut of_run: HashMap<String, Drawn> = HashMap::new();
        let numbers = Launches::COLUMNS.map(|name| kernels.numbers_or_none(name));
        for row in 0..kernels.height() {
            let id = kernels.column(RUN_ID).and_then(|column| column.text(row));
            let own = numbers.each_ref().map(|column| column.get(row).copied().flatten());
            let [Some(group), Some(launch), Some(stands_for), Some(cycles), ctas, simulated] = own
            else {
                continue;
            };
            let Some(id) = id else { continue };
            let drawn = of_run.entry(id).or_default();
            drawn.has_parts |= simulated < ctas;
            let launch = Launch { launch: launch as i64, stands_for, cycles };
            match launch.launch == group as i64 {
                true => drawn.first += cycles,
                false => drawn.groups.entry(group as i64).or_default().push(launch),
            }
        }
        let shared = of_run.into_iter().map(|(id, drawn)| (id, Arc::new(drawn)));
        Launches { of_run: shared.collect() }
    }

    /// Returns the error of a run whose interval is `half` on either side.
    pub(crate) fn sampling(&self, run: Option<&str>, half: f64) -> Sampling {
        let drawn = run.filter(|_| half > 0.0).and_then(|run| self.of_run.get(run));
        Sampling { half, drawn: drawn.cloned() }
    }
}

impl Sampling {
    /// Returns half of the 95 % interval of the logarithm of the ratio of two runs: from the differences
    /// of launches that both drew, or the errors of both added as if they were independent.
    pub(crate) fn half_of_ratio(&self, other: &Sampling) -> f64 {
        self.paired(other).unwrap_or_else(|| self.half.hypot(other.half))
    }

    fn paired(&self, other: &Sampling) -> Option<f64> {
        let (own, base) = (self.drawn.as_ref()?, other.drawn.as_ref()?);
        let mut variances = own.variances_of_ratio(base)?;
        for (run, drawn) in [(self, own), (other, base)] {
            variances.push(run.within(drawn)?);
        }
        Some(Variance::sum(variances.into_iter()).half_interval())
    }

    /// Returns the error that parts of launches add: what the draws of launches leave of that of the run;
    /// none if it is unknown.
    fn within(&self, drawn: &Drawn) -> Option<Variance> {
        let variance: f64 = match drawn.has_parts {
            true => (self.half / HALF_INTERVAL).powi(2) - drawn.variance()?,
            false => 0.0,
        };
        variance.is_finite().then(|| Variance { value: variance.max(0.0), ..Variance::NONE })
    }
}

impl Drawn {
    /// Returns the cycles of the run.
    fn cycles(&self) -> f64 {
        let drawn = self.groups.values().flatten();
        self.first + drawn.map(|launch| launch.cycles * launch.stands_for).sum::<f64>()
    }

    /// Returns the relative variance of the cycles due to draws of launches; none if it is unknown.
    fn variance(&self) -> Option<f64> {
        let all = self.cycles();
        let groups = self.groups.values();
        groups.map(|group| Some(variance(group, |at| group[at].cycles / all)?.value)).sum()
    }

    /// Returns the variances of the ratio to the cycles of another run, by group; none if one is unknown.
    fn variances_of_ratio(&self, other: &Drawn) -> Option<Vec<Variance>> {
        let (own_cycles, other_cycles) = (self.cycles(), other.cycles());
        let mut variances = Vec::new();
        for (name, own) in &self.groups {
            let others = other.groups.get(name)?;
            if are_same(own, others) {
                let difference =
                    |at: usize| own[at].cycles / own_cycles - others[at].cycles / other_cycles;
                variances.push(variance(own, difference)?);
            } else {
                variances.push(variance(own, |at| own[at].cycles / own_cycles)?);
                variances.push(variance(others, |at| others[at].cycles / other_cycles)?);
            }
        }
        (self.groups.len() == other.groups.len()).then_some(variances)
    }
}

fn are_same(own: &[Launch], others: &[Launch]) -> bool {
    let draw = |launch: &Launch| (launch.launch, launch.stands_for);
    own.iter().map(draw).eq(others.iter().map(draw))
}

/// Returns the variance of a weighted sum of values of drawn launches, estimated from successive ones; none
/// if a single draw stands for several launches.
fn variance(group: &[Launch], value: impl Fn(usize) -> f64) -> Option<Variance> {
    let weight: f64 = group.iter().map(|one| one.stands_for * (one.stands_for - 1.0)).sum();
    if weight == 0.0 {
        return Some(Variance::NONE);
    }
    let values: Vec<f64> = (0..group.len()).map(value).collect();
    Variance::of_successive(&values).map(|variance| variance.scaled(weight))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::{floats, table, texts};

    /// Two runs of one group of ten launches: the first, and two draws for four and five.
    fn launches(cycles: [[f64; 3]; 2], drawn: [[i64; 2]; 2]) -> Launches {
        let counts = |values: &[i64]| floats(&values.iter().map(|&v| v as f64).collect::<Vec<_>>());
        let [[a, b], [c, d]] = drawn;
        Launches::of(&table([
            ("run_id", texts(&["x", "x", "x", "y", "y", "y"])),
            ("alike", counts(&[0; 6])),
            ("kernel", counts(&[0, a, b, 0, c, d])),
            ("stands_for", counts(&[1, 4, 5, 1, 4, 5])),
            ("cycles", floats(cycles.as_flattened())),
            ("ctas", counts(&[8; 6])),
            ("simulated_ctas", counts(&[8; 6])),
        ]))
    }

    fn half(launches: &Launches) -> f64 {
        let of = |run| launches.sampling(Some(run), 0.1);
        of("x").half_of_ratio(&of("y"))
    }

    #[test]
    fn launches_that_vary_alike_leave_no_error() {
        let cycles = [[10.0, 10.0, 12.0], [20.0, 20.0, 24.0]];
        assert!(half(&launches(cycles, [[3, 7]; 2])) < 1e-12);
        // Other draws: each run varies by (12 - 10) / 110 with the weight 4 · 3 + 5 · 4 and one degree of
        // freedom, the sum has two.
        let each: f64 = 32.0 * (2.0f64 / 110.0).powi(2) / 2.0;
        let other = half(&launches(cycles, [[3, 7], [2, 7]]));
        assert!((other - 4.30265 * (2.0 * each).sqrt()).abs() < 1e-4, "{other}");
    }

    #[test]
    fn differences_between_launches_are_the_error() {
        // 10/110 - 20/220 and 12/110 - 22/210: the second run has 20 + 4 · 20 + 5 · 22 = 210 cycles.
        let own = half(&launches([[10.0, 10.0, 12.0], [20.0, 20.0, 22.0]], [[3, 7]; 2]));
        let difference: f64 = (12.0 / 110.0 - 22.0 / 210.0) - (10.0 / 110.0 - 20.0 / 210.0);
        let expected = 12.7062 * (32.0 * difference.powi(2) / 2.0).sqrt();
        assert!((own - expected).abs() < 1e-4, "{own} for {expected}");
    }

    #[test]
    fn errors_add_without_launches() {
        let nothing = Launches::default();
        let of = |half| nothing.sampling(Some("x"), half);
        assert!((of(0.03).half_of_ratio(&of(0.04)) - 0.05).abs() < 1e-12);
        assert_eq!(of(0.0).half_of_ratio(&of(0.0)), 0.0);
        assert_eq!(of(f64::INFINITY).half_of_ratio(&of(0.0)), f64::INFINITY);
    }
}
