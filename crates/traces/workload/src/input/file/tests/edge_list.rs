use super::*;
use Format::EdgeList;

#[test]
fn edge_lists_keep_vertex_numbers() {
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
            ("0,1\n0,,1\n", "2:3: a value is missing next to `,`"),
            ("0,1, \n", "1:5: a value is missing next to `,`"),
            (",0,1\n", "1:1: a value is missing next to `,`"),
            (
                "0 18446744073709551616\n",
                "1:3: `18446744073709551616` is not a vertex; valid: 0 to 18446744073709551615",
            ),
            ("0 -1\n", "1:3: `-1` is not a vertex; valid: 0 to 18446744073709551615"),
            (
                "0 1\n1 2 5\n",
                "2:5: `5` is unexpected: the line holds two vertices, as the first one did",
            ),
            (
                "0 1 5\n1 2\n",
                "2:4: the line ends where a weight, as the first edge has one, should be",
            ),
            ("0 1 5 9\n", "1:7: `9` is unexpected: the line holds two vertices and a weight"),
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
