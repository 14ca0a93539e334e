//! Imports any text as a log of NVBit's `mem_trace`. It must be read or rejected without panic or hang.

#![no_main]

use libfuzzer_sys::fuzz_target;
use warpmem::import::{MemTraceOptions, import_mem_trace};
use warpmem_fuzz::import::into_memory;
use warpmem_fuzz::with_file;

fuzz_target!(|bytes: &[u8]| {
    let options = MemTraceOptions::default();
    let _ =
        with_file(bytes, |path| into_memory(|trace| import_mem_trace(path, trace, &options, &())));
});
