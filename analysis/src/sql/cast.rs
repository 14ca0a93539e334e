//! CAST: the types of SQL, and the conversions between them.

use polars::prelude::*;
use sqlparser::ast::DataType as SqlType;

use super::value::Value;
use crate::error::{Result, refused};

/// Casts a value; text that is not a number is an error, or null if `or_null`.
pub(super) fn cast(value: &Value, to: &SqlType, or_null: bool) -> Result<Value> {
    let value = value.clone().settled();
    let dtype = match to {
        SqlType::TinyInt(_)
        | SqlType::SmallInt(_)
        | SqlType::Int(_)
        | SqlType::Integer(_)
        | SqlType::BigInt(_)
        | SqlType::Int2(_)
        | SqlType::Int4(_)
        | SqlType::Int8(_)
        | SqlType::Int64
        | SqlType::UnsignedInteger
        | SqlType::UInt64 => DataType::Int64,
        SqlType::Float(_)
        | SqlType::Double(_)
        | SqlType::DoublePrecision
        | SqlType::Real
        | SqlType::Float4
        | SqlType::Float8
        | SqlType::Float64
        | SqlType::Decimal(_)
        | SqlType::Numeric(_) => DataType::Float64,
        SqlType::Boolean | SqlType::Bool => DataType::Boolean,
        SqlType::Text | SqlType::Varchar(None) | SqlType::String(None) | SqlType::Char(None) => {
            DataType::String
        }
        _ => {
            return Err(refused(format!(
                "CAST to {to} is not supported: cast to BIGINT, DOUBLE, BOOLEAN or VARCHAR"
            )));
        }
    };
    let expr = match (&value.dtype, &dtype) {
        (own, dtype) if own == dtype => value.expr.clone(),
        (own, DataType::Int64) if own.is_float() => {
            value.expr.clone().round(0, RoundMode::HalfToEven)
        }
        (DataType::String, DataType::Boolean) => truth_of_text(&value.expr),
        _ => value.expr.clone(),
    };
    let expr = match or_null {
        true => expr.cast(dtype.clone()),
        false => expr.strict_cast(dtype.clone()),
    };
    Ok(Value::over(expr, dtype, &[&value]))
}

/// Reads text as a truth value; null for any other text.
fn truth_of_text(text: &Expr) -> Expr {
    let text = text.clone().str().to_lowercase();
    let is = |words: [&str; 2]| text.clone().eq(lit(words[0])).or(text.clone().eq(lit(words[1])));
    when(is(["true", "t"]))
        .then(lit(true))
        .when(is(["false", "f"]))
        .then(lit(false))
        .otherwise(lit(NULL))
}
