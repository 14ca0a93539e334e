//! Free keys: which values a key may take.

use warpmem_machine::{Machine, current_key, flatten};
use warpmem_params::{Kind, Whole, did_you_mean, nearest, parse_whole};

/// A key and its candidate values.
#[derive(Clone, Debug, PartialEq)]
pub struct Free {
    pub key: String,
    /// Value of the base, in the notation of an override.
    pub base: String,
    pub values: Values,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// All whole numbers from the first to the second.
    Range(u64, u64),
    /// These, in no order that the search could use.
    Listed(Vec<String>),
}

/// Reason why a key is not free.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum FreeError {
    #[error("the machine has no key `{key}`{meant}")]
    UnknownKey { key: String, meant: String },
    #[error("`{key}` is free twice")]
    Twice { key: String },
    #[error("`{key}={given}`: {message}")]
    BadRange { key: String, given: String, message: String },
    #[error("`{key}` needs candidates: {example}")]
    NoRange { key: String, example: String },
}

impl Free {
    /// Parses `KEY`, `KEY=MIN..MAX` or `KEY=A|B|C` for a machine. Without candidates a whole number
    /// varies from half to twice its value, and a key with names takes all of them.
    ///
    /// # Errors
    /// If the machine has no such key, or the candidates are not valid.
    pub fn parse(text: &str, machine: &Machine) -> Result<Free, FreeError> {
        let (key, given) = match text.split_once('=') {
            Some((key, given)) => (key.trim(), Some(given.trim())),
            None => (text.trim(), None),
        };
        let key = current_key(key).into_owned();
        let keys = Machine::keys();
        let Some(known) = keys.iter().find(|known| known.path == key) else {
            let ending = format!(".{key}");
            let paths = || keys.iter().map(|known| known.path.as_str());
            let near =
                paths().find(|path| path.ends_with(&ending)).or_else(|| nearest(&key, paths()));
            return Err(FreeError::UnknownKey { meant: did_you_mean(near), key });
        };
        let base = shown(&value_of(machine, &key));
        let kind = known.param.kind;
        let values = match given {
            Some(given) => candidates(given, kind).map_err(|message| FreeError::BadRange {
                key: key.clone(),
                given: given.to_owned(),
                message,
            })?,
            None => default_values(&key, &base, kind)?,
        };
        Ok(Free { key, base, values })
    }

    /// Parses a list of free keys.
    ///
    /// # Errors
    /// As [`Free::parse`], or if a key is repeated.
    pub fn parse_all(texts: &[String], machine: &Machine) -> Result<Vec<Free>, FreeError> {
        let mut all: Vec<Free> = Vec::new();
        for text in texts {
            let free = Free::parse(text, machine)?;
            if all.iter().any(|other| other.key == free.key) {
                return Err(FreeError::Twice { key: free.key });
            }
            all.push(free);
        }
        Ok(all)
    }
}

fn value_of(machine: &Machine, key: &str) -> toml::Value {
    let found = flatten(machine).into_iter().find(|(path, _)| path == key);
    found.map(|(_, value)| value).expect("a machine has every key")
}

/// Returns a value in the notation of an override.
fn shown(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn candidates(given: &str, kind: Kind) -> Result<Values, String> {
    if let Some((min, max)) = given.split_once("..") {
        let Kind::Whole(limits) = kind else {
            return Err("a range is of whole numbers; valid here: `A|B|C`".to_owned());
        };
        let number = |text: &str| parse_whole(text.trim());
        return match (number(min), number(max)) {
            (Some(min), Some(max)) if min < max && limits.contains(min) && limits.contains(max) => {
                Ok(Values::Range(min, max))
            }
            _ => Err(format!("valid: `MIN..MAX` within {} to {}", limits.min, limits.max)),
        };
    }
    let listed: Vec<String> = given.split('|').map(|item| item.trim().to_owned()).collect();
    if listed.iter().any(String::is_empty) {
        return Err("expected `MIN..MAX` or `A|B|C`".to_owned());
    }
    match listed.iter().find(|item| kind.parse(item).is_none()) {
        Some(bad) => Err(format!("`{bad}` is not a value; valid: {}", kind.expected())),
        None => Ok(Values::Listed(listed)),
    }
}

fn default_values(key: &str, base: &str, kind: Kind) -> Result<Values, FreeError> {
    let range = |Whole { min, max }: Whole, base: u64| {
        let (low, high) = ((base / 2).max(min), base.saturating_mul(2).min(max));
        (low < high).then_some(Values::Range(low, high))
    };
    let values = match kind {
        Kind::Whole(limits) => parse_whole(base).and_then(|base| range(limits, base)),
        Kind::Flag => Some(Values::Listed(vec!["false".to_owned(), "true".to_owned()])),
        Kind::Choice(names) => {
            Some(Values::Listed(names().into_iter().map(str::to_owned).collect()))
        }
        _ => None,
    };
    values.ok_or_else(|| {
        let example = match kind {
            Kind::Whole(_) => format!("{key}=MIN..MAX"),
            _ => format!("'{key}=A|B|C'"),
        };
        FreeError::NoRange { key: key.to_owned(), example }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Free, String> {
        let machine = warpmem_machine::load("li2015", &[]).unwrap();
        Free::parse(text, &machine).map_err(|error| error.to_string())
    }

    fn values(text: &str) -> Values {
        parsed(text).unwrap().values
    }

    #[test]
    fn candidates_are_a_range_or_a_list() {
        assert_eq!(values("l1.latency=10..40"), Values::Range(10, 40));
        let listed = |items: &[&str]| Values::Listed(items.iter().map(|&i| i.to_owned()).collect());
        assert_eq!(values("dram.read_queue=32|64|128"), listed(&["32", "64", "128"]));
        assert_eq!(values("l1.enabled"), listed(&["false", "true"]));
        let policy = "policy.dram_scheduler=fcfs|fr-fcfs(banks=overlap)";
        assert_eq!(values(policy), listed(&["fcfs", "fr-fcfs(banks=overlap)"]));
        let latency = parsed("l1.latency").unwrap();
        let base: u64 = latency.base.parse().unwrap();
        assert_eq!(latency.values, Values::Range(base / 2, 2 * base));
    }

    #[test]
    fn keys_that_are_not_free_are_refused() {
        for (text, message) in [
            ("l1.latancy", "the machine has no key `l1.latancy` (did you mean `l1.latency`?)"),
            (
                "read_queue=1..4",
                "the machine has no key `read_queue` (did you mean `dram.read_queue`?)",
            ),
            ("l1.latency=40..10", "`l1.latency=40..10`: valid: `MIN..MAX` within "),
            ("l1.latency=4|x", "`l1.latency=4|x`: `x` is not a value; valid: "),
            ("l1.latency=4|", "`l1.latency=4|`: expected `MIN..MAX` or `A|B|C`"),
            ("l1.enabled=1..2", "`l1.enabled=1..2`: a range is of whole numbers"),
            ("policy.dram_scheduler", "`policy.dram_scheduler` needs candidates: 'policy.dram_sch"),
        ] {
            let refused = parsed(text).unwrap_err();
            assert!(refused.starts_with(message), "{text}: {refused}");
        }
        let machine = warpmem_machine::load("li2015", &[]).unwrap();
        let twice = ["l1.latency".to_owned(), "l1.latency=1..9".to_owned()];
        let refused = Free::parse_all(&twice, &machine).unwrap_err();
        assert_eq!(refused, FreeError::Twice { key: "l1.latency".to_owned() });
    }
}
