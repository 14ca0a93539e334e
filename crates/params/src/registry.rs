//! Policies by name. Each slot of the machine has one registry; a policy is one file and one line
//! in its slot's registry. `list`, `--help`, configuration errors and the documentation read from
//! here.

use serde::de::DeserializeOwned;
use std::fmt::Display;

/// One parameter of a policy.
#[derive(Clone, Copy, Debug)]
pub struct ParamInfo {
    pub name: &'static str,
    pub default: &'static str,
    /// Unit of the value, or `-`.
    pub unit: &'static str,
    /// The valid values, as text for people.
    pub range: &'static str,
    pub summary: &'static str,
}

/// The description of a policy.
#[derive(Clone, Copy, Debug)]
pub struct PolicyInfo {
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Paper or simulator the rule comes from.
    pub source: &'static str,
    pub params: &'static [ParamInfo],
}

/// A policy's entry: its description and how to build it from the context `C` of its slot.
pub struct Entry<T: ?Sized + 'static, C: ?Sized + 'static> {
    pub info: PolicyInfo,
    pub build: fn(&C, Params) -> Result<Box<T>, PolicyError>,
}

/// All policies of one slot.
pub struct Registry<T: ?Sized + 'static, C: ?Sized + 'static> {
    /// Name of the slot as in configurations and tables, e.g. `dram_scheduler`.
    pub slot: &'static str,
    pub entries: &'static [Entry<T, C>],
}

/// Why a policy could not be chosen.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum PolicyError {
    #[error("unknown {slot} `{name}`{}; valid: {valid}", did_you_mean(*.nearest))]
    Unknown { slot: &'static str, name: String, nearest: Option<&'static str>, valid: String },
    #[error("malformed policy `{text}`: expected `name` or `name(key=value,...)`")]
    Malformed { text: String },
    #[error("parameters of {slot} `{name}`: {message}")]
    Params { slot: &'static str, name: String, message: String },
    #[error(
        "{slot} `{name}` does not fit the machine: `{key}` = {value} is not valid: expected {valid}"
    )]
    Machine { slot: &'static str, name: String, key: &'static str, value: String, valid: String },
}

/// The suggestion that follows an unknown name in a message.
pub fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|n| format!(" (did you mean `{n}`?)")).unwrap_or_default()
}

/// Slot of an error until the registry fills it in. A policy does not know its slot while it is
/// built.
const UNPLACED: &str = "policy";

/// Parameters given to a policy, still untyped.
#[derive(Clone, Debug, Default)]
pub struct Params(toml::Table);

impl Params {
    /// Reads the parameters into the policy's own struct, which must refuse unknown keys
    /// (`#[serde(default, deny_unknown_fields)]`). The error is a message without context.
    pub fn parse<P: DeserializeOwned>(self, info: &PolicyInfo) -> Result<P, PolicyError> {
        P::deserialize(self.0).map_err(|e| PolicyError::Params {
            slot: UNPLACED,
            name: info.name.to_owned(),
            message: format!("{}; valid: {}", e.message(), list_params(info)),
        })
    }

    /// Refuses any parameter, for policies without parameters.
    pub fn none(self, info: &PolicyInfo) -> Result<(), PolicyError> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(key) => Err(PolicyError::Params {
                slot: UNPLACED,
                name: info.name.to_owned(),
                message: format!("unknown key `{key}`; it takes no parameters"),
            }),
        }
    }
}

impl PolicyInfo {
    /// Refuses a machine that the policy does not fit, unless `holds`: `key` has `value`, and
    /// `valid` says what would fit.
    pub fn fits(
        &self,
        holds: bool,
        key: &'static str,
        value: impl Display,
        valid: impl FnOnce() -> String,
    ) -> Result<(), PolicyError> {
        if holds {
            return Ok(());
        }
        let (name, value) = (self.name.to_owned(), value.to_string());
        Err(PolicyError::Machine { slot: UNPLACED, name, key, value, valid: valid() })
    }

    /// Refuses parameters unless `holds`; `message` says what is wrong.
    pub fn require(&self, holds: bool, message: &str) -> Result<(), PolicyError> {
        if holds {
            return Ok(());
        }
        Err(PolicyError::Params {
            slot: UNPLACED,
            name: self.name.to_owned(),
            message: format!("{message}; valid: {}", list_params(self)),
        })
    }
}

fn list_params(info: &PolicyInfo) -> String {
    let all: Vec<String> =
        info.params.iter().map(|p| format!("{} ({}, {})", p.name, p.unit, p.range)).collect();
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}

/// Splits `name(key=value,...)` into the name and its parameters.
fn split(text: &str) -> Result<(&str, Params), PolicyError> {
    let malformed = || PolicyError::Malformed { text: text.to_owned() };
    let text = text.trim();
    let Some(open) = text.find('(') else { return Ok((text, Params::default())) };
    let inner = text[open + 1..].strip_suffix(')').ok_or_else(malformed)?;
    let mut table = toml::Table::new();
    for pair in inner.split(',').filter(|p| !p.trim().is_empty()) {
        let (key, value) = pair.split_once('=').ok_or_else(malformed)?;
        let (name, key, value) = (text[..open].trim_end(), key.trim(), value.trim());
        let refuse = |message: String| PolicyError::Params {
            slot: UNPLACED,
            name: name.to_owned(),
            message,
        };
        if is_too_large(value) {
            return Err(refuse(format!(
                "`{key}` = {value} is too large: expected at most {LARGEST}"
            )));
        }
        if table.insert(key.to_owned(), parse_value(value)).is_some() {
            return Err(refuse(format!("`{key}` is given twice")));
        }
    }
    Ok((text[..open].trim_end(), Params(table)))
}

/// The name of the policy that `text` (`name` or `name(key=value,...)`) asks for.
pub fn policy_name(text: &str) -> &str {
    text.split('(').next().unwrap_or(text).trim()
}

/// The largest whole number that a parameter takes, 2^40. That is more cycles than any run has, and
/// small enough to be converted to finer units of time without overflow.
const LARGEST: i64 = 1 << 40;

/// Whether a value is a whole number whose magnitude is above [`LARGEST`].
fn is_too_large(value: &str) -> bool {
    let digits = value.trim_start_matches(['-', '+']);
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    is_number && digits.parse::<i64>().map_or(true, |number| number > LARGEST)
}

fn parse_value(text: &str) -> toml::Value {
    if let Ok(n) = text.parse::<i64>() {
        return toml::Value::Integer(n);
    }
    if let Ok(x) = text.parse::<f64>() {
        return toml::Value::Float(x);
    }
    match text {
        "true" => toml::Value::Boolean(true),
        "false" => toml::Value::Boolean(false),
        _ => toml::Value::String(text.to_owned()),
    }
}

impl<T: ?Sized, C: ?Sized> Registry<T, C> {
    /// Builds the policy that `text` (`name` or `name(key=value,...)`) asks for.
    pub fn build(&self, text: &str, context: &C) -> Result<Box<T>, PolicyError> {
        let (name, params) = split(text).map_err(|e| self.in_slot(e))?;
        let entry = self.find(name)?;
        (entry.build)(context, params).map_err(|e| self.in_slot(e))
    }

    /// The entry called `name`.
    pub fn find(&self, name: &str) -> Result<&'static Entry<T, C>, PolicyError> {
        self.entries.iter().find(|e| e.info.name == name).ok_or_else(|| PolicyError::Unknown {
            slot: self.slot,
            name: name.to_owned(),
            nearest: nearest(name, self.names()),
            valid: self.names().collect::<Vec<_>>().join(", "),
        })
    }

    /// Names in registry order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.entries.iter().map(|e| e.info.name)
    }

    /// Descriptions in registry order.
    pub fn infos(&self) -> impl Iterator<Item = &'static PolicyInfo> {
        self.entries.iter().map(|e| &e.info)
    }

    fn in_slot(&self, error: PolicyError) -> PolicyError {
        match error {
            PolicyError::Params { slot: UNPLACED, name, message } => {
                PolicyError::Params { slot: self.slot, name, message }
            }
            PolicyError::Machine { slot: UNPLACED, name, key, value, valid } => {
                PolicyError::Machine { slot: self.slot, name, key, value, valid }
            }
            other => other,
        }
    }
}

/// The candidate closest to `name`, if one is close enough to be a likely misspelling.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .map(|c| (strsim::jaro_winkler(name, c), c))
        .filter(|&(score, _)| score > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, c)| c)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFO: PolicyInfo =
        PolicyInfo { name: "counted", summary: "a number", source: "a test", params: &[] };

    #[derive(Debug, Default, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Options {
        count: i64,
    }

    static REGISTRY: Registry<i64, ()> = Registry {
        slot: "slot",
        entries: &[Entry {
            info: INFO,
            build: |(), params| Ok(Box::new(params.parse::<Options>(&INFO)?.count)),
        }],
    };

    #[test]
    fn numbers_are_taken_up_to_the_largest() {
        let build = |value: &str| REGISTRY.build(&format!("counted(count={value})"), &());
        assert_eq!(build("1099511627776").as_deref(), Ok(&LARGEST));
        assert_eq!(build("-7").as_deref(), Ok(&-7));
        for value in ["1099511627777", "18446744073709551615", "-1099511627777"] {
            let error = build(value).unwrap_err().to_string();
            assert!(error.contains("slot `counted`") && error.contains(value), "{error}");
            assert!(error.contains("at most 1099511627776"), "{error}");
        }
    }

    #[test]
    fn a_parameter_is_given_once() {
        let error = REGISTRY.build("counted(count=1, count=2)", &()).unwrap_err().to_string();
        assert!(error.contains("`count` is given twice"), "{error}");
    }
}
