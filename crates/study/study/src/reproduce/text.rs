//! Numbers and strings of descriptions, as text.

use serde::Deserialize;
use std::collections::BTreeMap;

/// Deserializes numbers and strings as text.
pub(super) fn texts<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Value {
        Whole(u64),
        Decimal(f64),
        Text(String),
    }
    let text = |value| match value {
        Value::Whole(number) => number.to_string(),
        Value::Decimal(number) => number.to_string(),
        Value::Text(text) => text,
    };
    Ok(Vec::<Value>::deserialize(from)?.into_iter().map(text).collect())
}

/// Deserializes a table of numbers and strings as text.
pub(super) fn text_values<'de, D: serde::Deserializer<'de>>(
    from: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    let values = BTreeMap::<String, toml::Value>::deserialize(from)?;
    let text = |value: toml::Value| match value {
        toml::Value::String(text) => text,
        other => other.to_string(),
    };
    Ok(values.into_iter().map(|(name, value)| (name, text(value))).collect())
}
