//! The memory system of a whole GPU: SMs, CTA schedulers, LLC slices, and the run loop over them.

pub mod complexity;
mod controller;
pub mod cta;
pub mod engine;
pub mod ideal;
pub mod llc;
pub mod results;
pub mod sm;
