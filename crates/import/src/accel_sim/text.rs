//! Tokens and numbers of a line, read as bytes without allocation.

use crate::error::Expected;

/// The tokens of a line, separated by blanks.
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    rest: &'a [u8],
}

impl<'a> Tokens<'a> {
    pub fn new(line: &'a [u8]) -> Tokens<'a> {
        Tokens { rest: line.trim_ascii() }
    }

    /// What has not been read yet, starting at a token.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Skips `bytes` bytes, which must end at a token's end.
    pub fn skip(&mut self, bytes: usize) {
        self.rest = self.rest[bytes..].trim_ascii_start();
    }

    pub fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let end =
            self.rest.iter().position(|&b| b == b' ' || b == b'\t').unwrap_or(self.rest.len());
        let token = &self.rest[..end];
        self.skip(end);
        Some(token)
    }

    pub fn expect(&mut self, what: &'static str) -> Result<&'a [u8], Expected> {
        self.next().ok_or_else(|| what.into())
    }

    pub fn decimal(&mut self, what: &'static str) -> Result<u32, Expected> {
        self.next().and_then(decimal).and_then(|n| u32::try_from(n).ok()).ok_or_else(|| what.into())
    }

    pub fn hex(&mut self, what: &'static str) -> Result<u64, Expected> {
        self.next().and_then(hex).ok_or_else(|| what.into())
    }

    pub fn signed(&mut self, what: &'static str) -> Result<i64, Expected> {
        self.next().and_then(signed).ok_or_else(|| what.into())
    }
}

/// An unsigned decimal number of at most 19 digits.
pub fn decimal(token: &[u8]) -> Option<u64> {
    if token.is_empty() || token.len() > 19 {
        return None;
    }
    token.iter().try_fold(0u64, |value, &byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit < 10).then(|| value * 10 + u64::from(digit))
    })
}

/// A decimal number with an optional minus.
pub fn signed(token: &[u8]) -> Option<i64> {
    match token.strip_prefix(b"-") {
        Some(digits) => {
            decimal(digits).filter(|&n| n <= 1 << 63).map(|n| (n as i64).wrapping_neg())
        }
        None => decimal(token).and_then(|n| i64::try_from(n).ok()),
    }
}

/// A hexadecimal number of at most 16 significant digits, with or without `0x`.
pub fn hex(token: &[u8]) -> Option<u64> {
    let digits = token.strip_prefix(b"0x").unwrap_or(token);
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |value, &byte| {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            _ => return None,
        };
        (value >> 60 == 0).then(|| value << 4 | u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_whole_or_not_at_all() {
        assert_eq!(decimal(b"4096"), Some(4096));
        assert_eq!(decimal(b""), None);
        assert_eq!(decimal(b"12a"), None);
        assert_eq!(decimal(b"99999999999999999999"), None);
        assert_eq!(signed(b"-60"), Some(-60));
        assert_eq!(signed(b"9999999999999999999"), None);
        assert_eq!(signed(b"-9999999999999999999"), None);
        assert_eq!(signed(b"-9223372036854775808"), Some(i64::MIN));
        assert_eq!(signed(b"-"), None);
        assert_eq!(hex(b"0x00007fe033702880"), Some(0x7fe0_3370_2880));
        assert_eq!(hex(b"ffff0000"), Some(0xffff_0000));
        assert_eq!(hex(b"0x"), None);
        assert_eq!(hex(b"0x1ffffffffffffffff"), None);
        assert_eq!(hex(b"00g0"), None);
    }

    #[test]
    fn tokens_ignore_blanks_and_a_carriage_return() {
        let mut tokens = Tokens::new(b"  a  bc \r");
        assert_eq!(tokens.next(), Some(&b"a"[..]));
        assert_eq!(tokens.rest(), b"bc");
        assert_eq!(tokens.next(), Some(&b"bc"[..]));
        assert_eq!(tokens.next(), None);
    }
}
