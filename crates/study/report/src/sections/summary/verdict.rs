//! Sentences on the fastest and the slowest policy.

use super::standings::{Extreme, Standing, Standings};
use crate::columns::OVERRIDES;
use crate::limits::Shown;
use crate::prose::Prose;
use crate::sections::{Scope, scopes};
use crate::study::Study;
use crate::table::spelled;
use polars::prelude::{DataFrame, StringChunked};
use std::cmp::Reverse;
use warpmem_analysis::polars;
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
        let ends = standings.ends()?;
        return match ends.height() {
            0 => Ok(Vec::new()),
            _ => Ok(vec![over_settings(&ends)?, largest(study, standings)?]),
        };
    }
    let mut verdicts = Vec::new();
    for scope in scopes(study, shown)? {
        let standings = standings.of_setting(&scope.setting)?;
        if let [fastest, rest @ .., slowest] = standings.as_slice() {
            let words = Words { study, scope: &scope };
            verdicts.push(words.verdict(fastest, rest, slowest));
        }
    }
    Ok(verdicts)
}

/// States the means farthest above and below the baseline's.
fn largest(study: &Study, standings: &Standings) -> anyhow::Result<Prose> {
    let baseline = study.baseline();
    let prose = match standings.greatest()? {
        Some((setting, most)) if most.mean > 1.0 => {
            let prose =
                Prose::new("The largest gain is that of ").answer(&most.policy).words(" with ");
            let prose = prose.code(setting).words(format!(": {} ", distance(most.mean)));
            let over = over(study, &most);
            spread(prose.code(baseline).words(over), &most).words(". ")
        }
        _ => Prose::new("No policy is faster than the baseline, ").code(baseline).words(". "),
    };
    Ok(match standings.least()? {
        Some((setting, least)) if least.mean < 1.0 => {
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

/// Counts how often a policy is the fastest, and how often the slowest.
fn over_settings(ends: &DataFrame) -> anyhow::Result<Prose> {
    let settings = counted(ends.height(), "setting");
    let prose = Prose::new(format!("Of {settings}, the fastest is "));
    let prose = most_frequent(prose, ends.column("fastest")?.str()?);
    let prose = most_frequent(prose.words("; the slowest is "), ends.column("slowest")?.str()?);
    Ok(prose.words("."))
}

/// Appends `fr-fcfs in 12, warped-mc in 3`.
fn most_frequent(prose: Prose, names: &StringChunked) -> Prose {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for name in names.iter().flatten() {
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    counts.sort_by_key(|(_, count)| Reverse(*count));
    counts.iter().take(NAMED).enumerate().fold(prose, |prose, (at, (name, count))| {
        let prose = if at > 0 { prose.words(", ") } else { prose };
        let prose = prose.code(*name);
        let is_all = *count == names.len();
        if is_all { prose.words(" in all") } else { prose.words(format!(" in {count}")) }
    })
}

/// Facts for the sentences on a setting.
struct Words<'a> {
    study: &'a Study,
    scope: &'a Scope,
}

impl Words<'_> {
    fn verdict(&self, fastest: &Standing, rest: &[Standing], slowest: &Standing) -> Prose {
        let prose = match self.study.settings.len() {
            1 => Prose::default(),
            _ => Prose::new("On ").code(&self.scope.setting).words(": "),
        };
        let all = counted(rest.len() + 2, &self.noun());
        if fastest.mean - slowest.mean < EQUAL * fastest.mean {
            return prose.words(format!(
                "the {all} are equally fast: the {}s of their IPC over {} differ by less than 0.1 %.",
                self.study.mean_name(),
                counted(fastest.workloads as usize, "workload")
            ));
        }
        let prose = prose.answer(&fastest.policy).words(is_baseline(fastest));
        let prose = prose.words(format!(" {} of {all}", self.superlative()));
        let prose = match (fastest.is_baseline, rest) {
            (true, []) => prose.words(over(self.study, slowest)),
            (true, [next, ..]) => self.runner_up(prose, next),
            (false, _) => self.with_ties(self.gain(prose.words(": its"), fastest), fastest, rest),
        };
        let prose = prose.words(". ").answer(&slowest.policy).words(is_baseline(slowest));
        let prose = prose.words(self.inferior());
        let prose = match slowest.is_baseline {
            true => prose,
            false => spread(prose.words(format!(": {}", distance(slowest.mean))), slowest),
        };
        prose.words(".")
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

    /// Appends ` IPC is 1.7 % above that of fr-fcfs in the geometric mean over 8 workloads (…)`.
    fn gain(&self, prose: Prose, standing: &Standing) -> Prose {
        let prose = prose.words(format!(" IPC is {} that of ", distance(standing.mean)));
        let prose = prose.code(&self.scope.baseline).words(over(self.study, standing));
        spread(prose, standing)
    }

    fn runner_up(&self, prose: Prose, next: &Standing) -> Prose {
        let prose = prose.words(over(self.study, next)).words("; next is ").code(&next.policy);
        spread(prose.words(format!(", {}", distance(next.mean))), next)
    }

    /// Appends the policies that tie with the fastest.
    fn with_ties(&self, prose: Prose, fastest: &Standing, rest: &[Standing]) -> Prose {
        let is_tie = |other: &&Standing| fastest.mean - other.mean < EQUAL * fastest.mean;
        let ties: Vec<&str> = rest.iter().filter(is_tie).map(|tie| tie.policy.as_str()).collect();
        match ties.len() {
            0 => prose,
            1..=NAMED => prose.words("; within 0.1 % of it: ").codes(ties),
            more => prose.words(format!("; {more} others are within 0.1 % of it")),
        }
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
