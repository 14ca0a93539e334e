//! GROUP BY and the aggregates of a SELECT.

use std::collections::HashMap;

use polars::prelude::*;
use sqlparser::ast::{Expr as Ast, GroupByExpr, Ident, Value as Literal};

use super::aggregate::aggregates;
use super::planner::Planner;
use super::scope::{Context, Groups, canonical, find, is_name};
use super::select::Item;
use super::syntax::position;
use super::value::Value;
use crate::error::{Result, refused};

impl Planner<'_> {
    /// Groups the rows if the SELECT groups or aggregates; `uppers` are the expressions evaluated
    /// after grouping.
    pub(super) fn grouped(
        &mut self,
        group_by: &GroupByExpr,
        items: &[Item],
        uppers: &[&Ast],
        context: &mut Context,
    ) -> Result<()> {
        let calls: Vec<Ast> = uppers.iter().flat_map(|ast| aggregates(ast)).collect();
        let keys = keys(group_by, items, context)?;
        if keys.is_empty() && calls.is_empty() && !matches!(group_by, GroupByExpr::All(_)) {
            return Ok(());
        }
        let columns = context.rows.columns.clone();
        let mut groups = Groups { values: HashMap::new(), has_computed_key: false };
        context.without_windows = Some("GROUP BY");
        let mut ids = Vec::new();
        for key in &keys {
            let text = canonical(key, &columns);
            if groups.values.contains_key(&text) {
                continue;
            }
            let value = self.expression(key, context)?;
            let value = self.as_column(value, context);
            groups.has_computed_key |=
                !matches!(key, Ast::Identifier(_) | Ast::CompoundIdentifier(_));
            ids.push(value.expr.clone());
            groups.values.insert(text, value);
        }
        context.without_windows = None;
        let mut reduced = Vec::new();
        for call in &calls {
            let text = canonical(call, &columns);
            let Ast::Function(function) = call else { continue };
            if groups.values.contains_key(&text) {
                continue;
            }
            let value = self.aggregate(function, call, context)?.value()?;
            let id = self.fresh();
            reduced.push(value.expr.alias(id.clone()));
            groups.values.insert(text, Value::new(col(id), value.dtype));
        }
        if reduced.is_empty() {
            let id = self.fresh();
            reduced.push(len().alias(id));
        }
        let frame = context.rows.frame.clone();
        context.rows.frame = match ids.is_empty() {
            true => frame.select(reduced),
            false => frame.group_by_stable(ids).agg(reduced),
        };
        context.groups = Some(groups);
        Ok(())
    }
}

/// Returns the expressions to group by, with positions and aliases resolved.
fn keys(group_by: &GroupByExpr, items: &[Item], context: &Context) -> Result<Vec<Ast>> {
    let (expressions, modifiers) = match group_by {
        GroupByExpr::Expressions(expressions, modifiers) => (expressions, modifiers),
        GroupByExpr::All(modifiers) if modifiers.is_empty() => {
            let plain = items.iter().map(|item| item.ast());
            return Ok(plain.filter(|ast| aggregates(ast).is_empty()).collect());
        }
        GroupByExpr::All(modifiers) => (&Vec::new(), modifiers),
    };
    if !modifiers.is_empty() {
        return Err(refused("GROUP BY with ROLLUP, CUBE or TOTALS is not supported".to_owned()));
    }
    expressions.iter().map(|ast| key(ast, items, context)).collect()
}

fn key(ast: &Ast, items: &[Item], context: &Context) -> Result<Ast> {
    match ast {
        Ast::Nested(inner) => key(inner, items, context),
        Ast::Value(value) => match &value.value {
            Literal::Number(text, _) => Ok(items[position(text, items.len(), "GROUP BY")?].ast()),
            _ => Ok(ast.clone()),
        },
        Ast::Identifier(name) if find(&context.rows.columns, None, name)?.is_none() => {
            let alias = context.aliases.iter().find(|(alias, _)| is_name(name, &alias.value));
            Ok(alias.map_or_else(|| ast.clone(), |(_, ast)| (*ast).clone()))
        }
        Ast::GroupingSets(_) | Ast::Cube(_) | Ast::Rollup(_) | Ast::Tuple(_) => {
            Err(refused(format!("GROUP BY {ast} is not supported: give a list of columns")))
        }
        _ => Ok(ast.clone()),
    }
}

impl Item<'_> {
    /// Returns the item as an expression.
    fn ast(&self) -> Ast {
        match self {
            Item::Expression { ast, .. } => (*ast).clone(),
            Item::Column(column) => match &column.table {
                Some(table) => Ast::CompoundIdentifier(vec![
                    Ident::with_quote('"', table.clone()),
                    Ident::with_quote('"', column.name.clone()),
                ]),
                None => Ast::Identifier(Ident::with_quote('"', column.name.clone())),
            },
        }
    }
}
