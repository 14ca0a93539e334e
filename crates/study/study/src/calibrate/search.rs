//! Coordinate descent over lists of values.
//!
//! One key at a time, the others fixed. A range is narrowed: a step evaluates a few evenly spaced
//! values together, and the next one the interval around the best. The same objectives give the same
//! steps.

use super::free::{Free, Values};
use std::collections::HashMap;

/// Values of a range that a step evaluates, beside the current one.
const SPREAD: u64 = 5;
/// Relative improvement of a round below which the search ends.
const ENOUGH: f64 = 0.001;

/// Objective of every list of values, one value per free key; none if a machine with these values is
/// not valid.
pub type Objectives = Vec<Option<f64>>;

/// A step of the search: values of one key, with the others at their best so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Round, from 1.
    pub round: u32,
    pub key: String,
    /// Values and their objectives.
    pub tried: Vec<(String, Option<f64>)>,
    pub best: String,
    pub objective: f64,
}

/// Result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// One value per free key.
    pub values: Vec<String>,
    pub objective: f64,
    /// Objective of the base.
    pub before: f64,
    pub rounds: u32,
}

/// Searches from the base values for values with a smaller objective, in at most `most_rounds` rounds
/// over all keys. `evaluate` returns the objectives of several lists of values; `log` receives every
/// step. Of equal objectives, the current value is kept, otherwise the first.
///
/// # Errors
/// The first error of `evaluate`.
pub fn descend<E>(
    free: &[Free],
    most_rounds: u32,
    evaluate: &mut impl FnMut(&[Vec<String>]) -> Result<Objectives, E>,
    log: &mut impl FnMut(&Step),
) -> Result<Best, E> {
    let mut search = Search { known: HashMap::new(), evaluate };
    let mut values: Vec<String> = free.iter().map(|free| free.base.clone()).collect();
    let before = search.of(&[values.clone()])?[0].unwrap_or(f64::INFINITY);
    let (mut objective, mut rounds) = (before, 0);
    while rounds < most_rounds {
        rounds += 1;
        let at_start = objective;
        for (at, free) in free.iter().enumerate() {
            let mut bracket = Bracket::new(&free.values);
            loop {
                let step = search.step(&values, at, &bracket.candidates(&values[at]))?;
                let (best, found) = step.best(&values[at]);
                (values[at], objective) = (best.clone(), found);
                let tried = step.0.clone();
                log(&Step { round: rounds, key: free.key.clone(), tried, best, objective });
                if !bracket.narrow(&values[at]) {
                    break;
                }
            }
        }
        if at_start - objective <= ENOUGH * at_start {
            break;
        }
    }
    Ok(Best { values, objective, before, rounds })
}

/// Remembers objectives.
struct Search<'e, F> {
    known: HashMap<Vec<String>, Option<f64>>,
    evaluate: &'e mut F,
}

/// Values of a key and their objectives.
struct Tried(Vec<(String, Option<f64>)>);

impl<F> Search<'_, F> {
    /// Returns the objectives of `lists`, evaluating those not known in one call.
    fn of<E>(&mut self, lists: &[Vec<String>]) -> Result<Objectives, E>
    where
        F: FnMut(&[Vec<String>]) -> Result<Objectives, E>,
    {
        let new: Vec<Vec<String>> =
            lists.iter().filter(|list| !self.known.contains_key(*list)).cloned().collect();
        if !new.is_empty() {
            let objectives = (self.evaluate)(&new)?;
            self.known.extend(new.into_iter().zip(objectives));
        }
        Ok(lists.iter().map(|list| self.known[list]).collect())
    }

    /// Tries `candidates` for the key at index `at`.
    fn step<E>(&mut self, values: &[String], at: usize, candidates: &[String]) -> Result<Tried, E>
    where
        F: FnMut(&[Vec<String>]) -> Result<Objectives, E>,
    {
        let list = |candidate: &String| {
            let mut list = values.to_vec();
            list[at].clone_from(candidate);
            list
        };
        let lists: Vec<Vec<String>> = candidates.iter().map(list).collect();
        let objectives = self.of(&lists)?;
        Ok(Tried(candidates.iter().cloned().zip(objectives).collect()))
    }
}

impl Tried {
    /// Returns the value with the smallest objective; `current` if it is as good.
    fn best(&self, current: &str) -> (String, f64) {
        let objective =
            |(_, objective): &&(String, Option<f64>)| objective.unwrap_or(f64::INFINITY);
        let rank = |tried: &&(String, Option<f64>)| (objective(tried), tried.0 != current);
        let best = self.0.iter().min_by(|a, b| {
            let (a, b) = (rank(a), rank(b));
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
        });
        let best = best.expect("a step tries a value");
        (best.0.clone(), objective(&best))
    }
}

/// The candidates of a key that are still of interest.
enum Bracket {
    Range { low: u64, high: u64 },
    Listed(Vec<String>),
}

impl Bracket {
    fn new(values: &Values) -> Bracket {
        match values {
            Values::Range(low, high) => Bracket::Range { low: *low, high: *high },
            Values::Listed(listed) => Bracket::Listed(listed.clone()),
        }
    }

    /// Returns the distance of evenly spaced values.
    fn distance(low: u64, high: u64) -> u64 {
        (high - low).div_ceil(SPREAD - 1).max(1)
    }

    /// Returns the values of a step: the current one and, of a range, evenly spaced ones.
    fn candidates(&self, current: &str) -> Vec<String> {
        let mut candidates = match self {
            Bracket::Listed(listed) => listed.clone(),
            Bracket::Range { low, high } => {
                let spaced = (*low..*high).step_by(Bracket::distance(*low, *high) as usize);
                spaced.chain([*high]).map(|value| value.to_string()).collect()
            }
        };
        if !candidates.iter().any(|candidate| candidate == current) {
            candidates.push(current.to_owned());
        }
        candidates
    }

    /// Narrows a range to the values around `best`; returns whether any is left to try.
    fn narrow(&mut self, best: &str) -> bool {
        let Bracket::Range { low, high } = self else { return false };
        let distance = Bracket::distance(*low, *high);
        let Ok(best) = best.parse::<u64>() else { return false };
        if distance == 1 {
            return false;
        }
        (*low, *high) = (
            best.saturating_sub(distance - 1).clamp(*low, *high),
            best.saturating_add(distance - 1).clamp(*low, *high),
        );
        *low < *high
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range(key: &str, base: u64, (low, high): (u64, u64)) -> Free {
        let values = Values::Range(low, high);
        Free { key: key.to_owned(), base: base.to_string(), values }
    }

    fn listed(key: &str, base: &str, values: &[&str]) -> Free {
        let values = Values::Listed(values.iter().map(|&value| value.to_owned()).collect());
        Free { key: key.to_owned(), base: base.to_owned(), values }
    }

    /// Searches with an objective; returns the result and the number of evaluations.
    fn search(free: &[Free], of: impl Fn(&[String]) -> Option<f64>) -> (Best, usize) {
        let mut evaluated = 0;
        let mut evaluate = |lists: &[Vec<String>]| {
            evaluated += lists.len();
            Ok::<_, ()>(lists.iter().map(|list| of(list)).collect())
        };
        let best = descend(free, 10, &mut evaluate, &mut |_| {}).unwrap();
        (best, evaluated)
    }

    fn number(text: &str) -> f64 {
        text.parse().unwrap()
    }

    proptest! {
        #[test]
        fn the_minimum_of_a_valley_is_found_exactly(target in 1u64..900, base in 1u64..900) {
            let free = [range("a", base, (1, 900))];
            let (best, evaluated) =
                search(&free, |values| Some((number(&values[0]) - target as f64).abs()));
            prop_assert_eq!(best.values, [target.to_string()]);
            prop_assert!(evaluated < 60, "{}", evaluated);
        }
    }

    #[test]
    fn keys_that_interact_are_found_in_rounds() {
        let free = [range("a", 90, (1, 100)), listed("b", "x", &["x", "y", "z"])];
        let (best, _) = search(&free, |values| {
            let target = if values[1] == "y" { 20.0 } else { 60.0 };
            let cost = if values[1] == "y" { 0.0 } else { 5.0 };
            Some((number(&values[0]) - target).abs() + cost)
        });
        assert_eq!(best.values, ["60", "x"], "a local minimum of each key alone");
        let (best, _) = search(&free, |values| {
            let cost = if values[1] == "y" { 0.0 } else { 5.0 };
            Some((number(&values[0]) - 20.0).abs() + cost)
        });
        assert_eq!((best.values, best.objective), (vec!["20".to_owned(), "y".to_owned()], 0.0));
    }

    #[test]
    fn the_base_stays_where_nothing_is_better() {
        let free = [range("a", 7, (1, 100)), listed("b", "q", &["x", "y"])];
        let (best, _) = search(&free, |_| Some(1.0));
        assert_eq!((best.values, best.rounds), (vec!["7".to_owned(), "q".to_owned()], 1));
        assert_eq!((best.before, best.objective), (1.0, 1.0));
    }

    #[test]
    fn machines_that_are_not_valid_are_passed_over() {
        let free = [range("a", 50, (1, 100))];
        let (best, _) = search(&free, |values| {
            let value = number(&values[0]);
            (value >= 40.0).then_some(value)
        });
        assert_eq!(best.values, ["40"]);
    }

    #[test]
    fn every_step_is_logged_and_the_same_again() {
        let run = || {
            let mut steps = Vec::new();
            let free = [range("a", 9, (1, 16))];
            let mut evaluate = |lists: &[Vec<String>]| {
                Ok::<_, ()>(lists.iter().map(|list| Some(number(&list[0]))).collect())
            };
            descend(&free, 1, &mut evaluate, &mut |step| steps.push(step.clone())).unwrap();
            steps
        };
        let steps = run();
        let tried = |step: &Step| -> Vec<String> {
            step.tried.iter().map(|(value, _)| value.clone()).collect()
        };
        assert_eq!(tried(&steps[0]), ["1", "5", "9", "13", "16"]);
        assert_eq!(tried(&steps[1]), ["1", "2", "3", "4"]);
        assert_eq!((steps[1].round, steps[1].best.as_str(), steps[1].objective), (1, "1", 1.0));
        assert_eq!(steps, run());
    }
}
