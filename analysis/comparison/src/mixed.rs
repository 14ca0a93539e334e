//! Properties in which runs must agree to be compared.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::inputs::{INPUTS, Inputs, PARAMETERS, parse_parameters};
use crate::keys::{NONE, trace_of};
use crate::runs::Runs;

/// Marks of rows that differ in one of [`INPUTS`].
const MARKS: [&str; INPUTS.len()] = ["trace", "parameters", "engine"];
/// Name of the column that marks rows.
pub(crate) const MIXED: &str = "mixed";

/// Describes unexpected differences between runs, one sentence each.
pub(crate) fn differences(runs: &Runs) -> Vec<String> {
    let places: Vec<String> = runs.runs.iter().map(|run| runs.keys.place(&run.keys)).collect();
    let (mut traces, mut engines) = (Sets::new(), Sets::new());
    let mut machines = Sets::new();
    for (run, place) in runs.runs.iter().zip(&places) {
        let inputs = run.inputs.each_ref();
        let [hash, parameters, engine] = inputs.map(|input| input.as_deref().unwrap_or(NONE));
        traces.entry(trace_of(&run.keys)).or_default().insert(hash);
        // Variants of a machine differ in parameters on purpose.
        machines.entry((place.as_str(), run.repeat.variant)).or_default().insert(parameters);
        engines.entry("").or_default().insert(engine);
    }
    let of_traces = several(&traces).map(|(trace, hashes)| {
        format!("trace `{trace}` has several contents ({})", joined(hashes))
    });
    let of_machines = several(&machines).map(|((machine, _), sets)| {
        let varied = varied_parameters(sets);
        format!("machine `{machine}` has several sets of parameters ({varied})")
    });
    let of_engines =
        several(&engines).map(|(_, versions)| format!("engine versions are {}", joined(versions)));
    of_traces.chain(of_machines).chain(of_engines).collect()
}

/// The values of each key.
type Sets<'a, K = &'a str> = BTreeMap<K, BTreeSet<&'a str>>;

fn several<'a, K: Copy>(all: &'a Sets<'a, K>) -> impl Iterator<Item = (K, &'a BTreeSet<&'a str>)> {
    all.iter().filter(|(_, values)| values.len() > 1).map(|(key, values)| (*key, values))
}

fn joined(values: &BTreeSet<&str>) -> String {
    values.iter().copied().collect::<Vec<_>>().join(", ")
}

/// Describes the first few parameters in which the sets differ, with their values in each.
fn varied_parameters(sets: &BTreeSet<&str>) -> String {
    const NAMED: usize = 3;
    let sets: Vec<_> = sets.iter().filter_map(|text| parse_parameters(text)).collect();
    let keys: BTreeSet<&String> = sets.iter().flat_map(|set| set.keys()).collect();
    let value = |value: Option<&Value>| value.map_or(NONE.to_owned(), Value::to_string);
    let mut varied = Vec::new();
    for key in keys {
        let values: BTreeSet<String> = sets.iter().map(|set| value(set.get(key))).collect();
        if values.len() > 1 {
            varied.push(format!("{key} {}", values.into_iter().collect::<Vec<_>>().join(" or ")));
        }
    }
    let more = varied.len().saturating_sub(NAMED);
    varied.truncate(NAMED);
    let varied = varied.join(", ");
    if more == 0 { varied } else { format!("{varied} and {more} more") }
}

/// Describes how a run differs from its baseline apart from policies; none if it does not. If
/// overrides are compared, parameters differ on purpose.
pub(crate) fn mark(run: &Inputs, baseline: &Inputs, compares_overrides: bool) -> Option<String> {
    let is_meant = |column: &str| column == PARAMETERS && compares_overrides;
    let differs = |at: &usize| run[*at] != baseline[*at] && !is_meant(INPUTS[*at]);
    let marks: Vec<&str> = (0..INPUTS.len()).filter(differs).map(|at| MARKS[at]).collect();
    (!marks.is_empty()).then(|| marks.join(", "))
}
