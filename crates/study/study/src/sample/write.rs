//! Writes a part of a trace as a separate trace.

use super::{KernelPart, Part, PartProgress, ProgressCallback, SampleError};
use std::path::Path;
use std::sync::Arc;
use warpmem_support::files::claims::is_same;
use warpmem_trace::{
    Chunk, CtaBuilder, InstructionId, Provenance, Record, Trace, TraceSummary, TraceWriter,
    WriterOptions,
};

/// Writes the CTAs of `part` to `output`, chunk by chunk. Kernels keep their headers (the whole
/// grid, however many CTAs remain), host-to-device copies keep their positions, and records are
/// unchanged. No file remains after an error.
///
/// # Errors
/// If the trace is damaged, `output` cannot be written, or `progress` stops the work.
pub fn write(
    trace: &Trace,
    part: &Part,
    output: &Path,
    provenance: Provenance,
    options: WriterOptions,
    progress: &mut ProgressCallback<'_>,
) -> Result<TraceSummary, SampleError> {
    if is_same(trace.path(), output) {
        return Err(SampleError::OverItself);
    }
    let mut watch = PartProgress::new(part, progress);
    let mut writer = TraceWriter::create(output, provenance, options)?;
    let mut copies = trace.header().memcpys.iter().peekable();
    let mut l2_resets = trace.header().l2_resets.iter().peekable();
    for kernel in &part.kernels {
        while l2_resets.next_if(|&&before| before as usize <= kernel.kernel).is_some() {
            writer.reset_l2();
        }
        while let Some(copy) = copies.next_if(|copy| copy.before_kernel as usize <= kernel.kernel) {
            writer.memcpy(copy.address, copy.bytes);
        }
        write_kernel(trace, kernel, &mut writer, &mut watch)?;
    }
    // Copies before a dropped kernel do not affect the kept kernels.
    if part.kernels.last().is_some_and(|last| last.kernel + 1 == trace.kernels().len()) {
        copies.for_each(|copy| writer.memcpy(copy.address, copy.bytes));
    }
    Ok(writer.finish()?)
}

fn write_kernel(
    trace: &Trace,
    part: &KernelPart,
    writer: &mut TraceWriter,
    watch: &mut PartProgress<'_, '_>,
) -> Result<(), SampleError> {
    writer.begin_kernel(trace.kernels()[part.kernel].info.clone())?;
    // All instructions in their order, so that selecting everything preserves the ids and content
    // of the trace.
    let instructions = trace.instructions(part.kernel)?;
    let ids: Vec<InstructionId> = instructions.iter().map(|one| writer.intern(one)).collect();
    let mut cta = CtaBuilder::new();
    part.for_each(trace, |chunk, place| {
        copy_cta(chunk, place, &ids, &mut cta)?;
        writer.cta(&cta)?;
        watch.done()
    })?;
    Ok(writer.end_kernel()?)
}

fn copy_cta(
    chunk: &Arc<Chunk>,
    place: usize,
    ids: &[InstructionId],
    cta: &mut CtaBuilder,
) -> Result<(), SampleError> {
    let entry = &chunk.ctas()[place];
    cta.begin(entry.block);
    let mut record = Record::new();
    for (index, warp) in entry.warps.iter().enumerate() {
        cta.begin_warp(warp.warp_in_cta);
        let mut cursor = chunk.warp(place, index);
        while cursor.next(&mut record)? {
            let id = ids[record.instruction.0 as usize];
            cta.push(id, record.mask, &record.compute_lanes, record.active_addresses());
        }
    }
    Ok(())
}
