//! Galois `.gr`: version (1 or 2), bytes of an edge's data, vertices and edges, 64 bits each; the
//! end of each vertex's edges, 64 bits each; the destination of each edge, 32 bits in version 1 and
//! 64 in version 2, padded to 8 bytes in version 1; then the edges' data, read as whole numbers.
//!
//! Galois, `libgalois/include/galois/graphs/FileGraph.h`.

use std::io::Read;

use super::bytes::Bytes;
use super::lines::Failure;
use super::{ENTRIES, Listing, NODES, Symmetry, Value};

/// Returns whether a file that begins with `head` is in this format: its first number is the
/// version.
pub fn is_in(head: &[u8]) -> bool {
    matches!(head.first_chunk(), Some([1 | 2, 0, 0, 0, 0, 0, 0, 0]))
}

pub fn read<V: Value>(reader: impl Read) -> Result<Listing<V>, Failure> {
    let mut bytes = Bytes::new(reader);
    let version = bytes.count("a version of Galois' format", (1, 2))?;
    let width = bytes.u64("the bytes of an edge's data")?;
    if ![0, 4, 8].contains(&width) {
        let message = format!("{width} bytes are not the size of an edge's data; valid: 0, 4, 8");
        return Err(bytes.refusal(message));
    }
    let nodes = bytes.count("a number of vertices", NODES)?;
    let edges = bytes.count("a number of edges", ENTRIES)?;
    let mut entries = Vec::new();
    let ends = bytes.ends(nodes, edges)?;
    for (from, end) in (0..).zip(ends) {
        while (entries.len() as u64) < end {
            let to = match version {
                1 => bytes.u32("a vertex")?.into(),
                _ => bytes.u64("a vertex")?,
            };
            let to = bytes.within(to, "a vertex", (0, nodes - 1))?;
            entries.push((from, to as u32, V::ONE));
        }
    }
    let fill = if version == 1 && edges % 2 == 1 { 4 } else { 0 };
    if width > 0 {
        bytes.skip(fill, "the edges' data")?;
        for (.., value) in &mut entries {
            let number = match width {
                4 => bytes.u32("an edge's data")?.into(),
                _ => bytes.u64("an edge's data")?,
            };
            *value = V::of_count(bytes.within(number, "a weight", V::COUNTS)?);
        }
    } else {
        // Some writers omit the padding at the end of the file.
        bytes.skip_at_most(fill)?;
    }
    bytes.end()?;
    Ok(Listing::of_graph(nodes as u32, Symmetry::General, width > 0, entries))
}
