//! Reads the lines of a text and the fields of a line, one at a time, for all file readers.

use std::fmt::{self, Display};
use std::io::{self, BufRead, Read};

use crate::parameters::show_count;
use crate::stop;

/// Longest line, bytes: a line of a METIS file holds all neighbours of a vertex.
const MAX_LINE: u64 = 64 << 20;

/// A position in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a text; lines and columns (bytes) count from 1.
    Line { line: u64, column: usize },
    /// In a binary file, from 0.
    Byte(u64),
}

impl Place {
    /// Returns the line or byte as text.
    pub fn unit(self) -> String {
        match self {
            Place::Line { line, .. } => format!("line {line}"),
            Place::Byte(byte) => format!("byte {byte}"),
        }
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line { line, column } => write!(f, ":{line}:{column}"),
            Place::Byte(byte) => write!(f, ": byte {byte}"),
        }
    }
}

/// Failure to read a file; [`super::InputError`] once its name is known.
#[derive(Debug)]
pub enum Failure {
    /// Reading failed after a position.
    Read {
        after: Place,
        source: io::Error,
    },
    Malformed {
        at: Place,
        message: String,
    },
}

fn malformed(line: u64, column: usize, message: String) -> Failure {
    Failure::Malformed { at: Place::Line { line, column }, message }
}

/// The lines of a text, one in memory at a time.
pub struct Lines<R> {
    reader: R,
    line: Vec<u8>,
    number: u64,
    /// First bytes of lines to skip.
    comments: &'static [u8],
    /// Field separator besides white space.
    separator: u8,
}

impl<R: BufRead> Lines<R> {
    pub fn new(reader: R) -> Lines<R> {
        Lines { reader, line: Vec::new(), number: 0, comments: b"", separator: b' ' }
    }

    /// Skips lines that begin with one of `marks` from now on.
    pub fn skip_comments(&mut self, marks: &'static [u8]) {
        self.comments = marks;
    }

    /// Treats `byte` as white space.
    pub fn separate_by(&mut self, byte: u8) {
        self.separator = byte;
    }

    /// Returns the next line that is not a comment.
    pub fn next(&mut self) -> Result<Option<Fields<'_>>, Failure> {
        loop {
            if !self.advance()? {
                return Ok(None);
            }
            if !self.line.first().is_some_and(|first| self.comments.contains(first)) {
                return Ok(Some(self.fields()));
            }
        }
    }

    /// Returns the next line that is neither a comment nor blank.
    pub fn next_filled(&mut self) -> Result<Option<Fields<'_>>, Failure> {
        Ok(self.skip_to_filled()?.then(|| self.fields()))
    }

    /// Advances to the next line that is neither a comment nor blank; false if there is none.
    pub fn skip_to_filled(&mut self) -> Result<bool, Failure> {
        while let Some(fields) = self.next()? {
            if fields.peek().is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn advance(&mut self) -> Result<bool, Failure> {
        stop::check();
        self.line.clear();
        let read = (&mut self.reader).take(MAX_LINE + 1).read_until(b'\n', &mut self.line);
        let bytes = read.map_err(|source| {
            let after = Place::Line { line: self.number, column: 1 };
            Failure::Read { after, source }
        })? as u64;
        if bytes == 0 {
            return Ok(false);
        }
        self.number += 1;
        if bytes > MAX_LINE {
            let most = show_count(MAX_LINE);
            return Err(self.refusal(format!("the line is longer than {most} bytes")));
        }
        Ok(true)
    }

    /// Returns the fields of the current line.
    pub fn fields(&self) -> Fields<'_> {
        Fields { line: &self.line, at: 0, number: self.number, separator: self.separator }
    }

    /// Returns an error at the current line.
    pub fn refusal(&self, message: impl Into<String>) -> Failure {
        malformed(self.number.max(1), 1, message.into())
    }

    /// Returns the error for a text that ends early.
    pub fn ended(&self, found: u64, declared: u64, what: &str) -> Failure {
        self.refusal(format!("the file ends after {found} of {declared} {what}"))
    }
}

/// A field of a line, between white space.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    pub text: &'a [u8],
    line: u64,
    column: usize,
}

impl Field<'_> {
    /// Returns the text for messages, shortened.
    pub fn shown(&self) -> String {
        const MOST: usize = 40;
        let text = String::from_utf8_lossy(&self.text[..self.text.len().min(MOST)]);
        let rest = if self.text.len() > MOST { "…" } else { "" };
        format!("`{}{rest}`", text.escape_debug())
    }

    pub fn refusal(&self, message: impl Display) -> Failure {
        malformed(self.line, self.column, message.to_string())
    }

    /// Returns an error that the field is not `what`.
    pub fn is_not(&self, what: &str, valid: impl Display) -> Failure {
        self.refusal(format_args!("{} is not {what}; valid: {valid}", self.shown()))
    }

    fn digits(&self) -> Option<u64> {
        let digit = |number: u64, &byte: &u8| match byte {
            b'0'..=b'9' => number.checked_mul(10)?.checked_add(u64::from(byte - b'0')),
            _ => None,
        };
        self.text.iter().try_fold(0, digit)
    }

    /// Parses a number from `first` to `last`.
    pub fn count(&self, what: &str, (first, last): (u64, u64)) -> Result<u64, Failure> {
        match self.digits() {
            Some(number) if (first..=last).contains(&number) => Ok(number),
            _ => Err(self.is_not(what, format_args!("{first} to {last}"))),
        }
    }

    /// Parses an integer.
    pub fn whole(&self) -> Result<i64, Failure> {
        let parsed = std::str::from_utf8(self.text).ok().and_then(|text| text.parse().ok());
        parsed.ok_or_else(|| self.refusal(format_args!("{} is not a whole number", self.shown())))
    }

    /// Parses a finite number, also in Fortran's notation.
    pub fn real(&self) -> Result<f32, Failure> {
        let text = std::str::from_utf8(self.text).ok();
        let parsed = text.and_then(|text| text.parse().ok().or_else(|| fortran(text)));
        parsed.filter(|number: &f32| number.is_finite()).ok_or_else(|| {
            self.refusal(format_args!("{} is not a finite number (32-bit)", self.shown()))
        })
    }
}

/// Parses Fortran's notation: `1.0D+00` in double precision, `1.0-100` with an exponent of three
/// digits.
fn fortran(text: &str) -> Option<f32> {
    let at = text.rfind(['d', 'D', '+', '-']).filter(|&at| at > 0)?;
    let (mantissa, exponent) = text.split_at(at);
    let (mantissa, exponent) = match exponent.strip_prefix(['d', 'D']) {
        Some(exponent) => (mantissa, exponent),
        None => (mantissa.strip_suffix(['d', 'D']).unwrap_or(mantissa), exponent),
    };
    format!("{mantissa}e{exponent}").parse().ok()
}

/// The fields of one line.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    line: &'a [u8],
    at: usize,
    number: u64,
    separator: u8,
}

impl<'a> Fields<'a> {
    pub fn next(&mut self) -> Option<Field<'a>> {
        let separates = |byte: &u8| byte.is_ascii_whitespace() || *byte == self.separator;
        let rest = &self.line[self.at..];
        let start = self.at + rest.iter().position(|byte| !separates(byte))?;
        let rest = &self.line[start..];
        let end = start + rest.iter().position(separates).unwrap_or(rest.len());
        self.at = end;
        Some(Field { text: &self.line[start..end], line: self.number, column: start + 1 })
    }

    /// Returns the next field without consuming it.
    pub fn peek(&self) -> Option<Field<'a>> {
        self.clone().next()
    }

    /// Returns the next field, which must exist; `what` names it in errors.
    pub fn expect(&mut self, what: &str) -> Result<Field<'a>, Failure> {
        self.next().ok_or_else(|| {
            let column = self.line.trim_ascii_end().len() + 1;
            malformed(self.number, column, format!("the line ends where {what} should be"))
        })
    }

    /// Parses the next field as a number from `first` to `last`.
    pub fn count(&mut self, what: &str, range: (u64, u64)) -> Result<u64, Failure> {
        self.expect(what)?.count(what, range)
    }

    /// Parses the next field as one of `count` indices that the file numbers from 1.
    pub fn index(&mut self, what: &str, count: u32) -> Result<u32, Failure> {
        Ok(self.count(what, (1, u64::from(count)))? as u32 - 1)
    }

    /// Refuses empty columns: separators with nothing before or after them.
    pub fn check_separators(&self) -> Result<(), Failure> {
        let (mut is_filled, mut last) = (false, None);
        for (at, &byte) in self.line.iter().enumerate() {
            if byte == self.separator {
                if !std::mem::take(&mut is_filled) {
                    return Err(self.nothing(at));
                }
                last = Some(at);
            } else if !byte.is_ascii_whitespace() {
                is_filled = true;
            }
        }
        last.filter(|_| !is_filled).map_or(Ok(()), |at| Err(self.nothing(at + 1)))
    }

    fn nothing(&self, at: usize) -> Failure {
        let message = format!("a value is missing next to `{}`", self.separator as char);
        malformed(self.number, at + 1, message)
    }

    /// Refuses further fields.
    pub fn end(&mut self, holds: &str) -> Result<(), Failure> {
        match self.next() {
            None => Ok(()),
            Some(field) => {
                let shown = field.shown();
                Err(field.refusal(format_args!("{shown} is unexpected: the line holds {holds}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn malformed(failure: Failure) -> (u64, usize, String) {
        match failure {
            Failure::Malformed { at: Place::Line { line, column }, message } => {
                (line, column, message)
            }
            other => panic!("{other:?}"),
        }
    }

    fn line(text: &str) -> Fields<'_> {
        Fields { line: text.as_bytes(), at: 0, number: 3, separator: b' ' }
    }

    #[test]
    fn comments_are_skipped_and_line_numbers_kept() {
        let mut lines = Lines::new(&b"% head\r\n%\n\n 1\t22 \r\n%\n3"[..]);
        lines.skip_comments(b"#%");
        let blank = lines.next().unwrap().unwrap();
        assert!(blank.peek().is_none());
        let mut fields = lines.next().unwrap().unwrap();
        let found: Vec<_> = std::iter::from_fn(|| fields.next())
            .map(|field| (field.text, field.line, field.column))
            .collect();
        assert_eq!(found, [(&b"1"[..], 4, 2), (&b"22"[..], 4, 4)]);
        assert_eq!(lines.next_filled().unwrap().unwrap().next().unwrap().line, 6);
        assert!(lines.next().unwrap().is_none());
    }

    #[test]
    fn fields_may_have_a_separator_besides_white_space() {
        let mut lines = Lines::new(&b"1,2\n3, 4"[..]);
        assert_eq!(lines.next().unwrap().unwrap().next().unwrap().text, b"1,2");
        lines.separate_by(b',');
        let mut fields = lines.next().unwrap().unwrap();
        assert_eq!(fields.next().unwrap().text, b"3");
        assert_eq!(fields.next().unwrap().text, b"4");
    }

    #[test]
    fn numbers_are_digits_within_their_range() {
        let count = |text| line(text).count("a row", (1, 20)).map_err(malformed);
        assert_eq!(count(" 007 x").unwrap(), 7);
        for text in ["0", "21", "-1", "+1", "1.0", "x", "99999999999999999999"] {
            let message = format!("`{text}` is not a row; valid: 1 to 20");
            assert_eq!(count(text), Err((3, 1, message)));
        }
        let message = "the line ends where a row should be".to_owned();
        assert_eq!(count("  "), Err((3, 1, message)));
    }

    #[test]
    fn reals_are_finite() {
        let real = |text| {
            let field = line(text).next().unwrap();
            field.real().map_err(|failure| malformed(failure).2)
        };
        assert_eq!(real("-2.5e-1"), Ok(-0.25));
        for (text, number) in
            [("1.0D+00", 1.0), ("-2.5d-1", -0.25), ("2D2", 200.0), ("1.5-100", 0.0), ("5+1", 50.0)]
        {
            assert_eq!(real(text), Ok(number), "{text}");
        }
        for text in ["D1", "1D", "1-", "-", "1DD1", "1.0D+-1", "1D39", "1.5+100"] {
            assert!(real(text).is_err(), "{text}");
        }
        for text in ["nan", "inf", "-inf", "1e39", "1,5", "0x1", "\u{fe}"] {
            assert_eq!(real(text), Err(format!("`{text}` is not a finite number (32-bit)")));
        }
    }

    #[test]
    fn endless_lines_are_refused_and_quoted_fields_are_shortened() {
        let mut lines = Lines::new(io::BufReader::new(io::repeat(b'7').take(1 << 30)));
        let message = "the line is longer than 2^26 bytes".to_owned();
        assert_eq!(malformed(lines.next().unwrap_err()), (1, 1, message));
        let field = Field { text: &[b'\n'; 50], line: 1, column: 1 };
        assert_eq!(field.shown(), format!("`{}…`", "\\n".repeat(40)));
    }
}
