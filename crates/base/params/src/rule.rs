//! Rules about values, and the error that names an invalid value.

use std::fmt::Display;

/// A value that the model cannot run with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` = {value} is not valid: expected {valid}")]
pub struct Invalid {
    pub key: String,
    pub value: String,
    /// Description of the valid values.
    pub valid: String,
}

/// Refuses `value` of `key` unless the rule `holds`.
///
/// # Errors
/// [`Invalid`] if it does not hold.
pub fn rule(
    holds: bool,
    key: &str,
    value: impl Display + Copy,
    valid: impl Into<String>,
) -> Result<(), Invalid> {
    if holds {
        return Ok(());
    }
    Err(Invalid { key: key.to_owned(), value: value.to_string(), valid: valid.into() })
}

/// Refuses a `value` of `key` that is not a power of two.
///
/// # Errors
/// [`Invalid`] if it is not.
pub fn power_of_two(key: &str, value: u32) -> Result<(), Invalid> {
    rule(value.is_power_of_two(), key, value, "a power of two")
}
