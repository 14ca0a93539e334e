//! Liveness of registers, from which the registers of a thread are estimated.

use fixedbitset::FixedBitSet;

use crate::flow::Flow;
use crate::instruction::{Instruction, Register};
use crate::module::Body;
use crate::op::Op;
use crate::types::RegisterClass;

/// 32-bit words of registers that are live at once: the most over all instructions of a function,
/// and by call of the function, at the call.
///
/// Predicates have registers of their own and do not count.
pub fn live_words(body: &Body, flow: &Flow) -> (u32, Vec<u32>) {
    let numbers = Numbers::of(body);
    let live_out = live_out(body, flow, &numbers);
    let (mut most, mut at_calls) = (0, vec![0; body.calls.len()]);
    for (block, range) in flow.blocks(body).enumerate() {
        let mut live = live_out[block].clone();
        let mut words: u32 = live.ones().map(|register| numbers.words(register)).sum();
        for instruction in body.instructions[range].iter().rev() {
            step(instruction, &numbers, &mut live, &mut words);
            most = most.max(words);
            if let Op::Call(call) = instruction.op {
                at_calls[call as usize] = words;
            }
        }
    }
    (most, at_calls)
}

/// Goes from behind an instruction to before it.
fn step(instruction: &Instruction, numbers: &Numbers, live: &mut FixedBitSet, words: &mut u32) {
    // A write under a guard leaves the register of other threads alive.
    if instruction.guard.is_none() {
        for number in instruction.writes().filter_map(|register| numbers.number(register)) {
            if live.contains(number) {
                live.remove(number);
                *words -= numbers.words(number);
            }
        }
    }
    for number in instruction.reads().filter_map(|register| numbers.number(register)) {
        if !live.put(number) {
            *words += numbers.words(number);
        }
    }
}

/// By block, the registers that are live behind it.
fn live_out(body: &Body, flow: &Flow, numbers: &Numbers) -> Vec<FixedBitSet> {
    let ranges: Vec<_> = flow.blocks(body).collect();
    let empty = FixedBitSet::with_capacity(numbers.total());
    let mut live_in = vec![empty.clone(); ranges.len()];
    let mut live_out = vec![empty; ranges.len()];
    loop {
        let mut changed = false;
        for block in (0..ranges.len()).rev() {
            for &next in flow.successors(block) {
                let (out, into) = (&mut live_out[block], &live_in[next as usize]);
                out.union_with(into);
            }
            let (mut live, mut words) = (live_out[block].clone(), u32::MAX / 2);
            for instruction in body.instructions[ranges[block].clone()].iter().rev() {
                step(instruction, numbers, &mut live, &mut words);
            }
            if live != live_in[block] {
                live_in[block] = live;
                changed = true;
            }
        }
        if !changed {
            return live_out;
        }
    }
}

/// Numbers of the registers that hold data: narrow ones first.
struct Numbers {
    narrow: usize,
    wide: usize,
}

impl Numbers {
    fn of(body: &Body) -> Numbers {
        let count = |class: RegisterClass| usize::from(body.registers[class as usize]);
        Numbers { narrow: count(RegisterClass::Narrow), wide: count(RegisterClass::Wide) }
    }

    fn total(&self) -> usize {
        self.narrow + self.wide
    }

    fn number(&self, register: Register) -> Option<usize> {
        let index = usize::from(register.index);
        match register.class {
            RegisterClass::Predicate => None,
            RegisterClass::Narrow => Some(index),
            RegisterClass::Wide => Some(self.narrow + index),
        }
    }

    fn words(&self, number: usize) -> u32 {
        if number < self.narrow { 1 } else { 2 }
    }
}
