//! Random changes of a file, or of a command line with an argument on each line.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::ops::Range;

/// A change.
#[derive(Clone, Debug)]
pub enum Change {
    /// Flips a bit of a byte.
    Flip(Index, u8),
    /// Puts a byte in the place of another.
    Replace(Index, u8),
    /// Leaves out everything from a byte on.
    Cut(Index),
    /// Leaves out a line.
    Drop(Index),
    /// Repeats a line.
    Repeat(Index, usize),
    /// Puts a line in front of another.
    Move(Index, Index),
    /// Puts another number in the place of one.
    Number(Index, &'static str),
}

/// Numbers beyond what a field holds, at its limits, and that are no numbers.
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

/// Bytes that mean something to a reader of some kind.
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
    /// The bytes with this change; the same ones if there is nothing to change.
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

/// The runs of decimal digits.
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
