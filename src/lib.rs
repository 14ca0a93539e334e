//! Trace-driven simulator of GPU memory systems.
