//! Sparse matrix times vector, with the matrix in compressed sparse rows ([`csr`], [`merge`]),
//! padded to equal row lengths ([`ell`]), or as a list of entries ([`coo`]).

mod coo;
mod csr;
mod ell;
mod merge;

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "spmv",
    summary: "sparse matrix-vector product: CSR by threads, warps or merge paths, ELLPACK, COO",
    source: "Bell and Garland, SC 2009, and CUSP (ell, coo); Merrill and Garland, SC 2016, and CUB (merge)",
    parameters: &[
        &[Parameter::choice::<Variant>(
            "variant",
            "scalar",
            "CSR with one thread (scalar) or one warp (vector) per row; ELLPACK; COO; CSR by merge path",
        )],
        MATRIX,
        &[
            Parameter::count("grid", 128, (1, 1 << 20), "CTAs", "Maximum CTAs")
                .only_with("variant", &["coo"]),
            BLOCK,
        ],
    ],
    run: |gpu, arguments, random| {
        let matrix = matrix_of(arguments, random)?;
        let x = small_floats(matrix.columns, random);
        let shape = Shape { grid: arguments.count32("grid"), block: arguments.count32("block") };
        spmv(gpu, arguments.choice("variant"), &matrix, &x, shape).map(drop)
    },
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Variant {
    Scalar,
    Vector,
    Ell,
    Coo,
    Merge,
}

impl Choice for Variant {
    const NAMES: &'static [(&'static str, Variant)] = &[
        ("scalar", Variant::Scalar),
        ("vector", Variant::Vector),
        ("ell", Variant::Ell),
        ("coo", Variant::Coo),
        ("merge", Variant::Merge),
    ];
}

/// Maximum number of CTAs, and their size.
#[derive(Clone, Copy)]
struct Shape {
    grid: u32,
    block: u32,
}

/// Returns the product, one element per row.
fn spmv(
    gpu: &mut Gpu,
    variant: Variant,
    matrix: &Matrix,
    x: &[f32],
    shape: Shape,
) -> Result<Array<f32>, WorkloadError> {
    let Shape { grid, block } = shape;
    if matches!(variant, Variant::Vector | Variant::Coo | Variant::Merge) {
        check_multiple("block", u64::from(block), 32)?;
    }
    match variant {
        Variant::Scalar => csr::scalar(gpu, matrix, x, block),
        Variant::Vector => csr::vector(gpu, matrix, x, block),
        Variant::Ell => ell::padded(gpu, matrix, x, block),
        Variant::Coo => coo::by_entries(gpu, matrix, x, grid, block),
        Variant::Merge => merge::by_paths(gpu, matrix, x, block),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    const SHAPE: Shape = Shape { grid: 4, block: 64 };

    fn product(matrix: &Matrix, x: &[f32]) -> Vec<f32> {
        let Matrix { structure, values, .. } = matrix;
        let row = |row: usize| {
            let entries = structure.offsets[row] as usize..structure.offsets[row + 1] as usize;
            entries.map(|i| values[i] * x[structure.columns[i] as usize]).sum()
        };
        (0..structure.rows() as usize).map(row).collect()
    }

    /// Returns the product by `variant`, and the addresses of its array.
    fn run_of(
        variant: Variant,
        matrix: &Matrix,
        x: &[f32],
        shape: Shape,
    ) -> Run<(Vec<f32>, std::ops::Range<u64>)> {
        run(|gpu| {
            let y = spmv(gpu, variant, matrix, x, shape)?;
            Ok((gpu.download(y), y.range()))
        })
    }

    #[test]
    fn every_variant_gives_the_product_on_every_matrix() {
        for &(kind_name, kind) in MatrixKind::NAMES {
            for rows in [1, 33, 300] {
                let mut random = Random::new(3);
                let matrix = matrix(kind, rows, 9, &mut random);
                let x = small_floats(rows, &mut random);
                for &(name, variant) in Variant::NAMES {
                    let run = run_of(variant, &matrix, &x, SHAPE);
                    let context = format!("{name} {kind_name} {rows}");
                    assert_eq!(run.result.0, product(&matrix, &x), "{context}");
                    let (stores, atomics) =
                        (run.addresses(Kind::Store), run.addresses(Kind::Reduction));
                    for row in 0..rows {
                        let address = run.result.1.start + 4 * u64::from(row);
                        let written = stores.contains(&address) || atomics.contains(&address);
                        // Entry by entry, a row without entries keeps its initial zero.
                        let empty = variant == Variant::Coo && matrix.structure.degree(row) == 0;
                        assert_eq!(written, !empty, "{context} row {row}");
                    }
                }
            }
        }
    }

    /// Returns a matrix with rows of these lengths, scattered columns and whole values.
    fn with_rows(lengths: &[u32], columns: u32) -> Matrix {
        let mut structure = Csr { offsets: vec![0], columns: vec![] };
        for (row, &length) in lengths.iter().enumerate() {
            let mut of_row: Vec<u32> =
                (0..length).map(|i| (i * 7 + row as u32) % columns).collect();
            of_row.sort_unstable();
            structure.columns.extend(of_row);
            structure.offsets.push(structure.columns.len() as u32);
        }
        let values = (0..structure.columns.len()).map(|i| (i % 5 + 1) as f32).collect();
        Matrix { structure, columns, values }
    }

    #[test]
    fn rows_may_be_empty_or_longer_than_a_tile() {
        let mut long_in_the_middle = vec![0; 40];
        long_in_the_middle.extend([3, 1500, 0, 0, 2]);
        long_in_the_middle.extend([0; 500]);
        let alternating: Vec<u32> = (0..700).map(|row| row % 3 * 31).collect();
        let nothing = vec![0; 70];
        let (one, at_the_end) = (vec![2000], vec![0, 0, 1, 0, 600]);
        for lengths in [long_in_the_middle, alternating, nothing, one, at_the_end] {
            let matrix = with_rows(&lengths, 911);
            let x: Vec<f32> = (0..911).map(|i| (i % 8) as f32).collect();
            for &(name, variant) in Variant::NAMES {
                let run = run_of(variant, &matrix, &x, SHAPE);
                assert_eq!(run.result.0, product(&matrix, &x), "{name} {lengths:?}");
            }
        }
    }

    /// Sums in another order differ by roundings of the largest partial sum, far below 2^-20 of the
    /// sum of magnitudes.
    #[test]
    fn products_of_arbitrary_values_match_within_rounding() {
        let mut matrix = with_rows(&(0..200).map(|row| row * 37 % 90).collect::<Vec<_>>(), 400);
        let mut random = Random::new(9);
        let mut value = || (random.index(1 << 20) as f32 - 524_288.0) / 1_000_003.0;
        matrix.values.iter_mut().for_each(|v| *v = value());
        let x: Vec<f32> = (0..400).map(|_| value()).collect();
        let Matrix { structure, values, .. } = &matrix;
        for &(name, variant) in Variant::NAMES {
            let run = run_of(variant, &matrix, &x, SHAPE);
            for row in 0..200 {
                let entries = structure.offsets[row] as usize..structure.offsets[row + 1] as usize;
                let terms = entries
                    .map(|i| f64::from(values[i]) * f64::from(x[structure.columns[i] as usize]));
                let (sum, magnitude) =
                    terms.fold((0.0, 0.0), |(s, m), term| (s + term, m + term.abs()));
                let off = (f64::from(run.result.0[row]) - sum).abs();
                assert!(off <= magnitude / f64::from(1 << 20), "{name} row {row}: {off}");
            }
        }
    }

    #[test]
    fn every_entry_is_read_once() {
        let matrix = with_rows(&(0..150).map(|row| row % 11).collect::<Vec<_>>(), 64);
        let entries = matrix.structure.columns.len();
        for &(name, variant) in Variant::NAMES {
            let run = run(|gpu| {
                spmv(gpu, variant, &matrix, &[1.0; 64], SHAPE)?;
                Ok(())
            });
            // Arrays in copy order: the values are last but one, the vector is last.
            let memcpys = &run.trace().header().memcpys;
            let read_from = |index: usize| {
                let copy = &memcpys[index];
                let range = copy.address..copy.address + copy.bytes;
                run.accesses(Kind::Load).iter().filter(|&address| range.contains(address)).count()
            };
            let vector = memcpys.len() - 1;
            assert_eq!((read_from(vector - 1), read_from(vector)), (entries, entries), "{name}");
        }
    }

    #[test]
    fn cooperating_lanes_need_full_warps() {
        let matrix = with_rows(&[1, 2, 3], 8);
        for &(name, variant) in Variant::NAMES {
            let mut refused = None;
            run(|gpu| {
                let shape = Shape { grid: 4, block: 48 };
                refused = spmv(gpu, variant, &matrix, &[1.0; 8], shape).err();
                Ok(())
            });
            let message = refused.map(|error| error.to_string());
            match variant {
                Variant::Scalar | Variant::Ell => assert_eq!(message, None, "{name}"),
                _ => assert_eq!(message.unwrap(), "--block 48 is not a multiple of 32", "{name}"),
            }
        }
    }
}
