use super::*;
use crate::WorkloadError;
use crate::input::testing;
use crate::input::testing::checksum;

fn structure(kind: MatrixKind, rows: u32, per_row: u32) -> Csr {
    matrix(kind, rows, per_row, &mut Random::new(1)).structure
}

fn stencil(points: Stencil, rows: u32) -> Csr {
    structure(MatrixKind::Stencil(points), rows, 0)
}

/// Reads the matrix in `text` with further options; returns it and its notes.
fn file_of(text: &str, given: &[(&str, &str)]) -> Result<(Matrix, Vec<String>), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.mtx");
    std::fs::write(&path, format!("%%MatrixMarket matrix coordinate {text}")).unwrap();
    let given = [&[("file", path.to_str().unwrap())], given].concat();
    let arguments = testing::arguments(MATRIX, &given).map_err(|error| error.to_string())?;
    let name = |text: String| text.replace(path.to_str().unwrap(), "m.mtx");
    match matrix_of(&arguments, &mut Random::new(1)) {
        Ok(matrix) => Ok((matrix, arguments.into_notes().into_iter().map(name).collect())),
        Err(error) => Err(name(error.to_string())),
    }
}

fn entries(matrix: &Matrix) -> Vec<((u32, u32), f32)> {
    matrix.structure.entries().zip(matrix.values.iter().copied()).collect()
}

#[test]
fn band_entries_are_near_the_diagonal() {
    let band = structure(MatrixKind::Banded, 6, 3);
    assert_eq!(band.row(0), [0, 1]);
    assert_eq!(band.row(3), [2, 3, 4]);
    assert_eq!(band.row(5), [4, 5]);
}

#[test]
fn a_stencil_row_names_its_grid_neighbours() {
    let five = stencil(Stencil::Points5, 16);
    assert_eq!(five.row(5), [1, 4, 5, 6, 9]);
    assert_eq!(five.row(3), [2, 3, 7]);
    let nine = stencil(Stencil::Points9, 16);
    assert_eq!(nine.row(5), [0, 1, 2, 4, 5, 6, 8, 9, 10]);
    assert_eq!(nine.row(15), [10, 11, 14, 15]);
    let seven = stencil(Stencil::Points7, 27);
    assert_eq!(seven.row(13), [4, 10, 12, 13, 14, 16, 22]);
    assert_eq!(seven.row(2), [1, 2, 5, 11]);
    let all = stencil(Stencil::Points27, 27);
    assert_eq!(all.row(13), (0..27).collect::<Vec<_>>());
    assert_eq!(all.row(0), [0, 1, 3, 4, 9, 10, 12, 13]);
}

#[test]
fn a_stencil_is_symmetric_and_has_all_rows_on_any_grid() {
    for points in [Stencil::Points5, Stencil::Points7, Stencil::Points9, Stencil::Points27] {
        for rows in [1, 2, 7, 20, 30, 100] {
            let matrix = stencil(points, rows);
            assert_eq!(matrix.rows(), rows);
            for (row, column) in matrix.entries() {
                assert!(matrix.row(column).contains(&row), "{points:?} {rows}");
            }
            assert!((0..rows).all(|row| matrix.row(row).contains(&row)));
            assert!((0..rows).all(|row| matrix.degree(row) <= points.points()));
        }
    }
    // Six by six, and three further points in a seventh row.
    assert_eq!(stencil(Stencil::Points5, 39).row(38), [32, 37, 38]);
    // Three by three by three, and three further points in a fourth plane.
    assert_eq!(stencil(Stencil::Points7, 30).row(29), [20, 28, 29]);
}

#[test]
fn uniform_rows_are_alike_and_power_law_rows_are_not() {
    let longest = |m: &Csr| (0..m.rows()).map(|r| m.degree(r)).max().unwrap();
    assert_eq!(longest(&structure(MatrixKind::Uniform, 2048, 8)), 8);
    assert!(longest(&structure(MatrixKind::PowerLaw, 2048, 8)) > 80);
}

/// Existing traces depend on these checksums.
#[test]
fn matrix_checksums_are_stable() {
    for (kind, expected) in [
        (MatrixKind::Banded, 0x9816_0f70),
        (MatrixKind::Uniform, 0xccf2_ff75),
        (MatrixKind::PowerLaw, 0x3e7f_e348),
        (MatrixKind::Stencil(Stencil::Points5), 0x15f0_eb31),
    ] {
        let structure = matrix(kind, 3000, 9, &mut Random::new(5)).structure;
        assert_eq!(checksum(&structure), expected, "{kind:?}");
    }
}

#[test]
fn values_are_small_whole_numbers() {
    let matrix = matrix(MatrixKind::Uniform, 500, 8, &mut Random::new(1));
    assert_eq!(matrix.values.len(), matrix.structure.columns.len());
    assert!(matrix.values.iter().all(|v| (1.0..=7.0).contains(v) && v.fract() == 0.0));
}

#[test]
fn repeated_entries_of_a_file_are_added_up() {
    let text = "real general\n2 3 4\n1 3 1.5\n2 1 4\n1 3 0.25\n2 2 -1\n";
    let (matrix, notes) = file_of(text, &[]).unwrap();
    assert_eq!((matrix.structure.rows(), matrix.columns), (2, 3));
    assert_eq!(entries(&matrix), [((0, 2), 1.75), ((1, 0), 4.0), ((1, 1), -1.0)]);
    assert_eq!(
        notes,
        ["m.mtx: rows 2, columns 3, entries 3; repeats added up 1; values of the file"]
    );
    let refused = file_of("real general\n1 1 2\n1 1 3e38\n1 1 3e38\n", &[]).unwrap_err();
    assert_eq!(refused, "m.mtx: the sum of entries in the same place is not finite (32-bit)");
}

#[test]
fn symmetric_entries_are_completed() {
    let symmetric = "integer symmetric\n3 3 3\n1 1 5\n2 1 -3\n3 2 2\n";
    assert_eq!(
        entries(&file_of(symmetric, &[]).unwrap().0),
        [((0, 0), 5.0), ((0, 1), -3.0), ((1, 0), -3.0), ((1, 2), 2.0), ((2, 1), 2.0)]
    );
    let skew = "real skew-symmetric\n2 2 1\n2 1 0.5\n";
    assert_eq!(entries(&file_of(skew, &[]).unwrap().0), [((0, 1), -0.5), ((1, 0), 0.5)]);
    let (pattern, notes) = file_of("pattern symmetric\n2 2 1\n2 1\n", &[]).unwrap();
    assert_eq!(entries(&pattern), [((0, 1), 1.0), ((1, 0), 1.0)]);
    assert!(notes[0].ends_with("values all 1"), "{notes:?}");
}

#[test]
fn general_matrices_are_unchanged_and_pattern_repeats_merge() {
    let (matrix, notes) = file_of("pattern general\n2 2 3\n2 1\n2 1\n1 1\n", &[]).unwrap();
    assert_eq!(entries(&matrix), [((0, 0), 1.0), ((1, 0), 1.0)]);
    let expected = "m.mtx: rows 2, columns 2, entries 2; repeats dropped 1; values all 1";
    assert_eq!(notes, [expected]);
}

#[test]
fn rows_and_columns_share_a_numbering_if_square() {
    // Row 2 has two neighbours and comes first in degree order.
    let text = "real general\n3 3 3\n3 1 1\n2 3 2\n3 3 9\n";
    let (matrix, _) = file_of(text, &[("order", "degree")]).unwrap();
    assert_eq!(entries(&matrix), [((0, 0), 9.0), ((0, 1), 1.0), ((2, 0), 2.0)]);
    let wide = "pattern general\n2 3 0\n";
    assert_eq!(
        file_of(wide, &[("order", "rcm")]).unwrap_err(),
        "2 rows and 3 columns cannot be numbered alike; valid: --order as-is"
    );
    assert_eq!(file_of(wide, &[("order", "as-is")]).unwrap().0.columns, 3);
}

#[test]
fn generation_options_are_refused_with_a_file() {
    for (name, value) in [("matrix", "banded"), ("rows", "4"), ("nnz-per-row", "2")] {
        assert_eq!(
            file_of("pattern general\n1 1 0\n", &[(name, value)]).unwrap_err(),
            format!("--{name} cannot be given here; valid: not with --file")
        );
    }
}

#[test]
fn too_many_entries_are_refused() {
    let refusal = |given: &[(&str, &str)]| -> WorkloadError {
        let arguments = testing::arguments(MATRIX, given).unwrap();
        matrix_of(&arguments, &mut Random::new(1)).unwrap_err()
    };
    assert_eq!(
        refusal(&[("rows", "2^24"), ("nnz-per-row", "2^5")]).to_string(),
        "2^29 entries are more than 2^28"
    );
    assert_eq!(
        refusal(&[("rows", "2^24"), ("matrix", "stencil27")]).to_string(),
        "452984832 entries are more than 2^28"
    );
}
