//! Whole queries: WITH, UNION, EXCEPT and INTERSECT, VALUES, and LIMIT.

use polars::prelude::*;
use sqlparser::ast::{
    Expr as Ast, LimitClause, OrderBy, Query, SetExpr, SetOperator, SetQuantifier,
    Value as Literal, Values,
};

use super::planner::Planner;
use super::scope::{Column, Context, Env, Output, Relation, Table};
use super::value::{Value, common, kind};
use crate::error::{Result, refused};
use crate::read::countable;

impl Planner<'_> {
    /// Evaluates a query and all its parts.
    pub(super) fn query(&mut self, query: &Query, env: Env) -> Result<Table> {
        let is_plain = query.for_clause.is_none()
            && query.locks.is_empty()
            && query.settings.is_none()
            && query.format_clause.is_none()
            && query.pipe_operators.is_empty();
        if !is_plain {
            return Err(refused("a clause after its SELECT is not supported".to_owned()));
        }
        let mut named = env.named.to_vec();
        if let Some(with) = &query.with {
            if with.recursive {
                return Err(refused("WITH RECURSIVE is not supported".to_owned()));
            }
            for cte in &with.cte_tables {
                let mut table = self.query(&cte.query, Env { named: &named, ..env })?;
                table.rename(&cte.alias)?;
                named.insert(0, (cte.alias.name.value.clone(), table));
            }
        }
        let env = Env { named: &named, ..env };
        let answer = match (&*query.body, &query.order_by) {
            (SetExpr::Select(select), order) => self.select(select, order.as_ref(), env)?,
            (body, None) => self.set(body, env)?,
            (body, Some(order)) => {
                let table = self.set(body, env)?;
                self.sorted(table, order, env)?
            }
        };
        limited(answer, query)
    }

    /// Evaluates set operations. A chain of them is handled in a loop, and a UNION of many parts in
    /// one step.
    fn set(&mut self, body: &SetExpr, env: Env) -> Result<Table> {
        let mut first = body;
        let mut steps = Vec::new();
        while let SetExpr::SetOperation { op, set_quantifier, left, right } = first {
            steps.push((op, set_quantifier, right));
            first = left;
        }
        let mut union = Union { parts: vec![self.part(first, env)?], is_distinct: false };
        for (op, quantifier, right) in steps.into_iter().rev() {
            let right = self.set(right, env)?;
            let is_all = match quantifier {
                SetQuantifier::All => true,
                SetQuantifier::Distinct | SetQuantifier::None => false,
                _ => return Err(refused(format!("{op} {quantifier} is not supported"))),
            };
            match op {
                SetOperator::Union => {
                    if is_all && union.is_distinct {
                        union = Union { parts: vec![self.united(union)?], is_distinct: false };
                    }
                    union.is_distinct = !is_all;
                    union.parts.push(right);
                }
                _ if is_all => {
                    return Err(refused(format!("{op} ALL is not supported: leave out ALL")));
                }
                SetOperator::Except | SetOperator::Minus | SetOperator::Intersect => {
                    let left = self.united(union)?;
                    let rows = self.compared(left, right, *op == SetOperator::Intersect)?;
                    union = Union { parts: vec![rows], is_distinct: false };
                }
            }
        }
        self.united(union)
    }

    fn part(&mut self, body: &SetExpr, env: Env) -> Result<Table> {
        match body {
            SetExpr::Select(select) => self.select(select, None, env),
            SetExpr::Query(query) => self.query(query, env),
            SetExpr::Values(values) => self.values(values, env),
            SetExpr::SetOperation { .. } => self.set(body, env),
            _ => Err(refused(format!("`{body}` is not supported: write a SELECT"))),
        }
    }

    fn values(&mut self, values: &Values, env: Env) -> Result<Table> {
        let mut parts = Vec::new();
        for row in &values.rows {
            let mut context = Context::new(Relation::one_row(), env, "VALUES");
            let mut columns = Vec::new();
            for (position, ast) in row.content.iter().enumerate() {
                let value = self.expression(ast, &mut context)?.settled();
                let id = self.fresh();
                context.add(value.expr, &id);
                columns.push(Output { name: format!("col{position}"), id, dtype: value.dtype });
            }
            parts.push(Table { frame: context.rows.frame, columns });
        }
        self.united(Union { parts, is_distinct: false })
    }

    /// Concatenates the rows of all parts, in columns of common types.
    fn united(&mut self, union: Union) -> Result<Table> {
        let Union { mut parts, is_distinct } = union;
        let aligned = self.aligned(&mut parts)?;
        let frame = match parts.len() {
            1 => aligned.frame,
            _ => {
                let frames: Vec<LazyFrame> = parts.into_iter().map(|part| part.frame).collect();
                countable(concat(frames, UnionArgs::default())?)
            }
        };
        let frame = if is_distinct { distinct(frame) } else { frame };
        Ok(Table { frame, columns: aligned.columns })
    }

    /// Gives the parts equal columns, and returns the first.
    fn aligned(&mut self, parts: &mut [Table]) -> Result<Table> {
        let mut columns: Vec<Output> = parts[0].columns.clone();
        for part in &parts[1..] {
            if part.columns.len() != columns.len() {
                return Err(refused(format!(
                    "SELECTs of {} and {} columns cannot be combined",
                    columns.len(),
                    part.columns.len()
                )));
            }
            for (column, other) in columns.iter_mut().zip(&part.columns) {
                column.dtype = common(&column.dtype, &other.dtype).ok_or_else(|| {
                    let kinds = [&column.dtype, &other.dtype].map(kind);
                    refused(format!("column `{}` is {} and {}", column.name, kinds[0], kinds[1]))
                })?;
            }
        }
        for column in &mut columns {
            column.id = self.fresh();
        }
        for part in parts.iter_mut() {
            let pairs = part.columns.iter().zip(&columns);
            let cast = pairs.map(|(own, column)| {
                let value = Value::new(col(own.id.clone()), own.dtype.clone());
                value.to(&column.dtype).expr.alias(column.id.clone())
            });
            part.frame = part.frame.clone().select(cast.collect::<Vec<_>>());
            part.columns = columns.clone();
        }
        Ok(parts[0].clone())
    }

    /// Returns the distinct rows of `left` that are in `right`, or that are not. Nulls compare
    /// equal.
    fn compared(&mut self, left: Table, right: Table, in_both: bool) -> Result<Table> {
        let mut sides = [left, right];
        let Table { columns, .. } = self.aligned(&mut sides)?;
        let side = self.fresh();
        let mark = |table: Table, is_right: bool| {
            table.frame.with_column(lit(is_right).alias(side.clone()))
        };
        let [left, right] = sides;
        let both = countable(concat([mark(left, false), mark(right, true)], UnionArgs::default())?);
        let ids: Vec<Expr> = columns.iter().map(|column| col(column.id.clone())).collect();
        let (is_left, is_right) = (self.fresh(), self.fresh());
        let grouped = both.group_by_stable(&ids).agg([
            col(side.clone()).not().any(true).alias(is_left.clone()),
            col(side).any(true).alias(is_right.clone()),
        ]);
        let is_right = if in_both { col(is_right) } else { col(is_right).not() };
        Ok(Table { frame: grouped.filter(col(is_left).and(is_right)).select(ids), columns })
    }

    /// Sorts the rows of a set operation by their own columns.
    fn sorted(&mut self, table: Table, order: &OrderBy, env: Env) -> Result<Table> {
        let column = |column: &Output| Column {
            table: None,
            name: column.name.clone(),
            id: column.id.clone(),
            dtype: column.dtype.clone(),
            is_bare: true,
        };
        let columns = table.columns.iter().map(column).collect();
        let mut context =
            Context::new(Relation { frame: table.frame, columns }, env, "this ORDER BY");
        let order = self.order(order, &table.columns, &mut context)?;
        Ok(Table { frame: order.sorted(context.rows.frame), columns: table.columns })
    }
}

/// Parts of a UNION, and whether duplicates are removed.
struct Union {
    parts: Vec<Table>,
    is_distinct: bool,
}

fn limited(answer: Table, query: &Query) -> Result<Table> {
    let (limit, offset) = match (&query.limit_clause, &query.fetch) {
        (None, None) => return Ok(answer),
        (Some(LimitClause::LimitOffset { limit, offset, limit_by }), None)
            if limit_by.is_empty() =>
        {
            (limit.as_ref(), offset.as_ref().map(|offset| &offset.value))
        }
        (Some(LimitClause::OffsetCommaLimit { offset, limit }), None) => {
            (Some(limit), Some(offset))
        }
        (None, Some(fetch)) if !fetch.percent && !fetch.with_ties => {
            (fetch.quantity.as_ref(), None)
        }
        _ => {
            return Err(refused(
                "only LIMIT and OFFSET with a number each are supported".to_owned(),
            ));
        }
    };
    let count = |ast: &Ast| match ast {
        Ast::Value(value) => match &value.value {
            Literal::Number(text, _) => text.parse::<u32>().ok(),
            Literal::Null => Some(IdxSize::MAX),
            _ => None,
        },
        _ => None,
    };
    let count = |ast: Option<&Ast>, default: u32| match ast {
        None => Ok(default),
        Some(ast) => count(ast)
            .ok_or_else(|| refused(format!("LIMIT or OFFSET {ast}: give a number of rows"))),
    };
    let (limit, offset) = (count(limit, IdxSize::MAX)?, count(offset, 0)?);
    Ok(Table { frame: answer.frame.slice(offset.into(), limit), ..answer })
}

/// Removes duplicate rows, keeping the first.
pub(super) fn distinct(frame: LazyFrame) -> LazyFrame {
    frame.unique_stable(None, UniqueKeepStrategy::First)
}
