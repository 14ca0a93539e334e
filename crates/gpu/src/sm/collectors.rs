//! The operand collectors of an SM, and the registers before and behind them.
//!
//! ```text
//!           dispatch register      operand collectors      unit's register
//!  issue ─▶ one of each class  ─▶  shared by all classes ─▶ one of each class ─▶ unit
//! ```
//!
//! Each scheduler has its own. An instruction issues if the dispatch register of its class is empty,
//! be its unit free or not, and takes a cycle for each stage, if nothing is in its way (GPGPU-Sim,
//! `opndcoll_rfu_t` with `gpgpu_sub_core_model`).

use super::code::{CLASSES, Class, MEMORY};
use super::memory::{EntryId, MemoryPipeline};
use super::scheduler::SchedulerId;
use super::warp_sets::WarpSets;
use warpmem_machine::Unit;
use warpmem_sim::{CoreCycle, WarpSlot, bits};
use warpmem_trace::OpClass;

/// Cycles from the issue of an instruction that nothing delays until its unit takes it.
pub(super) const TO_UNIT: u64 = 3;

/// The classes in the order in which they are given free collectors: that in which
/// `shader_core_ctx::create_exec_pipeline` of GPGPU-Sim connects them.
const PORTS: [Class; CLASSES] = [
    Class(OpClass::Fp32 as u8),
    Class(OpClass::Fp16 as u8),
    Class(OpClass::Sfu as u8),
    MEMORY,
    Class(OpClass::Tensor as u8),
    Class(OpClass::Fp64 as u8),
    Class(OpClass::Integer as u8),
    Class(OpClass::Control as u8),
    Class(OpClass::Uniform as u8),
    Class(OpClass::Other as u8),
];

/// An instruction on its way to its unit.
#[derive(Clone, Copy)]
struct Held {
    /// Instructions that have come before it.
    age: u64,
    instruction: Instruction,
}

#[derive(Clone, Copy)]
enum Instruction {
    Compute(Compute),
    Memory(EntryId),
}

/// An instruction of a warp, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Compute {
    pub slot: WarpSlot,
    pub index: u64,
}

/// A unit has taken an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub compute: Compute,
    pub class: Class,
    pub at: CoreCycle,
}

/// What is on its way to the units of an SM. What nothing can delay does not show here: it is known
/// at its issue when its unit takes it.
pub(super) struct Collectors {
    intervals: [u64; CLASSES],
    lanes: Vec<Lane>,
    /// Lanes that hold something, and those with something in the dispatch register of a class.
    occupied: u64,
    waiting: [u64; CLASSES],
    /// What happens until the end of this cycle has happened.
    now: CoreCycle,
    issued: u64,
    taken: Vec<Taken>,
}

/// The registers and collectors of one scheduler. Those of each class are indexed by it.
struct Lane {
    waiting: [Option<Held>; CLASSES],
    collectors: Vec<Option<(Class, Held)>>,
    /// Collectors that hold nothing.
    free: usize,
    registers: [Option<Held>; CLASSES],
    /// When each unit takes the next instruction.
    unit_free: [CoreCycle; CLASSES],
    len: usize,
}

impl Collectors {
    /// So many for each of the schedulers, before these units.
    pub fn new(schedulers: usize, collectors: usize, units: &[Unit; CLASSES]) -> Collectors {
        Collectors {
            intervals: units.map(|unit| u64::from(unit.interval)),
            lanes: (0..schedulers).map(|_| Lane::new(collectors)).collect(),
            occupied: 0,
            waiting: [0; CLASSES],
            now: CoreCycle::ZERO,
            issued: 0,
            taken: Vec::new(),
        }
    }

    /// Warps of `scheduler` that may not issue: the dispatch register of their class is taken.
    #[inline]
    pub fn blocked(&self, scheduler: SchedulerId, sets: &WarpSets) -> u64 {
        let lane = 1 << scheduler.index();
        if self.occupied & lane == 0 {
            return 0;
        }
        let classes = Class::all(CLASSES).zip(&self.waiting);
        classes
            .filter(|&(_, &lanes)| lanes & lane != 0)
            .fold(0, |blocked, (class, _)| blocked | sets.of_class(class))
    }

    /// A compute instruction issues in `cycle`. When its unit takes it, if nothing can change that.
    #[inline]
    pub fn issue(
        &mut self,
        scheduler: SchedulerId,
        class: Class,
        cycle: CoreCycle,
        compute: Compute,
    ) -> Option<CoreCycle> {
        let interval = self.intervals[class.index()];
        let lane = &mut self.lanes[scheduler.index()];
        let passes = self.waiting[class.index()] == 0 && lane.lets_pass(class, cycle, interval);
        if passes {
            let free = &mut lane.unit_free[class.index()];
            let taken = (*free).max(cycle + TO_UNIT);
            *free = taken + interval;
            return Some(taken);
        }
        self.wait(scheduler, class, Instruction::Compute(compute));
        None
    }

    /// A memory instruction issues.
    pub fn issue_memory(&mut self, scheduler: SchedulerId, entry: EntryId) {
        self.wait(scheduler, MEMORY, Instruction::Memory(entry));
    }

    fn wait(&mut self, scheduler: SchedulerId, class: Class, instruction: Instruction) {
        let lane = &mut self.lanes[scheduler.index()];
        debug_assert!(lane.waiting[class.index()].is_none(), "the dispatch register is taken");
        lane.waiting[class.index()] = Some(Held { age: self.issued, instruction });
        lane.len += 1;
        self.issued += 1;
        self.occupied |= 1 << scheduler.index();
        self.waiting[class.index()] |= 1 << scheduler.index();
    }

    /// Moves everything on until the end of `cycle`. What the load/store unit has taken before is
    /// out of its registers.
    #[inline]
    pub fn advance(&mut self, cycle: CoreCycle, memory: &mut MemoryPipeline) {
        while self.occupied != 0 && self.now < cycle {
            let soon = self.now + 1;
            let next = if soon == cycle { soon } else { self.next(soon, memory) };
            if next > cycle {
                break;
            }
            self.step(next, memory);
            self.now = next;
        }
        self.now = self.now.max(cycle);
    }

    /// What units have taken since this was asked.
    #[inline]
    pub fn take_taken(&mut self) -> Option<Taken> {
        self.taken.pop()
    }

    /// Units take from their registers, these from collectors, and these from dispatch registers: in
    /// this order, so that what one leaves is free for the next.
    fn step(&mut self, cycle: CoreCycle, memory: &mut MemoryPipeline) {
        for at in bits::ones(self.occupied) {
            let lane = &mut self.lanes[at];
            lane.take(cycle, &self.intervals, &mut self.taken);
            lane.dispatch(SchedulerId::new(at), cycle, &self.intervals, memory);
            if lane.len == 0 {
                self.occupied &= !(1 << at);
            }
        }
        self.collect();
    }

    /// The dispatch registers of each class pass on their instructions, oldest first. One whose
    /// scheduler has no free collector stops those behind it (GPGPU-Sim, `allocate_cu`).
    fn collect(&mut self) {
        let mut open = PORTS.map(|class| self.waiting[class.index()] != 0);
        while open.contains(&true) {
            for (class, open) in PORTS.into_iter().zip(&mut open) {
                *open = *open && self.collect_oldest(class);
            }
        }
    }

    /// Whether the oldest instruction in a dispatch register of `class` finds a collector.
    fn collect_oldest(&mut self, class: Class) -> bool {
        let age = |at: usize| self.lanes[at].waiting[class.index()].map(|held| (held.age, at));
        let oldest = bits::ones(self.waiting[class.index()]).filter_map(age).min();
        let Some((_, at)) = oldest.filter(|&(_, at)| self.lanes[at].free > 0) else { return false };
        self.lanes[at].collect(class);
        self.waiting[class.index()] &= !(1 << at);
        true
    }

    /// The first cycle from `soon` on in which something moves of itself.
    pub fn next(&self, soon: CoreCycle, memory: &MemoryPipeline) -> CoreCycle {
        let mut next = CoreCycle::NEVER;
        for at in bits::ones(self.occupied) {
            let offers = memory.offers(SchedulerId::new(at));
            next = next.min(self.lanes[at].next(soon, &self.intervals, offers));
            if next == soon {
                break;
            }
        }
        next
    }

    /// A cycle from `soon` on before which the load/store unit, which has nothing to take, is not
    /// offered anything that it could take.
    pub fn next_memory(&self, soon: CoreCycle) -> CoreCycle {
        let holds = |at: usize| self.lanes[at].collects(MEMORY);
        if bits::ones(self.occupied).any(holds) {
            soon + 1
        } else if self.waiting[MEMORY.index()] != 0 {
            soon + 2
        } else {
            CoreCycle::NEVER
        }
    }
}

impl Lane {
    fn new(collectors: usize) -> Lane {
        Lane {
            waiting: [None; CLASSES],
            collectors: vec![None; collectors],
            free: collectors,
            registers: [None; CLASSES],
            unit_free: [CoreCycle::ZERO; CLASSES],
            len: 0,
        }
    }

    /// Whether nothing can delay an instruction that issues in `cycle` on its way to the register of
    /// its unit: no other waits for a collector or holds the last, and the register will be empty.
    #[inline]
    fn lets_pass(&self, class: Class, cycle: CoreCycle, interval: u64) -> bool {
        let register_free = self.register_free(class, interval) <= cycle + (TO_UNIT - 1);
        if self.len == 0 {
            return register_free;
        }
        register_free
            && self.free > 0
            && self.waiting.iter().all(Option::is_none)
            && self.registers[class.index()].is_none()
            && !self.collects(class)
    }

    /// When the unit's register is empty, if it holds nothing that is seen here: when the unit took
    /// the last instruction.
    #[inline]
    fn register_free(&self, class: Class, interval: u64) -> CoreCycle {
        self.unit_free[class.index()].saturating_sub(interval)
    }

    fn collects(&self, class: Class) -> bool {
        self.collectors.iter().flatten().any(|&(held, _)| held == class)
    }

    /// The units that are free take what is in their registers.
    fn take(&mut self, cycle: CoreCycle, intervals: &[u64; CLASSES], taken: &mut Vec<Taken>) {
        for class in Class::all(CLASSES) {
            let at = class.index();
            if self.registers[at].is_none() || self.unit_free[at] > cycle {
                continue;
            }
            let Some(Held { instruction: Instruction::Compute(compute), .. }) =
                self.registers[at].take()
            else {
                unreachable!("the load/store unit has its own registers")
            };
            self.unit_free[at] = cycle + intervals[at];
            self.len -= 1;
            taken.push(Taken { compute, class, at: cycle });
        }
    }

    /// The registers that are empty take from the first collector with something for them.
    fn dispatch(
        &mut self,
        scheduler: SchedulerId,
        cycle: CoreCycle,
        intervals: &[u64; CLASSES],
        memory: &mut MemoryPipeline,
    ) {
        for at in 0..self.collectors.len() {
            let Some((class, held)) = self.collectors[at] else { continue };
            match held.instruction {
                Instruction::Memory(_) if memory.offers(scheduler) => continue,
                Instruction::Memory(entry) => {
                    memory.offer(scheduler, entry, cycle);
                    self.len -= 1;
                }
                Instruction::Compute(_) => {
                    let is_free = self.register_free(class, intervals[class.index()]) <= cycle;
                    let register = &mut self.registers[class.index()];
                    if register.is_some() || !is_free {
                        continue;
                    }
                    *register = Some(held);
                }
            }
            self.collectors[at] = None;
            self.free += 1;
        }
    }

    /// The first free collector takes what is in the dispatch register of `class`.
    fn collect(&mut self, class: Class) {
        let held = self.waiting[class.index()].take().expect("it waits");
        let free = self.collectors.iter_mut().find(|collector| collector.is_none());
        *free.expect("one is free") = Some((class, held));
        self.free -= 1;
    }

    /// The first cycle from `soon` on in which something moves of itself. `offers`: the register of
    /// the load/store unit is taken.
    fn next(&self, soon: CoreCycle, intervals: &[u64; CLASSES], offers: bool) -> CoreCycle {
        if self.free > 0 && self.waiting.iter().any(Option::is_some) {
            return soon;
        }
        let registers = self.registers.iter().zip(&self.unit_free);
        let taken = registers.filter(|(held, _)| held.is_some()).map(|(_, &free)| free);
        let collected = self.collectors.iter().flatten().filter_map(|&(class, _)| {
            if class == MEMORY {
                return (!offers).then_some(soon);
            }
            let is_empty = self.registers[class.index()].is_none();
            is_empty.then(|| self.register_free(class, intervals[class.index()]))
        });
        taken.chain(collected).min().map_or(CoreCycle::NEVER, |next| next.max(soon))
    }
}
