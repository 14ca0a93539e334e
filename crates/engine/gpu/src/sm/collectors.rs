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

mod group;

use super::code::{CLASSES, CONTROL, Class, INTEGER, MEMORY};
use super::memory::{EntryId, MemoryPipeline};
use super::scheduler::SchedulerId;
use super::warp_sets::WarpSets;
use group::CollectorGroup;
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

/// An instruction in a dispatch register.
#[derive(Clone, Copy)]
struct Waiting {
    /// Sequence number; smaller is older.
    age: u64,
    /// Reads of its most used register bank.
    reads: u8,
    instruction: Instruction,
}

impl Waiting {
    /// Placeholder of an empty register.
    const BLANK: Waiting =
        Waiting { age: 0, reads: 0, instruction: Instruction::Memory(EntryId(0)) };
}

/// An instruction in a collector.
#[derive(Clone, Copy)]
struct Collected {
    class: Class,
    /// Step in which its operands have been read, and the cycle of that step.
    ready: u64,
    ready_cycle: CoreCycle,
    instruction: Instruction,
}

#[derive(Clone, Copy)]
enum Instruction {
    Compute(Compute),
    Memory(EntryId),
}

#[cfg(test)]
thread_local! {
    /// Paths of instructions that wait are found at their issue.
    pub(super) static FINDS_PATHS: std::cell::Cell<bool> = const { std::cell::Cell::new(true) };
}

/// Whether paths of instructions that wait are found at their issue. Tests compare with the paths
/// found step by step.
#[inline]
fn finds_paths() -> bool {
    #[cfg(test)]
    let finds = FINDS_PATHS.get();
    #[cfg(not(test))]
    let finds = true;
    finds
}

/// A compute instruction, by warp and index.
#[derive(Clone, Copy)]
pub(super) struct Compute {
    pub slot: WarpSlot,
    pub index: u64,
    pub unit: Unit,
}

impl Compute {
    /// Placeholder of an empty register.
    const BLANK: Compute =
        Compute { slot: WarpSlot(0), index: 0, unit: Unit { latency: 0, interval: 0 } };
}

/// A compute instruction taken by its unit, and the cycle.
#[derive(Clone, Copy)]
pub(super) struct Taken {
    pub compute: Compute,
    pub at: CoreCycle,
}

/// A step: one read of every register bank.
#[derive(Clone, Copy)]
struct Step {
    /// Number in the run.
    number: u64,
    cycle: CoreCycle,
    /// Number in its cycle.
    in_cycle: u32,
}

/// Instructions between issue and the units of an SM. Uncontended instructions bypass this
/// structure: the cycle in which their unit or its register takes them is known at issue.
pub(super) struct Collectors {
    /// Register banks of a scheduler.
    banks: u32,
    /// Steps per cycle. In each, every register bank is read once, and instructions with all
    /// operands advance.
    steps: u32,
    groups: Vec<CollectorGroup>,
    /// Occupied groups, and groups with an occupied dispatch register by class.
    occupied: u64,
    waiting: [u64; CLASSES],
    /// Simulated through this cycle.
    now: CoreCycle,
    /// Earliest cycle with autonomous activity. Issue, and the load/store unit taking one of
    /// `offers`, cause activity earlier.
    next_activity: CoreCycle,
    /// Schedulers whose load/store register holds an instruction.
    offers: u64,
    /// By class: instructions with a known path that enter collectors in step `entry`, before those
    /// of the dispatch registers.
    entering: [u8; CLASSES],
    entry: u64,
    /// Number of instructions that entered a dispatch register.
    issued: u64,
    /// Instructions taken by units and not collected by the issue stage.
    taken: Vec<Taken>,
}

impl Collectors {
    pub fn new(config: &Config) -> Collectors {
        let (schedulers, collectors) = (config.schedulers as usize, config.collectors as usize);
        let banks = config.register_banks;
        Collectors {
            banks,
            steps: if banks == 0 { 1 } else { config.bank_reads },
            groups: (0..schedulers).map(|_| CollectorGroup::new(collectors)).collect(),
            occupied: 0,
            waiting: [0; CLASSES],
            now: CoreCycle::ZERO,
            next_activity: CoreCycle::NEVER,
            offers: 0,
            entering: [0; CLASSES],
            entry: 0,
            issued: 0,
            taken: Vec::new(),
        }
    }

    /// Returns the warps of `scheduler` blocked by an occupied dispatch register.
    #[inline]
    pub fn blocked(&self, scheduler: SchedulerId, sets: &WarpSets) -> u64 {
        let ports = bits::ones(self.groups[scheduler.index()].waiting_ports);
        ports.map(|rank| PORTS[rank]).fold(0, |blocked, class| blocked | sets.of_class(class))
    }

    /// Issues a compute instruction in `cycle`. Returns the cycle in which its unit takes it if it
    /// is uncontended, or if it waits for its unit only, in the first collector: no later instruction
    /// of its class can overtake it there.
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
        let collect = self.first_step(cycle + 1);
        let (ready, dispatch) = self.read_operands(collect, reads);
        let is_first = self.waiting[class.index()] == 0 && u32::from(reads) <= self.steps;
        let is_only = is_first && !self.is_entering(class, collect.number);
        let group = &mut self.groups[scheduler.index()];
        if is_only && group.is_uncontended(class, cycle, collect.number, dispatch) {
            group.uncontended_until = ready;
            return Some(group.take_from(class, dispatch, compute.unit));
        }
        if is_first && group.first_is_free(collect.number) {
            let leaves = dispatch.max(group.taken[class.index()]);
            group.first_until = ready.max(leaves.number() * u64::from(self.steps));
            let taken = group.take_from(class, leaves, compute.unit);
            group.known_until[class.index()] = taken;
            self.enter(class, collect.number);
            return Some(taken);
        }
        self.wait(scheduler, class, collect.cycle, reads, Instruction::Compute(compute));
        None
    }

    /// Issues a memory instruction in `cycle`. With empty collectors and an empty load/store register
    /// it gets the first collector, and its entry into the register is known.
    pub fn issue_memory(
        &mut self,
        scheduler: SchedulerId,
        cycle: CoreCycle,
        operands: Operands,
        entry: EntryId,
        memory: &mut MemoryPipeline,
    ) {
        let reads = self.reads(operands);
        let collect = self.first_step(cycle + 1);
        let bit = 1 << scheduler.index();
        let is_known = self.waiting[MEMORY.index()] == 0
            && u32::from(reads) <= self.steps
            && self.groups[scheduler.index()].first_is_free(collect.number)
            && memory.offers() & bit == 0;
        if !is_known {
            return self.wait(scheduler, MEMORY, collect.cycle, reads, Instruction::Memory(entry));
        }
        let (ready, dispatch) = self.read_operands(collect, reads);
        self.groups[scheduler.index()].first_until = ready;
        self.enter(MEMORY, collect.number);
        self.offers |= bit;
        memory.offer(scheduler, entry, dispatch);
    }

    /// Records that an instruction with a known path enters a collector in step `entry`.
    fn enter(&mut self, class: Class, entry: u64) {
        if self.entry != entry {
            (self.entry, self.entering) = (entry, [0; CLASSES]);
        }
        self.entering[class.index()] += 1;
    }

    /// Whether an instruction of `class` with a known path enters a collector in step `entry`.
    #[inline]
    fn is_entering(&self, class: Class, entry: u64) -> bool {
        self.entry == entry && self.entering[class.index()] > 0
    }

    /// Returns the first step of a cycle.
    #[inline]
    fn first_step(&self, cycle: CoreCycle) -> Step {
        Step { number: cycle.number() * u64::from(self.steps), cycle, in_cycle: 0 }
    }

    /// Returns the step in which an instruction that enters a collector in step `collect` has its
    /// operands, and the cycle of that step.
    #[inline]
    fn read_operands(&self, collect: Step, reads: u8) -> (u64, CoreCycle) {
        let steps = 1 + u32::from(reads);
        let cycles = (collect.in_cycle + steps) / self.steps;
        (collect.number + u64::from(steps), collect.cycle + u64::from(cycles))
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

    /// Moves an instruction into the dispatch register of its class; it can enter a collector from
    /// cycle `collect` on. Without a free collector it waits for activity that is known already.
    fn wait(
        &mut self,
        scheduler: SchedulerId,
        class: Class,
        collect: CoreCycle,
        reads: u8,
        instruction: Instruction,
    ) {
        let group = &mut self.groups[scheduler.index()];
        let bit = 1 << RANKS[class.index()];
        debug_assert!(group.waiting_ports & bit == 0, "the dispatch register is taken");
        group.waiting[class.index()] = Waiting { age: self.issued, reads, instruction };
        group.waiting_ports |= bit;
        group.len += 1;
        if group.free > 0 {
            group.next_activity = group.next_activity.min(collect);
            self.next_activity = self.next_activity.min(collect);
        }
        self.issued += 1;
        self.occupied |= 1 << scheduler.index();
        self.waiting[class.index()] |= 1 << scheduler.index();
    }

    /// Whether nothing moves through `cycle`.
    #[inline]
    pub fn is_still(&self, cycle: CoreCycle, memory: &MemoryPipeline) -> bool {
        self.next_activity > cycle && !self.has_left_register(memory)
    }

    /// Skips to the end of `cycle`; nothing moves until then.
    #[inline]
    pub fn skip_to(&mut self, cycle: CoreCycle) {
        self.now = self.now.max(cycle);
    }

    /// Advances all instructions through `cycle`. Instructions that the load/store unit took
    /// earlier have left its registers.
    pub fn advance(&mut self, cycle: CoreCycle, memory: &mut MemoryPipeline) {
        self.advance_through(cycle, memory);
        self.skip_to(cycle);
    }

    /// Whether the load/store unit has taken an instruction for whose register another may wait.
    #[inline]
    fn has_left_register(&self, memory: &MemoryPipeline) -> bool {
        (self.offers ^ memory.offers()) & self.occupied != 0
    }

    fn advance_through(&mut self, cycle: CoreCycle, memory: &mut MemoryPipeline) {
        while self.now < cycle {
            let next = self.next(self.now + 1, memory);
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
        let mut step = self.first_step(cycle);
        while step.in_cycle < self.steps {
            self.move_operands(step, live, memory);
            (step.number, step.in_cycle) = (step.number + 1, step.in_cycle + 1);
        }
        self.offers = memory.offers();
        self.settle(cycle + 1, live);
    }

    /// Moves the instructions of the groups `live` into and out of collectors.
    #[inline]
    fn move_operands(&mut self, step: Step, live: u64, memory: &mut MemoryPipeline) {
        let (mut open, mut ports) = (0, 0);
        for at in bits::ones(live) {
            let group = &mut self.groups[at];
            if step.in_cycle == 0 || group.last_ready >= step.number {
                group.dispatch(SchedulerId::new(at), step, memory);
            }
            if group.waiting_ports != 0 && group.has_free(step.number) {
                open |= 1 << at;
                ports |= group.waiting_ports;
            }
        }
        if open != 0 {
            self.collect(step, open, ports);
        }
    }

    /// Updates, at the end of a step, the earliest cycle with autonomous activity, and frees the
    /// empty groups.
    fn settle(&mut self, soon: CoreCycle, live: u64) {
        let mut next = CoreCycle::NEVER;
        for at in bits::ones(self.occupied) {
            let group = &mut self.groups[at];
            if live >> at & 1 == 1 {
                group.next_activity = group.next(soon, self.offers >> at & 1 == 1);
                self.occupied &= !(u64::from(group.len == 0) << at);
            }
            next = next.min(group.next_activity);
        }
        self.next_activity = next;
    }

    /// Returns the groups with possible activity in `cycle`; the load/store unit took instructions
    /// of the schedulers in `changed`.
    fn live(&self, cycle: CoreCycle, changed: u64) -> u64 {
        let mut live = self.occupied & changed;
        for at in bits::ones(self.occupied & !changed) {
            live |= u64::from(self.groups[at].next_activity <= cycle) << at;
        }
        live
    }

    /// Moves instructions of the classes with the ranks `ports` from dispatch registers to
    /// collectors, by class and oldest first. The groups `open` have a free collector. An instruction
    /// whose scheduler has none blocks younger ones of its class (GPGPU-Sim, `allocate_cu`).
    fn collect(&mut self, step: Step, mut open: u64, mut ports: u64) {
        while ports != 0 {
            for rank in bits::ones(ports) {
                let class = PORTS[rank];
                if self.is_entering(class, step.number) {
                    self.entering[class.index()] -= 1;
                    continue;
                }
                let at = self.oldest(class);
                if open >> at & 1 == 0 {
                    ports &= !(1 << rank);
                    continue;
                }
                self.collect_from(at, class, step);
                open &= !(u64::from(!self.groups[at].has_free(step.number)) << at);
                ports &= !(u64::from(self.waiting[class.index()] & open == 0) << rank);
            }
        }
    }

    /// Moves the instruction in the dispatch register of `class` of a group to a collector.
    #[inline]
    fn collect_from(&mut self, at: usize, class: Class, step: Step) {
        let reads = self.groups[at].waiting[class.index()].reads;
        let (ready, ready_cycle) = self.read_operands(step, reads);
        self.groups[at].collect(class, step, ready, ready_cycle);
        self.waiting[class.index()] &= !(1 << at);
    }

    /// Returns the group with the oldest instruction in the dispatch register of `class`, which is
    /// occupied in some group.
    #[inline]
    fn oldest(&self, class: Class) -> usize {
        let groups = self.waiting[class.index()];
        let age = |at: usize| self.groups[at].waiting[class.index()].age;
        let first = groups.trailing_zeros() as usize;
        let others = bits::ones(groups & (groups - 1));
        others.fold(first, |oldest, at| if age(at) < age(oldest) { at } else { oldest })
    }

    /// Returns the first cycle from `soon` on with autonomous activity.
    pub fn next(&self, soon: CoreCycle, memory: &MemoryPipeline) -> CoreCycle {
        if self.has_left_register(memory) { soon } else { self.next_activity.max(soon) }
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
