//! Any bytes, read as each kind of file that graphs and matrices come from: refused or read, never a panic, never a hang,
//! and no more memory than the text accounts for.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| warpmem::workload::read_as_every_format(text));
