//! The parameters given to a policy, and their conversion to the policy's own struct.

use crate::{Parameter, Value};

/// The given parameters of a policy, with valid values.
#[derive(Debug, Default)]
pub struct Given<'a>(Vec<(&'static str, Value<'a>)>);

impl<'a> Given<'a> {
    pub(crate) fn push(&mut self, name: &'static str, value: Value<'a>) {
        self.0.push((name, value));
    }

    /// Reads the parameters into the policy's own struct, with defaults for omitted ones.
    pub fn read<P: ParamSet>(&self) -> P {
        P::read(self)
    }

    /// Returns the value of a parameter, if it is given.
    pub fn value<T: Parameter>(&self, name: &str) -> Option<T> {
        let (_, value) = self.0.iter().find(|&&(given, _)| given == name)?;
        T::read(*value)
    }
}

/// A struct declared by [`params!`](crate::params).
pub trait ParamSet {
    /// Takes the given values, and the defaults of the others.
    fn read(given: &Given<'_>) -> Self;
}
