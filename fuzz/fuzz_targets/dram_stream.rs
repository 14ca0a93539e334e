//! Reads any bytes to the end as a file of DRAM accesses, plain or compressed with gzip.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use warpmem::standalone::dram::{AccessFile, StandaloneError};
use warpmem_fuzz::with_file;

fuzz_target!(|bytes: &[u8]| {
    let _ = with_file(bytes, read);
});

fn read(path: &Path) -> Result<(), StandaloneError> {
    let mut file = AccessFile::open(path)?;
    while file.read()?.is_some() {}
    Ok(())
}
