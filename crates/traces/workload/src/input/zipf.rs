//! Popularity by Zipf's law.

use super::Random;
use crate::parameters::Parameter;

/// Skew of the popularity.
pub const SKEW: Parameter =
    Parameter::decimal("skew", 75, (0, 400), "-", "Exponent of the Zipf popularity; 0 for uniform");

/// Draws ranks from 0 to `n` - 1 with probability proportional to (k + 1)^-exponent, in constant
/// memory, by rejection-inversion (Hörmann and Derflinger, ACM TOMACS 1996). Exponential and
/// logarithm are those of `libm` and equal on every platform.
pub struct Zipf {
    n: u32,
    exponent: f64,
    /// Integral of the hat from 1 to the end of the first and of the last rank's interval.
    first: f64,
    last: f64,
    /// Within this distance above the drawn point, a rank is accepted at once.
    margin: f64,
}

impl Zipf {
    /// `n` must not be 0; `exponent` is in hundredths.
    pub fn new(n: u32, hundredths: u64) -> Zipf {
        let exponent = hundredths as f64 / 100.0;
        let mut zipf = Zipf { n, exponent, first: 0.0, last: 0.0, margin: 0.0 };
        zipf.first = zipf.integral(1.5) - 1.0;
        zipf.last = zipf.integral(f64::from(n) + 0.5);
        zipf.margin = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.height(2.0));
        zipf
    }

    /// Draws a rank.
    pub fn draw(&self, random: &mut Random) -> u32 {
        loop {
            let share = (random.bits() >> 11) as f64 / (1u64 << 53) as f64;
            let area = self.last + share * (self.first - self.last);
            let point = self.inverse(area);
            let rank = (point + 0.5).floor().clamp(1.0, f64::from(self.n));
            if rank - point <= self.margin || area >= self.integral(rank + 0.5) - self.height(rank)
            {
                return rank as u32 - 1;
            }
        }
    }

    /// x^-exponent
    fn height(&self, x: f64) -> f64 {
        libm::exp(-self.exponent * libm::log(x))
    }

    /// Integral of the height from 1 to x: (x^(1-e) - 1) / (1 - e), which tends to log(x) as e does to 1.
    fn integral(&self, x: f64) -> f64 {
        let (log, power) = (libm::log(x), 1.0 - self.exponent);
        if power == 0.0 { log } else { libm::expm1(power * log) / power }
    }

    /// Returns the x whose integral is `area`.
    fn inverse(&self, area: f64) -> f64 {
        let power = 1.0 - self.exponent;
        if power == 0.0 {
            return libm::exp(area);
        }
        // For a steep distribution, rounding may push the argument below the domain of the
        // logarithm.
        libm::exp(libm::log1p((power * area).max(-1.0)) / power)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u32 = 200_000;

    fn counts(n: u32, hundredths: u64) -> Vec<u32> {
        let (zipf, mut random) = (Zipf::new(n, hundredths), Random::new(5));
        let mut counts = vec![0; n as usize];
        (0..DRAWS).for_each(|_| counts[zipf.draw(&mut random) as usize] += 1);
        counts
    }

    #[test]
    fn rank_frequencies_follow_the_law() {
        for (n, hundredths) in
            [(1, 100), (2, 50), (50, 0), (50, 75), (50, 100), (50, 130), (8, 400)]
        {
            let weight = |rank: u32| f64::from(rank + 1).powf(-(hundredths as f64) / 100.0);
            let all: f64 = (0..n).map(weight).sum();
            for (rank, &count) in counts(n, hundredths).iter().enumerate() {
                let expected = f64::from(DRAWS) * weight(rank as u32) / all;
                // Five standard deviations.
                let off = (f64::from(count) - expected).abs();
                assert!(
                    off <= 5.0 * expected.sqrt() + 1.0,
                    "{n} {hundredths} {rank}: {count}, {expected}"
                );
            }
        }
    }

    #[test]
    fn ranks_are_below_n_for_any_exponent() {
        for n in [1, 3, 1 << 28, u32::MAX] {
            for hundredths in [0, 1, 99, 100, 101, 400] {
                let (zipf, mut random) = (Zipf::new(n, hundredths), Random::new(1));
                assert!((0..1000).all(|_| zipf.draw(&mut random) < n), "{n} {hundredths}");
            }
        }
    }

    /// Detects platforms with different arithmetic.
    #[test]
    fn ranks_are_equal_on_every_platform() {
        let (zipf, mut random) = (Zipf::new(1 << 20, 105), Random::new(1));
        let drawn: Vec<u32> = (0..8).map(|_| zipf.draw(&mut random)).collect();
        assert_eq!(drawn, [1177, 4550, 4, 0, 2, 66898, 10, 5]);
    }
}
