//! The description of a parameter, and the types that parameters have.

use crate::{Choice, Kind, LARGEST, Real, Value, Whole};
use serde::de::value::MapDeserializer;
use serde::de::{self, Deserialize};
use std::iter;

/// The description of one parameter: of a policy, of a workload's generator, or of a machine.
///
/// Parsing, errors, help and documentation are made from it. It is declared once: by
/// [`params!`](crate::params), by [`section!`](crate::section), or as a constant.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    pub name: &'static str,
    pub kind: Kind,
    pub default: DefaultValue,
    /// What 0 means where it is not a number like the others: `off`.
    pub zero: Option<&'static str>,
    /// Unit of the value in the plural, or `-`.
    pub unit: &'static str,
    /// What the value is, one line.
    pub summary: &'static str,
}

/// The value of a parameter that is not given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DefaultValue {
    /// It must be given.
    None,
    Value(Value<'static>),
    /// That of the machine under this key.
    Machine(&'static str),
}

impl Param {
    /// The valid values as a table has them: `0 = off, or from 1`.
    pub fn range(&self) -> String {
        match (self.zero, self.kind) {
            (Some(zero), Kind::Whole(Whole { max, .. })) => {
                format!("0 = {zero}, or {}", Whole { min: 1, max })
            }
            _ => self.kind.to_string(),
        }
    }

    /// The default as a table has it.
    pub fn default(&self) -> String {
        match self.default {
            DefaultValue::None => "-".to_owned(),
            DefaultValue::Value(value) => value.to_string(),
            DefaultValue::Machine(key) => format!("the machine's {key}"),
        }
    }
}

/// A type of parameters.
pub trait Typed: Sized {
    /// The valid values that a declaration adds to the type: a range, or nothing.
    type Within;
    /// A default as the declaration of a key states it.
    type Stated;

    fn kind(within: &Self::Within) -> Kind;

    /// Returns a stated default as a value.
    fn stated(default: Self::Stated) -> Value<'static>;

    /// Reads a value of its kind.
    fn read(value: Value<'_>) -> Option<Self>;
}

/// A type of the parameters of policies, which have defaults.
pub trait Parameter: Typed {
    /// Describes it as a default.
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

/// A whole number, or one that the policy adapts to what happens.
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

/// Text, which the declaration describes in a few words.
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

/// The machine's key that supplies the default of a parameter, and the values that the parameter
/// may be given.
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

/// The description of a parameter of a policy: what [`params!`](crate::params) makes of a field.
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
    /// Its name within the machine: `dram.timing.tcl`.
    pub path: String,
    pub param: Param,
    /// What its section is, if several sections have the same keys: `Special functions`.
    of: Option<&'static str>,
}

impl Key {
    /// What the value is, as a sentence.
    pub fn meaning(&self) -> String {
        let Some(of) = self.of else { return self.param.summary.to_owned() };
        let (first, rest) = self.param.summary.split_at(1);
        format!("{of}: {}{rest}", first.to_lowercase())
    }
}

/// What [`section!`](crate::section) says of a field.
#[derive(Clone, Copy)]
pub struct Declared {
    pub name: &'static str,
    /// Neutral default, if the key may be left out.
    pub default: DefaultValue,
    pub unit: &'static str,
    pub summary: &'static str,
}

impl Declared {
    /// The machine itself.
    pub const ROOT: Declared =
        Declared { name: "", default: DefaultValue::None, unit: "-", summary: "" };

    /// The keys of a section that is declared so. A comment without a full stop is a label that
    /// their meanings begin with.
    pub fn section(self, keys: impl Iterator<Item = Key>) -> Vec<Key> {
        let label = self.summary.trim_start();
        let label = (!label.is_empty() && !label.ends_with('.')).then_some(label);
        keys.map(|key| Key { of: key.of.or(label), ..key }).collect()
    }

    /// The dotted name of a field of the section called `section`.
    pub fn path(&self, section: &str) -> String {
        if section.is_empty() { self.name.to_owned() } else { format!("{section}.{}", self.name) }
    }
}

/// The type of a field of a machine's configuration: a section of keys, or the type of one.
pub trait Field {
    /// As [`Typed::Within`].
    type Within;

    /// The keys that it adds to the section called `section`.
    fn keys(section: &str, declared: Declared, within: &Self::Within) -> Vec<Key>;
}

/// Reads a section of which nothing is given.
///
/// # Errors
/// `name` is missing if it is not a section, or a key that has no default.
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
