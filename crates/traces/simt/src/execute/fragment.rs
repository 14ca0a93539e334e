//! Which elements of a matrix each lane of a warp holds.
//!
//! A fragment is one of A by rows, of B by columns, or of C or D by rows: here its lines. Lane l is
//! thread t = l % 4 of group g = l / 4, and e neighbouring elements of a line lie together in a
//! register, or in two of C and D (ISA, "Matrix Fragments for mma.m16n8k16" and alike). With s lines of
//! 8 in a block (1 of B, 2 of others that have 16 lines), and all runs of a block before the next block,
//! which only `wmma` has:
//!
//! ```text
//!  run r of a block, element i     line g + 8 (r % s)     element e t + i + 4 e (r / s) of the line
//! ```

use warpmem_ptx::Element;

use super::mma::value;
use crate::lanes::{Lanes, WARP};

/// A matrix that the lanes of a warp hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fragment {
    /// Lines of the matrix.
    pub lines: usize,
    /// Elements of a line.
    pub length: usize,
    /// Neighbouring elements of a line that a lane holds.
    pub run: usize,
    /// Groups of 8 lines in a block.
    stripes: usize,
}

/// Lines of a stripe.
const STRIPE: usize = 8;

/// A lane's group, and its number in the group.
pub(super) fn place(lane: usize) -> (usize, usize) {
    (lane / 4, lane % 4)
}

impl Fragment {
    /// A by rows. `bits`: of an element.
    pub fn of_a(rows: usize, k: usize, bits: u32) -> Fragment {
        Fragment { stripes: stripes(rows), ..Fragment::of_b(rows, k, bits) }
    }

    /// B by columns.
    pub fn of_b(columns: usize, k: usize, bits: u32) -> Fragment {
        let run = (32 / bits).max(1) as usize;
        Fragment { lines: columns, length: k, run, stripes: 1 }
    }

    /// C and D by rows.
    pub fn of_c(rows: usize, columns: usize) -> Fragment {
        Fragment { lines: rows, length: columns, run: 2, stripes: stripes(rows) }
    }

    /// Elements of a lane.
    pub fn elements(self) -> usize {
        self.lines * self.length / WARP
    }

    /// Line and place in it of an element of lane 0; the other lanes hold the element at
    /// [`Fragment::apart`] from there.
    pub fn origin(self, at: usize) -> (usize, usize) {
        let (number, element) = (at / self.run, at % self.run);
        let runs = self.stripes * self.length / (4 * self.run);
        let (block, number) = (number / runs, number % runs);
        let line = STRIPE * (number % self.stripes + self.stripes * block);
        (line, element + 4 * self.run * (number / self.stripes))
    }

    /// Lines and elements between lane 0's element and a lane's.
    pub fn apart(self, lane: usize) -> (usize, usize) {
        let (group, thread) = place(lane);
        (group, self.run * thread)
    }

    /// The index of an element of each lane in a matrix of all lines.
    pub fn indices(self, at: usize) -> Lanes<usize> {
        let (line, first) = self.origin(at);
        std::array::from_fn(|lane| {
            let (lines, elements) = self.apart(lane);
            (line + lines) * self.length + first + elements
        })
    }

    /// The values of A or B, line after line.
    pub fn values(self, registers: &[Lanes<u64>], element: Element) -> Vec<f64> {
        let mut matrix = vec![0.0; self.lines * self.length];
        for at in 0..self.elements() {
            let register = &registers[at / self.run];
            for (index, &bits) in self.indices(at).into_iter().zip(register) {
                matrix[index] = value(bits, element, at % self.run);
            }
        }
        matrix
    }
}

fn stripes(lines: usize) -> usize {
    (lines / STRIPE).min(2)
}
