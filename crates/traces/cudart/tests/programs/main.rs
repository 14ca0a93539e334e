//! Whole programs: this test executable is also the program that is captured, which calls the
//! runtime's C functions as a compiler's code does, with a fat binary that is made here.

mod api;
mod captures;
mod clusters;
mod driver;
mod fat_binary;
mod pools;
mod program;
mod tensor;
mod windows;
