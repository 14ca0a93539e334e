//! Traces: those in the repository, and Accel-Sim's, read and written.

#[cfg(feature = "capture")]
mod captured_traces;
mod export_accel_sim;
mod import_accel_sim;
mod sample_traces;
