//! Variances with their degrees of freedom, and quantiles of distributions.

/// An estimated variance, and the degrees of freedom of the estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variance {
    pub value: f64,
    pub degrees: f64,
}

impl Variance {
    /// The variance of what is certain.
    pub const NONE: Variance = Variance { value: 0.0, degrees: f64::INFINITY };

    /// Returns the variance of a sum of independent terms, with the degrees of freedom of Welch and
    /// Satterthwaite (Cochran, *Sampling Techniques*, 1977, 5.16).
    pub fn sum(terms: impl Iterator<Item = Variance>) -> Variance {
        let (mut value, mut squares) = (0.0, 0.0);
        for term in terms.filter(|term| term.value > 0.0) {
            value += term.value;
            squares += term.value.powi(2) / term.degrees;
        }
        let degrees = if squares > 0.0 { value * value / squares } else { f64::INFINITY };
        Variance { value, degrees }
    }

    /// Estimates the variance of the mean of independent values; none below two.
    pub fn of_mean(values: &[f64]) -> Option<Variance> {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let degrees = count - 1.0;
        (degrees >= 1.0).then(|| Variance { value: squares / degrees / count, degrees })
    }

    /// Estimates the variance of a population from values in their order, by the differences between
    /// successive ones: drift does not count (von Neumann, 1941). None below two values.
    pub fn of_successive(values: &[f64]) -> Option<Variance> {
        let count = values.len() as f64;
        let squares: f64 = values.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
        let value = squares / (2.0 * (count - 1.0));
        (count > 1.0).then(|| Variance { value, degrees: successive_degrees(count) })
    }

    /// Returns the variance of an estimate times the root of `square`.
    #[must_use]
    pub fn scaled(self, square: f64) -> Variance {
        Variance { value: self.value * square, ..self }
    }

    /// Returns half of the 95 % interval of an estimate with this variance.
    pub fn half_interval(&self) -> f64 {
        if self.value > 0.0 { student(self.degrees) * self.value.sqrt() } else { 0.0 }
    }
}

/// Returns the degrees of freedom of [`Variance::of_successive`] for this many values, which need not be
/// whole: one for two values, in the end two thirds of one for each more.
pub fn successive_degrees(values: f64) -> f64 {
    if values < 2.0 { values - 1.0 } else { 2.0 * (values - 1.0).powi(2) / (3.0 * values - 4.0) }
}

/// Returns the 97.5 % quantile of Student's distribution with `degrees` degrees of freedom; between whole
/// numbers, a bound that is nearly linear in their reciprocal. Infinite below one.
pub fn student(degrees: f64) -> f64 {
    // Sums of shares may fall short of a whole number by rounding.
    let degrees = degrees + 1e-6;
    let below = degrees.floor();
    if below < 1.0 {
        return f64::INFINITY;
    }
    if below >= 1e6 {
        return of_whole(below);
    }
    let above = below + 1.0;
    let share = (1.0 / below - 1.0 / degrees) / (1.0 / below - 1.0 / above);
    of_whole(below) + share * (of_whole(above) - of_whole(below))
}

/// Returns the quantile for a whole number of degrees of freedom, at least 1.
fn of_whole(degrees: f64) -> f64 {
    /// For 1 to 10 degrees of freedom, from standard tables.
    const FEW: [f64; 10] =
        [12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.306, 2.26216, 2.22814];
    const NORMAL: f64 = 1.959_963_985;
    if let Some(&quantile) = FEW.get(degrees as usize - 1) {
        return quantile;
    }
    // Cornish and Fisher's expansion (Abramowitz and Stegun 26.7.5).
    let (z, n) = (NORMAL, degrees);
    let [z2, z3] = [z * z, z * z * z];
    let first = (z3 + z) / 4.0;
    let second = (5.0 * z3 * z2 + 16.0 * z3 + 3.0 * z) / 96.0;
    let third = (3.0 * z3 * z2 * z2 + 19.0 * z3 * z2 + 17.0 * z3 - 15.0 * z) / 384.0;
    z + first / n + second / (n * n) + third / (n * n * n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_match_the_tables() {
        let table = [
            (1.0, 12.706),
            (4.0, 2.776),
            (4.999_999_9, 2.571),
            (7.9, 2.311),
            (f64::INFINITY, 1.960),
            (10.0, 2.228),
            (11.0, 2.201),
            (12.0, 2.179),
            (20.0, 2.086),
            (30.0, 2.042),
            (60.0, 2.000),
            (120.0, 1.980),
            (1e9, 1.960),
        ];
        for (degrees, quantile) in table {
            assert!((student(degrees) - quantile).abs() < 6e-4, "{degrees}: {}", student(degrees));
        }
        assert_eq!(student(0.5), f64::INFINITY);
    }

    #[test]
    fn a_sum_has_the_degrees_of_its_largest_terms() {
        let of = |value, degrees| Variance { value, degrees };
        // (18 + 2)² / (18² + 2²).
        let sum = Variance::sum([of(18.0, 1.0), of(2.0, 1.0), of(0.0, 0.5)].into_iter());
        assert!((sum.degrees - 400.0 / 328.0).abs() < 1e-12 && sum.value == 20.0);
        let one = Variance::sum([of(4.0, 3.0), Variance::NONE].into_iter());
        assert_eq!(one, of(4.0, 3.0));
        assert!((one.half_interval() - 3.18245 * 2.0).abs() < 1e-4);
        assert_eq!(one.scaled(0.25).half_interval(), one.half_interval() / 2.0);
        let nothing = Variance::sum(std::iter::empty());
        assert_eq!((nothing, nothing.half_interval()), (Variance::NONE, 0.0));
    }

    #[test]
    fn means_vary_less_than_their_values() {
        // Mean 3, variance 2.5, five values.
        let mean = Variance::of_mean(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!((mean.value, mean.degrees), (0.5, 4.0));
        assert_eq!(Variance::of_mean(&[7.0]), None);
    }

    #[test]
    fn drift_is_no_variance() {
        let drift: Vec<f64> = (0..1000).map(f64::from).collect();
        let variance = Variance::of_successive(&drift).unwrap();
        assert_eq!(variance.value, 0.5);
        assert!((variance.degrees / 1000.0 - 2.0 / 3.0).abs() < 1e-3);
        let two = Variance::of_successive(&[10.0, 14.0]).unwrap();
        assert_eq!((two.value, two.degrees), (8.0, 1.0));
        assert_eq!(Variance::of_successive(&[1.0]), None);
        assert_eq!(successive_degrees(1.5), 0.5);
    }
}
