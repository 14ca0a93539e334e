//! What the SM did in each core cycle.

use super::Sm;

/// Why an SM issues nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Idle {
    #[default]
    NoWarp,
    Memory,
    Dependency,
    Structural,
    Barrier,
}

/// Core cycles in which an SM issued nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdleCycles {
    /// It had no warp.
    pub no_warp: u64,
    /// Some warp waited for a computed value.
    pub dependency: u64,
    /// All its warps waited for memory, or at a barrier for one that did.
    pub memory: u64,
}

impl IdleCycles {
    /// What came after `before`.
    pub fn since(self, before: IdleCycles) -> IdleCycles {
        IdleCycles {
            no_warp: self.no_warp - before.no_warp,
            dependency: self.dependency - before.dependency,
            memory: self.memory - before.memory,
        }
    }
}

/// Cycles are counted when the state that they were spent in ends.
#[derive(Default)]
pub(super) struct Account {
    /// First cycle not counted.
    next: u64,
    /// State since the last step.
    idle: Idle,
    /// An issue occupies a scheduler until this cycle.
    busy_until: u64,
    ready: u32,
}

impl Sm {
    /// Counts the cycles between the last step and `cycle`.
    pub(super) fn account_until(&mut self, cycle: u64) {
        let from = self.account.next;
        if cycle <= from {
            return;
        }
        let busy = self.account.busy_until.clamp(from, cycle) - from;
        self.result.active_cycles += busy;
        let idle = cycle - from - busy;
        *self.idle_counter(self.account.idle) += idle;
        self.result.ready_warp_cycles += u64::from(self.account.ready) * (cycle - from);
        self.account.next = cycle;
    }

    /// Counts the cycle of a step in which `issued` instructions issued out of `ready` ready warps.
    pub(super) fn account_step(&mut self, cycle: u64, issued: u32, ready: u32) {
        self.account.idle = self.idle_reason();
        self.account.ready = (self.ready & !self.paused).count_ones();
        if self.account.next > cycle {
            return;
        }
        if issued > 0 {
            self.account.busy_until = cycle + self.issue_interval;
        }
        if cycle < self.account.busy_until {
            self.result.active_cycles += 1;
        } else {
            *self.idle_counter(self.account.idle) += 1;
        }
        self.result.ready_warp_cycles += u64::from(ready);
        self.account.next = cycle + 1;
    }

    /// Starts counting at `cycle`, where the run starts.
    pub fn start_account(&mut self, cycle: u64) {
        self.account.next = cycle;
    }

    /// How the SM was idle from the start of the account to the end of `cycle`, in which it has
    /// been stepped.
    pub fn idle_cycles(&mut self, cycle: u64) -> IdleCycles {
        self.account_until(cycle + 1);
        let result = &self.result;
        IdleCycles {
            no_warp: result.no_warp_cycles,
            dependency: result.dependency_stall_cycles,
            memory: result.memory_block_cycles + result.barrier_cycles,
        }
    }

    fn idle_counter(&mut self, idle: Idle) -> &mut u64 {
        match idle {
            Idle::NoWarp => &mut self.result.no_warp_cycles,
            Idle::Memory => &mut self.result.memory_block_cycles,
            Idle::Dependency => &mut self.result.dependency_stall_cycles,
            Idle::Structural => &mut self.result.structural_stall_cycles,
            Idle::Barrier => &mut self.result.barrier_cycles,
        }
    }

    /// Why none of the warps issues that may. Warps of paused CTAs do not count.
    fn idle_reason(&self) -> Idle {
        let present = self.present & !self.paused;
        if present == 0 {
            Idle::NoWarp
        } else if self.ready & present != 0 {
            Idle::Structural
        } else if present & !(self.waiting_for_memory | self.at_barrier) != 0 {
            Idle::Dependency
        } else if self.at_barrier & present != 0 {
            Idle::Barrier
        } else {
            Idle::Memory
        }
    }
}
