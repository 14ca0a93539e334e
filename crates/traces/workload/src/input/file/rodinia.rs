//! Input of Rodinia's `bfs`: the number of vertices; for each, the index of its first edge and its
//! number of edges; the source; the number of edges; for each, its destination and weight. White
//! space separates all numbers.
//!
//! Che et al., *Rodinia*, IISWC 2009: `bfs.cu`, `graphgen.cpp`.

use std::io::BufRead;

use super::lines::{Failure, Fields, Lines};
use super::{ENTRIES, Listing, NODES, Symmetry, Value};

/// Returns whether a text whose first non-blank line is `fields` is in this format: the number of
/// vertices is alone on its line.
pub fn is_in(mut fields: Fields<'_>) -> bool {
    let is_number = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    fields.next().is_some_and(|field| is_number(field.text)) && fields.next().is_none()
}

pub fn read<V: Value>(reader: impl BufRead) -> Result<Listing<V>, Failure> {
    let mut lines = Lines::new(reader);
    let nodes = alone(&mut lines, "the number of vertices", NODES)? as u32;
    let mut ends = Vec::new();
    let mut before = 0;
    for _ in 0..nodes {
        before = vertex(&mut lines, before)?;
        ends.push(before);
    }
    let source = alone(&mut lines, "the source", (0, u64::from(nodes) - 1))?;
    let edges = alone(&mut lines, "the number of edges", ENTRIES)?;
    if edges != before {
        let message = format!("{edges} edges where the vertices have {before}");
        return Err(lines.refusal(message));
    }
    let mut entries = Vec::new();
    for (from, end) in (0..).zip(ends) {
        while (entries.len() as u64) < end {
            let mut fields = filled(&mut lines, "an edge")?;
            let to = fields.count("a vertex", (0, u64::from(nodes) - 1))? as u32;
            let weight = V::whole(&fields.expect("a weight")?)?;
            fields.end("a vertex and a weight")?;
            entries.push((from, to, weight));
        }
    }
    if let Some(mut fields) = lines.next_filled()? {
        let message = format!("more than the {edges} edges that the file declares");
        return Err(fields.expect("an edge")?.refusal(message));
    }
    let mut listing = Listing::of_graph(nodes, Symmetry::General, true, entries);
    listing.notes.push(format!("the file's source {source} is ignored; see --source"));
    Ok(listing)
}

/// Reads a vertex; returns the end of its edges, which must begin at the end of the previous
/// vertex's.
fn vertex(lines: &mut Lines<impl BufRead>, before: u64) -> Result<u64, Failure> {
    let mut fields = filled(lines, "a vertex")?;
    fields
        .count("the number of the vertex's first edge, as in Rodinia's `bfs`", (before, before))?;
    let edges = fields.count("the number of the vertex's edges", (0, ENTRIES.1 - before))?;
    fields.end("the number of the first edge and of the edges")?;
    Ok(before + edges)
}

/// Reads a number that is alone on its line.
fn alone(lines: &mut Lines<impl BufRead>, what: &str, range: (u64, u64)) -> Result<u64, Failure> {
    let mut fields = filled(lines, what)?;
    let number = fields.count(what, range)?;
    fields.end(what)?;
    Ok(number)
}

fn filled<'a>(lines: &'a mut Lines<impl BufRead>, what: &str) -> Result<Fields<'a>, Failure> {
    match lines.skip_to_filled()? {
        true => Ok(lines.fields()),
        false => Err(lines.refusal(format!("the file ends where {what} should be"))),
    }
}
