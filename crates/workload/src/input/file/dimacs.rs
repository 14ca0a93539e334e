//! DIMACS shortest paths: comments (`c`), one `p sp VERTICES ARCS`, then a line `a FROM TO WEIGHT` per arc;
//! vertices from 1.
//!
//! 9th DIMACS Implementation Challenge (2006), *Challenge file formats*: `.gr`.

use std::io::BufRead;

use super::lines::{Failure, Fields, Lines};
use super::{ENTRIES, Listing, NODES, Symmetry, Value};

pub fn read<V: Value>(reader: impl BufRead) -> Result<Listing<V>, Failure> {
    let mut lines = Lines::new(reader);
    lines.skip_comments(b"c");
    let (nodes, declared) = match lines.next_filled()? {
        Some(mut fields) => problem_of(&mut fields)?,
        None => return Err(lines.refusal("the file ends where `p sp VERTICES ARCS` should be")),
    };
    let mut entries = Vec::new();
    while let Some(mut fields) = lines.next_filled()? {
        let kind = fields.expect("an arc")?;
        if kind.text != b"a" {
            return Err(kind.is_not("a kind of line", "a (arc), c (comment)"));
        }
        if entries.len() as u64 == declared {
            let message = format!("more than the {declared} arcs that the problem line declares");
            return Err(kind.refusal(message));
        }
        let (from, to) = (fields.index("a vertex", nodes)?, fields.index("a vertex", nodes)?);
        let weight = V::whole(&fields.expect("a weight")?)?;
        fields.end("`a`, two vertices and a weight")?;
        entries.push((from, to, weight));
    }
    match entries.len() as u64 {
        found if found < declared => Err(lines.ended(found, declared, "arcs")),
        _ => {
            let symmetry = Symmetry::General;
            Ok(Listing { rows: nodes, columns: nodes, symmetry, valued: true, entries })
        }
    }
}

fn problem_of(fields: &mut Fields) -> Result<(u32, u64), Failure> {
    for word in ["p", "sp"] {
        let field = fields.expect(&format!("`{word}`"))?;
        if field.text != word.as_bytes() {
            return Err(field.is_not("the problem line", "p sp VERTICES ARCS"));
        }
    }
    let nodes = fields.count("a number of vertices", NODES)?;
    let declared = fields.count("a number of arcs", ENTRIES)?;
    fields.end("`p sp`, vertices and arcs")?;
    Ok((nodes as u32, declared))
}
