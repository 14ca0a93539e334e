//! Splits a warp's records into single instructions and the dependences between them.

use warpmem_trace::{Instruction, InstructionId, Kind, OpClass, Record, Space};

/// One instruction of a warp.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub pc: u64,
    pub mask: u32,
    pub what: What,
    /// The instruction that first reads or overwrites its result.
    pub use_at: Option<usize>,
    /// Consecutive registers of its result.
    pub registers: usize,
    /// Start and end of its addresses.
    addresses: (usize, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Compute(OpClass),
    Record(InstructionId, Kind),
    /// Ends a group of async copies.
    Commit,
    /// Waits for async copies, except for the youngest groups, up to this number.
    Wait(u32),
}

/// An instruction that reads or overwrites a result, and the writer of the result.
pub type Link = (usize, usize);

/// All instructions of one warp. Reused from warp to warp.
#[derive(Debug, Default)]
pub struct Steps {
    steps: Vec<Step>,
    addresses: Vec<u64>,
    /// Reader and writer of results that are read, sorted.
    reads: Vec<Link>,
    /// Overwriter and writer of loaded results that are overwritten before they are read, sorted.
    overwrites: Vec<Link>,
    /// Steps that are records.
    records: Vec<usize>,
    /// The step that computes each record's address.
    address_from: Vec<Option<usize>>,
    exited: u32,
    approximated: u64,
}

impl Steps {
    pub fn begin(&mut self) {
        self.steps.clear();
        self.addresses.clear();
        self.reads.clear();
        self.overwrites.clear();
        self.records.clear();
        self.address_from.clear();
        self.exited = 0;
        self.approximated = 0;
    }

    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub fn addresses(&self, step: &Step) -> &[u64] {
        &self.addresses[step.addresses.0..step.addresses.1]
    }

    pub fn reads(&self) -> &[Link] {
        &self.reads
    }

    pub fn overwrites(&self) -> &[Link] {
        &self.overwrites
    }

    pub fn approximated(&self) -> u64 {
        self.approximated
    }

    /// Appends a record and the compute before it.
    pub fn push(&mut self, instruction: &Instruction, record: &Record) {
        self.push_compute(instruction, record);
        if instruction.kind == Kind::End {
            return;
        }
        let position = self.steps.len();
        self.read(position, &instruction.deps);
        let from = instruction.address_from.and_then(|back| {
            let record = self.records.len().checked_sub(back as usize)?;
            self.records.get(record).copied()
        });
        self.reads.extend(from.map(|from| (position, from)));
        let start = self.addresses.len();
        self.addresses.extend_from_slice(record.active_addresses());
        let distance = instruction.use_distance.map(|distance| distance as usize);
        self.steps.push(Step {
            pc: instruction.pc,
            mask: record.mask,
            what: What::Record(record.instruction, instruction.kind),
            use_at: distance.map(|distance| position + 1 + distance),
            registers: result_registers(instruction),
            addresses: (start, self.addresses.len()),
        });
        self.records.push(position);
        self.address_from.push(from);
        if instruction.kind == Kind::Exit {
            self.exited |= record.mask;
        }
    }

    fn push_compute(&mut self, instruction: &Instruction, record: &Record) {
        let mut lanes = Lanes::of(instruction, record);
        let count = instruction.compute.len() as u64;
        let first_pc = match (instruction.kind, self.steps.last()) {
            (Kind::End, Some(last)) => last.pc.wrapping_add(INSTRUCTION_BYTES),
            _ => instruction.pc.saturating_sub(count * INSTRUCTION_BYTES),
        };
        for (compute, number) in instruction.compute.iter().zip(0..) {
            let position = self.steps.len();
            self.read(position, &compute.deps);
            let wanted = lanes.next(compute.class);
            let mask = lowest(!self.exited, wanted);
            self.approximated += u64::from(mask & self.exited != 0);
            self.steps.push(Step {
                pc: first_pc.wrapping_add(number * INSTRUCTION_BYTES),
                mask,
                what: What::Compute(compute.class),
                use_at: None,
                registers: 1,
                addresses: (0, 0),
            });
        }
    }

    fn read(&mut self, position: usize, distances: &[u8]) {
        let writers = distances.iter().filter_map(|&back| position.checked_sub(back.into()));
        self.reads.extend(writers.map(|writer| (position, writer)));
    }

    /// Decides how each loaded result is first used. Call after the last record.
    pub fn finish(&mut self) {
        for record in 0..self.records.len() {
            let position = self.records[record];
            let Some(user) = self.steps[position].use_at else { continue };
            if self.is_copy(position) {
                continue;
            }
            match self.steps.get(user).map(|step| step.what) {
                Some(What::Record(_, kind)) if kind.is_memory() => {
                    self.use_in_record(position, user);
                }
                Some(What::Compute(_)) => self.reads.push((user, position)),
                _ => self.approximated += 1,
            }
        }
        self.place_waits();
        self.reads.sort_unstable();
        self.reads.dedup();
        self.overwrites.sort_unstable();
    }

    /// A memory instruction that reads a load's result takes its address from the youngest such
    /// load. If that is another load, the result was overwritten, not read.
    fn use_in_record(&mut self, position: usize, user: usize) {
        let from = self.records.binary_search(&user).ok().and_then(|at| self.address_from[at]);
        if from.is_some_and(|from| position <= from) {
            self.reads.push((user, position));
        } else {
            self.overwrites.push((user, position));
        }
    }

    fn is_copy(&self, position: usize) -> bool {
        matches!(self.steps[position].what, What::Record(_, Kind::AsyncCopy))
    }

    /// Turns control instructions into the group ends and waits that reproduce the use distance of
    /// each async copy. A group ends between its last copy and the next copy of another group.
    fn place_waits(&mut self) {
        let records = self.records.iter().copied();
        let copies: Vec<usize> = records.filter(|&position| self.is_copy(position)).collect();
        let wait_of = |steps: &[Step], copy: usize| steps[copy].use_at.unwrap_or(usize::MAX);
        let mut waits: Vec<usize> = copies.iter().map(|&copy| wait_of(&self.steps, copy)).collect();
        waits.sort_unstable();
        let mut groups: Vec<Group> = Vec::new();
        let mut latest = 0;
        for (at, &copy) in copies.iter().enumerate() {
            let wait = wait_of(&self.steps, copy);
            // A wait never leaves an older copy outstanding.
            self.approximated += u64::from(wait < latest);
            latest = latest.max(wait);
            let next = copies.get(at + 1).copied();
            if wait == usize::MAX || next.is_some_and(|next| wait_of(&self.steps, next) == wait) {
                continue;
            }
            let end = next.map_or(wait, |next| next.min(wait));
            let is_free = |at: usize| self.steps[at].what == What::Compute(OpClass::Control);
            let commit =
                (copy + 1..end).find(|at| is_free(*at) && waits.binary_search(at).is_err());
            let waiting = self.steps.get(wait).map(|step| step.what);
            match (commit, waiting) {
                (Some(commit), Some(What::Compute(OpClass::Control) | What::Wait(_))) => {
                    self.steps[commit].what = What::Commit;
                    self.steps[wait].what = What::Wait(0);
                    groups.push(Group { commit, wait });
                }
                _ => self.approximated += 1,
            }
        }
        for group in &groups {
            let younger = |other: &&Group| other.commit > group.commit && other.commit < group.wait;
            let younger = groups.iter().filter(younger).count();
            self.steps[group.wait].what = What::Wait(younger as u32);
        }
    }
}

/// Async copies with a common wait.
#[derive(Debug)]
struct Group {
    commit: usize,
    wait: usize,
}

/// Returns the registers that an importer assigns to the result of a memory instruction.
fn result_registers(instruction: &Instruction) -> usize {
    match instruction.space {
        Space::Texture => 1,
        _ => instruction.width.div_ceil(4).max(1) as usize,
    }
}

/// Bytes of an instruction on Volta and later.
const INSTRUCTION_BYTES: u64 = 16;

/// Distributes the active lanes, which a record counts by class only, as evenly as possible.
struct Lanes {
    left: [u32; OpClass::COUNT],
    instructions: [u32; OpClass::COUNT],
}

impl Lanes {
    fn of(instruction: &Instruction, record: &Record) -> Lanes {
        let mut instructions = [0; OpClass::COUNT];
        for compute in &instruction.compute {
            instructions[compute.class as usize] += 1;
        }
        Lanes { left: record.compute_lanes, instructions }
    }

    fn next(&mut self, class: OpClass) -> u32 {
        let class = class as usize;
        let lanes = self.left[class].div_ceil(self.instructions[class].max(1));
        self.left[class] -= lanes;
        self.instructions[class] -= 1;
        lanes
    }
}

/// Returns the lowest `count` lanes of `preferred`, and others if those are not enough.
fn lowest(preferred: u32, count: u32) -> u32 {
    let lanes = (0..32).map(|lane| 1u32 << lane);
    let first = lanes.clone().filter(|lane| preferred & lane != 0);
    let rest = lanes.filter(|lane| preferred & lane == 0);
    first.chain(rest).take(count as usize).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exited_lanes_come_last() {
        assert_eq!(lowest(u32::MAX, 32), u32::MAX);
        assert_eq!(lowest(0b1010, 1), 0b10);
        assert_eq!(lowest(0b1010, 3), 0b1011);
        assert_eq!(lowest(0, 0), 0);
    }
}
