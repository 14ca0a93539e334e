//! Policies and parameters by name, the ranges of values, and what a policy costs in hardware.

mod complexity;
mod counter;
mod registry;
mod rule;

pub use complexity::{Complexity, Routers, Shape, bits};
pub use counter::Counter;
pub use registry::{
    Entry, ParamInfo, Params, PolicyError, PolicyInfo, Registry, did_you_mean, nearest, policy_name,
};
pub use rule::{Invalid, power_of_two, rule};
