//! Recorders: turn the executed instructions of each warp into trace records, or discard them.

use std::collections::BTreeMap;

use warpmem_trace::{
    Barrier, CtaBuilder, KernelInfo, L2Policy, Mbarrier, MemoryOp, OpClass, Reg, Registers,
    TraceError, TraceSink, TraceWriter, WarpAssembler,
};

/// Registers of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Operands<'a> {
    pub writes: &'a [Reg],
    pub reads: &'a [Reg],
    /// Use of the register read ports.
    pub ports: warpmem_trace::Operands,
}

impl<'a> From<Operands<'a>> for Registers<'a> {
    fn from(operands: Operands<'a>) -> Registers<'a> {
        let Operands { writes, reads, ports } = operands;
        Registers { dests: writes, srcs: reads, operands: ports }
    }
}

/// Receives the instructions of one warp.
pub trait WarpRecorder: Send {
    /// Whether records are kept; otherwise the contents of memory records are not computed.
    const KEEPS: bool = true;

    /// Records `count` dependent instructions of a class.
    fn compute(&mut self, class: OpClass, count: u32, mask: u32, operands: Operands<'_>);
    /// Records a memory instruction; `addresses` has one address per lane of the mask, lowest lane first.
    fn memory(
        &mut self,
        pc: u64,
        op: MemoryOp,
        mask: u32,
        operands: Operands<'_>,
        addresses: &[u64],
    );
    fn barrier(&mut self, pc: u64, barrier: Barrier, mask: u32);
    fn barrier_arrive(&mut self, pc: u64, barrier: Barrier, mask: u32);
    fn fence(&mut self, pc: u64, mask: u32);
    fn cluster_arrive(&mut self, pc: u64, mask: u32);
    fn cluster_wait(&mut self, pc: u64, mask: u32);
    /// Sets the destination CTAs of the last asynchronous copy, one bit per rank of the cluster.
    fn copied_to(&mut self, destinations: u16);
    fn exit(&mut self, pc: u64, mask: u32);
    /// Makes the next instruction wait for the `copies` oldest asynchronous copies.
    fn wait_async(&mut self, copies: usize);
    /// Sets the mbarrier operation of the last memory instruction.
    fn with_mbarrier(&mut self, operation: Mbarrier);
    /// Sets the L2 policy of the last memory instruction.
    fn with_l2_policy(&mut self, policy: L2Policy);
}

/// Receives the instructions of all warps. Warps and CTAs are interleaved, so every warp has its own
/// recorder.
pub trait Recorder {
    type Warp: WarpRecorder;

    /// Returns the recorder of a new warp.
    fn begin_warp(&mut self) -> Self::Warp;
    /// Takes the warps of a completed CTA, by its number in the grid.
    ///
    /// # Errors
    /// When the records cannot be kept.
    fn end_cta(
        &mut self,
        number: u64,
        block: [u32; 3],
        warps: Vec<Self::Warp>,
    ) -> Result<(), TraceError>;
}

/// Discards all records.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRecorder;

impl WarpRecorder for () {
    const KEEPS: bool = false;

    fn compute(&mut self, _: OpClass, _: u32, _: u32, _: Operands<'_>) {}
    fn memory(&mut self, _: u64, _: MemoryOp, _: u32, _: Operands<'_>, _: &[u64]) {}
    fn barrier(&mut self, _: u64, _: Barrier, _: u32) {}
    fn barrier_arrive(&mut self, _: u64, _: Barrier, _: u32) {}
    fn fence(&mut self, _: u64, _: u32) {}
    fn cluster_arrive(&mut self, _: u64, _: u32) {}
    fn cluster_wait(&mut self, _: u64, _: u32) {}
    fn copied_to(&mut self, _: u16) {}
    fn exit(&mut self, _: u64, _: u32) {}
    fn wait_async(&mut self, _: usize) {}
    fn with_mbarrier(&mut self, _: Mbarrier) {}
    fn with_l2_policy(&mut self, _: L2Policy) {}
}

impl Recorder for NoRecorder {
    type Warp = ();

    fn begin_warp(&mut self) {}

    fn end_cta(&mut self, _: u64, _: [u32; 3], _: Vec<()>) -> Result<(), TraceError> {
        Ok(())
    }
}

/// Writes the records of one kernel into a trace: in grid order of CTAs, and cluster by cluster if there are
/// clusters.
pub struct TraceRecorder<'w, S = TraceWriter> {
    sink: &'w mut S,
    cta: CtaBuilder,
    /// CTAs that completed before an earlier one.
    waiting: BTreeMap<u64, ([u32; 3], Vec<WarpAssembler>)>,
    next: u64,
    /// Assemblers of completed warps, whose memory is reused.
    spare: Vec<WarpAssembler>,
}

impl<'w, S: TraceSink> TraceRecorder<'w, S> {
    /// Begins a kernel of a trace.
    ///
    /// # Errors
    /// When another kernel is open.
    pub fn begin(sink: &'w mut S, info: KernelInfo) -> Result<TraceRecorder<'w, S>, TraceError> {
        sink.begin_kernel(info)?;
        let (cta, waiting) = (CtaBuilder::new(), BTreeMap::new());
        Ok(TraceRecorder { sink, cta, waiting, next: 0, spare: Vec::new() })
    }

    /// Ends the kernel.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn end(self) -> Result<(), TraceError> {
        self.sink.end_kernel()
    }
}

impl WarpRecorder for WarpAssembler {
    fn compute(&mut self, class: OpClass, count: u32, mask: u32, operands: Operands<'_>) {
        self.compute(class, mask, operands.into());
        if count > 1 {
            let again = Registers::new(operands.writes, operands.writes);
            (1..count).for_each(|_| self.compute(class, mask, again));
        }
    }

    fn memory(
        &mut self,
        pc: u64,
        op: MemoryOp,
        mask: u32,
        operands: Operands<'_>,
        addresses: &[u64],
    ) {
        self.memory(pc, op, mask, operands.into(), addresses);
    }

    fn barrier(&mut self, pc: u64, barrier: Barrier, mask: u32) {
        self.barrier(pc, barrier, mask);
    }

    fn barrier_arrive(&mut self, pc: u64, barrier: Barrier, mask: u32) {
        self.barrier_arrive(pc, barrier, mask);
    }

    fn fence(&mut self, pc: u64, mask: u32) {
        self.fence(pc, mask);
    }

    fn cluster_arrive(&mut self, pc: u64, mask: u32) {
        self.cluster_arrive(pc, mask);
    }

    fn cluster_wait(&mut self, pc: u64, mask: u32) {
        self.cluster_wait(pc, mask);
    }

    fn copied_to(&mut self, destinations: u16) {
        self.copied_to(destinations);
    }

    fn exit(&mut self, pc: u64, mask: u32) {
        self.exit(pc, mask);
    }

    fn wait_async(&mut self, copies: usize) {
        self.wait_async_first(copies);
    }

    fn with_mbarrier(&mut self, operation: Mbarrier) {
        self.with_mbarrier(operation);
    }

    fn with_l2_policy(&mut self, policy: L2Policy) {
        self.with_l2_policy(policy);
    }
}

impl<S: TraceSink> Recorder for TraceRecorder<'_, S> {
    type Warp = WarpAssembler;

    fn begin_warp(&mut self) -> WarpAssembler {
        self.spare.pop().unwrap_or_default()
    }

    fn end_cta(
        &mut self,
        number: u64,
        block: [u32; 3],
        warps: Vec<WarpAssembler>,
    ) -> Result<(), TraceError> {
        self.waiting.insert(number, (block, warps));
        while let Some((block, warps)) = self.waiting.remove(&self.next) {
            self.cta.begin(block);
            for (number, mut warp) in (0..).zip(warps) {
                self.cta.begin_warp(number);
                warp.finish(self.sink.dictionary(), &mut self.cta);
                self.spare.push(warp);
            }
            self.sink.cta(&self.cta)?;
            self.next += 1;
        }
        Ok(())
    }
}
