//! FROM: tables, subqueries and their joins.

use std::collections::HashSet;
use std::ops::ControlFlow;

use polars::prelude::*;
use sqlparser::ast::{
    BinaryOperator, Expr as Ast, Ident, Join, JoinConstraint, JoinOperator, ObjectName, TableAlias,
    TableFactor, TableWithJoins, visit_expressions,
};

use super::planner::Planner;
use super::scope::{Column, Context, Env, Output, Relation, Table, absent, find, is_name};
use super::value::{Value, same_type};
use crate::error::{Result, refused};

/// A condition of ON, by the tables it refers to.
enum Condition<'a> {
    /// An equality between an expression over the left side and one over the right side.
    Equal(&'a Ast, &'a Ast),
    Left(&'a Ast),
    Right(&'a Ast),
    Both(&'a Ast),
}

impl Planner<'_> {
    pub(super) fn from(&mut self, from: &[TableWithJoins], env: Env) -> Result<Relation> {
        let mut rows: Option<Relation> = None;
        for table in from {
            let next = self.joined(table, env)?;
            rows = Some(match rows {
                None => next,
                Some(rows) => crossed(rows, next)?,
            });
        }
        Ok(rows.unwrap_or_else(Relation::one_row))
    }

    fn joined(&mut self, tables: &TableWithJoins, env: Env) -> Result<Relation> {
        let mut rows = self.factor(&tables.relation, env)?;
        for join in &tables.joins {
            let right = self.factor(&join.relation, env)?;
            rows = self.join(rows, right, join, env)?;
        }
        Ok(rows)
    }

    fn factor(&mut self, factor: &TableFactor, env: Env) -> Result<Relation> {
        match factor {
            TableFactor::Table {
                name,
                alias,
                args: None,
                with_hints,
                version: None,
                with_ordinality: false,
                partitions,
                json_path: None,
                sample: None,
                index_hints,
            } if with_hints.is_empty() && partitions.is_empty() && index_hints.is_empty() => {
                let (name, table) = self.named_table(name, env)?;
                self.relation(table, alias.as_ref(), Some(name))
            }
            TableFactor::Derived { lateral: false, subquery, alias, sample: None } => {
                let table = self.query(subquery, env)?;
                self.relation(table, alias.as_ref(), None)
            }
            TableFactor::NestedJoin { table_with_joins, alias: None } => {
                self.joined(table_with_joins, env)
            }
            TableFactor::Derived { lateral: true, .. } => Err(refused(
                "LATERAL is not supported: write a join, or a subquery in SELECT or WHERE"
                    .to_owned(),
            )),
            _ => Err(refused(format!(
                "`{factor}` in FROM is not supported: name a table, or write a subquery in parentheses"
            ))),
        }
    }

    /// Resolves a table named by WITH, or one of the results.
    fn named_table(&mut self, name: &ObjectName, env: Env) -> Result<(String, Table)> {
        let [part] = name.0.as_slice() else {
            return Err(refused(format!("`{name}`: tables have names of one word")));
        };
        let ident = part.as_ident().ok_or_else(|| refused(format!("`{name}` names no table")))?;
        match env.named.iter().find(|(known, _)| is_name(ident, known)) {
            Some((known, table)) => Ok((known.clone(), table.clone())),
            None => self.table(ident),
        }
    }

    /// Returns the rows of a table with identifiers unique to this use of it.
    fn relation(
        &mut self,
        mut table: Table,
        alias: Option<&TableAlias>,
        name: Option<String>,
    ) -> Result<Relation> {
        if let Some(alias) = alias {
            table.rename(alias)?;
        }
        let name = alias.map(|alias| alias.name.value.clone()).or(name);
        let column = |column: Output| {
            let id = self.fresh();
            let expr = col(column.id).alias(id.clone());
            let column = Column {
                table: name.clone(),
                name: column.name,
                id,
                dtype: column.dtype,
                is_bare: true,
            };
            (expr, column)
        };
        let (selected, columns): (Vec<Expr>, Vec<Column>) =
            table.columns.into_iter().map(column).unzip();
        Ok(Relation { frame: table.frame.select(selected), columns })
    }

    fn join(&mut self, left: Relation, right: Relation, join: &Join, env: Env) -> Result<Relation> {
        let (how, constraint) = match &join.join_operator {
            JoinOperator::Join(on) | JoinOperator::Inner(on) => (JoinType::Inner, on),
            JoinOperator::Left(on) | JoinOperator::LeftOuter(on) => (JoinType::Left, on),
            JoinOperator::Right(on) | JoinOperator::RightOuter(on) => (JoinType::Right, on),
            JoinOperator::FullOuter(on) => (JoinType::Full, on),
            JoinOperator::CrossJoin(JoinConstraint::None) => return crossed(left, right),
            _ => {
                return Err(refused(format!(
                    "`{join}` is not supported: write JOIN, LEFT JOIN, RIGHT JOIN, FULL JOIN or CROSS JOIN; a semi join is WHERE … IN (SELECT …)"
                )));
            }
        };
        match constraint {
            JoinConstraint::On(on) => self.join_on(left, right, how, on, env),
            JoinConstraint::Using(names) => {
                let names = names.iter().map(|name| match name.0.as_slice() {
                    [part] => part.as_ident().cloned().ok_or(name),
                    _ => Err(name),
                });
                let names: std::result::Result<Vec<Ident>, _> = names.collect();
                let names = names
                    .map_err(|name| refused(format!("USING ({name}): give a column's name")))?;
                self.join_using(left, right, how, &names)
            }
            JoinConstraint::Natural => {
                let bare = left.columns.iter().filter(|column| column.is_bare);
                let shared = bare
                    .filter(|column| right.columns.iter().any(|other| other.name == column.name));
                let names: Vec<Ident> =
                    shared.map(|column| Ident::with_quote('"', &column.name)).collect();
                self.join_using(left, right, how, &names)
            }
            JoinConstraint::None => {
                Err(refused(format!("`{join}` has no condition: add ON, or write CROSS JOIN")))
            }
        }
    }

    fn join_on(
        &mut self,
        left: Relation,
        right: Relation,
        how: JoinType,
        on: &Ast,
        env: Env,
    ) -> Result<Relation> {
        let mut conditions = Vec::new();
        for part in conjuncts(on) {
            conditions.push(classified(part, &left, &right)?);
        }
        let is_inner = how == JoinType::Inner;
        let mut sides = [Context::new(left, env, "ON"), Context::new(right, env, "ON")];
        let mut keys = [Vec::new(), Vec::new()];
        let mut remaining = Vec::new();
        for condition in conditions {
            let [left, right] = match condition {
                Condition::Equal(left, right) => {
                    let values = [
                        self.expression(left, &mut sides[0])?.settled(),
                        self.expression(right, &mut sides[1])?.settled(),
                    ];
                    same_type(values, || format!("{left} = {right}"))?
                }
                Condition::Left(ast) | Condition::Right(ast) | Condition::Both(ast) if is_inner => {
                    remaining.push(ast);
                    continue;
                }
                // Rows of one side that meet the condition get a key; null equals nothing.
                Condition::Left(ast) => [self.holds(ast, &mut sides[0])?, yes()],
                Condition::Right(ast) => [yes(), self.holds(ast, &mut sides[1])?],
                Condition::Both(ast) => {
                    return Err(refused(format!(
                        "an outer join on `{ast}`, which compares both tables otherwise than by `=`, is not supported: join on the equalities, or write JOIN"
                    )));
                }
            };
            for (side, (context, value)) in sides.iter_mut().zip([left, right]).enumerate() {
                let id = self.fresh();
                context.add(value.expr, &id);
                keys[side].push(col(id));
            }
        }
        if keys[0].is_empty() && !is_inner {
            for (context, keys) in sides.iter_mut().zip(&mut keys) {
                let id = self.fresh();
                context.add(yes().expr, &id);
                keys.push(col(id));
            }
        }
        let [left, right] = sides.map(|context| context.rows);
        let rows = match keys[0].is_empty() {
            true => crossed(left, right)?,
            false => joined_rows(left, right, how, keys)?,
        };
        let mut context = Context::new(rows, env, "ON");
        for ast in remaining {
            let holds = self.predicate(ast, &mut context)?;
            context.rows.frame = context.rows.frame.filter(holds);
        }
        Ok(context.rows)
    }

    /// Returns true where a condition holds, null elsewhere.
    fn holds(&mut self, ast: &Ast, context: &mut Context) -> Result<Value> {
        let holds = self.predicate(ast, context)?;
        let expr = when(holds).then(lit(true)).otherwise(lit(NULL).cast(DataType::Boolean));
        Ok(Value::new(expr, DataType::Boolean))
    }

    /// Joins on columns of the same name, which become one column.
    fn join_using(
        &mut self,
        mut left: Relation,
        mut right: Relation,
        how: JoinType,
        names: &[Ident],
    ) -> Result<Relation> {
        if names.is_empty() {
            return Err(refused("a NATURAL join needs columns of one name".to_owned()));
        }
        let mut keys = [Vec::new(), Vec::new()];
        let mut merged = Vec::new();
        for name in names {
            let mut values = Vec::new();
            for side in [&left, &right] {
                let column = find(&side.columns, None, name)?;
                values.push(column.ok_or_else(|| absent(&side.columns, None, name))?.clone());
            }
            let own = [values[0].value(), values[1].value()];
            let cast = same_type(own, || format!("USING ({name})"))?;
            for (keys, value) in keys.iter_mut().zip(&cast) {
                keys.push(value.expr.clone());
            }
            let dtype = cast[0].dtype.clone();
            let [own, other] = cast;
            let expr = match how {
                JoinType::Right => other.expr,
                JoinType::Full => coalesce(&[own.expr, other.expr]),
                _ => own.expr,
            };
            let column = Column { table: None, id: self.fresh(), dtype, ..values[0].clone() };
            merged.push((values, column, expr));
        }
        // Keys that are cast need distinct names.
        for (side, keys) in [&mut left, &mut right].into_iter().zip(&mut keys) {
            for key in keys.iter_mut() {
                let id = self.fresh();
                side.frame = side.frame.clone().with_column(key.clone().alias(id.clone()));
                *key = col(id);
            }
        }
        let mut rows = joined_rows(left, right, how, keys)?;
        for (values, column, expr) in merged {
            for value in &values {
                let mut columns = rows.columns.iter_mut();
                if let Some(own) = columns.find(|own| own.id == value.id) {
                    own.is_bare = false;
                }
            }
            rows.frame = rows.frame.with_column(expr.alias(column.id.clone()));
            let place = rows.columns.iter().position(|own| own.id == values[0].id);
            rows.columns.insert(place.unwrap_or(0), column);
        }
        Ok(rows)
    }
}

fn yes() -> Value {
    Value::new(lit(true), DataType::Boolean)
}

fn crossed(left: Relation, right: Relation) -> Result<Relation> {
    distinct_names(&left, &right)?;
    let frame = left.frame.cross_join(right.frame, None);
    Ok(Relation { frame, columns: [left.columns, right.columns].concat() })
}

fn joined_rows(
    left: Relation,
    right: Relation,
    how: JoinType,
    keys: [Vec<Expr>; 2],
) -> Result<Relation> {
    distinct_names(&left, &right)?;
    let mut args = JoinArgs::new(how);
    args.coalesce = JoinCoalesce::KeepColumns;
    args.maintain_order = MaintainOrderJoin::LeftRight;
    let [left_keys, right_keys] = keys;
    let frame = left.frame.join(right.frame, left_keys, right_keys, args);
    Ok(Relation { frame, columns: [left.columns, right.columns].concat() })
}

/// Refuses two tables of the same name, whose columns a query could not distinguish.
fn distinct_names(left: &Relation, right: &Relation) -> Result<()> {
    let names: HashSet<&String> =
        left.columns.iter().filter_map(|column| column.table.as_ref()).collect();
    match right
        .columns
        .iter()
        .filter_map(|column| column.table.as_ref())
        .find(|name| names.contains(name))
    {
        Some(name) => Err(refused(format!(
            "FROM has two tables of the name `{name}`: give each a name with AS"
        ))),
        None => Ok(()),
    }
}

/// Splits a condition at its top-level ANDs.
fn conjuncts(on: &Ast) -> Vec<&Ast> {
    let mut open = vec![on];
    let mut parts = Vec::new();
    while let Some(ast) = open.pop() {
        match ast {
            Ast::BinaryOp { left, op: BinaryOperator::And, right } => {
                open.extend([&**right, &**left]);
            }
            Ast::Nested(inner) => open.push(inner),
            _ => parts.push(ast),
        }
    }
    parts
}

fn classified<'a>(ast: &'a Ast, left: &Relation, right: &Relation) -> Result<Condition<'a>> {
    if let Ast::BinaryOp { left: first, op: BinaryOperator::Eq, right: second } = ast {
        match (sides(first, left, right)?, sides(second, left, right)?) {
            ([true, false], [false, true]) => return Ok(Condition::Equal(first, second)),
            ([false, true], [true, false]) => return Ok(Condition::Equal(second, first)),
            _ => {}
        }
    }
    Ok(match sides(ast, left, right)? {
        [_, false] => Condition::Left(ast),
        [false, true] => Condition::Right(ast),
        [true, true] => Condition::Both(ast),
    })
}

/// Returns whether an expression uses columns of the left and of the right side.
fn sides(ast: &Ast, left: &Relation, right: &Relation) -> Result<[bool; 2]> {
    let mut used = [false, false];
    let flow = visit_expressions(ast, |part| {
        let (table, name) = match part {
            Ast::Identifier(name) => (None, name),
            Ast::CompoundIdentifier(parts) if parts.len() == 2 => (Some(&parts[0]), &parts[1]),
            _ => return ControlFlow::Continue(()),
        };
        let is_in =
            |side: &Relation| find(&side.columns, table, name).map(|column| column.is_some());
        match (is_in(left), is_in(right)) {
            (Err(error), _) | (_, Err(error)) => return ControlFlow::Break(error),
            (Ok(true), Ok(true)) => {
                return ControlFlow::Break(refused(format!(
                    "`{name}` in ON is a column of both tables: write the table in front of it"
                )));
            }
            (Ok(is_left), Ok(is_right)) => {
                used[0] |= is_left;
                used[1] |= is_right;
            }
        }
        ControlFlow::Continue(())
    });
    match flow {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(used),
    }
}
