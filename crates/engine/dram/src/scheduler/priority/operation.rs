//! The operations of an expression, on values and on ranges of values.

use super::range::{Range, TRUTH};
use super::terms::Term;

/// An operation on the last operands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation {
    Number(i64),
    Term(Term),
    Negate,
    Not,
    Absolute,
    Add,
    Subtract,
    Multiply,
    /// Quotient towards zero; 0 for a divisor of 0.
    Divide,
    /// Remainder with the sign of the dividend; 0 for a divisor of 0.
    Remainder,
    Minimum,
    Maximum,
    Less,
    LessOrEqual,
    Equal,
    And,
    Or,
    /// The second operand if the first is not 0, else the third.
    If,
}

impl Operation {
    /// Returns the number of its operands.
    pub fn operands(self) -> usize {
        match self {
            Operation::Number(_) | Operation::Term(_) => 0,
            Operation::Negate | Operation::Not | Operation::Absolute => 1,
            Operation::If => 3,
            _ => 2,
        }
    }

    /// Returns the result; results beyond the range of 64 bits are its ends.
    pub fn apply(self, operands: &[i64], term: impl Fn(Term) -> i64) -> i64 {
        match (self, operands) {
            (Operation::Number(number), _) => number,
            (Operation::Term(of), _) => term(of),
            (Operation::Negate, &[a]) => a.saturating_neg(),
            (Operation::Not, &[a]) => (a == 0).into(),
            (Operation::Absolute, &[a]) => a.saturating_abs(),
            (Operation::Add, &[a, b]) => a.saturating_add(b),
            (Operation::Subtract, &[a, b]) => a.saturating_sub(b),
            (Operation::Multiply, &[a, b]) => a.saturating_mul(b),
            (Operation::Divide | Operation::Remainder, &[_, 0]) => 0,
            (Operation::Divide, &[a, b]) => a.saturating_div(b),
            (Operation::Remainder, &[a, b]) => a.wrapping_rem(b),
            (Operation::Minimum, &[a, b]) => a.min(b),
            (Operation::Maximum, &[a, b]) => a.max(b),
            (Operation::Less, &[a, b]) => (a < b).into(),
            (Operation::LessOrEqual, &[a, b]) => (a <= b).into(),
            (Operation::Equal, &[a, b]) => (a == b).into(),
            (Operation::And, &[a, b]) => (a != 0 && b != 0).into(),
            (Operation::Or, &[a, b]) => (a != 0 || b != 0).into(),
            (Operation::If, &[a, b, c]) => [b, c][usize::from(a == 0)],
            _ => unreachable!("the parser pushed the operands of every operation"),
        }
    }

    /// Returns the range of its results for operands of these ranges, or a wider one.
    pub fn range(self, operands: &[Range], term: impl Fn(Term) -> Range) -> Range {
        match (self, operands) {
            (Operation::Number(number), _) => Range { low: number, high: number },
            (Operation::Term(of), _) => term(of),
            (Operation::Negate, &[a]) => Range::over([a.high, a.low].map(i64::saturating_neg)),
            (Operation::Absolute, &[a]) => a.absolute(),
            (Operation::Divide, &[a, b]) => a.divided(b),
            (Operation::Remainder, &[a, b]) => a.remainder(b),
            (Operation::Add, &[a, b]) => a.corners(b, i64::saturating_add),
            (Operation::Subtract, &[a, b]) => a.corners(b, i64::saturating_sub),
            (Operation::Multiply, &[a, b]) => a.corners(b, i64::saturating_mul),
            (Operation::Minimum, &[a, b]) => a.corners(b, i64::min),
            (Operation::Maximum, &[a, b]) => a.corners(b, i64::max),
            (Operation::If, &[_, b, c]) => Range::over([b.low, b.high, c.low, c.high]),
            _ => TRUTH,
        }
    }
}
