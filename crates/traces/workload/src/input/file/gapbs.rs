//! Serialised graphs of the GAP benchmark suite, `.sg` and with weights `.wsg`: a byte that is
//! nonzero for directed graphs; edges and vertices, 64 bits each; the offsets of each vertex's
//! edges and their end, 64 bits each; the destination and the weight of each edge, 32 bits each;
//! then, for directed graphs, the same for incoming edges, which are skipped. Undirected graphs
//! list every edge twice.
//!
//! Beamer, Asanović and Patterson, *The GAP Benchmark Suite*: `reader.h`, `writer.h`.

use std::io::Read;

use super::bytes::Bytes;
use super::lines::Failure;
use super::{ENTRIES, Listing, NODES, Symmetry, Value};

pub fn read<V: Value>(reader: impl Read, weighted: bool) -> Result<Listing<V>, Failure> {
    let mut bytes = Bytes::new(reader);
    let directed = bytes.u8("a direction flag")?;
    let directed = bytes.within(directed.into(), "a direction flag", (0, 1))? == 1;
    let edges = bytes.count("a number of edges", ENTRIES)?;
    let nodes = bytes.count("a number of vertices", NODES)?;
    bytes.count("the beginning of the first vertex's edges", (0, 0))?;
    let ends = bytes.ends(nodes, edges)?;
    let mut entries = Vec::new();
    for (from, end) in (0..).zip(ends) {
        while (entries.len() as u64) < end {
            let to = bytes.u32("a vertex")?.into();
            let to = bytes.within(to, "a vertex", (0, nodes - 1))?;
            let weight = match weighted {
                true => weight(&mut bytes)?,
                false => V::ONE,
            };
            entries.push((from, to as u32, weight));
        }
    }
    if directed {
        let edge = if weighted { 8 } else { 4 };
        bytes.skip((nodes + 1) * 8 + edges * edge, "the incoming edges")?;
    }
    bytes.end()?;
    Ok(Listing::of_graph(nodes as u32, Symmetry::General, weighted, entries))
}

fn weight<V: Value>(bytes: &mut Bytes<impl Read>) -> Result<V, Failure> {
    let number = bytes.u32("a weight")?.into();
    Ok(V::of_count(bytes.within(number, "a weight", V::COUNTS)?))
}
