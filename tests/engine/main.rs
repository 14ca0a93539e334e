//! The engine as a whole: small traces through whole machines.

mod random_programs;
mod trace;
