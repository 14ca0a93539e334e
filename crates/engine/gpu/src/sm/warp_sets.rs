//! States of an SM's warps, as sets with a bit per warp slot.

use super::account::Idle;
use super::code::{CLASSES, Class, MEMORY};
use super::scheduler::{SchedulerId, WarpView};
use warpmem_sim::{CoreCycle, WarpSlot};

/// Warps by state. A present warp is in one of these states:
///
/// ```text
///  waits for operands ─▶ ready ─▶ issues ─┬─▶ waits for operands
///  (calendar)                             ├─▶ waits for an instruction (fetch)
///                                         ├─▶ waiting_for_memory: a load, or a fence
///                                         ├─▶ at_barrier
///                                         └─▶ at_end, first draining,
///                                             then waiting_for_memory ─▶ retired
/// ```
pub(super) struct WarpSets {
    /// Resident warps.
    present: u64,
    /// Warps whose next instruction has its operands.
    ready: u64,
    /// Warps by the class of their next instruction, and that class by slot.
    by_class: [u64; CLASSES],
    classes: [Class; 64],
    /// Warps whose next instruction reads through L1.
    loads: u64,
    at_barrier: u64,
    /// Warps at the end of their trace with instructions in the pipeline.
    draining: u64,
    /// Warps at the end of their trace, possibly with instructions in flight.
    at_end: u64,
    waiting_for_memory: u64,
    /// By slot: launch order, launch cycle, and cycle of the launch or of the end of the last
    /// wait.
    ages: Vec<u64>,
    launched: Vec<CoreCycle>,
    awake_since: Vec<CoreCycle>,
    next_age: u64,
    /// Records not begun, by slot.
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

    /// Returns the warps whose next instruction is of `class`.
    #[inline]
    pub fn of_class(&self, class: Class) -> u64 {
        self.by_class[class.index()]
    }

    /// Returns the launch cycle of the warp in `slot`.
    pub fn launch_cycle(&self, slot: WarpSlot) -> CoreCycle {
        self.launched[slot.index()]
    }

    /// Adds a warp launched in `slot`.
    pub fn launch(&mut self, slot: WarpSlot, cycle: CoreCycle) {
        self.present |= slot.bit();
        self.ages[slot.index()] = self.next_age;
        self.awake_since[slot.index()] = cycle;
        self.launched[slot.index()] = cycle;
        self.next_age += 1;
    }

    /// Removes the retired warp in `slot`.
    pub fn remove(&mut self, slot: WarpSlot) {
        self.present &= !slot.bit();
        self.at_end &= !slot.bit();
        self.waiting_for_memory &= !slot.bit();
    }

    /// Sets the number of records that the warp in `slot` has not begun.
    pub fn set_records_left(&mut self, slot: WarpSlot, records: u32) {
        self.records_left[slot.index()] = records;
    }

    /// Sets the class whose unit a warp's next instruction needs and whether it reads through L1;
    /// `None` until the instruction is fetched.
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

    /// Moves the warp in `slot` to the end of its trace, with its last instructions in the
    /// pipeline.
    pub fn drain(&mut self, slot: WarpSlot) {
        self.draining |= slot.bit();
        self.at_end |= slot.bit();
    }

    /// Makes these warps ready, except draining ones, which are returned.
    pub fn take_due(&mut self, due: u64) -> u64 {
        self.ready |= due & !self.draining;
        due & self.draining
    }

    /// Ends the drain of these warps; some may have instructions in flight in memory.
    pub fn end_drained(&mut self, warps: u64) {
        self.draining &= !warps;
        self.waiting_for_memory |= warps;
    }

    /// Whether a warp has reached the end of its trace and drained; it may have instructions in
    /// flight in memory.
    pub fn has_ended(&self, slot: WarpSlot) -> bool {
        slot.is_in(self.at_end & self.waiting_for_memory)
    }

    /// Removes the issuing warp in `slot` from the ready set.
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

    /// Makes the warp in `slot`, which waited for memory, wait for other warps.
    pub fn move_to_barrier(&mut self, slot: WarpSlot) {
        self.at_barrier |= slot.bit();
        self.waiting_for_memory &= !(slot.bit() & !self.at_end);
    }

    /// Releases these warps from their barrier and returns those that are not draining.
    pub fn leave_barrier(&mut self, warps: u64) -> u64 {
        self.at_barrier &= !warps;
        warps & !self.draining
    }

    /// Ends the wait of the warp in `slot` for memory or at a barrier.
    pub fn wake(&mut self, slot: WarpSlot, cycle: CoreCycle) {
        self.waiting_for_memory &= !slot.bit();
        self.awake_since[slot.index()] = cycle;
    }

    /// Returns the reason for which nothing issues, ignoring paused warps.
    pub fn idle_reason(&self, paused: u64) -> Idle {
        let present = self.present & !paused;
        let ready = self.ready & present;
        if present == 0 {
            Idle::NoWarp
        } else if ready != 0 {
            let blocked = self.waiting_for_memory | self.at_barrier | self.of_class(MEMORY) & ready;
            if present & !blocked == 0 { Idle::LoadStore } else { Idle::Structural }
        } else if present & !(self.waiting_for_memory | self.at_barrier) != 0 {
            Idle::Dependency
        } else if self.at_barrier & present != 0 {
            Idle::Barrier
        } else {
            Idle::Memory
        }
    }

    /// Returns the policy's view for `scheduler`, which owns the slots `own`.
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
