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

use super::code::{CLASSES, CONTROL, Class, INTEGER, MEMORY};
use super::memory::{EntryId, MemoryPipeline};
use super::scheduler::SchedulerId;
use super::warp_sets::WarpSets;
use warpmem_machine::{Sm as Config, Unit};
use warpmem_sim::{CoreCycle, WarpSlot, bits};
use warpmem_trace::{OpClass, Operands};

/// Cycles from the issue of an instruction that nothing delays until its unit takes it.
pub(super) const TO_UNIT: u64 = 3;

/// Classes that have a unit.
const PORT_COUNT: usize = CLASSES - 1;

/// The classes in the order in which they are given free collectors: that in which
/// `shader_core_ctx::create_exec_pipeline` of GPGPU-Sim connects them.
const PORTS: [Class; PORT_COUNT] = [
    Class(OpClass::Fp32 as u8),
    Class(OpClass::Fp16 as u8),
    Class(OpClass::Sfu as u8),
    MEMORY,
    Class(OpClass::Tensor as u8),
    Class(OpClass::Fp64 as u8),
    INTEGER,
    CONTROL,
    Class(OpClass::Uniform as u8),
    Class(OpClass::Other as u8),
];

/// The place of each class in [`PORTS`]; one more for the class that has none.
const RANKS: [u8; CLASSES] = ranks();

const fn ranks() -> [u8; CLASSES] {
    let mut ranks = [PORT_COUNT as u8; CLASSES];
    let mut rank = 0;
    while rank < PORT_COUNT {
        ranks[PORTS[rank].0 as usize] = rank as u8;
        rank += 1;
    }
    ranks
}

/// An instruction on its way to its unit.
#[derive(Clone, Copy)]
struct Held {
    /// Instructions that have come before it.
    age: u64,
    /// Reads of the register bank that it reads most.
    reads: u8,
    /// In a collector: the step in which its operands are read.
    ready: u64,
    instruction: Instruction,
}

impl Held {
    /// In a register that holds nothing.
    const BLANK: Held =
        Held { age: 0, reads: 0, ready: 0, instruction: Instruction::Memory(EntryId(0)) };
}

#[derive(Clone, Copy)]
enum Instruction {
    Compute(Compute),
    Memory(EntryId),
}

/// An instruction of a warp, by its index.
#[derive(Clone, Copy)]
pub(super) struct Compute {
    pub slot: WarpSlot,
    pub index: u64,
    pub unit: Unit,
}

/// A unit has taken an instruction.
#[derive(Clone, Copy)]
pub(super) struct Taken {
    pub compute: Compute,
    pub at: CoreCycle,
}

/// What is on its way to the units of an SM. What nothing can delay does not show here: it is known
/// at its issue when its unit takes it.
pub(super) struct Collectors {
    /// Banks of a scheduler's registers.
    banks: u32,
    /// Steps of a cycle: in each, a register bank is read once, and what has its operands moves on.
    steps: u64,
    lanes: Vec<Lane>,
    /// Lanes that hold something, and those with something in the dispatch register of a class.
    occupied: u64,
    waiting: [u64; CLASSES],
    /// The ports with something in a dispatch register.
    waiting_ports: u64,
    /// What happens until the end of this cycle has happened.
    now: CoreCycle,
    /// Before this cycle nothing moves, unless something issues or the load/store unit takes
    /// something that was offered to it: by these schedulers.
    still_until: CoreCycle,
    offers: u64,
    /// Instructions that have waited.
    issued: u64,
    taken: Vec<Taken>,
}

/// The registers and collectors of one scheduler. Those of each class are indexed by it.
struct Lane {
    waiting: [Held; CLASSES],
    registers: [Held; CLASSES],
    /// Classes whose dispatch register, and whose unit's register, hold something.
    waiting_classes: u64,
    register_classes: u64,
    collectors: Vec<Option<(Class, Held)>>,
    /// Collectors that hold nothing.
    free: usize,
    /// When each unit has taken its last instruction, so that its register is empty, and when it
    /// takes the next.
    taken: [CoreCycle; CLASSES],
    unit_free: [CoreCycle; CLASSES],
    /// The step in which the last instruction that is not seen here leaves its collector.
    passing: u64,
    /// Something has moved in this step; before this cycle nothing will of itself.
    has_moved: bool,
    still_until: CoreCycle,
    len: usize,
}

impl Collectors {
    /// Those of an SM.
    pub fn new(config: &Config) -> Collectors {
        let (schedulers, collectors) = (config.schedulers as usize, config.collectors as usize);
        let banks = config.register_banks;
        Collectors {
            banks,
            steps: if banks == 0 { 1 } else { config.bank_reads.into() },
            lanes: (0..schedulers).map(|_| Lane::new(collectors)).collect(),
            occupied: 0,
            waiting: [0; CLASSES],
            waiting_ports: 0,
            now: CoreCycle::ZERO,
            still_until: CoreCycle::ZERO,
            offers: 0,
            issued: 0,
            taken: Vec::new(),
        }
    }

    /// Warps of `scheduler` that may not issue: the dispatch register of their class is taken.
    #[inline]
    pub fn blocked(&self, scheduler: SchedulerId, sets: &WarpSets) -> u64 {
        let classes = bits::ones(self.lanes[scheduler.index()].waiting_classes).map(Class::new);
        classes.fold(0, |blocked, class| blocked | sets.of_class(class))
    }

    /// A compute instruction issues in `cycle`. When its unit takes it, if nothing can change that.
    #[inline]
    pub fn issue(
        &mut self,
        scheduler: SchedulerId,
        class: Class,
        cycle: CoreCycle,
        operands: Operands,
        compute: Compute,
    ) -> Option<CoreCycle> {
        let reads = self.reads(operands);
        let lane = &mut self.lanes[scheduler.index()];
        let collect = (cycle + 1).number() * self.steps;
        let ready = collect + 1 + u64::from(reads);
        let dispatch = CoreCycle::new(ready / self.steps);
        let passes = self.waiting[class.index()] == 0
            && u64::from(reads) <= self.steps
            && lane.lets_pass(class, collect, dispatch);
        if passes {
            lane.passing = ready;
            let taken = lane.unit_free[class.index()].max(dispatch + 1);
            lane.take_at(class, taken, compute.unit);
            return Some(taken);
        }
        self.wait(scheduler, class, reads, Instruction::Compute(compute));
        None
    }

    /// A memory instruction issues.
    pub fn issue_memory(&mut self, scheduler: SchedulerId, operands: Operands, entry: EntryId) {
        let reads = self.reads(operands);
        self.wait(scheduler, MEMORY, reads, Instruction::Memory(entry));
    }

    /// Reads of the bank of which an instruction reads most.
    #[inline]
    fn reads(&self, operands: Operands) -> u8 {
        match self.banks {
            0 => 0,
            1 => operands.sources,
            2 => operands.bank_reads_of_2,
            _ => operands.bank_reads,
        }
    }

    fn wait(&mut self, scheduler: SchedulerId, class: Class, reads: u8, instruction: Instruction) {
        let lane = &mut self.lanes[scheduler.index()];
        let bit = 1 << class.index();
        debug_assert!(lane.waiting_classes & bit == 0, "the dispatch register is taken");
        lane.waiting[class.index()] = Held { age: self.issued, reads, ready: 0, instruction };
        lane.waiting_classes |= bit;
        lane.len += 1;
        lane.still_until = CoreCycle::ZERO;
        self.still_until = CoreCycle::ZERO;
        self.issued += 1;
        self.occupied |= 1 << scheduler.index();
        self.waiting[class.index()] |= 1 << scheduler.index();
        self.waiting_ports |= 1 << RANKS[class.index()];
    }

    /// Moves everything on until the end of `cycle`. What the load/store unit has taken before is
    /// out of its registers.
    #[inline]
    pub fn advance(&mut self, cycle: CoreCycle, memory: &mut MemoryPipeline) {
        if self.occupied != 0 && (self.still_until <= cycle || self.offers != memory.offers()) {
            self.move_on(cycle, memory);
        }
        self.now = self.now.max(cycle);
    }

    fn move_on(&mut self, cycle: CoreCycle, memory: &mut MemoryPipeline) {
        while self.occupied != 0 && self.now < cycle {
            let soon = self.now + 1;
            let next = if soon == cycle { soon } else { self.next(soon, memory) };
            if next > cycle {
                return;
            }
            self.step(next, memory);
            self.now = next;
        }
    }

    /// What units have taken since this was asked.
    #[inline]
    pub fn take_taken(&mut self) -> Option<Taken> {
        self.taken.pop()
    }

    /// Units take from their registers, these from collectors, and these from dispatch registers: in
    /// this order, so that what one leaves is free for the next.
    fn step(&mut self, cycle: CoreCycle, memory: &mut MemoryPipeline) {
        let live = self.live(cycle, self.offers ^ memory.offers());
        for at in bits::ones(live) {
            self.lanes[at].take(cycle, &mut self.taken);
        }
        for step in 0..self.steps {
            let now = cycle.number() * self.steps + step;
            for at in bits::ones(live) {
                self.lanes[at].dispatch(SchedulerId::new(at), (now, cycle), memory);
            }
            self.collect(now);
        }
        self.offers = memory.offers();
        self.still_until = CoreCycle::NEVER;
        for at in bits::ones(self.occupied) {
            let lane = &mut self.lanes[at];
            if live >> at & 1 == 1 {
                lane.settle(cycle + 1, self.steps, self.offers >> at & 1 == 1);
            }
            self.still_until = self.still_until.min(lane.still_until);
            self.occupied &= !(u64::from(lane.len == 0) << at);
        }
    }

    /// The lanes in which something may move in `cycle`; the load/store unit has taken something from
    /// `changed`.
    fn live(&self, cycle: CoreCycle, changed: u64) -> u64 {
        let moves = |&at: &usize| changed >> at & 1 == 1 || self.lanes[at].still_until <= cycle;
        bits::ones(self.occupied).filter(moves).fold(0, |live, at| live | 1 << at)
    }

    /// The dispatch registers of each class pass on their instructions, oldest first. One whose
    /// scheduler has no free collector stops those behind it (GPGPU-Sim, `allocate_cu`).
    fn collect(&mut self, step: u64) {
        let mut open = self.waiting_ports;
        while open != 0 {
            for rank in bits::ones(open) {
                if !self.collect_oldest(PORTS[rank], step) {
                    open &= !(1 << rank);
                }
            }
        }
    }

    /// Whether the oldest instruction in a dispatch register of `class` finds a collector.
    fn collect_oldest(&mut self, class: Class, step: u64) -> bool {
        let lanes = self.waiting[class.index()];
        let age = |&at: &usize| self.lanes[at].waiting[class.index()].age;
        let Some(at) = bits::ones(lanes).min_by_key(age) else {
            self.waiting_ports &= !(1 << RANKS[class.index()]);
            return false;
        };
        if !self.lanes[at].has_free(step) {
            return false;
        }
        self.lanes[at].collect(class, step);
        self.waiting[class.index()] = lanes & !(1 << at);
        true
    }

    /// The first cycle from `soon` on in which something moves of itself.
    pub fn next(&self, soon: CoreCycle, memory: &MemoryPipeline) -> CoreCycle {
        let mut next = CoreCycle::NEVER;
        for at in bits::ones(self.occupied) {
            let offers = memory.offers() >> at & 1 == 1;
            next = next.min(self.lanes[at].next(soon, self.steps, offers));
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
        if self.waiting[MEMORY.index()] != 0 || bits::ones(self.occupied).any(holds) {
            soon + 1
        } else {
            CoreCycle::NEVER
        }
    }
}

impl Lane {
    fn new(collectors: usize) -> Lane {
        Lane {
            waiting: [Held::BLANK; CLASSES],
            registers: [Held::BLANK; CLASSES],
            waiting_classes: 0,
            register_classes: 0,
            collectors: vec![None; collectors],
            free: collectors,
            taken: [CoreCycle::ZERO; CLASSES],
            unit_free: [CoreCycle::ZERO; CLASSES],
            passing: 0,
            has_moved: false,
            still_until: CoreCycle::ZERO,
            len: 0,
        }
    }

    /// Whether nothing can delay an instruction on its way to the register of its unit, which would come
    /// into a collector in the step `collect` and leave it in the cycle `dispatch`: no other waits for a
    /// collector or holds the last, and the register will be empty.
    #[inline]
    fn lets_pass(&self, class: Class, collect: u64, dispatch: CoreCycle) -> bool {
        self.taken[class.index()] <= dispatch
            && self.has_free(collect)
            && (self.len == 0 || self.is_clear(class))
    }

    fn is_clear(&self, class: Class) -> bool {
        self.waiting_classes == 0 && !self.holds(class) && !self.collects(class)
    }

    /// A unit takes an instruction of `class` in `cycle`.
    #[inline]
    fn take_at(&mut self, class: Class, cycle: CoreCycle, unit: Unit) {
        self.taken[class.index()] = cycle;
        self.unit_free[class.index()] = cycle + u64::from(unit.interval);
    }

    /// Whether a collector is free in `step`.
    #[inline]
    fn has_free(&self, step: u64) -> bool {
        self.free > usize::from(self.passing > step)
    }

    /// Whether the register of the unit holds something.
    #[inline]
    fn holds(&self, class: Class) -> bool {
        self.register_classes >> class.index() & 1 == 1
    }

    fn collects(&self, class: Class) -> bool {
        self.collectors.iter().flatten().any(|&(held, _)| held == class)
    }

    /// The units that are free take what is in their registers.
    fn take(&mut self, cycle: CoreCycle, taken: &mut Vec<Taken>) {
        for at in bits::ones(self.register_classes) {
            if self.unit_free[at] > cycle {
                continue;
            }
            let Instruction::Compute(compute) = self.registers[at].instruction else {
                unreachable!("the load/store unit has its own registers")
            };
            self.register_classes &= !(1 << at);
            self.take_at(Class::new(at), cycle, compute.unit);
            self.len -= 1;
            self.has_moved = true;
            taken.push(Taken { compute, at: cycle });
        }
    }

    /// The registers that are empty take from the first collector with something for them.
    fn dispatch(
        &mut self,
        scheduler: SchedulerId,
        (step, cycle): (u64, CoreCycle),
        memory: &mut MemoryPipeline,
    ) {
        if self.free == self.collectors.len() {
            return;
        }
        for at in 0..self.collectors.len() {
            let Some((class, held)) = self.collectors[at] else { continue };
            if held.ready > step {
                continue;
            }
            match held.instruction {
                Instruction::Memory(_) if memory.offers() >> scheduler.index() & 1 == 1 => {
                    continue;
                }
                Instruction::Memory(entry) => {
                    memory.offer(scheduler, entry, cycle);
                    self.len -= 1;
                }
                Instruction::Compute(_) => {
                    if self.holds(class) || self.taken[class.index()] > cycle {
                        continue;
                    }
                    self.registers[class.index()] = held;
                    self.register_classes |= 1 << class.index();
                }
            }
            self.collectors[at] = None;
            self.free += 1;
            self.has_moved = true;
        }
    }

    /// The first free collector takes what is in the dispatch register of `class`.
    fn collect(&mut self, class: Class, step: u64) {
        self.waiting_classes &= !(1 << class.index());
        let mut held = self.waiting[class.index()];
        held.ready = step + 1 + u64::from(held.reads);
        let free = self.collectors.iter_mut().find(|collector| collector.is_none());
        *free.expect("one is free") = Some((class, held));
        self.free -= 1;
        self.has_moved = true;
    }

    /// Notes at the end of a step when something can move again, from `soon` on.
    fn settle(&mut self, soon: CoreCycle, steps: u64, offers: bool) {
        let moved = std::mem::take(&mut self.has_moved);
        self.still_until = if moved { soon } else { self.next(soon, steps, offers) };
    }

    /// The first cycle from `soon` on in which something moves of itself. `offers`: the register of
    /// the load/store unit is taken.
    fn next(&self, soon: CoreCycle, steps: u64, offers: bool) -> CoreCycle {
        if self.free > 0 && self.waiting_classes != 0 {
            return soon;
        }
        let taken = bits::ones(self.register_classes).map(|class| self.unit_free[class]);
        let collected = self.collectors.iter().flatten().filter_map(|&(class, held)| {
            let ready = CoreCycle::new(held.ready / steps);
            if class == MEMORY {
                return (!offers).then_some(ready);
            }
            (!self.holds(class)).then(|| self.taken[class.index()].max(ready))
        });
        taken.chain(collected).min().map_or(CoreCycle::NEVER, |next| next.max(soon))
    }
}
