//! Any text, read as a DRAM standard; the rules of one that is accepted are evaluated for each of its presets.

#![no_main]

use libfuzzer_sys::fuzz_target;
use warpmem::dram::standard::Standard;

fuzz_target!(|text: &str| Standard::read_and_evaluate(text));
