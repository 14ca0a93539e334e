//! Sentences on the fastest and the slowest policy.

use super::standings::{Extreme, Standing, Standings};
use crate::columns::OVERRIDES;
use crate::limits::Shown;
use crate::prose::Prose;
use crate::sections::{Scope, scopes};
use crate::study::Study;
use crate::table::spelled;
use std::cmp::Reverse;
use warpmem_support::text::counted;

/// Smallest difference between means that are not called equal.
const EQUAL: f64 = 0.001;
/// Largest number of settings with a paragraph each.
const FEW: usize = 2;
/// Number of policies named in a list.
const NAMED: usize = 2;

/// Composes a paragraph for each setting if there are few; otherwise counts how often each policy
/// is the fastest and the slowest, and states the settings with the largest gain and the largest
/// loss.
pub fn verdicts(study: &Study, shown: &Shown, standings: &Standings) -> anyhow::Result<Vec<Prose>> {
    if study.settings.len() > FEW {
        let ends = ends(study, standings)?;
        return match ends.as_slice() {
            [] => Ok(Vec::new()),
            ends => Ok(vec![over_settings(ends), largest(study, standings)?]),
        };
    }
    let mut verdicts = Vec::new();
    for scope in scopes(study, shown)? {
        let standings = standings.of_setting(&scope.setting)?;
        verdicts.extend(Words { study, scope: &scope }.verdict(&standings));
    }
    Ok(verdicts)
}

/// States the means farthest above and below the baseline's.
fn largest(study: &Study, standings: &Standings) -> anyhow::Result<Prose> {
    let baseline = study.baseline();
    let prose = match standings.greatest()? {
        Some((setting, most)) if most.mean > 1.0 + EQUAL && !includes_one(&most) => {
            let prose =
                Prose::new("The largest gain is that of ").answer(&most.policy).words(" with ");
            let prose = prose.code(setting).words(format!(": {} ", distance(most.mean)));
            let over = over(study, &most);
            spread(prose.code(baseline).words(over), &most).words(". ")
        }
        _ => Prose::new("No policy is faster than the baseline, ").code(baseline).words(". "),
    };
    Ok(match standings.least()? {
        Some((setting, least)) if least.mean < 1.0 - EQUAL && !includes_one(&least) => {
            let prose =
                prose.words("The largest loss is that of ").answer(&least.policy).words(" with ");
            let prose = prose.code(setting).words(format!(": {}", distance(least.mean)));
            spread(prose, &least).words(".")
        }
        _ => prose.words("No policy is slower."),
    })
}

/// Formats ` in the geometric mean over 8 workloads`.
fn over(study: &Study, standing: &Standing) -> String {
    let workloads = counted(standing.workloads as usize, "workload");
    format!(" in the {} over {workloads}", study.mean_name())
}

/// Returns whether the mean may equal that of the baseline.
fn includes_one(standing: &Standing) -> bool {
    standing.interval.is_some_and(|[low, high]| low <= 1.0 && 1.0 <= high)
}

/// The fastest and the slowest policy of a setting; none where several are equal.
struct Ends {
    fastest: Option<String>,
    slowest: Option<String>,
}

/// Returns the ends of each setting that has several policies.
fn ends(study: &Study, standings: &Standings) -> anyhow::Result<Vec<Ends>> {
    let mut ends = Vec::new();
    for setting in &study.settings {
        let standings = standings.of_setting(setting)?;
        if let [first, second, ..] = standings.as_slice() {
            let (last, before) = (&standings[standings.len() - 1], &standings[standings.len() - 2]);
            let own = |end: &Standing, next: &Standing| {
                (!is_equal(end, next)).then(|| end.policy.clone())
            };
            ends.push(Ends { fastest: own(first, second), slowest: own(last, before) });
        }
    }
    Ok(ends)
}

/// Counts how often a policy is the fastest, and how often the slowest.
fn over_settings(ends: &[Ends]) -> Prose {
    let prose = Prose::new(format!("Of {}, the fastest is ", counted(ends.len(), "setting")));
    let prose = most_frequent(prose, ends, |ends| ends.fastest.as_deref());
    let prose = prose.words("; the slowest is ");
    most_frequent(prose, ends, |ends| ends.slowest.as_deref()).words(".")
}

/// Appends `fr-fcfs in 12, warped-mc in 3, none in 2`.
fn most_frequent(prose: Prose, ends: &[Ends], end: impl Fn(&Ends) -> Option<&str>) -> Prose {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for name in ends.iter().filter_map(&end) {
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    counts.sort_by_key(|(_, count)| Reverse(*count));
    let equal = ends.iter().filter(|ends| end(ends).is_none()).count();
    let in_some = |count: usize| {
        if count == ends.len() { " in all".to_owned() } else { format!(" in {count}") }
    };
    let named = counts.iter().take(NAMED).enumerate().fold(prose, |prose, (at, (name, count))| {
        let prose = if at > 0 { prose.words(", ") } else { prose };
        prose.code(*name).words(in_some(*count))
    });
    match (equal, counts.is_empty()) {
        (0, _) => named,
        (equal, is_first) => {
            let between = if is_first { "" } else { ", " };
            named.words(format!("{between}none{}, where several are equal", in_some(equal)))
        }
    }
}

/// Facts for the sentences on a setting.
struct Words<'a> {
    study: &'a Study,
    scope: &'a Scope,
}

impl Words<'_> {
    fn verdict(&self, standings: &[Standing]) -> Option<Prose> {
        let [fastest, rest @ .., slowest] = standings else { return None };
        let prose = match self.study.settings.len() {
            1 => Prose::default(),
            _ => Prose::new("On ").code(&self.scope.setting).words(": "),
        };
        let all = counted(standings.len(), &self.noun());
        let ties = ties(fastest, &standings[1..]);
        if ties.len() == standings.len() - 1 {
            let over = over(self.study, fastest);
            let the = if self.study.settings.len() == 1 { "The" } else { "the" };
            return Some(
                prose.words(format!("{the} {all} are equally fast{over}: {}.", why(standings))),
            );
        }
        let prose = match (ties.as_slice(), fastest.is_baseline) {
            ([], true) => {
                let prose = self.named(prose, fastest, &all);
                self.runner_up(prose, rest.first().unwrap_or(slowest))
            }
            ([], false) => self.gain(self.named(prose, fastest, &all).words(": its IPC"), fastest),
            (ties, _) => self.tied(prose, fastest, ties),
        };
        let others = &standings[..standings.len() - 1];
        let is_tied = others.iter().any(|other| is_equal(other, slowest));
        let prose = if is_tied { prose } else { self.last(prose, slowest) };
        Some(prose.words("."))
    }

    /// Appends `fr-fcfs is the fastest of 7 DRAM schedulers`.
    fn named(&self, prose: Prose, fastest: &Standing, all: &str) -> Prose {
        let prose = prose.answer(&fastest.policy).words(is_baseline(fastest));
        prose.words(format!(" {} of {all}", self.superlative()))
    }

    /// Appends that no policy is the fastest, because some are equal.
    fn tied(&self, prose: Prose, fastest: &Standing, ties: &[&Standing]) -> Prose {
        let none = format!("No {} {}: ", self.noun(), self.superlative());
        let prose = prose.words(none).code(&fastest.policy);
        let prose = match ties.len() {
            1..=NAMED => {
                ties.iter().fold(prose, |prose, tie| prose.words(" and ").code(&tie.policy))
            }
            more => prose.words(format!(" and {more} others")),
        };
        let all: Vec<Standing> =
            [fastest].into_iter().chain(ties.iter().copied()).cloned().collect();
        let prose = prose.words(format!(" are equal ({})", why(&all)));
        match fastest.is_baseline {
            true => prose,
            false => self.gain(prose.words("; the IPC of the first"), fastest),
        }
    }

    /// Appends the slowest policy.
    fn last(&self, prose: Prose, slowest: &Standing) -> Prose {
        let prose = prose.words(". ").answer(&slowest.policy).words(is_baseline(slowest));
        let prose = prose.words(self.inferior());
        match slowest.is_baseline {
            true => prose,
            false => spread(prose.words(format!(": {}", distance(slowest.mean))), slowest),
        }
    }

    /// Returns the noun of the slot: `DRAM scheduler`.
    fn noun(&self) -> String {
        match self.study.slots.as_slice() {
            [slot] if slot == OVERRIDES => "setting".to_owned(),
            [slot] => spelled(slot),
            _ => "policy combination".to_owned(),
        }
    }

    /// Returns the superlative; each policy is compared with its own baseline if that holds other
    /// policies equal.
    fn superlative(&self) -> &'static str {
        let is_of_one = self.study.held_slots().next().is_none();
        if is_of_one { "is the fastest" } else { "gains most over its own baseline" }
    }

    fn inferior(&self) -> &'static str {
        let is_of_one = self.study.held_slots().next().is_none();
        if is_of_one { " is the slowest" } else { " gains least" }
    }

    /// Appends ` is 1.7 % above that of fr-fcfs in the geometric mean over 8 workloads (…)`.
    fn gain(&self, prose: Prose, standing: &Standing) -> Prose {
        let prose = prose.words(format!(" is {} that of ", distance(standing.mean)));
        let prose = prose.code(&self.scope.baseline).words(over(self.study, standing));
        spread(prose, standing)
    }

    fn runner_up(&self, prose: Prose, next: &Standing) -> Prose {
        let prose = prose.words(over(self.study, next)).words("; next is ").code(&next.policy);
        spread(prose.words(format!(", {}", distance(next.mean))), next)
    }
}

/// Returns the policies that equal the fastest.
fn ties<'a>(fastest: &Standing, rest: &'a [Standing]) -> Vec<&'a Standing> {
    rest.iter().filter(|other| is_equal(fastest, other)).collect()
}

/// Returns whether two policies count as equal: their means differ by less than 0.1 %, or the 95 % interval of
/// their ratio includes 1.
fn is_equal(one: &Standing, other: &Standing) -> bool {
    let is_near = (one.mean - other.mean).abs() < EQUAL * one.mean.max(other.mean);
    is_near || one.equal.contains(&other.policy)
}

/// Explains why these policies are equal.
fn why(standings: &[Standing]) -> &'static str {
    let means = || standings.iter().map(|standing| standing.mean);
    let (least, most) = (means().fold(f64::MAX, f64::min), means().fold(0.0, f64::max));
    match most - least < EQUAL * most {
        true => "their means differ by less than 0.1 %",
        false => "the 95 % intervals of their ratios include 1",
    }
}

fn is_baseline(standing: &Standing) -> &'static str {
    if standing.is_baseline { ", the baseline," } else { "" }
}

/// Formats a ratio as a distance: `1.7 % above`.
fn distance(ratio: f64) -> String {
    let percent = 100.0 * (ratio - 1.0);
    let side = if percent < 0.0 { "below" } else { "above" };
    format!("{:.1} % {side}", percent.abs())
}

/// Appends ` (0.981 × on bfs to 1.040 × on gather)`, if there are several workloads.
fn spread(prose: Prose, standing: &Standing) -> Prose {
    if standing.workloads < 2 {
        return prose;
    }
    let extreme = |prose: Prose, Extreme { ratio, trace }: &Extreme| {
        prose.words(format!("{ratio:.3} × on ")).code(trace)
    };
    let prose = extreme(prose.words(" ("), &standing.least).words(" to ");
    extreme(prose, &standing.greatest).words(")")
}
