//! The state of a resident warp.

use super::code::Code;
use super::mbarrier::MbarrierWait;
use super::memory::AccessId;
use super::scheduler::CtaSlot;
use std::sync::Arc;
use warpmem_sim::CoreCycle;
use warpmem_trace::{MAX_DEPENDENCE, Record, WarpCursor};

/// Results that the dependence window looks back on.
const WINDOW: usize = MAX_DEPENDENCE as usize;

/// A load whose result is not back.
#[derive(Clone, Copy)]
struct Outstanding {
    access: AccessId,
    /// Index of the first instruction that needs the result.
    used_at: u64,
}

/// A warp: its position in its trace and what it waits for. The fields that every issue reads lie
/// together, before those that only memory instructions need.
#[repr(C)]
pub(super) struct Warp {
    pub code: Arc<Code>,
    /// Instructions issued so far.
    pub index: u64,
    /// Index of the first instruction that must wait for a load.
    pub use_limit: u64,
    /// When the last of all results is there.
    pub drained: CoreCycle,
    /// Next instruction, and the end of those of the current record.
    pub op: u32,
    pub op_end: u32,
    /// Instructions fetched and not issued.
    pub fetched: u32,
    pub cta: CtaSlot,
    /// Instructions in flight that return data, and those that do not (stores, reductions,
    /// prefetches).
    pub loads: u32,
    pub posted: u32,
    /// What it issues nothing behind: atomics in flight, and phases of mbarriers.
    pub held: u32,
    /// The next instruction waits for all that were posted (fence).
    pub fence: bool,
    /// Instructions that no unit has taken yet, and the last of them, one bit each like `results`.
    pub untaken: u32,
    pending: u64,
    /// When the last compute results are there, by instruction index; cycles, low 32 bits.
    results: [u32; WINDOW],
    outstanding: Vec<Outstanding>,
    pub warp_in_cta: u32,
    /// Times that it has arrived at the barrier of its cluster.
    pub cluster_arrivals: u32,
    pub mbarrier_wait: MbarrierWait,
    /// Async copies in flight.
    pub copies: Vec<AccessId>,
    /// Thread instructions of the records it has begun.
    pub thread_instructions: u64,
    cursor: WarpCursor,
    pub record: Record,
}

impl Warp {
    pub fn new(code: Arc<Code>, cursor: WarpCursor, cta: CtaSlot, warp_in_cta: u32) -> Warp {
        Warp {
            code,
            cursor,
            record: Record::new(),
            op: 0,
            op_end: 0,
            index: 0,
            untaken: 0,
            pending: 0,
            results: [0; WINDOW],
            drained: CoreCycle::ZERO,
            fetched: 0,
            outstanding: Vec::new(),
            use_limit: u64::MAX,
            loads: 0,
            posted: 0,
            held: 0,
            fence: false,
            cta,
            warp_in_cta,
            cluster_arrivals: 0,
            mbarrier_wait: MbarrierWait::default(),
            copies: Vec::new(),
            thread_instructions: 0,
        }
    }

    /// Moves to the next record that has instructions; `false` at the end of the trace.
    pub fn next_record(&mut self) -> Result<bool, warpmem_trace::TraceError> {
        while self.cursor.next(&mut self.record)? {
            let ops = self.code.ops_of(self.record.instruction.0);
            (self.op, self.op_end) = (ops.start, ops.end);
            if self.op != self.op_end {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The record that it is at becomes its last.
    pub fn end_early(&mut self) {
        self.cursor.skip_rest();
    }

    /// Records that the warp has not begun.
    pub fn records_left(&self) -> u32 {
        self.cursor.remaining()
    }

    /// Notes when the result of the instruction about to be counted is there.
    #[inline]
    pub fn set_result(&mut self, cycle: CoreCycle) {
        let at = self.index as usize % WINDOW;
        self.results[at] = cycle.number() as u32;
        self.pending &= !(1 << at);
        self.drained = self.drained.max(cycle);
    }

    /// The instruction about to be counted waits for its unit.
    pub fn set_untaken(&mut self) {
        self.pending |= 1 << (self.index as usize % WINDOW);
        self.untaken += 1;
    }

    /// A unit has taken instruction `index`, whose result will be there at `cycle`.
    pub fn set_result_of(&mut self, index: u64, cycle: CoreCycle) {
        self.untaken -= 1;
        self.drained = self.drained.max(cycle);
        if self.index - index <= WINDOW as u64 {
            let at = index as usize % WINDOW;
            self.results[at] = cycle.number() as u32;
            self.pending &= !(1 << at);
        }
    }

    /// Whether the next instruction needs the result of one that no unit has taken.
    #[inline]
    pub fn waits_for_unit(&self) -> bool {
        let code = &self.code;
        self.pending != 0
            && code.deps(code.op(self.op)).iter().any(|&distance| {
                let at = self.index.wrapping_sub(u64::from(distance)) as usize % WINDOW;
                self.pending >> at & 1 == 1
            })
    }

    /// The first cycle from `cycle` on at which the compute results that the next instruction needs
    /// are there.
    #[inline]
    pub fn operands_ready(&self, cycle: CoreCycle) -> CoreCycle {
        let code = &self.code;
        let mut wait = 0i32;
        for &distance in code.deps(code.op(self.op)) {
            let at = self.index.wrapping_sub(u64::from(distance)) as usize % WINDOW;
            // Latencies are far below 2^31 cycles, so that the low 32 bits tell past from future.
            wait = wait.max(self.results[at].wrapping_sub(cycle.number() as u32) as i32);
        }
        cycle + wait as u64
    }

    /// A load was issued as the instruction before `index`; its result is used `distance`
    /// instructions on.
    pub fn add_load(&mut self, access: AccessId, distance: u32) {
        self.loads += 1;
        if distance != u32::MAX {
            let used_at = self.index + u64::from(distance);
            self.outstanding.push(Outstanding { access, used_at });
            self.use_limit = self.use_limit.min(used_at);
        }
    }

    /// A load's result is back.
    pub fn finish_load(&mut self, access: AccessId) {
        self.loads -= 1;
        if let Some(at) = self.outstanding.iter().position(|o| o.access == access) {
            self.outstanding.swap_remove(at);
            self.use_limit = self.outstanding.iter().map(|o| o.used_at).min().unwrap_or(u64::MAX);
        }
    }

    /// Whether the next instruction must wait for memory.
    #[inline]
    pub fn waits_for_memory(&self) -> bool {
        self.index >= self.use_limit || self.held > 0 || (self.fence && self.posted > 0)
    }
}
