//! Expressions: operators, CASE, CAST, and the names in them.

use polars::prelude::*;
use sqlparser::ast::{
    BinaryOperator, CaseWhen, CastKind, CeilFloorKind, Expr as Ast, Ident, UnaryOperator,
    Value as Literal,
};

use super::cast::cast;
use super::planner::Planner;
use super::scope::{Context, absent, find, is_name};
use super::syntax::{text_of, text_of_literal};
use super::value::{
    Arithmetic, Value, arithmetic, common, compared, joined, kind, negated_if, typed,
};
use crate::error::{Result, refused};

/// Expression height beyond which a part becomes a column: polars evaluates expressions
/// recursively, on threads with small stacks.
const HIGHEST: usize = 24;
/// Height of the tree of about 64 conditions.
const LONG_CONDITION: usize = 8;

impl Planner<'_> {
    /// Compiles an expression over the rows of `context`. It may add columns to them.
    pub(super) fn expression(&mut self, ast: &Ast, context: &mut Context) -> Result<Value> {
        if let Some(value) = context.groups.as_ref().and_then(|groups| groups.value(ast, context)) {
            return Ok(value);
        }
        let value = self.node(ast, context)?;
        match value.depth > HIGHEST {
            true => Ok(self.as_column(value, context)),
            false => Ok(value),
        }
    }

    /// Returns the values as a column of the rows.
    pub(super) fn as_column(&mut self, value: Value, context: &mut Context) -> Value {
        let value = value.settled();
        let id = self.fresh();
        context.add(value.expr, &id);
        Value::new(col(id), value.dtype)
    }

    fn node(&mut self, ast: &Ast, context: &mut Context) -> Result<Value> {
        match ast {
            Ast::Nested(inner) => self.expression(inner, context),
            Ast::Value(value) => literal(&value.value),
            Ast::Identifier(name) => self.name(None, name, context),
            Ast::CompoundIdentifier(parts) => match parts.as_slice() {
                [table, name] => self.name(Some(table), name, context),
                _ => Err(refused(format!("`{ast}`: write a column as `table.column`"))),
            },
            Ast::UnaryOp { op, expr } => self.unary(*op, expr, ast, context),
            Ast::BinaryOp { left, op, right } => self.binary(left, op, right, ast, context),
            Ast::IsNull(inner) => self.test(inner, context, |value| value.is_null()),
            Ast::IsNotNull(inner) => self.test(inner, context, |value| value.is_not_null()),
            Ast::IsTrue(inner) => self.truth(inner, context, |value| value.eq_missing(lit(true))),
            Ast::IsNotTrue(inner) => {
                self.truth(inner, context, |value| value.neq_missing(lit(true)))
            }
            Ast::IsFalse(inner) => self.truth(inner, context, |value| value.eq_missing(lit(false))),
            Ast::IsNotFalse(inner) => {
                self.truth(inner, context, |value| value.neq_missing(lit(false)))
            }
            Ast::IsUnknown(inner) => self.truth(inner, context, |value| value.is_null()),
            Ast::IsNotUnknown(inner) => self.truth(inner, context, |value| value.is_not_null()),
            Ast::IsDistinctFrom(left, right) => {
                self.comparison(left, right, ast, context, Expr::neq_missing::<Expr>)
            }
            Ast::IsNotDistinctFrom(left, right) => {
                self.comparison(left, right, ast, context, Expr::eq_missing::<Expr>)
            }
            Ast::InList { expr, list, negated } => self.in_list(expr, list, *negated, ast, context),
            Ast::InSubquery { expr, subquery, negated } => {
                self.in_subquery(expr, subquery, *negated, ast, context)
            }
            Ast::Exists { subquery, negated } => self.exists(subquery, *negated, context),
            Ast::Subquery(subquery) => self.scalar(subquery, context),
            Ast::Between { expr, negated, low, high } => {
                let low = self.comparison(expr, low, ast, context, Expr::gt_eq::<Expr>)?;
                let high = self.comparison(expr, high, ast, context, Expr::lt_eq::<Expr>)?;
                Ok(negated_if(*negated, joined(vec![low, high], Expr::and::<Expr>)))
            }
            Ast::Like { negated, any: false, expr, pattern, escape_char } => {
                let escape = escape_char.as_ref().map(|escape| &escape.value);
                self.like(expr, pattern, escape, "(?s)", *negated, context)
            }
            Ast::ILike { negated, any: false, expr, pattern, escape_char } => {
                let escape = escape_char.as_ref().map(|escape| &escape.value);
                self.like(expr, pattern, escape, "(?si)", *negated, context)
            }
            Ast::Case { operand, conditions, else_result, .. } => {
                self.case(operand.as_deref(), conditions, else_result.as_deref(), context)
            }
            Ast::Cast { kind, expr, data_type, array: false, format: None } => {
                let value = self.expression(expr, context)?;
                cast(&value, data_type, matches!(kind, CastKind::TryCast | CastKind::SafeCast))
            }
            Ast::Function(function) => self.function(function, ast, context),
            Ast::Ceil { expr, field: CeilFloorKind::DateTimeField(_) } => {
                self.call("CEIL", &[expr], ast, context)
            }
            Ast::Floor { expr, field: CeilFloorKind::DateTimeField(_) } => {
                self.call("FLOOR", &[expr], ast, context)
            }
            Ast::Substring { expr, substring_from: Some(from), substring_for, .. } => {
                let length = substring_for.iter().map(|length| &**length);
                let args: Vec<&Ast> = [&**expr, &**from].into_iter().chain(length).collect();
                self.call("SUBSTR", &args, ast, context)
            }
            Ast::Trim { trim_where: None, trim_what: None, expr, trim_characters: None } => {
                self.call("TRIM", &[expr], ast, context)
            }
            _ => Err(refused(format!("`{ast}` is not supported"))),
        }
    }

    /// Resolves a name to a column, an alias or a value of an outer row.
    fn name(
        &mut self,
        table: Option<&Ident>,
        name: &Ident,
        context: &mut Context,
    ) -> Result<Value> {
        let column = find(&context.rows.columns, table, name)?.cloned();
        if context.groups.is_none()
            && let Some(column) = &column
        {
            return Ok(column.value());
        }
        if table.is_none()
            && let Some(position) =
                context.aliases.iter().position(|(alias, _)| is_name(name, &alias.value))
        {
            // Within its own expression an alias refers to something else.
            let (alias, ast) = context.aliases.remove(position);
            let value = self.expression(ast, context);
            context.aliases.insert(position, (alias, ast));
            return value;
        }
        if let Some(column) = column {
            return Err(refused(format!(
                "`{}` is neither in GROUP BY nor in an aggregate such as MAX({})",
                column.name, column.name
            )));
        }
        if let Some(outer) = context.env.outer
            && let Some(value) = outer.value(table, name)?
        {
            return Ok(value);
        }
        Err(absent(&context.rows.columns, table, name))
    }

    fn unary(
        &mut self,
        op: UnaryOperator,
        expr: &Ast,
        ast: &Ast,
        context: &mut Context,
    ) -> Result<Value> {
        match op {
            UnaryOperator::Not => {
                let value = self.truth_value(expr, context)?;
                Ok(negated_if(true, value))
            }
            UnaryOperator::Plus => self.expression(expr, context),
            UnaryOperator::Minus => {
                let value = self.expression(expr, context)?;
                let zero = Value::new(typed(0i64), DataType::Int64);
                arithmetic(Arithmetic::Subtract, &zero, &value, &|| ast.to_string())
            }
            _ => Err(refused(format!("`{ast}` is not supported"))),
        }
    }

    fn binary(
        &mut self,
        left: &Ast,
        op: &BinaryOperator,
        right: &Ast,
        ast: &Ast,
        context: &mut Context,
    ) -> Result<Value> {
        use BinaryOperator as Op;
        let text = || ast.to_string();
        let operation = match op {
            Op::And | Op::Or => return self.connected(ast, op, context),
            Op::Eq => return self.comparison(left, right, ast, context, Expr::eq::<Expr>),
            Op::NotEq => return self.comparison(left, right, ast, context, Expr::neq::<Expr>),
            Op::Lt => return self.comparison(left, right, ast, context, Expr::lt::<Expr>),
            Op::LtEq => return self.comparison(left, right, ast, context, Expr::lt_eq::<Expr>),
            Op::Gt => return self.comparison(left, right, ast, context, Expr::gt::<Expr>),
            Op::GtEq => return self.comparison(left, right, ast, context, Expr::gt_eq::<Expr>),
            Op::StringConcat => {
                let values = [self.expression(left, context)?, self.expression(right, context)?];
                let texts = values.map(|value| value.to(&DataType::String));
                let parts = [texts[0].expr.clone(), texts[1].expr.clone()];
                let expr = concat_str(parts, "", false);
                return Ok(Value::over(expr, DataType::String, &[&texts[0], &texts[1]]));
            }
            Op::Plus => Arithmetic::Add,
            Op::Minus => Arithmetic::Subtract,
            Op::Multiply => Arithmetic::Multiply,
            Op::Divide => Arithmetic::Divide,
            Op::Modulo => Arithmetic::Remainder,
            Op::DuckIntegerDivide | Op::MyIntegerDivide => Arithmetic::DivideWhole,
            Op::BitwiseXor => {
                return Err(refused(format!("`{ast}`: a power is POWER({left}, {right})")));
            }
            _ => return Err(refused(format!("`{ast}`: the operator {op} is not supported"))),
        };
        let (left, right) = (self.expression(left, context)?, self.expression(right, context)?);
        arithmetic(operation, &left, &right, &text)
    }

    /// Compiles a chain of AND or of OR of any length.
    fn connected(
        &mut self,
        ast: &Ast,
        connective: &BinaryOperator,
        context: &mut Context,
    ) -> Result<Value> {
        let mut parts = Vec::new();
        let mut first = ast;
        while let Ast::BinaryOp { left, op, right } = first {
            if op != connective {
                break;
            }
            parts.push(&**right);
            first = left;
        }
        parts.push(first);
        let values = parts.into_iter().rev().map(|part| self.truth_value(part, context));
        let values: Vec<Value> = values.collect::<Result<_>>()?;
        let join =
            if *connective == BinaryOperator::And { Expr::and::<Expr> } else { Expr::or::<Expr> };
        Ok(joined(values, join))
    }

    fn comparison(
        &mut self,
        left: &Ast,
        right: &Ast,
        ast: &Ast,
        context: &mut Context,
        compare: fn(Expr, Expr) -> Expr,
    ) -> Result<Value> {
        let values =
            [self.expression(left, context)?.settled(), self.expression(right, context)?.settled()];
        compared(values, ast, compare)
    }

    /// Compiles a condition; a filter treats null as false.
    pub(super) fn predicate(&mut self, ast: &Ast, context: &mut Context) -> Result<Expr> {
        let holds = self.truth_value(ast, context)?;
        // Polars pushes down each conjunct separately, in time quadratic in their number.
        let is_long = holds.depth > LONG_CONDITION;
        Ok(if is_long { self.as_column(holds, context).expr } else { holds.expr })
    }

    fn truth_value(&mut self, ast: &Ast, context: &mut Context) -> Result<Value> {
        let value = self.expression(ast, context)?;
        match value.dtype {
            DataType::Boolean => Ok(value),
            DataType::Null => Ok(value.to(&DataType::Boolean)),
            _ => Err(refused(format!("`{ast}` is {}, not a condition", kind(&value.dtype)))),
        }
    }

    fn test(&mut self, ast: &Ast, context: &mut Context, test: fn(Expr) -> Expr) -> Result<Value> {
        let value = self.expression(ast, context)?.settled();
        Ok(Value::over(test(value.expr.clone()), DataType::Boolean, &[&value]))
    }

    fn truth(&mut self, ast: &Ast, context: &mut Context, test: fn(Expr) -> Expr) -> Result<Value> {
        let value = self.truth_value(ast, context)?;
        Ok(Value::over(test(value.expr.clone()), DataType::Boolean, &[&value]))
    }

    fn in_list(
        &mut self,
        expr: &Ast,
        list: &[Ast],
        negated: bool,
        ast: &Ast,
        context: &mut Context,
    ) -> Result<Value> {
        let own = self.expression(expr, context)?.settled();
        let mut equal = Vec::with_capacity(list.len());
        for item in list {
            let item = self.expression(item, context)?.settled();
            equal.push(compared([own.clone(), item], ast, Expr::eq::<Expr>)?);
        }
        if equal.is_empty() {
            return Err(refused(format!("`{ast}` has an empty list")));
        }
        Ok(negated_if(negated, joined(equal, Expr::or::<Expr>)))
    }

    fn like(
        &mut self,
        expr: &Ast,
        pattern: &Ast,
        escape: Option<&Literal>,
        flags: &str,
        negated: bool,
        context: &mut Context,
    ) -> Result<Value> {
        let value = self.expression(expr, context)?;
        if !value.is_text() {
            return Err(refused(format!("`{expr}` is {}; LIKE is for text", kind(&value.dtype))));
        }
        let (Some(pattern), Some(escape)) =
            (text_of(pattern), escape.map_or(Some(String::new()), text_of_literal))
        else {
            return Err(refused(format!(
                "LIKE {pattern}: give the pattern as text in single quotes"
            )));
        };
        let regex = format!("{flags}^{}$", like_pattern(&pattern, escape.chars().next())?);
        let value = value.to(&DataType::String);
        let matches = value.expr.clone().str().contains(lit(regex), true);
        Ok(negated_if(negated, Value::over(matches, DataType::Boolean, &[&value])))
    }

    fn case(
        &mut self,
        operand: Option<&Ast>,
        conditions: &[CaseWhen],
        otherwise: Option<&Ast>,
        context: &mut Context,
    ) -> Result<Value> {
        let operand = operand.map(|ast| self.expression(ast, context)).transpose()?;
        let mut branches = Vec::new();
        for CaseWhen { condition, result } in conditions {
            let holds = match &operand {
                None => self.truth_value(condition, context)?,
                Some(operand) => {
                    let value = self.expression(condition, context)?.settled();
                    compared([operand.clone().settled(), value], condition, Expr::eq::<Expr>)?
                }
            };
            branches.push((holds, self.expression(result, context)?));
        }
        let last = otherwise.map(|ast| self.expression(ast, context)).transpose()?;
        let last = last.unwrap_or_else(Value::null);
        let mut dtype = last.dtype.clone();
        for (_, value) in &branches {
            dtype = common(&dtype, &value.dtype).ok_or_else(|| {
                refused(format!("a CASE gives {} and {}", kind(&dtype), kind(&value.dtype)))
            })?;
        }
        let mut chosen = last.to(&dtype);
        for (holds, value) in branches.into_iter().rev() {
            let value = value.to(&dtype);
            let expr =
                when(holds.expr.clone()).then(value.expr.clone()).otherwise(chosen.expr.clone());
            chosen = Value::over(expr, dtype.clone(), &[&holds, &value, &chosen]);
            if chosen.depth > HIGHEST {
                chosen = self.as_column(chosen, context);
            }
        }
        Ok(chosen)
    }
}

fn literal(value: &Literal) -> Result<Value> {
    match value {
        Literal::Null => Ok(Value::null()),
        Literal::Boolean(value) => Ok(Value::new(lit(*value), DataType::Boolean)),
        Literal::Number(text, _) => {
            if let Ok(whole) = text.parse::<i64>() {
                return Ok(Value::new(typed(whole), DataType::Int64));
            }
            let number =
                text.parse::<f64>().map_err(|_| refused(format!("`{text}` is no number")))?;
            Ok(Value::new(typed(number), DataType::Float64))
        }
        other => match text_of_literal(other) {
            Some(text) => Ok(Value::new(lit(text), DataType::String)),
            None => {
                Err(refused(format!("`{other}` is not supported: write text in single quotes")))
            }
        },
    }
}

/// Translates a LIKE pattern into a regular expression.
fn like_pattern(pattern: &str, escape: Option<char>) -> Result<String> {
    let mut regex = String::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            letter if Some(letter) == escape => {
                let next = letters.next();
                let next = next.ok_or_else(|| {
                    refused(format!("LIKE '{pattern}' ends in its escape character"))
                })?;
                push_literal(&mut regex, next);
            }
            '%' => regex.push_str(".*"),
            '_' => regex.push('.'),
            letter => push_literal(&mut regex, letter),
        }
    }
    Ok(regex)
}

fn push_literal(regex: &mut String, letter: char) {
    if letter.is_ascii_punctuation() {
        regex.push('\\');
    }
    regex.push(letter);
}
