//! Tests of channels, in four layers: smoke (everything comes back), shape (bandwidth as it must
//! be), timings (illegal at n - 1, legal at n), scheduling (short request lists, exact commands).

mod addresses;
mod bound;
mod energy;
pub mod harness;
mod layout;
mod loaded;
mod mutations;
mod options;
mod prefetch;
mod properties;
mod reference;
mod rotation;
mod scheduling;
mod shape;
mod smoke;
mod streaks;
mod timings;
