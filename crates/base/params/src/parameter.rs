//! The description of a parameter, and the types that parameters have.

use crate::{Choice, Kind, LARGEST, Real, Value, Whole};

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

/// A type that parameters have.
pub trait Typed {
    /// What a declaration adds to the type: a range, or nothing.
    type Within;

    fn kind(within: &Self::Within) -> Kind;
}

/// A type that parameters of policies have: they are given as text and have defaults.
pub trait Parameter: Typed + Sized {
    /// The value, which is one of its kind.
    fn read(value: Value<'_>) -> Option<Self>;

    /// How it is described as a default.
    fn default(&self, within: &Self::Within) -> DefaultValue;
}

macro_rules! whole {
    ($($whole:ty),*) => {$(
        impl Typed for $whole {
            type Within = Whole;

            fn kind(within: &Whole) -> Kind {
                Kind::Whole(within.up_to(u64::try_from(<$whole>::MAX).unwrap_or(LARGEST)))
            }
        }

        impl Parameter for $whole {
            fn read(value: Value<'_>) -> Option<$whole> {
                match value {
                    Value::Whole(number) => number.try_into().ok(),
                    _ => None,
                }
            }

            fn default(&self, _: &Whole) -> DefaultValue {
                DefaultValue::Value(Value::Whole(*self as u64))
            }
        }
    )*};
}

whole!(u32, u64, usize);

impl Typed for f64 {
    type Within = Real;

    fn kind(within: &Real) -> Kind {
        Kind::Real(*within)
    }
}

impl Parameter for f64 {
    fn read(value: Value<'_>) -> Option<f64> {
        match value {
            Value::Real(number) => Some(number),
            _ => None,
        }
    }

    fn default(&self, _: &Real) -> DefaultValue {
        DefaultValue::Value(Value::Real(*self))
    }
}

impl Typed for bool {
    type Within = ();

    fn kind((): &()) -> Kind {
        Kind::Flag
    }
}

impl Parameter for bool {
    fn read(value: Value<'_>) -> Option<bool> {
        match value {
            Value::Flag(flag) => Some(flag),
            _ => None,
        }
    }

    fn default(&self, (): &()) -> DefaultValue {
        DefaultValue::Value(Value::Flag(*self))
    }
}

impl<C: Choice> Typed for C {
    type Within = ();

    fn kind((): &()) -> Kind {
        Kind::Choice(C::names)
    }
}

impl<C: Choice> Parameter for C {
    fn read(value: Value<'_>) -> Option<C> {
        match value {
            Value::Name(name) => C::named(name),
            _ => None,
        }
    }

    fn default(&self, (): &()) -> DefaultValue {
        DefaultValue::Value(Value::Name(self.name()))
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

    fn kind(within: &Whole) -> Kind {
        Kind::Adaptive(within.up_to(u32::MAX.into()))
    }
}

impl Parameter for Adaptive {
    fn read(value: Value<'_>) -> Option<Adaptive> {
        match value {
            Value::Adaptive => Some(Adaptive::Adaptive),
            number => u32::read(number).map(Adaptive::Fixed),
        }
    }

    fn default(&self, within: &Whole) -> DefaultValue {
        match self {
            Adaptive::Adaptive => DefaultValue::Value(Value::Adaptive),
            Adaptive::Fixed(number) => number.default(within),
        }
    }
}

/// Text, which the declaration describes in a few words.
impl Typed for String {
    type Within = &'static str;

    fn kind(what: &&'static str) -> Kind {
        Kind::Text(what)
    }
}

impl Typed for Vec<u32> {
    type Within = ();

    fn kind((): &()) -> Kind {
        Kind::List
    }
}

/// A key of the machine whose value a parameter has if it is not given, and the values that it may
/// be given.
pub struct OrMachine<W> {
    key: &'static str,
    within: W,
}

impl<W: From<R>, R> From<(&'static str, R)> for OrMachine<W> {
    fn from((key, within): (&'static str, R)) -> OrMachine<W> {
        OrMachine { key, within: within.into() }
    }
}

/// A parameter that is the machine's if it is not given.
impl<T: Typed> Typed for Option<T> {
    type Within = OrMachine<T::Within>;

    fn kind(within: &OrMachine<T::Within>) -> Kind {
        T::kind(&within.within)
    }
}

impl Parameter for Option<u32> {
    fn read(value: Value<'_>) -> Option<Option<u32>> {
        u32::read(value).map(Some)
    }

    fn default(&self, within: &OrMachine<Whole>) -> DefaultValue {
        self.map_or(DefaultValue::Machine(within.key), |number| number.default(&within.within))
    }
}

impl Parameter for Option<String> {
    fn read(value: Value<'_>) -> Option<Option<String>> {
        match value {
            Value::Text(text) => Some(Some(text.to_owned())),
            _ => None,
        }
    }

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
    pub unit: &'static str,
    pub summary: &'static str,
}

impl Declared {
    /// The machine itself.
    pub const ROOT: Declared = Declared { name: "", unit: "-", summary: "" };

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

impl<T: Typed> Field for T {
    type Within = T::Within;

    fn keys(section: &str, declared: Declared, within: &T::Within) -> Vec<Key> {
        let Declared { name, unit, summary } = declared;
        let summary = summary.trim_start();
        let (kind, default) = (T::kind(within), DefaultValue::None);
        let param = Param { name, kind, default, zero: None, unit, summary };
        vec![Key { path: declared.path(section), param, of: None }]
    }
}
