//! Sentences on a comparison: whether the compared slots can matter, and which policies are best.

use crate::averages::{Averaged, GEOMETRIC, PolicyPair};
use crate::compare::{Comparison, Row};
use crate::interval::Verdict;
use crate::leverage::{BUS, Leverage, READY_WARPS, Slot, slots_of};
use crate::means::Mean;

/// Gain under an ideal mode below which a slot hardly matters.
const SMALL_GAIN: f64 = 0.01;
/// Use of the DRAM bus below which DRAM schedulers hardly matter, without a bound.
const SMALL_USE: f64 = 0.05;
/// Ready warps of an SM below which warp schedulers seldom choose.
const FEW_WARPS: f64 = 1.0;
/// Most policies named in a sentence.
const MOST_NAMED: usize = 6;
const UNKNOWN: &str = "The noise of the differences is unknown, so no policy is called best; repeats measure it (--repeat 3).";

impl Comparison {
    /// Returns sentences: for each machine, whether the compared slots can matter, then which policies
    /// are best. Policies whose difference is within its 95 % interval are equal, and no winner is named
    /// among them.
    pub fn findings(&self) -> Vec<String> {
        [self.leverage_findings(), self.best_findings()].concat()
    }

    /// Returns sentences on whether the compared slots can matter, one for each machine.
    pub(crate) fn leverage_findings(&self) -> Vec<String> {
        let slots = slots_of(self.slots());
        if slots.is_empty() || self.means.iter().all(|means| means.is_baseline) {
            return Vec::new();
        }
        let mut places: Vec<String> = Vec::new();
        for place in self.leverages.iter().map(|leverage| self.place_of(leverage)) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        let on = |place: String| {
            let of = |leverage: &&Leverage| self.place_of(leverage) == place;
            let leverages: Vec<&Leverage> = self.leverages.iter().filter(of).collect();
            self.leverage_on(&place, &slots, &leverages)
        };
        places.into_iter().filter_map(on).collect()
    }

    pub(crate) fn place_of(&self, leverage: &Leverage) -> String {
        self.keys.place(&self.rows[leverage.row].keys)
    }

    fn workload_of(&self, leverage: &Leverage) -> &str {
        let row: &Row = &self.rows[leverage.row];
        &row.repeat.workload
    }

    fn leverage_on(&self, place: &str, slots: &[&Slot], on: &[&Leverage]) -> Option<String> {
        let names =
            listed(&slots.iter().map(|slot| format!("the {}", slot.name)).collect::<Vec<_>>());
        let stress = slots.iter().map(|slot| slot.stress).collect::<Vec<_>>().join("; ");
        let bounds = on.iter().filter_map(|leverage| {
            let (ideal, ratio) = leverage.bound.as_ref()?;
            Some((ideal, *ratio, self.workload_of(leverage)))
        });
        let Some((ideal, most, workload)) =
            bounds.clone().rev().max_by(|one, other| one.1.total_cmp(&other.1))
        else {
            return unloaded(slots, on).map(|why| {
                format!("On {place} {names} hardly {}: {why}. {}.", matters(slots), begun(&stress))
            });
        };
        let used = most_of(on, BUS).map_or(String::new(), |used| {
            format!(", and the DRAM bus is used at most {} of the time", percent(used))
        });
        let of = if on.len() > 1 { format!(" (on {workload})") } else { String::new() };
        if most < 1.0 + SMALL_GAIN {
            let gain = if most <= 1.0 {
                "does not raise the IPC".to_owned()
            } else {
                format!("raises the IPC by at most {}{of}", percent(most - 1.0))
            };
            return Some(format!(
                "On {place} {names} can hardly matter: {ideal} {gain}{used}. {}.",
                begun(&stress)
            ));
        }
        let mean = Mean::Geometric.of(bounds.map(|(_, ratio, _)| Some(ratio))).unwrap_or(most);
        let mean = match on.len() {
            1 => String::new(),
            some => format!(", and by {} on average of {some} workloads", percent(mean - 1.0)),
        };
        Some(format!(
            "On {place} {ideal} raises the IPC by at most {}{of}{mean}: about the most that {names} can gain.",
            percent(most - 1.0)
        ))
    }

    /// Returns sentences on the best policies, one for each machine.
    fn best_findings(&self) -> Vec<String> {
        let averaged = self.averaged();
        let mut places: Vec<(String, Vec<usize>)> = Vec::new();
        for of in 0..self.means.len() {
            let place = averaged.place(of);
            match places.iter_mut().find(|(known, _)| *known == place) {
                Some((_, policies)) => policies.push(of),
                None => places.push((place, vec![of])),
            }
        }
        places.retain(|(_, policies)| policies.len() > 1);
        let several = places.len();
        let best = |(place, policies): (String, _)| self.best_on(&averaged, &place, policies);
        let mut best: Vec<String> = places.into_iter().filter_map(best).collect();
        if best.len() < several {
            best.push(UNKNOWN.to_owned());
        }
        best
    }

    /// Returns a sentence on the best of several policies on a machine; none if their noise is unknown.
    fn best_on(
        &self,
        averaged: &Averaged<'_>,
        place: &str,
        policies: Vec<usize>,
    ) -> Option<String> {
        let ratio = |of: &usize| self.means[*of].ratios[GEOMETRIC];
        let mut ranked: Vec<usize> =
            policies.into_iter().filter(|of| ratio(of).is_some()).collect();
        let rank = |of: &usize| ratio(of).unwrap_or(0.0);
        ranked.sort_by(|one, other| rank(other).total_cmp(&rank(one)));
        let (&best, others) = ranked.split_first()?;
        let pairs: Vec<PolicyPair> =
            others.iter().map(|&other| averaged.pair(best, other)).collect();
        let with = |verdict: Option<Verdict>| {
            let those = pairs.iter().filter(move |pair| pair.verdict() == verdict);
            those.map(|pair| pair.other).collect::<Vec<usize>>()
        };
        let equal = with(Some(Verdict::Equal));
        let unknown = with(None);
        let names = |of: &[usize]| named(of.iter().map(|&of| averaged.policy(of)));
        let first = [&[best], equal.as_slice()].concat();
        let is_all = equal.len() == others.len();
        if !unknown.is_empty() {
            return None;
        }
        Some(match (is_all, equal.is_empty()) {
            (true, _) if !self.is_noise_known() => {
                format!("On {place} all policies are equal: no table shows a difference.")
            }
            (true, _) => format!(
                "On {place} all {} policies are equal within noise: none is best.",
                first.len()
            ),
            (false, true) => format!("On {place} {} is best.", averaged.policy(best)),
            (false, false) => {
                format!("On {place} {} are equal within noise and above the others.", names(&first))
            }
        })
    }
}

/// Returns why slots hardly matter, from the use of their units; none if the use does not tell.
fn unloaded(slots: &[&Slot], on: &[&Leverage]) -> Option<String> {
    let [slot] = slots else { return None };
    match slot.name {
        "DRAM scheduler" | "prefetcher" => {
            let used = most_of(on, BUS).filter(|&used| used < SMALL_USE)?;
            Some(format!("the DRAM bus is used at most {} of the time", percent(used)))
        }
        "warp scheduler" => {
            let ready = most_of(on, READY_WARPS).filter(|&ready| ready < FEW_WARPS)?;
            Some(format!("an SM has at most {ready:.2} ready warps on average"))
        }
        _ => None,
    }
}

fn matters(slots: &[&Slot]) -> &'static str {
    if slots.len() == 1 { "matters" } else { "matter" }
}

/// Returns the largest value of a measure.
fn most_of(on: &[&Leverage], measure: usize) -> Option<f64> {
    on.iter().filter_map(|leverage| leverage.load[measure]).reduce(f64::max)
}

fn percent(fraction: f64) -> String {
    format!("{:.1} %", 100.0 * fraction)
}

/// Capitalises the first letter of a sentence.
fn begun(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}", first.unwrap_or_default(), letters.as_str())
}

/// Joins names with commas and a final `and`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [name] => name.clone(),
        [names @ .., last] => format!("{} and {last}", names.join(", ")),
    }
}

/// Joins the first few names.
fn named(names: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = names.collect();
    let more = names.len().saturating_sub(MOST_NAMED);
    if more > 0 {
        names.truncate(MOST_NAMED);
        names.push(format!("{more} others"));
    }
    listed(&names)
}
