//! Kernels of the trace and their progress.

use super::{DispatchError, KernelSource};
use crate::cta::residency::{CtaNeeds, check_cluster};
use crate::sampling::{Parts, Work};
use crate::sm::Code;
use std::sync::Arc;
use warpmem_machine::Machine;
use warpmem_sim::CoreCycle;
use warpmem_trace::{Chunk, KernelInfo, TraceError};

/// A kernel of the trace.
pub(super) struct Kernel {
    pub info: KernelInfo,
    pub needs: CtaNeeds,
    /// CTAs that fit in an empty SM.
    pub per_sm: u32,
    /// Number of CTAs to run.
    pub ctas: u32,
    /// CTAs of a cluster; 1 without clusters.
    pub cluster: u32,
    /// Number of its first CTA among all CTAs of the trace.
    pub first_number: u32,
    /// Number of chunks of CTAs.
    pub chunks: usize,
    pub state: State,
    /// L1 capacity in bytes beside the shared memory of its resident CTAs.
    pub l1_bytes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Waiting,
    Running,
    Done,
}

/// A running kernel.
pub(super) struct Running {
    /// Index of the kernel in the trace.
    pub kernel: usize,
    pub code: Arc<Code>,
    /// Current chunk, next chunk to load, and index of the next CTA in the current chunk.
    pub chunk: Option<Arc<Chunk>>,
    pub next_chunk: usize,
    pub next_in_chunk: usize,
    /// Next CTA to start, and number of ended CTAs.
    pub next_cta: u32,
    pub ended: u32,
    /// Warp instructions of ended CTAs.
    pub issued: u64,
    /// Cycle of the next instruction count, with `run.launch_instructions`.
    pub next_count: Option<CoreCycle>,
    /// First cycle in which a CTA may start.
    pub first_cta: CoreCycle,
    /// Simulated parts; none if it is simulated whole.
    pub parts: Option<Parts>,
    /// Cycle before its first, and cycles and instructions of the run before its current part.
    pub start: CoreCycle,
    pub before_part: Work,
}

impl Kernel {
    pub fn new(
        machine: &Machine,
        kernel: &warpmem_trace::Kernel,
        first_number: u32,
    ) -> Result<Kernel, DispatchError> {
        let needs = CtaNeeds::of(&kernel.info, &machine.sm)?;
        let per_sm = needs.per_sm(&machine.sm);
        check_cluster(&kernel.info, per_sm, machine)?;
        Ok(Kernel {
            info: kernel.info.clone(),
            needs,
            per_sm,
            ctas: kernel.ctas,
            cluster: kernel.info.ctas_per_cluster(),
            first_number,
            chunks: kernel.chunks.len(),
            state: State::Waiting,
            l1_bytes: machine.l1.bytes_beside(per_sm * needs.shared_bytes),
        })
    }

    /// Returns the CTAs of whole clusters that `sms` empty SMs hold.
    pub fn wave(&self, sms: u32) -> u32 {
        self.per_sm * sms / self.cluster * self.cluster
    }

    /// Refuses a CTA with more warps than its kernel's block: the excess was not counted in its
    /// resources.
    pub fn check_warps(&self, chunk: &Chunk, cta: usize) -> Result<(), TraceError> {
        let (warps, most) = (chunk.ctas()[cta].warps.len(), self.needs.warps);
        if warps <= most as usize {
            return Ok(());
        }
        let [x, y, z] = self.info.block;
        Err(chunk.damaged(&format!(
            "a CTA of kernel `{}` has {warps} warps but its block of {x} x {y} x {z} threads has {most}",
            self.info.name
        )))
    }
}

impl Running {
    /// Goes on to `cta`, at this index of a chunk, as if those before it had ended. Returns their
    /// number.
    pub fn skip_to(&mut self, cta: u32, (chunk, in_chunk): (usize, usize)) -> u32 {
        let skipped = cta - self.next_cta;
        (self.chunk, self.next_chunk, self.next_in_chunk) = (None, chunk, in_chunk);
        self.ended += skipped;
        self.next_cta = cta;
        skipped
    }

    /// Returns the chunk with the next CTA, at index `next_in_chunk`.
    pub fn next_in_chunk(
        &mut self,
        chunks: usize,
        source: &mut dyn KernelSource,
    ) -> Result<Arc<Chunk>, TraceError> {
        loop {
            if let Some(chunk) = &self.chunk
                && self.next_in_chunk < chunk.ctas().len()
            {
                return Ok(Arc::clone(chunk));
            }
            assert!(self.next_chunk < chunks, "the chunks hold all CTAs of the kernel");
            let is_first = self.chunk.is_none();
            self.chunk = Some(source.chunk(self.kernel, self.next_chunk)?);
            self.next_chunk += 1;
            // The first chunk after a skip begins at the CTA that was skipped to.
            self.next_in_chunk = if is_first { self.next_in_chunk } else { 0 };
        }
    }
}
