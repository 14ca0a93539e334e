//! The mapping of options to keys: takes options by name, records values of keys, and collects the
//! rest.

use super::super::MachineError;
use super::super::error::Origin;
use super::left_out::reason;
use super::options::{Given, Options, wrong};
use super::{LeftOut, Mapped};
use std::collections::BTreeSet;
use std::path::Path;
use toml::Value;

/// Options being mapped to values of keys.
pub(super) struct Mapping {
    options: Options,
    /// Names of the options taken.
    taken: BTreeSet<String>,
    values: Vec<Mapped>,
    left_out: Vec<LeftOut>,
    /// Origin of options that are not given.
    nowhere: Origin,
}

/// An option as given, or the default of the simulator.
pub(super) struct Setting {
    given: Given,
    is_default: bool,
}

impl Mapping {
    pub(super) fn new(options: Options, path: &Path) -> Mapping {
        let nowhere = Origin::File { path: path.to_owned(), line: 1 };
        let (taken, values, left_out) = (BTreeSet::new(), Vec::new(), Vec::new());
        Mapping { options, taken, values, left_out, nowhere }
    }

    /// Returns the values of keys and the options left out.
    pub(super) fn finish(mut self) -> (Vec<Mapped>, Vec<LeftOut>) {
        let rest = self.options.all().filter(|given| !self.taken.contains(&given.name));
        for given in rest {
            if let Some(reason) = reason(&given.name, &given.value) {
                self.left_out.push(LeftOut::new(given, reason));
            }
        }
        (self.values, self.left_out)
    }

    /// Takes an option if the files give it.
    pub(super) fn take(&mut self, name: &str) -> Option<Setting> {
        let given = self.options.get(name)?.clone();
        self.taken.insert(given.name.clone());
        Some(Setting { given, is_default: false })
    }

    /// Takes an option; `default` is the simulator's value if the files do not give it.
    pub(super) fn take_or(&mut self, name: &str, default: &str) -> Setting {
        self.take(name).unwrap_or_else(|| {
            let (name, value, origin) = (name.to_owned(), default.to_owned(), self.nowhere.clone());
            Setting { given: Given { name, value, origin }, is_default: true }
        })
    }

    /// Takes a whole number as the value of a key.
    pub(super) fn whole(
        &mut self,
        name: &str,
        default: &str,
        key: &'static str,
    ) -> Result<u32, MachineError> {
        let setting = self.take_or(name, default);
        let number = setting.number()?;
        self.set(key, number, &setting);
        Ok(number)
    }

    /// Returns the number set for a key; 1 if there is none.
    pub(super) fn number_of(&self, key: &str) -> u32 {
        let given = self.values.iter().rev().find(|mapped| mapped.key == key);
        let number = given.and_then(|mapped| mapped.value.as_integer());
        number.and_then(|number| u32::try_from(number).ok()).unwrap_or(1)
    }

    pub(super) fn set(&mut self, key: &'static str, value: impl Into<Plain>, from: &Setting) {
        let Plain(value) = value.into();
        let origin = (!from.is_default).then(|| from.given.origin.clone());
        self.values.push(Mapped { key, value, origin, source: from.source() });
    }

    /// Records that the machine models an option only in part or not at all.
    pub(super) fn leave(&mut self, setting: &Setting, reason: &'static str) {
        self.left_out.push(LeftOut::new(&setting.given, reason));
    }
}

impl LeftOut {
    fn new(given: &Given, reason: &'static str) -> LeftOut {
        let option = format!("{} {}", given.name, given.value);
        LeftOut { option, origin: given.origin.clone(), reason }
    }
}

impl Setting {
    pub(super) fn text(&self) -> &str {
        &self.given.value
    }

    /// Parses a whole number.
    pub(super) fn number(&self) -> Result<u32, MachineError> {
        self.part(self.text(), "a whole number")
    }

    /// Parses `text`, a part of the value, as a number.
    pub(super) fn part<T: std::str::FromStr>(
        &self,
        text: &str,
        expected: &str,
    ) -> Result<T, MachineError> {
        text.trim().parse().map_err(|_| self.wrong(expected))
    }

    pub(super) fn flag(&self) -> Result<bool, MachineError> {
        match self.text() {
            "0" => Ok(false),
            "1" => Ok(true),
            _ => Err(self.wrong("0 or 1")),
        }
    }

    /// Parses `N` whole numbers with a separator.
    pub(super) fn numbers<const N: usize>(
        &self,
        separator: char,
    ) -> Result<[u32; N], MachineError> {
        let expected = || format!("{N} whole numbers, separated by `{separator}`");
        let parts = self.text().split(separator).map(|part| self.part(part, &expected()));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        parts.try_into().map_err(|_| self.wrong(&expected()))
    }

    pub(super) fn wrong(&self, expected: &str) -> MachineError {
        wrong(&self.given.origin, &self.given.name, &self.given.value, expected)
    }

    /// Returns the option for a comment, without long values.
    fn source(&self) -> String {
        const LONGEST: usize = 24;
        let Given { name, value, .. } = &self.given;
        match (self.is_default, value.len() > LONGEST) {
            (true, _) => format!("default of {name}"),
            (false, true) => name.clone(),
            (false, false) => format!("{name} {value}"),
        }
    }
}

/// The value of a key.
pub(super) struct Plain(Value);

impl From<u32> for Plain {
    fn from(number: u32) -> Plain {
        Plain(Value::Integer(number.into()))
    }
}

impl From<bool> for Plain {
    fn from(flag: bool) -> Plain {
        Plain(Value::Boolean(flag))
    }
}

impl From<&str> for Plain {
    fn from(text: &str) -> Plain {
        Plain(Value::String(text.to_owned()))
    }
}

impl From<Vec<u32>> for Plain {
    fn from(numbers: Vec<u32>) -> Plain {
        Plain(Value::Array(
            numbers.into_iter().map(|number| Value::Integer(number.into())).collect(),
        ))
    }
}
