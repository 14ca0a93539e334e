//! Networks without the rest of the machine, between ports that a test fills and empties.

mod arbitration;
mod credits;
mod crossbar;
mod ideal;
mod order;
mod partitioned;
pub(super) mod rig;
mod saturation;
mod sm_links;
mod soak;
pub(super) mod spec;
mod twin_links;
mod zero_load;
