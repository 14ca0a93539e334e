//! METIS: comments (`%`), `VERTICES EDGES [FORMAT [WEIGHTS]]`, then a line per vertex with its
//! neighbours, from 1; every edge is listed from both ends. `FORMAT` has up to three digits:
//! whether vertices have sizes, whether they have weights (`WEIGHTS` of them), and whether edges
//! have weights. Sizes and weights of vertices are skipped.
//!
//! Karypis, *METIS: A Software Package for Partitioning Unstructured Graphs*, version 5.1.0,
//! section 4.1.1.

use std::io::BufRead;

use super::lines::{Failure, Fields, Lines};
use super::{ENTRIES, Listing, NODES, Symmetry, Value};

struct Header {
    nodes: u32,
    edges: u64,
    /// Numbers before a vertex's neighbours.
    of_vertex: u64,
    weighted: bool,
}

pub fn read<V: Value>(reader: impl BufRead) -> Result<Listing<V>, Failure> {
    let mut lines = Lines::new(reader);
    lines.skip_comments(b"%");
    let header = match lines.next_filled()? {
        Some(mut fields) => header_of(&mut fields)?,
        None => return Err(lines.refusal("the file ends where `VERTICES EDGES` should be")),
    };
    let nodes = header.nodes;
    let mut entries = Vec::new();
    for vertex in 0..nodes {
        match lines.next()? {
            Some(mut fields) => neighbours(&mut fields, vertex, &header, &mut entries)?,
            None => return Err(lines.ended(u64::from(vertex), u64::from(nodes), "vertices")),
        }
    }
    if let Some(mut fields) = lines.next_filled()? {
        let message = format!("more lines than the {nodes} vertices that the header declares");
        return Err(fields.expect("a vertex")?.refusal(message));
    }
    let (found, edges) = (entries.len() as u64, header.edges);
    if found != 2 * edges {
        return Err(lines.refusal(format!(
            "{found} neighbours where the header's {edges} edges, named from both ends, make {}",
            2 * edges
        )));
    }
    Ok(Listing::of_graph(nodes, Symmetry::General, header.weighted, entries))
}

fn header_of(fields: &mut Fields) -> Result<Header, Failure> {
    let nodes = fields.count("a number of vertices", NODES)? as u32;
    let edges = fields.count("a number of edges", (0, ENTRIES.1 / 2))?;
    let mut has = [false; 3];
    if let Some(format) = fields.next() {
        let digits = format.text;
        if digits.len() > 3 || digits.iter().any(|digit| !b"01".contains(digit)) {
            return Err(format.is_not("a format", "up to three digits 0 or 1"));
        }
        for (has, digit) in has.iter_mut().rev().zip(digits.iter().rev()) {
            *has = *digit == b'1';
        }
    }
    let [sizes, weights, weighted] = has;
    let constraints = match fields.next() {
        Some(field) => field.count("a number of vertex weights", (0, 32))?,
        None => 1,
    };
    fields.end("vertices, edges, format and number of vertex weights")?;
    let of_vertex = u64::from(sizes) + if weights { constraints } else { 0 };
    Ok(Header { nodes, edges, of_vertex, weighted })
}

fn neighbours<V: Value>(
    fields: &mut Fields,
    vertex: u32,
    header: &Header,
    entries: &mut Vec<(u32, u32, V)>,
) -> Result<(), Failure> {
    for _ in 0..header.of_vertex {
        fields.expect("a size or weight of the vertex")?.whole()?;
    }
    while let Some(field) = fields.next() {
        if entries.len() as u64 == 2 * header.edges {
            return Err(field.refusal(format_args!(
                "more neighbours than the header's {} edges, named from both ends, make",
                header.edges
            )));
        }
        let to = field.count("a vertex", (1, u64::from(header.nodes)))? as u32 - 1;
        let weight = match header.weighted {
            true => V::whole(&fields.expect("the edge's weight")?)?,
            false => V::ONE,
        };
        entries.push((vertex, to, weight));
    }
    Ok(())
}
