//! Typed expressions, and SQL arithmetic on them.
//!
//! Integer arithmetic is 64-bit and signed. A result beyond that range is an error and never wraps.
//! An undefined quotient is null.

use polars::prelude::*;
use sqlparser::ast::Expr as Ast;

use crate::error::{Result, refused};

/// An expression over the columns of a frame, with the type of its values.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub expr: Expr,
    pub dtype: DataType,
    /// The same integer as a float, which reveals an overflow of 64 bits.
    approximate: Option<Expr>,
    /// Height of the expression's tree.
    pub depth: usize,
}

/// Magnitude below 2^63 up to which the float guarantees that the integer is in range.
const SAFE: f64 = 9.223_372e18;
/// Factor that takes any unsafe number beyond the range, so that its conversion fails.
const BEYOND: f64 = 1e10;

impl Value {
    pub fn new(expr: Expr, dtype: DataType) -> Value {
        Value { expr, dtype, approximate: None, depth: 0 }
    }

    /// Makes an expression over `parts`.
    pub fn over(expr: Expr, dtype: DataType, parts: &[&Value]) -> Value {
        let depth = 1 + parts.iter().map(|part| part.depth).max().unwrap_or(0);
        Value { expr, dtype, approximate: None, depth }
    }

    pub fn null() -> Value {
        Value::new(lit(NULL), DataType::Null)
    }

    pub fn is_number(&self) -> bool {
        self.dtype.is_primitive_numeric() || self.dtype == DataType::Null
    }

    pub fn is_integer(&self) -> bool {
        self.dtype.is_integer()
    }

    pub fn is_text(&self) -> bool {
        matches!(self.dtype, DataType::String | DataType::Null)
    }

    /// Makes the expression fail on integer overflow.
    pub fn settled(self) -> Value {
        let Some(approximate) = self.approximate else { return self };
        let is_safe = approximate.clone().abs().lt(lit(SAFE)).or(approximate.clone().is_null());
        let failure = when(is_safe).then(lit(0.0)).otherwise(approximate * lit(BEYOND));
        let expr = self.expr + failure.strict_cast(DataType::Int64);
        Value { expr, dtype: self.dtype, approximate: None, depth: self.depth + 2 }
    }

    /// Converts the value to another type; unchanged if it has this type.
    pub fn to(self, dtype: &DataType) -> Value {
        let value = self.settled();
        if value.dtype == *dtype {
            return value;
        }
        let depth = value.depth + 1;
        Value {
            expr: value.expr.strict_cast(dtype.clone()),
            depth,
            ..Value::new(lit(NULL), dtype.clone())
        }
    }

    fn integer(&self) -> Expr {
        match self.dtype {
            DataType::Int64 => self.expr.clone(),
            _ => self.expr.clone().strict_cast(DataType::Int64),
        }
    }

    pub fn float(&self) -> Expr {
        match (&self.approximate, &self.dtype) {
            (Some(approximate), _) => approximate.clone(),
            (None, DataType::Float64) => self.expr.clone(),
            (None, _) => self.expr.clone().cast(DataType::Float64),
        }
    }
}

/// Makes a literal of the type of `value`; `lit` would use the smallest type that holds it.
pub(super) fn typed(value: impl Into<Scalar>) -> Expr {
    lit(value.into())
}

/// Returns the common type of two values.
pub(super) fn common(left: &DataType, right: &DataType) -> Option<DataType> {
    match (left, right) {
        (left, right) if left == right => Some(left.clone()),
        (DataType::Null, other) | (other, DataType::Null) => Some(other.clone()),
        (left, right) if left.is_integer() && right.is_integer() => Some(DataType::Int64),
        (left, right) if left.is_primitive_numeric() && right.is_primitive_numeric() => {
            Some(DataType::Float64)
        }
        _ => None,
    }
}

/// Returns the word for a type in a message.
pub(super) fn kind(dtype: &DataType) -> &'static str {
    match dtype {
        DataType::Null => "null",
        DataType::Boolean => "a truth value",
        DataType::String => "text",
        DataType::List(_) => "a list",
        _ => "a number",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    DivideWhole,
    Remainder,
}

impl Arithmetic {
    fn of(self, left: Expr, right: Expr) -> Expr {
        match self {
            Arithmetic::Add => left + right,
            Arithmetic::Subtract => left - right,
            Arithmetic::Multiply => left * right,
            Arithmetic::Divide => left / nonzero(right),
            Arithmetic::DivideWhole => {
                let rest = remainder(left.clone(), right.clone());
                (left - rest).floor_div(nonzero(right))
            }
            Arithmetic::Remainder => remainder(left, right),
        }
    }
}

/// Computes `left op right`; `text` is the query's text, for a message.
pub(super) fn arithmetic(
    op: Arithmetic,
    left: &Value,
    right: &Value,
    text: &dyn Fn() -> String,
) -> Result<Value> {
    if let Some(other) = [left, right].into_iter().find(|value| !value.is_number()) {
        return Err(refused(format!("`{}` calculates with {}", text(), kind(&other.dtype))));
    }
    let are_integers = [left, right].iter().all(|value| value.is_integer());
    if !are_integers || op == Arithmetic::Divide {
        let (left_of, right_of) = (left.clone().settled(), right.clone().settled());
        let expr = op.of(left_of.float(), right_of.float());
        return Ok(Value::over(expr, DataType::Float64, &[left, right]));
    }
    let is_exact = matches!(op, Arithmetic::DivideWhole | Arithmetic::Remainder);
    if is_exact {
        let (left, right) = (left.clone().settled(), right.clone().settled());
        let expr = op.of(left.integer(), right.integer());
        return Ok(Value::over(expr, DataType::Int64, &[&left, &right]));
    }
    let expr = op.of(left.integer(), right.integer());
    let approximate = Some(op.of(left.float(), right.float()));
    Ok(Value { approximate, ..Value::over(expr, DataType::Int64, &[left, right]) })
}

/// Returns an exact integer sum that fails on overflow.
pub(super) fn checked(exact: Expr, approximate: Expr) -> Expr {
    let value = Value { approximate: Some(approximate), ..Value::new(exact, DataType::Int64) };
    value.settled().expr
}

fn nonzero(divisor: Expr) -> Expr {
    when(divisor.clone().neq(lit(0))).then(divisor).otherwise(lit(NULL))
}

/// Computes the remainder with the sign of the dividend; null for a division by zero.
fn remainder(left: Expr, right: Expr) -> Expr {
    // Polars' remainder has the sign of the divisor.
    let rest = left.clone() % nonzero(right.clone());
    let is_other = rest.clone().neq(lit(0)).and(left.lt(lit(0)).neq(rest.clone().lt(lit(0))));
    when(is_other).then(rest.clone() - right).otherwise(rest)
}

/// Joins conditions by AND or OR into a tree of minimal height.
pub(super) fn joined(mut values: Vec<Value>, join: fn(Expr, Expr) -> Expr) -> Value {
    while values.len() > 1 {
        let mut next = Vec::with_capacity(values.len().div_ceil(2));
        let mut pairs = values.into_iter();
        while let Some(left) = pairs.next() {
            next.push(match pairs.next() {
                Some(right) => {
                    let expr = join(left.expr.clone(), right.expr.clone());
                    Value::over(expr, DataType::Boolean, &[&left, &right])
                }
                None => left,
            });
        }
        values = next;
    }
    values.pop().unwrap_or_else(|| Value::new(lit(true), DataType::Boolean))
}

/// Converts two comparable values to their common type.
pub(super) fn same_type(values: [Value; 2], text: impl Fn() -> String) -> Result<[Value; 2]> {
    let [left, right] = values;
    let dtype = common(&left.dtype, &right.dtype).ok_or_else(|| {
        refused(format!("`{}` compares {} with {}", text(), kind(&left.dtype), kind(&right.dtype)))
    })?;
    Ok([left.to(&dtype), right.to(&dtype)])
}

/// Compares two values of a common type; `ast` is the comparison, for a message.
pub(super) fn compared(
    values: [Value; 2],
    ast: &Ast,
    compare: fn(Expr, Expr) -> Expr,
) -> Result<Value> {
    let [left, right] = same_type(values, || ast.to_string())?;
    let expr = compare(left.expr.clone(), right.expr.clone());
    // Comparing two untyped nulls yields an untyped null.
    let expr = if left.dtype == DataType::Null { expr.cast(DataType::Boolean) } else { expr };
    Ok(Value::over(expr, DataType::Boolean, &[&left, &right]))
}

/// Negates a condition if `negated`.
pub(super) fn negated_if(negated: bool, value: Value) -> Value {
    match negated {
        true => Value::over(value.expr.clone().not(), DataType::Boolean, &[&value]),
        false => value,
    }
}
