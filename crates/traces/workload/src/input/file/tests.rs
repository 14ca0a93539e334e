use std::io::Write;

use proptest::prelude::*;

use super::*;
use crate::input::Csr;
use Format::{
    Dimacs, EdgeList, Galois, Gapbs, Konect, MatrixMarket, Metis, Rodinia, WeightedGapbs,
};

fn read_text<V: Value>(format: Format, content: impl AsRef<[u8]>) -> Result<Listing<V>, String> {
    format.read(content.as_ref()).map_err(|failure| match failure {
        Failure::Malformed { at, message } => {
            format!("{at}: {message}").trim_start_matches([':', ' ']).to_owned()
        }
        Failure::Read { source, .. } => source.to_string(),
    })
}

/// A graph's listing with these edges, as most formats give it.
fn listing<V>(nodes: u32, valued: bool, entries: Vec<(u32, u32, V)>) -> Listing<V> {
    Listing::of_graph(nodes, Symmetry::General, valued, entries)
}

fn edges(format: Format, content: impl AsRef<[u8]>) -> Listing<u32> {
    read_text(format, content).unwrap()
}

/// Every row: a text, and why it is refused as a graph's.
fn assert_refused(format: Format, refusals: &[(&str, &str)]) {
    for (text, expected) in refusals {
        assert_eq!(read_text::<u32>(format, text).unwrap_err(), *expected, "{text:?}");
    }
}

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
    // What is not whole is no weight.
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
                "1:16: `vector` is not an object that is read; valid: matrix",
            ),
            (
                "%%MatrixMarket matrix array real general\n",
                "1:23: `array` is not a format that is read; valid: coordinate (array files are dense)",
            ),
            (
                "%%MatrixMarket matrix coordinate quaternion general\n",
                "1:34: `quaternion` is not a field that is read; valid: real, integer, pattern",
            ),
            (
                "%%MatrixMarket matrix coordinate real hermitian\n",
                "1:39: `hermitian` is not a symmetry of what is not complex; valid: general, symmetric, skew-symmetric",
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
                "1:47: `1` is too much: the line holds the banner's five words",
            ),
        ],
    );
    let banner = "%%MatrixMarket matrix coordinate";
    let cases = [
        ("real general\n% c\n", "2:1: the file ends where its size should be"),
        ("real general\n2 2\n", "2:4: the line ends where a number of entries should be"),
        (
            "real general\n2 2 1 1\n",
            "2:7: `1` is too much: the line holds rows, columns and entries",
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
            "3:7: `0` is too much: the line holds a row, a column and a value",
        ),
        (
            "pattern general\n2 2 1\n1 1 1\n",
            "3:5: `1` is too much: the line holds a row and a column",
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
        "1:34: `complex` is not a field of the kernel's 32-bit real values; valid: real, integer, pattern, as of the \
         real parts (graphs take complex, as values do not matter)"
    );
    let half = format!("{banner} integer general\n1 1 1\n1 1 0.5\n");
    let refused = read_text::<f32>(MatrixMarket, &half).unwrap_err();
    assert_eq!(refused, "3:5: `0.5` is not a whole number");
}

#[test]
fn matrix_market_files_as_they_are_on_the_net_are_read() {
    let banner = "%%MatrixMarket matrix coordinate";
    let read = |text: &str| edges(MatrixMarket, format!("{banner} {text}"));
    // The upper triangle; of a graph also entries of both.
    let upper = read("pattern symmetric\n3 3 2\n1 2\n1 3\n");
    assert_eq!((upper.symmetry, upper.entries), (Symmetry::Symmetric, vec![(0, 1, 1), (0, 2, 1)]));
    assert_eq!(read("pattern symmetric\n3 3 2\n1 2\n3 1\n").entries.len(), 2);
    let upper: Listing<f32> =
        read_text(MatrixMarket, format!("{banner} real skew-symmetric\n2 2 1\n1 2 1.5\n")).unwrap();
    assert_eq!(upper.entries, [(0, 1, 1.5)]);
    // One percent sign.
    let one =
        edges(MatrixMarket, "%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n");
    assert_eq!(one.entries, [(1, 0, 1)]);
    // No size.
    let note = ["no line with the size: it is taken from the entries"];
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
    // Complex values of a graph do not matter.
    let complex = read("complex hermitian\n3 3 3\n1 1 1 0\n2 1 0 1\n3 2 1 -1\n");
    assert_eq!((complex.symmetry, complex.valued), (Symmetry::Symmetric, false));
    assert_eq!(complex.entries, [(0, 0, 1), (1, 0, 1), (2, 1, 1)]);
    // Fortran's exponents.
    let text = format!("{banner} real general\n3 3 2\n1 1 1.0D+00\n3 2 -2.5D-1\n");
    let fortran: Listing<f32> = read_text(MatrixMarket, text).unwrap();
    assert_eq!(fortran.entries, [(0, 0, 1.0), (2, 1, -0.25)]);
}

#[test]
fn konect_files_are_read() {
    let bipartite = edges(Konect, "% bip unweighted\n1 2\n2 3 1 1082008561\n");
    assert!(bipartite.bipartite && !bipartite.valued);
    assert_eq!((bipartite.rows, bipartite.columns), (2, 3));
    assert_eq!(bipartite.entries, [(0, 1, 1), (1, 2, 1)]);
    let symmetric = edges(Konect, "% sym positive\n% 2 3 3\n1 2 4\n3\t2\n");
    assert_eq!((symmetric.symmetry, symmetric.rows), (Symmetry::Symmetric, 3));
    assert_eq!(symmetric.entries, [(0, 1, 1), (2, 1, 1)]);
    let values: Listing<f32> = read_text(Konect, "% asym weighted\n1 2 -0.5 9\n2 1\n").unwrap();
    assert_eq!((values.symmetry, values.valued), (Symmetry::General, true));
    assert_eq!(values.entries, [(0, 1, -0.5), (1, 0, 1.0)]);
    let sparse = edges(Konect, "% bip unweighted\n1 3000000000\n1 5\n");
    assert_eq!((sparse.rows, sparse.columns), (1, 2));
    assert_eq!(sparse.entries, [(0, 1, 1), (0, 0, 1)]);
    assert_eq!(sparse.notes.len(), 1);
    assert_refused(
        Konect,
        &[
            ("", "1:1: the file is empty; valid: `% FORMAT WEIGHTS`"),
            ("1 2\n", "1:1: `1` is not the beginning of a header; valid: % FORMAT WEIGHTS"),
            ("% tri unweighted\n", "1:3: `tri` is not a format; valid: sym, asym, bip"),
            (
                "% sym heavy\n",
                "1:7: `heavy` is not a kind of weights; valid: unweighted, positive, posweighted, signed, \
                 multisigned, weighted, multiweighted, dynamic, multiposweighted",
            ),
            ("% sym unweighted\n", "1:1: the file names no vertex"),
            (
                "% sym unweighted\n0 1\n",
                "2:1: `0` is not a vertex; valid: 1 to 18446744073709551615",
            ),
            ("% sym unweighted\n1\n", "2:2: the line ends where a vertex should be"),
            ("% sym unweighted\n1 2 x\n", "2:5: `x` is not a finite number (32-bit)"),
            (
                "% sym unweighted\n1 2 3 4 5\n",
                "2:9: `5` is too much: the line holds two vertices, a weight and a time",
            ),
        ],
    );
}

#[test]
fn rodinia_files_are_read() {
    let text = "3\n0 2\n2 1\n3 0\n\n1\n\n3\n1 7\n2 1\n0 7\n";
    let read = edges(Rodinia, text);
    let expected = listing(3, true, vec![(0, 1, 7), (0, 2, 1), (1, 0, 7)]);
    let notes = vec!["the file's source, 1, is not taken (--source)".to_owned()];
    assert_eq!(read, Listing { notes, ..expected });
    assert_refused(
        Rodinia,
        &[
            ("", "1:1: the file ends where the number of vertices should be"),
            ("2 1\n", "1:3: `1` is too much: the line holds the number of vertices"),
            ("2\n0 1\n", "2:1: the file ends where a vertex should be"),
            (
                "2\n0 1\n0 1\n",
                "3:1: `0` is not the number of the vertex's first edge, as in Rodinia's `bfs`; valid: 1 to 1",
            ),
            (
                "1\n0 268435457\n",
                "2:3: `268435457` is not the number of the vertex's edges; valid: 0 to 268435456",
            ),
            ("1\n0 1\n1\n", "3:1: `1` is not the source; valid: 0 to 0"),
            ("1\n0 1\n0\n2\n", "4:1: 2 edges where the vertices have 1"),
            ("1\n0 1\n0\n1\n", "4:1: the file ends where an edge should be"),
            ("1\n0 1\n0\n1\n1 1\n", "5:1: `1` is not a vertex; valid: 0 to 0"),
            ("1\n0 1\n0\n1\n0\n", "5:2: the line ends where a weight should be"),
            ("1\n0 0\n0\n0\n0 1\n", "5:1: more than the 0 edges that the file declares"),
        ],
    );
}

fn little_endian(numbers: &[u64], bytes: usize) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()[..bytes].to_vec()).collect()
}

fn galois(version: u64, width: usize, data: &[u64]) -> Vec<u8> {
    let destinations = match version {
        1 => little_endian(&[1, 2, 3, 0], 4),
        _ => little_endian(&[1, 2, 3], 8),
    };
    let head = little_endian(&[version, width as u64, 4, 3, 1, 2, 3, 3], 8);
    [head, destinations, little_endian(data, width)].concat()
}

#[test]
fn galois_files_are_read() {
    let weighted = vec![(0, 1, 5), (1, 2, 6), (2, 3, 7)];
    for (version, width) in [(1, 4), (1, 8), (2, 4), (2, 8)] {
        let read = edges(Galois, galois(version, width, &[5, 6, 7]));
        assert_eq!(read, listing(4, true, weighted.clone()), "{version} {width}");
    }
    let plain = vec![(0, 1, 1), (1, 2, 1), (2, 3, 1)];
    let file = galois(1, 0, &[]);
    assert_eq!(edges(Galois, &file), listing(4, false, plain.clone()));
    // Filled up or not.
    assert_eq!(edges(Galois, &file[..file.len() - 4]), listing(4, false, plain));
}

#[test]
fn malformed_galois_files_are_refused_with_their_byte() {
    let whole = galois(1, 4, &[5, 6, 7]);
    let with = |at: usize, bytes: &[u8]| {
        let mut file = whole.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        file
    };
    for (file, expected) in [
        (Vec::new(), "byte 0: the file ends where a version of Galois' format should be"),
        (with(0, &[3]), "byte 0: 3 is not a version of Galois' format; valid: 1 to 2"),
        (with(8, &[3]), "byte 8: 3 bytes are not the size of an edge's data; valid: 0, 4, 8"),
        (with(20, &[1]), "byte 16: 4294967300 is not a number of vertices; valid: 1 to 67108864"),
        (
            with(31, &[1]),
            "byte 24: 72057594037927939 is not a number of edges; valid: 0 to 268435456",
        ),
        (with(40, &[0]), "byte 40: 0 is not the end of a vertex's edges; valid: 1 to 3"),
        (with(24, &[9]), "byte 56: the vertices have 3 of 9 edges"),
        (with(68, &[4]), "byte 68: 4 is not a vertex; valid: 0 to 3"),
        (with(83, &[0x80]), "byte 80: 2147483653 is not a weight; valid: 0 to 2147483647"),
        (whole[..90].to_vec(), "byte 88: the file ends where an edge's data should be"),
        ([&whole[..], &[0]].concat(), "byte 92: more bytes than the header declares"),
    ] {
        assert_eq!(read_text::<u32>(Galois, file).unwrap_err(), expected);
    }
}

#[test]
fn gapbs_files_are_read() {
    let offsets = little_endian(&[0, 1, 2, 3, 3], 8);
    let head = |directed: u8| [&[directed][..], &little_endian(&[3, 4], 8), &offsets].concat();
    let plain = little_endian(&[1, 2, 3], 4);
    let read = edges(Gapbs, [head(0), plain.clone()].concat());
    assert_eq!(read, listing(4, false, vec![(0, 1, 1), (1, 2, 1), (2, 3, 1)]));
    let weighted = little_endian(&[1, 5, 2, 6, 3, 7], 4);
    let expected = listing(4, true, vec![(0, 1, 5), (1, 2, 6), (2, 3, 7)]);
    assert_eq!(edges(WeightedGapbs, [head(0), weighted.clone()].concat()), expected);
    let twice = [head(1), weighted.clone(), offsets.clone(), weighted.clone()].concat();
    assert_eq!(edges(WeightedGapbs, &twice), expected);
    for (file, expected) in [
        (vec![2], "byte 0: 2 is not whether the graph is directed; valid: 0 to 1"),
        (head(0), "byte 57: the file ends where a vertex should be"),
        (
            [head(1), plain.clone()].concat(),
            "byte 69: the file ends where the edges that come in should be",
        ),
        (
            twice[..twice.len() - 1].to_vec(),
            "byte 81: the file ends where the edges that come in should be",
        ),
        ([twice, vec![0]].concat(), "byte 145: more bytes than the header declares"),
    ] {
        let format = if file.len() > 80 { WeightedGapbs } else { Gapbs };
        assert_eq!(read_text::<u32>(format, file).unwrap_err(), expected);
    }
}

#[test]
fn edge_lists_are_read_with_the_numbers_as_they_are() {
    let listing = edges(EdgeList, "# Nodes: 4\n% c\n\n0\t3\n 1, 1 \r\n3,0\n");
    let entries = vec![(0, 3, 1), (1, 1, 1), (3, 0, 1)];
    assert_eq!(listing, self::listing(4, false, entries));
    let weighted = edges(EdgeList, "1 2 30\n2 1 0\n");
    assert_eq!((weighted.valued, weighted.rows), (true, 3));
    assert_eq!(weighted.entries, [(1, 2, 30), (2, 1, 0)]);
    let values: Listing<f32> = read_text(EdgeList, "1 2 -0.5").unwrap();
    assert_eq!(values.entries, [(1, 2, -0.5)]);
}

#[test]
fn malformed_edge_lists_are_refused_with_line_and_column() {
    assert_refused(
        EdgeList,
        &[
            ("", "1:1: the file names no vertex"),
            ("# only\n# comments\n", "2:1: the file names no vertex"),
            ("source,target\n", "1:1: `source` is not a vertex; valid: 0 to 18446744073709551615"),
            ("0 1\n2\n", "2:2: the line ends where a vertex should be"),
            ("0,1\n0,,1\n", "2:3: nothing where a value should be beside `,`"),
            ("0,1, \n", "1:5: nothing where a value should be beside `,`"),
            (",0,1\n", "1:1: nothing where a value should be beside `,`"),
            (
                "0 18446744073709551616\n",
                "1:3: `18446744073709551616` is not a vertex; valid: 0 to 18446744073709551615",
            ),
            ("0 -1\n", "1:3: `-1` is not a vertex; valid: 0 to 18446744073709551615"),
            (
                "0 1\n1 2 5\n",
                "2:5: `5` is too much: the line holds two vertices, as the first one did",
            ),
            (
                "0 1 5\n1 2\n",
                "2:4: the line ends where a weight, as the first edge has one, should be",
            ),
            ("0 1 5 9\n", "1:7: `9` is too much: the line holds two vertices and a weight"),
            (
                "0 1 0.5\n",
                "1:5: `0.5` is not a weight (whole, not negative); valid: 0 to 2147483647",
            ),
            (
                "0 1 nan\n",
                "1:5: `nan` is not a weight (whole, not negative); valid: 0 to 2147483647",
            ),
            (
                "0 1 2147483648\n",
                "1:5: `2147483648` is not a weight (whole, not negative); valid: 0 to 2147483647",
            ),
        ],
    );
}

#[test]
fn dimacs_files_are_read() {
    let listing = edges(Dimacs, "c roads\nc\np sp 3 2\na 1 3 803\n\nc more\na 3 1 0\n");
    assert_eq!(listing, self::listing(3, true, vec![(0, 2, 803), (2, 0, 0)]));
    let flow = edges(Dimacs, "p max 3 1\nn 1 s\nn 3 t\na 1 3 5\n");
    assert_eq!(flow, self::listing(3, true, vec![(0, 2, 5)]));
    let entries = vec![(0, 1, 1), (1, 2, 1)];
    for text in ["c c\np edge 4 2\ne 1 2\ne 2 3\n", "p col 4 4\nn 1 0\ne 1 2\nx A 1\ne 2 3\n"] {
        let colouring = edges(Dimacs, text);
        let expected = self::listing(4, false, entries.clone());
        assert_eq!(colouring, Listing { symmetry: Symmetry::Symmetric, ..expected }, "{text}");
    }
}

#[test]
fn malformed_dimacs_files_are_refused_with_line_and_column() {
    assert_refused(
        Dimacs,
        &[
            ("c\n", "1:1: the file ends where `p sp VERTICES ARCS` should be"),
            (
                "a 1 2 3\n",
                "1:1: `a` is not the problem line; valid: p sp, p max, p edge or p col with VERTICES and EDGES",
            ),
            (
                "p cnf 2 1\n",
                "1:3: `cnf` is not the problem line; valid: p sp, p max, p edge or p col with VERTICES and EDGES",
            ),
            ("p edge 2 3\ne 1 2\n", "2:1: the file ends after 1 of 3 edges"),
            ("p edge 2 1\ne 1 2 3\n", "2:7: `3` is too much: the line holds `e` and two vertices"),
            ("p edge 2 1\na 1 2\n", "2:1: `a` is not a kind of line; valid: e (edge), c (comment)"),
            ("p sp 0 0\n", "1:6: `0` is not a number of vertices; valid: 1 to 67108864"),
            ("p sp 2\n", "1:7: the line ends where a number of arcs should be"),
            (
                "p sp 2 1 1\n",
                "1:10: `1` is too much: the line holds `p`, the kind, vertices and arcs",
            ),
            ("p sp 2 1\nx 1 2 3\n", "2:1: `x` is not a kind of line; valid: a (arc), c (comment)"),
            ("p sp 2 1\na 0 2 3\n", "2:3: `0` is not a vertex; valid: 1 to 2"),
            ("p sp 2 1\na 1 2\n", "2:6: the line ends where a weight should be"),
            (
                "p sp 2 1\na 1 2 -4\n",
                "2:7: `-4` is not a weight (whole, not negative); valid: 0 to 2147483647",
            ),
            (
                "p sp 2 1\na 1 2 3 4\n",
                "2:9: `4` is too much: the line holds `a`, two vertices and a weight",
            ),
            ("p sp 2 2\na 1 2 3\n", "2:1: the file ends after 1 of 2 arcs"),
            (
                "p sp 2 1\na 1 2 3\na 2 1 3\n",
                "3:1: more than the 1 arcs that the problem line declares",
            ),
        ],
    );
}

#[test]
fn metis_files_are_read_and_what_vertices_have_is_passed_over() {
    let expected = vec![(0, 1, 5), (1, 0, 5), (1, 2, 6), (2, 1, 6)];
    for text in [
        "% c\n4 2 1\n2 5\n1 5 3 6\n% c\n2 6\n\n",
        "4 2 011\n9 2 5\n9 1 5 3 6\n9 2 6\n9\n",
        "4 2 111 2\n8 9 9 2 5\n8 9 9 1 5 3 6\n8 9 9 2 6\n8 9 9\n\n",
    ] {
        let listing = edges(Metis, text);
        assert_eq!((listing.rows, listing.valued), (4, true));
        assert_eq!(listing.entries, expected, "{text}");
    }
    for text in ["3 2\n2\n1 3\n2\n", "3 2 10\n7 2\n7 1 3\n7 2", "3 2 100\n7 2\n7 1 3\n7 2"] {
        let listing = edges(Metis, text);
        assert!(!listing.valued);
        assert_eq!(listing.entries, [(0, 1, 1), (1, 0, 1), (1, 2, 1), (2, 1, 1)], "{text}");
    }
}

#[test]
fn malformed_metis_files_are_refused_with_line_and_column() {
    assert_refused(
        Metis,
        &[
            ("%\n", "1:1: the file ends where `VERTICES EDGES` should be"),
            ("0 0\n", "1:1: `0` is not a number of vertices; valid: 1 to 67108864"),
            ("2 134217729\n", "1:3: `134217729` is not a number of edges; valid: 0 to 134217728"),
            ("2 1 12\n", "1:5: `12` is not a format; valid: up to three digits 0 or 1"),
            ("2 1 1 99\n", "1:7: `99` is not a number of vertex weights; valid: 0 to 32"),
            (
                "2 1 1 1 1\n",
                "1:9: `1` is too much: the line holds vertices, edges, format and number of vertex weights",
            ),
            ("2 1\n2\n", "2:1: the file ends after 1 of 2 vertices"),
            ("2 1\n2\n1\n\n1\n", "5:1: more lines than the 2 vertices that the header declares"),
            ("2 1\n3\n1\n", "2:1: `3` is not a vertex; valid: 1 to 2"),
            ("2 1 1\n2\n1 5\n", "2:2: the line ends where the edge's weight should be"),
            (
                "2 1 10\n\n1 5\n",
                "2:1: the line ends where a size or weight of the vertex should be",
            ),
            (
                "2 1\n2\n\n",
                "3:1: 1 neighbours where the header's 1 edges, named from both ends, make 2",
            ),
            (
                "2 1\n2 2 2\n1\n",
                "2:5: more neighbours than the header's 1 edges, named from both ends, make",
            ),
        ],
    );
}

#[test]
fn the_ending_tells_the_format() {
    let of = |name: &str| format_of(Path::new(name), b"0 1\n");
    assert_eq!(of("a/web.mtx"), Some(MatrixMarket));
    assert_eq!(of("WEB.MTX.GZ"), Some(MatrixMarket));
    assert_eq!(of("ca-HepTh.txt.xz"), Some(EdgeList));
    assert_eq!(of("USA-road-d.NY.gr.zst"), Some(Dimacs));
    assert_eq!(of("4elt.graph"), Some(Metis));
    assert_eq!((of("kron.sg"), of("kron.wsg")), (Some(Gapbs), Some(WeightedGapbs)));
    for name in ["mtx", "a.gz", "a.mtx.bz2", "a.xmtx", "a/", ".."] {
        assert_eq!(of(name), None, "{name}");
    }
    let error = read_bytes("b.dat", b"0 1\n", FormatChoice::ByEnding).unwrap_err();
    assert!(
        error.to_string().ends_with(
            "b.dat: neither the ending nor the first bytes say how the file is written; valid: .mtx, .el, .wel, \
             .edges, .txt, .tsv, .csv, .gr, .col, .clq, .max, .graph, .metis, .sg, .wsg (also .gz, .xz, .zst), or \
             --file-format"
        ),
        "{error}"
    );
}

#[test]
fn the_first_bytes_tell_formats_that_share_an_ending() {
    let galois = galois(1, 0, &[]);
    for (name, head, format) in [
        ("a.gr", &b"c roads\np sp 2 1\n"[..], Dimacs),
        ("a.gr", &galois, Galois),
        ("a.el", b"% asym unweighted\n1 2\n", Konect),
        ("a.el", b"% a comment\n1 2\n", EdgeList),
        ("out.ucidata", b"% bip weighted\n1 2 4.5\n", Konect),
        ("a.txt", b"\n3\n0 1\n", Rodinia),
        ("a.txt", b"# comment\n0 1\n", EdgeList),
        ("a.txt", b"%MatrixMarket matrix coordinate pattern general\n", MatrixMarket),
        ("a", b"c\n\np col 3 2\n", Dimacs),
        ("a.graph", b"3 2\n", Metis),
    ] {
        assert_eq!(format_of(Path::new(name), head), Some(format), "{name}");
    }
    for head in [&b""[..], b"0 1\n", b"% comment\n", b"p cnf 3 2\n", b"{}"] {
        assert_eq!(format_of(Path::new("a"), head), None);
    }
}

/// The files that people bring, where they lie.
#[test]
fn files_as_people_have_them_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/cases/graphs");
    if !folder.is_dir() {
        eprintln!("skipped: no {}", folder.display());
        return;
    }
    for (name, rows, columns, entries) in [
        ("colouring.col", 4, 4, 3),
        ("complex.mtx", 3, 3, 3),
        ("fortran_exponent.mtx", 3, 3, 2),
        ("galois.gr", 4, 4, 3),
        ("konect.el", 2, 3, 2),
        ("no_size_line.mtx", 3, 3, 2),
        ("rodinia.txt", 6, 6, 7),
    ] {
        let listing = read::<u32>(&folder.join(name), FormatChoice::ByEnding).unwrap();
        let found = (listing.rows, listing.columns, listing.entries.len());
        assert_eq!(found, (rows, columns, entries), "{name}");
    }
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn read_bytes(name: &str, bytes: &[u8], format: FormatChoice) -> Result<Listing<u32>, InputError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    read(&path, format)
}

#[test]
fn compressed_files_are_read_whatever_their_ending_says() {
    let text = b"0 1\n1 2\n";
    let by_ending = FormatChoice::ByEnding;
    let plain = read_bytes("a.el", text, by_ending).unwrap();
    assert_eq!(plain.entries.len(), 2);
    assert_eq!(read_bytes("a.el.gz", &gzip(text), by_ending).unwrap(), plain);
    assert_eq!(read_bytes("a.el", &gzip(text), by_ending).unwrap(), plain);
    assert_eq!(
        read_bytes("a.el.zst", &zstd::encode_all(&text[..], 1).unwrap(), by_ending).unwrap(),
        plain
    );
    let given = FormatChoice::Given(EdgeList);
    assert_eq!(read_bytes("a.dat", text, given).unwrap(), plain);
    assert_eq!(read_bytes("a.mtx", text, given).unwrap(), plain);
}

#[test]
fn a_truncated_file_is_an_error_with_its_line() {
    let text: String = (0..50_000).map(|n| format!("{n} {}\n", n * 7919 % 50_000)).collect();
    let whole = gzip(text.as_bytes());
    for cut in [whole.len() / 2, whole.len() - 1] {
        let error = read_bytes("a.el.gz", &whole[..cut], FormatChoice::ByEnding).unwrap_err();
        let InputError::Read { path, after, .. } = error else { panic!("{error}") };
        assert!(path.ends_with("a.el.gz"));
        let Place::Line { line, .. } = after else { panic!("{after:?}") };
        assert!((1000..=50_000).contains(&line), "{line}");
    }
    let missing = read::<u32>(Path::new("none/a.el"), FormatChoice::ByEnding).unwrap_err();
    assert_eq!(missing.to_string(), "failed to open none/a.el");
}

#[test]
fn errors_name_file_line_and_column() {
    let error = read_bytes("a.gr", b"p sp 2 1\na 1 9 1\n", FormatChoice::ByEnding).unwrap_err();
    assert!(error.to_string().ends_with("a.gr:2:5: `9` is not a vertex; valid: 1 to 2"), "{error}");
}

/// What a header only declares takes no memory: nothing but the entries that are there.
#[test]
fn headers_reserve_nothing() {
    for (format, text) in [
        (
            MatrixMarket,
            "%%MatrixMarket matrix coordinate pattern general\n67108864 67108864 268435456\n",
        ),
        (Dimacs, "p sp 67108864 268435456\n"),
        (Metis, "67108864 134217728\n"),
    ] {
        let refused = read_text::<u32>(format, text).unwrap_err();
        assert!(refused.contains("the file ends after 0 of "), "{refused}");
    }
}

/// An undirected graph as the entries of its matrix: (row, column, weight), both directions, no loops.
fn any_graph() -> impl Strategy<Value = (u32, Vec<(u32, u32, u32)>)> {
    (2u32..12).prop_flat_map(|nodes| {
        let edges = prop::collection::btree_map((0..nodes, 0..nodes), 0u32..100, 0..20);
        edges.prop_map(move |edges| {
            let edges = edges.into_iter().filter(|((from, to), _)| from < to);
            let both = edges.flat_map(|((a, b), weight)| [(a, b, weight), (b, a, weight)]);
            (nodes, both.collect())
        })
    })
}

fn written(format: Format, nodes: u32, entries: &[(u32, u32, u32)]) -> String {
    let count = entries.len();
    let lines = |start: &str, base: u32| {
        let line = |&(row, column, value): &(u32, u32, u32)| {
            format!("{start}{} {} {value}\n", row + base, column + base)
        };
        entries.iter().map(line).collect::<String>()
    };
    match format {
        MatrixMarket => {
            let banner = "%%MatrixMarket matrix coordinate integer general";
            format!("{banner}\n{nodes} {nodes} {count}\n{}", lines("", 1))
        }
        // A loop, so that the last vertex is named.
        EdgeList => format!("{}{1} {1} 0\n", lines("", 0), nodes - 1),
        Dimacs => format!("p sp {nodes} {count}\n{}", lines("a ", 1)),
        Konect => {
            // KONECT's weights are none of a graph's.
            let line =
                |&(row, column, _): &(u32, u32, u32)| format!("{} {}\n", row + 1, column + 1);
            let lines: String = entries.iter().map(line).collect();
            format!("% asym unweighted\n{lines}{nodes} {nodes}\n")
        }
        Rodinia => {
            let of = |vertex: u32| entries.iter().filter(move |&&(row, ..)| row == vertex);
            let first = |vertex: u32| entries.iter().filter(|&&(row, ..)| row < vertex).count();
            let vertex = |v: u32| format!("{} {}\n", first(v), of(v).count());
            let vertices: String = (0..nodes).map(vertex).collect();
            let edges = (0..nodes).flat_map(of).map(|(_, to, value)| format!("{to} {value}\n"));
            format!("{nodes}\n{vertices}\n0\n\n{count}\n{}", edges.collect::<String>())
        }
        Galois | Gapbs | WeightedGapbs => unreachable!("not text"),
        Metis => {
            let neighbours = |of: u32| {
                let own = entries.iter().filter(|&&(row, ..)| row == of);
                let line: String =
                    own.map(|(_, to, value)| format!("{} {value} ", to + 1)).collect();
                line + "\n"
            };
            let body: String = (0..nodes).map(neighbours).collect();
            format!("{nodes} {} 001\n{body}", count / 2)
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_in_any_format_is_read_back((nodes, entries) in any_graph()) {
        let csr = |listing: &[(u32, u32, u32)]| {
            let edges = listing.iter().copied().filter(|(from, to, _)| from != to);
            Csr::from_entries(nodes, edges, |a, _| a)
        };
        for format in [MatrixMarket, EdgeList, Dimacs, Metis, Rodinia] {
            let listing = edges(format, written(format, nodes, &entries));
            prop_assert_eq!((listing.rows, listing.columns), (nodes, nodes));
            prop_assert_eq!(csr(&listing.entries), csr(&entries), "{:?}", format);
        }
        let konect = edges(Konect, written(Konect, nodes, &entries));
        prop_assert_eq!(csr(&konect.entries).0, csr(&entries).0);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[%pac0-9 .,\n-]{0,80}") {
        let banner = "%%MatrixMarket matrix coordinate real general\n";
        let headers =
            ["", banner, "p sp 5 3\n", "p edge 5 3\n", "5 3 011\n", "% bip weighted\n", "2\n0 1\n1 0\n0\n1\n"];
        for header in headers {
            read_as_every_format(format!("{header}{text}").as_bytes());
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(
        at in 0usize..93, byte: u8, end in 0usize..93, version in 1u64..=2, width in 0usize..=2
    ) {
        let mut file = galois(version, 4 * width, &[5, 6, 7]);
        if let Some(place) = file.get_mut(at) {
            *place = byte;
        }
        read_as_every_format(&file[..end.min(file.len())]);
    }

    /// Renumbered vertices are those of the file, in the order of their numbers. In tests, numbers from 2^12 on cause it.
    #[test]
    fn renumbered_vertices_keep_their_order(
        pairs in prop::collection::vec(
            (prop_oneof![0u64..20, (1u64 << 12) - 3..(1 << 12) + 3, any::<u64>()], 0u64..1 << 13), 1..20
        )
    ) {
        let text: String = pairs.iter().map(|(from, to)| format!("{from} {to}\n")).collect();
        let listing = edges(EdgeList, text);
        let numbers: std::collections::BTreeSet<u64> =
            pairs.iter().flat_map(|&(from, to)| [from, to]).collect();
        let highest = *numbers.last().unwrap();
        let name = |place: u32| match highest < 1 << 12 {
            true => u64::from(place),
            false => *numbers.iter().nth(place as usize).unwrap(),
        };
        let read: Vec<_> = listing.entries.iter().map(|&(from, to, _)| (name(from), name(to))).collect();
        prop_assert_eq!(read, pairs);
        let nodes = if highest < 1 << 12 { highest + 1 } else { numbers.len() as u64 };
        prop_assert_eq!(u64::from(listing.rows), nodes);
    }
}
