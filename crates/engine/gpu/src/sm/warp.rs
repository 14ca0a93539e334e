//! State of a resident warp: its position in the trace and its outstanding dependences.

use super::code::Code;
use super::mbarrier::MbarrierWait;
use super::memory::AccessId;
use super::scheduler::CtaSlot;
use std::sync::Arc;
use warpmem_sim::CoreCycle;
use warpmem_trace::{MAX_DEPENDENCE, Record, WarpCursor};

/// Results covered by the dependence window.
const WINDOW: usize = MAX_DEPENDENCE as usize;

/// A load in flight.
#[derive(Clone, Copy)]
struct Outstanding {
    access: AccessId,
    /// Index of the first instruction that uses the result.
    used_at: u64,
}

/// A warp. Fields read at every issue come first, before those of memory instructions only.
#[repr(C)]
pub(super) struct Warp {
    pub code: Arc<Code>,
    /// Instructions issued so far.
    pub index: u64,
    /// Index of the first instruction that must wait for a load.
    pub use_limit: u64,
    /// Cycle in which the last result is ready.
    pub drained: CoreCycle,
    /// Next instruction, and end of the current record's instructions.
    pub op: u32,
    pub op_end: u32,
    /// Instructions fetched but not issued.
    pub fetched: u32,
    pub cta: CtaSlot,
    /// Memory instructions in flight that return data, and that do not (stores, reductions,
    /// prefetches).
    pub loads: u32,
    pub posted: u32,
    /// Reasons that block all issue: stalling atomics in flight and incomplete mbarrier phases.
    pub held: u32,
    /// The next instruction waits for all posted ones (fence).
    pub fence: bool,
    /// Instructions that no unit has taken; in `pending`, one bit each, indexed like `results`.
    pub untaken: u32,
    pending: u64,
    /// Cycles in which the last compute results are ready, by instruction index; low 32 bits.
    results: [u32; WINDOW],
    outstanding: Vec<Outstanding>,
    pub warp_in_cta: u32,
    /// Arrivals at the cluster barrier.
    pub cluster_arrivals: u32,
    pub mbarrier_wait: MbarrierWait,
    /// Async copies in flight.
    pub copies: Vec<AccessId>,
    /// Thread instructions of the records begun.
    pub thread_instructions: u64,
    /// Instruction line of the next instruction; only with an instruction cache.
    pub line: Option<u64>,
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
            line: None,
        }
    }

    /// Moves to the next record with instructions; returns `false` at the end of the trace.
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

    /// Makes the current record the last.
    pub fn end_early(&mut self) {
        self.cursor.skip_rest();
    }

    /// Returns the number of records not begun.
    pub fn records_left(&self) -> u32 {
        self.cursor.remaining()
    }

    /// Sets the result cycle of the instruction about to be counted.
    #[inline]
    pub fn set_result(&mut self, cycle: CoreCycle) {
        let at = self.index as usize % WINDOW;
        self.results[at] = cycle.number() as u32;
        self.pending &= !(1 << at);
        self.drained = self.drained.max(cycle);
    }

    /// Marks the instruction about to be counted as waiting for its unit.
    pub fn set_untaken(&mut self) {
        self.pending |= 1 << (self.index as usize % WINDOW);
        self.untaken += 1;
    }

    /// Sets the result cycle of instruction `index`, which its unit has taken.
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

    /// Returns the first cycle from `cycle` on in which the next instruction has its compute
    /// operands.
    #[inline]
    pub fn operands_ready(&self, cycle: CoreCycle) -> CoreCycle {
        let code = &self.code;
        let mut wait = 0i32;
        for &distance in code.deps(code.op(self.op)) {
            let at = self.index.wrapping_sub(u64::from(distance)) as usize % WINDOW;
            // Latencies are far below 2^31 cycles, so the low 32 bits distinguish past from
            // future.
            wait = wait.max(self.results[at].wrapping_sub(cycle.number() as u32) as i32);
        }
        cycle + wait as u64
    }

    /// Adds a load, issued as the instruction before `index`; its result is used `distance`
    /// instructions later.
    pub fn add_load(&mut self, access: AccessId, distance: u32) {
        self.loads += 1;
        if distance != u32::MAX {
            let used_at = self.index + u64::from(distance);
            self.outstanding.push(Outstanding { access, used_at });
            self.use_limit = self.use_limit.min(used_at);
        }
    }

    /// Completes a load.
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
