//! Names in scope.

use std::collections::{HashMap, HashSet};

use crate::ids::{FunctionId, VariableId};
use crate::instruction::Register;

/// Meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Named {
    Register(Register),
    Vector(Vector),
    Variable(VariableId),
    Function(FunctionId),
    /// Targets of an indexed branch: their index in the body.
    BranchTable(u32),
    /// Prototype of indirect calls, without effect.
    Prototype,
}

/// Consecutive registers of a vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Vector {
    pub first: Register,
    pub count: u16,
}

impl Vector {
    /// Returns the vector's meaning; a vector of one register is that register.
    pub fn named(self) -> Named {
        if self.count == 1 { Named::Register(self.first) } else { Named::Vector(self) }
    }

    pub fn registers(self) -> impl Iterator<Item = Register> {
        let Vector { first, count } = self;
        (0..count).map(move |at| Register { index: first.index + at, ..first })
    }
}

/// Registers, or vectors, of one numbered declaration: `%r<10>` declares `%r0` to `%r9`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbered {
    pub first: Register,
    pub count: u16,
    /// Registers of each; 1 unless they are vectors.
    pub elements: u16,
}

impl Numbered {
    /// Returns the meaning of the name with this number.
    pub fn get(self, number: u16) -> Named {
        let Numbered { first, elements, .. } = self;
        let first = Register { index: first.index + number * elements, ..first };
        Vector { first, count: elements }.named()
    }
}

/// Names of one scope.
#[derive(Debug, Default)]
pub(crate) struct Names<'a> {
    names: HashMap<&'a str, Named>,
    numbered: HashMap<&'a str, Numbered>,
}

impl<'a> Names<'a> {
    pub fn insert(&mut self, name: &'a str, named: Named) {
        self.names.insert(name, named);
    }

    /// Forgets the names outside `kept`.
    pub fn retain(&mut self, kept: &HashSet<&str>) {
        self.names.retain(|name, _| kept.contains(name));
    }

    pub fn insert_numbered(&mut self, prefix: &'a str, numbered: Numbered) {
        self.numbered.insert(prefix, numbered);
    }

    pub fn get(&self, name: &str) -> Option<Named> {
        self.names.get(name).copied().or_else(|| self.numbered(name))
    }

    fn numbered(&self, name: &str) -> Option<Named> {
        if self.numbered.is_empty() {
            return None;
        }
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        // The prefix may end with digits: `%f1<4>`.
        (1..=digits).find_map(|length| {
            let (prefix, number) = name.split_at(name.len() - length);
            let numbered = *self.numbered.get(prefix)?;
            let number = number.parse().ok().filter(|&number| number < numbered.count)?;
            Some(numbered.get(number))
        })
    }
}
