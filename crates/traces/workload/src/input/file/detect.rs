//! Detects the format of a file by its extension and, where several formats share it, by its first
//! bytes.

use std::path::Path;

use super::lines::Lines;
use super::{Format, dimacs, galois, konect, matrix_market, rodinia};

/// Bytes of content inspected.
pub const HEAD: u64 = 64 << 10;

/// Extensions (without those of compression) and the formats they indicate.
pub const ENDINGS: &[(&str, Format)] = &[
    ("mtx", Format::MatrixMarket),
    ("el", Format::EdgeList),
    ("wel", Format::EdgeList),
    ("edges", Format::EdgeList),
    ("txt", Format::EdgeList),
    ("tsv", Format::EdgeList),
    ("csv", Format::EdgeList),
    ("gr", Format::Dimacs),
    ("col", Format::Dimacs),
    ("clq", Format::Dimacs),
    ("max", Format::Dimacs),
    ("graph", Format::Metis),
    ("metis", Format::Metis),
    ("sg", Format::Gapbs),
    ("wsg", Format::WeightedGapbs),
];

/// Returns the format of the file at `path` that begins with `head`.
pub fn format_of(path: &Path, head: &[u8]) -> Option<Format> {
    match by_ending(path) {
        // Formats that share these extensions differ in their first bytes.
        None | Some(Format::EdgeList | Format::Dimacs) => {
            by_content(head).or_else(|| by_ending(path))
        }
        known => known,
    }
}

fn by_ending(path: &Path) -> Option<Format> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let name = ["gz", "xz", "zst"].iter().find_map(|e| strip(&name, e)).unwrap_or(&name);
    let known = ENDINGS.iter().find(|(ending, _)| strip(name, ending).is_some());
    known.map(|&(_, format)| format)
}

fn strip<'a>(name: &'a str, ending: &str) -> Option<&'a str> {
    name.strip_suffix(ending)?.strip_suffix('.')
}

/// Detects formats with unique first bytes. Edge lists and METIS files begin with numbers and are
/// not detected.
fn by_content(head: &[u8]) -> Option<Format> {
    /// Returns whether a file that begins with these bytes has the format.
    type Sign = fn(&[u8]) -> bool;
    let formats: [(Sign, Format); 5] = [
        (galois::is_in, Format::Galois),
        (matrix_market::is_in, Format::MatrixMarket),
        (konect::is_in, Format::Konect),
        (dimacs::is_in, Format::Dimacs),
        (begins_as_rodinia, Format::Rodinia),
    ];
    formats.iter().find(|(is_in, _)| is_in(head)).map(|&(_, format)| format)
}

fn begins_as_rodinia(head: &[u8]) -> bool {
    Lines::new(head).next_filled().is_ok_and(|line| line.is_some_and(rodinia::is_in))
}
