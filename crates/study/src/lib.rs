//! Studies made of traces and runs.

pub mod classify;
pub mod correlate;
pub mod profile;
pub mod reproduce;
pub mod sample;
pub mod suite;
pub mod sweep;
