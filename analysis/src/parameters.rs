//! The machine parameters in which runs differ, as columns.

use std::collections::BTreeSet;

use polars::prelude::*;
use serde_json::{Map, Value};
use warpmem_comparison::Error as RunsError;

use crate::error::Result;

/// A run's parameters by their dotted names.
type Parameters = Map<String, Value>;

/// Adds a column, under its dotted name, for each machine parameter that some run of `runs`
/// overrides (`overrides`, `key=value` pairs separated by semicolons) and that differs between
/// runs. Whole numbers become integers, other numbers floats, true and false booleans, everything
/// else text.
///
/// The values come from `parameters`, which also contains the machine's own values; without this
/// column, from `overrides`, or null. `runs` is read immediately, because the varying parameters
/// determine the columns.
///
/// ```
/// use warpmem_analysis::{parameters, polars::{df, prelude::IntoLazy}, table_to_csv};
///
/// let runs = df!(
///     "overrides" => ["", "dram.read_queue=32"],
///     "parameters" => [r#"{"dram.read_queue":64,"l1.ways":4}"#, r#"{"dram.read_queue":32,"l1.ways":4}"#],
///     "ipc_thread" => [8.0, 6.0],
/// )?;
/// let table = parameters(runs.lazy())?.collect()?.drop("parameters")?;
/// assert_eq!(
///     table_to_csv(&table)?,
///     "overrides,ipc_thread,dram.read_queue\n,8.0,64\ndram.read_queue=32,6.0,32\n"
/// );
/// # Ok::<(), warpmem_analysis::Error>(())
/// ```
///
/// # Errors
/// If `overrides` or `parameters` cannot be parsed.
pub fn parameters(runs: LazyFrame) -> Result<LazyFrame> {
    let runs = runs.collect()?;
    let overrides = parsed(&runs, "overrides", parse_overrides)?;
    let keys: BTreeSet<&String> = overrides.iter().flat_map(Map::keys).collect();
    let all = parsed(&runs, "parameters", parse_parameters)?;
    let of_run = if runs.schema().contains("parameters") { &all } else { &overrides };
    let mut columns = Vec::new();
    for key in keys {
        let values: Vec<Option<&Value>> = of_run.iter().map(|run| run.get(key)).collect();
        let is_varied = values.iter().any(|value| *value != values[0]);
        if is_varied && !runs.schema().contains(key) {
            columns.push(typed(key, &values));
        }
    }
    Ok(runs.hstack(&columns)?.lazy())
}

/// Parses a text column as parameters; none if the column does not exist.
fn parsed(
    runs: &DataFrame,
    column: &str,
    parse: impl Fn(&str) -> Option<Parameters>,
) -> Result<Vec<Parameters>> {
    if !runs.schema().contains(column) {
        return Ok(vec![Parameters::new(); runs.height()]);
    }
    let parse = |text: Option<&str>| {
        let text = text.unwrap_or_default();
        let unclear = || RunsError::Parameters { column: column.to_owned(), text: text.to_owned() };
        match text.is_empty() {
            true => Ok(Parameters::new()),
            false => Ok(parse(text).ok_or_else(unclear)?),
        }
    };
    runs.column(column)?.str()?.iter().map(parse).collect()
}

fn parse_parameters(text: &str) -> Option<Parameters> {
    serde_json::from_str(text).ok()
}

/// Parses overrides; values that read as numbers or booleans become such, others text.
fn parse_overrides(text: &str) -> Option<Parameters> {
    let value = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
    let pair = |part: &str| {
        let (key, text) = part.split_once('=')?;
        Some((key.trim().to_owned(), value(text.trim())))
    };
    text.split(';').filter(|part| !part.trim().is_empty()).map(pair).collect()
}

fn typed(name: &str, values: &[Option<&Value>]) -> Column {
    let are = |test: fn(&Value) -> bool| values.iter().flatten().all(|value| test(value));
    let name = name.into();
    if are(Value::is_i64) {
        Column::new(name, each(values, Value::as_i64))
    } else if are(Value::is_number) {
        Column::new(name, each(values, Value::as_f64))
    } else if are(Value::is_boolean) {
        Column::new(name, each(values, Value::as_bool))
    } else {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Column::new(name, each(values, |value| Some(text(value))))
    }
}

fn each<T>(values: &[Option<&Value>], get: impl Fn(&Value) -> Option<T>) -> Vec<Option<T>> {
    values.iter().map(|value| value.and_then(&get)).collect()
}
