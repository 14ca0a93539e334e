//! The parameters given to a policy, and their conversion to the policy's own struct.

use crate::{Parameter, Value};

/// The given parameters of a policy, with valid values.
#[derive(Clone, Debug, Default)]
pub struct Given(Vec<(&'static str, Owned)>);

/// A value that owns its text.
#[derive(Clone, Debug)]
enum Owned {
    Plain(Value<'static>),
    Text(String),
    List(Vec<u32>),
}

impl Owned {
    fn new(value: Value<'_>) -> Owned {
        Owned::Plain(match value {
            Value::Text(text) => return Owned::Text(text.to_owned()),
            Value::List(numbers) => return Owned::List(numbers.to_vec()),
            Value::Whole(number) => Value::Whole(number),
            Value::Hundredths(number) => Value::Hundredths(number),
            Value::Real(number) => Value::Real(number),
            Value::Adaptive => Value::Adaptive,
            Value::Flag(flag) => Value::Flag(flag),
            Value::Name(name) => Value::Name(name),
        })
    }

    fn value(&self) -> Value<'_> {
        match self {
            Owned::Plain(value) => *value,
            Owned::Text(text) => Value::Text(text),
            Owned::List(numbers) => Value::List(numbers),
        }
    }
}

impl Given {
    pub(crate) fn push(&mut self, name: &'static str, value: Value<'_>) {
        self.0.push((name, Owned::new(value)));
    }

    /// Reads the parameters into the policy's own struct, with defaults for omitted ones.
    pub fn read<P: ParamSet>(&self) -> P {
        P::read(self)
    }

    /// Returns the value of a parameter, if it is given.
    pub fn value<T: Parameter>(&self, name: &str) -> Option<T> {
        let (_, value) = self.0.iter().find(|&&(given, _)| given == name)?;
        T::read(value.value())
    }
}

/// A struct declared by [`params!`](crate::params).
pub trait ParamSet {
    /// Takes the given values, and the defaults of the others.
    fn read(given: &Given) -> Self;
}
