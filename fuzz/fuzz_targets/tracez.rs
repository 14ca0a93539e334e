//! Imports any bytes as a `.tracez` file: directly if they start like one, otherwise as the parts of a file built from
//! them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use warpmem_fuzz::import::import;
use warpmem_fuzz::{tracez, with_file};

fuzz_target!(|bytes: &[u8]| {
    let _ = match bytes.split_first() {
        Some((b'=', whole)) => with_file(whole, import),
        _ => with_file(&tracez::write(bytes), import),
    };
});
