//! The cycles of a rule: whole numbers and parameter names with `+`, `-`, `max(a, b)` and
//! parentheses.

use std::collections::BTreeMap;

/// Longest text, which bounds the nesting of parentheses.
const LONGEST: usize = 200;

/// Values of the parameter names.
pub(super) type Values = BTreeMap<String, i64>;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Number(i64),
    Name(String),
    Add(Box<Expression>, Box<Expression>),
    Subtract(Box<Expression>, Box<Expression>),
    Max(Box<Expression>, Box<Expression>),
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// Returns the expected token and the position of the error.
    pub fn parse(text: &str) -> Result<Expression, String> {
        if text.len() > LONGEST {
            return Err(format!("expected an expression of at most {LONGEST} characters"));
        }
        let mut parser = Parser { text, at: 0 };
        let expression = parser.sum()?;
        match parser.peek() {
            None => Ok(expression),
            Some(_) => Err(parser.expected("+, - or the end")),
        }
    }

    /// Returns the names that it uses.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Expression::Number(_) => Vec::new(),
            Expression::Name(name) => vec![name],
            Expression::Add(a, b) | Expression::Subtract(a, b) | Expression::Max(a, b) => {
                [a.names(), b.names()].concat()
            }
        }
    }

    /// Evaluates the expression; a name without a value counts as 0.
    pub fn evaluate(&self, values: &Values) -> i64 {
        match self {
            Expression::Number(number) => *number,
            Expression::Name(name) => values.get(name).copied().unwrap_or(0),
            Expression::Add(a, b) => a.evaluate(values) + b.evaluate(values),
            Expression::Subtract(a, b) => a.evaluate(values) - b.evaluate(values),
            Expression::Max(a, b) => a.evaluate(values).max(b.evaluate(values)),
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    /// Byte offset of the unread text.
    at: usize,
}

impl Parser<'_> {
    fn sum(&mut self) -> Result<Expression, String> {
        let mut sum = self.term()?;
        loop {
            let combine = match self.peek() {
                Some('+') => Expression::Add,
                Some('-') => Expression::Subtract,
                _ => return Ok(sum),
            };
            self.at += 1;
            sum = combine(Box::new(sum), Box::new(self.term()?));
        }
    }

    fn term(&mut self) -> Result<Expression, String> {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let inner = self.sum()?;
                self.take(')')?;
                Ok(inner)
            }
            Some(c) if c.is_ascii_digit() => {
                let start = self.at;
                let digits = self.word(|c| c.is_ascii_digit());
                let number = digits.parse::<u32>();
                number.map(|n| Expression::Number(n.into())).map_err(|_| {
                    self.at = start;
                    self.expected("a number below 2^32")
                })
            }
            Some(c) if c.is_ascii_alphabetic() => {
                let name = self.word(|c| c.is_ascii_alphanumeric() || c == '_').to_owned();
                if name == "max" { self.max() } else { Ok(Expression::Name(name)) }
            }
            _ => Err(self.expected("a number, a parameter, max(a, b) or (")),
        }
    }

    fn max(&mut self) -> Result<Expression, String> {
        self.take('(')?;
        let a = self.sum()?;
        self.take(',')?;
        let b = self.sum()?;
        self.take(')')?;
        Ok(Expression::Max(Box::new(a), Box::new(b)))
    }

    /// Returns the next character after spaces without reading it.
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, wanted: char) -> Result<(), String> {
        if self.peek() != Some(wanted) {
            return Err(self.expected(&wanted.to_string()));
        }
        self.at += wanted.len_utf8();
        Ok(())
    }

    fn word(&mut self, belongs: impl Fn(char) -> bool) -> &str {
        let rest = &self.text[self.at..];
        let end = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn expected(&self, what: &str) -> String {
        let column = self.text[..self.at].chars().count() + 1;
        format!("expected {what} at character {column} of \"{}\"", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(text: &str) -> i64 {
        let values = [("tcl".to_owned(), 20), ("twl".to_owned(), 6), ("burst".to_owned(), 2)];
        Expression::parse(text).unwrap().evaluate(&values.into())
    }

    #[test]
    fn sums_associate_to_the_left() {
        assert_eq!(value("tcl - burst - twl"), 12);
        assert_eq!(value("tcl - (burst - twl)"), 24);
        assert_eq!(value(" 1+tcl "), 21);
        assert_eq!(value("twl - tcl"), -14);
        assert_eq!(value("max(twl + burst, 7) + max(1, max(2, 3))"), 11);
    }

    #[test]
    fn names_are_listed() {
        let names = Expression::parse("max(a, b - 1) + a_b2").unwrap();
        assert_eq!(names.names(), ["a", "b", "a_b2"]);
    }

    #[test]
    fn errors_are_located() {
        let cases = [
            ("", "expected a number, a parameter, max(a, b) or ( at character 1 of \"\""),
            ("a +", "expected a number, a parameter, max(a, b) or ( at character 4 of \"a +\""),
            ("a b", "expected +, - or the end at character 3 of \"a b\""),
            ("(a", "expected ) at character 3 of \"(a\""),
            ("max(a)", "expected , at character 6 of \"max(a)\""),
            ("4294967296", "expected a number below 2^32 at character 1 of \"4294967296\""),
        ];
        for (text, message) in cases {
            assert_eq!(Expression::parse(text), Err(message.to_owned()));
        }
        let long = Expression::parse(&"(".repeat(10_000));
        assert_eq!(long, Err("expected an expression of at most 200 characters".to_owned()));
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "[a-z0-9()+,é -]{0,30}|.{0,30}") {
            if let Ok(expression) = Expression::parse(&text) {
                expression.evaluate(&Values::new());
            }
        }
    }
}
