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

/// The registers that an instruction writes and reads.
#[derive(Copy, Clone, Debug)]
pub struct Registers<'a> {
    /// Registers written. A wide load names every register it writes.
    pub dests: &'a [Reg],
    /// Registers read, including the address and data registers of a memory instruction.
    pub srcs: &'a [Reg],
    pub operands: Operands,
}

impl<'a> Registers<'a> {
    /// Registers whose banks are unknown: the sources are assumed to spread evenly over the banks.
    pub fn new(dests: &'a [Reg], srcs: &'a [Reg]) -> Registers<'a> {
        let is_first = |&at: &usize| !srcs[..at].contains(&srcs[at]);
        let operands = Operands::spread((0..srcs.len()).filter(is_first).count());
        Registers { dests, srcs, operands }
    }
}

/// Turns the full instruction stream of a warp into its records. The compute instructions between
/// two records become part of the second one, and register names become dependence distances. One
/// assembler serves all warps of a trace.
///
/// A register write counts as a full write even under a partial mask: a later reader depends on
/// that write only. Overwriting a source of an earlier instruction is not a dependence, because
/// registers are read at issue and instructions issue in order.
#[derive(Default)]
pub struct WarpAssembler {
    /// Instructions pushed so far, over all warps, so that the position of a write identifies
    /// writes by earlier warps.
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
    /// Records of async copies without a wait so far.
    copies: Vec<usize>,
    /// Number of `copies`, oldest first, that the next instruction waits for.
    waited: usize,
}

#[derive(Clone, Copy)]
struct Writer {
    /// Position of the instruction, counted over all warps.
    position: u64,
    /// Its record, if it is not a compute instruction.
    record: Option<usize>,
}

/// A record whose result is unused so far.
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
    /// End of its compute and of its addresses; they start at the end of the previous draft.
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

    /// Appends an instruction that is neither memory, barrier, fence nor exit.
    pub fn compute(&mut self, class: OpClass, mask: u32, registers: Registers<'_>) {
        let position = self.advance();
        let deps = self.depend(position, registers);
        self.write(Writer { position, record: None }, registers.dests);
        self.compute.push(FlatCompute { class, operands: registers.operands, deps });
        self.lanes[class as usize] += mask.count_ones();
    }

    /// Makes registers further names of a result: that of the last instruction that wrote a source.
    pub fn rename(&mut self, registers: Registers<'_>) {
        let writers = registers.srcs.iter().filter_map(|&reg| self.writer(reg));
        let last = writers.max_by_key(|writer| writer.position);
        for &reg in registers.dests {
            self.set_writer(reg, last);
        }
    }

    /// Appends a memory instruction. `addresses` has one entry per active lane, lowest lane first.
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

    /// Sets the first use of the last memory instruction's result to `distance` instructions later
    /// (0 = the next one), for sources without register names.
    pub fn used_after(&mut self, distance: u32) {
        if let Some(draft) = self.records.last_mut() {
            draft.use_distance = Some(distance);
        }
    }

    /// Appends a barrier of the CTA: the warp arrives and waits for the others.
    pub fn barrier(&mut self, pc: u64, barrier: Barrier, mask: u32) {
        let op = MemoryOp { kind: Kind::Barrier, ..NO_MEMORY };
        let draft = Draft::at(self.advance());
        self.record(Draft { pc, op, mask, barrier: Some(barrier), ..draft });
    }

    /// Appends an arrival at a barrier for some warps of the CTA. The warp does not wait.
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

    /// Appends an arrival at the cluster barrier.
    pub fn cluster_arrive(&mut self, pc: u64, mask: u32) {
        let op = MemoryOp { kind: Kind::ClusterArrive, ..NO_MEMORY };
        let draft = Draft::at(self.advance());
        self.record(Draft { pc, op, mask, ..draft });
    }

    /// Appends a wait at the cluster barrier.
    pub fn cluster_wait(&mut self, pc: u64, mask: u32) {
        let op = MemoryOp { kind: Kind::ClusterWait, ..NO_MEMORY };
        let draft = Draft::at(self.advance());
        self.record(Draft { pc, op, mask, ..draft });
    }

    /// Directs the last async copy to the shared memory of these CTAs of the cluster, one bit per
    /// rank, instead of the warp's own.
    pub fn copied_to(&mut self, destinations: u16) {
        if let Some(draft) = self.records.last_mut() {
            draft.destinations = destinations;
        }
    }

    /// Attaches an mbarrier operation to the last memory instruction. An async copy that signals an
    /// mbarrier is waited for there and leaves the order of the other copies.
    pub fn with_mbarrier(&mut self, operation: Mbarrier) {
        let Some(draft) = self.records.last_mut() else { return };
        draft.mbarrier = Some(operation);
        let signals = matches!(operation, Mbarrier::Signal { .. });
        let last = self.records.len() - 1;
        self.copies.pop_if(|&mut copy| signals && copy == last);
    }

    /// Attaches an L2 eviction policy to the last memory instruction.
    pub fn with_l2_policy(&mut self, policy: L2Policy) {
        if let Some(draft) = self.records.last_mut() {
            draft.l2_policy = Some(policy);
        }
    }

    /// Appends an exit of the lanes in `mask`.
    pub fn exit(&mut self, pc: u64, mask: u32) {
        let op = MemoryOp { kind: Kind::Exit, ..NO_MEMORY };
        let draft = Draft::at(self.advance());
        self.record(Draft { pc, op, mask, ..draft });
    }

    /// Makes the next instruction wait for every async copy pushed so far.
    pub fn wait_async(&mut self) {
        self.wait_async_first(usize::MAX);
    }

    /// Makes the next instruction wait for the oldest `copies` outstanding async copies.
    pub fn wait_async_first(&mut self, copies: usize) {
        self.waited = copies.min(self.copies.len());
    }

    /// Ends the warp: interns its instructions in the kernel's dictionary, appends its records to
    /// the last warp of `cta`, and clears the assembler. Compute after the last record becomes part
    /// of a [`Kind::End`] record.
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

    /// Discards the open warp.
    pub fn clear(&mut self) {
        self.start = self.count;
        self.records.clear();
        self.compute.clear();
        self.lanes = [0; OpClass::COUNT];
        self.addresses.clear();
        self.copies.clear();
        self.waited = 0;
    }

    /// Returns the position of a new instruction.
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

    /// Returns distances to the compute results that an instruction reads or overwrites, and marks
    /// the results of such records as used.
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
            self.set_writer(reg, Some(writer));
        }
    }

    fn set_writer(&mut self, reg: Reg, writer: Option<Writer>) {
        let index = usize::from(reg.0);
        if index >= self.writers.len() {
            self.writers.resize(index + 1, None);
        }
        self.writers[index] = writer;
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
