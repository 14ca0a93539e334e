//! A program that embeds a CUDA runtime. This test executable defines functions of a runtime, is captured,
//! and has them replaced by the library's.

#![cfg(target_arch = "x86_64")]
#![allow(non_snake_case, reason = "the names are those of the manual")]

#[path = "../common/mod.rs"]
mod common;

use std::hint::black_box;

use warpmem_capture::ProgramStatus;

use common::{capture, is_captured, options};

/// Status returned by the program's own functions.
const EMBEDDED: u32 = 999;

/// Body that is longer than a jump and never inlined.
#[inline(never)]
fn embedded(number: u64) -> u32 {
    black_box([number; 4]);
    black_box(EMBEDDED)
}

/// Function whose presence marks a program with an embedded runtime.
#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinary(wrapper: u64) -> u64 {
    u64::from(embedded(wrapper))
}

#[unsafe(no_mangle)]
extern "C" fn cudaSetDevice(device: i32) -> u32 {
    embedded(device as u64)
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetDeviceCount(count: &mut i32) -> u32 {
    embedded(black_box(*count) as u64)
}

/// Function that the library lacks.
#[unsafe(no_mangle)]
extern "C" fn cudaFrobnicate(number: u64) -> u32 {
    embedded(number)
}

#[test]
#[ignore = "runs only inside a capture"]
fn program() {
    let is_captured = is_captured();
    let mut count = 7;
    let (set, got) = (cudaSetDevice(1), cudaGetDeviceCount(&mut count));
    assert_eq!((set, got), if is_captured { (101, 0) } else { (EMBEDDED, EMBEDDED) });
    assert_eq!(count, if is_captured { 1 } else { 7 });
    assert_eq!(cudaFrobnicate(1), EMBEDDED);
    assert_eq!(__cudaRegisterFatBinary(0) == u64::from(EMBEDDED), !is_captured);
}

#[test]
fn functions_of_an_embedded_runtime_are_replaced() {
    // Outside a capture, the program calls its own functions.
    program();
    let captured = capture("program", &options(None));
    assert_eq!(captured.status, ProgramStatus::Exited(0));
}
