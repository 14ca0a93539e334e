//! Which policy is the fastest and which the slowest, in sentences.

use super::standings::{Extreme, Standing, Standings};
use crate::columns::OVERRIDES;
use crate::limits::Shown;
use crate::prose::Prose;
use crate::sections::{Scope, scopes};
use crate::study::Study;
use crate::table::spelled;
use polars::prelude::StringChunked;
use std::cmp::Reverse;
use warpmem_analysis::polars;
use warpmem_text::counted;

/// Means that differ by less are called equal.
const EQUAL: f64 = 0.0005;
/// Policies that are named in a list.
const NAMED: usize = 2;

/// A sentence on all settings if charts do not show all, and a paragraph for each that they show.
pub fn verdicts(
    study: &Study,
    shown: &Shown,
    standings: &Standings,
) -> anyhow::Result<Vec<Prose>> {
    let mut verdicts = Vec::new();
    if shown.settings.len() < study.settings.len() {
        verdicts.push(over_settings(standings)?);
    }
    for scope in scopes(study, shown)? {
        let standings = standings.of_setting(&scope.setting)?;
        if let [fastest, rest @ .., slowest] = standings.as_slice() {
            let words = Words { study, scope: &scope };
            verdicts.push(words.verdict(fastest, rest, slowest));
        }
    }
    Ok(verdicts)
}

/// How often a policy is the fastest, and how often the slowest.
fn over_settings(standings: &Standings) -> anyhow::Result<Prose> {
    let ends = standings.ends()?;
    let settings = counted(ends.height(), "setting");
    let prose = Prose::new(format!("Of {settings}, the fastest is "));
    let prose = most_frequent(prose, ends.column("fastest")?.str()?);
    let prose = most_frequent(prose.words("; the slowest is "), ends.column("slowest")?.str()?);
    Ok(prose.words("."))
}

/// `fr-fcfs in 12, warped-mc in 3`
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
        prose.code(*name).words(format!(" in {count}"))
    })
}

/// What the sentences on a setting need to know.
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
                "all {all} are equally fast: the {} of their IPC over {} differ by less than 0.1 %.",
                self.study.mean_name() + "s",
                counted(fastest.workloads as usize, "workload")
            ));
        }
        let prose = prose.code(&fastest.policy).words(self.is_baseline(fastest));
        let prose = prose.words(format!(" {} of {all}", self.superlative()));
        let prose = match fastest.is_baseline {
            true => self.runner_up(prose, rest.first().unwrap_or(slowest)),
            false => self.with_ties(self.gain(prose.words(": its"), fastest), fastest, rest),
        };
        let prose = prose.words(". ").code(&slowest.policy).words(self.is_baseline(slowest));
        let prose = prose.words(self.inferior());
        let prose = match slowest.is_baseline {
            true => prose,
            false => spread(prose.words(format!(": {}", distance(slowest.mean))), slowest),
        };
        prose.words(".")
    }

    /// `DRAM scheduler`
    fn noun(&self) -> String {
        match self.study.slots.as_slice() {
            [slot] if slot == OVERRIDES => "setting".to_owned(),
            [slot] => spelled(slot),
            _ => "combination of policies".to_owned(),
        }
    }

    fn is_baseline(&self, standing: &Standing) -> &'static str {
        if standing.is_baseline { ", the baseline," } else { "" }
    }

    /// Each policy is compared with its own baseline if that holds other policies equal.
    fn superlative(&self) -> &'static str {
        let is_of_one = self.study.held_slots().next().is_none();
        if is_of_one { "is the fastest" } else { "gains most over its baseline" }
    }

    fn inferior(&self) -> &'static str {
        let is_of_one = self.study.held_slots().next().is_none();
        if is_of_one { " is the slowest" } else { " gains least" }
    }

    /// ` IPC is 1.7 % above that of fr-fcfs in the geometric mean over 8 workloads (…)`
    fn gain(&self, prose: Prose, standing: &Standing) -> Prose {
        let prose = prose.words(format!(" IPC is {} that of ", distance(standing.mean)));
        let prose = prose.code(&self.scope.baseline).words(self.over(standing));
        spread(prose, standing)
    }

    fn over(&self, standing: &Standing) -> String {
        let workloads = counted(standing.workloads as usize, "workload");
        format!(" in the {} over {workloads}", self.study.mean_name())
    }

    fn runner_up(&self, prose: Prose, next: &Standing) -> Prose {
        let prose = prose.words(self.over(next)).words("; next is ").code(&next.policy);
        spread(prose.words(format!(", {}", distance(next.mean))), next)
    }

    /// The policies that are as fast.
    fn with_ties(&self, prose: Prose, fastest: &Standing, rest: &[Standing]) -> Prose {
        let is_tie = |other: &&Standing| fastest.mean - other.mean < EQUAL * fastest.mean;
        let ties: Vec<&str> = rest.iter().filter(is_tie).map(|tie| tie.policy.as_str()).collect();
        match ties.len() {
            0 => prose,
            1..=NAMED => prose.words("; as fast is ").codes(ties),
            more => prose.words(format!("; {more} others are as fast")),
        }
    }
}

/// `1.7 % above`
fn distance(ratio: f64) -> String {
    let percent = 100.0 * (ratio - 1.0);
    let side = if percent < 0.0 { "below" } else { "above" };
    format!("{:.1} % {side}", percent.abs())
}

/// ` (0.981 × on bfs to 1.040 × on gather)`, if there are several workloads.
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
