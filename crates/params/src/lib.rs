//! Policies and parameters by name, rules about values, and the hardware cost of policies.

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
