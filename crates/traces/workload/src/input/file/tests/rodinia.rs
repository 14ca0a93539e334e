use super::*;
use Format::Rodinia;

#[test]
fn rodinia_files_are_read() {
    let text = "3\n0 2\n2 1\n3 0\n\n1\n\n3\n1 7\n2 1\n0 7\n";
    let read = edges(Rodinia, text);
    let expected = listing(3, true, vec![(0, 1, 7), (0, 2, 1), (1, 0, 7)]);
    let notes = vec!["the file's source 1 is ignored; see --source".to_owned()];
    assert_eq!(read, Listing { notes, ..expected });
    assert_refused(
        Rodinia,
        &[
            ("", "1:1: the file ends where the number of vertices should be"),
            ("2 1\n", "1:3: `1` is unexpected: the line holds the number of vertices"),
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
