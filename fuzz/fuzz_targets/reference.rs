//! Reads any bytes as results of Accel-Sim, both as a log and as JSON.

#![no_main]

use libfuzzer_sys::fuzz_target;
use warpmem::study::correlate::Reference;
use warpmem_fuzz::with_file;

fuzz_target!(|bytes: &[u8]| {
    let _ = with_file(bytes, Reference::read);
});
