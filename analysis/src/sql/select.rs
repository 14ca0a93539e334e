//! A single SELECT, clause by clause.

use polars::prelude::*;
use sqlparser::ast::{
    Distinct, ExcludeSelectItem, Expr as Ast, Ident, OrderBy, OrderByKind, Select, SelectFlavor,
    SelectItem, SelectItemQualifiedWildcardKind, WildcardAdditionalOptions,
};

use super::order::Order;
use super::planner::Planner;
use super::scope::{Column, Context, Env, Output, Table, absent, is_name};
use super::set::distinct;
use super::value::Value;
use crate::error::{Result, refused};

/// A column of the answer.
pub(super) enum Item<'a> {
    Expression {
        ast: &'a Ast,
        name: String,
    },
    /// A column from the expansion of `*`.
    Column(Column),
}

impl Planner<'_> {
    pub(super) fn select(
        &mut self,
        select: &Select,
        order: Option<&OrderBy>,
        env: Env,
    ) -> Result<Table> {
        check_clauses(select)?;
        let rows = self.from(&select.from, env)?;
        let mut context = Context::new(rows, env, "WHERE");
        context.windows = &select.named_window;
        context.aliases = aliases(&select.projection);
        let items = items(select, &context.rows.columns)?;
        if let Some(condition) = &select.selection {
            let holds = self.predicate(condition, &mut context)?;
            context.rows.frame = context.rows.frame.filter(holds);
        }
        let uppers = uppers(select, &items, order);
        self.grouped(&select.group_by, &items, &uppers, &mut context)?;
        if let Some(condition) = &select.having {
            if context.groups.is_none() {
                return Err(refused(
                    "HAVING needs GROUP BY or an aggregate: write WHERE".to_owned(),
                ));
            }
            context.without_windows = Some("HAVING");
            let holds = self.predicate(condition, &mut context)?;
            context.rows.frame = context.rows.frame.filter(holds);
        }
        context.without_windows = None;
        let outputs = self.outputs(&items, &mut context)?;
        if let Some(condition) = &select.qualify {
            let holds = self.predicate(condition, &mut context)?;
            context.rows.frame = context.rows.frame.filter(holds);
        }
        self.finished(select.distinct.as_ref(), order, outputs, context)
    }

    /// Computes the columns of the answer.
    fn outputs(&mut self, items: &[Item], context: &mut Context) -> Result<Vec<Output>> {
        let mut outputs = Vec::with_capacity(items.len());
        let mut computed = Vec::with_capacity(items.len());
        for item in items {
            let (name, value) = match item {
                Item::Expression { ast, name } => {
                    (name.clone(), self.expression(ast, context)?.settled())
                }
                Item::Column(column) => (column.name.clone(), column_value(column, context)?),
            };
            let id = self.fresh();
            computed.push(value.expr.alias(id.clone()));
            outputs.push(Output { name, id, dtype: value.dtype });
        }
        context.rows.frame = context.rows.frame.clone().with_columns(computed);
        Ok(outputs)
    }

    /// Applies DISTINCT and ORDER BY.
    fn finished(
        &mut self,
        unique: Option<&Distinct>,
        order: Option<&OrderBy>,
        outputs: Vec<Output>,
        mut context: Context,
    ) -> Result<Table> {
        let sorted = order.map(|order| self.order(order, &outputs, &mut context));
        let sorted = sorted.transpose()?.unwrap_or_default();
        let ids: Vec<Expr> = outputs.iter().map(|output| col(output.id.clone())).collect();
        let frame = match unique {
            None | Some(Distinct::All) => sorted.sorted(context.rows.frame).select(ids),
            Some(Distinct::Distinct) => {
                check_distinct(&sorted, &outputs)?;
                sorted.sorted(distinct(context.rows.frame.select(ids)))
            }
            Some(Distinct::On(keys)) => {
                let mut names = Vec::new();
                for key in keys {
                    let value = self.expression(key, &mut context)?.settled();
                    let id = self.fresh();
                    context.add(value.expr, &id);
                    names.push(id);
                }
                let subset = Selector::ByName { names: names.into(), strict: true };
                let frame = sorted.sorted(context.rows.frame);
                frame.unique_stable(Some(subset), UniqueKeepStrategy::First).select(ids)
            }
        };
        Ok(Table { frame, columns: outputs })
    }
}

fn column_value(column: &Column, context: &Context) -> Result<Value> {
    if context.groups.is_none() {
        return Ok(column.value());
    }
    let key = context
        .visible()
        .into_iter()
        .find(|key| key.name == column.name && key.table == column.table);
    key.map(|key| key.value()).ok_or_else(|| {
        refused(format!(
            "`{}`, which `*` includes, is not in GROUP BY: name the columns",
            column.name
        ))
    })
}

fn check_distinct(order: &Order, outputs: &[Output]) -> Result<()> {
    match order.by.iter().all(|id| outputs.iter().any(|output| output.id == *id)) {
        true => Ok(()),
        false => Err(refused(
            "SELECT DISTINCT with an ORDER BY that it does not select: add it to the SELECT"
                .to_owned(),
        )),
    }
}

/// Refuses unsupported clauses, so that none is silently ignored.
fn check_clauses(select: &Select) -> Result<()> {
    let clauses = [
        (!select.optimizer_hints.is_empty(), "an optimizer hint"),
        (select.select_modifiers.is_some(), "a modifier of SELECT"),
        (select.top.is_some(), "TOP (write LIMIT)"),
        (select.exclude.is_some(), "EXCLUDE after the list (write * EXCLUDE)"),
        (select.into.is_some(), "INTO"),
        (!select.lateral_views.is_empty(), "LATERAL VIEW"),
        (select.prewhere.is_some(), "PREWHERE"),
        (!select.connect_by.is_empty(), "CONNECT BY"),
        (!select.cluster_by.is_empty(), "CLUSTER BY"),
        (!select.distribute_by.is_empty(), "DISTRIBUTE BY"),
        (!select.sort_by.is_empty(), "SORT BY (write ORDER BY)"),
        (select.value_table_mode.is_some(), "AS STRUCT or AS VALUE"),
    ];
    match clauses.iter().find(|(is_there, _)| *is_there) {
        Some((_, clause)) => Err(refused(format!("{clause} is not supported"))),
        None => Ok(()),
    }
}

fn aliases(projection: &[SelectItem]) -> Vec<(&Ident, &Ast)> {
    let named = projection.iter().filter_map(|item| match item {
        SelectItem::ExprWithAlias { expr, alias } => Some((alias, expr)),
        _ => None,
    });
    named.collect()
}

/// Returns the columns of the answer, with `*` expanded.
fn items<'a>(select: &'a Select, columns: &[Column]) -> Result<Vec<Item<'a>>> {
    if select.projection.is_empty() && select.flavor == SelectFlavor::FromFirstNoSelect {
        return Ok(columns
            .iter()
            .filter(|column| column.is_bare)
            .cloned()
            .map(Item::Column)
            .collect());
    }
    let mut items = Vec::new();
    for item in &select.projection {
        match item {
            SelectItem::UnnamedExpr(ast) => {
                items.push(Item::Expression { ast, name: name_of(ast) });
            }
            SelectItem::ExprWithAlias { expr: ast, alias } => {
                items.push(Item::Expression { ast, name: alias.value.clone() });
            }
            SelectItem::Wildcard(options) => {
                let all = columns.iter().filter(|column| column.is_bare);
                items.extend(without(all.cloned().collect(), options)?);
            }
            SelectItem::QualifiedWildcard(
                SelectItemQualifiedWildcardKind::ObjectName(table),
                options,
            ) => {
                let [part] = table.0.as_slice() else {
                    return Err(refused(format!("`{table}.*`: write a table's name and `.*`")));
                };
                let Some(ident) = part.as_ident() else {
                    return Err(refused(format!("`{table}.*`: write a table's name and `.*`")));
                };
                let own = |column: &&Column| {
                    column.table.as_ref().is_some_and(|table| is_name(ident, table))
                };
                let of_table: Vec<Column> = columns.iter().filter(own).cloned().collect();
                if of_table.is_empty() {
                    return Err(absent(columns, Some(ident), &Ident::new("*")));
                }
                items.extend(without(of_table, options)?);
            }
            _ => return Err(refused(format!("`{item}` is not supported"))),
        }
    }
    Ok(items)
}

/// Removes the columns named by EXCLUDE or EXCEPT.
fn without<'a>(
    mut columns: Vec<Column>,
    options: &WildcardAdditionalOptions,
) -> Result<Vec<Item<'a>>> {
    let is_known = options.opt_ilike.is_none()
        && options.opt_replace.is_none()
        && options.opt_rename.is_none()
        && options.opt_alias.is_none();
    if !is_known {
        return Err(refused(format!("`*{options}` is not supported: name the columns")));
    }
    let mut left_out: Vec<Ident> = Vec::new();
    if let Some(except) = &options.opt_except {
        left_out.push(except.first_element.clone());
        left_out.extend(except.additional_elements.iter().cloned());
    }
    let excluded = match &options.opt_exclude {
        None => Vec::new(),
        Some(ExcludeSelectItem::Single(name)) => vec![name],
        Some(ExcludeSelectItem::Multiple(names)) => names.iter().collect(),
    };
    for name in excluded {
        let ident = name.0.last().and_then(|part| part.as_ident());
        left_out.extend(ident.cloned());
    }
    for name in left_out {
        let before = columns.len();
        columns.retain(|column| !is_name(&name, &column.name));
        if columns.len() == before {
            return Err(absent(&columns, None, &name));
        }
    }
    Ok(columns.into_iter().map(Item::Column).collect())
}

/// Names a column without an alias: a plain column's own name, otherwise the expression's text.
fn name_of(ast: &Ast) -> String {
    match ast {
        Ast::Identifier(name) => name.value.clone(),
        Ast::CompoundIdentifier(parts) => {
            parts.last().map_or_else(String::new, |name| name.value.clone())
        }
        _ => ast.to_string(),
    }
}

/// Returns the expressions that are evaluated after grouping.
fn uppers<'a>(select: &'a Select, items: &[Item<'a>], order: Option<&'a OrderBy>) -> Vec<&'a Ast> {
    let listed = items.iter().filter_map(|item| match item {
        Item::Expression { ast, .. } => Some(*ast),
        Item::Column(_) => None,
    });
    let mut uppers: Vec<&Ast> = listed.chain(&select.having).chain(&select.qualify).collect();
    if let Some(OrderByKind::Expressions(keys)) = order.map(|order| &order.kind) {
        uppers.extend(keys.iter().map(|key| &key.expr));
    }
    if let Some(Distinct::On(keys)) = &select.distinct {
        uppers.extend(keys);
    }
    uppers
}
