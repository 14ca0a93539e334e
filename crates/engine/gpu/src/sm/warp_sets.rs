//! What the warps of an SM do, as sets with a bit for each warp slot.

use super::account::Idle;
use super::code::{CLASSES, Class, MEMORY};
use super::scheduler::{SchedulerId, WarpView};
use warpmem_sim::{CoreCycle, WarpSlot};

/// The warps of an SM by what they do. A present warp is in one of these states:
///
/// ```text
///  waits for operands ─▶ ready ─▶ issues ─┬─▶ waits for operands
///  (calendar)                             ├─▶ waits for an instruction (fetch)
///                                         ├─▶ waiting_for_memory: a load, or a fence
///                                         ├─▶ at_barrier
///                                         └─▶ at_end, first draining,
///                                             then waiting_for_memory ─▶ gone
/// ```
pub(super) struct WarpSets {
    /// Warps that have not ended.
    present: u64,
    /// Warps whose next instruction has its operands.
    ready: u64,
    /// Warps by the class of their next instruction, and that class by slot.
    by_class: [u64; CLASSES],
    classes: [Class; 64],
    /// Warps whose next instruction reads through L1.
    loads: u64,
    at_barrier: u64,
    /// Warps at the end of their trace whose last instructions are still in the pipeline.
    draining: u64,
    /// Warps at the end of their trace, with instructions perhaps in flight.
    at_end: u64,
    waiting_for_memory: u64,
    /// By slot: launch order, launch cycle, and the cycle of the launch or of the last end of a
    /// wait.
    ages: Vec<u64>,
    launched: Vec<CoreCycle>,
    awake_since: Vec<CoreCycle>,
    next_age: u64,
    /// Records that each warp has not begun.
    records_left: Vec<u32>,
}

impl WarpSets {
    pub fn new() -> WarpSets {
        WarpSets {
            present: 0,
            ready: 0,
            by_class: [0; CLASSES],
            classes: [Class(0); 64],
            loads: 0,
            at_barrier: 0,
            draining: 0,
            at_end: 0,
            waiting_for_memory: 0,
            ages: vec![0; 64],
            launched: vec![CoreCycle::ZERO; 64],
            awake_since: vec![CoreCycle::ZERO; 64],
            next_age: 0,
            records_left: vec![0; 64],
        }
    }

    #[inline]
    pub fn present(&self) -> u64 {
        self.present
    }

    #[inline]
    pub fn ready(&self) -> u64 {
        self.ready
    }

    #[inline]
    pub fn at_barrier(&self) -> u64 {
        self.at_barrier
    }

    #[inline]
    pub fn waiting_for_memory(&self) -> u64 {
        self.waiting_for_memory
    }

    #[inline]
    pub fn at_end(&self) -> u64 {
        self.at_end
    }

    /// Warps whose next instruction is of this class.
    #[inline]
    pub fn of_class(&self, class: Class) -> u64 {
        self.by_class[class.index()]
    }

    /// Core cycle in which the warp in `slot` was launched.
    pub fn launch_cycle(&self, slot: WarpSlot) -> CoreCycle {
        self.launched[slot.index()]
    }

    /// A warp comes into `slot`.
    pub fn launch(&mut self, slot: WarpSlot, cycle: CoreCycle) {
        self.present |= slot.bit();
        self.ages[slot.index()] = self.next_age;
        self.awake_since[slot.index()] = cycle;
        self.launched[slot.index()] = cycle;
        self.next_age += 1;
    }

    /// The warp in `slot` is gone.
    pub fn remove(&mut self, slot: WarpSlot) {
        self.present &= !slot.bit();
        self.at_end &= !slot.bit();
        self.waiting_for_memory &= !slot.bit();
    }

    /// The warp in `slot` begins a record and has so many left.
    pub fn set_records_left(&mut self, slot: WarpSlot, records: u32) {
        self.records_left[slot.index()] = records;
    }

    /// Sets the class whose unit a warp's next instruction needs, if that is known, and whether it
    /// reads through L1.
    pub fn set_class(&mut self, slot: WarpSlot, next: Option<(Class, bool)>) {
        let old = self.classes[slot.index()];
        self.by_class[old.index()] &= !slot.bit();
        self.loads &= !slot.bit();
        if let Some((class, reads_l1)) = next {
            self.by_class[class.index()] |= slot.bit();
            self.loads |= u64::from(reads_l1) << slot.0;
            self.classes[slot.index()] = class;
        }
    }

    /// The warp in `slot` is at the end of its trace; its last instructions are in the pipeline.
    pub fn drain(&mut self, slot: WarpSlot) {
        self.draining |= slot.bit();
        self.at_end |= slot.bit();
    }

    /// The time of these warps has come: they are ready. Those that were draining are not, and are
    /// returned.
    pub fn take_due(&mut self, due: u64) -> u64 {
        self.ready |= due & !self.draining;
        due & self.draining
    }

    /// The last instructions of these warps have left the pipeline; some may be in flight in
    /// memory.
    pub fn end_drained(&mut self, warps: u64) {
        self.draining &= !warps;
        self.waiting_for_memory |= warps;
    }

    /// Whether a warp is at the end of its trace and out of the pipeline, with memory instructions
    /// perhaps in flight.
    pub fn has_ended(&self, slot: WarpSlot) -> bool {
        slot.is_in(self.at_end & self.waiting_for_memory)
    }

    /// The warp in `slot` issues.
    #[inline]
    pub fn issue(&mut self, slot: WarpSlot) {
        self.ready &= !slot.bit();
    }

    pub fn wait_for_memory(&mut self, slot: WarpSlot) {
        self.waiting_for_memory |= slot.bit();
    }

    pub fn wait_at_barrier(&mut self, slot: WarpSlot) {
        self.at_barrier |= slot.bit();
    }

    /// The warp in `slot`, which waited for memory, waits for other warps from now on.
    pub fn turn_to_barrier(&mut self, slot: WarpSlot) {
        self.at_barrier |= slot.bit();
        self.waiting_for_memory &= !(slot.bit() & !self.at_end);
    }

    /// These warps leave their barrier. Returns those that are not draining.
    pub fn leave_barrier(&mut self, warps: u64) -> u64 {
        self.at_barrier &= !warps;
        warps & !self.draining
    }

    /// The warp in `slot` stops waiting for memory or at a barrier.
    pub fn wake(&mut self, slot: WarpSlot, cycle: CoreCycle) {
        self.waiting_for_memory &= !slot.bit();
        self.awake_since[slot.index()] = cycle;
    }

    /// Why nothing issues. Warps of CTAs that pause do not count.
    pub fn idle_reason(&self, paused: u64) -> Idle {
        let present = self.present & !paused;
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

    /// What the policy sees when `scheduler`, which owns the slots `own`, is to issue.
    #[inline]
    pub fn view(
        &self,
        cycle: CoreCycle,
        scheduler: SchedulerId,
        own: u64,
        paused: u64,
        miss_room: usize,
    ) -> WarpView<'_> {
        WarpView {
            cycle,
            scheduler,
            own,
            ages: &self.ages,
            present: self.present,
            paused,
            waiting: self.waiting_for_memory | paused,
            at_barrier: self.at_barrier,
            at_end: self.at_end,
            awake_since: &self.awake_since,
            memory: self.of_class(MEMORY),
            loads: self.loads,
            records_left: &self.records_left,
            miss_room,
        }
    }
}
