use std::io::Write;

use proptest::prelude::*;

use super::*;
use crate::input::Csr;
use Format::{Dimacs, EdgeList, MatrixMarket, Metis};

fn read_text<V: Value>(format: Format, text: &str) -> Result<Listing<V>, String> {
    format.read(text.as_bytes()).map_err(|failure| match failure {
        Failure::Malformed { line, column, message } => format!("{line}:{column}: {message}"),
        Failure::Read { source, .. } => source.to_string(),
    })
}

fn edges(format: Format, text: &str) -> Listing<u32> {
    read_text(format, text).unwrap()
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
    let symmetry = Symmetry::General;
    assert_eq!(listing, Listing { rows: 3, columns: 4, symmetry, valued: true, entries });

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
                "%%MatrixMarket matrix coordinate complex hermitian\n",
                "1:34: `complex` is not a field that is read; valid: real, integer, pattern",
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
        ("real general\n0 2 0\n", "2:1: `0` is not a number of rows; valid: 1 to 16777216"),
        (
            "real general\n2 16777217 0\n",
            "2:3: `16777217` is not a number of columns; valid: 1 to 16777216",
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
        ("real symmetric\n2 2 1\n1 2 1\n", "3:1: symmetric matrices list only row ≥ column"),
        (
            "real skew-symmetric\n2 2 1\n1 1 0\n",
            "3:1: skew-symmetric matrices list only row > column",
        ),
        ("real general\n2 2 2\n1 1 1\n\n", "4:1: the file ends after 1 of 2 entries"),
        (
            "real general\n2 2 1\n1 1 1\n2 2 2\n",
            "4:1: more than the 1 entries that the size line declares",
        ),
    ];
    for (text, expected) in cases {
        assert_refused(MatrixMarket, &[(&format!("{banner} {text}"), expected)]);
    }
    let half = format!("{banner} integer general\n1 1 1\n1 1 0.5\n");
    let refused = read_text::<f32>(MatrixMarket, &half).unwrap_err();
    assert_eq!(refused, "3:5: `0.5` is not a whole number");
}

#[test]
fn edge_lists_are_read_with_the_numbers_as_they_are() {
    let listing = edges(EdgeList, "# Nodes: 4\n% c\n\n0\t3\n 1, 1 \r\n3,0\n");
    let entries = vec![(0, 3, 1), (1, 1, 1), (3, 0, 1)];
    let symmetry = Symmetry::General;
    assert_eq!(listing, Listing { rows: 4, columns: 4, symmetry, valued: false, entries });
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
            ("source,target\n", "1:1: `source` is not a vertex; valid: 0 to 16777215"),
            ("0 1\n2\n", "2:2: the line ends where a vertex should be"),
            ("0,1\n0,,1\n", "2:3: nothing where a value should be beside `,`"),
            ("0,1, \n", "1:5: nothing where a value should be beside `,`"),
            (",0,1\n", "1:1: nothing where a value should be beside `,`"),
            ("0 16777216\n", "1:3: `16777216` is not a vertex; valid: 0 to 16777215"),
            ("0 -1\n", "1:3: `-1` is not a vertex; valid: 0 to 16777215"),
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
    let entries = vec![(0, 2, 803), (2, 0, 0)];
    let symmetry = Symmetry::General;
    assert_eq!(listing, Listing { rows: 3, columns: 3, symmetry, valued: true, entries });
}

#[test]
fn malformed_dimacs_files_are_refused_with_line_and_column() {
    assert_refused(
        Dimacs,
        &[
            ("c\n", "1:1: the file ends where `p sp VERTICES ARCS` should be"),
            ("a 1 2 3\n", "1:1: `a` is not the problem line; valid: p sp VERTICES ARCS"),
            ("p edge 2 1\n", "1:3: `edge` is not the problem line; valid: p sp VERTICES ARCS"),
            ("p sp 0 0\n", "1:6: `0` is not a number of vertices; valid: 1 to 16777216"),
            ("p sp 2\n", "1:7: the line ends where a number of arcs should be"),
            ("p sp 2 1 1\n", "1:10: `1` is too much: the line holds `p sp`, vertices and arcs"),
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
            ("0 0\n", "1:1: `0` is not a number of vertices; valid: 1 to 16777216"),
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
    let of = |name: &str| Format::of(Path::new(name));
    assert_eq!(of("a/web.mtx"), Some(MatrixMarket));
    assert_eq!(of("WEB.MTX.GZ"), Some(MatrixMarket));
    assert_eq!(of("ca-HepTh.txt.xz"), Some(EdgeList));
    assert_eq!(of("USA-road-d.NY.gr.zst"), Some(Dimacs));
    assert_eq!(of("4elt.graph"), Some(Metis));
    for name in ["mtx", "a.gz", "a.mtx.bz2", "a.xmtx", "a/", ".."] {
        assert_eq!(of(name), None, "{name}");
    }
    let error = read::<u32>(Path::new("a/b.dat"), FormatChoice::ByEnding).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a/b.dat: the ending does not say how the file is written; valid: .mtx, .el, .wel, .edges, .txt, \
         .tsv, .csv, .gr, .graph, .metis (also .gz, .xz, .zst), or --file-format"
    );
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
        let InputError::Read { path, line, .. } = error else { panic!("{error}") };
        assert!(path.ends_with("a.el.gz"));
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
            "%%MatrixMarket matrix coordinate pattern general\n16777216 16777216 268435456\n",
        ),
        (Dimacs, "p sp 16777216 268435456\n"),
        (Metis, "16777216 134217728\n"),
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
        for format in [MatrixMarket, EdgeList, Dimacs, Metis] {
            let listing = edges(format, &written(format, nodes, &entries));
            prop_assert_eq!((listing.rows, listing.columns), (nodes, nodes));
            prop_assert_eq!(csr(&listing.entries), csr(&entries), "{:?}", format);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[%pac0-9 .,\n-]{0,80}") {
        let banner = "%%MatrixMarket matrix coordinate real general\n";
        for header in ["", banner, "p sp 5 3\n", "5 3 011\n"] {
            read_as_every_format(format!("{header}{text}").as_bytes());
        }
    }
}
