//! Sparse matrices.

mod stencil;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::path::Path;

use super::file::{self, InputError, Listing, Symmetry};
use super::graph::{rmat_pair, undirected};
use super::{
    Csr, FILE, FILE_FORMAT, MAX_ENTRIES, MAX_NODES, ORDER, Ordering, Random, check_entries,
};
use crate::parameters::{Arguments, Choice, Parameter, show_count};
use crate::{WorkloadError, stop};
use stencil::Stencil;

/// The positions of a matrix's entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixKind {
    /// A band along the diagonal: consecutive rows read consecutive parts of the vector.
    Banded,
    /// Uniformly random.
    Uniform,
    /// Recursive matrix: few rows and columns hold most entries.
    PowerLaw,
    /// Discretised operators on a square or cubic grid, row after row.
    Stencil(Stencil),
}

impl Choice for MatrixKind {
    const NAMES: &'static [(&'static str, MatrixKind)] = &[
        ("banded", MatrixKind::Banded),
        ("uniform", MatrixKind::Uniform),
        ("power-law", MatrixKind::PowerLaw),
        ("stencil5", MatrixKind::Stencil(Stencil::Points5)),
        ("stencil7", MatrixKind::Stencil(Stencil::Points7)),
        ("stencil9", MatrixKind::Stencil(Stencil::Points9)),
        ("stencil27", MatrixKind::Stencil(Stencil::Points27)),
    ];
}

/// Parameters of kernels that work on a matrix.
pub const MATRIX: &[Parameter] = &[
    Parameter::choice::<MatrixKind>("matrix", "uniform", "Distribution of the entries")
        .unless_given("file"),
    Parameter::count("rows", 1 << 15, (1, MAX_NODES), "rows", "Rows and columns")
        .unless_given("file"),
    Parameter::count("nnz-per-row", 16, (1, 1 << 12), "entries", "Mean entries per row")
        .only_with("matrix", &["banded", "uniform", "power-law"]),
    FILE,
    FILE_FORMAT,
    ORDER,
];

/// A sparse matrix with its values. Generated values are small whole numbers, so that sums of
/// products are exact in single precision in any order.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    pub structure: Csr,
    /// Number of columns; equals the rows unless the matrix comes from a file.
    pub columns: u32,
    pub values: Vec<f32>,
}

/// Returns the matrix that the parameters of [`MATRIX`] describe.
pub fn matrix_of(arguments: &Arguments, random: &mut Random) -> Result<Matrix, WorkloadError> {
    let matrix = match arguments.path("file") {
        Some(path) => from_file(path, arguments)?,
        None => {
            let kind = arguments.choice("matrix");
            let (rows, per_row) = (arguments.count32("rows"), arguments.count32("nnz-per-row"));
            check_entries("entries", rows, entries_per_row(kind, per_row))?;
            let matrix = matrix(kind, rows, per_row, random);
            let entries = matrix.values.len();
            let mean = entries as f64 / f64::from(rows);
            arguments.note(format!(
                "matrix: rows {rows}, entries {entries}, {mean:.2} in a row in the mean"
            ));
            matrix
        }
    };
    matrix.ordered(arguments.choice("order"), random)
}

impl Matrix {
    /// Renumbers rows and columns along the graph whose edges join the row and column of each entry.
    fn ordered(self, order: Ordering, random: &mut Random) -> Result<Matrix, WorkloadError> {
        let (rows, columns) = (self.structure.rows(), self.columns);
        if order != Ordering::AsIs && rows != columns {
            return Err(WorkloadError::Inconsistent {
                message: format!(
                    "{rows} rows and {columns} columns cannot be numbered alike; valid: --order as-is"
                ),
            });
        }
        let graph = || {
            let entries = self.structure.entries().map(|(row, column)| (row, column, ()));
            Cow::Owned(undirected(rows, entries).0)
        };
        let Some(labels) = order.labels(rows, graph, random) else { return Ok(self) };
        let (structure, values) = self.structure.relabelled(&self.values, &labels);
        Ok(Matrix { structure, columns, values })
    }
}

fn from_file(path: &Path, arguments: &Arguments) -> Result<Matrix, WorkloadError> {
    let listing: Listing<f32> = file::read(path, arguments.choice("file-format"))?;
    let (rows, columns, valued) = (listing.rows, listing.columns, listing.valued);
    let entries = entries_of(&listing);
    let listed = entries.clone().count();
    let merge = |a, b| if valued { a + b } else { a };
    let (structure, values) = Csr::from_entries(rows, entries, merge);
    let kept = values.len();
    let unfit = |message| Err(InputError::Unfit { path: path.to_path_buf(), message }.into());
    if kept as u64 > MAX_ENTRIES {
        return unfit(format!("{kept} entries are more than {}", show_count(MAX_ENTRIES)));
    }
    if !values.iter().all(|value| value.is_finite()) {
        return unfit("the sum of entries in the same place is not finite (32-bit)".to_owned());
    }
    let (repeats, origin) = match valued {
        true => ("added up", "of the file"),
        false => ("dropped", "all 1"),
    };
    let name = path.display();
    arguments.note(format!(
        "{name}: rows {rows}, columns {columns}, entries {kept}; repeats {repeats} {}; values {origin}",
        listed - kept,
    ));
    listing.notes.iter().for_each(|note| arguments.note(format!("{name}: {note}")));
    Ok(Matrix { structure, columns, values })
}

/// Iterates over the entries of a file and those implied by symmetry.
fn entries_of(listing: &Listing<f32>) -> impl Iterator<Item = (u32, u32, f32)> + Clone {
    let symmetry = listing.symmetry;
    listing.entries.iter().flat_map(move |&(row, column, value)| {
        let mirrored = match symmetry {
            Symmetry::Symmetric if row != column => Some((column, row, value)),
            Symmetry::Skew => Some((column, row, -value)),
            Symmetry::General | Symmetry::Symmetric => None,
        };
        std::iter::once((row, column, value)).chain(mirrored)
    })
}

/// Returns the maximum mean entries per row that [`matrix`] generates.
fn entries_per_row(kind: MatrixKind, asked: u32) -> u32 {
    match kind {
        MatrixKind::Stencil(stencil) => stencil.points(),
        MatrixKind::Banded | MatrixKind::Uniform | MatrixKind::PowerLaw => asked,
    }
}

/// Generates a square matrix of `rows` rows with about `per_row` entries each. Repeats are dropped;
/// stencils have their points, fewer at the edges; a band has at least one entry per row, fewer at
/// the corners.
pub fn matrix(kind: MatrixKind, rows: u32, per_row: u32, random: &mut Random) -> Matrix {
    let entries = u64::from(rows) * u64::from(per_row);
    let pairs = match kind {
        MatrixKind::Banded => banded(rows, per_row),
        MatrixKind::Uniform => (0..rows)
            .flat_map(|row| std::iter::repeat_n(row, per_row as usize))
            .map(|row| {
                stop::check();
                (row, random.index(rows))
            })
            .collect(),
        MatrixKind::PowerLaw => (0..entries).map(|_| rmat_pair(rows, random)).collect(),
        MatrixKind::Stencil(stencil) => stencil.entries(rows),
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
