//! Subqueries in expressions: a value, EXISTS and IN.
//!
//! A subquery that uses no column of the enclosing query is evaluated once. A correlated one is
//! evaluated for each combination of values of the columns used, and the answers are joined to the
//! rows.

use std::collections::HashMap;

use polars::prelude::*;
use sqlparser::ast::{Expr as Ast, Query};

use super::answer::{collect, named};
use super::planner::Planner;
use super::scope::{Context, Env, Outer, Relation, Table};
use super::set::distinct;
use super::value::{Value, common, negated_if, same_type};
use crate::error::{Result, refused};

/// Maximum number of combinations of outer values for which a subquery is evaluated.
const MOST: usize = 10_000;

/// Reduces the rows of a subquery, with columns of the given types, to its value.
type Reduce<'a> = &'a dyn Fn(&DataFrame, &[DataType], Option<&Value>) -> Result<Value>;

impl Planner<'_> {
    /// Evaluates `(SELECT …)` as a value: that of its only row, or null.
    pub(super) fn scalar(&mut self, query: &Query, context: &mut Context) -> Result<Value> {
        self.subquery(query, None, context, &|rows, types, _| {
            let [dtype] = types else {
                return Err(refused(format!(
                    "a scalar subquery has one column, not {}",
                    types.len()
                )));
            };
            match rows.height() {
                0 => Ok(Value::new(lit(NULL).cast(dtype.clone()), dtype.clone())),
                1 => value(&rows.columns()[0], 0, dtype),
                rows => Err(refused(format!(
                    "a scalar subquery has {rows} rows: aggregate them, or write LIMIT 1"
                ))),
            }
        })
    }

    pub(super) fn exists(
        &mut self,
        query: &Query,
        negated: bool,
        context: &mut Context,
    ) -> Result<Value> {
        let exists = self.subquery(query, None, context, &|rows, _, _| {
            Ok(Value::new(lit(rows.height() > 0), DataType::Boolean))
        })?;
        Ok(negated_if(negated, exists))
    }

    pub(super) fn in_subquery(
        &mut self,
        expr: &Ast,
        query: &Query,
        negated: bool,
        ast: &Ast,
        context: &mut Context,
    ) -> Result<Value> {
        let own = self.expression(expr, context)?;
        let own = self.as_column(own, context);
        let is_in = self.subquery(query, Some(&own), context, &|rows, types, own| {
            let ([dtype], Some(own)) = (types, own) else {
                return Err(refused(format!(
                    "the subquery of `{ast}` has one column, not {}",
                    types.len()
                )));
            };
            member(own, &rows.columns()[0], dtype, ast)
        })?;
        Ok(negated_if(negated, is_in))
    }

    /// Evaluates a subquery for each row. `own` is the value before IN.
    fn subquery(
        &mut self,
        query: &Query,
        own: Option<&Value>,
        context: &mut Context,
        reduce: Reduce,
    ) -> Result<Value> {
        let columns = context.visible();
        let probe = Outer::new(&columns, None, context.env.outer);
        let answer = self.query(query, Env { named: context.env.named, outer: Some(&probe) })?;
        let mut used: Vec<(PlSmallStr, DataType)> =
            probe.used.into_inner().into_iter().map(|column| (column.id, column.dtype)).collect();
        if used.is_empty() {
            let (rows, types) = self.rows(answer)?;
            return reduce(&rows, &types, own);
        }
        if let Some(Value { expr: Expr::Column(id), dtype, .. }) = own {
            used.push((id.clone(), dtype.clone()));
        }
        let ids: Vec<Expr> = used.iter().map(|(id, _)| col(id.clone())).collect();
        let keys = collect(distinct(context.rows.frame.clone().select(&ids)))?;
        if keys.height() > MOST {
            return Err(refused(format!(
                "a subquery would be evaluated for {} combinations of outer values, more than {MOST}: write a join with a grouped subquery",
                keys.height()
            )));
        }
        let (mut answers, mut dtype) = (Vec::new(), DataType::Null);
        for row in 0..keys.height() {
            let mut values = HashMap::new();
            for (column, (id, dtype)) in keys.columns().iter().zip(&used) {
                values.insert(id.clone(), value(column, row, dtype)?);
            }
            let own = own.and_then(|own| match &own.expr {
                Expr::Column(id) => values.get(id),
                _ => None,
            });
            let outer = Outer::new(&columns, Some(&values), context.env.outer);
            let answer =
                self.query(query, Env { named: context.env.named, outer: Some(&outer) })?;
            let (rows, types) = self.rows(answer)?;
            let answer = reduce(&rows, &types, own)?;
            dtype = common(&dtype, &answer.dtype).unwrap_or(DataType::Null);
            answers.push(answer);
        }
        if keys.height() == 0 {
            return Ok(Value::null());
        }
        self.joined_answers(keys, answers, dtype, context)
    }

    /// Joins the answers for combinations of values to the rows with these values.
    fn joined_answers(
        &mut self,
        keys: DataFrame,
        answers: Vec<Value>,
        dtype: DataType,
        context: &mut Context,
    ) -> Result<Value> {
        let id = self.fresh();
        let row = Relation::one_row().frame;
        let answer = |answer: Value| row.clone().select([answer.to(&dtype).expr.alias(id.clone())]);
        let answers: Vec<LazyFrame> = answers.into_iter().map(answer).collect();
        let answers = collect(concat(answers, UnionArgs::default())?)?;
        let renamed: Vec<(PlSmallStr, PlSmallStr)> =
            keys.columns().iter().map(|column| (column.name().clone(), self.fresh())).collect();
        let (left, right): (Vec<Expr>, Vec<Expr>) =
            renamed.iter().map(|(own, other)| (col(own.clone()), col(other.clone()))).unzip();
        let aliased = renamed.iter().map(|(own, other)| col(own.clone()).alias(other.clone()));
        let keys = collect(keys.lazy().select(aliased.collect::<Vec<_>>()))?;
        let table = keys.hstack(answers.columns())?;
        let mut args = JoinArgs::new(JoinType::Left);
        args.nulls_equal = true;
        args.maintain_order = MaintainOrderJoin::Left;
        context.rows.frame = context.rows.frame.clone().join(table.lazy(), left, right, args);
        Ok(Value::new(col(id), dtype))
    }

    fn rows(&mut self, answer: Table) -> Result<(DataFrame, Vec<DataType>)> {
        let types = answer.columns.iter().map(|column| column.dtype.clone()).collect();
        Ok((collect(named(answer))?, types))
    }
}

/// Returns a value of a column as a literal.
fn value(column: &Column, row: usize, dtype: &DataType) -> Result<Value> {
    let value = column.get(row)?.into_static();
    let literal = lit(Scalar::new(column.dtype().clone(), value));
    Ok(Value::new(literal.cast(dtype.clone()), dtype.clone()))
}

/// Returns whether `own` is among the values; null if a null makes this unknown.
fn member(own: &Value, values: &Column, dtype: &DataType, ast: &Ast) -> Result<Value> {
    if values.is_empty() {
        return Ok(Value::new(lit(false), DataType::Boolean));
    }
    let unknown = || lit(NULL).cast(DataType::Boolean);
    let has_null = values.null_count() > 0;
    let known = values.as_materialized_series().drop_nulls().unique_stable()?;
    if known.is_empty() {
        return Ok(Value::new(unknown(), DataType::Boolean));
    }
    let [own, other] =
        same_type([own.clone(), Value::new(lit(known), dtype.clone())], || ast.to_string())?;
    let is_in = own.expr.clone().is_in(other.expr.implode(true), false);
    let is_in = if has_null { is_in.or(unknown()) } else { is_in };
    Ok(Value::over(is_in, DataType::Boolean, &[&own]))
}
