//! Reads any bytes as every file format of graphs and matrices. They must be read or rejected without panic or hang, in
//! memory proportional to the text.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| warpmem::workload::read_as_every_format(text));
