//! Labels of a function. A label is visible in its block and the blocks nested in it, so sibling blocks may
//! reuse a name: compilers paste inline assembly that defines its own labels.

use std::collections::HashMap;

/// Labels by number.
#[derive(Debug, Default)]
pub(super) struct Labels<'a> {
    all: Vec<Label<'a>>,
    /// For each open block, innermost last, the numbers of the labels it refers to.
    blocks: Vec<HashMap<&'a str, u32>>,
}

#[derive(Debug)]
struct Label<'a> {
    name: &'a str,
    /// First line that refers to it.
    line: u32,
    place: Place,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Unknown,
    /// Defined before this instruction.
    At(u32),
    /// Alias of a label of an outer block.
    Of(u32),
}

impl<'a> Labels<'a> {
    pub fn enter_block(&mut self) {
        self.blocks.push(HashMap::new());
    }

    /// Leaves the innermost block; its undefined labels become references of the next outer one.
    pub fn leave_block(&mut self) {
        let Some(named) = self.blocks.pop() else { return };
        let Some(outer) = self.blocks.last_mut() else { return };
        for (name, number) in named {
            let label = &mut self.all[number as usize];
            if matches!(label.place, Place::Unknown) {
                let known = *outer.entry(name).or_insert(number);
                if known != number {
                    label.place = Place::Of(known);
                }
            }
        }
    }

    /// Returns the number of a label referenced in the innermost block.
    pub fn number(&mut self, name: &'a str, line: u32) -> u32 {
        let next = self.all.len() as u32;
        let number = match self.blocks.last_mut() {
            Some(block) => *block.entry(name).or_insert(next),
            None => next,
        };
        if number == next {
            self.all.push(Label { name, line, place: Place::Unknown });
        }
        number
    }

    /// Defines a label of the innermost block before an instruction; returns whether the name is new.
    pub fn put(&mut self, name: &'a str, line: u32, at: u32) -> bool {
        let number = self.number(name, line);
        let label = &mut self.all[number as usize];
        let is_first = matches!(label.place, Place::Unknown);
        label.place = Place::At(at);
        is_first
    }

    /// Returns the instruction at a label.
    pub fn target(&self, mut number: u32) -> Option<u32> {
        loop {
            match self.all[number as usize].place {
                Place::Unknown => return None,
                Place::At(at) => return Some(at),
                Place::Of(outer) => number = outer,
            }
        }
    }

    /// Returns names and lines of undefined labels.
    pub fn missing(&self) -> impl Iterator<Item = (&'a str, u32)> {
        let is_unknown = |label: &&Label<'_>| matches!(label.place, Place::Unknown);
        self.all.iter().filter(is_unknown).map(|label| (label.name, label.line))
    }
}
