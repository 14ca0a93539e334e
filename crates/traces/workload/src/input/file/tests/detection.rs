use super::*;
use Format::{
    Dimacs, EdgeList, Galois, Gapbs, Konect, MatrixMarket, Metis, Rodinia, WeightedGapbs,
};

#[test]
fn extensions_determine_the_format() {
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
fn first_bytes_distinguish_formats_with_a_common_extension() {
    let galois = galois::galois_file(1, 0, &[]);
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

/// Captured input files of the shared collection, if present.
#[test]
fn files_from_the_field_are_read() {
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
