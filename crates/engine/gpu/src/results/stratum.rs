//! A stratum of a stratified sample.

/// Similar launches, and the values of those that were drawn.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stratum {
    /// Number of launches.
    pub launches: u32,
    pub drawn: u32,
    sum: f64,
    squares: f64,
}

impl Stratum {
    /// Adds a drawn launch that represents `stands_for` launches.
    pub fn add(&mut self, stands_for: u32, value: f64) {
        self.launches += stands_for;
        self.drawn += 1;
        self.sum += value;
        self.squares += value * value;
    }

    /// Returns the variance of the total, estimated from the drawn launches as a random sample: N^2
    /// (1 - n / N) s^2 / n. None for a single one.
    pub fn variance_of_total(&self) -> Option<f64> {
        let [all, drawn] = [self.launches, self.drawn].map(f64::from);
        let deviations = (self.squares - self.sum * self.sum / drawn).max(0.0);
        let variance = (self.drawn > 1).then(|| deviations / (drawn - 1.0))?;
        Some(all * all * (1.0 - drawn / all) * variance / drawn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64], stand_for: u32) -> Stratum {
        let mut stratum = Stratum::default();
        values.iter().for_each(|&value| stratum.add(stand_for, value));
        stratum
    }

    /// 1, 2 and 6 of 12: s^2 = (4 + 1 + 9) / 2 = 7; 144 x 3/4 x 7 / 3 = 252.
    #[test]
    fn the_variance_matches_a_random_sample() {
        assert_eq!(of(&[1.0, 2.0, 6.0], 4).variance_of_total(), Some(252.0));
    }

    #[test]
    fn a_complete_stratum_has_variance_0_and_a_single_draw_none() {
        assert_eq!(of(&[1.0, 2.0, 6.0], 1).variance_of_total(), Some(0.0));
        assert_eq!(of(&[5.0], 4).variance_of_total(), None);
    }
}
