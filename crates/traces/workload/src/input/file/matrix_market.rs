//! MatrixMarket: `%%MatrixMarket matrix coordinate real general`, comments (`%`), `rows columns
//! entries`, then a line per entry: row and column from 1, and the value unless the field is
//! `pattern`.
//!
//! Two common deviations are accepted: a banner with one `%`, and a missing size line if the first
//! line cannot be mistaken for it.
//!
//! Boisvert, Pozo and Remington, *The Matrix Market Exchange Formats: Initial Design*, NISTIR 5935
//! (1996).

use std::cmp::Ordering;
use std::io::BufRead;

use super::lines::{Failure, Field, Fields, Lines};
use super::{ENTRIES, Listing, NODES, Symmetry, Value};

/// The value kind that the banner declares.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Real,
    Integer,
    Complex,
    Pattern,
}

/// Returns whether a text that begins with `head` is in this format.
pub fn is_in(head: &[u8]) -> bool {
    let word = head.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    BANNERS.iter().any(|banner| word.eq_ignore_ascii_case(banner.as_bytes()))
}

const BANNERS: [&str; 2] = ["%%MatrixMarket", "%MatrixMarket"];

pub fn read<V: Value>(reader: impl BufRead) -> Result<Listing<V>, Failure> {
    let mut lines = Lines::new(reader);
    let (kind, symmetry) = match lines.next()? {
        Some(mut banner) => banner_of::<V>(&mut banner)?,
        None => return Err(lines.refusal("the file is empty; valid: `%%MatrixMarket matrix …`")),
    };
    lines.skip_comments(b"%");
    if !lines.skip_to_filled()? {
        return Err(lines.refusal("the file ends where its size should be"));
    }
    let size = match is_entry(lines.fields(), kind) {
        true => None,
        false => Some(size_of(&mut lines.fields(), symmetry)?),
    };
    let mut matrix = Matrix { kind, symmetry, size, triangle: None, entries: Vec::new() };
    if size.is_none() {
        matrix.add(&mut lines.fields())?;
    }
    while let Some(mut fields) = lines.next_filled()? {
        matrix.add(&mut fields)?;
    }
    matrix.finish(&lines)
}

/// Returns whether the first line after the banner is an entry: a size line is three whole numbers.
fn is_entry(mut fields: Fields<'_>, kind: Kind) -> bool {
    let mut count = 0;
    let mut whole = true;
    while let Some(field) = fields.next() {
        count += 1;
        whole &= field.text.iter().all(u8::is_ascii_digit);
    }
    match kind {
        Kind::Pattern => count == 2,
        Kind::Integer => false,
        Kind::Real => count == 3 && !whole,
        Kind::Complex => count == 4,
    }
}

/// Rows, columns and the number of entries.
#[derive(Clone, Copy)]
struct Size {
    rows: u32,
    columns: u32,
    declared: u64,
}

/// A matrix that is being read.
struct Matrix<V> {
    kind: Kind,
    symmetry: Symmetry,
    /// `None` if the file omits it.
    size: Option<Size>,
    /// Triangle of the entries of a symmetric matrix so far.
    triangle: Option<Triangle>,
    entries: Vec<(u32, u32, V)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Triangle {
    Lower,
    Upper,
}

impl<V: Value> Matrix<V> {
    fn add(&mut self, fields: &mut Fields) -> Result<(), Failure> {
        let limit = Size { rows: NODES.1 as u32, columns: NODES.1 as u32, declared: ENTRIES.1 };
        let Size { rows, columns, declared } = self.size.unwrap_or(limit);
        let at = fields.clone().expect("an entry")?;
        if self.entries.len() as u64 == declared {
            let message = format!("more than the {declared} entries that the size line declares");
            return Err(at.refusal(message));
        }
        let row = fields.index("a row", rows)?;
        let column = fields.index("a column", columns)?;
        self.check_triangle((row, column), &at)?;
        let value = self.value(fields)?;
        self.entries.push((row, column, value));
        Ok(())
    }

    /// Refuses entries in both triangles of a symmetric matrix where repeats are summed, since an
    /// entry may then be meant once or twice.
    fn check_triangle(&mut self, (row, column): (u32, u32), at: &Field) -> Result<(), Failure> {
        if self.symmetry == Symmetry::General {
            return Ok(());
        }
        let triangle = match row.cmp(&column) {
            Ordering::Less => Triangle::Upper,
            Ordering::Greater => Triangle::Lower,
            Ordering::Equal if self.symmetry == Symmetry::Skew => {
                return Err(
                    at.refusal("the diagonal of a skew-symmetric matrix is 0 and not listed")
                );
            }
            Ordering::Equal => return Ok(()),
        };
        match *self.triangle.get_or_insert(triangle) == triangle {
            false if V::REAL => Err(at.refusal(
                "entries of both triangles; a symmetric matrix lists one of them, and one that lists both is general",
            )),
            _ => Ok(()),
        }
    }

    fn value(&self, fields: &mut Fields) -> Result<V, Failure> {
        let value = match self.kind {
            Kind::Pattern => V::ONE,
            Kind::Integer => V::whole(&fields.expect("a value")?)?,
            Kind::Real => V::from_real(fields.expect("a value")?.real()?),
            Kind::Complex => {
                fields.expect("a real part")?.real()?;
                fields.expect("an imaginary part")?.real()?;
                V::ONE
            }
        };
        fields.end(match self.kind {
            Kind::Pattern => "a row and a column",
            Kind::Integer | Kind::Real => "a row, a column and a value",
            Kind::Complex => "a row, a column and a value of two parts",
        })?;
        Ok(value)
    }

    fn finish(self, lines: &Lines<impl BufRead>) -> Result<Listing<V>, Failure> {
        let Matrix { kind, symmetry, size, entries, .. } = self;
        let found = entries.len() as u64;
        let mut notes = Vec::new();
        let (rows, columns) = match size {
            Some(size) if found < size.declared => {
                return Err(lines.ended(found, size.declared, "entries"));
            }
            Some(size) => (size.rows, size.columns),
            None => {
                notes.push("no size line: the size follows from the entries".to_owned());
                size_from(&entries, symmetry)
            }
        };
        let valued = kind == Kind::Integer || kind == Kind::Real && V::REAL;
        Ok(Listing { rows, columns, symmetry, bipartite: false, valued, entries, notes })
    }
}

/// Returns the smallest size that holds all entries; a square for graphs and symmetric matrices.
fn size_from<V: Value>(entries: &[(u32, u32, V)], symmetry: Symmetry) -> (u32, u32) {
    let rows = entries.iter().map(|(row, ..)| row + 1).max().unwrap_or(1);
    let columns = entries.iter().map(|(_, column, _)| column + 1).max().unwrap_or(1);
    match symmetry {
        Symmetry::General if V::REAL => (rows, columns),
        _ => (rows.max(columns), rows.max(columns)),
    }
}

fn banner_of<V: Value>(fields: &mut Fields) -> Result<(Kind, Symmetry), Failure> {
    let mut word = |what, valid| -> Result<(Field, String), Failure> {
        let field = fields.expect(&format!("{what} ({valid})"))?;
        Ok((field, String::from_utf8_lossy(field.text).to_ascii_lowercase()))
    };
    let (mark, _) = word("the banner", BANNERS[0])?;
    if !is_in(mark.text) {
        return Err(mark.is_not("the banner", BANNERS[0]));
    }
    let (object, text) = word("the object", "matrix")?;
    if text != "matrix" {
        return Err(object.is_not("a supported object", "matrix"));
    }
    let (format, text) = word("the format", "coordinate")?;
    if text != "coordinate" {
        return Err(format.is_not("a supported format", "coordinate (array files are dense)"));
    }
    const KINDS: &str = "real, integer, pattern";
    let (field, text) = word("the field", KINDS)?;
    let kind = match text.as_str() {
        "real" => Kind::Real,
        "integer" => Kind::Integer,
        "pattern" => Kind::Pattern,
        "complex" if !V::REAL => Kind::Complex,
        "complex" => {
            let valid = format!(
                "{KINDS}, as of the real parts (graphs take complex, as values do not matter)"
            );
            return Err(field.is_not("a field of 32-bit real values", valid));
        }
        _ => return Err(field.is_not("a supported field", KINDS)),
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
        ("hermitian", Kind::Complex) => Symmetry::Symmetric,
        ("hermitian", _) => {
            return Err(field.is_not("a symmetry of values that are not complex", SYMMETRIES));
        }
        _ => return Err(field.is_not("a symmetry", SYMMETRIES)),
    };
    fields.end("the banner's five words")?;
    Ok((kind, symmetry))
}

fn size_of(fields: &mut Fields, symmetry: Symmetry) -> Result<Size, Failure> {
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
    Ok(Size { rows: rows as u32, columns: of_columns as u32, declared })
}
