//! Verdicts: what the 95 % interval of our result says of the published one.
//!
//! An effect is judged as a logarithm of a ratio (so that exchanging the compared machines changes
//! no verdict, and twice a loss of 60 % is a loss of 84 %), or as a difference if it is displayed as
//! a value. On that scale, with the published effect P > 0 and our interval from `low` to `high`:
//!
//! | verdict | effect |
//! | --- | --- |
//! | reproduced | `low` > 0, the interval meets P/2 to 2 P, and is no wider than P |
//! | same direction | `low` > 0 otherwise |
//! | null | `low` ≤ 0 ≤ `high` < P/2 |
//! | no verdict | `low` ≤ 0 and P/2 ≤ `high` |
//! | opposite | `high` < 0 |
//!
//! A policy without effect has `low` > 0 in at most 2.5 % of trials, whatever its noise. The limit
//! of the width keeps a wide interval from meeting every published effect.

use crate::noise::Measured;
use warpmem_study::reproduce::{Claim, Direction, Shown};

/// Outcome of a comparison with a published result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Reproduced,
    SameDirection,
    /// No effect, with half the published one excluded.
    Null,
    Opposite,
    /// Another size of a quantity without direction.
    OtherSize,
    /// Too wide an interval, or none.
    NoVerdict,
}

/// Every outcome with its definition, for readers of the tables.
pub const LEGEND: [(Verdict, &str); 6] = [
    (
        Verdict::Reproduced,
        "the 95 % interval excludes no change, meets half to twice the published effect, and is no wider than it; a size: the interval meets half to twice the published one and is no wider than it; a bound or a margin: the interval lies within",
    ),
    (
        Verdict::SameDirection,
        "the interval excludes no change in the published direction; the size differs, is not published, or is not known well enough",
    ),
    (Verdict::Null, "the interval contains no change and excludes half the published effect"),
    (
        Verdict::Opposite,
        "the interval excludes no change in the other direction; a bound or a margin: the interval lies outside",
    ),
    (Verdict::OtherSize, "a size: the interval lies outside half to twice the published one"),
    (Verdict::NoVerdict, "the interval is too wide to decide, or a single run has none"),
];

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::SameDirection => "same direction",
            Verdict::Null => "null",
            Verdict::Opposite => "opposite",
            Verdict::OtherSize => "other size",
            Verdict::NoVerdict => "no verdict",
        }
    }

    /// Returns whether the result has what the paper says, as far as it says it.
    pub(crate) fn holds(self) -> bool {
        matches!(self, Verdict::Reproduced | Verdict::SameDirection)
    }
}

/// Half of the last displayed digit of changes, shares and multiples: intervals are no narrower.
const UNSHOWN: f64 = 0.05;

/// Judges our result, in the displayed unit; none if the paper gives nothing to judge.
pub fn verdict(claim: &Claim, ours: Measured) -> Option<Verdict> {
    if let Direction::Within(percent) = claim.direction {
        let published = claim.published?;
        let is_near = 100.0 * (ours.mean - published).abs() <= percent * published.abs();
        return Some(if is_near { Verdict::Reproduced } else { Verdict::OtherSize });
    }
    let is_judged =
        !matches!(claim.direction, Direction::Sign) || claim.published_range().is_some();
    if !is_judged {
        return None;
    }
    let Some(noise) = ours.noise else { return Some(Verdict::NoVerdict) };
    let least = if claim.shown == Shown::Value { 0.0 } else { UNSHOWN };
    let noise = noise.max(least);
    let [low, high] = [ours.mean - noise, ours.mean + noise];
    Some(match claim.direction {
        Direction::AtLeast(bound) => beyond(low - bound, high - bound),
        Direction::AtMost(bound) => beyond(bound - high, bound - low),
        Direction::Similar(margin) => similar(low, high, middle(claim), margin),
        _ if claim.is_size() => of_size(claim, [low, high])?,
        _ => of_effect(claim, [low, high]),
    })
}

/// Judges a claim about every workload by what it says of each: it holds if it holds for all of
/// them. One workload refutes it by an interval of 99.9 %, because a few of many lie outside their
/// 95 % interval by chance.
pub fn verdict_of_every(claim: &Claim, each: &[Judged]) -> Option<Verdict> {
    let ordinary = each.iter().map(|one| verdict(claim, one.likely));
    let ordinary: Vec<Verdict> = ordinary.collect::<Option<_>>()?;
    let is_refuted = each.iter().any(|one| verdict(claim, one.sure) == Some(Verdict::Opposite));
    let worst = ordinary.iter().copied().max()?;
    Some(match worst {
        _ if is_refuted => Verdict::Opposite,
        worst if worst.holds() => worst,
        _ => Verdict::NoVerdict,
    })
}

/// A workload's number with its 95 % and its 99.9 % interval.
#[derive(Clone, Debug)]
pub struct Judged {
    pub workload: String,
    pub likely: Measured,
    pub sure: Measured,
}

/// Returns the results that are reproduced, in the displayed unit: half to twice the published
/// number, the published range, or what the bound or margin admits; infinite where open.
pub fn accepted(claim: &Claim) -> Option<[f64; 2]> {
    Some(match claim.direction {
        Direction::AtLeast(bound) => [bound, f64::INFINITY],
        Direction::AtMost(bound) => [f64::NEG_INFINITY, bound],
        Direction::Similar(margin) => [middle(claim) - margin, middle(claim) + margin],
        Direction::Within(percent) => {
            let published = claim.published?;
            let margin = percent / 100.0 * published.abs();
            [published - margin, published + margin]
        }
        _ => {
            let published = claim.published_range()?;
            let scale = Scale::of(claim);
            let from = if claim.is_size() { 0.0 } else { claim.unchanged() };
            let sign = (published[0] - from).signum();
            let range = ordered(published.map(|number| sign * scale.judged(number)));
            ordered(half_to_twice(claim, range).map(|number| scale.displayed(sign * number)))
        }
    })
}

/// Returns the number to which a claim of similarity compares.
fn middle(claim: &Claim) -> f64 {
    claim.published.unwrap_or(claim.unchanged())
}

fn beyond(low: f64, high: f64) -> Verdict {
    match (low >= 0.0, high < 0.0) {
        (true, _) => Verdict::Reproduced,
        (_, true) => Verdict::Opposite,
        _ => Verdict::NoVerdict,
    }
}

fn similar(low: f64, high: f64, middle: f64, margin: f64) -> Verdict {
    let [least, most] = [middle - margin, middle + margin];
    if low >= least && high <= most {
        return Verdict::Reproduced;
    }
    if high < least || low > most { Verdict::Opposite } else { Verdict::NoVerdict }
}

fn of_effect(claim: &Claim, interval: [f64; 2]) -> Verdict {
    let scale = Scale::of(claim);
    let published = claim.published_range().map(|range| range.map(|end| scale.judged(end)));
    let sign = match (claim.direction, published) {
        (Direction::Up, _) => 1.0,
        (Direction::Down, _) => -1.0,
        (_, Some([end, _])) => end.signum(),
        (_, None) => return Verdict::NoVerdict,
    };
    let [low, high] = ordered(interval.map(|end| sign * scale.judged(end)));
    if high < 0.0 {
        return Verdict::Opposite;
    }
    let published = published.map(|range| ordered(range.map(|end| sign * end)));
    match published {
        None if low > 0.0 => Verdict::SameDirection,
        None => Verdict::NoVerdict,
        Some(range) if low > 0.0 => match is_of_size(claim, [low, high], range) {
            true => Verdict::Reproduced,
            false => Verdict::SameDirection,
        },
        Some([least, _]) if high < least / 2.0 => Verdict::Null,
        Some(_) => Verdict::NoVerdict,
    }
}

fn of_size(claim: &Claim, interval: [f64; 2]) -> Option<Verdict> {
    let published = claim.published_range()?;
    let sign = published[0].signum();
    let [low, high] = ordered(interval.map(|end| sign * end));
    let range = ordered(published.map(|end| sign * end));
    let [least, most] = half_to_twice(claim, range);
    Some(match high < least || low > most {
        true => Verdict::OtherSize,
        false if is_of_size(claim, [low, high], range) => Verdict::Reproduced,
        false => Verdict::NoVerdict,
    })
}

/// Returns whether an interval meets the accepted sizes and is no wider than the published one.
fn is_of_size(claim: &Claim, [low, high]: [f64; 2], published: [f64; 2]) -> bool {
    let [least, most] = half_to_twice(claim, published);
    high >= least && low <= most && high - low <= published[1]
}

/// Returns half to twice a published number; a published range itself.
fn half_to_twice(claim: &Claim, published: [f64; 2]) -> [f64; 2] {
    match claim.range {
        Some(_) => published,
        None => [published[0] / 2.0, 2.0 * published[1]],
    }
}

fn ordered([one, other]: [f64; 2]) -> [f64; 2] {
    [one.min(other), one.max(other)]
}

/// Conversion between displayed numbers and those that are judged.
enum Scale {
    /// Logarithm of the ratio of which 1 is displayed as this many units, from `unchanged`.
    Ratio { unit: f64, from: f64 },
    /// The number itself.
    Itself,
}

impl Scale {
    fn of(claim: &Claim) -> Scale {
        match claim.shown {
            _ if claim.is_size() => Scale::Itself,
            Shown::Change => Scale::Ratio { unit: 100.0, from: -100.0 },
            Shown::Percent => Scale::Ratio { unit: 100.0, from: 0.0 },
            Shown::Times => Scale::Ratio { unit: 1.0, from: 0.0 },
            Shown::Value => Scale::Itself,
        }
    }

    fn judged(&self, displayed: f64) -> f64 {
        match self {
            Scale::Ratio { unit, from } => ((displayed - from) / unit).max(0.0).ln(),
            Scale::Itself => displayed,
        }
    }

    fn displayed(&self, judged: f64) -> f64 {
        match self {
            Scale::Ratio { unit, from } => unit * judged.exp() + from,
            Scale::Itself => judged,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Verdict::{NoVerdict, Null, Opposite, OtherSize, Reproduced, SameDirection};
    use super::*;

    fn claim(text: &str) -> Claim {
        let whole = format!("what = 'w'\nsource = 's'\nours.nothing = 'no'\n{text}");
        toml::from_str(&whole).unwrap()
    }

    fn of(text: &str, mean: f64, noise: f64) -> Verdict {
        verdict(&claim(text), Measured { mean, noise: Some(noise) }).unwrap()
    }

    #[test]
    fn an_effect_of_half_to_twice_the_published_one_is_reproduced() {
        let of = |ours| of("published = 10", ours, 1.0);
        assert_eq!(
            [3.8, 3.9, 10.0, 21.9, 22.1].map(of),
            [SameDirection, Reproduced, Reproduced, Reproduced, SameDirection]
        );
    }

    #[test]
    fn a_sign_alone_is_the_same_direction() {
        assert_eq!(of("published = -2", -40.0, 1.0), SameDirection);
        assert_eq!(of("published = 3.1", 101.0, 1.0), SameDirection);
        assert_eq!(of("published = -28", -2.4, 0.9), SameDirection);
        assert_eq!(of("text = 'rises'\ndirection = 'up'", 3.0, 1.0), SameDirection);
        assert_eq!(of("text = 'rises'\ndirection = 'up'", 3.0, 4.0), NoVerdict);
        assert_eq!(of("text = 'rises'\ndirection = 'up'", -3.0, 1.0), Opposite);
    }

    #[test]
    fn a_precise_null_excludes_half_the_published_effect() {
        assert_eq!(of("published = 9", 0.2, 0.2), Null);
        assert_eq!(of("published = 9", 0.0, 0.0), Null);
        assert_eq!(of("published = 0.7", 0.0, 0.2), Null);
        assert_eq!(of("published = 9", -0.3, 0.2), Opposite);
        assert_eq!(of("published = 9", 0.3, 0.2), SameDirection);
        assert_eq!(of("published = -35", -35.4, 58.0), NoVerdict, "too wide");
        assert_eq!(of("published = 9", 3.0, 4.0), NoVerdict);
    }

    #[test]
    fn an_interval_wider_than_the_published_effect_gives_no_size() {
        assert_eq!(of("published = 9", 5.0, 4.4), Reproduced);
        assert_eq!(of("published = 9", 6.0, 5.0), SameDirection);
    }

    #[test]
    fn a_single_run_gives_no_verdict() {
        let of = |text| verdict(&claim(text), Measured { mean: 10.0, noise: None });
        assert_eq!(of("published = 10"), Some(NoVerdict));
        assert_eq!(of("published = 10\nshown = 'value'"), Some(NoVerdict));
        assert_eq!(of("published = 10\nshown = 'value'\ndirection.within = 1"), Some(Reproduced));
        assert_eq!(of("text = 'not published'"), None);
    }

    /// A loss of 43.2 % is a gain of 76.1 % the other way round.
    #[test]
    fn exchanged_machines_have_the_same_verdict() {
        for ratio in [1.1, 1.25, 1.4, 2.0, 2.9, 3.3] {
            let gain = of("published = 76.056338", 100.0 * (ratio - 1.0), 0.0);
            let loss = of("published = -43.2", 100.0 * (1.0 / ratio - 1.0), 0.0);
            assert_eq!(gain, loss, "{ratio}");
        }
        assert_eq!(of("published = -60", -83.0, 0.1), Reproduced);
        assert_eq!(of("published = -60", -85.0, 0.1), SameDirection);
        assert_eq!(of("published = -60", -100.0, 0.0), SameDirection);
    }

    #[test]
    fn shares_and_multiples_are_effects_if_they_have_a_direction() {
        let share = "published = 80.8\nshown = 'percent'\ndirection = 'down'";
        assert_eq!(of(share, 90.0, 1.0), Reproduced);
        assert_eq!(of(share, 100.0, 1.0), Null);
        assert_eq!(of(share, 102.0, 1.0), Opposite);
        let times = "range = [2, 10]\nshown = 'times'\ndirection = 'up'";
        assert_eq!(of(times, 3.4, 0.8), Reproduced);
        assert_eq!(of(times, 1.5, 0.2), SameDirection);
        assert_eq!(of(times, 1.0, 0.1), Null);
        assert_eq!(of(times, 12.0, 1.0), SameDirection);
    }

    #[test]
    fn differences_are_judged_in_their_unit() {
        let cycles = "published = 2.29\nshown = 'value'\ndirection = 'up'";
        assert_eq!(of(cycles, 1.5, 0.2), Reproduced);
        assert_eq!(of(cycles, 0.01, 0.001), SameDirection, "values have more digits");
        assert_eq!(of(cycles, -0.01, 0.001), Opposite);
    }

    #[test]
    fn sizes_have_no_direction() {
        let queue = "published = 40.6\nshown = 'value'";
        let of_queue = |ours| of(queue, ours, 0.5);
        assert_eq!(
            [19.0, 20.0, 81.5, 82.0].map(of_queue),
            [OtherSize, Reproduced, Reproduced, OtherSize]
        );
        assert_eq!(of(queue, 40.6, 30.0), NoVerdict);
        assert_eq!(of("published = 82.6\nshown = 'percent'", 24.2, 1.4), OtherSize);
        assert_eq!(of("range = [2, 8]\nshown = 'value'", 9.0, 0.5), OtherSize);
    }

    #[test]
    fn bounds_are_judged_by_the_whole_interval() {
        let least = "direction.at-least = 70.0\nshown = 'percent'";
        let of_least = |ours| of(least, ours, 1.0);
        assert_eq!(
            [71.5, 70.5, 69.5, 68.5].map(of_least),
            [Reproduced, NoVerdict, NoVerdict, Opposite]
        );
        let most = "direction.at-most = 10.0\nshown = 'percent'";
        assert_eq!(
            [8.5, 10.5, 11.5].map(|ours| of(most, ours, 1.0)),
            [Reproduced, NoVerdict, Opposite]
        );
    }

    #[test]
    fn similarity_holds_within_its_margin() {
        let similar = "published = 0\ndirection.similar = 2.0";
        assert_eq!(
            [0.5, 1.5, 3.5].map(|ours| of(similar, ours, 1.0)),
            [Reproduced, NoVerdict, Opposite]
        );
        let near = "published = 14\ndirection.similar = 2.0";
        assert_eq!(of(near, 14.5, 1.0), Reproduced);
        assert_eq!(of("direction.similar = 5.0\nshown = 'percent'", 98.0, 1.0), Reproduced);
    }

    #[test]
    fn accepted_results_are_half_to_twice_the_published_one() {
        let of = |text| accepted(&claim(text)).unwrap();
        let near = |found: [f64; 2], low: f64, high: f64| {
            assert!((found[0] - low).abs() < 0.01 && (found[1] - high).abs() < 0.01, "{found:?}");
        };
        near(of("published = 10"), 4.88, 21.0);
        near(of("published = -43.2"), -67.74, -24.63);
        near(of("published = 40\nshown = 'value'"), 20.0, 80.0);
        near(of("published = 80.8\nshown = 'percent'\ndirection = 'down'"), 65.29, 89.89);
        near(of("published = 82.6\nshown = 'percent'"), 41.3, 165.2);
        near(of("range = [2, 10]\nshown = 'times'\ndirection = 'up'"), 2.0, 10.0);
        assert_eq!(of("direction.at-least = 70"), [70.0, f64::INFINITY]);
        assert!(accepted(&claim("text = 'rises'\ndirection = 'up'")).is_none());
    }

    fn every(text: &str, each: &[(f64, f64)]) -> Verdict {
        let judged = |&(mean, noise): &(f64, f64)| Judged {
            workload: String::new(),
            likely: Measured { mean, noise: Some(noise) },
            sure: Measured { mean, noise: Some(3.0 * noise) },
        };
        verdict_of_every(&claim(text), &each.iter().map(judged).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn a_claim_on_every_workload_holds_if_it_holds_for_each() {
        let up = "text = 'in all'\ndirection = 'up'";
        assert_eq!(every(up, &[(3.0, 1.0), (2.0, 1.0)]), SameDirection);
        assert_eq!(every(up, &[(3.0, 1.0), (0.5, 1.0)]), NoVerdict);
        assert_eq!(every(up, &[(3.0, 1.0), (-2.0, 1.0)]), NoVerdict, "a chance of many");
        assert_eq!(every(up, &[(3.0, 1.0), (-4.0, 1.0)]), Opposite);
        let least = "text = 'none worse'\ndirection.at-least = -1.0";
        assert_eq!(every(least, &[(3.0, 1.0), (0.5, 1.0)]), Reproduced);
        assert_eq!(every(least, &[(3.0, 1.0), (-9.0, 1.0)]), Opposite);
    }

    #[test]
    fn every_verdict_has_a_definition() {
        let all = [Reproduced, SameDirection, Null, Opposite, OtherSize, NoVerdict];
        assert_eq!(LEGEND.map(|(verdict, _)| verdict), all);
    }
}
