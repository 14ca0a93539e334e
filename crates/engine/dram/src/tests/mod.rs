//! Tests of channels, in four layers: smoke (every request completes), shape (expected bandwidth),
//! timings (illegal at n - 1, legal at n), scheduling (short request lists, exact commands).

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
mod requests;
mod rotation;
mod scheduling;
mod shape;
mod smoke;
mod streaks;
mod timings;
