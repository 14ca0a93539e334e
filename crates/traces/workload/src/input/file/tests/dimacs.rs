use super::*;
use Format::Dimacs;

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
            (
                "p edge 2 1\ne 1 2 3\n",
                "2:7: `3` is unexpected: the line holds `e` and two vertices",
            ),
            ("p edge 2 1\na 1 2\n", "2:1: `a` is not a kind of line; valid: e (edge), c (comment)"),
            ("p sp 0 0\n", "1:6: `0` is not a number of vertices; valid: 1 to 67108864"),
            ("p sp 2\n", "1:7: the line ends where a number of arcs should be"),
            (
                "p sp 2 1 1\n",
                "1:10: `1` is unexpected: the line holds `p`, the kind, vertices and arcs",
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
                "2:9: `4` is unexpected: the line holds `a`, two vertices and a weight",
            ),
            ("p sp 2 2\na 1 2 3\n", "2:1: the file ends after 1 of 2 arcs"),
            (
                "p sp 2 1\na 1 2 3\na 2 1 3\n",
                "3:1: more than the 1 arcs that the problem line declares",
            ),
        ],
    );
}
