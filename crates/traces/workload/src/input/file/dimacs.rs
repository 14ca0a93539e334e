//! DIMACS: comments (`c`), one line `p KIND VERTICES EDGES`, then a line per edge; vertices from 1.
//!
//! - Shortest paths, `p sp`: `a FROM TO WEIGHT`. 9th DIMACS Implementation Challenge (2006),
//!   *Challenge file formats*.
//! - Maximum flow, `p max`: the same with capacities; nodes (`n`) are skipped.
//! - Colouring and cliques, `p edge` or `p col`: `e ONE OTHER`, undirected. 2nd DIMACS Implementation
//!   Challenge (1993), *Satisfiability: suggested format*. Some files list every edge from both ends;
//!   others declare twice the edges that they list.

use std::io::BufRead;

use super::lines::{Failure, Fields, Lines};
use super::{ENTRIES, Listing, NODES, Symmetry, Value};

/// A problem kind.
struct Kind {
    names: &'static [&'static str],
    /// First field of an edge line.
    mark: &'static str,
    edge: &'static str,
    symmetry: Symmetry,
    weighted: bool,
    /// First fields of lines to skip.
    others: &'static [&'static str],
}

const KINDS: [Kind; 3] = [
    Kind {
        names: &["sp"],
        mark: "a",
        edge: "arc",
        symmetry: Symmetry::General,
        weighted: true,
        others: &[],
    },
    Kind {
        names: &["max"],
        mark: "a",
        edge: "arc",
        symmetry: Symmetry::General,
        weighted: true,
        others: &["n"],
    },
    Kind {
        names: &["edge", "edges", "col"],
        mark: "e",
        edge: "edge",
        symmetry: Symmetry::Symmetric,
        weighted: false,
        others: &["n", "d", "v", "x"],
    },
];

/// Returns whether a text that begins with `head` is in this format.
pub fn is_in(head: &[u8]) -> bool {
    let mut lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let problem = lines.find(|line| !line.is_empty() && line[0] != b'c');
    let mut words = problem.unwrap_or_default().split(u8::is_ascii_whitespace);
    words.next() == Some(b"p") && words.next().is_some_and(|name| kind(name).is_some())
}

fn kind(name: &[u8]) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.names.iter().any(|known| known.as_bytes() == name))
}

pub fn read<V: Value>(reader: impl BufRead) -> Result<Listing<V>, Failure> {
    let mut lines = Lines::new(reader);
    lines.skip_comments(b"c");
    let Problem { kind, nodes, declared } = match lines.next_filled()? {
        Some(mut fields) => problem_of(&mut fields)?,
        None => return Err(lines.refusal(format!("the file ends where `{PROBLEM}` should be"))),
    };
    let mut entries = Vec::new();
    while let Some(mut fields) = lines.next_filled()? {
        let mark = fields.expect("an edge")?;
        let is_other = |other: &&str| mark.text == other.as_bytes();
        if kind.others.iter().any(is_other) {
            continue;
        }
        if mark.text != kind.mark.as_bytes() {
            let valid = format!("{} ({}), c (comment)", kind.mark, kind.edge);
            return Err(mark.is_not("a kind of line", valid));
        }
        if entries.len() as u64 == declared {
            let message =
                format!("more than the {declared} {}s that the problem line declares", kind.edge);
            return Err(mark.refusal(message));
        }
        entries.push(edge(&mut fields, kind, nodes)?);
    }
    let found = entries.len() as u64;
    let is_half = kind.symmetry == Symmetry::Symmetric && 2 * found == declared;
    if found < declared && !is_half {
        return Err(lines.ended(found, declared, &format!("{}s", kind.edge)));
    }
    Ok(Listing::of_graph(nodes, kind.symmetry, kind.weighted, entries))
}

const PROBLEM: &str = "p sp VERTICES ARCS";

/// The content of the problem line.
struct Problem {
    kind: &'static Kind,
    nodes: u32,
    /// Declared edges.
    declared: u64,
}

fn problem_of(fields: &mut Fields) -> Result<Problem, Failure> {
    const VALID: &str = "p sp, p max, p edge or p col with VERTICES and EDGES";
    let mark = fields.expect("`p`")?;
    if mark.text != b"p" {
        return Err(mark.is_not("the problem line", VALID));
    }
    let name = fields.expect("the kind of problem")?;
    let Some(kind) = kind(name.text) else { return Err(name.is_not("the problem line", VALID)) };
    let nodes = fields.count("a number of vertices", NODES)? as u32;
    let declared = fields.count(&format!("a number of {}s", kind.edge), ENTRIES)?;
    fields.end(&format!("`p`, the kind, vertices and {}s", kind.edge))?;
    Ok(Problem { kind, nodes, declared })
}

fn edge<V: Value>(fields: &mut Fields, kind: &Kind, nodes: u32) -> Result<(u32, u32, V), Failure> {
    let (from, to) = (fields.index("a vertex", nodes)?, fields.index("a vertex", nodes)?);
    if !kind.weighted {
        fields.end("`e` and two vertices")?;
        return Ok((from, to, V::ONE));
    }
    let weight = V::whole(&fields.expect("a weight")?)?;
    fields.end("`a`, two vertices and a weight")?;
    Ok((from, to, weight))
}
