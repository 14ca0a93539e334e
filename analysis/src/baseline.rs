//! Resolves the name of a baseline to a policy among those that ran.

use polars::prelude::*;
use std::collections::HashSet;
use warpmem_support::text::known_parts;

use crate::error::{Error, Result};
use crate::frame::{NONE, labels, strings};
use crate::overrides::OVERRIDES;

/// Policies of some of the varied slots.
pub(crate) struct Baseline {
    parts: Vec<(String, String)>,
}

impl Baseline {
    /// Finds `name`, or each part of it (`value` or `slot=value`, slashes between), among the values of
    /// `slots` in `runs`.
    pub(crate) fn resolve(name: &str, runs: &DataFrame, slots: &[String]) -> Result<Baseline> {
        let mut values = Vec::new();
        for slot in slots {
            let mut present = labels(runs, std::slice::from_ref(slot))?;
            present.sort();
            present.dedup();
            values.push((slot.as_str(), present));
        }
        if let Ok(whole) = find(name.trim(), name, &values) {
            return Ok(Baseline { parts: vec![whole] });
        }
        let parts = known_parts(name, |part| find(part, name, &values).is_ok());
        let parts = parts.into_iter().map(|part| find(part, name, &values));
        Ok(Baseline { parts: parts.collect::<Result<_>>()? })
    }

    /// Returns whether `name` names overrides of some run.
    pub(crate) fn has_overrides(name: &str, runs: &DataFrame) -> Result<bool> {
        if !runs.schema().contains(OVERRIDES) {
            return Ok(false);
        }
        let present: HashSet<String> = strings(runs, OVERRIDES)?.into_iter().collect();
        let is_present = |part: &str| !part.is_empty() && present.contains(part);
        Ok(known_parts(name, is_present).into_iter().any(is_present))
    }

    pub(crate) fn names(&self, slot: &str) -> bool {
        self.parts.iter().any(|(named, _)| named == slot)
    }

    /// Returns an expression that is true for the baseline's runs.
    pub(crate) fn predicate(&self) -> Expr {
        let value = |slot: &str, label: &str| match label {
            NONE if slot == OVERRIDES => lit(""),
            label => lit(label),
        };
        let equal = self.parts.iter().map(|(slot, label)| col(slot).eq(value(slot, label)));
        equal.fold(lit(true), Expr::and)
    }

    /// Returns the named slots, each with its policy.
    pub(crate) fn into_slots(self) -> Vec<(String, String)> {
        self.parts
    }

    pub(crate) fn label(&self) -> String {
        self.parts.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join("/")
    }
}

fn find(part: &str, baseline: &str, values: &[(&str, Vec<String>)]) -> Result<(String, String)> {
    let of_value = |wanted: Option<&str>, value: &str| -> Vec<&str> {
        let named = values.iter().filter(|(slot, _)| wanted.is_none_or(|wanted| wanted == *slot));
        let holding = named.filter(|(_, present)| present.iter().any(|name| name == value));
        holding.map(|(slot, _)| *slot).collect()
    };
    // The `=` may be part of the value: an override, or a policy's parameter.
    let (value, matches) = match (of_value(None, part), part.split_once('=')) {
        (none, Some((slot, value))) if none.is_empty() => (value, of_value(Some(slot), value)),
        (matches, _) => (part, matches),
    };
    match matches.as_slice() {
        [slot] => Ok(((*slot).to_owned(), value.to_owned())),
        [] => Err(Error::UnknownBaseline {
            baseline: baseline.to_owned(),
            available: values
                .iter()
                .map(|(slot, present)| format!("{slot} ({})", present.join(", ")))
                .collect(),
        }),
        several => Err(Error::AmbiguousBaseline {
            part: part.to_owned(),
            slots: several.iter().map(|slot| (*slot).to_owned()).collect(),
        }),
    }
}
