//! Imports any text as a kernel file of Accel-Sim's tracer, grouped or raw, with any compression. It must be read or
//! rejected without panic or hang.

#![no_main]

use libfuzzer_sys::fuzz_target;
use warpmem_fuzz::import::import;
use warpmem_fuzz::with_file;

fuzz_target!(|bytes: &[u8]| {
    let _ = with_file(bytes, import);
});
