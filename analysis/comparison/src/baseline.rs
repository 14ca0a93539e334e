//! Resolves the name of a baseline to a policy among those that ran.

use std::collections::BTreeSet;

use warpmem_support::text::known_parts;

use crate::error::{Error, Result};
use crate::keys::{OVERRIDES, label};
use crate::runs::{Run, Runs};

/// Policies of some of the compared slots: the position of each slot, its name, and the policy.
pub(crate) struct Baseline(Vec<(usize, String, String)>);

/// A compared slot: position, name, and the policies that ran.
type Slot<'a> = (usize, &'a str, BTreeSet<&'a str>);

impl Baseline {
    /// Finds `name`, or each part of it (`value` or `slot=value`, slashes between), among the values
    /// of the compared slots.
    pub(crate) fn resolve(name: &str, runs: &Runs) -> Result<Baseline> {
        let slot = |&position: &usize| -> Slot<'_> {
            let policies = runs.runs.iter().map(|run| label(&run.keys[position]));
            (position, &runs.keys.names()[position], policies.collect())
        };
        let slots: Vec<Slot> = runs.keys.compared().iter().map(slot).collect();
        if let Ok(whole) = find(name.trim(), name, &slots) {
            return Ok(Baseline(vec![whole]));
        }
        let parts = known_parts(name, |part| find(part, name, &slots).is_ok());
        let parts = parts.into_iter().map(|part| find(part, name, &slots));
        Ok(Baseline(parts.collect::<Result<_>>()?))
    }

    /// Returns whether `name` names overrides of some run.
    pub(crate) fn has_overrides(name: &str, runs: &Runs) -> bool {
        let present: BTreeSet<&str> = runs.key(OVERRIDES).into_iter().flatten().collect();
        let is_present = |part: &str| !part.is_empty() && present.contains(part);
        known_parts(name, is_present).into_iter().any(is_present)
    }

    /// Returns whether the baseline names a policy of the slot at this position.
    pub(crate) fn names(&self, slot: usize) -> bool {
        self.0.iter().any(|(named, ..)| *named == slot)
    }

    /// Returns whether a run is one of the baseline's.
    pub(crate) fn is(&self, run: &Run) -> bool {
        self.0.iter().all(|(slot, _, policy)| label(&run.keys[*slot]) == policy)
    }

    /// Returns the named slots, each with its policy.
    pub(crate) fn into_slots(self) -> Vec<(String, String)> {
        self.0.into_iter().map(|(_, slot, policy)| (slot, policy)).collect()
    }

    /// Returns the names of the policies, separated by slashes.
    pub(crate) fn label(&self) -> String {
        self.0.iter().map(|(.., policy)| policy.as_str()).collect::<Vec<_>>().join("/")
    }
}

fn find(part: &str, baseline: &str, slots: &[Slot<'_>]) -> Result<(usize, String, String)> {
    let of_value = |wanted: Option<&str>, value: &str| -> Vec<&Slot<'_>> {
        let named = slots.iter().filter(|(_, slot, _)| wanted.is_none_or(|wanted| wanted == *slot));
        named.filter(|(.., policies)| policies.contains(value)).collect()
    };
    // The `=` may be part of the value: an override, or a policy's parameter.
    let (value, matches) = match (of_value(None, part), part.split_once('=')) {
        (none, Some((slot, value))) if none.is_empty() => (value, of_value(Some(slot), value)),
        (matches, _) => (part, matches),
    };
    let listed = |(_, slot, policies): &Slot<'_>| {
        format!("{slot} ({})", policies.iter().copied().collect::<Vec<_>>().join(", "))
    };
    match matches.as_slice() {
        [(position, slot, _)] => Ok((*position, (*slot).to_owned(), value.to_owned())),
        [] => Err(Error::UnknownBaseline {
            baseline: baseline.to_owned(),
            available: slots.iter().map(listed).collect(),
        }),
        several => Err(Error::AmbiguousBaseline {
            part: part.to_owned(),
            slots: several.iter().map(|(_, slot, _)| (*slot).to_owned()).collect(),
        }),
    }
}
