//! Sentences on a comparison: whether the compared slots can matter, and which policies are best.

use crate::averages::{Averaged, GEOMETRIC, PolicyPair};
use crate::compare::Comparison;
use crate::interval::Verdict;
use crate::leverage::{Leverage, Slot, slots_of};
use crate::load::{BUS, QUEUE, READY_WARPS};
use crate::means::Mean;
use crate::row::Row;

/// Gain under an ideal mode below which a slot hardly matters.
const SMALL_GAIN: f64 = 0.01;
/// Use of the DRAM bus below which DRAM schedulers hardly matter, if the queues are short.
const SMALL_USE: f64 = 0.05;
/// Mean requests in the queues of a channel below which they seldom wait for each other.
const SHORT_QUEUE: f64 = 0.05;
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

    /// Returns sentences on whether the compared slots can matter, one for each machine and slot.
    pub fn leverage_findings(&self) -> Vec<String> {
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
        let on = |place: &String| {
            let of = |leverage: &&Leverage| self.place_of(leverage) == *place;
            let leverages: Vec<&Leverage> = self.leverages.iter().filter(of).collect();
            let on = |slot: &&Slot| self.leverage_on(place, slot, &leverages);
            slots.iter().filter_map(on).collect::<Vec<String>>()
        };
        places.iter().flat_map(on).collect()
    }

    pub(crate) fn place_of(&self, leverage: &Leverage) -> String {
        self.keys.place(&self.rows[leverage.row].keys)
    }

    fn workload_of(&self, leverage: &Leverage) -> &str {
        let row: &Row = &self.rows[leverage.row];
        &row.repeat.workload
    }

    /// Returns a sentence on whether a slot can matter on a machine; none if nothing tells.
    fn leverage_on(&self, place: &str, slot: &Slot, on: &[&Leverage]) -> Option<String> {
        let bound = self.gain_under_ideal(slot, on);
        let is_small = bound.as_ref().is_some_and(|bound| bound.most < SMALL_GAIN);
        let Slot { name, stress, .. } = slot;
        let reason = match (bound, unloaded(slot, on)) {
            (Some(bound), unloaded) if is_small => [Some(bound.text), unloaded]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(", and "),
            (Some(bound), Some(unloaded)) => {
                format!("{unloaded}; without any latency, {}", bound.text)
            }
            (Some(bound), None) => {
                let gain = bound.text;
                return Some(format!(
                    "On {place} {gain}: about the most that the {name} can gain."
                ));
            }
            (None, unloaded) => unloaded?,
        };
        Some(format!("On {place} the {name} can hardly matter: {reason}. {stress}."))
    }

    /// Returns the gain under the ideal mode that bounds a slot; none without such a run.
    fn gain_under_ideal(&self, slot: &Slot, on: &[&Leverage]) -> Option<Gain> {
        let bounds = on.iter().filter_map(|leverage| {
            let (ideal, ratio) = leverage.bound.as_ref()?;
            let is_of_slot = slot.ideals.contains(&ideal.as_str());
            is_of_slot.then(|| (ideal, *ratio, self.workload_of(leverage)))
        });
        let bounds: Vec<(&String, f64, &str)> = bounds.collect();
        let (ideal, most, workload) = *bounds.iter().rev().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let mean = Mean::Geometric.of(bounds.iter().map(|bound| Some(bound.1)))?;
        let of = match bounds.len() {
            1 => String::new(),
            some => {
                format!(" (on {workload}; {} in the mean of {some} workloads)", percent(mean - 1.0))
            }
        };
        let text = match most > 1.0 {
            true => format!("{ideal} raises the IPC by at most {}{of}", percent(most - 1.0)),
            false => format!("{ideal} does not raise the IPC"),
        };
        Some(Gain { most: most - 1.0, text })
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
        if pairs.iter().any(|pair| pair.verdict() == Some(Verdict::Below)) {
            let reason = "the policies ran on different workloads";
            return Some(format!("On {place} {reason}: none is called best."));
        }
        let mut first = [&[best], equal.as_slice()].concat();
        first.sort_unstable();
        let is_all = equal.len() == others.len();
        if !unknown.is_empty() {
            return None;
        }
        let above = pairs.iter().filter(|pair| pair.verdict() == Some(Verdict::Above));
        let above = above.filter_map(|pair| Some(pair.estimate?.ratio));
        let gap = || percent(above.fold(f64::INFINITY, f64::min) - 1.0);
        Some(match (is_all, equal.is_empty()) {
            (true, _) if !self.is_noise_known() => {
                format!("On {place} {} are equal: no table shows a difference.", names(&first))
            }
            (true, _) => {
                format!("On {place} {} are equal within noise: none is best.", names(&first))
            }
            (false, true) => {
                format!("On {place} {} is best, {} above the next.", averaged.policy(best), gap())
            }
            (false, false) => format!(
                "On {place} {} are equal within noise, {} above the next.",
                names(&first),
                gap()
            ),
        })
    }
}

/// The gain of IPC under an ideal mode.
struct Gain {
    /// The largest of the workloads, as a fraction.
    most: f64,
    text: String,
}

/// Returns why a slot hardly matters, from the use of its unit; none if the use does not tell.
fn unloaded(slot: &Slot, on: &[&Leverage]) -> Option<String> {
    match slot.column {
        "dram_scheduler" | "prefetcher" => {
            let used = most_of(on, BUS).filter(|&used| used < SMALL_USE)?;
            let queued = most_of(on, QUEUE);
            let is_empty = queued.is_none_or(|queued| queued < SHORT_QUEUE);
            let queued = queued.map(|queued| format!(" and a channel holds {queued:.2} requests"));
            let queued = queued.unwrap_or_default();
            is_empty.then(|| {
                format!("the DRAM bus is used at most {} of the time{queued}", percent(used))
            })
        }
        "warp_scheduler" => {
            let ready = most_of(on, READY_WARPS).filter(|&ready| ready < FEW_WARPS)?;
            Some(format!("an SM has at most {ready:.2} ready warps in the mean"))
        }
        _ => None,
    }
}

/// Returns the largest value of a measure.
fn most_of(on: &[&Leverage], measure: usize) -> Option<f64> {
    on.iter().filter_map(|leverage| leverage.load[measure]).reduce(f64::max)
}

/// Formats a fraction as a percentage; a positive one never as zero.
fn percent(fraction: f64) -> String {
    match 100.0 * fraction {
        percent if percent > 0.0 && percent < 0.05 => "0.05 %".to_owned(),
        percent => format!("{percent:.1} %"),
    }
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
