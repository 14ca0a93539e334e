//! Distribution of matrix elements over the lanes of a warp.
//!
//! A fragment holds A by rows, B by columns, or C or D by rows, called lines here. Lane l is
//! thread t = l % 4 of group g = l / 4, and e neighbouring elements of a line share a
//! register, or two registers for C and D (ISA, "Matrix Fragments for mma.m16n8k16" and similar). With s
//! stripes of 8 lines per block (1 for B, 2 for matrices of 16 lines), and all runs of a block before
//! those of the next block, which only `wmma` has:
//!
//! ```text
//!  run r of a block, element i     line g + 8 (r % s)     element e t + i + 4 e (r / s) of the line
//! ```

use warpmem_ptx::Element;

use super::element::value;
use crate::lanes::{Lanes, WARP};

/// A matrix held by the lanes of a warp.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fragment {
    /// Lines of the matrix.
    pub lines: usize,
    /// Elements per line.
    pub length: usize,
    /// Neighbouring elements of a line that a lane holds.
    pub run: usize,
    /// Stripes per block.
    stripes: usize,
}

/// Lines per stripe.
const STRIPE: usize = 8;

/// Returns a lane's group, and its thread number in the group.
pub(super) fn place(lane: usize) -> (usize, usize) {
    (lane / 4, lane % 4)
}

impl Fragment {
    /// Describes A by rows, with elements of `bits` bits.
    pub fn of_a(rows: usize, k: usize, bits: u32) -> Fragment {
        Fragment { stripes: stripes(rows), ..Fragment::of_b(rows, k, bits) }
    }

    /// Describes B by columns.
    pub fn of_b(columns: usize, k: usize, bits: u32) -> Fragment {
        let run = (32 / bits).max(1) as usize;
        Fragment { lines: columns, length: k, run, stripes: 1 }
    }

    /// Describes C and D by rows.
    pub fn of_c(rows: usize, columns: usize) -> Fragment {
        Fragment { lines: rows, length: columns, run: 2, stripes: stripes(rows) }
    }

    /// Returns the elements per lane.
    pub fn elements(self) -> usize {
        self.lines * self.length / WARP
    }

    /// Returns line and position of an element of lane 0; other lanes hold the element [`Fragment::apart`]
    /// from there.
    pub fn origin(self, at: usize) -> (usize, usize) {
        let (number, element) = (at / self.run, at % self.run);
        let runs = self.stripes * self.length / (4 * self.run);
        let (block, number) = (number / runs, number % runs);
        let line = STRIPE * (number % self.stripes + self.stripes * block);
        (line, element + 4 * self.run * (number / self.stripes))
    }

    /// Returns the distance between lane 0's element and a lane's, in lines and elements.
    pub fn apart(self, lane: usize) -> (usize, usize) {
        let (group, thread) = place(lane);
        (group, self.run * thread)
    }

    /// Returns the index of an element of each lane in the line-major matrix.
    pub fn indices(self, at: usize) -> Lanes<usize> {
        let (line, first) = self.origin(at);
        std::array::from_fn(|lane| {
            let (lines, elements) = self.apart(lane);
            (line + lines) * self.length + first + elements
        })
    }

    /// Returns the values of A or B, line by line.
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
