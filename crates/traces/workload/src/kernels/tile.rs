//! Tiles of half-precision matrices in shared memory, as used by tensor-core kernels.
//!
//! A tile is stored in panels of 64 columns, 128 bytes per row: one pass over all banks. The eight
//! 16-byte pieces of a row are permuted by the row's number, so that neither copies into a row nor
//! loads of a column of pieces have bank conflicts (CUTLASS, `Swizzle<3, 3, 3>`).

use half::f16;

use super::prelude::*;
use crate::tensor::{FragmentA, FragmentC};

/// Pieces per row of a panel.
const PIECES: u32 = 8;

/// `rows` rows, a multiple of 16, of `columns` halves, a multiple of 64.
#[derive(Clone, Copy)]
pub struct Tile {
    at: Shared<FragmentA>,
    rows: u32,
    panels: u32,
}

impl Tile {
    pub fn new(w: &Warp, rows: u32, columns: u32) -> Tile {
        Tile { at: w.shared(rows * columns / 8), rows, panels: columns / 64 }
    }

    pub fn bytes(rows: u32, columns: u32) -> u32 {
        2 * rows * columns
    }

    /// Copies the tile asynchronously, eight threads per row of a panel. `source` points to the
    /// thread's piece of the first panel, in its row of each round of `threads` / 8 rows.
    pub fn copy<'w>(
        &self,
        thread: Lanes<'w, u32>,
        threads: u32,
        source: impl Fn(u32) -> Pointer<'w, FragmentA>,
    ) {
        let to = self.own(thread);
        for round in 0..self.rounds(threads) {
            self.copy_round(to, threads, round, source(round));
        }
    }

    /// Returns the rounds in which `threads` threads copy the tile.
    pub fn rounds(&self, threads: u32) -> u32 {
        self.rows * PIECES / threads
    }

    /// Copies the rows of a round from `source`; `to` is [`Tile::own`].
    pub fn copy_round<'w>(
        &self,
        to: Pointer<'w, FragmentA>,
        threads: u32,
        round: u32,
        source: Pointer<'w, FragmentA>,
    ) {
        for panel in 0..self.panels {
            let place = panel * self.rows * PIECES + round * threads;
            source.offset(panel * PIECES).copy_async(to.offset(place));
        }
    }

    /// Stores the tile's rows, as [`Tile::copy`] loads them.
    pub fn write_out<'w>(
        &self,
        thread: Lanes<'w, u32>,
        threads: u32,
        destination: impl Fn(u32) -> Pointer<'w, FragmentA>,
    ) {
        let from = self.own(thread);
        for round in 0..self.rounds(threads) {
            let destination = destination(round);
            for panel in 0..self.panels {
                let piece = from.offset(panel * self.rows * PIECES + round * threads).load();
                destination.offset(panel * PIECES).store(piece);
            }
        }
    }

    /// Returns a thread's piece in its row of the first round. Rounds span multiples of eight rows,
    /// so the position is the same in all.
    pub fn own<'w>(&self, thread: Lanes<'w, u32>) -> Pointer<'w, FragmentA> {
        let (row, piece) = (thread.quotient(PIECES), thread.remainder(PIECES));
        self.at.at(row.mad(PIECES, piece ^ (row & 7)))
    }

    /// Stores a fragment of C in half precision, at rows `row` (a lane's g plus a multiple of 16)
    /// and `row` + 8, and at columns from 8 * `piece`.
    pub fn store_fragment<'w>(
        &self,
        row: Lanes<'w, u32>,
        lane: Lanes<'w, u32>,
        piece: u32,
        fragment: Lanes<'w, FragmentC>,
    ) {
        let (panel, piece) = (piece / PIECES, piece % PIECES);
        let swizzled = (row & 7) ^ piece;
        let place = row.mad(PIECES, swizzled).mad(4, lane & 3);
        let pairs = self.at.cast::<[f16; 2]>().at(place).offset(panel * self.rows * PIECES * 4);
        let [upper, lower] = fragment.to_pairs();
        pairs.store(upper);
        pairs.offset(8 * PIECES * 4).store(lower);
    }

    /// Returns operands whose rows are rows of the tile: A; or, transposed, B whose rows are.
    pub fn by_rows<'w>(&self, lane: Lanes<'w, u32>, first_row: impl Operand<u32>) -> Operand16<'w> {
        self.operand(lane, (lane & 15) + first_row, lane >> 4)
    }

    /// Returns operands whose columns are rows of the tile: B.
    pub fn by_columns<'w>(
        &self,
        lane: Lanes<'w, u32>,
        first_row: impl Operand<u32>,
    ) -> Operand16<'w> {
        let row = (lane >> 4).mad(8, (lane & 7) + first_row);
        self.operand(lane, row, (lane >> 3) & 1)
    }

    fn operand<'w>(
        &self,
        lane: Lanes<'w, u32>,
        row: Lanes<'w, u32>,
        piece: Lanes<'w, u32>,
    ) -> Operand16<'w> {
        let (row, swizzle) = (row * PIECES, lane & 7);
        let steps = [0, 2, 4, 6].map(|step| self.at.at(row + ((piece + step) ^ swizzle)));
        Operand16 { steps, panel: self.rows * PIECES }
    }
}

/// The addresses of a lane's part of 16 × 16 matrices, in a panel's four steps of 16 columns.
#[derive(Clone, Copy)]
pub struct Operand16<'w> {
    steps: [Pointer<'w, FragmentA>; 4],
    panel: u32,
}

impl<'w> Operand16<'w> {
    /// Returns the operand in a tile that is `pieces` 16-byte pieces further on.
    pub fn plus(&self, pieces: Lanes<'w, u32>) -> Operand16<'w> {
        Operand16 { steps: self.steps.map(|step| step.plus(pieces)), ..*self }
    }

    /// Returns the matrix from row 16 * `rows` and column 16 * `columns` on.
    fn at(&self, rows: u32, columns: u32) -> Pointer<'w, FragmentA> {
        let step = self.steps[columns as usize % 4];
        step.offset(columns / 4 * self.panel + rows * 16 * PIECES)
    }

    pub fn load(&self, rows: u32, columns: u32) -> Lanes<'w, FragmentA> {
        self.at(rows, columns).load_matrices(false)
    }

    pub fn load_transposed(&self, rows: u32, columns: u32) -> Lanes<'w, FragmentA> {
        self.at(rows, columns).load_matrices(true)
    }
}
