//! Networks without the rest of the machine, between ports that a test fills and empties.

mod arbitration;
mod credits;
mod crossbar;
mod ideal;
mod order;
mod partitioned;
mod peer_links;
pub(super) mod rig;
mod saturation;
mod sm_links;
mod soak;
pub(super) mod spec;
mod zero_load;
