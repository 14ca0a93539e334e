//! Evaluates constant expressions (ISA, "Constant Expressions") as ptxas does: over 64-bit integers, signed
//! unless a `U` or their size makes them unsigned, or over doubles.

use super::cursor::{Cursor, Parsed};
use crate::lexer::Token;

/// Maximum nesting of an expression.
const MAX_NESTING: u32 = 64;

/// The value of a constant expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Constant {
    Integer(Integer),
    /// Bits of `0f…`, which no operation but negation accepts.
    Single(u32),
    Double(f64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Integer {
    pub bits: u64,
    signed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operator {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    NotEqual,
    LessOrEqual,
    GreaterOrEqual,
    Less,
    Greater,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// Binary operators with their precedence, higher binding tighter. An operator precedes those that are its
/// prefix.
const OPERATORS: [(&str, Operator, u8); 18] = [
    ("||", Operator::Or, 1),
    ("&&", Operator::And, 2),
    ("|", Operator::BitOr, 3),
    ("^", Operator::BitXor, 4),
    ("&", Operator::BitAnd, 5),
    ("==", Operator::Equal, 6),
    ("!=", Operator::NotEqual, 6),
    ("<<", Operator::ShiftLeft, 8),
    (">>", Operator::ShiftRight, 8),
    ("<=", Operator::LessOrEqual, 7),
    (">=", Operator::GreaterOrEqual, 7),
    ("<", Operator::Less, 7),
    (">", Operator::Greater, 7),
    ("+", Operator::Add, 9),
    ("-", Operator::Subtract, 9),
    ("*", Operator::Multiply, 10),
    ("/", Operator::Divide, 10),
    ("%", Operator::Remainder, 10),
];

impl Cursor<'_> {
    /// Evaluates the next constant expression.
    pub fn constant(&mut self) -> Parsed<Constant> {
        self.conditional(0)
    }

    /// Evaluates the next integer expression; `what` names it in errors.
    pub fn integer_expression(&mut self, what: &str) -> Parsed<u64> {
        match self.constant()? {
            Constant::Integer(integer) => Ok(integer.bits),
            Constant::Single(_) | Constant::Double(_) => {
                Err(self.error(format!("{what} is a floating-point number")))
            }
        }
    }

    /// Evaluates `a ? b : c`.
    fn conditional(&mut self, depth: u32) -> Parsed<Constant> {
        let condition = self.binary(1, depth)?;
        if !self.accept('?') {
            return Ok(condition);
        }
        let holds = self.truth(condition)?;
        let first = self.conditional(depth + 1)?;
        self.expect(':')?;
        let second = self.conditional(depth + 1)?;
        Ok(if holds { first } else { second })
    }

    /// Evaluates operands joined by operators of at least precedence `lowest`.
    fn binary(&mut self, lowest: u8, depth: u32) -> Parsed<Constant> {
        let mut left = self.unary(depth)?;
        while let Some((operator, binding)) = self.operator(lowest) {
            let right = self.binary(binding + 1, depth + 1)?;
            left = combined(operator, left, right).map_err(|reason| self.error(reason))?;
        }
        Ok(left)
    }

    /// Consumes the next operator if its precedence is at least `lowest`.
    fn operator(&mut self, lowest: u8) -> Option<(Operator, u8)> {
        let is_next = |(text, _, _): &&(&str, Operator, u8)| self.has_symbols(text);
        let &(text, operator, binding) = OPERATORS.iter().find(is_next)?;
        if binding < lowest {
            return None;
        }
        text.chars().for_each(|symbol| {
            self.accept(symbol);
        });
        Some((operator, binding))
    }

    fn unary(&mut self, depth: u32) -> Parsed<Constant> {
        if depth > MAX_NESTING {
            return Err(self.error("an expression is nested too deeply"));
        }
        match self.peek() {
            Some(Token::Symbol(sign @ ('+' | '-' | '!' | '~'))) => {
                self.next();
                let operand = self.unary(depth + 1)?;
                negated(sign, operand).map_err(|reason| self.error(reason))
            }
            Some(Token::Symbol('(')) => self.in_parentheses(depth),
            _ => self.literal(),
        }
    }

    /// Evaluates `(a)`, or a cast and its operand: `(.s64) a`.
    fn in_parentheses(&mut self, depth: u32) -> Parsed<Constant> {
        self.expect('(')?;
        let signed = match self.peek() {
            Some(Token::Dotted("s64")) => true,
            Some(Token::Dotted("u64")) => false,
            _ => {
                let inner = self.conditional(depth + 1)?;
                self.expect(')')?;
                return Ok(inner);
            }
        };
        self.next();
        self.expect(')')?;
        match self.unary(depth + 1)? {
            Constant::Integer(Integer { bits, .. }) => {
                Ok(Constant::Integer(Integer { bits, signed }))
            }
            _ => Err(self.error("a cast of a floating-point number")),
        }
    }

    fn literal(&mut self) -> Parsed<Constant> {
        let constant = match self.peek() {
            Some(Token::Integer(bits)) => {
                let signed = i64::try_from(bits).is_ok();
                Constant::Integer(Integer { bits, signed })
            }
            Some(Token::Unsigned(bits)) => Constant::Integer(Integer { bits, signed: false }),
            Some(Token::Single(bits)) => Constant::Single(bits),
            Some(Token::Double(bits)) => Constant::Double(f64::from_bits(bits)),
            Some(Token::Word("WARP_SZ")) => Constant::Integer(Integer { bits: 32, signed: true }),
            _ => return Err(self.expected("a constant")),
        };
        self.next();
        Ok(constant)
    }

    fn truth(&self, constant: Constant) -> Parsed<bool> {
        match constant {
            Constant::Integer(integer) => Ok(integer.bits != 0),
            _ => Err(self.error("a condition is a floating-point number")),
        }
    }
}

/// Applies a sign to its operand.
fn negated(sign: char, operand: Constant) -> Result<Constant, String> {
    Ok(match (sign, operand) {
        ('+', operand) => operand,
        ('-', Constant::Integer(Integer { bits, signed })) => {
            Constant::Integer(Integer { bits: bits.wrapping_neg(), signed })
        }
        ('-', Constant::Single(bits)) => Constant::Single(bits ^ 1 << 31),
        ('-', Constant::Double(value)) => Constant::Double(-value),
        ('~', Constant::Integer(Integer { bits, .. })) => {
            Constant::Integer(Integer { bits: !bits, signed: false })
        }
        ('!', Constant::Integer(Integer { bits, .. })) => truth_value(bits == 0),
        _ => return Err(format!("`{sign}` of a floating-point number")),
    })
}

fn combined(operator: Operator, left: Constant, right: Constant) -> Result<Constant, String> {
    match (left, right) {
        (Constant::Integer(left), Constant::Integer(right)) => of_integers(operator, left, right),
        (Constant::Double(left), Constant::Double(right)) => of_doubles(operator, left, right),
        (Constant::Single(_), _) | (_, Constant::Single(_)) => {
            Err("a single-precision constant in an expression: write it as a double".into())
        }
        _ => Err("an integer and a floating-point number in one expression".into()),
    }
}

/// Applies an integer operator. Both operands are unsigned if either is, unless the operator defines
/// otherwise.
fn of_integers(operator: Operator, left: Integer, right: Integer) -> Result<Constant, String> {
    use Operator::*;
    let (a, b) = (left.bits, right.bits);
    let (c, d) = (a as i64, b as i64);
    let signed = left.signed && right.signed;
    let bits = match operator {
        Or => return Ok(truth_value(a != 0 || b != 0)),
        And => return Ok(truth_value(a != 0 && b != 0)),
        Equal => return Ok(truth_value(a == b)),
        NotEqual => return Ok(truth_value(a != b)),
        Less => return Ok(truth_value(if signed { c < d } else { a < b })),
        LessOrEqual => return Ok(truth_value(if signed { c <= d } else { a <= b })),
        Greater => return Ok(truth_value(if signed { c > d } else { a > b })),
        GreaterOrEqual => return Ok(truth_value(if signed { c >= d } else { a >= b })),
        BitOr => a | b,
        BitXor => a ^ b,
        BitAnd => a & b,
        Add => a.wrapping_add(b),
        Subtract => a.wrapping_sub(b),
        Multiply => a.wrapping_mul(b),
        Divide | Remainder if b == 0 => return Err("a division by zero".into()),
        Divide if signed => c.wrapping_div(d) as u64,
        Divide => a / b,
        // Remainders and their operands are unsigned.
        Remainder => return Ok(Constant::Integer(Integer { bits: a % b, signed: false })),
        // A shift has the type of its left operand.
        ShiftLeft => return Ok(shifted(left, a.wrapping_shl(b as u32))),
        ShiftRight if left.signed => return Ok(shifted(left, c.wrapping_shr(b as u32) as u64)),
        ShiftRight => return Ok(shifted(left, a.wrapping_shr(b as u32))),
    };
    Ok(Constant::Integer(Integer { bits, signed }))
}

fn shifted(left: Integer, bits: u64) -> Constant {
    Constant::Integer(Integer { bits, signed: left.signed })
}

fn of_doubles(operator: Operator, left: f64, right: f64) -> Result<Constant, String> {
    Ok(Constant::Double(match operator {
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide => left / right,
        _ => return Err("an operator of integers between floating-point numbers".into()),
    }))
}

fn truth_value(holds: bool) -> Constant {
    Constant::Integer(Integer { bits: u64::from(holds), signed: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Constant {
        let mut cursor = Cursor::new(text).unwrap();
        let value = cursor.constant().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(cursor.peek(), None, "{text}");
        value
    }

    fn integer(text: &str) -> i64 {
        match value(text) {
            Constant::Integer(integer) => integer.bits as i64,
            other => panic!("{text}: {other:?}"),
        }
    }

    /// Each expected value is that of ptxas 13.0.
    #[test]
    fn integers_are_evaluated_as_ptxas_does() {
        for (text, expected) in [
            ("2+3*4", 14),
            ("(1+2)*3", 9),
            ("1<<2+1", 8),
            ("1<<4|3", 19),
            ("7 & 3 == 3", 1),
            ("1 | 2 ^ 3 & 1", 3),
            ("10-3-2", 5),
            ("100/10/5", 2),
            ("1<2==1", 1),
            ("017+0b11", 18),
            ("- - 2", 2),
            ("+-+2", -2),
            ("!3", 0),
            ("~5", !5),
            ("1 ? 2 : 0 ? 3 : 4", 2),
            ("0 ? 2 : 1 ? 3 : 4", 3),
            ("7 % 3==1&&2>=1", 1),
            ("-5 / 2", -2),
            ("-5 % 3", 2),
            ("-1 % 10U", 5),
            ("-1 / 10U", 1_844_674_407_370_955_161),
            ("-5 >> 1", -3),
            ("(.u64)-5 >> 60", 15),
            ("~0 >> 60", 15),
            ("(-1 & -1) < 1", 1),
            ("0xFFFFFFFFFFFFFFFF >> 60", 15),
            ("-(1U) >> 60", 15),
            ("(1 ? -1 : 2U) >> 60", -1),
            ("1 << 65", 2),
            ("-1 < 1", 1),
            ("-1 < 1U", 0),
            ("-1U < 0", 0),
            ("(.s64)-1U < 0", 1),
            ("((2 % 3) - 5) < 0", 0),
            ("((2U & 3) - 5) < 0", 0),
            ("((2 << 1U) - 5) < 0", 1),
            ("((2U << 1) - 5) < 0", 0),
            ("(!2U - 5) < 0", 1),
            ("((2U < 3) - 5) < 0", 1),
            ("WARP_SZ*2-1", 63),
        ] {
            assert_eq!(integer(text), expected, "{text}");
        }
    }

    #[test]
    fn doubles_are_added_and_multiplied() {
        assert_eq!(value("1.0/4.0"), Constant::Double(0.25));
        assert_eq!(value("-(2.5)*2.0"), Constant::Double(-5.0));
        assert_eq!(value("0d3FF0000000000000+1.5"), Constant::Double(2.5));
        assert_eq!(value("-0f3F800000"), Constant::Single(0xBF80_0000));
    }

    #[test]
    fn invalid_expressions_are_refused() {
        for (text, reason) in [
            ("5/0", "a division by zero"),
            ("5 % 0", "a division by zero"),
            ("1 + 2.5", "an integer and a floating-point number"),
            ("0f3F800000+0f3F800000", "a single-precision constant in an expression"),
            ("1.0 < 2.0", "an operator of integers"),
            ("~1.0", "`~` of a floating-point number"),
            ("(1", "expected `)`"),
            ("1 ? 2", "expected `:`"),
            ("1+", "expected a constant"),
            (&"(".repeat(9999), "nested too deeply"),
        ] {
            let error = Cursor::new(text).unwrap().constant().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
