//! Median and levels of a few samples.

/// Returns the middle value, or the mean of the two middle ones; 0 of none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        length if length % 2 == 1 => sorted[half],
        _ => (sorted[half - 1] + sorted[half]) / 2.0,
    }
}

pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Returns the sum of squared deviations from the mean.
fn scatter(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// Returns the medians of the two levels of a bimodal sample: the split with the least variance within its
/// sides (Otsu 1979), provided that the sides are farther apart than an even spread would place them. The
/// halves of an even spread are 3.5 standard deviations apart.
pub fn levels(values: &[f64]) -> Option<[f64; 2]> {
    const DEVIATIONS: f64 = 5.0;
    /// Smallest share of the values that forms a level, 1/`LEAST_SHARE`, and the least ratio between the
    /// levels.
    const LEAST_SHARE: usize = 8;
    const LEAST_STEP: f64 = 0.1;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let least = sorted.len().div_ceil(LEAST_SHARE).max(1);
    let within = |at: usize| scatter(&sorted[..at]) + scatter(&sorted[at..]);
    let splits = least..=sorted.len().checked_sub(least)?;
    let at = splits.min_by(|&one, &other| within(one).total_cmp(&within(other)))?;
    let (low, high) = sorted.split_at(at);
    let distance = mean(high) - mean(low);
    let deviation = (within(at) / sorted.len() as f64).sqrt();
    let is_split = distance > DEVIATIONS * deviation && distance > LEAST_STEP * mean(low);
    is_split.then(|| [median(low), median(high)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_value() {
        assert_eq!([median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0]), median(&[])], [2.0, 2.5, 0.0]);
    }

    #[test]
    fn an_even_spread_has_no_levels() {
        let two: Vec<f64> = (0..64).map(|n| f64::from(200 + n % 2 * 200 + n % 7)).collect();
        assert_eq!(levels(&two), Some([203.0, 403.0]));
        let even: Vec<f64> = (0..64).map(|n| f64::from(220 + 2 * n)).collect();
        assert_eq!(levels(&even), None);
        assert_eq!(levels(&[200.0; 64]), None);
        let mut outliers = vec![200.0; 64];
        outliers[..3].fill(900.0);
        assert_eq!(levels(&outliers), None, "three slow values are not a level");
        assert_eq!((levels(&[]), levels(&[1.0])), (None, None));
    }
}
