use super::*;
use Format::Konect;

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
                "2:9: `5` is unexpected: the line holds two vertices, a weight and a time",
            ),
        ],
    );
}
