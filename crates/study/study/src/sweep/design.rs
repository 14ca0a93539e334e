//! Experimental designs: the combinations of factor levels to run.

use super::error::PlanError;
use super::values::Interval;
use serde::Deserialize;
use std::slice;
use warpmem_support::random::Random;

/// Maximum number of points of a design; each runs on every trace and machine.
const MOST_POINTS: usize = 1_000_000;

/// Selection of the combinations of levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// All combinations; the last factor changes fastest.
    #[default]
    Full,
    /// The first level of every factor, then each other level of one factor at a time.
    OneAtATime,
    /// Every combination of policies, each with the same samples of the parameters. For n samples,
    /// the range of every parameter is cut into n parts of equal size; one value is drawn in each,
    /// and their order is random (McKay, Beckman and Conover 1979).
    LatinHypercube,
}

/// A varied parameter or policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// Name in messages.
    pub name: String,
    pub levels: Levels,
}

/// Levels of a factor.
#[derive(Clone, Debug, PartialEq)]
pub enum Levels {
    /// Policies: always enumerated, never sampled.
    Policies(Vec<String>),
    /// Values of a parameter.
    Values(Vec<String>),
    /// Interval of a parameter, from which numbers are drawn.
    Interval(Interval),
}

/// Enumerates the combinations: a level for each factor, in their order.
///
/// # Errors
/// If a design without sampling has an interval, the number of samples is missing or too large, or
/// there are too many combinations.
pub fn points(
    design: Design,
    factors: &[Factor],
    samples: Option<usize>,
    seed: u64,
) -> Result<Vec<Vec<String>>, PlanError> {
    match (design, samples) {
        (Design::LatinHypercube, Some(samples)) if samples > 0 => {
            latin_hypercube(factors, samples, seed)
        }
        (Design::LatinHypercube, _) => {
            let message = "a latin hypercube needs a number of samples, 1 or more: `samples = 64`";
            Err(PlanError::invalid("samples", message))
        }
        (_, Some(_)) => {
            let message = "only `design = \"latin-hypercube\"` has samples";
            Err(PlanError::invalid("samples", message))
        }
        (Design::Full, None) => full(&listed(factors)?),
        (Design::OneAtATime, None) => Ok(one_at_a_time(&listed(factors)?)),
    }
}

/// Returns the levels of each factor; none may be an interval.
fn listed(factors: &[Factor]) -> Result<Vec<&[String]>, PlanError> {
    let levels = factors.iter().map(|factor| match &factor.levels {
        Levels::Policies(levels) | Levels::Values(levels) => Ok(levels.as_slice()),
        Levels::Interval(_) => {
            let message = "a range needs a `step` or a `count`; only a latin hypercube samples it";
            Err(PlanError::invalid(&factor.name, message))
        }
    });
    levels.collect()
}

fn full(levels: &[&[String]]) -> Result<Vec<Vec<String>>, PlanError> {
    check_size(
        levels.iter().try_fold(1usize, |product, levels| product.checked_mul(levels.len())),
    )?;
    let mut points = vec![Vec::new()];
    for levels in levels {
        let with = |point: &Vec<String>, level: &String| {
            [point.as_slice(), slice::from_ref(level)].concat()
        };
        points = points.iter().flat_map(|p| levels.iter().map(|level| with(p, level))).collect();
    }
    Ok(points)
}

fn check_size(points: Option<usize>) -> Result<(), PlanError> {
    if points.is_some_and(|points| points <= MOST_POINTS) {
        return Ok(());
    }
    let points = points.map_or("too many to count".to_owned(), |points| points.to_string());
    let message = format!("the combinations are {points}, more than {MOST_POINTS}");
    Err(PlanError::invalid("design", message))
}

fn one_at_a_time(levels: &[&[String]]) -> Vec<Vec<String>> {
    let centre: Vec<String> = levels.iter().map(|levels| levels[0].clone()).collect();
    let mut points = vec![centre.clone()];
    for (factor, levels) in levels.iter().enumerate() {
        for level in &levels[1..] {
            let mut point = centre.clone();
            point[factor].clone_from(level);
            points.push(point);
        }
    }
    points
}

fn latin_hypercube(
    factors: &[Factor],
    samples: usize,
    seed: u64,
) -> Result<Vec<Vec<String>>, PlanError> {
    let policies: Vec<&[String]> = factors.iter().filter_map(policies_of).collect();
    let combinations = full(&policies)?;
    check_size(combinations.len().checked_mul(samples))?;
    let is_parameter = |factor: &&Factor| policies_of(factor).is_none();
    let parameters = factors.iter().filter(is_parameter).enumerate();
    let columns: Vec<Vec<String>> =
        parameters.map(|(number, factor)| column(&factor.levels, samples, seed, number)).collect();
    let point = |combination: &[String], sample: usize| {
        let (mut policies, mut columns) = (combination.iter(), columns.iter());
        let level = |factor: &Factor| match policies_of(factor) {
            Some(_) => policies.next().expect("a combination has every slot").clone(),
            None => columns.next().expect("every parameter has a column")[sample].clone(),
        };
        factors.iter().map(level).collect()
    };
    let points = combinations.iter().flat_map(|c| (0..samples).map(move |sample| (c, sample)));
    Ok(points.map(|(combination, sample)| point(combination, sample)).collect())
}

fn policies_of(factor: &Factor) -> Option<&[String]> {
    match &factor.levels {
        Levels::Policies(policies) => Some(policies),
        Levels::Values(_) | Levels::Interval(_) => None,
    }
}

/// Returns the levels of one parameter, sample by sample. If listed values do not divide the
/// samples evenly, the seed selects those that occur once more, or not at all.
fn column(levels: &Levels, samples: usize, seed: u64, number: usize) -> Vec<String> {
    // The fraction of a double has 53 bits.
    const PARTS: u64 = 1 << 53;
    let mut random = Random::numbered(seed, number as u64);
    let mut strata: Vec<usize> = (0..samples).collect();
    random.shuffle(&mut strata);
    let mut levels = levels.clone();
    if let Levels::Policies(values) | Levels::Values(values) = &mut levels {
        random.shuffle(values);
    }
    let drawn = strata.into_iter().map(|stratum| match &levels {
        Levels::Interval(interval) => {
            let within = random.below(PARTS) as f64 / PARTS as f64;
            interval.at((stratum as f64 + within) / samples as f64).to_string()
        }
        Levels::Policies(values) | Levels::Values(values) => {
            values[stratum * values.len() / samples].clone()
        }
    });
    drawn.collect()
}

#[cfg(test)]
mod tests {
    use super::super::values::Scale;
    use super::*;
    use proptest::prelude::*;
    use std::collections::{HashMap, HashSet};

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    fn factor(levels: Levels) -> Factor {
        Factor { name: "f".to_owned(), levels }
    }

    fn policies(names: &[&str]) -> Factor {
        factor(Levels::Policies(words(names)))
    }

    fn values(values: &[&str]) -> Factor {
        factor(Levels::Values(words(values)))
    }

    fn interval(from: f64, to: f64) -> Factor {
        factor(Levels::Interval(Interval { from, to, scale: Scale::Linear, whole: false }))
    }

    fn joined(points: &[Vec<String>]) -> Vec<String> {
        points.iter().map(|point| point.concat()).collect()
    }

    #[test]
    fn a_full_design_has_every_combination_in_order() {
        let factors = [policies(&["a", "b"]), values(&["1", "2", "3"])];
        let points = points(Design::Full, &factors, None, 1).unwrap();
        assert_eq!(joined(&points), ["a1", "a2", "a3", "b1", "b2", "b3"]);
        assert_eq!(super::points(Design::Full, &[], None, 1).unwrap(), [words(&[])]);
    }

    #[test]
    fn one_at_a_time_leaves_the_centre_in_one_factor_only() {
        let factors = [policies(&["a", "b"]), values(&["1", "2", "3"])];
        let points = points(Design::OneAtATime, &factors, None, 1).unwrap();
        assert_eq!(joined(&points), ["a1", "b1", "a2", "a3"]);
    }

    #[test]
    fn designs_that_cannot_be_are_refused() {
        let refusal = |design, factors: &[Factor], samples| {
            points(design, factors, samples, 1).unwrap_err().to_string()
        };
        let drawn = [interval(0.0, 1.0)];
        assert!(refusal(Design::Full, &drawn, None).contains("only a latin hypercube"));
        assert!(refusal(Design::OneAtATime, &drawn, None).contains("`step` or a `count`"));
        assert!(refusal(Design::LatinHypercube, &drawn, None).contains("samples = 64"));
        assert!(refusal(Design::LatinHypercube, &drawn, Some(0)).contains("1 or more"));
        assert!(refusal(Design::Full, &[], Some(4)).contains("latin-hypercube"));
        let many: Vec<String> = (0..1001).map(|n| n.to_string()).collect();
        let many = vec![factor(Levels::Values(many)); 2];
        assert!(refusal(Design::Full, &many, None).contains("1002001"));
        assert!(refusal(Design::Full, &vec![many[0].clone(); 9], None).contains("too many"));
    }

    #[test]
    fn a_hypercube_takes_every_policy_with_the_same_samples() {
        let factors = [policies(&["a", "b"]), interval(0.0, 1.0), values(&["x", "y"])];
        let points = points(Design::LatinHypercube, &factors, Some(4), 1).unwrap();
        assert_eq!(points.len(), 8);
        let (a, b) = points.split_at(4);
        assert!(a.iter().all(|point| point[0] == "a") && b.iter().all(|point| point[0] == "b"));
        let samples =
            |half: &[Vec<String>]| half.iter().map(|p| p[1..].concat()).collect::<Vec<_>>();
        assert_eq!(samples(a), samples(b));
        assert_eq!(a.iter().filter(|point| point[2] == "x").count(), 2);
    }

    #[test]
    fn another_seed_draws_other_samples() {
        let draw =
            |seed| points(Design::LatinHypercube, &[interval(0.0, 1.0)], Some(8), seed).unwrap();
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    proptest! {
        /// Defining property of a Latin hypercube.
        #[test]
        fn every_part_of_every_parameter_is_sampled_once(samples in 1usize..200, seed: u64) {
            let factors = [interval(0.0, 1.0), interval(0.0, 1.0)];
            let points = points(Design::LatinHypercube, &factors, Some(samples), seed).unwrap();
            for column in 0..2 {
                let part = |point: &Vec<String>| {
                    let number: f64 = point[column].parse().unwrap();
                    (number * samples as f64) as usize
                };
                let parts: HashSet<usize> = points.iter().map(part).collect();
                prop_assert_eq!(parts.len(), samples);
            }
        }

        #[test]
        fn listed_values_come_equally_often(samples in 1usize..100, count in 1usize..8, seed: u64) {
            let names: Vec<String> = (0..count).map(|n| n.to_string()).collect();
            let factors = [factor(Levels::Values(names))];
            let points = points(Design::LatinHypercube, &factors, Some(samples), seed).unwrap();
            let mut uses: HashMap<String, usize> = HashMap::new();
            points.into_iter().flatten().for_each(|value| *uses.entry(value).or_default() += 1);
            prop_assert!(uses.values().all(|&uses| uses.abs_diff(samples / count) <= 1));
        }

        /// For some seed, each value receives the remainder of an uneven division.
        #[test]
        fn no_listed_value_is_favoured(samples in 1usize..10, first_seed in 0..u64::MAX / 2) {
            let factors = [values(&["a", "b", "c", "d"])];
            let mut uses: HashMap<String, usize> = HashMap::new();
            for seed in first_seed..first_seed + 200 {
                let points = points(Design::LatinHypercube, &factors, Some(samples), seed).unwrap();
                points.into_iter().flatten().for_each(|value| *uses.entry(value).or_default() += 1);
            }
            let even = (200 * samples / 4) as f64;
            let is_near = |uses: &usize| (*uses as f64 / even - 1.0).abs() < 0.6;
            prop_assert!(uses.len() == 4 && uses.values().all(is_near), "{uses:?}");
        }

        #[test]
        fn one_at_a_time_has_no_point_twice(sizes in prop::collection::vec(1usize..5, 0..5)) {
            let levels = |size: usize| Levels::Values((0..size).map(|n| n.to_string()).collect());
            let factors: Vec<Factor> = sizes.iter().map(|&size| factor(levels(size))).collect();
            let points = points(Design::OneAtATime, &factors, None, 1).unwrap();
            let all: HashSet<&Vec<String>> = points.iter().collect();
            let expected = 1 + sizes.iter().map(|size| size - 1).sum::<usize>();
            prop_assert_eq!((points.len(), all.len()), (expected, expected));
        }
    }
}
