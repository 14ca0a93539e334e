//! The CUDA runtime and driver of a captured program: its kernels are executed on the host, in
//! order, and passed on to be recorded.
//!
//! ```text
//!  program ─▶ runtime/  cudaMalloc …  ┐                ┌▶ memory at fixed addresses (mapping)
//!             driver/   cuMemAlloc …  ┴─▶ context/ ────┼▶ kernels (simt)
//!             the C functions            what they do  └▶ capture (relay)
//! ```
//!
//! A program that carries a CUDA runtime is made to call these functions instead (`carried`). The C
//! functions turn pointers into values and back; `context` knows nothing of C. This crate has
//! unsafe code: its callers are programs in C, and it reads and writes what their pointers name. Source: NVIDIA, "CUDA Runtime API" and "CUDA Driver API", to which comments refer
//! as the manual.
//!
//! Invariant: device addresses do not depend on where the loader puts the program.

mod carried;
mod context;
mod driver;
mod host;
mod loader;
mod mapping;
mod runtime;
mod status;
