//! Any bytes, opened as a trace and read to the end: refused or read, never a panic, never a hang.
//!
//! Checksums would keep nearly all of them out: under `cfg(fuzzing)`, which cargo-fuzz sets, they are not compared.

#![no_main]

use libfuzzer_sys::fuzz_target;
use warpmem_trace::{Record, Trace, TraceError};

fuzz_target!(|bytes: &[u8]| {
    let _ = read(bytes.to_vec());
});

fn read(bytes: Vec<u8>) -> Result<(), TraceError> {
    let trace = Trace::from_bytes("input", bytes)?;
    let mut record = Record::new();
    for (number, kernel) in trace.kernels().iter().enumerate() {
        trace.instructions(number)?;
        for chunk in kernel.chunks.clone() {
            let chunk = trace.chunk(number, chunk)?;
            for (index, cta) in chunk.ctas().iter().enumerate() {
                for warp in 0..cta.warps.len() {
                    let mut cursor = chunk.warp(index, warp);
                    while cursor.next(&mut record)? {}
                }
            }
        }
    }
    Ok(())
}
