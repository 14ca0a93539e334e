//! Random mutations of a file, or of a command line with one argument per line.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::ops::Range;

/// A mutation.
#[derive(Clone, Debug)]
pub enum Change {
    /// Flips a bit of a byte.
    Flip(Index, u8),
    /// Replaces a byte.
    Replace(Index, u8),
    /// Truncates the file at a byte.
    Cut(Index),
    /// Removes a line.
    Drop(Index),
    /// Repeats a line.
    Repeat(Index, usize),
    /// Moves a line before another.
    Move(Index, Index),
    /// Replaces a number.
    Number(Index, &'static str),
}

/// Numbers beyond a field's range, at its limits, and malformed ones.
const NUMBERS: &[&str] = &[
    "",
    "0",
    "1",
    "2",
    "3",
    "7",
    "-1",
    "0.5",
    "1e9",
    "1e308",
    "1e-320",
    "nan",
    "inf",
    "-inf",
    "0x",
    "0xffffffffffffffff",
    "255",
    "256",
    "65535",
    "65536",
    "1000003",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "2^10",
    "2^31",
    "2^62",
];

/// Bytes with a meaning for some reader.
const BYTES: &[u8] = b"\0\n\r\t \"'#%&()*+,-.:;<=>@[\\]^_{|}~0aZ\x7f\x80\xc3\xff";

pub fn changes() -> impl Strategy<Value = Vec<Change>> {
    let at = any::<Index>;
    let change = prop_oneof![
        1 => (at(), 0u8..8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        1 => (at(), select(BYTES)).prop_map(|(at, byte)| Change::Replace(at, byte)),
        1 => at().prop_map(Change::Cut),
        1 => at().prop_map(Change::Drop),
        1 => (at(), select(vec![1, 2, 100, 20_000])).prop_map(|(at, times)| Change::Repeat(at, times)),
        1 => (at(), at()).prop_map(|(from, to)| Change::Move(from, to)),
        4 => (at(), select(NUMBERS)).prop_map(|(at, number)| Change::Number(at, number)),
    ];
    prop::collection::vec(change, 1..4)
}

impl Change {
    /// Applies the mutation to the bytes; unchanged if there is nothing to mutate.
    pub fn apply(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        if bytes.is_empty() {
            return bytes;
        }
        match self {
            Change::Flip(at, bit) => *at.get_mut(&mut bytes) ^= 1 << bit,
            Change::Replace(at, byte) => *at.get_mut(&mut bytes) = *byte,
            Change::Cut(at) => bytes.truncate(at.index(bytes.len())),
            Change::Number(at, number) => {
                let numbers = numbers(&bytes);
                if !numbers.is_empty() {
                    bytes.splice(at.get(&numbers).clone(), number.bytes());
                }
            }
            Change::Drop(_) | Change::Repeat(..) | Change::Move(..) => {
                return self.of_lines(&bytes);
            }
        }
        bytes
    }

    fn of_lines(&self, bytes: &[u8]) -> Vec<u8> {
        let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
        match self {
            Change::Drop(at) => {
                lines.remove(at.index(lines.len()));
            }
            Change::Repeat(at, times) => {
                let at = at.index(lines.len());
                lines.splice(at..at, std::iter::repeat_n(lines[at], *times));
            }
            Change::Move(from, to) => {
                let line = lines.remove(from.index(lines.len()));
                lines.insert(to.index(lines.len() + 1), line);
            }
            _ => {}
        }
        lines.concat()
    }
}

/// Returns the runs of decimal digits.
fn numbers(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut numbers: Vec<Range<usize>> = Vec::new();
    let digits = bytes.iter().enumerate().filter(|(_, byte)| byte.is_ascii_digit());
    for (at, _) in digits {
        match numbers.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => numbers.push(at..at + 1),
        }
    }
    numbers
}
