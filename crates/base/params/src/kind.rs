//! The values of parameters, and the ranges of valid values.

use std::fmt;
use std::ops::{RangeFrom, RangeInclusive};

/// Largest whole number of a parameter, 2^40: more than the cycles of any run, and small enough for
/// conversion to finer units of time without overflow.
pub const LARGEST: u64 = 1 << 40;

/// The valid values of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Whole(Whole),
    /// Numbers with up to two decimal places; the limits are in hundredths.
    Hundredths(Whole),
    Real(Real),
    /// `adaptive`, or a whole number.
    Adaptive(Whole),
    /// True or false.
    Flag,
    /// One of the names that the function returns.
    Choice(fn() -> Vec<&'static str>),
    /// Any non-empty text, with a short description.
    Text(&'static str),
    /// A list of whole numbers up to `u32::MAX`.
    List,
}

/// The value of [`Kind::Adaptive`] that is not a number.
const ADAPTIVE: &str = "adaptive";

/// Whole numbers, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    pub min: u64,
    pub max: u64,
}

impl Whole {
    /// Smallest limit that is due to a type rather than a parameter.
    const NO_LIMIT: u64 = u32::MAX as u64;

    /// Limits the range to `largest`.
    pub fn up_to(self, largest: u64) -> Whole {
        Whole { max: self.max.min(largest), ..self }
    }

    pub fn contains(self, number: u64) -> bool {
        (self.min..=self.max).contains(&number)
    }
}

impl From<RangeInclusive<u64>> for Whole {
    fn from(range: RangeInclusive<u64>) -> Whole {
        Whole { min: *range.start(), max: *range.end() }
    }
}

impl From<RangeFrom<u64>> for Whole {
    fn from(range: RangeFrom<u64>) -> Whole {
        Whole { min: range.start, max: LARGEST }
    }
}

impl fmt::Display for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.max {
            Whole::NO_LIMIT.. => write!(f, "from {}", self.min),
            max => write!(f, "{} to {max}", self.min),
        }
    }
}

/// Finite real numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Real {
    /// Both ends included.
    Within(f64, f64),
    From(f64),
    Above(f64),
}

impl Real {
    fn contains(self, number: f64) -> bool {
        let holds = match self {
            Real::Within(min, max) => (min..=max).contains(&number),
            Real::From(min) => number >= min,
            Real::Above(bound) => number > bound,
        };
        holds && number.is_finite()
    }
}

impl From<RangeInclusive<f64>> for Real {
    fn from(range: RangeInclusive<f64>) -> Real {
        Real::Within(*range.start(), *range.end())
    }
}

impl From<RangeFrom<f64>> for Real {
    fn from(range: RangeFrom<f64>) -> Real {
        Real::From(range.start)
    }
}

impl fmt::Display for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Real::Within(min, max) => write!(f, "{min} to {max}"),
            Real::From(min) => write!(f, "from {min}"),
            Real::Above(bound) => write!(f, "above {bound}"),
        }
    }
}

impl Kind {
    /// Parses `text`; none if the value is not valid.
    pub fn parse<'a>(&self, text: &'a str) -> Option<Value<'a>> {
        match self {
            Kind::Whole(range) => whole(range, text).map(Value::Whole),
            Kind::Hundredths(range) => {
                hundredths(text).filter(|&n| range.contains(n)).map(Value::Hundredths)
            }
            Kind::Real(range) => text.parse().ok().filter(|&x| range.contains(x)).map(Value::Real),
            Kind::Adaptive(_) if text == ADAPTIVE => Some(Value::Adaptive),
            Kind::Adaptive(range) => whole(range, text).map(Value::Whole),
            Kind::Flag => text.parse().ok().map(Value::Flag),
            Kind::Choice(names) => names().into_iter().find(|&name| name == text).map(Value::Name),
            Kind::Text(_) => (!text.is_empty()).then_some(Value::Text(text)),
            Kind::List => None,
        }
    }

    /// Returns the names of a choice; empty for other kinds.
    pub fn names(&self) -> Vec<&'static str> {
        match self {
            Kind::Choice(names) => names(),
            _ => Vec::new(),
        }
    }

    /// Formats the valid values for an error: `a whole number from 1 to 64`.
    pub fn expected(&self) -> String {
        match self {
            Kind::Whole(Whole { min, max }) => format!("a whole number from {min} to {max}"),
            Kind::Adaptive(Whole { min, max }) => {
                format!("`{ADAPTIVE}`, or a whole number from {min} to {max}")
            }
            Kind::Real(Real::Within(min, max)) => format!("a number from {min} to {max}"),
            Kind::Real(range) => format!("a number {range}"),
            Kind::Flag => "true or false".to_owned(),
            Kind::Choice(names) => either(&names()),
            Kind::Text(_) => "a string".to_owned(),
            Kind::List => format!("a list of whole numbers from 0 to {}", u32::MAX),
            Kind::Hundredths(_) => self.to_string(),
        }
    }
}

/// Formats the valid values for a table: `1 to 64`.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Whole(range) => range.fmt(f),
            Kind::Hundredths(Whole { min, max }) => {
                write!(f, "{} to {}", Value::Hundredths(*min), Value::Hundredths(*max))
            }
            Kind::Real(range) => range.fmt(f),
            Kind::Adaptive(range) => write!(f, "{ADAPTIVE}, or {range}"),
            Kind::Flag => f.write_str("true | false"),
            Kind::Choice(names) => f.write_str(&names().join(" | ")),
            Kind::Text(what) => f.write_str(what),
            Kind::List => f.write_str("list"),
        }
    }
}

/// Formats names as `` `a`, `b` or `c` ``.
fn either(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Parses a whole number of the range.
fn whole(range: &Whole, text: &str) -> Option<u64> {
    parse_whole(text).filter(|&number| range.contains(number))
}

/// Parses `4096`, `4_096` or `2^12`.
pub fn parse_whole(text: &str) -> Option<u64> {
    match text.split_once('^') {
        Some((base, exponent)) => base.parse::<u64>().ok()?.checked_pow(exponent.parse().ok()?),
        None => text.replace('_', "").parse().ok(),
    }
}

/// Parses `2`, `2.5` or `2.25` to hundredths.
fn hundredths(text: &str) -> Option<u64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) || decimals.len() > 2 {
        return None;
    }
    let hundredths = decimals.parse::<u64>().ok()? * if decimals.len() == 1 { 10 } else { 1 };
    whole.parse::<u64>().ok()?.checked_mul(100)?.checked_add(hundredths)
}

/// The value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    Whole(u64),
    Hundredths(u64),
    Real(f64),
    Adaptive,
    Flag(bool),
    /// The name of a choice.
    Name(&'static str),
    Text(&'a str),
    List(&'a [u32]),
}

/// Formats the value in the form that is parsed.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Whole(number) => number.fmt(f),
            Value::Hundredths(number) => (*number as f64 / 100.0).fmt(f),
            Value::Real(number) => number.fmt(f),
            Value::Adaptive => f.write_str(ADAPTIVE),
            Value::Flag(flag) => flag.fmt(f),
            Value::Name(name) => f.write_str(name),
            Value::Text(text) => f.write_str(text),
            Value::List(numbers) => write!(f, "{numbers:?}"),
        }
    }
}
