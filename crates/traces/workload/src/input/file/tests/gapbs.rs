use super::*;
use Format::{Gapbs, WeightedGapbs};

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
        (vec![2], "byte 0: 2 is not a direction flag; valid: 0 to 1"),
        (head(0), "byte 57: the file ends where a vertex should be"),
        (
            [head(1), plain.clone()].concat(),
            "byte 69: the file ends where the incoming edges should be",
        ),
        (
            twice[..twice.len() - 1].to_vec(),
            "byte 81: the file ends where the incoming edges should be",
        ),
        ([twice, vec![0]].concat(), "byte 145: more bytes than the header declares"),
    ] {
        let format = if file.len() > 80 { WeightedGapbs } else { Gapbs };
        assert_eq!(read_text::<u32>(format, file).unwrap_err(), expected);
    }
}
