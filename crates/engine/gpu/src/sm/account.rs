//! Cycle accounting: assigns every core cycle of an SM to exactly one category.

use crate::results::SmResult;
use warpmem_sim::CoreCycle;

/// Reason for which an SM issues nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Idle {
    #[default]
    NoWarp,
    Memory,
    Dependency,
    Structural,
    /// As `Structural`, and every warp waits for memory or at a barrier, or is ready with a memory
    /// instruction.
    LoadStore,
    Barrier,
}

/// Core cycles in which an SM issued nothing, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdleCycles {
    /// No resident warp.
    pub no_warp: u64,
    /// Some warp waited for a computed value.
    pub dependency: u64,
    /// All warps waited for memory, or at a barrier for a warp that did.
    pub memory: u64,
}

impl IdleCycles {
    /// Returns the cycles since `before`.
    pub fn since(self, before: IdleCycles) -> IdleCycles {
        IdleCycles {
            no_warp: self.no_warp - before.no_warp,
            dependency: self.dependency - before.dependency,
            memory: self.memory - before.memory,
        }
    }
}

/// Cycle counts of an SM. Cycles between steps are counted at the next step, by the state that
/// lasted.
#[derive(Default)]
pub(super) struct Account {
    /// First cycle not counted.
    next: CoreCycle,
    /// Category since the last step.
    idle: Idle,
    /// Cycle until which an issue occupies a scheduler.
    busy_until: CoreCycle,
    /// Ready warps since the last step.
    ready: u32,
    counts: Counts,
}

/// See the fields of the same names in [`SmResult`].
#[derive(Default)]
struct Counts {
    active_cycles: u64,
    no_warp_cycles: u64,
    memory_block_cycles: u64,
    dependency_stall_cycles: u64,
    structural_stall_cycles: u64,
    load_store_block_cycles: u64,
    barrier_cycles: u64,
    ready_warp_cycles: u64,
}

/// Summary of a step.
#[derive(Clone, Copy)]
pub(super) struct Stepped {
    /// Instructions issued, and the cycles for which one occupies its scheduler.
    pub issued: u32,
    pub issue_interval: u64,
    /// Ready warps before the issue, and after it.
    pub ready_before: u32,
    pub ready: u32,
    /// Category of the following cycles without an issue.
    pub idle: Idle,
}

impl Account {
    /// Starts counting at `cycle`, the start of the run.
    pub fn start(&mut self, cycle: CoreCycle) {
        self.next = cycle;
    }

    /// Counts the cycles between the last step and `cycle`.
    #[inline]
    pub fn count_until(&mut self, cycle: CoreCycle) {
        if cycle > self.next {
            self.count_idle(cycle);
        }
    }

    fn count_idle(&mut self, cycle: CoreCycle) {
        let from = self.next;
        let cycles = cycle.since(from);
        let busy = self.busy_until.clamp(from, cycle).since(from);
        self.counts.active_cycles += busy;
        *self.counts.of(self.idle) += cycles - busy;
        self.counts.ready_warp_cycles += u64::from(self.ready) * cycles;
        self.next = cycle;
    }

    /// Counts the cycle of a step.
    #[inline]
    pub fn count_step(&mut self, cycle: CoreCycle, step: Stepped) {
        self.idle = step.idle;
        self.ready = step.ready;
        if self.next > cycle {
            return;
        }
        if step.issued > 0 {
            self.busy_until = cycle + step.issue_interval;
        }
        if cycle < self.busy_until {
            self.counts.active_cycles += 1;
        } else {
            *self.counts.of(self.idle) += 1;
        }
        self.counts.ready_warp_cycles += u64::from(step.ready_before);
        self.next = cycle + 1;
    }

    /// Returns the idle cycles so far.
    pub fn idle_cycles(&self) -> IdleCycles {
        IdleCycles {
            no_warp: self.counts.no_warp_cycles,
            dependency: self.counts.dependency_stall_cycles,
            memory: self.counts.memory_block_cycles + self.counts.barrier_cycles,
        }
    }

    /// Adds the counts so far to `result`.
    pub fn add_to(&self, result: &mut SmResult) {
        result.active_cycles += self.counts.active_cycles;
        result.no_warp_cycles += self.counts.no_warp_cycles;
        result.memory_block_cycles += self.counts.memory_block_cycles;
        result.dependency_stall_cycles += self.counts.dependency_stall_cycles;
        let load_store = self.counts.load_store_block_cycles;
        result.structural_stall_cycles += self.counts.structural_stall_cycles + load_store;
        result.load_store_block_cycles += load_store;
        result.barrier_cycles += self.counts.barrier_cycles;
        result.ready_warp_cycles += self.counts.ready_warp_cycles;
    }
}

impl Counts {
    fn of(&mut self, idle: Idle) -> &mut u64 {
        match idle {
            Idle::NoWarp => &mut self.no_warp_cycles,
            Idle::Memory => &mut self.memory_block_cycles,
            Idle::Dependency => &mut self.dependency_stall_cycles,
            Idle::Structural => &mut self.structural_stall_cycles,
            Idle::LoadStore => &mut self.load_store_block_cycles,
            Idle::Barrier => &mut self.barrier_cycles,
        }
    }
}
