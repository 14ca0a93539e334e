use std::io::Write;

use super::*;
use Format::EdgeList;

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn compressed_files_are_read_under_any_extension() {
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
