//! Which policy, among those that were run, a baseline's name means.

use polars::prelude::*;

use crate::error::{Error, Result};
use crate::frame::strings;

/// Policies of some of the varied slots.
pub(crate) struct Baseline {
    parts: Vec<(String, String)>,
}

impl Baseline {
    /// Finds each part of `name` (`value` or `slot=value`, slashes between) among the values of
    /// `slots` in `runs`.
    pub(crate) fn resolve(name: &str, runs: &DataFrame, slots: &[String]) -> Result<Baseline> {
        let mut values = Vec::new();
        for slot in slots {
            let mut present = strings(runs, slot)?;
            present.sort();
            present.dedup();
            values.push((slot.as_str(), present));
        }
        let parts = name.split('/').map(|part| find(part.trim(), name, &values));
        Ok(Baseline { parts: parts.collect::<Result<_>>()? })
    }

    pub(crate) fn names(&self, slot: &str) -> bool {
        self.parts.iter().any(|(named, _)| named == slot)
    }

    /// Holds for the baseline's runs.
    pub(crate) fn predicate(&self) -> Expr {
        let equal = self.parts.iter().map(|(slot, value)| col(slot).eq(lit(value.as_str())));
        equal.fold(lit(true), Expr::and)
    }

    pub(crate) fn label(&self) -> String {
        self.parts.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join("/")
    }
}

fn find(part: &str, baseline: &str, values: &[(&str, Vec<String>)]) -> Result<(String, String)> {
    let (wanted, value) = match part.split_once('=') {
        Some((slot, value)) => (Some(slot), value),
        None => (None, part),
    };
    let matches = values.iter().filter(|(slot, present)| {
        wanted.is_none_or(|wanted| wanted == *slot) && present.iter().any(|name| name == value)
    });
    let matches: Vec<&str> = matches.map(|(slot, _)| *slot).collect();
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
