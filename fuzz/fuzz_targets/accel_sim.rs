//! Any text, imported as a kernel file of Accel-Sim's tracer, grouped or raw, whatever it is compressed with: refused or
//! read, never a panic, never a hang.

#![no_main]

use libfuzzer_sys::fuzz_target;
use warpmem_fuzz::import::import;
use warpmem_fuzz::with_file;

fuzz_target!(|bytes: &[u8]| {
    let _ = with_file(bytes, import);
});
