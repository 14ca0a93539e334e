//! A program that embeds a CUDA runtime. This test executable defines functions of a runtime, is captured,
//! and has them replaced by the library's.

#![cfg(target_arch = "x86_64")]
#![allow(non_snake_case, reason = "the names are those of the manual")]

use std::env;
use std::hint::black_box;

use warpmem_capture::{
    Device, Program, ProgramOptions, ProgramStatus, Registers, Selection, Settings, capture_program,
};

/// Status returned by the program's own functions.
const CARRIED: u32 = 999;

/// Body that is longer than a jump and never inlined.
#[inline(never)]
fn carried(number: u64) -> u32 {
    black_box([number; 4]);
    black_box(CARRIED)
}

/// Function whose presence marks a program with an embedded runtime.
#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinary(wrapper: u64) -> u64 {
    u64::from(carried(wrapper))
}

#[unsafe(no_mangle)]
extern "C" fn cudaSetDevice(device: i32) -> u32 {
    carried(device as u64)
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetDeviceCount(count: &mut i32) -> u32 {
    carried(black_box(*count) as u64)
}

/// Function that the library lacks.
#[unsafe(no_mangle)]
extern "C" fn cudaFrobnicate(number: u64) -> u32 {
    carried(number)
}

#[test]
#[ignore = "runs only inside a capture"]
fn program() {
    let is_captured = env::var_os(warpmem_capture::relay::SOCKET).is_some();
    let mut count = 7;
    let (set, got) = (cudaSetDevice(1), cudaGetDeviceCount(&mut count));
    assert_eq!((set, got), if is_captured { (101, 0) } else { (CARRIED, CARRIED) });
    assert_eq!(count, if is_captured { 1 } else { 7 });
    assert_eq!(cudaFrobnicate(1), CARRIED);
    assert_eq!(__cudaRegisterFatBinary(0) == u64::from(CARRIED), !is_captured);
}

#[test]
fn functions_of_an_embedded_runtime_are_replaced() {
    // Outside a capture, the program calls its own functions.
    program();
    let executable = env::current_exe().unwrap();
    let runtime = executable.parent().unwrap().join("libwarpmem_cudart.so");
    let mut command = vec![executable.into_os_string()];
    command.extend(["--exact", "program", "--ignored", "--test-threads=1"].map(Into::into));
    let device = Device {
        name: "a device of the tests".into(),
        capability: (7, 5),
        sms: 7,
        clock_khz: 1_000_000,
        memory_clock_khz: 1_000_000,
        bus_bits: 256,
        l2_bytes: 1 << 20,
        registers: 65_536,
        shared_bytes: 64 << 10,
        threads: 1024,
        ctas: 16,
    };
    let options = ProgramOptions {
        output: None,
        selection: Selection::all(),
        registers: Registers::Estimated,
        settings: Settings { device, max_instructions: 1 << 30, threads: 1 },
        command: "of a test".into(),
    };
    let captured = capture_program(&Program { command, runtime }, &options, &()).unwrap();
    assert_eq!(captured.status, ProgramStatus::Exited(0));
}
