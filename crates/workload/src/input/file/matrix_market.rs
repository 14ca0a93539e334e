//! MatrixMarket: `%%MatrixMarket matrix coordinate real general`, comments (`%`), `rows columns entries`,
//! then a line per entry: row and column from 1, and the value unless the field is `pattern`.
//!
//! Boisvert, Pozo and Remington, *The Matrix Market Exchange Formats: Initial Design*, NISTIR 5935 (1996).

use std::io::BufRead;

use super::lines::{Failure, Field, Fields, Lines};
use super::{ENTRIES, Listing, NODES, Symmetry, Value};

/// What the file says its values are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Real,
    Integer,
    Pattern,
}

pub fn read<V: Value>(reader: impl BufRead) -> Result<Listing<V>, Failure> {
    let mut lines = Lines::new(reader);
    let (kind, symmetry) = match lines.next()? {
        Some(mut banner) => banner_of(&mut banner)?,
        None => return Err(lines.refusal("the file is empty; valid: `%%MatrixMarket matrix …`")),
    };
    lines.skip_comments(b"%");
    let (rows, columns, declared) = match lines.next_filled()? {
        Some(mut fields) => size_of(&mut fields, symmetry)?,
        None => return Err(lines.refusal("the file ends where its size should be")),
    };
    let valued = kind == Kind::Integer || kind == Kind::Real && V::REAL;
    let mut listing = Listing { rows, columns, symmetry, valued, entries: Vec::new() };
    while let Some(mut fields) = lines.next_filled()? {
        if listing.entries.len() as u64 == declared {
            let message = format!("more than the {declared} entries that the size line declares");
            return Err(fields.expect("an entry")?.refusal(message));
        }
        listing.entries.push(entry(&mut fields, (rows, columns), kind, symmetry)?);
    }
    match listing.entries.len() as u64 {
        found if found < declared => Err(lines.ended(found, declared, "entries")),
        _ => Ok(listing),
    }
}

fn banner_of(fields: &mut Fields) -> Result<(Kind, Symmetry), Failure> {
    let mut word = |what, valid| -> Result<(Field, String), Failure> {
        let field = fields.expect(&format!("{what} ({valid})"))?;
        Ok((field, String::from_utf8_lossy(field.text).to_ascii_lowercase()))
    };
    let (mark, text) = word("the banner", "%%MatrixMarket")?;
    if text != "%%matrixmarket" {
        return Err(mark.is_not("the banner", "%%MatrixMarket"));
    }
    let (object, text) = word("the object", "matrix")?;
    if text != "matrix" {
        return Err(object.is_not("an object that is read", "matrix"));
    }
    let (format, text) = word("the format", "coordinate")?;
    if text != "coordinate" {
        return Err(format.is_not("a format that is read", "coordinate (array files are dense)"));
    }
    const KINDS: &str = "real, integer, pattern";
    let (field, text) = word("the field", KINDS)?;
    let kind = match text.as_str() {
        "real" => Kind::Real,
        "integer" => Kind::Integer,
        "pattern" => Kind::Pattern,
        _ => return Err(field.is_not("a field that is read", KINDS)),
    };
    const SYMMETRIES: &str = "general, symmetric, skew-symmetric";
    let (field, text) = word("the symmetry", SYMMETRIES)?;
    let symmetry = match (text.as_str(), kind) {
        ("general", _) => Symmetry::General,
        ("symmetric", _) => Symmetry::Symmetric,
        ("skew-symmetric", Kind::Pattern) => {
            return Err(field.is_not("a symmetry of a pattern", "general, symmetric"));
        }
        ("skew-symmetric", _) => Symmetry::Skew,
        ("hermitian", _) => {
            return Err(field.is_not("a symmetry of what is not complex", SYMMETRIES));
        }
        _ => return Err(field.is_not("a symmetry", SYMMETRIES)),
    };
    fields.end("the banner's five words")?;
    Ok((kind, symmetry))
}

fn size_of(fields: &mut Fields, symmetry: Symmetry) -> Result<(u32, u32, u64), Failure> {
    let rows = fields.count("a number of rows", NODES)?;
    let columns = fields.expect("the number of columns")?;
    let of_columns = columns.count("a number of columns", NODES)?;
    if symmetry != Symmetry::General && of_columns != rows {
        return Err(columns.refusal(format_args!(
            "{rows} rows and {of_columns} columns cannot be symmetric; valid: {rows} columns"
        )));
    }
    let declared = fields.count("a number of entries", ENTRIES)?;
    fields.end("rows, columns and entries")?;
    Ok((rows as u32, of_columns as u32, declared))
}

fn entry<V: Value>(
    fields: &mut Fields,
    (rows, columns): (u32, u32),
    kind: Kind,
    symmetry: Symmetry,
) -> Result<(u32, u32, V), Failure> {
    let at = fields.peek();
    let row = fields.index("a row", rows)?;
    let column = fields.index("a column", columns)?;
    let misplaced = match symmetry {
        Symmetry::General => None,
        Symmetry::Symmetric if row < column => Some("symmetric matrices list only row ≥ column"),
        Symmetry::Skew if row <= column => Some("skew-symmetric matrices list only row > column"),
        Symmetry::Symmetric | Symmetry::Skew => None,
    };
    if let (Some(at), Some(message)) = (at, misplaced) {
        return Err(at.refusal(message));
    }
    let value = match kind {
        Kind::Pattern => V::ONE,
        Kind::Integer => V::whole(&fields.expect("a value")?)?,
        Kind::Real => V::from_real(fields.expect("a value")?.real()?),
    };
    fields.end(match kind {
        Kind::Pattern => "a row and a column",
        Kind::Integer | Kind::Real => "a row, a column and a value",
    })?;
    Ok((row, column, value))
}
