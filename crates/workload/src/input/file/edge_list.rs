//! Edge lists, as of SNAP: a line per edge with two vertices and perhaps a weight, between them blanks, tabs
//! or commas; lines that begin with `#` or `%` are comments.
//!
//! Vertices are taken as they are numbered, from 0: there are as many as the highest number says, and those
//! that no line names have no edges.

use std::io::BufRead;

use super::lines::{Failure, Fields, Lines};
use super::{ENTRIES, Listing, NODES, Symmetry, Value};

pub fn read<V: Value>(reader: impl BufRead) -> Result<Listing<V>, Failure> {
    let mut lines = Lines::new(reader);
    lines.skip_comments(b"#%");
    lines.separate_by(b',');
    let mut entries = Vec::new();
    let (mut nodes, mut valued) = (0, None);
    while let Some(mut fields) = lines.next_filled()? {
        if entries.len() as u64 == ENTRIES.1 {
            return Err(fields.expect("an edge")?.refusal("more than 2^28 edges"));
        }
        fields.check_separators()?;
        let (from, to) = (vertex(&mut fields)?, vertex(&mut fields)?);
        nodes = nodes.max(from + 1).max(to + 1);
        let weighted = *valued.get_or_insert(fields.peek().is_some());
        let weight = if weighted { weight(&mut fields)? } else { V::ONE };
        fields.end(if weighted {
            "two vertices and a weight"
        } else {
            "two vertices, as the first one did"
        })?;
        entries.push((from, to, weight));
    }
    if nodes == 0 {
        return Err(lines.refusal("the file names no vertex"));
    }
    let valued = valued.unwrap_or(false);
    Ok(Listing { rows: nodes, columns: nodes, symmetry: Symmetry::General, valued, entries })
}

fn vertex(fields: &mut Fields) -> Result<u32, Failure> {
    Ok(fields.count("a vertex", (0, NODES.1 - 1))? as u32)
}

fn weight<V: Value>(fields: &mut Fields) -> Result<V, Failure> {
    let field = fields.expect("a weight, as the first edge has one,")?;
    if V::REAL { field.real().map(V::from_real) } else { V::whole(&field) }
}
