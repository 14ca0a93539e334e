//! Statistics over runs; undefined without values.

pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

pub(super) fn geometric_mean(values: &[f64]) -> Option<f64> {
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    mean(&logarithms).map(f64::exp)
}

/// Computes Pearson's correlation; none for fewer than two pairs, or if one side does not vary.
pub(super) fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let (xs, ys): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (mean_x, mean_y) = (mean(&xs)?, mean(&ys)?);
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        pairs.iter().map(|&(x, y)| of(x - mean_x, y - mean_y)).sum()
    };
    let variances = sum(&|x, _| x * x) * sum(&|_, y| y * y);
    // Rounding must not push the result beyond 1.
    (variances > 0.0).then(|| (sum(&|x, y| x * y) / variances.sqrt()).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means() {
        assert_eq!(mean(&[1.0, 2.0, 6.0]), Some(3.0));
        assert!((geometric_mean(&[1.0, 4.0, 16.0]).unwrap() - 4.0).abs() < 1e-12);
        assert_eq!((mean(&[]), geometric_mean(&[])), (None, None));
    }

    #[test]
    fn correlation_is_pearsons() {
        // Deviations of x: -2, -1, 3; of y: -1, -1, 2. Sums: xy 9, xx 14, yy 6.
        let pairs = [(1.0, 2.0), (2.0, 2.0), (6.0, 5.0)];
        let expected = 9.0 / 84f64.sqrt();
        assert!((correlation(&pairs).unwrap() - expected).abs() < 1e-12);
        let falling = [(1.0, 6.0), (2.0, 4.0), (3.0, 2.0)];
        assert!((correlation(&falling).unwrap() + 1.0).abs() < 1e-12);
    }

    #[test]
    fn constant_series_have_no_correlation() {
        assert_eq!(correlation(&[(1.0, 2.0)]), None);
        assert_eq!(correlation(&[(1.0, 2.0), (1.0, 3.0)]), None);
        assert_eq!(correlation(&[]), None);
    }
}
