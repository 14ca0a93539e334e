//! The CUDA runtime and driver of a captured program: executes its kernels on the host, in program
//! order, and sends their records to the capture.
//!
//! ```text
//!  program ─▶ runtime/  cudaMalloc …  ┐                ┌▶ memory at fixed addresses (mapping)
//!             driver/   cuMemAlloc …  ┴─▶ context/ ────┼▶ kernels (simt)
//!             C functions                 operations   └▶ capture (relay)
//! ```
//!
//! In a program that embeds a CUDA runtime, `embedded` redirects its functions to these. The C functions
//! convert between pointers and values; `context` never sees a C pointer. This crate needs unsafe code:
//! its callers are C programs whose pointers it reads and writes. Source: NVIDIA, "CUDA Runtime API" and
//! "CUDA Driver API", called the manual in comments.
//!
//! Invariant: device addresses do not depend on where the loader places the program.

mod context;
mod driver;
mod embedded;
mod host;
mod loader;
mod mapping;
mod runtime;
mod status;
