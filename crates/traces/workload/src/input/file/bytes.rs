//! Reads the numbers of a binary file, little-endian, one at a time.

use std::io::{ErrorKind, Read};

use super::lines::{Failure, Place};
use crate::stop;

/// A binary file. Only the last number is kept.
pub struct Bytes<R> {
    reader: R,
    /// Offset of the last number.
    last: u64,
    /// Bytes read.
    offset: u64,
}

impl<R: Read> Bytes<R> {
    pub fn new(reader: R) -> Bytes<R> {
        Bytes { reader, last: 0, offset: 0 }
    }

    pub fn u8(&mut self, what: &str) -> Result<u8, Failure> {
        self.array(what).map(u8::from_le_bytes)
    }

    pub fn u32(&mut self, what: &str) -> Result<u32, Failure> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub fn u64(&mut self, what: &str) -> Result<u64, Failure> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// Reads a 64-bit number from `first` to `last`.
    pub fn count(&mut self, what: &str, (first, last): (u64, u64)) -> Result<u64, Failure> {
        let number = self.u64(what)?;
        self.within(number, what, (first, last))
    }

    /// Checks that the last number, `number`, is from `first` to `last`.
    pub fn within(
        &self,
        number: u64,
        what: &str,
        (first, last): (u64, u64),
    ) -> Result<u64, Failure> {
        match (first..=last).contains(&number) {
            true => Ok(number),
            false => Err(self.refusal(format!("{number} is not {what}; valid: {first} to {last}"))),
        }
    }

    /// Reads the end of each vertex's edges, ascending to `edges`.
    pub fn ends(&mut self, nodes: u64, edges: u64) -> Result<Vec<u64>, Failure> {
        let mut ends = Vec::new();
        let mut before = 0;
        for _ in 0..nodes {
            before = self.count("the end of a vertex's edges", (before, edges))?;
            ends.push(before);
        }
        match before == edges {
            true => Ok(ends),
            false => Err(self.refusal(format!("the vertices have {before} of {edges} edges"))),
        }
    }

    /// Skips `bytes` bytes.
    pub fn skip(&mut self, mut bytes: u64, what: &str) -> Result<(), Failure> {
        let mut skipped = [0; 4096];
        while bytes > 0 {
            let next = bytes.min(skipped.len() as u64);
            self.last = self.offset;
            if !self.read(&mut skipped[..next as usize])? {
                return Err(self.refusal(format!("the file ends where {what} should be")));
            }
            bytes -= next;
        }
        Ok(())
    }

    /// Skips `bytes` bytes, or the rest of the file if it is shorter.
    pub fn skip_at_most(&mut self, bytes: u64) -> Result<(), Failure> {
        for _ in 0..bytes {
            self.read(&mut [0])?;
        }
        Ok(())
    }

    /// Refuses further bytes.
    pub fn end(&mut self) -> Result<(), Failure> {
        let mut byte = [0];
        self.last = self.offset;
        match self.read(&mut byte)? {
            true => Err(self.refusal("more bytes than the header declares")),
            false => Ok(()),
        }
    }

    /// Returns an error at the last number.
    pub fn refusal(&self, message: impl Into<String>) -> Failure {
        Failure::Malformed { at: Place::Byte(self.last), message: message.into() }
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Failure> {
        let mut bytes = [0; N];
        self.last = self.offset;
        match self.read(&mut bytes)? {
            true => Ok(bytes),
            false => Err(self.refusal(format!("the file ends where {what} should be"))),
        }
    }

    /// Fills `bytes`; false if the file ends before.
    fn read(&mut self, bytes: &mut [u8]) -> Result<bool, Failure> {
        stop::check();
        match self.reader.read_exact(bytes) {
            Ok(()) => {
                self.offset += bytes.len() as u64;
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
            Err(source) => Err(Failure::Read { after: Place::Byte(self.offset), source }),
        }
    }
}
