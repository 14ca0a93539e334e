use crate::barrier::Barrier;
use crate::cta::CtaBuilder;
use crate::dictionary::{Dictionary, Distances, FlatCompute, FlatInstruction};
use crate::l2_policy::L2Policy;
use crate::mbarrier::Mbarrier;
use crate::operands::Operands;
use crate::record::{CacheOp, Kind, OpClass, Space};

/// A register of a warp. General, predicate and uniform registers are numbered separately. The
/// constant registers (`RZ`, `PT`, `URZ`) do not count as registers here.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reg(pub u16);

/// The operation of a memory instruction, without its registers and addresses.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct MemoryOp {
    pub kind: Kind,
    pub space: Space,
    /// Bytes per lane.
    pub width: u32,
    pub cache_op: CacheOp,
}

/// The registers of an instruction.
#[derive(Copy, Clone, Debug)]
pub struct Registers<'a> {
    /// Registers that it writes. An instruction that writes several (a wide load) names all of
    /// them.
    pub dests: &'a [Reg],
    /// Registers that it reads; for a memory instruction, its address and data registers.
    pub srcs: &'a [Reg],
    pub operands: Operands,
}

impl<'a> Registers<'a> {
    /// Registers whose numbers do not tell their banks: the sources are assumed to be spread over
    /// the banks.
    pub fn new(dests: &'a [Reg], srcs: &'a [Reg]) -> Registers<'a> {
        let is_first = |&at: &usize| !srcs[..at].contains(&srcs[at]);
        let operands = Operands::spread((0..srcs.len()).filter(is_first).count());
        Registers { dests, srcs, operands }
    }
}

/// Turns the full instruction stream of a warp into its records. The compute instructions between
/// two records become part of the second one, and register names become dependence distances. One
/// assembler is reused for one warp after another.
///
/// A register write counts as a full write even under a partial mask: a later reader depends on
/// that write only. Overwriting a register that an earlier instruction reads is not a dependence,
/// because registers are read at issue and instructions issue in order.
#[derive(Default)]
pub struct WarpAssembler {
    /// Instructions pushed so far, over all warps, so that a write by an earlier warp is recognised
    /// by its position.
    count: u64,
    /// Position of the first instruction of this warp.
    start: u64,
    /// The last writer of each register, in any warp.
    writers: Vec<Option<Writer>>,
    records: Vec<Draft>,
    compute: Vec<FlatCompute>,
    /// Active lanes of the compute since the last record.
    lanes: [u32; OpClass::COUNT],
    addresses: Vec<u64>,
    /// Records that are async copies and have not been waited for.
    copies: Vec<usize>,
    /// How many of `copies`, from the first on, the next instruction waits for.
    waited: usize,
}

#[derive(Clone, Copy)]
struct Writer {
    /// Position of the instruction, counted over all warps.
    position: u64,
    /// Its record, if it is not a compute instruction.
    record: Option<usize>,
}

/// A record whose result has not been used yet.
struct Draft {
    position: u64,
    pc: u64,
    op: MemoryOp,
    barrier: Option<Barrier>,
    destinations: u16,
    mbarrier: Option<Mbarrier>,
    l2_policy: Option<L2Policy>,
    mask: u32,
    deps: Distances,
    operands: Operands,
    use_distance: Option<u32>,
    address_from: Option<u32>,
    lanes: [u32; OpClass::COUNT],
    /// Where its compute and its addresses end; they start where those of the previous draft end.
    compute_end: usize,
    addresses_end: usize,
}

/// The memory operation of a record without addresses.
const NO_MEMORY: MemoryOp =
    MemoryOp { kind: Kind::End, space: Space::None, width: 0, cache_op: CacheOp::Default };

impl WarpAssembler {
    pub fn new() -> WarpAssembler {
        WarpAssembler::default()
    }

    /// An instruction that is neither memory, barrier, fence nor exit.
    pub fn compute(&mut self, class: OpClass, mask: u32, registers: Registers<'_>) {
        let position = self.advance();
        let deps = self.depend(position, registers);
        self.write(Writer { position, record: None }, registers.dests);
        self.compute.push(FlatCompute { class, operands: registers.operands, deps });
        self.lanes[class as usize] += mask.count_ones();
    }

    /// A memory instruction; `addresses`: one per active lane, lowest lane first.
    pub fn memory(
        &mut self,
        pc: u64,
        op: MemoryOp,
        mask: u32,
        registers: Registers<'_>,
        addresses: &[u64],
    ) {
        let position = self.advance();
        let record = self.records.len();
        let loads = registers.srcs.iter().filter_map(|&reg| self.writer(reg)?.record);
        let address_from = loads.max().map(|load| (record - load) as u32);
        let deps = self.depend(position, registers);
        self.write(Writer { position, record: Some(record) }, registers.dests);
        self.addresses.extend_from_slice(addresses);
        let operands = registers.operands;
        self.record(Draft { pc, op, mask, deps, operands, address_from, ..Draft::at(position) });
        if op.kind == Kind::AsyncCopy {
            self.copies.push(record);
        }
    }

    /// Says that the result of the memory instruction pushed last is first used after `distance`
    /// more instructions (0 = by the next one). For sources that do not tell registers.
    pub fn used_after(&mut self, distance: u32) {
        if let Some(draft) = self.records.last_mut() {
            draft.use_distance = Some(distance);
        }
    }

    /// Arrives at a barrier of the CTA, and waits for the others.
    pub fn barrier(&mut self, pc: u64, barrier: Barrier, mask: u32) {
        let op = MemoryOp { kind: Kind::Barrier, ..NO_MEMORY };
        let draft = Draft::at(self.advance());
        self.record(Draft { pc, op, mask, barrier: Some(barrier), ..draft });
    }

    /// Arrives at a barrier for some warps of the CTA, and goes on.
    pub fn barrier_arrive(&mut self, pc: u64, barrier: Barrier, mask: u32) {
        let op = MemoryOp { kind: Kind::BarrierArrive, ..NO_MEMORY };
        let draft = Draft::at(self.advance());
        self.record(Draft { pc, op, mask, barrier: Some(barrier), ..draft });
    }

    pub fn fence(&mut self, pc: u64, mask: u32) {
        let op = MemoryOp { kind: Kind::Fence, ..NO_MEMORY };
        let draft = Draft::at(self.advance());
        self.record(Draft { pc, op, mask, ..draft });
    }

    /// Arrives at the barrier of the cluster.
    pub fn cluster_arrive(&mut self, pc: u64, mask: u32) {
        let op = MemoryOp { kind: Kind::ClusterArrive, ..NO_MEMORY };
        let draft = Draft::at(self.advance());
        self.record(Draft { pc, op, mask, ..draft });
    }

    /// Waits at the barrier of the cluster.
    pub fn cluster_wait(&mut self, pc: u64, mask: u32) {
        let op = MemoryOp { kind: Kind::ClusterWait, ..NO_MEMORY };
        let draft = Draft::at(self.advance());
        self.record(Draft { pc, op, mask, ..draft });
    }

    /// Says that the async copy pushed last goes into the shared memory of these CTAs of the
    /// cluster, a bit for each rank, instead of the warp's own.
    pub fn copied_to(&mut self, destinations: u16) {
        if let Some(draft) = self.records.last_mut() {
            draft.destinations = destinations;
        }
    }

    /// Says what the memory instruction pushed last does with mbarriers. An async copy that signals one
    /// is waited for there, not in the order of the others.
    pub fn with_mbarrier(&mut self, operation: Mbarrier) {
        let Some(draft) = self.records.last_mut() else { return };
        draft.mbarrier = Some(operation);
        let signals = matches!(operation, Mbarrier::Signal { .. });
        let last = self.records.len() - 1;
        self.copies.pop_if(|&mut copy| signals && copy == last);
    }

    /// Says how long lines of the memory instruction pushed last are to stay in L2.
    pub fn with_l2_policy(&mut self, policy: L2Policy) {
        if let Some(draft) = self.records.last_mut() {
            draft.l2_policy = Some(policy);
        }
    }

    /// The lanes of `mask` end.
    pub fn exit(&mut self, pc: u64, mask: u32) {
        let op = MemoryOp { kind: Kind::Exit, ..NO_MEMORY };
        let draft = Draft::at(self.advance());
        self.record(Draft { pc, op, mask, ..draft });
    }

    /// The next instruction waits for every async copy pushed so far.
    pub fn wait_async(&mut self) {
        self.wait_async_first(usize::MAX);
    }

    /// The next instruction waits for this many of the async copies that have not been waited for,
    /// from the oldest on.
    pub fn wait_async_first(&mut self, copies: usize) {
        self.waited = copies.min(self.copies.len());
    }

    /// Ends the warp: interns its instructions in the kernel's dictionary, appends its records to
    /// the warp that `cta` began last, and clears the assembler. Compute after the last record
    /// becomes part of a [`Kind::End`] record.
    pub fn finish(&mut self, dictionary: &mut Dictionary, cta: &mut CtaBuilder) {
        let covered = self.records.last().map_or(0, |draft| draft.compute_end);
        if covered < self.compute.len() {
            self.record(Draft::at(self.count));
        }
        let (mut compute_start, mut addresses_start) = (0, 0);
        for draft in &self.records {
            let id = dictionary.intern_flat(&FlatInstruction {
                pc: draft.pc,
                kind: draft.op.kind,
                space: draft.op.space,
                cache_op: draft.op.cache_op,
                width: draft.op.width,
                barrier: draft.barrier,
                destinations: draft.destinations,
                mbarrier: draft.mbarrier,
                l2_policy: draft.l2_policy,
                deps: draft.deps,
                operands: draft.operands,
                use_distance: draft.use_distance,
                address_from: draft.address_from,
                compute: &self.compute[compute_start..draft.compute_end],
            });
            let addresses = &self.addresses[addresses_start..draft.addresses_end];
            cta.push(id, draft.mask, &draft.lanes, addresses);
            compute_start = draft.compute_end;
            addresses_start = draft.addresses_end;
        }
        self.clear();
    }

    /// Discards the warp that has been begun.
    pub fn clear(&mut self) {
        self.start = self.count;
        self.records.clear();
        self.compute.clear();
        self.lanes = [0; OpClass::COUNT];
        self.addresses.clear();
        self.copies.clear();
        self.waited = 0;
    }

    /// The position of a new instruction.
    fn advance(&mut self) -> u64 {
        let position = self.count;
        self.count += 1;
        if self.waited > 0 {
            for copy in self.copies.drain(..self.waited) {
                self.records[copy].used_at(position);
            }
            self.waited = 0;
        }
        position
    }

    /// Distances to the compute results that an instruction needs or overwrites. Results of records
    /// that it needs or overwrites are marked as used.
    fn depend(&mut self, position: u64, registers: Registers<'_>) -> Distances {
        let mut deps = Distances::default();
        for &reg in registers.dests.iter().chain(registers.srcs) {
            match self.writer(reg) {
                Some(Writer { record: Some(record), .. }) => self.records[record].used_at(position),
                Some(writer) => deps.add(position - writer.position),
                None => {}
            }
        }
        deps
    }

    fn write(&mut self, writer: Writer, dests: &[Reg]) {
        for &reg in dests {
            let index = usize::from(reg.0);
            if index >= self.writers.len() {
                self.writers.resize(index + 1, None);
            }
            self.writers[index] = Some(writer);
        }
    }

    fn writer(&self, reg: Reg) -> Option<Writer> {
        let last = self.writers.get(usize::from(reg.0)).copied().flatten();
        last.filter(|writer| writer.position >= self.start)
    }

    fn record(&mut self, mut draft: Draft) {
        draft.lanes = std::mem::take(&mut self.lanes);
        draft.compute_end = self.compute.len();
        draft.addresses_end = self.addresses.len();
        self.records.push(draft);
    }
}

impl Draft {
    fn at(position: u64) -> Draft {
        Draft {
            position,
            pc: 0,
            op: NO_MEMORY,
            barrier: None,
            destinations: 0,
            mbarrier: None,
            l2_policy: None,
            mask: 0,
            deps: Distances::default(),
            operands: Operands::NONE,
            use_distance: None,
            address_from: None,
            lanes: [0; OpClass::COUNT],
            compute_end: 0,
            addresses_end: 0,
        }
    }

    /// Only the first use counts.
    fn used_at(&mut self, position: u64) {
        let distance = position - self.position - 1;
        self.use_distance.get_or_insert(u32::try_from(distance).unwrap_or(u32::MAX));
    }
}
