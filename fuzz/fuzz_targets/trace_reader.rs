//! Opens any bytes as a trace and reads it to the end. It must be read or rejected without panic or hang.
//!
//! Checksums would reject nearly all inputs, so they are not compared under `cfg(fuzzing)`, which cargo-fuzz sets.

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
