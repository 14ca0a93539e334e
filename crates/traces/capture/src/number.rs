//! Numbers as users write them.

use std::fmt;

use warpmem_params::parse_whole;

/// An integer or real number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Whole(i128),
    Real(f64),
}

impl Number {
    /// Parses `7`, `-7`, `2^20`, `0xff`, `2.5`, `1e-3`, `inf` or `nan`.
    pub fn parse(text: &str) -> Option<Number> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        let whole = match digits.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => parse_whole(digits),
        };
        match whole.map(i128::from) {
            Some(whole) => Some(Number::Whole(if negative { -whole } else { whole })),
            None => text.parse().ok().map(Number::Real),
        }
    }

    pub fn real(self) -> f64 {
        match self {
            Number::Whole(whole) => whole as f64,
            Number::Real(real) => real,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Whole(whole) => whole.fmt(f),
            Number::Real(real) => real.fmt(f),
        }
    }
}
