//! Allocates registers for the instructions of a warp so that an importer recovers exactly their
//! dependences.

use warpmem_trace::MAX_DEPENDENCE;

use super::steps::{Link, Steps, What};

/// General registers available for results.
const COUNT: usize = 255;

/// The registers of every instruction of a warp. Reused from warp to warp.
#[derive(Debug)]
pub struct Registers {
    /// First register of each instruction's result.
    result: Vec<Option<u8>>,
    /// Last writer of each register.
    writer: [Option<usize>; COUNT],
    /// Position of the last use of each result.
    last_use: Vec<Option<usize>>,
    srcs: Vec<u8>,
    /// Start of each instruction's sources.
    srcs_start: Vec<usize>,
    /// First candidate: the register after the last one allocated.
    next: usize,
    approximated: u64,
}

/// The registers of one instruction.
#[derive(Clone, Copy, Debug)]
pub struct Operands<'a> {
    pub dest: Option<u8>,
    pub srcs: &'a [u8],
}

impl Default for Registers {
    fn default() -> Registers {
        Registers {
            result: Vec::new(),
            writer: [None; COUNT],
            last_use: Vec::new(),
            srcs: Vec::new(),
            srcs_start: Vec::new(),
            next: 0,
            approximated: 0,
        }
    }
}

impl Registers {
    /// Allocates the registers of a warp.
    pub fn allocate(&mut self, steps: &Steps) {
        let count = steps.steps().len();
        self.clear(count);
        for &(reader, writer) in steps.reads().iter().chain(steps.overwrites()) {
            let last = &mut self.last_use[writer];
            *last = (*last).max(Some(reader));
        }
        let (mut reads, mut overwrites) = (steps.reads(), steps.overwrites());
        for position in 0..count {
            self.srcs_start.push(self.srcs.len());
            let (these, rest) = split(reads, position);
            reads = rest;
            for &(_, writer) in these {
                match self.result[writer] {
                    Some(register) => self.srcs.push(register),
                    None => self.approximated += 1,
                }
            }
            let (replaced, rest) = split(overwrites, position);
            overwrites = rest;
            if self.last_use[position].is_some() || !replaced.is_empty() {
                self.write(steps, position, these, replaced);
            }
        }
        self.srcs_start.push(self.srcs.len());
    }

    pub fn operands(&self, position: usize) -> Operands<'_> {
        let srcs = &self.srcs[self.srcs_start[position]..self.srcs_start[position + 1]];
        Operands { dest: self.result[position], srcs }
    }

    pub fn approximated(&self) -> u64 {
        self.approximated
    }

    fn clear(&mut self, count: usize) {
        self.result.clear();
        self.result.resize(count, None);
        self.last_use.clear();
        self.last_use.resize(count, None);
        self.writer = [None; COUNT];
        self.srcs.clear();
        self.srcs_start.clear();
        self.next = 0;
        self.approximated = 0;
    }

    /// Allocates the registers of a result, over those of the results it overwrites.
    fn write(&mut self, steps: &Steps, position: usize, reads: &[Link], replaced: &[Link]) {
        let width = steps.steps()[position].registers;
        let starts = COUNT - width + 1;
        let fits = |&start: &usize| {
            let block = &self.writer[start..start + width];
            let free = |writer: &Option<usize>| {
                writer.is_none_or(|writer| self.is_free(steps, writer, position, reads, replaced))
            };
            block.iter().all(free) && replaced.iter().all(|(_, old)| block.contains(&Some(*old)))
        };
        let found = (0..starts).map(|offset| (self.next + offset) % starts).find(fits);
        let Some(start) = found else {
            self.approximated += 1;
            return;
        };
        self.writer[start..start + width].fill(Some(position));
        self.result[position] = Some(start as u8);
        self.next = start + width;
    }

    /// Returns whether overwriting a result of `writer` at `position` adds no dependence.
    fn is_free(
        &self,
        steps: &Steps,
        writer: usize,
        position: usize,
        reads: &[Link],
        replaced: &[Link],
    ) -> bool {
        if replaced.contains(&(position, writer)) || reads.contains(&(position, writer)) {
            return self.last_use[writer] <= Some(position);
        }
        let done = self.last_use[writer].is_some_and(|last| last < position);
        let is_load = matches!(steps.steps()[writer].what, What::Record(..));
        done && (is_load || position - writer > usize::from(MAX_DEPENDENCE))
    }
}

/// Splits off the links of this reader, which come first.
fn split(links: &[Link], reader: usize) -> (&[Link], &[Link]) {
    links.split_at(links.partition_point(|link| link.0 == reader))
}
