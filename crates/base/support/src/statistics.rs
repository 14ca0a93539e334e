//! Quantiles of distributions.

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
}
