//! Parameters and policies by name: descriptions of parameters, which generate parsing, errors,
//! help and documentation; registries of policies; rules about values; and the hardware cost of
//! policies. This crate knows no policy and no key.

mod choice;
mod complexity;
mod counter;
mod declare;
mod given;
mod kind;
pub mod limits;

mod parameter;
mod registry;
mod rule;

pub use choice::Choice;
pub use complexity::{Complexity, Routers, Shape, bits};
pub use counter::Counter;
pub use given::{Given, ParamSet};
pub use kind::{Kind, LARGEST, Real, Value, Whole, parse_whole};
pub use parameter::{
    Adaptive, Declared, DefaultValue, Field, Key, OrMachine, Param, Parameter, Typed, describe,
    empty_section,
};
pub use registry::{
    AddError, Chosen, Entry, PolicyError, PolicyInfo, Registry, did_you_mean, nearest, policy_name,
};
pub use rule::{Invalid, power_of_two, rule};
#[doc(hidden)]
pub use serde;

// The macros name this crate by its external name.
#[cfg(test)]
extern crate self as warpmem_params;
