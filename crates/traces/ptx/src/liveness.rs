//! Register liveness, from which the registers per thread are estimated.
//!
//! Each register is traced backwards from its reads to its writes, so the cost is proportional to the live
//! registers of all blocks. A thread has few registers: beyond that number the analysis stops counting.

use crate::flow::Flow;
use crate::instruction::{Instruction, Register};
use crate::module::Body;
use crate::op::Op;
use crate::types::RegisterClass;

/// Maximum words counted: more than a thread has.
pub const MAX_WORDS: u32 = 256;

/// Returns the maximum live registers of a function in 32-bit words, at most [`MAX_WORDS`], and the live
/// words at each call.
///
/// Predicates are held separately and do not count.
pub fn live_words(body: &Body, flow: &Flow) -> (u32, Vec<u32>) {
    let mut at_calls = vec![0; body.calls.len()];
    match most_words(body, flow, &mut at_calls) {
        Some(most) => (most, at_calls),
        None => (MAX_WORDS, vec![MAX_WORDS; body.calls.len()]),
    }
}

/// Returns the maximum over all instructions and records the words at calls; `None` if too many are live.
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
        if most > MAX_WORDS {
            return None;
        }
    }
    Some(most)
}

/// Returns the registers live at the start of each block; `None` if there are too many.
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
        if *words > MAX_WORDS {
            return None;
        }
        let before = predecessors[block as usize].iter();
        let passes = before.filter(|&&from| blocks[from as usize].passes(register));
        found.extend(passes.map(|&from| (from, register)));
    }
    Some(blocks.into_iter().map(|block| block.live_in).collect())
}

/// Effect of a basic block on registers.
struct Block {
    /// Registers that the block overwrites, ascending.
    written: Vec<u32>,
    /// Registers live at the start of the block, ascending, and their size in words.
    live_in: Vec<u32>,
    words: u32,
}

impl Block {
    /// Returns whether a register live after the block is newly live before it.
    fn passes(&self, register: u32) -> bool {
        self.written.binary_search(&register).is_err()
            && self.live_in.binary_search(&register).is_err()
    }
}

/// The registers live at an instruction.
struct Live<'n> {
    numbers: &'n Numbers,
    /// For each register, the last set that it was added to, unless it was removed.
    in_set: Vec<u32>,
    set: u32,
    words: u32,
}

impl Live<'_> {
    fn new(numbers: &Numbers) -> Live<'_> {
        Live { numbers, in_set: vec![0; numbers.total()], set: 0, words: 0 }
    }

    /// Starts a new, empty set.
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

    /// Moves from after an instruction to before it.
    fn step_back(&mut self, instruction: &Instruction) {
        // A guarded write keeps the register alive for the other threads.
        if instruction.guard.is_none() {
            self.numbers.all(instruction.writes()).for_each(|register| self.remove(register));
        }
        self.numbers.all(instruction.reads()).for_each(|register| self.add(register));
    }
}

/// Numbering of the data registers, narrow ones first.
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

    /// Returns the numbers of the data registers among `registers`.
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
