//! One warp running a kernel: 32 lanes in lockstep, control flow with reconvergence, and the record
//! of every instruction issued.
//!
//! **Every piece of code is walked, at least with an empty mask.** A body that no lane enters runs
//! once with no lane active: nothing is recorded, read or written. Each operation therefore has the
//! same position in the walk on every path, and its program counter is that position × 16 (a SASS
//! instruction has 16 bytes since Volta). Only a host-side branch on data would break this; kernels
//! have none. A host-side `for` is an unrolled loop.
//!
//! The destination register of an operation is also numbered by position, as by a compiler with
//! unlimited registers; a [`Var`] is one register written at several positions.

mod control;
mod copies;
#[cfg(test)]
pub(crate) mod journal;
pub(crate) mod lanes;
pub(crate) mod memory;
pub(crate) mod numbers;
pub(crate) mod predicate;
pub(crate) mod word;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use warpmem_trace::{
    CacheOp, CtaBuilder, Kind, MemoryOp, OpClass, Reg, Registers, Space, TraceWriter, WARP_SIZE,
    WarpAssembler,
};

use copies::Copies;
use lanes::Lanes;
use memory::Memory;
use word::Word;

/// Bytes of a SASS instruction.
const INSTRUCTION_BYTES: u64 = 16;
/// Maximum source registers of an instruction.
const MAX_SOURCES: usize = 5;

/// The shape of a launch and the position of a CTA in it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Position {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub cta: [u32; 3],
}

/// One warp of the current CTA.
pub struct Warp {
    index: u32,
    position: Cell<Position>,
    memory: Rc<RefCell<Memory>>,
    shared: Rc<RefCell<Memory>>,
    /// Declared bytes of shared memory, and those allocated to arrays.
    shared_declared: u32,
    shared_allocated: Cell<u32>,
    flow: Cell<Flow>,
    issued: RefCell<Issued>,
    copies: RefCell<Copies>,
}

/// The warp's position in the kernel, and its active lanes.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    /// Number of the next instruction in the code.
    place: u32,
    active: u32,
    /// Lanes that have not exited.
    live: u32,
    /// Register of the last instruction, if it must remain its destination.
    claimed: Option<Reg>,
}

/// The instructions so far. The last one is pending, since its destination may still change.
struct Issued {
    assembler: WarpAssembler,
    pending: Option<Pending>,
    /// Addresses of the pending instruction: one per active lane, lowest lane first. Stored
    /// separately, because most instructions have none.
    addresses: [u64; WARP_SIZE],
}

#[derive(Clone, Copy)]
struct Pending {
    place: u32,
    operation: Operation,
    mask: u32,
    destination: Option<Reg>,
    sources: Sources,
}

/// Source registers of an instruction.
#[derive(Clone, Copy)]
struct Sources {
    registers: [Reg; MAX_SOURCES],
    count: usize,
}

impl Sources {
    fn of(registers: impl IntoIterator<Item = Option<Reg>>) -> Sources {
        let mut sources = Sources { registers: [Reg(0); MAX_SOURCES], count: 0 };
        for register in registers.into_iter().flatten() {
            sources.registers[sources.count] = register;
            sources.count += 1;
        }
        sources
    }
}

#[derive(Clone, Copy)]
enum Operation {
    Compute(OpClass),
    Memory(MemoryOp),
}

/// A memory instruction before its issue.
#[derive(Clone, Copy)]
pub(super) struct Access<'a> {
    pub kind: Kind,
    pub space: Space,
    pub cache_op: CacheOp,
    pub addresses: &'a [u64; WARP_SIZE],
    pub address_register: Option<Reg>,
}

impl Warp {
    pub(super) fn new(
        index: u32,
        memory: Rc<RefCell<Memory>>,
        (shared, shared_declared): (Rc<RefCell<Memory>>, u32),
    ) -> Warp {
        Warp {
            index,
            position: Cell::default(),
            memory,
            shared,
            shared_declared,
            shared_allocated: Cell::new(0),
            flow: Cell::default(),
            issued: RefCell::new(Issued {
                assembler: WarpAssembler::new(),
                pending: None,
                addresses: [0; WARP_SIZE],
            }),
            copies: RefCell::default(),
        }
    }

    /// Starts the warp at the first instruction of the kernel, the stack pointer's (`MOV R1,
    /// c[0][0x28]`).
    pub(super) fn start(&self, position: Position) {
        let threads: u32 = position.block.iter().product();
        let lanes = (threads - self.index * WARP_SIZE as u32).min(WARP_SIZE as u32);
        let mask = u32::MAX >> (WARP_SIZE as u32 - lanes);
        self.position.set(position);
        self.shared_allocated.set(0);
        self.copies.take();
        self.flow.set(Flow { place: 0, active: mask, live: mask, claimed: None });
        self.compute(OpClass::Integer, &[]);
    }

    /// Exits the remaining lanes and writes the warp's records.
    pub(super) fn finish(&self, writer: &mut TraceWriter, cta: &mut CtaBuilder) {
        let flow = self.flow.get();
        debug_assert_eq!(flow.active, flow.live, "the kernel ends where all lanes have met again");
        let place = self.advance();
        if flow.live != 0 {
            self.sync_point(|assembler| assembler.exit(pc(place), flow.live));
        }
        cta.begin_warp(self.index);
        let mut issued = self.issued.borrow_mut();
        issued.flush();
        issued.assembler.finish(writer.dictionary(), cta);
    }

    /// Discards the issued instructions of a launch that is not in the trace.
    pub(super) fn discard(&self) {
        let mut issued = self.issued.borrow_mut();
        issued.pending = None;
        issued.assembler.clear();
    }

    // ---- thread and block indices

    /// `threadIdx.x`
    pub fn thread_x(&self) -> Lanes<'_, u32> {
        let [width, ..] = self.position.get().block;
        self.special(|linear| linear % width)
    }

    /// `threadIdx.y`
    pub fn thread_y(&self) -> Lanes<'_, u32> {
        let [width, height, _] = self.position.get().block;
        self.special(|linear| linear / width % height)
    }

    /// `threadIdx.z`
    pub fn thread_z(&self) -> Lanes<'_, u32> {
        let [width, height, _] = self.position.get().block;
        self.special(|linear| linear / width / height)
    }

    /// Number of the lane in the warp.
    pub fn lane(&self) -> Lanes<'_, u32> {
        self.special(|linear| linear % WARP_SIZE as u32)
    }

    /// One bit for each lower lane (`SR_LTMASK`).
    pub fn lanes_below(&self) -> Lanes<'_, u32> {
        self.special(|linear| (1 << (linear % WARP_SIZE as u32)) - 1)
    }

    /// `blockIdx.x`
    pub fn block_x(&self) -> Lanes<'_, u32> {
        let [x, ..] = self.position.get().cta;
        self.special(|_| x)
    }

    /// `blockIdx.y`
    pub fn block_y(&self) -> Lanes<'_, u32> {
        let [_, y, _] = self.position.get().cta;
        self.special(|_| y)
    }

    /// `blockIdx.z`
    pub fn block_z(&self) -> Lanes<'_, u32> {
        let [_, _, z] = self.position.get().cta;
        self.special(|_| z)
    }

    /// `blockDim.x`, a constant.
    pub fn block_width(&self) -> u32 {
        self.position.get().block[0]
    }

    /// `blockDim.y`, a constant.
    pub fn block_height(&self) -> u32 {
        self.position.get().block[1]
    }

    /// `gridDim.x`, a constant.
    pub fn grid_width(&self) -> u32 {
        self.position.get().grid[0]
    }

    /// `gridDim.y`, a constant.
    pub fn grid_height(&self) -> u32 {
        self.position.get().grid[1]
    }

    /// `blockIdx.x * blockDim.x + threadIdx.x`
    pub fn global_x(&self) -> Lanes<'_, u32> {
        let (block, thread) = (self.block_x(), self.thread_x());
        block.mad(self.block_width(), thread)
    }

    /// `blockIdx.y * blockDim.y + threadIdx.y`
    pub fn global_y(&self) -> Lanes<'_, u32> {
        let (block, thread) = (self.block_y(), self.thread_y());
        block.mad(self.block_height(), thread)
    }

    /// Reads a special register (`S2R`), a function of the thread's linear index in the CTA.
    fn special(&self, of: impl Fn(u32) -> u32) -> Lanes<'_, u32> {
        let register = self.compute(OpClass::Integer, &[]);
        let first = self.index * WARP_SIZE as u32;
        Lanes::new(self, std::array::from_fn(|lane| of(first + lane as u32)), Some(register))
    }

    // ---- lanes and positions

    pub(super) fn active(&self) -> u32 {
        self.flow.get().active
    }

    fn replace_active(&self, mask: u32) -> u32 {
        let before = self.active();
        self.update(|flow| flow.active = mask);
        before
    }

    fn update(&self, change: impl FnOnce(&mut Flow)) {
        let mut flow = self.flow.get();
        change(&mut flow);
        self.flow.set(flow);
    }

    /// Returns the next position in the code.
    fn advance(&self) -> u32 {
        let place = self.flow.get().place;
        self.update(|flow| {
            flow.place += 1;
            flow.claimed = None;
        });
        place
    }

    // ---- issue

    /// Issues a compute instruction of the active lanes; returns its destination register.
    pub(super) fn compute(&self, class: OpClass, sources: &[Option<Reg>]) -> Reg {
        let place = self.advance();
        let register = register_of(place);
        let mask = self.active();
        if mask != 0 {
            self.issued.borrow_mut().push(Pending {
                place,
                operation: Operation::Compute(class),
                mask,
                destination: Some(register),
                sources: Sources::of(sources.iter().copied()),
            });
        }
        register
    }

    /// Issues a branch or convergence instruction, which the warp executes even if no lane
    /// branches. Nothing is issued if no lane is active.
    fn issue_control(&self, mask: u32, sources: &[Option<Reg>]) {
        let place = self.advance();
        if self.active() != 0 {
            self.issued.borrow_mut().push(Pending {
                place,
                operation: Operation::Compute(OpClass::Control),
                mask,
                destination: None,
                sources: Sources::of(sources.iter().copied()),
            });
        }
    }

    /// Issues a memory instruction; returns its destination register, if its kind has one.
    pub(super) fn access<T: Word>(&self, access: &Access, data: &[Option<Reg>]) -> Option<Reg> {
        let place = self.advance();
        let destination =
            matches!(access.kind, Kind::Load | Kind::Atomic).then(|| register_of(place));
        let mask = self.active();
        if mask != 0 {
            let operation = Operation::Memory(MemoryOp {
                kind: access.kind,
                space: access.space,
                width: T::BYTES as u32,
                cache_op: access.cache_op,
            });
            let sources = Sources::of([access.address_register].iter().chain(data).copied());
            if access.kind == Kind::AsyncCopy {
                self.copies.borrow_mut().issue();
            }
            let mut issued = self.issued.borrow_mut();
            issued.push(Pending { place, operation, mask, destination, sources });
            if mask == u32::MAX {
                issued.addresses = *access.addresses;
            } else {
                for (slot, lane) in issued.addresses.iter_mut().zip(lanes_of(mask)) {
                    *slot = access.addresses[lane];
                }
            }
        }
        destination
    }

    /// Redirects the last instruction from `source` to `target`, as a compiler would, or issues a
    /// move if another instruction followed it.
    pub(super) fn assign(&self, target: Reg, source: Option<Reg>) {
        let flow = self.flow.get();
        let is_last = source.is_some() && source == flow.place.checked_sub(1).map(register_of);
        if !is_last || flow.claimed == source {
            self.compute(OpClass::Integer, &[source]);
        }
        self.claim_last();
        if flow.active != 0
            && let Some(last) = &mut self.issued.borrow_mut().pending
        {
            last.destination = Some(target);
        }
    }

    /// Fixes the destination of the last instruction.
    fn claim_last(&self) {
        self.update(|flow| flow.claimed = flow.place.checked_sub(1).map(register_of));
    }

    /// Issues a barrier or exit, which has no source registers.
    fn sync_point(&self, issue: impl FnOnce(&mut WarpAssembler)) {
        let mut issued = self.issued.borrow_mut();
        issued.flush();
        issue(&mut issued.assembler);
    }

    // ---- memory

    /// Allocates a static `__shared__` array of `len` elements; returns its first byte.
    pub(super) fn allocate_shared<T: Word>(&self, len: u32) -> u32 {
        let base = self.shared_allocated.get().next_multiple_of(16);
        let end = base + len * T::BYTES as u32;
        self.shared_allocated.set(end);
        let declared = self.shared_declared;
        assert!(end <= declared, "{end} bytes of shared memory, {declared} declared");
        base
    }

    /// Returns the values at the addresses of the active lanes.
    pub(super) fn read<T: Word>(
        &self,
        space: Space,
        addresses: &[u64; WARP_SIZE],
    ) -> [T; WARP_SIZE] {
        let values = self.memory_of(space).borrow().read(self.active(), addresses);
        #[cfg(test)]
        self.note(space, addresses, |lane| (Some(values[lane]), None));
        values
    }

    /// Stores the active lanes' values at their addresses, lowest lane first.
    pub(super) fn write<T: Word>(
        &self,
        space: Space,
        addresses: &[u64; WARP_SIZE],
        value: impl Fn(usize) -> T,
    ) {
        self.memory_of(space).borrow_mut().write(self.active(), addresses, &value);
        #[cfg(test)]
        self.note(space, addresses, |lane| (None, Some(value(lane))));
    }

    /// Updates the values at the addresses of the active lanes one by one, lowest lane first;
    /// returns the previous values.
    pub(super) fn read_and_write<T: Word>(
        &self,
        space: Space,
        addresses: &[u64; WARP_SIZE],
        with: impl Fn(usize, T) -> T,
    ) -> [T; WARP_SIZE] {
        let before = self.memory_of(space).borrow_mut().update(self.active(), addresses, &with);
        #[cfg(test)]
        self.note(space, addresses, |lane| (Some(before[lane]), Some(with(lane, before[lane]))));
        before
    }

    #[cfg(test)]
    fn note<T: Word>(
        &self,
        space: Space,
        addresses: &[u64; WARP_SIZE],
        words: impl Fn(usize) -> (Option<T>, Option<T>),
    ) {
        self.memory.borrow_mut().journal.access(space, self.active(), addresses, words);
    }

    fn memory_of(&self, space: Space) -> &RefCell<Memory> {
        match space {
            Space::Shared => &self.shared,
            _ => &self.memory,
        }
    }
}

impl Issued {
    /// Passes the pending instruction to the assembler; `next` becomes pending.
    fn push(&mut self, next: Pending) {
        self.flush();
        self.pending = Some(next);
    }

    /// Passes the pending instruction to the assembler.
    fn flush(&mut self) {
        let Some(last) = self.pending.take() else { return };
        // Register numbers are positions in the code, not those of a compiler.
        let sources = &last.sources.registers[..last.sources.count];
        let registers = Registers::new(last.destination.as_slice(), sources);
        match last.operation {
            Operation::Compute(class) => self.assembler.compute(class, last.mask, registers),
            Operation::Memory(op) => {
                let addresses = &self.addresses[..last.mask.count_ones() as usize];
                self.assembler.memory(pc(last.place), op, last.mask, registers, addresses);
            }
        }
    }
}

fn pc(place: u32) -> u64 {
    u64::from(place) * INSTRUCTION_BYTES
}

fn register_of(place: u32) -> Reg {
    Reg(u16::try_from(place).expect("a kernel has at most 65,536 instructions"))
}

/// Iterates over the lanes of a mask, lowest first.
pub(super) fn lanes_of(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = (mask != 0).then(|| mask.trailing_zeros() as usize);
        mask &= mask.wrapping_sub(1);
        lane
    })
}
