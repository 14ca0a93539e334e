use super::*;
use Format::MatrixMarket;

#[test]
fn matrix_market_files_are_read() {
    let text = "%%matrixmarket MATRIX Coordinate Real General\r\n% c\n%\n\n 3 4 2 \r\n\n1 4 -1.5e1\r\n3 1 2";
    let listing: Listing<f32> = read_text(MatrixMarket, text).unwrap();
    let entries = vec![(0, 3, -15.0), (2, 0, 2.0)];
    assert_eq!(listing, Listing { columns: 4, ..self::listing(3, true, entries) });

    let banner = |kind| format!("%%MatrixMarket matrix coordinate {kind}\n2 2 1\n");
    let pattern = edges(MatrixMarket, &(banner("pattern symmetric") + "2 1\n"));
    assert_eq!((pattern.symmetry, pattern.valued), (Symmetry::Symmetric, false));
    assert_eq!(pattern.entries, [(1, 0, 1)]);
    let whole = edges(MatrixMarket, &(banner("integer general") + "2 1 7\n"));
    assert_eq!((whole.valued, whole.entries), (true, vec![(1, 0, 7)]));
    let skew: Listing<f32> =
        read_text(MatrixMarket, &(banner("integer skew-symmetric") + "2 1 -7\n")).unwrap();
    assert_eq!((skew.symmetry, skew.entries), (Symmetry::Skew, vec![(1, 0, -7.0)]));
    // A fraction is not a weight.
    let real = edges(MatrixMarket, &(banner("real general") + "2 1 -0.5\n"));
    assert_eq!((real.valued, real.entries), (false, vec![(1, 0, 1)]));
}

#[test]
fn malformed_matrix_market_files_are_refused_with_line_and_column() {
    assert_refused(
        MatrixMarket,
        &[
            ("", "1:1: the file is empty; valid: `%%MatrixMarket matrix …`"),
            ("3 3 1\n1 1 1\n", "1:1: `3` is not the banner; valid: %%MatrixMarket"),
            ("\n", "1:1: the line ends where the banner (%%MatrixMarket) should be"),
            (
                "%%MatrixMarket vector coordinate real general\n",
                "1:16: `vector` is not a supported object; valid: matrix",
            ),
            (
                "%%MatrixMarket matrix array real general\n",
                "1:23: `array` is not a supported format; valid: coordinate (array files are dense)",
            ),
            (
                "%%MatrixMarket matrix coordinate quaternion general\n",
                "1:34: `quaternion` is not a supported field; valid: real, integer, pattern",
            ),
            (
                "%%MatrixMarket matrix coordinate real hermitian\n",
                "1:39: `hermitian` is not a symmetry of values that are not complex; valid: general, symmetric, skew-symmetric",
            ),
            (
                "%%MatrixMarket matrix coordinate pattern skew-symmetric\n",
                "1:42: `skew-symmetric` is not a symmetry of a pattern; valid: general, symmetric",
            ),
            (
                "%%MatrixMarket matrix coordinate real odd\n",
                "1:39: `odd` is not a symmetry; valid: general, symmetric, skew-symmetric",
            ),
            (
                "%%MatrixMarket matrix coordinate real\n",
                "1:38: the line ends where the symmetry (general, symmetric, skew-symmetric) should be",
            ),
            (
                "%%MatrixMarket matrix coordinate real general 1\n",
                "1:47: `1` is unexpected: the line holds the banner's five words",
            ),
        ],
    );
    let banner = "%%MatrixMarket matrix coordinate";
    let cases = [
        ("real general\n% c\n", "2:1: the file ends where its size should be"),
        ("real general\n2 2\n", "2:4: the line ends where a number of entries should be"),
        (
            "real general\n2 2 1 1\n",
            "2:7: `1` is unexpected: the line holds rows, columns and entries",
        ),
        ("real general\n0 2 0\n", "2:1: `0` is not a number of rows; valid: 1 to 67108864"),
        (
            "real general\n2 67108865 0\n",
            "2:3: `67108865` is not a number of columns; valid: 1 to 67108864",
        ),
        (
            "real general\n2 2 268435457\n",
            "2:5: `268435457` is not a number of entries; valid: 0 to 268435456",
        ),
        (
            "real general\n2 2 99999999999999999999\n",
            "2:5: `99999999999999999999` is not a number of entries; valid: 0 to 268435456",
        ),
        (
            "real symmetric\n2 3 0\n",
            "2:3: 2 rows and 3 columns cannot be symmetric; valid: 2 columns",
        ),
        ("real general\n2 2 1\n3 1 1\n", "3:1: `3` is not a row; valid: 1 to 2"),
        ("real general\n2 2 1\n 1 0 1\n", "3:4: `0` is not a column; valid: 1 to 2"),
        ("real general\n2 2 1\n-1 1 1\n", "3:1: `-1` is not a row; valid: 1 to 2"),
        ("real general\n2 2 1\n1 x 1\n", "3:3: `x` is not a column; valid: 1 to 2"),
        ("real general\n2 2 1\n1 1\n", "3:4: the line ends where a value should be"),
        ("real general\n2 2 1\n1 1 nan\n", "3:5: `nan` is not a finite number (32-bit)"),
        ("real general\n2 2 1\n1 1 -inf\n", "3:5: `-inf` is not a finite number (32-bit)"),
        (
            "real general\n2 2 1\n1 1 1 0\n",
            "3:7: `0` is unexpected: the line holds a row, a column and a value",
        ),
        (
            "pattern general\n2 2 1\n1 1 1\n",
            "3:5: `1` is unexpected: the line holds a row and a column",
        ),
        (
            "integer general\n2 2 1\n1 1 1.5\n",
            "3:5: `1.5` is not a weight (whole, not negative); valid: 0 to 2147483647",
        ),
        (
            "integer general\n2 2 1\n1 1 -1\n",
            "3:5: `-1` is not a weight (whole, not negative); valid: 0 to 2147483647",
        ),
        (
            "real skew-symmetric\n2 2 1\n1 1 0\n",
            "3:1: the diagonal of a skew-symmetric matrix is 0 and not listed",
        ),
        ("complex general\n2 2 1\n1 1 1\n", "3:6: the line ends where an imaginary part should be"),
        ("real general\n2 2 2\n1 1 1\n\n", "4:1: the file ends after 1 of 2 entries"),
        (
            "real general\n2 2 1\n1 1 1\n2 2 2\n",
            "4:1: more than the 1 entries that the size line declares",
        ),
    ];
    for (text, expected) in cases {
        assert_refused(MatrixMarket, &[(&format!("{banner} {text}"), expected)]);
    }
    let of_matrix = |text: &str| read_text::<f32>(MatrixMarket, format!("{banner} {text}"));
    let both = "real symmetric\n3 3 2\n2 1 1\n1 3 1\n";
    assert_eq!(
        of_matrix(both).unwrap_err(),
        "4:1: entries of both triangles; a symmetric matrix lists one of them, and one that lists both is general"
    );
    assert_eq!(
        of_matrix("complex general\n1 1 0\n").unwrap_err(),
        "1:34: `complex` is not a field of 32-bit real values; valid: real, integer, pattern, as of the \
         real parts (graphs take complex, as values do not matter)"
    );
    let half = format!("{banner} integer general\n1 1 1\n1 1 0.5\n");
    let refused = read_text::<f32>(MatrixMarket, &half).unwrap_err();
    assert_eq!(refused, "3:5: `0.5` is not a whole number");
}

#[test]
fn common_deviations_of_matrix_market_files_are_accepted() {
    let banner = "%%MatrixMarket matrix coordinate";
    let read = |text: &str| edges(MatrixMarket, format!("{banner} {text}"));
    // The upper triangle; for a graph, also entries of both.
    let upper = read("pattern symmetric\n3 3 2\n1 2\n1 3\n");
    assert_eq!((upper.symmetry, upper.entries), (Symmetry::Symmetric, vec![(0, 1, 1), (0, 2, 1)]));
    assert_eq!(read("pattern symmetric\n3 3 2\n1 2\n3 1\n").entries.len(), 2);
    let upper: Listing<f32> =
        read_text(MatrixMarket, format!("{banner} real skew-symmetric\n2 2 1\n1 2 1.5\n")).unwrap();
    assert_eq!(upper.entries, [(0, 1, 1.5)]);
    // A banner with one percent sign.
    let one =
        edges(MatrixMarket, "%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n");
    assert_eq!(one.entries, [(1, 0, 1)]);
    // A missing size line.
    let note = ["no size line: the size follows from the entries"];
    for (text, count) in [
        ("pattern symmetric\n2 1\n3 1\n", 2),
        ("pattern general\n3 1\n", 1),
        ("real general\n% c\n\n1 3 0.5\n", 1),
        ("complex hermitian\n3 1 0.5 1\n", 1),
    ] {
        let listing = read(text);
        assert_eq!((listing.rows, listing.columns, listing.entries.len()), (3, 3, count), "{text}");
        assert_eq!(listing.notes, note);
    }
    let wide: Listing<f32> =
        read_text(MatrixMarket, format!("{banner} real general\n1 3 0.5\n")).unwrap();
    assert_eq!((wide.rows, wide.columns), (1, 3));
    // Complex values of a graph are ignored.
    let complex = read("complex hermitian\n3 3 3\n1 1 1 0\n2 1 0 1\n3 2 1 -1\n");
    assert_eq!((complex.symmetry, complex.valued), (Symmetry::Symmetric, false));
    assert_eq!(complex.entries, [(0, 0, 1), (1, 0, 1), (2, 1, 1)]);
    // Fortran's exponents.
    let text = format!("{banner} real general\n3 3 2\n1 1 1.0D+00\n3 2 -2.5D-1\n");
    let fortran: Listing<f32> = read_text(MatrixMarket, text).unwrap();
    assert_eq!(fortran.entries, [(0, 0, 1.0), (2, 1, -0.25)]);
}
