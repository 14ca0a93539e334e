//! Properties in which runs must agree to be compared.

use std::collections::{BTreeMap, BTreeSet};

use polars::prelude::*;

use crate::error::{Error, Result};
use crate::frame::strings;
use crate::overrides::places;
use crate::parameters::parse_parameters;

/// Columns of `runs` that identify the inputs of a run.
pub(crate) const COLUMNS: [&str; 3] = ["trace_hash", PARAMETERS, "engine_version"];
const PARAMETERS: &str = "parameters";
/// Marks of rows that differ in one of [`COLUMNS`].
const MARKS: [&str; 3] = ["trace", "parameters", "engine"];

/// Returns the columns of [`COLUMNS`] that exist, as text.
pub(crate) fn columns(schema: &Schema) -> Vec<Expr> {
    let present = COLUMNS.into_iter().filter(|column| schema.contains(column));
    present.map(|column| col(column).cast(DataType::String)).collect()
}

/// Removes the policies, which are compared, from the parameters.
pub(crate) fn without_policies(mut runs: DataFrame) -> Result<DataFrame> {
    if !runs.schema().contains(PARAMETERS) {
        return Ok(runs);
    }
    let machine = |text: &str| {
        let unclear = || Error::Parameters { column: PARAMETERS.to_owned(), text: text.to_owned() };
        let mut parameters = parse_parameters(text).ok_or_else(unclear)?;
        parameters.retain(|key, _| !key.starts_with("policy."));
        Ok(serde_json::Value::from(parameters).to_string())
    };
    let texts = runs.column(PARAMETERS)?.str()?;
    let texts = texts.iter().map(|text| text.map(machine).transpose());
    let texts = texts.collect::<Result<Vec<Option<String>>>>()?;
    runs.with_column(Column::new(PARAMETERS.into(), texts))?;
    Ok(runs)
}

/// Describes unexpected differences between runs, one sentence each.
pub(crate) fn differences(runs: &DataFrame) -> Result<Vec<String>> {
    let has = |column: &str| runs.schema().contains(column);
    let mut differences = Vec::new();
    if has("trace_hash") {
        for (trace, hashes) in values_of(strings(runs, "trace")?, strings(runs, "trace_hash")?) {
            differences
                .push(format!("trace `{trace}` has several contents ({})", hashes.join(", ")));
        }
    }
    if has(PARAMETERS) {
        let machines = places(runs, &[])?;
        for (machine, sets) in values_of(machines, strings(runs, PARAMETERS)?) {
            let varied = varied_parameters(&sets);
            differences
                .push(format!("machine `{machine}` has several sets of parameters ({varied})"));
        }
    }
    if has("engine_version") {
        let versions = values_of(vec![(); runs.height()], strings(runs, "engine_version")?);
        differences.extend(
            versions.into_values().map(|of| format!("engine versions are {}", of.join(", "))),
        );
    }
    Ok(differences)
}

/// Returns the values of each key that has several.
fn values_of<K: Ord>(keys: Vec<K>, values: Vec<String>) -> BTreeMap<K, Vec<String>> {
    let mut all: BTreeMap<K, BTreeSet<String>> = BTreeMap::new();
    for (key, value) in keys.into_iter().zip(values) {
        all.entry(key).or_default().insert(value);
    }
    let several = all.into_iter().filter(|(_, values)| values.len() > 1);
    several.map(|(key, values)| (key, values.into_iter().collect())).collect()
}

/// Describes the first few parameters in which the sets differ, with their values in each.
fn varied_parameters(sets: &[String]) -> String {
    const NAMED: usize = 3;
    let sets: Vec<_> = sets.iter().filter_map(|text| parse_parameters(text)).collect();
    let keys: BTreeSet<&String> = sets.iter().flat_map(|set| set.keys()).collect();
    let value =
        |value: Option<&serde_json::Value>| value.map_or("none".to_owned(), |v| v.to_string());
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

/// Computes the column `mixed`: how a run differs from its baseline, whose values are in columns of
/// other names. If overrides are compared, parameters differ on purpose.
pub(crate) fn mark(
    schema: &Schema,
    are_overrides_compared: bool,
    of_baseline: impl Fn(&str) -> String,
) -> Expr {
    let differs = |(column, name): (&str, &str)| {
        let same = col(column).eq_missing(col(of_baseline(column)));
        when(same).then(lit(NULL)).otherwise(lit(name))
    };
    let is_meant = |column: &str| column == PARAMETERS && are_overrides_compared;
    let present = COLUMNS.into_iter().zip(MARKS);
    let present = present.filter(|(column, _)| schema.contains(column) && !is_meant(column));
    let words = concat_str(present.map(differs).collect::<Vec<_>>(), ", ", true);
    when(words.clone().eq(lit(""))).then(lit(NULL)).otherwise(words).alias(MIXED)
}

/// Name of the column that marks rows.
pub(crate) const MIXED: &str = "mixed";
