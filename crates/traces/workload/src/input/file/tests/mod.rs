//! Tests of the file readers, one module per dialect.

mod any_file;
mod compression;
mod detection;
mod dimacs;
mod edge_list;
mod galois;
mod gapbs;
mod konect;
mod matrix_market;
mod metis;
mod rodinia;

use super::*;

fn read_text<V: Value>(format: Format, content: impl AsRef<[u8]>) -> Result<Listing<V>, String> {
    format.read(content.as_ref()).map_err(|failure| match failure {
        Failure::Malformed { at, message } => {
            format!("{at}: {message}").trim_start_matches([':', ' ']).to_owned()
        }
        Failure::Read { source, .. } => source.to_string(),
    })
}

/// Returns the listing of a graph with these edges, as most formats give it.
fn listing<V>(nodes: u32, valued: bool, entries: Vec<(u32, u32, V)>) -> Listing<V> {
    Listing::of_graph(nodes, Symmetry::General, valued, entries)
}

fn edges(format: Format, content: impl AsRef<[u8]>) -> Listing<u32> {
    read_text(format, content).unwrap()
}

/// Asserts that each text is refused as a graph with the given message.
fn assert_refused(format: Format, refusals: &[(&str, &str)]) {
    for (text, expected) in refusals {
        assert_eq!(read_text::<u32>(format, text).unwrap_err(), *expected, "{text:?}");
    }
}

fn little_endian(numbers: &[u64], bytes: usize) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()[..bytes].to_vec()).collect()
}

/// Reads a file of this name and content.
fn read_bytes(name: &str, bytes: &[u8], format: FormatChoice) -> Result<Listing<u32>, InputError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    read(&path, format)
}
