//! Recorder: writes the records that the warps of a kernel assemble.

use std::collections::BTreeMap;

#[cfg(not(test))]
pub(crate) use warpmem_trace::WarpAssembler;
use warpmem_trace::{CtaBuilder, KernelInfo, TraceError, TraceSink};

#[cfg(test)]
pub(crate) use crate::tests::events::WarpAssembler;

/// A completed CTA, with the records of its warps if they are kept.
pub(crate) struct Ended {
    pub number: u64,
    pub block: [u32; 3],
    pub warps: Vec<Option<WarpAssembler>>,
    pub output: String,
}

/// Writes the records of one kernel into a trace: in grid order of CTAs, and cluster by cluster if there are
/// clusters. Warps and CTAs execute interleaved, so every warp has its own assembler.
pub struct TraceRecorder<'w> {
    sink: &'w mut dyn TraceSink,
    cta: CtaBuilder,
    /// CTAs that completed before an earlier one.
    waiting: BTreeMap<u64, Ended>,
    next: u64,
    /// Assemblers of completed warps, whose memory is reused.
    pub(crate) spare: Vec<WarpAssembler>,
}

impl<'w> TraceRecorder<'w> {
    /// Begins a kernel of a trace.
    ///
    /// # Errors
    /// When another kernel is open.
    pub fn begin(
        sink: &'w mut dyn TraceSink,
        info: KernelInfo,
    ) -> Result<TraceRecorder<'w>, TraceError> {
        sink.begin_kernel(info)?;
        let (cta, waiting) = (CtaBuilder::new(), BTreeMap::new());
        Ok(TraceRecorder { sink, cta, waiting, next: 0, spare: Vec::new() })
    }

    /// Returns the assembler of a new warp.
    pub(crate) fn begin_warp(&mut self) -> WarpAssembler {
        self.spare.pop().unwrap_or_default()
    }

    /// Takes the records of a completed CTA.
    pub(crate) fn end_cta(&mut self, ended: Ended) -> Result<(), TraceError> {
        self.waiting.insert(ended.number, ended);
        while let Some(ended) = self.waiting.remove(&self.next) {
            self.cta.begin(ended.block);
            for (number, mut warp) in (0..).zip(ended.warps.into_iter().flatten()) {
                self.cta.begin_warp(number);
                warp.finish(self.sink.dictionary(), &mut self.cta);
                self.spare.push(warp);
            }
            self.sink.cta(&self.cta)?;
            self.next += 1;
        }
        Ok(())
    }

    /// Ends the kernel.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn end(self) -> Result<(), TraceError> {
        self.sink.end_kernel()
    }
}
