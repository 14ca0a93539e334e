//! ORDER BY.

use polars::prelude::*;
use sqlparser::ast::{Expr as Ast, OrderBy, OrderByKind, OrderByOptions, Value as Literal};

use super::planner::Planner;
use super::scope::{Context, Output, is_name};
use super::syntax::position;
use crate::error::{Result, refused};

/// Sort columns with their directions.
#[derive(Default)]
pub(super) struct Order {
    pub by: Vec<PlSmallStr>,
    descending: Vec<bool>,
    nulls_last: Vec<bool>,
}

impl Order {
    /// Adds a column: ascending and nulls last by default.
    pub fn push(&mut self, id: PlSmallStr, options: &OrderByOptions) {
        self.by.push(id);
        self.descending.push(options.asc == Some(false));
        self.nulls_last.push(options.nulls_first != Some(true));
    }

    pub fn options(&self) -> SortMultipleOptions {
        SortMultipleOptions::default()
            .with_order_descending_multi(self.descending.iter().copied())
            .with_nulls_last_multi(self.nulls_last.iter().copied())
            .with_maintain_order(true)
    }

    pub fn columns(&self) -> Vec<Expr> {
        self.by.iter().map(|id| col(id.clone())).collect()
    }

    pub fn sorted(&self, frame: LazyFrame) -> LazyFrame {
        if self.by.is_empty() { frame } else { frame.sort_by_exprs(self.columns(), self.options()) }
    }
}

impl Planner<'_> {
    /// Returns the sort columns. Keys missing from the answer are added to the rows.
    pub(super) fn order(
        &mut self,
        order: &OrderBy,
        outputs: &[Output],
        context: &mut Context,
    ) -> Result<Order> {
        if order.interpolate.is_some() {
            return Err(refused("INTERPOLATE is not supported".to_owned()));
        }
        let mut sorted = Order::default();
        let expressions = match &order.kind {
            OrderByKind::Expressions(expressions) => expressions.as_slice(),
            OrderByKind::All(_) => &[],
        };
        if let Some(options) = by_all(order, outputs) {
            outputs.iter().for_each(|column| sorted.push(column.id.clone(), options));
            return Ok(sorted);
        }
        for key in expressions {
            if key.with_fill.is_some() {
                return Err(refused("WITH FILL is not supported".to_owned()));
            }
            let id = match output(&key.expr, outputs, "ORDER BY")? {
                Some(column) => column.id.clone(),
                None => {
                    let value = self.expression(&key.expr, context)?.settled();
                    let id = self.fresh();
                    context.add(value.expr, &id);
                    id
                }
            };
            sorted.push(id, &key.options);
        }
        Ok(sorted)
    }
}

/// Returns the direction of ORDER BY ALL.
fn by_all<'o>(order: &'o OrderBy, outputs: &[Output]) -> Option<&'o OrderByOptions> {
    match &order.kind {
        OrderByKind::All(options) => Some(options),
        OrderByKind::Expressions(keys) => {
            let [key] = keys.as_slice() else { return None };
            let Ast::Identifier(name) = &key.expr else { return None };
            let is_column = outputs.iter().any(|column| is_name(name, &column.name));
            (name.quote_style.is_none() && is_name(name, "ALL") && !is_column)
                .then_some(&key.options)
        }
    }
}

/// Resolves a name or a position to a column of the answer.
fn output<'o>(ast: &Ast, outputs: &'o [Output], clause: &str) -> Result<Option<&'o Output>> {
    match ast {
        Ast::Identifier(name) => {
            let mut named = outputs.iter().filter(|column| is_name(name, &column.name));
            let first = named.next();
            match named.next() {
                Some(other) if first.is_some_and(|first| first.id != other.id) => {
                    Err(refused(format!("`{name}` in {clause} names two columns of the answer")))
                }
                _ => Ok(first),
            }
        }
        Ast::Value(value) => match &value.value {
            Literal::Number(text, _) => Ok(Some(&outputs[position(text, outputs.len(), clause)?])),
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}
