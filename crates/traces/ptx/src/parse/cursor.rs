//! A position in the token stream of a module.

use crate::error::PtxError;
use crate::lexer::{Located, Token};

/// Reads tokens one by one. Errors refer to the line of the last token consumed, or to the next token if it
/// is on the same line and the error is about it.
pub(crate) struct Cursor<'a> {
    lines: Vec<&'a str>,
    tokens: Vec<Located<'a>>,
    at: usize,
}

pub(crate) type Parsed<T> = Result<T, PtxError>;

impl<'a> Cursor<'a> {
    pub fn new(source: &'a str) -> Parsed<Cursor<'a>> {
        let tokens = crate::lexer::tokens(source)?;
        Ok(Cursor { lines: source.lines().collect(), tokens, at: 0 })
    }

    /// Returns the number of tokens consumed.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Returns to an earlier position.
    pub fn return_to(&mut self, position: usize) {
        self.at = position;
    }

    pub fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.at).map(|located| located.token)
    }

    /// Returns the token after the next.
    pub fn peek_second(&self) -> Option<Token<'a>> {
        self.tokens.get(self.at + 1).map(|located| located.token)
    }

    pub fn next(&mut self) -> Option<Token<'a>> {
        let token = self.peek()?;
        self.at += 1;
        Some(token)
    }

    /// Returns the line of the next token, or of the last one at the end.
    pub fn line(&self) -> u32 {
        let last = self.tokens.len().saturating_sub(1);
        self.tokens.get(self.at.min(last)).map_or(1, |located| located.line)
    }

    /// Returns the line of the last token consumed.
    fn last_line(&self) -> u32 {
        self.tokens[..self.at].last().map_or(1, |located| located.line)
    }

    /// Returns whether the next token starts a line.
    pub fn begins_line(&self) -> bool {
        self.line() > self.last_line()
    }

    /// Returns an error at the last token consumed.
    pub fn error(&self, reason: impl Into<String>) -> PtxError {
        self.error_at(self.last_line(), reason)
    }

    pub fn error_at(&self, line: u32, reason: impl Into<String>) -> PtxError {
        let text = self.lines.get(line.saturating_sub(1) as usize);
        PtxError::at(line, text.copied().unwrap_or_default(), reason)
    }

    /// Consumes the symbol if it is next.
    pub fn accept(&mut self, symbol: char) -> bool {
        self.accept_token(Token::Symbol(symbol))
    }

    /// Consumes the directive or modifier, named without its dot, if it is next.
    pub fn accept_dotted(&mut self, name: &str) -> bool {
        self.accept_token(Token::Dotted(name))
    }

    /// Returns whether the next tokens are these symbols.
    pub fn has_symbols(&self, symbols: &str) -> bool {
        let next = self.tokens.get(self.at..).unwrap_or_default();
        let are_next =
            symbols.chars().zip(next).filter(|&(s, next)| next.token == Token::Symbol(s));
        are_next.count() == symbols.len()
    }

    fn accept_token(&mut self, token: Token<'_>) -> bool {
        let found = self.peek() == Some(token);
        self.at += usize::from(found);
        found
    }

    pub fn expect(&mut self, symbol: char) -> Parsed<()> {
        match self.accept(symbol) {
            true => Ok(()),
            false => Err(self.expected(&format!("`{symbol}`"))),
        }
    }

    pub fn word(&mut self, what: &str) -> Parsed<&'a str> {
        match self.peek() {
            Some(Token::Word(word)) => {
                self.at += 1;
                Ok(word)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// Consumes the next token if it is a directive or modifier.
    pub fn dotted(&mut self) -> Option<&'a str> {
        let Some(Token::Dotted(name)) = self.peek() else { return None };
        self.at += 1;
        Some(name)
    }

    pub fn integer(&mut self, what: &str) -> Parsed<u64> {
        match self.peek() {
            Some(Token::Integer(value) | Token::Unsigned(value)) => {
                self.at += 1;
                Ok(value)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// Consumes a 32-bit integer.
    pub fn small(&mut self, what: &str) -> Parsed<u32> {
        let value = self.integer(what)?;
        u32::try_from(value).map_err(|_| self.error(format!("{what} {value} is too large")))
    }

    /// Consumes the constant part of an address: `+4`, `-4`, `+-4`, `+4*2` or nothing.
    pub fn offset(&mut self) -> Parsed<i64> {
        if self.accept('+') || self.peek() == Some(Token::Symbol('-')) {
            return Ok(self.integer_expression("an offset")? as i64);
        }
        Ok(0)
    }

    /// Returns the error that the next token does not continue the statement.
    pub fn expected(&self, what: &str) -> PtxError {
        match self.peek() {
            Some(token) if self.begins_line() => {
                let (found, line) = (written(token), self.line());
                self.error(format!("expected {what}, found `{found}` on line {line}"))
            }
            _ => self.expected_here(what),
        }
    }

    /// Returns the error that the next token does not start the expected part.
    pub fn expected_here(&self, what: &str) -> PtxError {
        let found = match self.peek() {
            None => "the end of the module".into(),
            Some(token) => format!("`{}`", written(token)),
        };
        self.error_at(self.line(), format!("expected {what}, found {found}"))
    }

    /// Skips past the next `;` of this brace level, or to the `}` that ends the level.
    pub fn skip_statement(&mut self) {
        let mut depth = 0;
        while let Some(token) = self.peek() {
            match token {
                Token::Symbol('}') if depth == 0 => return,
                Token::Symbol('{') => depth += 1,
                Token::Symbol('}') => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if token == Token::Symbol(';') && depth == 0 {
                return;
            }
        }
    }

    /// Skips the rest of a line, as of a debug directive.
    pub fn skip_line(&mut self, line: u32) {
        while self.tokens.get(self.at).is_some_and(|located| located.line == line) {
            self.at += 1;
        }
    }

    /// Skips from the next `{` past its `}`.
    pub fn skip_braces(&mut self) -> Parsed<()> {
        self.expect('{')?;
        self.skip_block()
    }

    /// Skips past the `}` of the open block.
    pub fn skip_block(&mut self) -> Parsed<()> {
        let mut depth = 1;
        while depth > 0 {
            match self.next() {
                Some(Token::Symbol('{')) => depth += 1,
                Some(Token::Symbol('}')) => depth -= 1,
                Some(_) => {}
                None => return Err(self.expected("`}`")),
            }
        }
        Ok(())
    }
}

fn written(token: Token<'_>) -> String {
    match token {
        Token::Word(word) => word.into(),
        Token::Dotted(name) => format!(".{name}"),
        Token::Integer(value) => value.to_string(),
        Token::Unsigned(value) => format!("{value}U"),
        Token::Single(bits) => format!("0f{bits:08X}"),
        Token::Double(bits) => format!("0d{bits:016X}"),
        Token::Text(text) => format!("\"{text}\""),
        Token::Symbol(symbol) => symbol.into(),
    }
}
