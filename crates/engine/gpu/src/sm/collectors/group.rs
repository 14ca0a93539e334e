//! Registers and collectors of one scheduler.

use super::{Class, Collected, Compute, Instruction, RANKS, Step, Taken, Waiting, finds_paths};
use crate::sm::code::{CLASSES, MEMORY};
use crate::sm::memory::MemoryPipeline;
use crate::sm::scheduler::SchedulerId;
use warpmem_machine::Unit;
use warpmem_sim::{CoreCycle, bits};

/// Registers and collectors of one scheduler; registers are indexed by class.
pub(super) struct CollectorGroup {
    pub(super) waiting: [Waiting; CLASSES],
    registers: [Compute; CLASSES],
    /// Ranks of the classes with an occupied dispatch register, and classes with an occupied unit
    /// register.
    pub(super) waiting_ports: u64,
    register_classes: u64,
    collectors: Vec<Option<Collected>>,
    /// Number of free collectors.
    pub(super) free: usize,
    /// Last step in which a collected instruction has its operands.
    pub(super) last_ready: u64,
    /// By class: cycle in which the unit took its last instruction, which frees its register.
    pub(super) taken: [CoreCycle; CLASSES],
    /// By class: first cycle in which the unit accepts its next instruction.
    unit_free: [CoreCycle; CLASSES],
    /// Step in which the last uncontended compute instruction leaves its collector.
    pub(super) uncontended_until: u64,
    /// Step in which the last instruction with a known path leaves the first collector, and by class
    /// the cycle in which its unit takes it.
    pub(super) first_until: u64,
    pub(super) known_until: [CoreCycle; CLASSES],
    /// Earliest cycle with autonomous activity.
    pub(super) next_activity: CoreCycle,
    /// Number of instructions buffered.
    pub(super) len: usize,
}

impl CollectorGroup {
    pub(super) fn new(collectors: usize) -> CollectorGroup {
        CollectorGroup {
            waiting: [Waiting::BLANK; CLASSES],
            registers: [Compute::BLANK; CLASSES],
            waiting_ports: 0,
            register_classes: 0,
            collectors: vec![None; collectors],
            free: collectors,
            last_ready: 0,
            taken: [CoreCycle::ZERO; CLASSES],
            unit_free: [CoreCycle::ZERO; CLASSES],
            uncontended_until: 0,
            first_until: 0,
            known_until: [CoreCycle::ZERO; CLASSES],
            next_activity: CoreCycle::NEVER,
            len: 0,
        }
    }

    /// Whether an instruction that issues in `cycle`, enters a collector in step `collect` and leaves
    /// it in cycle `dispatch` reaches the register of its unit without contention: no other waits for
    /// a collector, one is free, and the register will be empty.
    #[inline]
    pub(super) fn is_uncontended(
        &self,
        class: Class,
        cycle: CoreCycle,
        collect: u64,
        dispatch: CoreCycle,
    ) -> bool {
        self.taken[class.index()] <= dispatch
            && self.known_until[class.index()] <= cycle
            && self.will_have_free(collect)
            && (self.len == 0 || self.is_clear(class))
    }

    /// Whether an instruction that enters a collector in step `collect` gets the first collector, and
    /// no other is in the dispatch registers, the collectors or the unit registers but for those with
    /// a known path.
    #[inline]
    pub(super) fn first_is_free(&self, collect: u64) -> bool {
        self.len == 0 && self.first_until <= collect && self.has_free(collect) && finds_paths()
    }

    /// Takes an instruction of `class`, which leaves its collector in cycle `dispatch`, into its unit;
    /// returns the cycle.
    #[inline]
    pub(super) fn take_from(&mut self, class: Class, dispatch: CoreCycle, unit: Unit) -> CoreCycle {
        let taken = self.unit_free[class.index()].max(dispatch + 1);
        self.take_at(class, taken, unit);
        taken
    }

    fn is_clear(&self, class: Class) -> bool {
        self.waiting_ports == 0 && !self.holds(class) && !self.collects(class)
    }

    /// Records that a unit takes an instruction of `class` in `cycle`.
    #[inline]
    fn take_at(&mut self, class: Class, cycle: CoreCycle, unit: Unit) {
        self.taken[class.index()] = cycle;
        self.unit_free[class.index()] = cycle + u64::from(unit.interval);
    }

    /// Whether a collector is free in `step`.
    #[inline]
    pub(super) fn has_free(&self, step: u64) -> bool {
        let compute = usize::from(self.uncontended_until > step);
        self.free > compute + usize::from(self.first_until > step)
    }

    /// Whether a collector is free in `step`, the first of the next cycle, if no instruction leaves
    /// a collector before.
    #[inline]
    fn will_have_free(&self, step: u64) -> bool {
        let compute = usize::from(self.uncontended_until > step);
        self.free > compute + usize::from(self.first_until >= step)
    }

    /// Whether the register of the unit is occupied.
    #[inline]
    fn holds(&self, class: Class) -> bool {
        self.register_classes >> class.index() & 1 == 1
    }

    pub(super) fn collects(&self, class: Class) -> bool {
        self.collectors.iter().flatten().any(|collected| collected.class == class)
    }

    /// Moves instructions from unit registers into free units.
    pub(super) fn take(&mut self, cycle: CoreCycle, taken: &mut Vec<Taken>) {
        for at in bits::ones(self.register_classes) {
            if self.unit_free[at] > cycle {
                continue;
            }
            let compute = self.registers[at];
            self.register_classes &= !(1 << at);
            self.take_at(Class::new(at), cycle, compute.unit);
            self.len -= 1;
            taken.push(Taken { compute, at: cycle });
        }
    }

    /// Moves instructions with all operands from collectors, the first collector first, into empty
    /// unit registers.
    pub(super) fn dispatch(
        &mut self,
        scheduler: SchedulerId,
        step: Step,
        memory: &mut MemoryPipeline,
    ) {
        if self.free == self.collectors.len() {
            return;
        }
        let mut held = self.held_classes(memory.offers() >> scheduler.index() & 1 == 1);
        for collector in &mut self.collectors {
            let Some(collected) = collector else { continue };
            let at = collected.class.index();
            if collected.ready > step.number || held >> at & 1 == 1 || self.taken[at] > step.cycle {
                continue;
            }
            match collected.instruction {
                Instruction::Memory(entry) => {
                    memory.offer(scheduler, entry, step.cycle);
                    self.len -= 1;
                }
                Instruction::Compute(compute) => {
                    self.registers[at] = compute;
                    self.register_classes |= 1 << at;
                }
            }
            held |= 1 << at;
            *collector = None;
            self.free += 1;
        }
    }

    /// Returns the classes with an occupied unit register. `offers`: that of the load/store unit is
    /// occupied.
    #[inline]
    fn held_classes(&self, offers: bool) -> u64 {
        self.register_classes | u64::from(offers) << MEMORY.index()
    }

    /// Moves the instruction in the dispatch register of `class` to the first free collector.
    pub(super) fn collect(&mut self, class: Class, step: Step, ready: u64, ready_cycle: CoreCycle) {
        self.waiting_ports &= !(1 << RANKS[class.index()]);
        let instruction = self.waiting[class.index()].instruction;
        let first = usize::from(self.first_until > step.number);
        let free = self.collectors[first..].iter_mut().find(|collector| collector.is_none());
        let collected = Collected { class, ready, ready_cycle, instruction };
        *free.expect("a collector is free") = Some(collected);
        self.last_ready = self.last_ready.max(ready);
        self.free -= 1;
    }

    /// Returns the first cycle from `soon` on with autonomous activity. `offers`: the load/store
    /// register is occupied.
    pub(super) fn next(&self, soon: CoreCycle, offers: bool) -> CoreCycle {
        if self.free > 0 && self.waiting_ports != 0 {
            return soon;
        }
        let mut next = CoreCycle::NEVER;
        for class in bits::ones(self.register_classes) {
            next = next.min(self.unit_free[class]);
        }
        let held = self.held_classes(offers);
        for &Collected { class, ready_cycle, .. } in self.collectors.iter().flatten() {
            if held >> class.index() & 1 == 0 {
                next = next.min(ready_cycle.max(self.taken[class.index()]));
            }
        }
        next.max(soon)
    }
}
