//! Parses tokens and numbers of a line as bytes, without allocation.

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

    /// Returns the unread text, starting at a token.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Skips `bytes` bytes, which must end at a token's end.
    #[inline]
    pub fn skip(&mut self, bytes: usize) {
        self.rest = match &self.rest[bytes..] {
            // Tracers write a single blank.
            [b' ', rest @ ..] if rest.first() > Some(&b' ') => rest,
            rest => rest.trim_ascii_start(),
        };
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
        let narrow = |(number, bytes)| Some((u32::try_from(number).ok()?, bytes));
        self.number(|text| leading_decimal(text).and_then(narrow), what)
    }

    pub fn hex(&mut self, what: &'static str) -> Result<u64, Expected> {
        self.number(leading_hex, what)
    }

    pub fn signed(&mut self, what: &'static str) -> Result<i64, Expected> {
        self.number(leading_signed, what)
    }

    /// Reads a number and finds the token's end in one pass.
    #[inline]
    fn number<T>(
        &mut self,
        leading: impl Fn(&[u8]) -> Leading<T>,
        what: &'static str,
    ) -> Result<T, Expected> {
        match leading(self.rest) {
            Some((number, bytes)) if is_end(self.rest.get(bytes)) => {
                self.skip(bytes);
                Ok(number)
            }
            _ => Err(what.into()),
        }
    }
}

/// Returns whether a token ends before this byte.
pub fn is_end(byte: Option<&u8>) -> bool {
    matches!(byte, None | Some(b' ' | b'\t'))
}

/// The number at the start of a text, and its length in bytes.
pub type Leading<T> = Option<(T, usize)>;

/// Parses an unsigned decimal number of at most 19 digits.
pub fn decimal(token: &[u8]) -> Option<u64> {
    whole(token, leading_decimal)
}

/// Parses a decimal number with an optional minus.
pub fn signed(token: &[u8]) -> Option<i64> {
    whole(token, leading_signed)
}

/// Parses a hexadecimal number of at most 16 significant digits, with or without `0x`.
pub fn hex(token: &[u8]) -> Option<u64> {
    whole(token, leading_hex)
}

fn whole<T>(token: &[u8], leading: impl Fn(&[u8]) -> Leading<T>) -> Option<T> {
    leading(token).filter(|&(_, bytes)| bytes == token.len()).map(|(number, _)| number)
}

/// As [`decimal`].
#[inline]
fn leading_decimal(text: &[u8]) -> Leading<u64> {
    const MOST: usize = 19;
    let mut number = 0;
    let mut bytes = 0;
    while let Some(digit) = text.get(bytes).map(|byte| byte.wrapping_sub(b'0')).filter(|&n| n < 10)
    {
        if bytes == MOST {
            return None;
        }
        number = number * 10 + u64::from(digit);
        bytes += 1;
    }
    (bytes > 0).then_some((number, bytes))
}

/// As [`signed`].
#[inline]
fn leading_signed(text: &[u8]) -> Leading<i64> {
    match text.strip_prefix(b"-") {
        Some(digits) => leading_decimal(digits)
            .filter(|&(number, _)| number <= 1 << 63)
            .map(|(number, bytes)| ((number as i64).wrapping_neg(), bytes + 1)),
        None => leading_decimal(text)
            .and_then(|(number, bytes)| Some((i64::try_from(number).ok()?, bytes))),
    }
}

/// As [`hex`].
#[inline]
pub fn leading_hex(text: &[u8]) -> Leading<u64> {
    let start = if text.starts_with(b"0x") { 2 } else { 0 };
    let mut number = 0;
    let mut bytes = start;
    while let Some(digit) = text.get(bytes).and_then(hex_digit) {
        if number >> 60 != 0 {
            return None;
        }
        number = number << 4 | u64::from(digit);
        bytes += 1;
    }
    (bytes > start).then_some((number, bytes))
}

fn hex_digit(byte: &u8) -> Option<u8> {
    Some(HEX[usize::from(*byte)]).filter(|&digit| digit < NO_DIGIT)
}

const NO_DIGIT: u8 = 16;

/// The value of every byte as a hexadecimal digit.
const HEX: [u8; 256] = {
    let mut values = [NO_DIGIT; 256];
    let mut digit = 0;
    while digit < 16 {
        values[b"0123456789abcdef"[digit] as usize] = digit as u8;
        values[b"0123456789ABCDEF"[digit] as usize] = digit as u8;
        digit += 1;
    }
    values
};

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
        assert_eq!(hex(b"0000000000000000000000001"), Some(1));
        assert_eq!(hex(b"00g0"), None);
        assert_eq!(hex(b"0123456789aBcDeF"), Some(0x0123_4567_89ab_cdef));
        assert_eq!(decimal(b"9999999999999999999"), Some(9_999_999_999_999_999_999));
        assert_eq!(decimal(b"00000000000000000000"), None, "20 digits");
    }

    #[test]
    fn a_number_is_a_whole_token() {
        let mut tokens = Tokens::new(b"12 -3\t0x1f  7fz");
        assert_eq!(tokens.decimal("a"), Ok(12));
        assert_eq!(tokens.clone().hex("b"), Err("b".into()));
        assert_eq!(tokens.signed("c"), Ok(-3));
        assert_eq!(tokens.clone().decimal("d"), Err("d".into()), "0 of 0x1f");
        assert_eq!(tokens.hex("e"), Ok(0x1f));
        assert_eq!(tokens.hex("f"), Err("f".into()));
        assert_eq!(tokens.rest(), b"7fz");
        assert_eq!(Tokens::new(b"4294967296").decimal("g"), Err("g".into()));
        assert_eq!(Tokens::new(b" ").hex("h"), Err("h".into()));
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
