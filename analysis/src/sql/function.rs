//! Scalar functions.

use polars::lazy::dsl::{max_horizontal, min_horizontal};
use polars::prelude::*;
use sqlparser::ast::{Expr as Ast, Function};

use super::aggregate::is_aggregate;
use super::planner::Planner;
use super::scope::Context;
use super::syntax::{arguments, name_of, whole};
use super::value::{Arithmetic, Value, arithmetic, common, compared, kind, typed};
use crate::error::{Error, Result, refused};

impl Planner<'_> {
    /// Evaluates a function, or an aggregate over a window.
    pub(super) fn function(
        &mut self,
        function: &Function,
        ast: &Ast,
        context: &mut Context,
    ) -> Result<Value> {
        let name = name_of(function);
        if let Some(over) = &function.over {
            return self.window(function, over, ast, context);
        }
        if is_aggregate(&name) {
            return Err(refused(match context.without_windows {
                Some(clause) => {
                    format!("`{ast}` is an aggregate, which is not allowed in {clause}")
                }
                None => format!("`{ast}` is an aggregate within an aggregate"),
            }));
        }
        let args = arguments(function, ast)?;
        self.call(&name, &args, ast, context)
    }

    /// Evaluates the function `name` of `args`.
    pub(super) fn call(
        &mut self,
        name: &str,
        args: &[&Ast],
        ast: &Ast,
        context: &mut Context,
    ) -> Result<Value> {
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push(self.expression(arg, context)?.settled());
        }
        let call = Call { name, ast, args, values };
        call.value()
    }
}

/// A call of a function with its arguments.
struct Call<'a> {
    name: &'a str,
    ast: &'a Ast,
    args: &'a [&'a Ast],
    values: Vec<Value>,
}

impl Call<'_> {
    fn value(&self) -> Result<Value> {
        let float = |function: fn(Expr) -> Expr| {
            let [value] = self.numbers()?;
            Ok(self.of(finite(function(value.float())), DataType::Float64))
        };
        match self.name {
            "ABS" => self.kept(Expr::abs),
            "CEIL" | "CEILING" => self.kept(|value| value.ceil()),
            "FLOOR" => self.kept(|value| value.floor()),
            "TRUNC" => self.kept(|value| value.truncate(0)),
            "SIGN" => {
                let [value] = self.numbers()?;
                Ok(self.of(value.float().sign().cast(DataType::Int64), DataType::Int64))
            }
            "ROUND" => self.round(),
            "SQRT" => float(Expr::sqrt),
            "EXP" => float(Expr::exp),
            "LN" => float(|value| value.log(lit(std::f64::consts::E))),
            "LOG10" => float(|value| value.log(lit(10.0))),
            "LOG2" => float(|value| value.log(lit(2.0))),
            "LOG" if self.values.len() == 1 => float(|value| value.log(lit(10.0))),
            "LOG" => {
                let [base, value] = self.numbers()?;
                let ln = |value: &Value| value.float().log(lit(std::f64::consts::E));
                Ok(self.of(finite(ln(value) / ln(base)), DataType::Float64))
            }
            "POWER" | "POW" => {
                let [value, exponent] = self.numbers()?;
                Ok(self.of(finite(value.float().pow(exponent.float())), DataType::Float64))
            }
            "MOD" => {
                let [left, right] = self.numbers()?;
                arithmetic(Arithmetic::Remainder, left, right, &|| self.ast.to_string())
            }
            "PI" if self.values.is_empty() => {
                Ok(Value::new(typed(std::f64::consts::PI), DataType::Float64))
            }
            "COALESCE" | "IFNULL" => self.joined(|values| Ok(coalesce(&values))),
            "GREATEST" => self.joined(max_horizontal),
            "LEAST" => self.joined(min_horizontal),
            "NULLIF" => {
                let [left, right] = self.some()?;
                let equal = compared([left.clone(), right.clone()], self.ast, Expr::eq::<Expr>)?;
                let expr = when(equal.expr).then(lit(NULL)).otherwise(left.expr.clone());
                Ok(self.of(expr, left.dtype.clone()))
            }
            "IF" | "IIF" => {
                let [condition, yes, no] = self.some()?;
                let dtype = self.common(&[yes, no])?;
                if condition.dtype != DataType::Boolean {
                    return Err(self.wrong("a condition first"));
                }
                let (yes, no) = (yes.clone().to(&dtype), no.clone().to(&dtype));
                Ok(self.of(when(condition.expr.clone()).then(yes.expr).otherwise(no.expr), dtype))
            }
            _ => self.text(),
        }
    }

    fn text(&self) -> Result<Value> {
        let letters = |function: fn(Expr) -> Expr| {
            let [text] = self.texts()?;
            Ok(self.of(function(text), DataType::String))
        };
        match self.name {
            "LOWER" | "LCASE" => letters(|text| text.str().to_lowercase()),
            "UPPER" | "UCASE" => letters(|text| text.str().to_uppercase()),
            "TRIM" => letters(|text| text.str().strip_chars(lit(" "))),
            "LTRIM" => letters(|text| text.str().strip_chars_start(lit(" "))),
            "RTRIM" => letters(|text| text.str().strip_chars_end(lit(" "))),
            "LENGTH" | "LEN" | "CHAR_LENGTH" => {
                let [text] = self.texts()?;
                Ok(self.of(text.str().len_chars().cast(DataType::Int64), DataType::Int64))
            }
            "REPLACE" => {
                let [text, from, to] = self.texts()?;
                Ok(self.of(text.str().replace_all(from, to, true), DataType::String))
            }
            "STARTS_WITH" => {
                let [text, start] = self.texts()?;
                Ok(self.of(text.str().starts_with(start), DataType::Boolean))
            }
            "ENDS_WITH" => {
                let [text, end] = self.texts()?;
                Ok(self.of(text.str().ends_with(end), DataType::Boolean))
            }
            "CONTAINS" => {
                let [text, part] = self.texts()?;
                Ok(self.of(text.str().contains_literal(part), DataType::Boolean))
            }
            "CONCAT" => {
                let texts =
                    self.values.iter().map(|value| value.clone().to(&DataType::String).expr);
                Ok(self.of(concat_str(texts.collect::<Vec<_>>(), "", true), DataType::String))
            }
            "LEFT" => self.part(|text, count| text.str().slice(lit(0), count)),
            "SUBSTR" | "SUBSTRING" => self.substring(),
            _ => Err(refused(format!(
                "`{}`: there is no such function; docs/analysis.md lists them",
                self.ast
            ))),
        }
    }

    fn part(&self, take: fn(Expr, Expr) -> Expr) -> Result<Value> {
        let [text, _] = self.some()?;
        let count = self.whole(1)?;
        if !text.is_text() || count < 0 {
            return Err(self.wrong("text and a number of letters"));
        }
        Ok(self.of(take(text.clone().to(&DataType::String).expr, lit(count)), DataType::String))
    }

    /// Returns the letters from a position on, counted from 1.
    fn substring(&self) -> Result<Value> {
        let (start, length) =
            (self.whole(1)?, if self.args.len() == 3 { Some(self.whole(2)?) } else { None });
        if self.args.len() > 3
            || !self.values[0].is_text()
            || start < 1
            || length.is_some_and(|length| length < 0)
        {
            return Err(self.wrong("text, a position from 1 on and a length"));
        }
        let length =
            length.map_or(lit(NULL).cast(DataType::UInt64), |length| lit(length.unsigned_abs()));
        let text = self.values[0].clone().to(&DataType::String).expr;
        Ok(self.of(text.str().slice(lit(start - 1), length), DataType::String))
    }

    fn round(&self) -> Result<Value> {
        let digits = if self.args.len() == 2 { self.whole(1)? } else { 0 };
        let value = self.values.first().filter(|value| value.is_number() && self.args.len() <= 2);
        let value = value.ok_or_else(|| self.wrong("a number and a number of digits"))?;
        if value.is_integer() && digits >= 0 {
            return Ok(value.clone());
        }
        let half_up = |value: Expr, digits: u32| value.round(digits, RoundMode::HalfAwayFromZero);
        let expr = match u32::try_from(digits) {
            Ok(digits) => half_up(value.float(), digits),
            Err(_) => {
                let unit = lit(10f64.powi(i32::try_from(-digits).unwrap_or(i32::MAX)));
                half_up(value.float() / unit.clone(), 0) * unit
            }
        };
        let dtype = if value.is_integer() { DataType::Int64 } else { DataType::Float64 };
        Ok(self.of(expr.cast(dtype.clone()), dtype))
    }

    /// Applies a numeric function that preserves the integer type.
    fn kept(&self, function: fn(Expr) -> Expr) -> Result<Value> {
        let [value] = self.numbers()?;
        let dtype = if value.is_integer() { DataType::Int64 } else { DataType::Float64 };
        let expr = function(value.clone().to(&dtype).expr);
        Ok(self.of(expr, dtype))
    }

    /// Applies a function of several values of one type.
    fn joined(&self, function: impl FnOnce(Vec<Expr>) -> PolarsResult<Expr>) -> Result<Value> {
        let dtype = self.common(&self.values.iter().collect::<Vec<_>>())?;
        let values = self.values.iter().map(|value| value.clone().to(&dtype).expr);
        Ok(self.of(function(values.collect())?, dtype))
    }

    fn common(&self, values: &[&Value]) -> Result<DataType> {
        let mut dtype = DataType::Null;
        for value in values {
            dtype = common(&dtype, &value.dtype).ok_or_else(|| {
                refused(format!("`{}` has {} and {}", self.ast, kind(&dtype), kind(&value.dtype)))
            })?;
        }
        if values.is_empty() { Err(self.wrong("values")) } else { Ok(dtype) }
    }

    fn some<const N: usize>(&self) -> Result<[&Value; N]> {
        let values: Vec<&Value> = self.values.iter().collect();
        values.try_into().map_err(|_| self.wrong(&format!("{N} values")))
    }

    fn numbers<const N: usize>(&self) -> Result<[&Value; N]> {
        let values = self.some()?;
        match values.iter().all(|value| value.is_number()) {
            true => Ok(values),
            false => Err(self.wrong(if N == 1 { "a number" } else { "numbers" })),
        }
    }

    fn texts<const N: usize>(&self) -> Result<[Expr; N]> {
        let values: [&Value; N] = self.some()?;
        match values.iter().all(|value| value.is_text()) {
            true => Ok(values.map(|value| value.clone().to(&DataType::String).expr)),
            false => Err(self.wrong("text")),
        }
    }

    /// Returns an argument as a whole number.
    fn whole(&self, position: usize) -> Result<i64> {
        let number = self.args.get(position).and_then(|ast| whole(ast));
        number.ok_or_else(|| self.wrong("integer literals"))
    }

    fn wrong(&self, expected: &str) -> Error {
        refused(format!("`{}`: {} takes {expected}", self.ast, self.name))
    }

    fn of(&self, expr: Expr, dtype: DataType) -> Value {
        Value::over(expr, dtype, &self.values.iter().collect::<Vec<_>>())
    }
}

fn finite(value: Expr) -> Expr {
    crate::frame::finite_or_null(value)
}
