//! Liveness of registers, from which the registers of a thread are estimated.
//!
//! Every register is followed from where it is read back to where it is written, so that the time is
//! that of the live registers of all blocks. A thread has few: where more are live, none is counted.

use crate::flow::Flow;
use crate::instruction::{Instruction, Register};
use crate::module::Body;
use crate::op::Op;
use crate::types::RegisterClass;

/// Most words that are counted: more than a thread has.
pub const MOST_WORDS: u32 = 256;

/// 32-bit words of registers that are live at once, at most [`MOST_WORDS`]: the most over all
/// instructions of a function, and by call of the function, at the call.
///
/// Predicates have registers of their own and do not count.
pub fn live_words(body: &Body, flow: &Flow) -> (u32, Vec<u32>) {
    let mut at_calls = vec![0; body.calls.len()];
    match most_words(body, flow, &mut at_calls) {
        Some(most) => (most, at_calls),
        None => (MOST_WORDS, vec![MOST_WORDS; body.calls.len()]),
    }
}

/// The most words over all instructions, and those at calls; `None` where too many are live.
fn most_words(body: &Body, flow: &Flow, at_calls: &mut [u32]) -> Option<u32> {
    let numbers = Numbers::of(body);
    let mut live = Live::new(&numbers);
    let (live_in, mut most) = (live_in(body, flow, &numbers, &mut live)?, 0);
    for (block, range) in flow.blocks(body).enumerate() {
        live.clear();
        let behind = flow.successors(block).iter().flat_map(|&next| &live_in[next as usize]);
        behind.for_each(|&register| live.add(register));
        for instruction in body.instructions[range].iter().rev() {
            live.step_back(instruction);
            most = most.max(live.words);
            if let Op::Call(call) = instruction.op {
                at_calls[call as usize] = live.words;
            }
        }
        if most > MOST_WORDS {
            return None;
        }
    }
    Some(most)
}

/// By block, the registers that are live before it; `None` where too many are.
fn live_in(
    body: &Body,
    flow: &Flow,
    numbers: &Numbers,
    live: &mut Live<'_>,
) -> Option<Vec<Vec<u32>>> {
    let ranges: Vec<_> = flow.blocks(body).collect();
    let mut blocks = Vec::with_capacity(ranges.len());
    let mut found = Vec::new();
    for (block, range) in (0..).zip(ranges) {
        let instructions = &body.instructions[range];
        live.clear();
        instructions.iter().rev().for_each(|instruction| live.step_back(instruction));
        let mut read: Vec<u32> = instructions.iter().flat_map(|i| numbers.all(i.reads())).collect();
        read.retain(|&register| live.has(register));
        found.extend(read.into_iter().map(|register| (block, register)));
        let unguarded = instructions.iter().filter(|instruction| instruction.guard.is_none());
        let mut written: Vec<u32> = unguarded.flat_map(|i| numbers.all(i.writes())).collect();
        written.sort_unstable();
        written.dedup();
        blocks.push(Block { written, live_in: Vec::new(), words: 0 });
    }
    let predecessors = flow.predecessors();
    while let Some((block, register)) = found.pop() {
        let Block { live_in, words, .. } = &mut blocks[block as usize];
        let Err(at) = live_in.binary_search(&register) else { continue };
        live_in.insert(at, register);
        *words += numbers.words(register);
        if *words > MOST_WORDS {
            return None;
        }
        let before = predecessors[block as usize].iter();
        let passes = before.filter(|&&from| blocks[from as usize].passes(register));
        found.extend(passes.map(|&from| (from, register)));
    }
    Some(blocks.into_iter().map(|block| block.live_in).collect())
}

/// The effect of a basic block on registers.
struct Block {
    /// Registers whose old values end in it, ascending.
    written: Vec<u32>,
    /// Registers that are live before it, ascending, and their words.
    live_in: Vec<u32>,
    words: u32,
}

impl Block {
    /// Whether a register that is live behind the block is live before it, and is not known to be.
    fn passes(&self, register: u32) -> bool {
        self.written.binary_search(&register).is_err()
            && self.live_in.binary_search(&register).is_err()
    }
}

/// The registers that are live at an instruction.
struct Live<'n> {
    numbers: &'n Numbers,
    /// By register: the set that it was added to last, if it has not been removed.
    in_set: Vec<u32>,
    set: u32,
    words: u32,
}

impl Live<'_> {
    fn new(numbers: &Numbers) -> Live<'_> {
        Live { numbers, in_set: vec![0; numbers.total()], set: 0, words: 0 }
    }

    /// Begins another set, which is empty.
    fn clear(&mut self) {
        self.set += 1;
        self.words = 0;
    }

    fn has(&self, register: u32) -> bool {
        self.in_set[register as usize] == self.set
    }

    fn add(&mut self, register: u32) {
        if !self.has(register) {
            self.in_set[register as usize] = self.set;
            self.words += self.numbers.words(register);
        }
    }

    fn remove(&mut self, register: u32) {
        if self.has(register) {
            self.in_set[register as usize] = 0;
            self.words -= self.numbers.words(register);
        }
    }

    /// Goes from behind an instruction to before it.
    fn step_back(&mut self, instruction: &Instruction) {
        // A write under a guard leaves the register of other threads alive.
        if instruction.guard.is_none() {
            self.numbers.all(instruction.writes()).for_each(|register| self.remove(register));
        }
        self.numbers.all(instruction.reads()).for_each(|register| self.add(register));
    }
}

/// Numbers of the registers that hold data: narrow ones first.
struct Numbers {
    narrow: u32,
    wide: u32,
}

impl Numbers {
    fn of(body: &Body) -> Numbers {
        let count = |class: RegisterClass| u32::from(body.registers[class as usize]);
        Numbers { narrow: count(RegisterClass::Narrow), wide: count(RegisterClass::Wide) }
    }

    fn total(&self) -> usize {
        (self.narrow + self.wide) as usize
    }

    /// The numbers of those registers that have one.
    fn all(&self, registers: impl Iterator<Item = Register>) -> impl Iterator<Item = u32> {
        registers.filter_map(|register| {
            let index = u32::from(register.index);
            match register.class {
                RegisterClass::Predicate => None,
                RegisterClass::Narrow => Some(index),
                RegisterClass::Wide => Some(self.narrow + index),
            }
        })
    }

    fn words(&self, number: u32) -> u32 {
        if number < self.narrow { 1 } else { 2 }
    }
}
