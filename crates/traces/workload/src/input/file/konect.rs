//! KONECT: `% FORMAT WEIGHTS`, where `FORMAT` is `sym` (undirected), `asym` (directed) or `bip`
//! (bipartite, both sides numbered from 1); optionally `% EDGES LEFT RIGHT`; then a line per edge
//! with its vertices from 1, an optional weight, and an optional time, which is skipped.
//!
//! Kunegis, *Handbook of Network Analysis: The KONECT Project*, section 9.

use std::io::BufRead;

use super::ids::{Vertices, settle_both};
use super::lines::{Failure, Field, Fields, Lines};
use super::{ENTRIES, Listing, Symmetry, Value};

/// Returns whether a text that begins with `head` is in this format.
pub fn is_in(head: &[u8]) -> bool {
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.next() == Some(b"%") && matches!(words.next(), Some(b"sym" | b"asym" | b"bip"))
}

/// Weight kinds, and whether they are values of the edges.
const WEIGHTS: [(&str, bool); 9] = [
    ("unweighted", false),
    ("positive", true),
    ("posweighted", true),
    ("signed", true),
    ("multisigned", true),
    ("weighted", true),
    ("multiweighted", true),
    ("dynamic", false),
    ("multiposweighted", true),
];

/// The content of the first line.
struct Header {
    symmetry: Symmetry,
    bipartite: bool,
    valued: bool,
}

pub fn read<V: Value>(reader: impl BufRead) -> Result<Listing<V>, Failure> {
    let mut lines = Lines::new(reader);
    let header = match lines.next()? {
        Some(mut fields) => header_of(&mut fields)?,
        None => return Err(lines.refusal("the file is empty; valid: `% FORMAT WEIGHTS`")),
    };
    lines.skip_comments(b"%");
    let (mut left, mut right) = (Vertices::counted_from(1), Vertices::counted_from(1));
    let mut entries = Vec::new();
    while let Some(mut fields) = lines.next_filled()? {
        if entries.len() as u64 == ENTRIES.1 {
            return Err(fields.expect("an edge")?.refusal("more than 2^28 edges"));
        }
        let from = left.place(&fields.expect("a vertex")?)?;
        let of_second = if header.bipartite { &mut right } else { &mut left };
        let to = of_second.place(&fields.expect("a vertex")?)?;
        entries.push((from, to, value(&mut fields, &header)?));
    }
    if entries.is_empty() {
        return Err(lines.refusal("the file names no vertex"));
    }
    let Header { symmetry, bipartite, valued } = header;
    let mut notes = Vec::new();
    let (rows, columns) = if bipartite {
        let rows = left.settle(&mut notes, |visit| {
            entries.iter_mut().for_each(|(from, ..)| visit(from));
        });
        let columns = right.settle(&mut notes, |visit| {
            entries.iter_mut().for_each(|(_, to, _)| visit(to));
        });
        (rows, columns)
    } else {
        let nodes = settle_both(left, &mut entries, &mut notes);
        (nodes, nodes)
    };
    let valued = valued && V::REAL;
    Ok(Listing { rows, columns, symmetry, bipartite, valued, entries, notes })
}

fn header_of(fields: &mut Fields) -> Result<Header, Failure> {
    let mark = fields.expect("`%`")?;
    if mark.text != b"%" {
        return Err(mark.is_not("the beginning of a header", "% FORMAT WEIGHTS"));
    }
    let format = fields.expect("the format (sym, asym, bip)")?;
    let (symmetry, bipartite) = match format.text {
        b"sym" => (Symmetry::Symmetric, false),
        b"asym" => (Symmetry::General, false),
        b"bip" => (Symmetry::General, true),
        _ => return Err(format.is_not("a format", "sym, asym, bip")),
    };
    let weights = fields.expect("the kind of weights")?;
    let known = WEIGHTS.iter().find(|(name, _)| weights.text == name.as_bytes());
    let Some(&(_, valued)) = known else {
        let names = WEIGHTS.map(|(name, _)| name).join(", ");
        return Err(weights.is_not("a kind of weights", names));
    };
    Ok(Header { symmetry, bipartite, valued })
}

/// Reads the value of an edge from the remaining fields of its line: an optional weight and an
/// optional time.
fn value<V: Value>(fields: &mut Fields, header: &Header) -> Result<V, Failure> {
    let weight = fields.next().map(|field: Field| field.real()).transpose()?;
    if let Some(time) = fields.next() {
        time.real()?;
    }
    fields.end("two vertices, a weight and a time")?;
    Ok(weight.filter(|_| header.valued).map_or(V::ONE, V::from_real))
}
