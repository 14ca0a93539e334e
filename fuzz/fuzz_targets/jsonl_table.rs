//! Imports any text as a table of warp instructions in JSON lines. It must be read or rejected without panic or hang.

#![no_main]

use libfuzzer_sys::fuzz_target;
use warpmem::import::{TableOptions, import_jsonl};
use warpmem_fuzz::import::into_memory;
use warpmem_fuzz::with_file;

fuzz_target!(|bytes: &[u8]| {
    let options = TableOptions::default();
    let _ = with_file(bytes, |path| into_memory(|trace| import_jsonl(path, trace, &options, &())));
});
