//! Edge lists, as of SNAP: a line per edge with two vertices and an optional weight, separated by
//! blanks, tabs or commas; lines that begin with `#` or `%` are comments.
//!
//! Vertices keep their numbers, from 0: the highest number sets the size of the graph, and vertices
//! that no line names have no edges. If a number is too high for that, the named vertices are
//! renumbered.

use std::io::BufRead;

use super::ids::{Vertices, settle_both};
use super::lines::{Failure, Fields, Lines};
use super::{ENTRIES, Listing, Symmetry, Value};

pub fn read<V: Value>(reader: impl BufRead) -> Result<Listing<V>, Failure> {
    let mut lines = Lines::new(reader);
    lines.skip_comments(b"#%");
    lines.separate_by(b',');
    let mut entries = Vec::new();
    let (mut vertices, mut valued) = (Vertices::counted_from(0), None);
    while let Some(mut fields) = lines.next_filled()? {
        if entries.len() as u64 == ENTRIES.1 {
            return Err(fields.expect("an edge")?.refusal("more than 2^28 edges"));
        }
        fields.check_separators()?;
        let from = vertices.place(&fields.expect("a vertex")?)?;
        let to = vertices.place(&fields.expect("a vertex")?)?;
        let weighted = *valued.get_or_insert(fields.peek().is_some());
        let weight = if weighted { weight(&mut fields)? } else { V::ONE };
        fields.end(if weighted {
            "two vertices and a weight"
        } else {
            "two vertices, as the first one did"
        })?;
        entries.push((from, to, weight));
    }
    let Some(valued) = valued else { return Err(lines.refusal("the file names no vertex")) };
    let mut notes = Vec::new();
    let nodes = settle_both(vertices, &mut entries, &mut notes);
    let listing = Listing::of_graph(nodes, Symmetry::General, valued, entries);
    Ok(Listing { notes, ..listing })
}

fn weight<V: Value>(fields: &mut Fields) -> Result<V, Failure> {
    let field = fields.expect("a weight, as the first edge has one,")?;
    if V::REAL { field.real().map(V::from_real) } else { V::whole(&field) }
}
