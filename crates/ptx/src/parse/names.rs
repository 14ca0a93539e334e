//! Names in scope.

use std::collections::{HashMap, HashSet};

use crate::ids::{FunctionId, VariableId};
use crate::instruction::Register;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Named {
    Register(Register),
    Variable(VariableId),
    Function(FunctionId),
    /// Targets of an indexed branch: their index in the body.
    BranchTable(u32),
    /// A prototype of indirect calls, which decides nothing here.
    Prototype,
}

/// Registers that one declaration makes: `%r<10>` is `%r0` to `%r9`.
#[derive(Clone, Copy, Debug)]
struct Numbered {
    first: Register,
    count: u16,
}

/// The names of one scope.
#[derive(Debug, Default)]
pub(crate) struct Names<'a> {
    names: HashMap<&'a str, Named>,
    numbered: HashMap<&'a str, Numbered>,
}

impl<'a> Names<'a> {
    pub fn insert(&mut self, name: &'a str, named: Named) {
        self.names.insert(name, named);
    }

    /// Forgets the names that are not among these.
    pub fn retain(&mut self, kept: &HashSet<&str>) {
        self.names.retain(|name, _| kept.contains(name));
    }

    pub fn insert_numbered(&mut self, prefix: &'a str, first: Register, count: u16) {
        self.numbered.insert(prefix, Numbered { first, count });
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
            let Numbered { first, count } = *self.numbered.get(prefix)?;
            let number: u16 = number.parse().ok().filter(|&number| number < count)?;
            Some(Named::Register(Register { index: first.index + number, ..first }))
        })
    }
}
