//! Labels of a function. Each is known in the block that it stands in, and in the blocks within that
//! one, so that blocks beside each other may have labels of one name: compilers paste assembly with
//! labels of its own.

use std::collections::HashMap;

/// The labels by number.
#[derive(Debug, Default)]
pub(super) struct Labels<'a> {
    all: Vec<Label<'a>>,
    /// By block, innermost last, the numbers of the labels that are named in it.
    blocks: Vec<HashMap<&'a str, u32>>,
}

#[derive(Debug)]
struct Label<'a> {
    name: &'a str,
    /// The line that names it first.
    line: u32,
    place: Place,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Unknown,
    /// Before this instruction.
    At(u32),
    /// That of a label of a block outside.
    Of(u32),
}

impl<'a> Labels<'a> {
    pub fn enter_block(&mut self) {
        self.blocks.push(HashMap::new());
    }

    /// What has been named in the innermost block and does not stand there is a label of the next one.
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

    /// The number of a label that is named in the innermost block.
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

    /// Puts a label of the innermost block before an instruction; whether it is the first of its name.
    pub fn put(&mut self, name: &'a str, line: u32, at: u32) -> bool {
        let number = self.number(name, line);
        let label = &mut self.all[number as usize];
        let is_first = matches!(label.place, Place::Unknown);
        label.place = Place::At(at);
        is_first
    }

    /// The instruction behind a label.
    pub fn target(&self, mut number: u32) -> Option<u32> {
        loop {
            match self.all[number as usize].place {
                Place::Unknown => return None,
                Place::At(at) => return Some(at),
                Place::Of(outer) => number = outer,
            }
        }
    }

    /// Names and lines of labels that stand nowhere.
    pub fn missing(&self) -> impl Iterator<Item = (&'a str, u32)> {
        let is_unknown = |label: &&Label<'_>| matches!(label.place, Place::Unknown);
        self.all.iter().filter(is_unknown).map(|label| (label.name, label.line))
    }
}
