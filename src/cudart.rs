//! The CUDA runtime of captured programs as a file that `cargo install` copies: it installs programs and no
//! libraries, so `build.rs` links this program as a shared library.

#![no_main]

extern crate warpmem_cudart as _;
