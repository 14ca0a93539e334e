//! Sparse square matrices.

use super::check_entries;
use super::graph::rmat_pair;
use super::{Csr, Random};
use crate::workload::WorkloadError;
use crate::workload::parameters::{Arguments, Choice, Parameter};

/// Where a matrix has its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixKind {
    /// A band along the diagonal: consecutive rows read consecutive parts of the vector.
    Banded,
    /// Anywhere, equally likely.
    Uniform,
    /// Recursive matrix: few rows and columns have most entries.
    PowerLaw,
    /// Five-point Laplacian on a square grid, row after row.
    Stencil5,
}

impl Choice for MatrixKind {
    const NAMES: &'static [(&'static str, MatrixKind)] = &[
        ("banded", MatrixKind::Banded),
        ("uniform", MatrixKind::Uniform),
        ("power-law", MatrixKind::PowerLaw),
        ("stencil5", MatrixKind::Stencil5),
    ];
}

/// A sparse matrix with its values, which are small whole numbers: sums of their products are exact in
/// single precision, in any order.
#[derive(Clone, Debug)]
pub struct Matrix {
    pub structure: Csr,
    /// Number of columns.
    pub columns: u32,
    pub values: Vec<f32>,
}

/// Parameters of kernels that work on a matrix.
pub const MATRIX: &[Parameter] = &[
    Parameter::choice::<MatrixKind>("matrix", "uniform", "Where the matrix has its entries"),
    Parameter::count("rows", 1 << 15, (1, 1 << 24), "rows", "Rows and columns"),
    Parameter::count("nnz-per-row", 16, (1, 1 << 12), "entries", "Mean entries of a row"),
];

/// The matrix that the parameters of [`MATRIX`] ask for.
pub fn matrix_of(arguments: &Arguments, random: &mut Random) -> Result<Matrix, WorkloadError> {
    let (rows, per_row) = (arguments.count32("rows"), arguments.count32("nnz-per-row"));
    check_entries("entries", rows, per_row)?;
    Ok(matrix(arguments.choice("matrix"), rows, per_row, random))
}

/// A square matrix of `rows` rows with about `per_row` entries each (repeats that were drawn are dropped;
/// the stencil has five, fewer at its edges; the band at least one, fewer at the corners).
pub fn matrix(kind: MatrixKind, rows: u32, per_row: u32, random: &mut Random) -> Matrix {
    let entries = u64::from(rows) * u64::from(per_row);
    let pairs = match kind {
        MatrixKind::Banded => banded(rows, per_row),
        MatrixKind::Uniform => (0..rows)
            .flat_map(|row| std::iter::repeat_n(row, per_row as usize))
            .map(|row| (row, random.index(rows)))
            .collect(),
        MatrixKind::PowerLaw => (0..entries).map(|_| rmat_pair(rows, random)).collect(),
        MatrixKind::Stencil5 => stencil5(rows),
    };
    let structure = Csr::from_pairs(rows, pairs);
    let values = structure.columns.iter().map(|_| (1 + random.index(7)) as f32).collect();
    Matrix { structure, columns: rows, values }
}

fn banded(rows: u32, width: u32) -> Vec<(u32, u32)> {
    let below = u64::from(width / 2);
    let row_of = |row: u32| {
        let first = u64::from(row).saturating_sub(below);
        let end = (u64::from(row) + u64::from(width) - below).min(u64::from(rows));
        (first..end).map(move |column| (row, column as u32))
    };
    (0..rows).flat_map(row_of).collect()
}

/// The grid has isqrt(`rows`) columns; its last row may be short.
fn stencil5(rows: u32) -> Vec<(u32, u32)> {
    let side = rows.isqrt();
    let mut pairs = Vec::with_capacity(5 * rows as usize);
    for row in 0..rows {
        pairs.push((row, row));
        let right = row + 1;
        if right < rows && right % side != 0 {
            pairs.extend([(row, right), (right, row)]);
        }
        if rows - row > side {
            pairs.extend([(row, row + side), (row + side, row)]);
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn structure(kind: MatrixKind, rows: u32, per_row: u32) -> Csr {
        matrix(kind, rows, per_row, &mut Random::new(1)).structure
    }

    #[test]
    fn a_band_lies_along_the_diagonal() {
        let band = structure(MatrixKind::Banded, 6, 3);
        assert_eq!(band.row(0), [0, 1]);
        assert_eq!(band.row(3), [2, 3, 4]);
        assert_eq!(band.row(5), [4, 5]);
    }

    #[test]
    fn a_stencil_row_names_its_grid_neighbours() {
        let stencil = structure(MatrixKind::Stencil5, 16, 0);
        assert_eq!(stencil.row(5), [1, 4, 5, 6, 9]);
        assert_eq!(stencil.row(3), [2, 3, 7]);
    }

    #[test]
    fn uniform_rows_are_alike_and_power_law_rows_are_not() {
        let longest = |m: &Csr| (0..m.rows()).map(|r| m.degree(r)).max().unwrap();
        assert_eq!(longest(&structure(MatrixKind::Uniform, 2048, 8)), 8);
        assert!(longest(&structure(MatrixKind::PowerLaw, 2048, 8)) > 80);
    }

    #[test]
    fn values_are_small_whole_numbers() {
        let matrix = matrix(MatrixKind::Uniform, 500, 8, &mut Random::new(1));
        assert_eq!(matrix.values.len(), matrix.structure.columns.len());
        assert!(matrix.values.iter().all(|v| (1.0..=7.0).contains(v) && v.fract() == 0.0));
    }
}
