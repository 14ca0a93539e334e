//! Networks on their own, between ports that a test fills and empties.

mod crossbar;
mod ideal;
mod rig;
mod soak;
mod zero_load;
