use super::*;
use Format::Galois;

pub(super) fn galois_file(version: u64, width: usize, data: &[u64]) -> Vec<u8> {
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
        let read = edges(Galois, galois_file(version, width, &[5, 6, 7]));
        assert_eq!(read, listing(4, true, weighted.clone()), "{version} {width}");
    }
    let plain = vec![(0, 1, 1), (1, 2, 1), (2, 3, 1)];
    let file = galois_file(1, 0, &[]);
    assert_eq!(edges(Galois, &file), listing(4, false, plain.clone()));
    // With or without padding.
    assert_eq!(edges(Galois, &file[..file.len() - 4]), listing(4, false, plain));
}

#[test]
fn malformed_galois_files_are_refused_with_their_byte() {
    let whole = galois_file(1, 4, &[5, 6, 7]);
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
