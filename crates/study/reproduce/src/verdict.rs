//! Verdicts: our result agrees with the published one, is below the noise, or disagrees.

use warpmem_study::reproduce::{Claim, Direction, Shown};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Agrees,
    /// The difference is within the noise of irrelevant variants of the machine: neither agreement
    /// nor disagreement.
    BelowNoise,
    Disagrees,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Agrees => "agrees",
            Verdict::BelowNoise => "below noise",
            Verdict::Disagrees => "disagrees",
        }
    }

    fn of(agrees: bool) -> Verdict {
        if agrees { Verdict::Agrees } else { Verdict::Disagrees }
    }
}

/// Half of the last displayed digit: smaller differences are ignored, whatever the noise.
const UNSHOWN: f64 = 0.05;

/// Judges our result with its noise, both in the displayed unit; none for a claim about a size.
pub fn verdict(claim: &Claim, ours: f64, noise: Option<f64>) -> Option<Verdict> {
    let margin = noise.unwrap_or(0.0).max(UNSHOWN);
    let from = match claim.shown {
        Shown::Change | Shown::Value => 0.0,
        Shown::Percent => 100.0,
        Shown::Times => 1.0,
    };
    let change = ours - from;
    match claim.direction {
        Direction::Sign if claim.shown == Shown::Change => {
            claim.published.map(|published| same_way(published, change, margin))
        }
        Direction::Sign => None,
        Direction::Up => Some(upwards(change, margin)),
        Direction::Down => Some(upwards(-change, margin)),
        Direction::NotDown => Some(Verdict::of(change > -margin)),
        // A bound is the paper's number; a result equal to its last digit satisfies it.
        Direction::AtLeast(least) => Some(beyond(ours - least, noise)),
        Direction::AtMost(most) => Some(beyond(most - ours, noise)),
        Direction::Within(percent) => claim.published.map(|published| {
            Verdict::of(100.0 * (ours - published).abs() <= percent * published.abs())
        }),
    }
}

/// Judges a change by its sign; a published change of zero agrees with a change below the noise.
fn same_way(published: f64, change: f64, margin: f64) -> Verdict {
    if published.abs() < UNSHOWN {
        return Verdict::of(change.abs() <= margin);
    }
    upwards(change * published.signum(), margin)
}

fn upwards(change: f64, margin: f64) -> Verdict {
    if change.abs() < margin {
        return Verdict::BelowNoise;
    }
    Verdict::of(change > 0.0)
}

fn beyond(above: f64, noise: Option<f64>) -> Verdict {
    if noise.is_some_and(|noise| above.abs() < noise) {
        return Verdict::BelowNoise;
    }
    Verdict::of(above >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::Verdict::{Agrees, BelowNoise, Disagrees};
    use super::*;

    fn of(text: &str, ours: f64, noise: Option<f64>) -> Option<Verdict> {
        let whole = format!("what = 'w'\nsource = 's'\nours.nothing = 'no'\n{text}");
        verdict(&toml::from_str(&whole).unwrap(), ours, noise)
    }

    fn noisy(text: &str, ours: f64) -> Option<Verdict> {
        of(text, ours, Some(1.0))
    }

    fn exact(text: &str, ours: f64) -> Option<Verdict> {
        of(text, ours, None)
    }

    #[test]
    fn a_change_below_the_noise_neither_agrees_nor_disagrees() {
        assert_eq!(noisy("published = 10.9", 1.1), Some(Agrees));
        assert_eq!(noisy("published = 10.9", 0.9), Some(BelowNoise));
        assert_eq!(noisy("published = 10.9", -0.9), Some(BelowNoise));
        assert_eq!(noisy("published = 10.9", -1.1), Some(Disagrees));
        assert_eq!(noisy("published = -2", -40.0), Some(Agrees));
        assert_eq!(exact("published = 10.9", 0.9), Some(Agrees));
        assert_eq!(exact("published = 10.9", 0.04), Some(BelowNoise), "no change is shown");
        assert_eq!(of("published = 10.9", 0.04, Some(0.0)), Some(BelowNoise));
    }

    #[test]
    fn changes_below_the_noise_agree_with_no_change() {
        assert_eq!(noisy("published = 0", 0.9), Some(Agrees));
        assert_eq!(noisy("published = 0", -1.1), Some(Disagrees));
        assert_eq!(noisy("direction = 'not-down'", -0.9), Some(Agrees));
        assert_eq!(noisy("direction = 'not-down'", -1.1), Some(Disagrees));
        assert_eq!(exact("direction = 'not-down'", -0.04), Some(Agrees));
        assert_eq!(exact("direction = 'not-down'", -0.06), Some(Disagrees));
    }

    #[test]
    fn sizes_have_no_verdict() {
        assert_eq!(noisy("text = 'rises'", 3.0), None);
        assert_eq!(noisy("published = 40.6\nshown = 'value'", 40.6), None);
        assert_eq!(noisy("published = 56.2\nshown = 'percent'", 56.2), None);
    }

    #[test]
    fn directions_exclude_changes_below_the_noise() {
        assert_eq!(noisy("direction = 'up'", 3.0), Some(Agrees));
        assert_eq!(noisy("direction = 'down'\nshown = 'percent'", 98.0), Some(Agrees));
        assert_eq!(noisy("direction = 'up'\nshown = 'percent'", 98.0), Some(Disagrees));
        assert_eq!(noisy("direction = 'up'\nshown = 'percent'", 99.5), Some(BelowNoise));
        assert_eq!(exact("direction = 'up'\nshown = 'times'", 1.2), Some(Agrees));
    }

    #[test]
    fn bounds_are_judged_beyond_the_noise() {
        let least = "direction.at-least = 70.0\nshown = 'percent'";
        let of = |ours| noisy(least, ours).unwrap();
        assert_eq!([71.5, 70.5, 69.5, 68.5].map(of), [Agrees, BelowNoise, BelowNoise, Disagrees]);
        assert_eq!(exact("direction.at-most = 10.0\nshown = 'percent'", 11.0), Some(Disagrees));
        assert_eq!(exact("direction.at-most = 10.0\nshown = 'percent'", 10.0), Some(Agrees));
    }

    #[test]
    fn the_same_experiment_agrees_within_a_margin() {
        let within = "published = 200\nshown = 'value'\ndirection.within = 1.0";
        let of = |ours| exact(within, ours).unwrap();
        assert_eq!([197.0, 198.0, 202.0, 203.0].map(of), [Disagrees, Agrees, Agrees, Disagrees]);
    }
}
