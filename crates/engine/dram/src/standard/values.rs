//! Timing by name, for expressions and presets.

use super::expression::Values;
use crate::Timing;
use toml::{Table, Value};

/// Returns every timing parameter by its key.
pub(super) fn named(timing: &Timing) -> Values {
    integers(timing).map(|(key, value)| (key, value.as_integer().unwrap_or(0))).collect()
}

/// Returns the same times in units of which `factor` make one; values and factor must be those of a
/// checked file.
pub(super) fn scaled(timing: &Timing, factor: u32) -> Timing {
    let scale = |value: Value| Value::from(value.as_integer().unwrap_or(0) * i64::from(factor));
    let table: Table = integers(timing).map(|(key, value)| (key, scale(value))).collect();
    table.try_into().expect("checked times fit 32 bits")
}

fn integers(timing: &Timing) -> impl Iterator<Item = (String, Value)> {
    Table::try_from(timing).expect("numbers are TOML").into_iter()
}
