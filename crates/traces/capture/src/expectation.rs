//! Expected contents of a buffer after the last launch.

use std::fmt;
use std::path::PathBuf;

use crate::element::Element;
use crate::number::Number;

/// Values that a buffer is compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    pub file: PathBuf,
    /// Tolerances: floats agree if they differ by at most `absolute` + `relative` × the expected value, as in
    /// `numpy.allclose`. Integers must be equal.
    pub absolute: f64,
    pub relative: f64,
}

/// A buffer that differs from its expectation.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    pub buffer: String,
    pub differing: u64,
    pub elements: u64,
    /// First difference: index, value found, value expected.
    pub first: (u64, Number, Number),
}

impl Expectation {
    /// Compares the bytes of two arrays of equal size.
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
