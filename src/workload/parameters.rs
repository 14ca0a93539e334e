//! What a generator can be told: its parameters, and the values given to them.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::WorkloadError;
use crate::registry::nearest;

/// Values that have names.
pub trait Choice: Copy + 'static {
    const NAMES: &'static [(&'static str, Self)];
}

/// One parameter of a generator; on the command line `--name value`.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    domain: Domain,
}

#[derive(Clone, Copy, Debug)]
enum Domain {
    Count { default: u64, min: u64, max: u64, unit: &'static str },
    Choice { default: &'static str, names: fn() -> Vec<&'static str> },
}

impl Parameter {
    /// A whole number from `min` to `max`; `unit` in the plural, or `-`.
    pub const fn count(
        name: &'static str,
        default: u64,
        (min, max): (u64, u64),
        unit: &'static str,
        summary: &'static str,
    ) -> Parameter {
        Parameter { name, summary, domain: Domain::Count { default, min, max, unit } }
    }

    /// One of the names of `C`.
    pub const fn choice<C: Choice>(
        name: &'static str,
        default: &'static str,
        summary: &'static str,
    ) -> Parameter {
        Parameter { name, summary, domain: Domain::Choice { default, names: names_of::<C> } }
    }

    /// The value it has if none is given, as one would type it.
    pub fn default(&self) -> String {
        match self.domain {
            Domain::Count { default, .. } => show_count(default),
            Domain::Choice { default, .. } => default.to_owned(),
        }
    }

    /// The valid values, for people.
    pub fn range(&self) -> String {
        match self.domain {
            Domain::Count { min, max, .. } => format!("{} to {}", show_count(min), show_count(max)),
            Domain::Choice { names, .. } => names().join("|"),
        }
    }

    /// Unit of the value, or `-`.
    pub fn unit(&self) -> &'static str {
        match self.domain {
            Domain::Count { unit, .. } => unit,
            Domain::Choice { .. } => "-",
        }
    }

    /// The names of a choice; empty for numbers.
    pub fn choices(&self) -> Vec<&'static str> {
        match self.domain {
            Domain::Count { .. } => Vec::new(),
            Domain::Choice { names, .. } => names(),
        }
    }

    fn parse(&self, text: &str) -> Result<Value, WorkloadError> {
        let refuse = |nearest| WorkloadError::BadValue {
            parameter: self.name,
            value: text.to_owned(),
            nearest,
            valid: self.range(),
        };
        match self.domain {
            Domain::Count { min, max, .. } => match parse_count(text) {
                Some(n) if (min..=max).contains(&n) => Ok(Value::Count(n)),
                _ => Err(refuse(None)),
            },
            Domain::Choice { names, .. } => {
                let names = names();
                match names.iter().position(|&name| name == text) {
                    Some(index) => Ok(Value::Choice(index)),
                    None => Err(refuse(nearest(text, names.into_iter()))),
                }
            }
        }
    }
}

fn names_of<C: Choice>() -> Vec<&'static str> {
    C::NAMES.iter().map(|&(name, _)| name).collect()
}

/// Powers of two from 1024 on as `2^k`, anything else in decimal.
pub fn show_count(n: u64) -> String {
    if n >= 1024 && n.is_power_of_two() { format!("2^{}", n.ilog2()) } else { n.to_string() }
}

/// `4096`, `4_096` or `2^12`.
fn parse_count(text: &str) -> Option<u64> {
    match text.split_once('^') {
        Some((base, exponent)) => base.parse::<u64>().ok()?.checked_pow(exponent.parse().ok()?),
        None => text.replace('_', "").parse().ok(),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Count(u64),
    /// Index among the names.
    Choice(usize),
}

/// A value for every parameter of a generator: given, or else the default.
#[derive(Clone, Debug)]
pub struct Arguments {
    values: Vec<(Parameter, Value)>,
}

impl Arguments {
    /// Checks `given` (name → text) against `groups` of parameters.
    pub fn resolve(
        generator: &'static str,
        groups: &[&[Parameter]],
        given: &BTreeMap<String, String>,
    ) -> Result<Arguments, WorkloadError> {
        let parameters = || groups.iter().copied().flatten();
        let names = || parameters().map(|p| p.name);
        if let Some(unknown) = given.keys().find(|key| !names().any(|name| name == *key)) {
            return Err(WorkloadError::UnknownParameter {
                generator,
                name: unknown.clone(),
                nearest: nearest(unknown, names()),
                valid: names().collect::<Vec<_>>().join(", "),
            });
        }
        let value = |parameter: &Parameter| match given.get(parameter.name) {
            Some(text) => parameter.parse(text),
            None => parameter.parse(&parameter.default()),
        };
        let values = parameters().map(|p| value(p).map(|v| (*p, v))).collect::<Result<_, _>>()?;
        Ok(Arguments { values })
    }

    /// The value of the number `name`, which the generator must have declared.
    pub fn count(&self, name: &str) -> u64 {
        match self.value(name) {
            Value::Count(n) => n,
            Value::Choice(_) => panic!("parameter `{name}` is not a number"),
        }
    }

    /// As [`Arguments::count`], for numbers whose declared maximum fits 32 bits.
    pub fn count32(&self, name: &str) -> u32 {
        u32::try_from(self.count(name)).expect("the declared maximum fits 32 bits")
    }

    /// The value of the choice `name`, which the generator must have declared as a choice of `C`.
    pub fn choice<C: Choice>(&self, name: &str) -> C {
        match self.value(name) {
            Value::Choice(index) => C::NAMES[index].1,
            Value::Count(_) => panic!("parameter `{name}` is not a choice"),
        }
    }

    fn value(&self, name: &str) -> Value {
        match self.values.iter().find(|(p, _)| p.name == name) {
            Some(&(_, value)) => value,
            None => panic!("parameter `{name}` is not declared"),
        }
    }

    /// All values as command-line options, in the order of declaration.
    pub fn as_options(&self) -> String {
        self.values.iter().fold(String::new(), |mut line, (parameter, value)| {
            let text = match *value {
                Value::Count(n) => show_count(n),
                Value::Choice(index) => parameter.choices()[index].to_owned(),
            };
            write!(line, " --{} {text}", parameter.name).expect("a string takes any text");
            line
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Colour {
        Red,
        Green,
    }

    impl Choice for Colour {
        const NAMES: &'static [(&'static str, Colour)] =
            &[("red", Colour::Red), ("green", Colour::Green)];
    }

    const PARAMETERS: &[Parameter] = &[
        Parameter::count("nodes", 1 << 12, (1, 1 << 20), "vertices", "Vertices"),
        Parameter::choice::<Colour>("colour", "red", "Colour"),
    ];

    fn resolve(given: &[(&str, &str)]) -> Result<Arguments, String> {
        let given = given.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
        Arguments::resolve("paint", &[PARAMETERS], &given).map_err(|e| e.to_string())
    }

    #[test]
    fn what_is_not_given_has_its_default() {
        let arguments = resolve(&[]).unwrap();
        assert_eq!(arguments.count("nodes"), 4096);
        assert_eq!(arguments.choice::<Colour>("colour"), Colour::Red);
    }

    #[test]
    fn numbers_may_be_powers_or_grouped() {
        for (text, value) in [("2^18", 1 << 18), ("10^3", 1000), ("65536", 65536), ("1_000", 1000)]
        {
            assert_eq!(resolve(&[("nodes", text)]).unwrap().count("nodes"), value);
        }
    }

    #[test]
    fn bad_values_are_refused_with_what_is_valid() {
        for text in ["0", "2^21", "2^99", "2^", "-1", "many", "", "1.5"] {
            assert_eq!(
                resolve(&[("nodes", text)]).unwrap_err(),
                format!("`{text}` is not a value of --nodes; valid: 1 to 2^20")
            );
        }
        assert_eq!(
            resolve(&[("colour", "gren")]).unwrap_err(),
            "`gren` is not a value of --colour (did you mean `green`?); valid: red|green"
        );
    }

    #[test]
    fn unknown_parameters_are_refused_with_the_nearest_name() {
        assert_eq!(
            resolve(&[("node", "1")]).unwrap_err(),
            "paint has no parameter `node` (did you mean `nodes`?); valid: nodes, colour"
        );
    }

    #[test]
    fn options_name_every_value_and_resolve_to_themselves() {
        let arguments = resolve(&[("nodes", "4096"), ("colour", "green")]).unwrap();
        assert_eq!(arguments.as_options(), " --nodes 2^12 --colour green");
        assert_eq!(
            resolve(&[("nodes", "1000")]).unwrap().as_options(),
            " --nodes 1000 --colour red"
        );
    }
}
