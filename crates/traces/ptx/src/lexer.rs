//! Tokens of PTX text.

use crate::error::PtxError;

/// A token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    /// An identifier: opcode, register, label or variable.
    Word(&'a str),
    /// A directive or modifier, without its leading dot; may contain `::`.
    Dotted(&'a str),
    /// An integer; a sign is a separate token.
    Integer(u64),
    /// An integer with the suffix `U`.
    Unsigned(u64),
    /// Bits of an f32 or f64: `0f…`, `0d…`, or a decimal number with a point.
    Single(u32),
    Double(u64),
    Text(&'a str),
    Symbol(char),
}

/// A token and its line, from 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Located<'a> {
    pub token: Token<'a>,
    pub line: u32,
}

/// Splits a module into tokens; drops comments.
pub(crate) fn tokens(source: &str) -> Result<Vec<Located<'_>>, PtxError> {
    let mut lexer = Lexer { source, at: 0, line: 1 };
    let mut tokens = Vec::with_capacity(source.len() / 4);
    while let Some(token) = lexer.next()? {
        tokens.push(token);
    }
    Ok(tokens)
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
    line: u32,
}

fn starts_word(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '_' | '$' | '%')
}

fn continues_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$')
}

impl<'a> Lexer<'a> {
    fn next(&mut self) -> Result<Option<Located<'a>>, PtxError> {
        self.skip_blank()?;
        let Some(first) = self.rest().chars().next() else { return Ok(None) };
        let line = self.line;
        let token = match first {
            c if starts_word(c) && !self.is_remainder() => Token::Word(self.word(1)),
            '0'..='9' => self.number()?,
            '.' if begins_fraction(&self.rest()[1..]) => self.decimal("")?,
            '.' => self.dotted(),
            '"' => self.text()?,
            c if c.is_ascii_punctuation() => {
                self.at += 1;
                Token::Symbol(c)
            }
            c => return Err(self.error(format!("unexpected character `{}`", c.escape_debug()))),
        };
        Ok(Some(Located { token, line }))
    }

    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    /// Returns whether the next `%` is the remainder operator rather than the start of a name.
    fn is_remainder(&self) -> bool {
        self.rest().strip_prefix('%').is_some_and(|next| !next.starts_with(continues_word))
    }

    fn error(&self, reason: impl Into<String>) -> PtxError {
        let text = self.source.lines().nth(self.line as usize - 1).unwrap_or_default();
        PtxError::at(self.line, text, reason)
    }

    /// Consumes `length` bytes and counts their lines.
    fn take(&mut self, length: usize) -> &'a str {
        let taken = &self.rest()[..length];
        self.at += length;
        self.line += taken.bytes().filter(|&byte| byte == b'\n').count() as u32;
        taken
    }

    fn skip_blank(&mut self) -> Result<(), PtxError> {
        loop {
            let rest = self.rest();
            let blank = rest.len()
                - rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\0').len();
            let length = if blank > 0 {
                blank
            } else if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").ok_or_else(|| self.error("unterminated comment"))? + 2
            } else {
                return Ok(());
            };
            self.take(length);
        }
    }

    /// Consumes a word whose first `known` characters are already matched.
    fn word(&mut self, known: usize) -> &'a str {
        let rest = self.rest();
        let length =
            rest[known..].find(|c| !continues_word(c)).map_or(rest.len(), |end| known + end);
        self.take(length)
    }

    /// Consumes `.x` or `.x::y`; a lone dot is a symbol.
    fn dotted(&mut self) -> Token<'a> {
        self.at += 1;
        let start = self.at;
        loop {
            self.word(0);
            let joined =
                self.rest().strip_prefix("::").is_some_and(|next| next.starts_with(continues_word));
            if !joined {
                break;
            }
            self.at += 2;
        }
        match &self.source[start..self.at] {
            "" => Token::Symbol('.'),
            name => Token::Dotted(name),
        }
    }

    fn text(&mut self) -> Result<Token<'a>, PtxError> {
        let end = self.rest()[1..].find('"').ok_or_else(|| self.error("unterminated string"))?;
        let quoted = self.take(end + 2);
        Ok(Token::Text(&quoted[1..=end]))
    }

    fn number(&mut self) -> Result<Token<'a>, PtxError> {
        let digits = self.word(0);
        if self.rest().starts_with('.') || is_decimal_exponent(digits) {
            return self.decimal(digits);
        }
        number(digits).ok_or_else(|| self.error(format!("`{digits}` is not a number")))
    }

    /// Consumes a decimal floating-point number, always a double.
    fn decimal(&mut self, whole: &'a str) -> Result<Token<'a>, PtxError> {
        let start = self.at - whole.len();
        if self.rest().starts_with('.') {
            self.at += 1;
            self.word(0);
        }
        let signed = self.source[start..self.at].ends_with(['e', 'E']);
        if signed && self.rest().starts_with(['+', '-']) {
            self.at += 1;
            self.word(0);
        }
        let text = &self.source[start..self.at];
        let value: Result<f64, _> = text.parse();
        value
            .map(|value| Token::Double(value.to_bits()))
            .map_err(|_| self.error(format!("`{text}` is not a number")))
    }
}

/// Returns whether the text after a dot makes it a number, as in `.5` or `.5e-3`, rather than a name, as in
/// `.2d`.
fn begins_fraction(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let exponent = rest.strip_prefix(['e', 'E']).map(|rest| rest.trim_start_matches(['+', '-']));
    let rest = exponent.map_or(rest, |rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    text.starts_with(|c: char| c.is_ascii_digit()) && !rest.starts_with(continues_word)
}

/// Returns whether digits form a decimal number in exponential form, as in `1e5`.
fn is_decimal_exponent(digits: &str) -> bool {
    let is_hex =
        digits.len() > 1 && digits.starts_with('0') && !digits.as_bytes()[1].is_ascii_digit();
    !is_hex && digits.contains(['e', 'E'])
}

/// Parses an integer (decimal, `0x`, `0b`, or octal after `0`, with an optional `U`) or the bits of a
/// floating-point number (`0f`, `0d`).
fn number(text: &str) -> Option<Token<'static>> {
    if let Some(bits) = text.strip_prefix("0f").or(text.strip_prefix("0F")) {
        return (bits.len() == 8).then(|| u32::from_str_radix(bits, 16).ok().map(Token::Single))?;
    }
    if let Some(bits) = text.strip_prefix("0d").or(text.strip_prefix("0D")) {
        return (bits.len() == 16)
            .then(|| u64::from_str_radix(bits, 16).ok().map(Token::Double))?;
    }
    let (digits, integer): (_, fn(u64) -> _) = match text.strip_suffix(['U', 'u']) {
        Some(digits) => (digits, Token::Unsigned),
        None => (text, Token::Integer),
    };
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
        [b'0', b'b' | b'B', ..] => (&digits[2..], 2),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    };
    u64::from_str_radix(digits, radix).ok().map(integer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Token::*;

    fn lex(text: &str) -> Vec<Token<'_>> {
        tokens(text).unwrap().into_iter().map(|located| located.token).collect()
    }

    #[test]
    fn opcodes_and_registers_are_words_with_modifiers() {
        let expected =
            [Word("ld"), Dotted("global"), Dotted("L2::128B"), Dotted("f32"), Word("%f1")];
        assert_eq!(lex("ld.global.L2::128B.f32 %f1"), expected);
        assert_eq!(lex("$L__BB0_2:"), [Word("$L__BB0_2"), Symbol(':')]);
        assert_eq!(lex("%tid.x"), [Word("%tid"), Dotted("x")]);
    }

    #[test]
    fn numbers_have_five_forms() {
        assert_eq!(
            lex("10 0x1F 017 0b101 7U"),
            [Integer(10), Integer(31), Integer(15), Integer(5), Unsigned(7)]
        );
        assert_eq!(
            lex("0f3F800000 0d3FF0000000000000"),
            [Single(0x3F80_0000), Double(1f64.to_bits())]
        );
        assert_eq!(
            lex("1.5 2e3 1.0e-2"),
            [Double(1.5f64.to_bits()), Double(2e3f64.to_bits()), Double(1e-2f64.to_bits())]
        );
        assert_eq!(
            lex(".5 .5e-3 .2d .64B"),
            [Double(0.5f64.to_bits()), Double(0.5e-3f64.to_bits()), Dotted("2d"), Dotted("64B")]
        );
        assert_eq!(lex("-1"), [Symbol('-'), Integer(1)]);
        assert_eq!(lex("0"), [Integer(0)]);
        assert_eq!(lex("7 % 3"), [Integer(7), Symbol('%'), Integer(3)]);
    }

    #[test]
    fn comments_are_dropped_and_lines_counted() {
        let lines: Vec<u32> =
            tokens("a // b\n/* c\nd */ e").unwrap().iter().map(|t| t.line).collect();
        assert_eq!(lines, [1, 3]);
    }

    #[test]
    fn invalid_tokens_are_refused_with_their_line() {
        for (text, reason) in [
            ("\n\u{1b}", "unexpected character"),
            ("\n0xZZ", "`0xZZ` is not a number"),
            ("\n0f12", "`0f12` is not a number"),
            ("\n\"abc", "unterminated string"),
            ("\n/* abc", "unterminated comment"),
            ("\né", "unexpected character"),
        ] {
            let error = tokens(text).unwrap_err();
            assert_eq!(error.line, 2, "{text}");
            assert!(error.to_string().contains(reason), "{error}");
        }
    }
}
