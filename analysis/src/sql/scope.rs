//! Names and the columns that they refer to.
//!
//! Within a plan every column has a unique identifier, so that two tables with equal column names,
//! or one table used twice, never share a column. Only this module resolves names to identifiers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::ControlFlow;

use polars::prelude::*;
use sqlparser::ast::{
    Expr as Ast, Ident, NamedWindowDefinition, TableAlias, visit_expressions_mut,
};

use super::value::Value;
use crate::error::{Error, Result, refused, unknown_column};
use crate::former::present;

/// Answer to a query: columns of a frame with their names, which may repeat.
#[derive(Clone)]
pub(super) struct Table {
    pub frame: LazyFrame,
    pub columns: Vec<Output>,
}

impl Table {
    /// Renames the columns of a table to those of its alias.
    pub fn rename(&mut self, alias: &TableAlias) -> Result<()> {
        if alias.columns.is_empty() {
            return Ok(());
        }
        if alias.columns.len() != self.columns.len() {
            return Err(refused(format!(
                "`{alias}` names {} columns of {}",
                alias.columns.len(),
                self.columns.len()
            )));
        }
        for (column, named) in self.columns.iter_mut().zip(&alias.columns) {
            column.name.clone_from(&named.name.value);
        }
        Ok(())
    }
}

#[derive(Clone)]
pub(super) struct Output {
    pub name: String,
    pub id: PlSmallStr,
    pub dtype: DataType,
}

/// A column of a table in `FROM`.
#[derive(Clone)]
pub(super) struct Column {
    /// Alias or name of the table; none for a column that `USING` merges.
    pub table: Option<String>,
    pub name: String,
    pub id: PlSmallStr,
    pub dtype: DataType,
    /// Whether the unqualified name refers to the column; false only for merged columns.
    pub is_bare: bool,
}

impl Column {
    pub fn value(&self) -> Value {
        Value::new(col(self.id.clone()), self.dtype.clone())
    }
}

/// The rows of `FROM`, or of a later step.
#[derive(Clone)]
pub(super) struct Relation {
    pub frame: LazyFrame,
    pub columns: Vec<Column>,
}

impl Relation {
    /// Returns a single row without columns of interest.
    pub fn one_row() -> Relation {
        let row = DataFrame::empty_with_height(1).lazy().with_column(lit(0).alias("#0"));
        Relation { frame: row, columns: Vec::new() }
    }
}

/// Returns whether an identifier matches `name`, ignoring case unless quoted.
pub(super) fn is_name(ident: &Ident, name: &str) -> bool {
    match ident.quote_style {
        Some(_) => ident.value == name,
        None => ident.value.eq_ignore_ascii_case(name),
    }
}

/// Finds the column that a name refers to, if there is one.
pub(super) fn find<'c>(
    columns: &'c [Column],
    table: Option<&Ident>,
    name: &Ident,
) -> Result<Option<&'c Column>> {
    let is_of_table = |column: &&Column| match table {
        None => column.is_bare,
        Some(table) => column.table.as_ref().is_some_and(|own| is_name(table, own)),
    };
    let named = |name: &Ident| -> Vec<&Column> {
        columns.iter().filter(is_of_table).filter(|column| is_name(name, &column.name)).collect()
    };
    let mut found = named(name);
    if found.is_empty() {
        let lower = name.value.to_ascii_lowercase();
        found = named(&Ident { value: present(&lower).to_owned(), ..name.clone() });
    }
    if found.iter().any(|column| column.name == name.value) {
        found.retain(|column| column.name == name.value);
    }
    match found.as_slice() {
        [] => Ok(None),
        [column] => Ok(Some(column)),
        [first, second, ..] => {
            let written = |column: &Column| match &column.table {
                Some(table) => format!("`{table}.{}`", column.name),
                None => format!("`{}`", column.name),
            };
            Err(refused(format!(
                "`{name}` is ambiguous: write {} or {}",
                written(first),
                written(second)
            )))
        }
    }
}

/// Returns an error about a missing column of `table`.
pub(super) fn absent(columns: &[Column], table: Option<&Ident>, name: &Ident) -> Error {
    let of_table = |column: &&Column| {
        table.is_none_or(|table| column.table.as_ref().is_some_and(|own| is_name(table, own)))
    };
    if let Some(table) = table
        && !columns.iter().any(|column| of_table(&column))
    {
        return refused(format!("`{table}.{name}` names no table of the FROM clause around it"));
    }
    unknown_column(&name.value, columns.iter().filter(of_table).map(|column| column.name.clone()))
}

/// Returns the text of an expression with column identifiers in place of names, so that equal
/// expressions have equal texts.
pub(super) fn canonical(ast: &Ast, columns: &[Column]) -> String {
    let mut ast = ast.clone();
    while let Ast::Nested(inner) = ast {
        ast = *inner;
    }
    let _: ControlFlow<()> = visit_expressions_mut(&mut ast, |part| {
        let column = match part {
            Ast::Identifier(name) => find(columns, None, name),
            Ast::CompoundIdentifier(parts) if parts.len() == 2 => {
                find(columns, Some(&parts[0]), &parts[1])
            }
            _ => Ok(None),
        };
        if let Ok(Some(column)) = column {
            *part = Ast::Identifier(Ident::new(column.id.as_str()));
        }
        ControlFlow::Continue(())
    });
    ast.to_string()
}

/// Environment of a query: tables named by `WITH`, and the enclosing query.
#[derive(Clone, Copy)]
pub(super) struct Env<'e> {
    pub named: &'e [(String, Table)],
    pub outer: Option<&'e Outer<'e>>,
}

/// A row of the query that encloses a subquery.
pub(super) struct Outer<'e> {
    pub columns: &'e [Column],
    /// Values of the row; none while the columns used by the subquery are being collected.
    pub row: Option<&'e HashMap<PlSmallStr, Value>>,
    /// Columns that the subquery used.
    pub used: RefCell<Vec<Column>>,
    pub outer: Option<&'e Outer<'e>>,
}

impl<'e> Outer<'e> {
    pub fn new(
        columns: &'e [Column],
        row: Option<&'e HashMap<PlSmallStr, Value>>,
        outer: Option<&'e Outer<'e>>,
    ) -> Outer<'e> {
        Outer { columns, row, used: RefCell::new(Vec::new()), outer }
    }

    /// Returns the value of a column of this row, or of an outer query.
    pub fn value(&self, table: Option<&Ident>, name: &Ident) -> Result<Option<Value>> {
        let Some(column) = find(self.columns, table, name)? else {
            return self.outer.map_or(Ok(None), |outer| outer.value(table, name));
        };
        let mut used = self.used.borrow_mut();
        if !used.iter().any(|other| other.id == column.id) {
            used.push(column.clone());
        }
        let value = self.row.and_then(|row| row.get(&column.id).cloned());
        let probe = || Value::new(lit(NULL).cast(column.dtype.clone()), column.dtype.clone());
        Ok(Some(value.unwrap_or_else(probe)))
    }
}

/// Columns that remain after grouping, by the canonical text of their expressions.
pub(super) struct Groups {
    pub values: HashMap<String, Value>,
    /// Whether some key is not a plain column.
    pub has_computed_key: bool,
}

impl Groups {
    /// Returns the column of an expression.
    pub fn value(&self, ast: &Ast, context: &Context) -> Option<Value> {
        let may_be =
            matches!(ast, Ast::Identifier(_) | Ast::CompoundIdentifier(_) | Ast::Function(_));
        if !may_be && !self.has_computed_key {
            return None;
        }
        self.values.get(&canonical(ast, &context.rows.columns)).cloned()
    }
}

/// The rows and names in the scope of an expression.
pub(super) struct Context<'c> {
    pub rows: Relation,
    pub env: Env<'c>,
    /// Expressions of the SELECT list by their aliases.
    pub aliases: Vec<(&'c Ident, &'c Ast)>,
    pub windows: &'c [NamedWindowDefinition],
    /// Keys and aggregates, after grouping.
    pub groups: Option<Groups>,
    /// Clause being evaluated, if it does not allow window functions.
    pub without_windows: Option<&'static str>,
}

impl<'c> Context<'c> {
    pub fn new(rows: Relation, env: Env<'c>, clause: &'static str) -> Context<'c> {
        Context {
            rows,
            env,
            aliases: Vec::new(),
            windows: &[],
            groups: None,
            without_windows: Some(clause),
        }
    }

    /// Adds a column to the rows.
    pub fn add(&mut self, expr: Expr, id: &PlSmallStr) {
        let frame = self.rows.frame.clone();
        self.rows.frame = frame.with_column(expr.alias(id.clone()));
    }

    /// Returns the columns that a subquery may refer to: after grouping, the keys.
    pub fn visible(&self) -> Vec<Column> {
        let Some(groups) = &self.groups else { return self.rows.columns.clone() };
        let key = |column: &Column| {
            let Expr::Column(id) = &groups.values.get(column.id.as_str())?.expr else {
                return None;
            };
            Some(Column { id: id.clone(), ..column.clone() })
        };
        self.rows.columns.iter().filter_map(key).collect()
    }
}
