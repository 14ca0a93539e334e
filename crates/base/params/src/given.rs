//! The options of a policy, read from what was given.

use crate::{Parameter, Value};

/// The values given for the parameters of a policy; each is valid.
#[derive(Debug, Default)]
pub struct Given<'a>(Vec<(&'static str, Value<'a>)>);

impl<'a> Given<'a> {
    pub(crate) fn push(&mut self, name: &'static str, value: Value<'a>) {
        self.0.push((name, value));
    }

    /// Reads the parameters into the policy's own struct, with the defaults of those not given.
    pub fn read<P: ParamSet>(&self) -> P {
        P::read(self)
    }

    /// Returns the value of a parameter, if it is given.
    pub fn value<T: Parameter>(&self, name: &str) -> Option<T> {
        let (_, value) = self.0.iter().find(|&&(given, _)| given == name)?;
        T::read(*value)
    }
}

/// A struct that [`params!`](crate::params) declares.
pub trait ParamSet {
    /// The values given, and the defaults of the others.
    fn read(given: &Given<'_>) -> Self;
}
