//! Descriptions of parameters, and the types of parameters.

use crate::{Choice, Kind, LARGEST, Real, Value, Whole};
use serde::de::value::MapDeserializer;
use serde::de::{self, Deserialize};
use std::borrow::Cow;
use std::iter;

/// The description of a parameter of a policy, a workload generator or a machine.
///
/// It generates parsing, errors, help and documentation, and is declared once: by
/// [`params!`](crate::params), by [`section!`](crate::section), or as a constant.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    pub name: &'static str,
    pub kind: Kind,
    pub default: DefaultValue,
    /// Special meaning of 0, such as `off`.
    pub zero: Option<&'static str>,
    /// Unit of the value, in the plural, or `-`.
    pub unit: &'static str,
    /// Meaning of the value, one line.
    pub summary: &'static str,
}

/// The value of an omitted parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DefaultValue {
    /// None: the parameter is required.
    None,
    Value(Value<'static>),
    /// The machine's value of a key.
    Machine(&'static str),
}

impl Param {
    /// Formats the valid values for a table: `0 = off, or from 1`.
    pub fn range(&self) -> String {
        match (self.zero, self.kind) {
            (Some(zero), Kind::Whole(Whole { max, .. })) => {
                format!("0 = {zero}, or {}", Whole { min: 1, max })
            }
            _ => self.kind.to_string(),
        }
    }

    /// Formats the default for a table.
    pub fn default(&self) -> String {
        match self.default {
            DefaultValue::None => "-".to_owned(),
            DefaultValue::Value(value) => value.to_string(),
            DefaultValue::Machine(key) => format!("the machine's {key}"),
        }
    }
}

/// A type of a parameter.
pub trait Typed: Sized {
    /// The valid values that a declaration adds to the type: a range, or nothing.
    type Within;
    /// Type of a default in the declaration of a key.
    type Stated;

    fn kind(within: &Self::Within) -> Kind;

    /// Converts a declared default to a value.
    fn stated(default: Self::Stated) -> Value<'static>;

    /// Reads a value of its kind.
    fn read(value: Value<'_>) -> Option<Self>;
}

/// A type of a parameter with a default.
pub trait Parameter: Typed {
    /// Describes `self` as a default.
    fn default(&self, within: &Self::Within) -> DefaultValue;
}

macro_rules! whole {
    ($($whole:ty),*) => {$(
        impl Typed for $whole {
            type Within = Whole;
            type Stated = $whole;

            fn kind(within: &Whole) -> Kind {
                Kind::Whole(within.up_to(u64::try_from(<$whole>::MAX).unwrap_or(LARGEST)))
            }

            fn stated(default: $whole) -> Value<'static> {
                Value::Whole(default as u64)
            }

            fn read(value: Value<'_>) -> Option<$whole> {
                match value {
                    Value::Whole(number) => number.try_into().ok(),
                    _ => None,
                }
            }
        }

        impl Parameter for $whole {
            fn default(&self, _: &Whole) -> DefaultValue {
                DefaultValue::Value(Self::stated(*self))
            }
        }
    )*};
}

whole!(u32, u64, usize);

impl Typed for f64 {
    type Within = Real;
    type Stated = f64;

    fn kind(within: &Real) -> Kind {
        Kind::Real(*within)
    }

    fn stated(default: f64) -> Value<'static> {
        Value::Real(default)
    }

    fn read(value: Value<'_>) -> Option<f64> {
        match value {
            Value::Real(number) => Some(number),
            _ => None,
        }
    }
}

impl Parameter for f64 {
    fn default(&self, _: &Real) -> DefaultValue {
        DefaultValue::Value(Self::stated(*self))
    }
}

impl Typed for bool {
    type Within = ();
    type Stated = bool;

    fn kind((): &()) -> Kind {
        Kind::Flag
    }

    fn stated(default: bool) -> Value<'static> {
        Value::Flag(default)
    }

    fn read(value: Value<'_>) -> Option<bool> {
        match value {
            Value::Flag(flag) => Some(flag),
            _ => None,
        }
    }
}

impl Parameter for bool {
    fn default(&self, (): &()) -> DefaultValue {
        DefaultValue::Value(Self::stated(*self))
    }
}

impl<C: Choice> Typed for C {
    type Within = ();
    type Stated = C;

    fn kind((): &()) -> Kind {
        Kind::Choice(C::names)
    }

    fn stated(default: C) -> Value<'static> {
        Value::Name(default.name())
    }

    fn read(value: Value<'_>) -> Option<C> {
        match value {
            Value::Name(name) => C::named(name),
            _ => None,
        }
    }
}

impl<C: Choice> Parameter for C {
    fn default(&self, (): &()) -> DefaultValue {
        DefaultValue::Value(Self::stated(*self))
    }
}

/// A fixed whole number, or one that the policy adapts during the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adaptive {
    Adaptive,
    Fixed(u32),
}

impl Typed for Adaptive {
    type Within = Whole;
    type Stated = Adaptive;

    fn kind(within: &Whole) -> Kind {
        Kind::Adaptive(within.up_to(u32::MAX.into()))
    }

    fn stated(default: Adaptive) -> Value<'static> {
        match default {
            Adaptive::Adaptive => Value::Adaptive,
            Adaptive::Fixed(number) => Value::Whole(number.into()),
        }
    }

    fn read(value: Value<'_>) -> Option<Adaptive> {
        match value {
            Value::Adaptive => Some(Adaptive::Adaptive),
            number => u32::read(number).map(Adaptive::Fixed),
        }
    }
}

impl Parameter for Adaptive {
    fn default(&self, _: &Whole) -> DefaultValue {
        DefaultValue::Value(Self::stated(*self))
    }
}

/// Text; its declaration describes it in a few words.
impl Typed for String {
    type Within = &'static str;
    type Stated = &'static str;

    fn kind(what: &&'static str) -> Kind {
        Kind::Text(what)
    }

    fn stated(default: &'static str) -> Value<'static> {
        Value::Text(default)
    }

    fn read(value: Value<'_>) -> Option<String> {
        match value {
            Value::Text(text) => Some(text.to_owned()),
            _ => None,
        }
    }
}

/// Text with a constant default.
impl Typed for Cow<'static, str> {
    type Within = &'static str;
    type Stated = &'static str;

    fn kind(what: &&'static str) -> Kind {
        String::kind(what)
    }

    fn stated(default: &'static str) -> Value<'static> {
        String::stated(default)
    }

    fn read(value: Value<'_>) -> Option<Cow<'static, str>> {
        String::read(value).map(Cow::Owned)
    }
}

impl Parameter for Cow<'static, str> {
    fn default(&self, _: &&'static str) -> DefaultValue {
        match self {
            Cow::Borrowed(text) => DefaultValue::Value(Self::stated(text)),
            Cow::Owned(_) => DefaultValue::None,
        }
    }
}

impl Typed for Vec<u32> {
    type Within = ();
    type Stated = &'static [u32];

    fn kind((): &()) -> Kind {
        Kind::List
    }

    fn stated(default: &'static [u32]) -> Value<'static> {
        Value::List(default)
    }

    fn read(value: Value<'_>) -> Option<Vec<u32>> {
        match value {
            Value::List(numbers) => Some(numbers.to_vec()),
            _ => None,
        }
    }
}

/// The machine's key that supplies the default of a parameter, and the parameter's valid values.
pub struct OrMachine<W> {
    key: &'static str,
    within: W,
}

impl<W: From<R>, R> From<(&'static str, R)> for OrMachine<W> {
    fn from((key, within): (&'static str, R)) -> OrMachine<W> {
        OrMachine { key, within: within.into() }
    }
}

/// A parameter whose default is the machine's value.
impl<T: Typed> Typed for Option<T> {
    type Within = OrMachine<T::Within>;
    type Stated = T::Stated;

    fn kind(within: &OrMachine<T::Within>) -> Kind {
        T::kind(&within.within)
    }

    fn stated(default: T::Stated) -> Value<'static> {
        T::stated(default)
    }

    fn read(value: Value<'_>) -> Option<Option<T>> {
        T::read(value).map(Some)
    }
}

impl Parameter for Option<u32> {
    fn default(&self, within: &OrMachine<Whole>) -> DefaultValue {
        self.map_or(DefaultValue::Machine(within.key), |number| number.default(&within.within))
    }
}

impl Parameter for Option<String> {
    fn default(&self, within: &OrMachine<&'static str>) -> DefaultValue {
        DefaultValue::Machine(within.key)
    }
}

/// Returns the description of a field of [`params!`](crate::params).
pub fn describe<T: Parameter>(
    (name, default): (&'static str, T),
    within: &T::Within,
    zero: Option<&'static str>,
    unit: &'static str,
    summary: &'static str,
) -> Param {
    let (kind, default) = (T::kind(within), default.default(within));
    Param { name, kind, default, zero, unit, summary: summary.trim_start() }
}

/// A key of a machine.
#[derive(Clone, Debug)]
pub struct Key {
    /// Dotted name: `dram.timing.tcl`.
    pub path: String,
    pub param: Param,
    /// Label of its section, if several sections have the same keys: `Special functions`.
    of: Option<&'static str>,
}

impl Key {
    /// Returns the meaning of the value as a sentence.
    pub fn meaning(&self) -> String {
        let Some(of) = self.of else { return self.param.summary.to_owned() };
        let (first, rest) = self.param.summary.split_at(1);
        format!("{of}: {}{rest}", first.to_lowercase())
    }
}

/// The declaration of a field in [`section!`](crate::section).
#[derive(Clone, Copy)]
pub struct Declared {
    pub name: &'static str,
    /// Neutral default of an optional key.
    pub default: DefaultValue,
    pub unit: &'static str,
    pub summary: &'static str,
}

impl Declared {
    /// The declaration of the whole machine.
    pub const ROOT: Declared =
        Declared { name: "", default: DefaultValue::None, unit: "-", summary: "" };

    /// Labels the keys of the declared section. A comment without a full stop is the label that
    /// precedes their meanings.
    pub fn section(self, keys: impl Iterator<Item = Key>) -> Vec<Key> {
        let label = self.summary.trim_start();
        let label = (!label.is_empty() && !label.ends_with('.')).then_some(label);
        keys.map(|key| Key { of: key.of.or(label), ..key }).collect()
    }

    /// Returns the dotted name of a field of `section`.
    pub fn path(&self, section: &str) -> String {
        if section.is_empty() { self.name.to_owned() } else { format!("{section}.{}", self.name) }
    }
}

/// A type of a field of a machine's configuration: a section, or the type of a key.
pub trait Field {
    /// See [`Typed::Within`].
    type Within;

    /// Returns the keys that the field adds to `section`.
    fn keys(section: &str, declared: Declared, within: &Self::Within) -> Vec<Key>;
}

/// Reads an omitted section.
///
/// # Errors
/// If `name` is not a section, or one of its keys has no default.
#[doc(hidden)]
pub fn empty_section<'de, T: Deserialize<'de>, E: de::Error>(name: &'static str) -> Result<T, E> {
    let nothing: iter::Empty<(&str, u32)> = iter::empty();
    let section = T::deserialize(MapDeserializer::<_, E>::new(nothing));
    section.map_err(|_| E::missing_field(name))
}

impl<T: Typed> Field for T {
    type Within = T::Within;

    fn keys(section: &str, declared: Declared, within: &T::Within) -> Vec<Key> {
        let Declared { name, default, unit, summary } = declared;
        let (kind, summary) = (T::kind(within), summary.trim_start());
        let param = Param { name, kind, default, zero: None, unit, summary };
        vec![Key { path: declared.path(section), param, of: None }]
    }
}
