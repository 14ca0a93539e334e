//! Reads all records of a trace once, in the order documented by a profile.

use super::{ProfileError, Progress};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use warpmem_trace::{Chunk, Instruction, Record, Trace, TraceError, WarpCursor};

/// Number of chunks decompressed ahead.
const AHEAD: usize = 2;

/// Receives the records.
pub(super) trait Visitor {
    /// Begins a launch.
    fn kernel(&mut self, kernel: usize, instructions: &[Instruction]);
    /// Begins a CTA with this many warps, and ends the previous one. Neighbours in launch order
    /// have consecutive numbers; numbers of different kernels are never consecutive.
    fn cta(&mut self, number: u64, warps: usize);
    fn record(&mut self, warp: usize, record: &Record);
}

type Chunks = Receiver<Result<Arc<Chunk>, TraceError>>;

/// Reads kernel by kernel and CTA by CTA, in launch order; within a CTA round robin over the warps,
/// one record each. A helper thread decompresses ahead; at most a few chunks are in memory.
pub(super) fn read(
    trace: &Trace,
    visitor: &mut impl Visitor,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<(), ProfileError> {
    std::thread::scope(|scope| {
        let (sender, chunks) = sync_channel(AHEAD);
        scope.spawn(move || {
            let all = trace.kernels().iter().enumerate();
            let mut all = all.flat_map(|(number, kernel)| {
                kernel.chunks.clone().map(move |chunk| (number, chunk))
            });
            // The receiver is gone if the reader failed.
            let _ = all.try_for_each(|(kernel, chunk)| sender.send(trace.chunk(kernel, chunk)));
        });
        read_kernels(trace, &chunks, visitor, progress)
    })
}

fn read_kernels(
    trace: &Trace,
    chunks: &Chunks,
    visitor: &mut impl Visitor,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<(), ProfileError> {
    let mut read = Progress { records: 0 };
    let mut first_number = 0;
    for (number, kernel) in trace.kernels().iter().enumerate() {
        visitor.kernel(number, &trace.instructions(number)?);
        for _ in kernel.chunks.clone() {
            let Ok(chunk) = chunks.recv() else { break };
            read.records += read_chunk(&chunk?, first_number, visitor)?;
            if progress(&read).is_break() {
                return Err(ProfileError::Interrupted);
            }
        }
        first_number += u64::from(kernel.ctas) + 1;
    }
    Ok(())
}

/// Reads a chunk, and returns the number of its records.
fn read_chunk(
    chunk: &Arc<Chunk>,
    first_number: u64,
    visitor: &mut impl Visitor,
) -> Result<u64, TraceError> {
    let mut records = 0;
    let mut record = Record::new();
    let first = first_number + u64::from(chunk.first_cta());
    for ((at, cta), number) in chunk.ctas().iter().enumerate().zip(first..) {
        visitor.cta(number, cta.warps.len());
        let mut warps: Vec<(usize, WarpCursor)> =
            (0..cta.warps.len()).map(|warp| (warp, chunk.warp(at, warp))).collect();
        while !warps.is_empty() {
            let mut failed = None;
            warps.retain_mut(|(warp, cursor)| match cursor.next(&mut record) {
                Ok(true) => {
                    records += 1;
                    visitor.record(*warp, &record);
                    true
                }
                Ok(false) => false,
                Err(error) => {
                    failed.get_or_insert(error);
                    false
                }
            });
            if let Some(error) = failed {
                return Err(error);
            }
        }
    }
    Ok(records)
}
