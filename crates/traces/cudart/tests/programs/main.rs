//! Captures of whole programs. This test executable is also the captured program: like compiled code, it
//! calls the runtime's C functions, with a fat binary that it builds itself.

mod api;
mod captures;
mod clusters;
#[path = "../common/mod.rs"]
mod common;
mod driver;
mod fat_binary;
mod pools;
mod program;
mod tensor;
mod windows;
