use super::*;
use Format::Metis;

#[test]
fn metis_files_are_read_and_vertex_weights_skipped() {
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
                "1:9: `1` is unexpected: the line holds vertices, edges, format and number of vertex weights",
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
