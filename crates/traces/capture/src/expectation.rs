//! What a buffer must hold after the last launch.

use std::fmt;
use std::path::PathBuf;

use crate::element::Element;
use crate::number::Number;

/// The values that a buffer is compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    pub file: PathBuf,
    /// Floats agree if they differ by at most `absolute` + `relative` × the expected one, as in
    /// `numpy.allclose`. Whole numbers must be equal.
    pub absolute: f64,
    pub relative: f64,
}

/// A buffer that does not hold what is expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    pub buffer: String,
    pub differing: u64,
    pub elements: u64,
    /// The first that differs: its index, what is there, and what was expected.
    pub first: (u64, Number, Number),
}

impl Expectation {
    /// Compares the bytes of two arrays of the same size.
    pub(crate) fn compare(
        &self,
        buffer: &str,
        element: Element,
        bytes: &[u8],
        expected: &[u8],
    ) -> Option<Mismatch> {
        let size = element.bytes();
        let pairs = bytes.chunks_exact(size).zip(expected.chunks_exact(size));
        let numbers =
            pairs.map(|(found, expected)| (element.decode(found), element.decode(expected)));
        let mut differing = (0..).zip(numbers).filter(|&(_, (a, b))| !self.agree(a, b));
        let (index, (found, expected)) = differing.next()?;
        Some(Mismatch {
            buffer: buffer.to_owned(),
            differing: 1 + differing.count() as u64,
            elements: (bytes.len() / size) as u64,
            first: (index, found, expected),
        })
    }

    fn agree(&self, found: Number, expected: Number) -> bool {
        match (found, expected) {
            (Number::Whole(found), Number::Whole(expected)) => found == expected,
            _ => {
                let (found, expected) = (found.real(), expected.real());
                let tolerance = self.absolute + self.relative * expected.abs();
                found == expected
                    || (found.is_nan() && expected.is_nan())
                    || (found - expected).abs() <= tolerance
            }
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (index, found, expected) = &self.first;
        write!(
            f,
            "buffer `{}`: {} of {} elements are not as expected; element {index} is {found}, not \
             {expected}",
            self.buffer, self.differing, self.elements
        )
    }
}
