//! Comparisons of hand-made runs, with results computed by hand.

pub(crate) mod fixture;
mod means;
mod mixed;
mod output;
mod overrides;
mod ratio;
mod refused;
mod repeats;
