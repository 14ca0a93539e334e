//! Captures of test programs: the test executable runs itself with one of its ignored tests as the program.

use std::env;
use std::path::{Path, PathBuf};

use warpmem_capture::relay::SOCKET;
use warpmem_capture::{
    Device, Program, ProgramCapture, ProgramOptions, Registers, Selection, Settings,
    capture_program,
};

/// Returns whether this process runs inside a capture.
pub fn is_captured() -> bool {
    env::var_os(SOCKET).is_some()
}

/// Returns the path of the runtime, which is built beside the tests.
pub fn runtime() -> PathBuf {
    env::current_exe().unwrap().parent().unwrap().join("libwarpmem_cudart.so")
}

/// Returns the options of a capture with one thread, on a device of compute capability 7.5.
pub fn options(output: Option<&Path>) -> ProgramOptions {
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
    ProgramOptions {
        output: output.map(Path::to_owned),
        selection: Selection::all(),
        registers: Registers::Estimated,
        settings: Settings { device, max_instructions: 1 << 30, threads: 1 },
        command: "of a test".into(),
    }
}

/// Captures the ignored test `name` of this executable.
pub fn capture(name: &str, options: &ProgramOptions) -> ProgramCapture {
    let mut command = vec![env::current_exe().unwrap().into_os_string()];
    command.extend(["--exact", name, "--ignored", "--test-threads=1"].map(Into::into));
    capture_program(&Program { command, runtime: runtime() }, options, &()).unwrap()
}
