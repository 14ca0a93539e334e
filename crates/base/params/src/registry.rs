//! Policies by name. Each slot of the machine has one registry, and a policy is one file and one
//! line of its registry. `list`, `--help`, configuration errors and documentation are generated
//! from it. A program may add policies of its own before it first reads the registry.

use crate::{Given, Invalid, Param};
use std::fmt::Display;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The description of a policy.
#[derive(Clone, Copy, Debug)]
pub struct PolicyInfo {
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Paper or simulator that defines the rule.
    pub source: &'static str,
    /// Descriptions of its parameters, declared by `params!`; `Vec::new` without parameters.
    pub params: fn() -> Vec<Param>,
}

/// An entry of a registry: the description of a policy and its constructor for the context `C` of
/// its slot.
pub struct Entry<T: ?Sized + 'static, C: ?Sized + 'static> {
    pub info: PolicyInfo,
    /// The constructor; its arguments are valid values of the parameters in `info`.
    pub build: fn(&C, &Given) -> Result<Box<T>, PolicyError>,
}

/// A policy chosen by name, with valid values of its parameters. It builds any number of times.
pub struct Chosen<T: ?Sized + 'static, C: ?Sized + 'static> {
    slot: &'static str,
    entry: &'static Entry<T, C>,
    given: Given,
}

impl<T: ?Sized, C: ?Sized> Clone for Chosen<T, C> {
    fn clone(&self) -> Self {
        Chosen { slot: self.slot, entry: self.entry, given: self.given.clone() }
    }
}

impl<T: ?Sized, C: ?Sized> Chosen<T, C> {
    /// Builds the policy for `context`.
    ///
    /// # Errors
    /// [`PolicyError::Params`] if its parameters contradict each other, [`PolicyError::Machine`] if
    /// it does not fit the machine.
    pub fn build(&self, context: &C) -> Result<Box<T>, PolicyError> {
        (self.entry.build)(context, &self.given).map_err(|error| error.in_slot(self.slot))
    }
}

/// All policies of one slot: those built in, and those that the program adds.
pub struct Registry<T: ?Sized + 'static, C: ?Sized + 'static> {
    /// Name of the slot in configurations and tables: `dram_scheduler`.
    pub slot: &'static str,
    built_in: &'static [Entry<T, C>],
    /// Added policies; none once the registry has been read.
    added: Mutex<Option<Vec<&'static Entry<T, C>>>>,
    /// All policies, from the first reading on.
    all: OnceLock<Vec<&'static Entry<T, C>>>,
}

/// Why a policy could not be added.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum AddError {
    #[error(
        "{slot} `{name}` cannot be added: its name is not valid: expected lower-case letters, digits and dashes, and not `{ALL}`"
    )]
    Name { slot: &'static str, name: &'static str },
    #[error("{slot} `{name}` cannot be added: another {slot} has this name")]
    Taken { slot: &'static str, name: &'static str },
    #[error(
        "{slot} `{name}` cannot be added: the program has already read the policies of this slot"
    )]
    Late { slot: &'static str, name: &'static str },
}

/// Name that stands for every policy of a slot.
const ALL: &str = "all";

/// Why a policy could not be chosen or built.
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

/// Formats the suggestion that follows an unknown name in a message.
pub fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|n| format!(" (did you mean `{n}`?)")).unwrap_or_default()
}

/// Slot of an error until the registry sets it, as constructors do not know their slot.
const UNPLACED: &str = "policy";

impl PolicyInfo {
    /// Refuses a machine that the policy does not fit, unless `holds`: `key` has `value`, and
    /// `valid` describes a value that fits.
    ///
    /// # Errors
    /// [`PolicyError::Machine`] if it does not hold.
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

    /// Refuses parameters unless `holds`: `key` has `value`, and `valid` describes a value that is
    /// valid with the others.
    ///
    /// # Errors
    /// [`PolicyError::Params`] if it does not hold.
    pub fn require(
        &self,
        holds: bool,
        key: &str,
        value: impl Display,
        valid: impl Into<String>,
    ) -> Result<(), PolicyError> {
        if holds {
            return Ok(());
        }
        let (key, value, valid) = (key.to_owned(), value.to_string(), valid.into());
        Err(self.refuse(&Invalid { key, value, valid }))
    }

    /// Returns the descriptions of its parameters.
    pub fn params(&self) -> Vec<Param> {
        (self.params)()
    }

    /// Reads the values of its parameters.
    fn read(&self, params: &[(&str, &str)]) -> Result<Given, PolicyError> {
        let mut given = Given::default();
        for &(key, text) in params {
            let param = self.find(key)?;
            let value = param.kind.parse(text).ok_or_else(|| {
                let (key, value) = (key.to_owned(), text.to_owned());
                self.refuse(&Invalid { key, value, valid: param.kind.expected() })
            })?;
            given.push(param.name, value);
        }
        Ok(given)
    }

    /// Returns the description of the parameter called `key`.
    fn find(&self, key: &str) -> Result<Param, PolicyError> {
        let params = self.params();
        if params.is_empty() {
            return Err(self.refuse(&format!("unknown key `{key}`; it takes no parameters")));
        }
        params.iter().find(|param| param.name == key).copied().ok_or_else(|| {
            let nearest = did_you_mean(nearest(key, params.iter().map(|param| param.name)));
            let valid = list_params(&params);
            self.refuse(&format!("unknown key `{key}`{nearest}; valid: {valid}"))
        })
    }

    /// Returns the error of a parameter whose text cannot be read, for a `reason`.
    pub fn malformed(&self, key: &str, text: &str, reason: impl Display) -> PolicyError {
        self.refuse(&format!("`{key}` = `{text}` is not valid: {reason}"))
    }

    fn refuse(&self, message: &dyn Display) -> PolicyError {
        let (name, message) = (self.name.to_owned(), message.to_string());
        PolicyError::Params { slot: UNPLACED, name, message }
    }
}

fn list_params(params: &[Param]) -> String {
    let all: Vec<String> =
        params.iter().map(|p| format!("{} ({}, {})", p.name, p.unit, p.range())).collect();
    all.join(", ")
}

impl PolicyError {
    fn in_slot(self, slot: &'static str) -> PolicyError {
        match self {
            PolicyError::Params { slot: UNPLACED, name, message } => {
                PolicyError::Params { slot, name, message }
            }
            PolicyError::Machine { slot: UNPLACED, name, key, value, valid } => {
                PolicyError::Machine { slot, name, key, value, valid }
            }
            other => other,
        }
    }
}

/// Names and values of parameters, as given.
type Pairs<'a> = Vec<(&'a str, &'a str)>;

/// Splits `name(key=value,...)` into the name and its parameters.
fn split(text: &str) -> Result<(&str, Pairs<'_>), PolicyError> {
    let malformed = || PolicyError::Malformed { text: text.to_owned() };
    let text = text.trim();
    let Some(open) = text.find('(') else { return Ok((text, Vec::new())) };
    let inner = text[open + 1..].strip_suffix(')').ok_or_else(malformed)?;
    let name = text[..open].trim_end();
    let mut params = Pairs::new();
    for pair in pairs(inner).filter(|p| !p.trim().is_empty()) {
        let (key, value) = pair.split_once('=').ok_or_else(malformed)?;
        let (key, value) = (key.trim(), value.trim());
        if params.iter().any(|&(other, _)| other == key) {
            let message = format!("`{key}` is given twice");
            return Err(PolicyError::Params { slot: UNPLACED, name: name.to_owned(), message });
        }
        params.push((key, value));
    }
    Ok((name, params))
}

/// Splits parameters at the commas outside parentheses.
fn pairs(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0u32;
    text.split(move |c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
}

/// Returns the name of the policy in `text` (`name` or `name(key=value,...)`).
pub fn policy_name(text: &str) -> &str {
    text.split('(').next().unwrap_or(text).trim()
}

impl<T: ?Sized, C: ?Sized> Registry<T, C> {
    /// Creates a registry of built-in policies.
    pub const fn new(slot: &'static str, built_in: &'static [Entry<T, C>]) -> Registry<T, C> {
        Registry { slot, built_in, added: Mutex::new(Some(Vec::new())), all: OnceLock::new() }
    }

    /// Adds a policy. It stays for the lifetime of the program.
    ///
    /// # Errors
    /// [`AddError`] if the name is not valid or taken, or the registry has been read.
    pub fn add(&self, entry: Entry<T, C>) -> Result<(), AddError> {
        let (slot, name) = (self.slot, entry.info.name);
        if !is_name(name) {
            return Err(AddError::Name { slot, name });
        }
        if self.built_in.iter().any(|other| other.info.name == name) {
            return Err(AddError::Taken { slot, name });
        }
        let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
        let added = added.as_mut().ok_or(AddError::Late { slot, name })?;
        if added.iter().any(|other| other.info.name == name) {
            return Err(AddError::Taken { slot, name });
        }
        added.push(Box::leak(Box::new(entry)));
        Ok(())
    }

    /// Returns all entries: the built-in ones, then the added ones in the order of their addition.
    fn entries(&self) -> &[&'static Entry<T, C>] {
        self.all.get_or_init(|| {
            let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
            self.built_in.iter().chain(added.take().unwrap_or_default()).collect()
        })
    }

    /// Chooses the policy that `text` (`name` or `name(key=value,...)`) names.
    ///
    /// # Errors
    /// [`PolicyError`] if there is no such policy or parameter, or a value is not valid.
    pub fn choose(&self, text: &str) -> Result<Chosen<T, C>, PolicyError> {
        let in_slot = |error: PolicyError| error.in_slot(self.slot);
        let (name, params) = split(text).map_err(in_slot)?;
        let entry = self.find(name)?;
        let given = entry.info.read(&params).map_err(in_slot)?;
        Ok(Chosen { slot: self.slot, entry, given })
    }

    /// Chooses the policy that `text` names and builds it once.
    ///
    /// # Errors
    /// As [`Registry::choose`] and [`Chosen::build`].
    pub fn build(&self, text: &str, context: &C) -> Result<Box<T>, PolicyError> {
        self.choose(text)?.build(context)
    }

    /// Returns the entry called `name`.
    pub fn find(&self, name: &str) -> Result<&'static Entry<T, C>, PolicyError> {
        let found = self.entries().iter().find(|entry| entry.info.name == name).copied();
        found.ok_or_else(|| PolicyError::Unknown {
            slot: self.slot,
            name: name.to_owned(),
            nearest: nearest(name, self.names()),
            valid: self.names().collect::<Vec<_>>().join(", "),
        })
    }

    /// Returns the names in registry order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.infos().map(|info| info.name)
    }

    /// Returns the descriptions in registry order.
    pub fn infos(&self) -> impl Iterator<Item = &'static PolicyInfo> {
        self.entries().iter().map(|entry| &entry.info)
    }

    /// Returns the names of the added policies.
    pub fn added(&self) -> impl Iterator<Item = &'static str> {
        self.names().skip(self.built_in.len())
    }
}

/// Returns whether a policy may have this name, which appears in lists and on command lines.
fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && part.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    };
    name != ALL && name.split('-').all(is_part)
}

/// Returns the candidate closest to `name`, if it is close enough for a misspelling.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // One wrong letter or two swapped letters beat the similarity, which is low for short names.
    let slip = |c: &str| strsim::osa_distance(name, c) == 1;
    let score = |c: &str| if slip(c) { 1.0 } else { strsim::jaro_winkler(name, c) };
    candidates
        .map(|c| (score(c), c))
        .filter(|&(score, _)| score > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, c)| c)
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::params! {
        struct Counted {
            /// a number
            count: u64 = 0, in 0..;
        }
    }

    const INFO: PolicyInfo = PolicyInfo {
        name: "counted",
        summary: "a number",
        source: "a test",
        params: Counted::params,
    };

    static REGISTRY: Registry<u64, ()> = Registry::new(
        "slot",
        &[Entry {
            info: INFO,
            build: |(), params| {
                let Counted { count } = params.read();
                INFO.require(count != 7, "count", count, "any other")?;
                Ok(Box::new(count))
            },
        }],
    );

    /// Returns a policy of this name that builds to 5.
    fn five(name: &'static str) -> Entry<u64, ()> {
        let info = PolicyInfo { name, summary: "five", source: "a test", params: Vec::new };
        Entry { info, build: |(), _| Ok(Box::new(5)) }
    }

    fn registry() -> Registry<u64, ()> {
        Registry::new("slot", const { &[Entry { info: INFO, build: |(), _| Ok(Box::new(0)) }] })
    }

    #[test]
    fn an_added_policy_follows_the_built_in_ones() {
        let registry = registry();
        registry.add(five("fives")).unwrap();
        registry.add(five("other-5")).unwrap();
        assert_eq!(registry.names().collect::<Vec<_>>(), ["counted", "fives", "other-5"]);
        assert_eq!(registry.added().collect::<Vec<_>>(), ["fives", "other-5"]);
        assert_eq!(registry.build("fives", &()), Ok(Box::new(5)));
        let misspelt = registry.build("five", &()).unwrap_err().to_string();
        let expected =
            "unknown slot `five` (did you mean `fives`?); valid: counted, fives, other-5";
        assert_eq!(misspelt, expected);
    }

    #[test]
    fn a_name_belongs_to_one_policy() {
        let registry = registry();
        let refused = |name| registry.add(five(name)).unwrap_err().to_string();
        let taken = "cannot be added: another slot has this name";
        assert_eq!(refused("counted"), format!("slot `counted` {taken}"));
        registry.add(five("fives")).unwrap();
        assert_eq!(refused("fives"), format!("slot `fives` {taken}"));
    }

    #[test]
    fn no_policy_is_added_once_the_registry_has_been_read() {
        let registry = registry();
        assert_eq!(registry.names().count(), 1);
        let refused = registry.add(five("fives")).unwrap_err().to_string();
        assert!(refused.ends_with("the program has already read the policies of this slot"));
    }

    #[test]
    fn names_with_a_meaning_in_lists_are_refused() {
        let registry = registry();
        for name in ["all", "", "Five", "a b", "a,b", "a(b", "a=b", "a/b", "a_b", "-a", "a-"] {
            assert!(matches!(registry.add(five(name)), Err(AddError::Name { .. })), "{name}");
        }
    }

    fn refusal(text: &str) -> String {
        REGISTRY.build(text, &()).unwrap_err().to_string()
    }

    #[test]
    fn misspelt_short_names_are_recognised() {
        for slip in ["bsf", "bf", "bfss", "bgs"] {
            assert_eq!(nearest(slip, ["b+tree", "bfs", "fwt"].into_iter()), Some("bfs"), "{slip}");
        }
        assert_eq!(nearest("xyz", ["b+tree", "bfs"].into_iter()), None);
    }

    #[test]
    fn a_chosen_policy_builds_repeatedly() {
        let chosen = REGISTRY.choose("counted(count=3)").unwrap();
        assert_eq!(
            [chosen.build(&()), chosen.build(&())].map(Result::unwrap),
            [3, 3].map(Box::new)
        );
    }

    #[test]
    fn commas_in_parentheses_are_part_of_a_value() {
        let split = |text| split(text).unwrap();
        let (name, pairs) = split("name(by=if(a, min(b,c), d) , limit=3)");
        assert_eq!((name, pairs), ("name", vec![("by", "if(a, min(b,c), d)"), ("limit", "3")]));
        assert_eq!(split("name(by=1),limit=3)").1, [("by", "1)"), ("limit", "3")]);
    }

    #[test]
    fn a_repeated_parameter_is_refused() {
        let error = refusal("counted(count=1, count=2)");
        assert!(error.contains("`count` is given twice"), "{error}");
    }

    #[test]
    fn a_broken_condition_names_the_parameter_and_valid_values() {
        let expected = "parameters of slot `counted`: `count` = 7 is not valid: expected any other";
        assert_eq!(refusal("counted(count=7)"), expected);
    }
}
