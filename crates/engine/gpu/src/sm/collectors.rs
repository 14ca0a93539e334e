//! Operand collectors of an SM, with the registers before and after them.
//!
//! ```text
//!           dispatch register      operand collectors      unit's register
//!  issue ─▶ one of each class  ─▶  shared by all classes ─▶ one of each class ─▶ unit
//! ```
//!
//! Each scheduler has its own. An instruction issues if the dispatch register of its class is
//! empty, whether its unit is free or not, and takes one cycle per stage without contention
//! (GPGPU-Sim, `opndcoll_rfu_t` with `gpgpu_sub_core_model`).

use super::code::{CLASSES, CONTROL, Class, INTEGER, MEMORY};
use super::memory::{EntryId, MemoryPipeline};
use super::scheduler::SchedulerId;
use super::warp_sets::WarpSets;
use warpmem_machine::{Sm as Config, Unit};
use warpmem_sim::{CoreCycle, WarpSlot, bits};
use warpmem_trace::{OpClass, Operands};

/// Cycles from issue to unit without contention.
pub(super) const TO_UNIT: u64 = 3;

/// Number of classes with a unit.
const PORT_COUNT: usize = CLASSES - 1;

/// Classes in the order in which they are granted free collectors: the order of connection in
/// `shader_core_ctx::create_exec_pipeline` of GPGPU-Sim.
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

/// Rank of each class in [`PORTS`]; [`PORT_COUNT`] for the class without a unit.
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

/// An instruction between issue and its unit.
#[derive(Clone, Copy)]
struct Buffered {
    /// Sequence number; smaller is older.
    age: u64,
    /// Reads of its most used register bank.
    reads: u8,
    /// In a collector: step in which its operands have been read.
    ready: u64,
    instruction: Instruction,
}

impl Buffered {
    /// Placeholder of an empty register.
    const BLANK: Buffered =
        Buffered { age: 0, reads: 0, ready: 0, instruction: Instruction::Memory(EntryId(0)) };
}

#[derive(Clone, Copy)]
enum Instruction {
    Compute(Compute),
    Memory(EntryId),
}

/// A compute instruction, by warp and index.
#[derive(Clone, Copy)]
pub(super) struct Compute {
    pub slot: WarpSlot,
    pub index: u64,
    pub unit: Unit,
}

/// A compute instruction taken by its unit, and the cycle.
#[derive(Clone, Copy)]
pub(super) struct Taken {
    pub compute: Compute,
    pub at: CoreCycle,
}

/// Instructions between issue and the units of an SM. Uncontended instructions bypass this
/// structure: the cycle in which their unit takes them is known at issue.
pub(super) struct Collectors {
    /// Register banks of a scheduler.
    banks: u32,
    /// Steps per cycle. In each, every register bank is read once, and instructions with all
    /// operands advance.
    steps: u64,
    groups: Vec<CollectorGroup>,
    /// Occupied groups, and groups with an occupied dispatch register by class.
    occupied: u64,
    waiting: [u64; CLASSES],
    /// Ranks of the classes with an occupied dispatch register.
    waiting_ports: u64,
    /// Simulated through this cycle.
    now: CoreCycle,
    /// Earliest cycle with autonomous activity. Issue, and the load/store unit taking one of
    /// `offers`, cause activity earlier.
    next_activity: CoreCycle,
    /// Schedulers whose load/store register holds an instruction.
    offers: u64,
    /// Number of instructions that entered a dispatch register.
    issued: u64,
    /// Instructions taken by units and not collected by the issue stage.
    taken: Vec<Taken>,
}

/// Registers and collectors of one scheduler; registers are indexed by class.
struct CollectorGroup {
    waiting: [Buffered; CLASSES],
    registers: [Buffered; CLASSES],
    /// Classes with an occupied dispatch register, and with an occupied unit register.
    waiting_classes: u64,
    register_classes: u64,
    collectors: Vec<Option<(Class, Buffered)>>,
    /// Number of free collectors.
    free: usize,
    /// By class: cycle in which the unit took its last instruction, which frees its register, and
    /// first cycle in which it accepts the next.
    taken: [CoreCycle; CLASSES],
    unit_free: [CoreCycle; CLASSES],
    /// Step in which the last uncontended instruction leaves its collector.
    uncontended_until: u64,
    /// An instruction advanced in this step; earliest cycle with autonomous activity.
    has_advanced: bool,
    next_activity: CoreCycle,
    /// Number of instructions buffered.
    len: usize,
}

impl Collectors {
    pub fn new(config: &Config) -> Collectors {
        let (schedulers, collectors) = (config.schedulers as usize, config.collectors as usize);
        let banks = config.register_banks;
        Collectors {
            banks,
            steps: if banks == 0 { 1 } else { config.bank_reads.into() },
            groups: (0..schedulers).map(|_| CollectorGroup::new(collectors)).collect(),
            occupied: 0,
            waiting: [0; CLASSES],
            waiting_ports: 0,
            now: CoreCycle::ZERO,
            next_activity: CoreCycle::ZERO,
            offers: 0,
            issued: 0,
            taken: Vec::new(),
        }
    }

    /// Returns the warps of `scheduler` blocked by an occupied dispatch register.
    #[inline]
    pub fn blocked(&self, scheduler: SchedulerId, sets: &WarpSets) -> u64 {
        let classes = bits::ones(self.groups[scheduler.index()].waiting_classes).map(Class::new);
        classes.fold(0, |blocked, class| blocked | sets.of_class(class))
    }

    /// Issues a compute instruction in `cycle`. Returns the cycle in which its unit takes it if it
    /// is uncontended.
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
        let group = &mut self.groups[scheduler.index()];
        let collect = (cycle + 1).number() * self.steps;
        let ready = collect + 1 + u64::from(reads);
        let dispatch = CoreCycle::new(ready / self.steps);
        let uncontended = self.waiting[class.index()] == 0
            && u64::from(reads) <= self.steps
            && group.is_uncontended(class, collect, dispatch);
        if uncontended {
            group.uncontended_until = ready;
            let taken = group.unit_free[class.index()].max(dispatch + 1);
            group.take_at(class, taken, compute.unit);
            return Some(taken);
        }
        self.wait(scheduler, class, reads, Instruction::Compute(compute));
        None
    }

    /// Issues a memory instruction.
    pub fn issue_memory(&mut self, scheduler: SchedulerId, operands: Operands, entry: EntryId) {
        let reads = self.reads(operands);
        self.wait(scheduler, MEMORY, reads, Instruction::Memory(entry));
    }

    /// Returns the reads of an instruction's most used register bank.
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
        let group = &mut self.groups[scheduler.index()];
        let bit = 1 << class.index();
        debug_assert!(group.waiting_classes & bit == 0, "the dispatch register is taken");
        group.waiting[class.index()] = Buffered { age: self.issued, reads, ready: 0, instruction };
        group.waiting_classes |= bit;
        group.len += 1;
        group.next_activity = CoreCycle::ZERO;
        self.next_activity = CoreCycle::ZERO;
        self.issued += 1;
        self.occupied |= 1 << scheduler.index();
        self.waiting[class.index()] |= 1 << scheduler.index();
        self.waiting_ports |= 1 << RANKS[class.index()];
    }

    /// Advances all instructions through `cycle`. Instructions that the load/store unit took
    /// earlier have left its registers.
    #[inline]
    pub fn advance(&mut self, cycle: CoreCycle, memory: &mut MemoryPipeline) {
        if self.occupied != 0 && (self.next_activity <= cycle || self.offers != memory.offers()) {
            self.advance_through(cycle, memory);
        }
        self.now = self.now.max(cycle);
    }

    fn advance_through(&mut self, cycle: CoreCycle, memory: &mut MemoryPipeline) {
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

    /// Takes the next instruction that a unit has taken.
    #[inline]
    pub fn take_taken(&mut self) -> Option<Taken> {
        self.taken.pop()
    }

    /// Steps one cycle: units take from their registers, these from collectors, and these from
    /// dispatch registers, in this order, so that a freed entry is available to the next stage.
    fn step(&mut self, cycle: CoreCycle, memory: &mut MemoryPipeline) {
        let live = self.live(cycle, self.offers ^ memory.offers());
        for at in bits::ones(live) {
            self.groups[at].take(cycle, &mut self.taken);
        }
        for step in 0..self.steps {
            let now = cycle.number() * self.steps + step;
            for at in bits::ones(live) {
                self.groups[at].dispatch(SchedulerId::new(at), (now, cycle), memory);
            }
            self.collect(now);
        }
        self.offers = memory.offers();
        self.next_activity = CoreCycle::NEVER;
        for at in bits::ones(self.occupied) {
            let group = &mut self.groups[at];
            if live >> at & 1 == 1 {
                group.settle(cycle + 1, self.steps, self.offers >> at & 1 == 1);
            }
            self.next_activity = self.next_activity.min(group.next_activity);
            self.occupied &= !(u64::from(group.len == 0) << at);
        }
    }

    /// Returns the groups with possible activity in `cycle`; the load/store unit took instructions
    /// of the schedulers in `changed`.
    fn live(&self, cycle: CoreCycle, changed: u64) -> u64 {
        let moves = |&at: &usize| changed >> at & 1 == 1 || self.groups[at].next_activity <= cycle;
        bits::ones(self.occupied).filter(moves).fold(0, |live, at| live | 1 << at)
    }

    /// Moves instructions from dispatch registers to collectors, by class and oldest first. An
    /// instruction whose scheduler has no free collector blocks younger ones of its class
    /// (GPGPU-Sim, `allocate_cu`).
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

    /// Moves the oldest instruction in a dispatch register of `class` to a collector; returns
    /// whether it did.
    fn collect_oldest(&mut self, class: Class, step: u64) -> bool {
        let groups = self.waiting[class.index()];
        let age = |&at: &usize| self.groups[at].waiting[class.index()].age;
        let Some(at) = bits::ones(groups).min_by_key(age) else {
            self.waiting_ports &= !(1 << RANKS[class.index()]);
            return false;
        };
        if !self.groups[at].has_free(step) {
            return false;
        }
        self.groups[at].collect(class, step);
        self.waiting[class.index()] = groups & !(1 << at);
        true
    }

    /// Returns the first cycle from `soon` on with autonomous activity.
    pub fn next(&self, soon: CoreCycle, memory: &MemoryPipeline) -> CoreCycle {
        let mut next = CoreCycle::NEVER;
        for at in bits::ones(self.occupied) {
            let offers = memory.offers() >> at & 1 == 1;
            next = next.min(self.groups[at].next(soon, self.steps, offers));
            if next == soon {
                break;
            }
        }
        next
    }

    /// Returns a lower bound, from `soon` on, of the next cycle in which an idle load/store unit is
    /// offered an instruction.
    pub fn next_memory(&self, soon: CoreCycle) -> CoreCycle {
        let holds = |at: usize| self.groups[at].collects(MEMORY);
        if self.waiting[MEMORY.index()] != 0 || bits::ones(self.occupied).any(holds) {
            soon + 1
        } else {
            CoreCycle::NEVER
        }
    }
}

impl CollectorGroup {
    fn new(collectors: usize) -> CollectorGroup {
        CollectorGroup {
            waiting: [Buffered::BLANK; CLASSES],
            registers: [Buffered::BLANK; CLASSES],
            waiting_classes: 0,
            register_classes: 0,
            collectors: vec![None; collectors],
            free: collectors,
            taken: [CoreCycle::ZERO; CLASSES],
            unit_free: [CoreCycle::ZERO; CLASSES],
            uncontended_until: 0,
            has_advanced: false,
            next_activity: CoreCycle::ZERO,
            len: 0,
        }
    }

    /// Whether an instruction that enters a collector in step `collect` and leaves it in cycle
    /// `dispatch` reaches the register of its unit without contention: no other waits for a
    /// collector, one is free, and the register will be empty.
    #[inline]
    fn is_uncontended(&self, class: Class, collect: u64, dispatch: CoreCycle) -> bool {
        self.taken[class.index()] <= dispatch
            && self.has_free(collect)
            && (self.len == 0 || self.is_clear(class))
    }

    fn is_clear(&self, class: Class) -> bool {
        self.waiting_classes == 0 && !self.holds(class) && !self.collects(class)
    }

    /// Records that a unit takes an instruction of `class` in `cycle`.
    #[inline]
    fn take_at(&mut self, class: Class, cycle: CoreCycle, unit: Unit) {
        self.taken[class.index()] = cycle;
        self.unit_free[class.index()] = cycle + u64::from(unit.interval);
    }

    /// Whether a collector is free in `step`.
    #[inline]
    fn has_free(&self, step: u64) -> bool {
        self.free > usize::from(self.uncontended_until > step)
    }

    /// Whether the register of the unit is occupied.
    #[inline]
    fn holds(&self, class: Class) -> bool {
        self.register_classes >> class.index() & 1 == 1
    }

    fn collects(&self, class: Class) -> bool {
        self.collectors.iter().flatten().any(|&(of, _)| of == class)
    }

    /// Moves instructions from unit registers into free units.
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
            self.has_advanced = true;
            taken.push(Taken { compute, at: cycle });
        }
    }

    /// Moves instructions with all operands from collectors, the first collector first, into empty
    /// unit registers.
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
            let Some((class, buffered)) = self.collectors[at] else { continue };
            if buffered.ready > step {
                continue;
            }
            match buffered.instruction {
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
                    self.registers[class.index()] = buffered;
                    self.register_classes |= 1 << class.index();
                }
            }
            self.collectors[at] = None;
            self.free += 1;
            self.has_advanced = true;
        }
    }

    /// Moves the instruction in the dispatch register of `class` to the first free collector.
    fn collect(&mut self, class: Class, step: u64) {
        self.waiting_classes &= !(1 << class.index());
        let mut buffered = self.waiting[class.index()];
        buffered.ready = step + 1 + u64::from(buffered.reads);
        let free = self.collectors.iter_mut().find(|collector| collector.is_none());
        *free.expect("a collector is free") = Some((class, buffered));
        self.free -= 1;
        self.has_advanced = true;
    }

    /// Updates, at the end of a step, the earliest cycle with autonomous activity.
    fn settle(&mut self, soon: CoreCycle, steps: u64, offers: bool) {
        let moved = std::mem::take(&mut self.has_advanced);
        self.next_activity = if moved { soon } else { self.next(soon, steps, offers) };
    }

    /// Returns the first cycle from `soon` on with autonomous activity. `offers`: the load/store
    /// register is occupied.
    fn next(&self, soon: CoreCycle, steps: u64, offers: bool) -> CoreCycle {
        if self.free > 0 && self.waiting_classes != 0 {
            return soon;
        }
        let taken = bits::ones(self.register_classes).map(|class| self.unit_free[class]);
        let collected = self.collectors.iter().flatten().filter_map(|&(class, buffered)| {
            let ready = CoreCycle::new(buffered.ready / steps);
            if class == MEMORY {
                return (!offers).then_some(ready);
            }
            (!self.holds(class)).then(|| self.taken[class.index()].max(ready))
        });
        taken.chain(collected).min().map_or(CoreCycle::NEVER, |next| next.max(soon))
    }
}
