//! State of a warp: registers, frames, private memory, paths.

use std::fmt;

use warpmem_ptx::{Axis, ClusterBarrier, Special};
use warpmem_trace::Reg;

use crate::cluster_shape::ClusterShape;
use crate::copies::CopyGroups;
use crate::lanes::{Lanes, WARP, mask_of, merge};
use crate::peers::address_in;
use crate::program::{Dest, FrameSlot, Private, Program, Source};
use crate::recorder::WarpAssembler;
use crate::stack::PathStack;

/// Scheduling state of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Runs,
    /// Waits at a barrier of its CTA.
    AtBarrier {
        barrier: u8,
    },
    /// Waits at the cluster barrier.
    AtClusterBarrier,
    /// Some lanes wait at a barrier that the others cannot reach.
    Divided {
        at: WaitPoint,
    },
    Ended,
}

/// Barrier at which the lanes of a warp wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitPoint {
    /// A barrier of the CTA.
    Barrier(u8),
    /// A half of the cluster barrier.
    Cluster(ClusterBarrier),
}

impl fmt::Display for WaitPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WaitPoint::Barrier(number) => write!(f, "barrier {number}"),
            WaitPoint::Cluster(ClusterBarrier::Arrive) => f.write_str("barrier.cluster.arrive"),
            WaitPoint::Cluster(ClusterBarrier::Wait) => f.write_str("barrier.cluster.wait"),
        }
    }
}

/// Progress of a warp at the cluster barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ClusterPhase {
    #[default]
    Idle,
    Arrived,
    /// All others have arrived too, and the warp has not waited yet.
    Complete,
}

/// Arrival of a warp at a barrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub at: WaitPoint,
    /// Expected warps; `None` for all live warps of the CTA.
    pub warps: Option<u8>,
    /// Lanes whose condition of a reduction holds.
    pub holds: u32,
    pub lanes: u32,
    /// Whether the warp waits for the others.
    pub waits: bool,
}

/// Frame of a function call, or of the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub routine: usize,
    /// First rows of its registers, by class.
    pub rows: [usize; 3],
    /// First byte of its local memory, and of its parameters.
    pub local: u64,
    pub param: u64,
    /// Call of the caller's routine that created it.
    pub call: u32,
}

impl Frame {
    /// Returns its first byte in a memory.
    fn begin(&self, memory: Private) -> u64 {
        match memory {
            Private::Local => self.local,
            Private::Param => self.param,
        }
    }
}

/// Position of a warp in its grid, and the grid itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub cta: [u32; 3],
    pub cluster: ClusterShape,
    /// Rank of the CTA in its cluster.
    pub rank: u32,
    /// Number of the CTA in its grid; the CTAs of a cluster are consecutive.
    pub cta_number: u64,
    pub warp_in_cta: u32,
    /// Bytes of shared memory: total, and dynamic.
    pub shared: [u32; 2],
    /// Address of the launch's shared workspace; 0 for none.
    pub workspace: u64,
}

impl Place {
    /// Returns the start address of the CTA's shared memory.
    #[inline]
    pub fn shared_base(&self) -> u64 {
        address_in(self.rank.into(), 0)
    }
}

/// Registers of a warp, by class.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    predicates: Vec<u32>,
    narrow: Vec<Lanes<u32>>,
    wide: Vec<Lanes<u64>>,
}

/// A warp.
pub(crate) struct Warp {
    pub place: Place,
    pub state: State,
    pub stack: PathStack,
    pub frames: Vec<Frame>,
    /// Registers by class: those of the kernel, followed by those of the open calls.
    predicates: Vec<u32>,
    narrow: Vec<Lanes<u32>>,
    wide: Vec<Lanes<u64>>,
    /// Carry flags of the lanes.
    pub carry: u32,
    pub local: PrivateMemory,
    pub params: PrivateMemory,
    /// Instructions executed.
    pub executed: u64,
    pub copies: CopyGroups,
    /// Arrival of the lanes that wait at a barrier for the rest of the warp.
    pub gathered: Option<Arrival>,
    pub cluster_phase: ClusterPhase,
    /// Records of its instructions; `None` discards them.
    pub records: Option<WarpAssembler>,
}

impl Warp {
    /// Creates a warp; reuses the memory of an ended one.
    pub fn new(
        program: &Program,
        place: Place,
        kernel_params: u64,
        records: Option<WarpAssembler>,
        ended: Option<Rows>,
    ) -> Warp {
        let threads: u32 = place.block.iter().product();
        let first = place.warp_in_cta * WARP as u32;
        let Rows { mut predicates, mut narrow, mut wide } = ended.unwrap_or_default();
        predicates.clear();
        narrow.clear();
        wide.clear();
        let mut warp = Warp {
            place,
            state: State::Runs,
            stack: PathStack::new(mask_of(|lane| first + (lane as u32) < threads)),
            frames: Vec::new(),
            predicates,
            narrow,
            wide,
            carry: 0,
            local: PrivateMemory::default(),
            params: PrivateMemory::default(),
            executed: 0,
            copies: CopyGroups::default(),
            gathered: None,
            cluster_phase: ClusterPhase::Idle,
            records,
        };
        let lanes = warp.stack.lanes();
        warp.record(|records| program.generation.begin(records, lanes));
        warp.push_frame(program, 0, 0);
        warp.params.first = kernel_params;
        warp
    }

    /// Returns its records, and the memory of its registers for reuse.
    pub fn into_parts(self) -> (Option<WarpAssembler>, Rows) {
        let Warp { predicates, narrow, wide, records, .. } = self;
        (records, Rows { predicates, narrow, wide })
    }

    /// Calls a function with the records, unless they are discarded.
    #[inline(always)]
    pub fn record(&mut self, f: impl FnOnce(&mut WarpAssembler)) {
        if let Some(records) = &mut self.records {
            f(records);
        }
    }

    /// Enters a routine.
    pub fn push_frame(&mut self, program: &Program, routine: usize, call: u32) {
        let below = self.frames.last().map(|frame| &program.routines[frame.routine]);
        let (local, param) = match (self.frames.last(), below) {
            (Some(frame), Some(below)) => (
                frame.local + below.local_bytes,
                (frame.param + below.param_bytes).next_multiple_of(16),
            ),
            _ => (0, 0),
        };
        let entered = &program.routines[routine];
        let rows = [self.predicates.len(), self.narrow.len(), self.wide.len()];
        let [predicates, narrow, wide] = entered.rows.map(|rows| rows as usize);
        self.predicates.resize(rows[0] + predicates, 0);
        self.narrow.resize(rows[1] + narrow, [0; WARP]);
        self.wide.resize(rows[2] + wide, [0; WARP]);
        self.local.resize(local + entered.local_bytes);
        self.params.resize(param + entered.param_bytes);
        self.frames.push(Frame { routine, rows, local, param, call });
    }

    /// Returns the local memory of a thread, in bytes, if the innermost routine calls another. The kernel's
    /// own parameters, which come first, are not included.
    pub fn private_bytes_with(&self, program: &Program, callee: usize) -> u64 {
        let frame = self.frame();
        let caller = &program.routines[frame.routine];
        let taken = frame.local.saturating_add(frame.param).saturating_add(caller.private_bytes());
        let taken = taken.saturating_add(program.routines[callee].private_bytes());
        taken.saturating_sub(self.params.first)
    }

    /// Leaves the innermost routine.
    pub fn pop_frame(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        self.predicates.truncate(frame.rows[0]);
        self.narrow.truncate(frame.rows[1]);
        self.wide.truncate(frame.rows[2]);
    }

    #[inline]
    pub fn frame(&self) -> &Frame {
        self.frames.last().expect("a warp has a frame until it ends")
    }

    /// Reads up to 8 bytes of a lane, `at` bytes into a slot of a frame.
    pub fn read_slot(
        &self,
        frame: &Frame,
        slot: FrameSlot,
        lane: usize,
        at: u64,
        length: u64,
    ) -> u64 {
        let address = frame.begin(slot.memory) + slot.offset + at;
        match slot.memory {
            Private::Local => self.local.read(lane, address, length),
            Private::Param => self.params.read(lane, address, length),
        }
    }

    /// Writes up to 8 bytes, otherwise as [`Warp::read_slot`].
    pub fn write_slot(
        &mut self,
        frame: &Frame,
        slot: FrameSlot,
        lane: usize,
        at: u64,
        length: u64,
        value: u64,
    ) {
        let address = frame.begin(slot.memory) + slot.offset + at;
        match slot.memory {
            Private::Local => self.local.write(lane, address, length, value),
            Private::Param => self.params.write(lane, address, length, value),
        }
    }

    /// Returns the lanes in which a predicate holds.
    #[inline]
    pub fn predicate(&self, row: u32) -> u32 {
        self.predicates[self.frame().rows[0] + row as usize]
    }

    /// Returns the lanes in which a predicate operand holds.
    pub fn predicate_of(&self, source: Source) -> u32 {
        match source {
            Source::Predicate { row, negated } => {
                self.predicate(row) ^ if negated { u32::MAX } else { 0 }
            }
            Source::Constant(0) => 0,
            Source::Special(Special::IsExplicitCluster) if !self.place.cluster.is_explicit => 0,
            _ => u32::MAX,
        }
    }

    pub fn set_predicate(&mut self, dest: Dest, value: u32, mask: u32) {
        if let Dest::Predicate(row) = dest {
            let at = self.frame().rows[0] + row as usize;
            let old = &mut self.predicates[at];
            *old = *old & !mask | value & mask;
        }
    }

    /// Returns the low 32 bits of an operand.
    #[inline(always)]
    pub fn narrow(&self, source: Source) -> Lanes<u32> {
        match source {
            Source::Narrow(row) => self.narrow[self.frame().rows[1] + row as usize],
            Source::Constant(bits) => [bits as u32; WARP],
            other => self.other(other).map(|value| value as u32),
        }
    }

    /// Returns the 64 bits of an operand; narrow ones are zero-extended.
    #[inline(always)]
    pub fn wide(&self, source: Source) -> Lanes<u64> {
        match source {
            Source::Wide(row) => self.wide[self.frame().rows[2] + row as usize],
            Source::Constant(bits) => [bits; WARP],
            other => self.other(other),
        }
    }

    #[inline(never)]
    fn other(&self, source: Source) -> Lanes<u64> {
        match source {
            Source::Narrow(row) => self.narrow[self.frame().rows[1] + row as usize].map(u64::from),
            Source::Wide(row) => self.wide[self.frame().rows[2] + row as usize],
            Source::Constant(bits) => [bits; WARP],
            Source::Shared(offset) => [self.place.shared_base().wrapping_add(offset); WARP],
            Source::Local(offset) => [self.frame().local + offset; WARP],
            Source::Param(offset) => [self.frame().param + offset; WARP],
            Source::Special(special) => self.special(special),
            Source::Predicate { .. } => {
                let holds = self.predicate_of(source);
                std::array::from_fn(|lane| u64::from(holds >> lane & 1))
            }
        }
    }

    #[inline(always)]
    pub fn set_narrow(&mut self, dest: Dest, values: &Lanes<u32>, mask: u32) {
        match dest {
            Dest::Narrow(row) => {
                let at = self.frame().rows[1] + row as usize;
                merge(&mut self.narrow[at], values, mask);
            }
            Dest::Wide(_) => self.set_wide(dest, &values.map(u64::from), mask),
            Dest::Predicate(_) | Dest::Sink => {}
        }
    }

    #[inline(always)]
    pub fn set_wide(&mut self, dest: Dest, values: &Lanes<u64>, mask: u32) {
        match dest {
            Dest::Wide(row) => {
                let at = self.frame().rows[2] + row as usize;
                merge(&mut self.wide[at], values, mask);
            }
            Dest::Narrow(_) => self.set_narrow(dest, &values.map(|value| value as u32), mask),
            Dest::Predicate(_) | Dest::Sink => {}
        }
    }

    /// Returns the coordinates of a lane's thread in its CTA.
    pub fn thread(&self, lane: usize) -> [u32; 3] {
        let [x, y, _] = self.place.block;
        let number = self.place.warp_in_cta * WARP as u32 + lane as u32;
        [number % x, number / x % y, number / x / y]
    }

    fn special(&self, special: Special) -> Lanes<u64> {
        let axis = |axis: Axis, of: [u32; 3]| u64::from(of[axis as usize]);
        let place = &self.place;
        let threads: u32 = place.block.iter().product();
        let same = match special {
            Special::Tid(of) => return std::array::from_fn(|lane| axis(of, self.thread(lane))),
            Special::LaneId => return std::array::from_fn(|lane| lane as u64),
            Special::LanemaskEq => return std::array::from_fn(|lane| 1 << lane),
            Special::LanemaskLt => return std::array::from_fn(|lane| (1 << lane) - 1),
            Special::LanemaskLe => return std::array::from_fn(|lane| (2 << lane) - 1),
            Special::LanemaskGt => {
                return std::array::from_fn(|lane| u64::from(u32::MAX) & !((2 << lane) - 1));
            }
            Special::LanemaskGe => {
                return std::array::from_fn(|lane| u64::from(u32::MAX) & !((1 << lane) - 1));
            }
            Special::Ntid(of) => axis(of, place.block),
            Special::Ctaid(of) => axis(of, place.cta),
            Special::Nctaid(of) => axis(of, place.grid),
            Special::WarpId => place.warp_in_cta.into(),
            Special::NwarpId => threads.div_ceil(WARP as u32).into(),
            // Time is the warp's instruction count: it advances, and is the same in every run.
            Special::Clock | Special::Clock64 | Special::GlobalTimer | Special::GlobalTimerLo => {
                self.executed
            }
            Special::TotalSharedBytes => place.shared[0].into(),
            Special::DynamicSharedBytes => place.shared[1].into(),
            Special::Workspace => place.workspace & u64::from(u32::MAX),
            Special::WorkspaceHi => place.workspace >> 32,
            Special::ClusterId(of) => axis(of, place.cta) / axis(of, place.cluster.sides),
            Special::NclusterId(of) => axis(of, place.cluster.clusters(place.grid)),
            Special::ClusterCtaid(of) => axis(of, place.cta) % axis(of, place.cluster.sides),
            Special::ClusterNctaid(of) => axis(of, place.cluster.sides),
            Special::ClusterCtarank => place.rank.into(),
            Special::ClusterNctarank => place.cluster.ctas().into(),
            Special::IsExplicitCluster => place.cluster.is_explicit.into(),
            Special::NsmId => 1,
            Special::SmId | Special::GridId | Special::ClockHi | Special::GlobalTimerHi => 0,
        };
        [same; WARP]
    }

    /// Passes the cluster barrier if the warp waits there; returns whether it did.
    pub fn leave_cluster_barrier(&mut self) -> bool {
        let waits = self.state == State::AtClusterBarrier;
        if waits {
            self.state = State::Runs;
            self.cluster_phase = ClusterPhase::Idle;
            self.stack.release();
        }
        waits
    }

    /// Calls a function that sees the registers of the innermost routine's caller.
    pub fn in_caller(&mut self, f: impl FnOnce(&mut Warp)) {
        if let Some(frame) = self.frames.pop() {
            f(self);
            self.frames.push(frame);
        }
    }

    /// Returns the trace number of a register of the innermost routine.
    pub fn register(&self, Reg(number): Reg) -> Reg {
        Reg(number.saturating_add(self.frame().rows.iter().sum::<usize>() as u16))
    }
}

/// Private memory of the threads of a warp, interleaved by word.
#[derive(Clone, Debug, Default)]
pub(crate) struct PrivateMemory {
    words: Vec<Lanes<u32>>,
    bytes: u64,
    /// First stored byte; the bytes before it are the kernel's parameters.
    pub first: u64,
}

impl PrivateMemory {
    fn resize(&mut self, bytes: u64) {
        self.bytes = bytes;
        let words = bytes.div_ceil(4) as usize;
        match self.words.is_empty() {
            // Zeroed pages of the allocator cost no memory until touched.
            true => self.words = vec![[0; WARP]; words],
            false => self.words.resize(words, [0; WARP]),
        }
    }

    /// Returns whether these bytes are stored.
    pub fn holds(&self, address: u64, length: u64) -> bool {
        address.checked_add(length).is_some_and(|end| end <= self.bytes)
    }

    /// Reads up to 8 stored bytes of a lane.
    pub fn read(&self, lane: usize, address: u64, length: u64) -> u64 {
        if address.is_multiple_of(4) && length == 4 {
            return self.words[(address / 4) as usize][lane].into();
        }
        (0..length)
            .fold(0, |value, at| value | u64::from(self.byte(lane, address + at)) << (8 * at))
    }

    fn byte(&self, lane: usize, address: u64) -> u8 {
        (self.words[(address / 4) as usize][lane] >> (address % 4 * 8)) as u8
    }

    /// Writes up to 8 stored bytes of a lane.
    pub fn write(&mut self, lane: usize, address: u64, length: u64, value: u64) {
        for at in 0..length {
            let word = &mut self.words[((address + at) / 4) as usize][lane];
            let shift = (address + at) % 4 * 8;
            *word = *word & !(0xff << shift) | ((value >> (8 * at)) as u32 & 0xff) << shift;
        }
    }
}
