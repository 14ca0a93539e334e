//! Aggregates: one value computed from many rows.

use std::ops::ControlFlow;

use polars::prelude::*;
use sqlparser::ast::{
    DuplicateTreatment, Expr as Ast, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentClause, FunctionArguments, OrderByExpr, Query, Value as Literal, Visit,
    Visitor,
};

use super::order::Order;
use super::planner::Planner;
use super::scope::Context;
use super::syntax::{name_of, text_of};
use super::value::{Value, checked, kind};
use crate::error::{Result, refused};
use crate::frame::finite_or_null;

const AGGREGATES: [&str; 35] = [
    "ANY_VALUE",
    "ARG_MAX",
    "ARG_MIN",
    "ARRAY_AGG",
    "AVG",
    "BOOL_AND",
    "BOOL_OR",
    "CORR",
    "COUNT",
    "COUNT_IF",
    "COVAR_POP",
    "COVAR_SAMP",
    "EVERY",
    "FIRST",
    "GEOMEAN",
    "LAST",
    "LIST",
    "MAX",
    "MAX_BY",
    "MEAN",
    "MEDIAN",
    "MIN",
    "MIN_BY",
    "PERCENTILE_CONT",
    "PERCENTILE_DISC",
    "QUANTILE_CONT",
    "QUANTILE_DISC",
    "STDDEV",
    "STDDEV_POP",
    "STDDEV_SAMP",
    "STRING_AGG",
    "SUM",
    "VARIANCE",
    "VAR_POP",
    "VAR_SAMP",
];

pub(super) fn is_aggregate(name: &str) -> bool {
    AGGREGATES.contains(&name)
}

/// Collects the aggregates of an expression, excluding those over windows and in subqueries.
pub(super) fn aggregates(ast: &Ast) -> Vec<Ast> {
    let mut found = Aggregates { depth: 0, found: Vec::new() };
    let _ = ast.visit(&mut found);
    found.found
}

struct Aggregates {
    /// Nesting depth in subqueries.
    depth: usize,
    found: Vec<Ast>,
}

impl Visitor for Aggregates {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, ast: &Ast) -> ControlFlow<()> {
        if self.depth == 0
            && let Ast::Function(function) = ast
            && function.over.is_none()
            && is_aggregate(&name_of(function))
        {
            self.found.push(ast.clone());
        }
        ControlFlow::Continue(())
    }
}

/// An aggregate and its arguments. Rows excluded by its FILTER are null in the arguments.
pub(super) struct Aggregate {
    pub name: String,
    text: String,
    /// Arguments; for COUNT(*) a single one that is true for every row.
    pub values: Vec<Value>,
    pub is_distinct: bool,
    order: Order,
    /// Fraction of the rows below a quantile.
    quantile: Option<f64>,
    separator: Option<String>,
}

impl Planner<'_> {
    pub(super) fn aggregate(
        &mut self,
        function: &Function,
        ast: &Ast,
        context: &mut Context,
    ) -> Result<Aggregate> {
        let refuse = || refused(format!("`{ast}` is not supported in this form"));
        let FunctionArguments::List(list) = &function.args else { return Err(refuse()) };
        if function.null_treatment.is_some()
            || !matches!(function.parameters, FunctionArguments::None)
        {
            return Err(refuse());
        }
        let mut order: &[OrderByExpr] = &function.within_group;
        for clause in &list.clauses {
            match clause {
                FunctionArgumentClause::OrderBy(keys) => order = keys,
                _ => return Err(refuse()),
            }
        }
        let mut args = Vec::new();
        for arg in &list.args {
            match arg {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(ast)) => args.push(ast),
                FunctionArg::Unnamed(FunctionArgExpr::Wildcard) if name_of(function) == "COUNT" => {
                }
                _ => return Err(refuse()),
            }
        }
        let mut aggregate = Aggregate {
            name: name_of(function),
            text: ast.to_string(),
            values: Vec::new(),
            is_distinct: list.duplicate_treatment == Some(DuplicateTreatment::Distinct),
            order: Order::default(),
            quantile: None,
            separator: None,
        };
        match aggregate.name.as_str() {
            "QUANTILE_CONT" | "QUANTILE_DISC" => aggregate.quantile = fraction(args.pop()),
            "PERCENTILE_CONT" | "PERCENTILE_DISC" => {
                aggregate.quantile = fraction(args.pop());
                let [key] = order else { return Err(refuse()) };
                if key.options.asc == Some(false) {
                    aggregate.quantile = aggregate.quantile.map(|part| 1.0 - part);
                }
                (args, order) = (vec![&key.expr], &[]);
            }
            "STRING_AGG" if args.len() == 2 => aggregate.separator = args.pop().and_then(text_of),
            "COUNT_IF" => aggregate.name = "COUNT".to_owned(),
            _ => {}
        }
        let is_count_of_true = name_of(function) == "COUNT_IF";
        let filter =
            function.filter.as_ref().map(|filter| self.predicate(filter, context)).transpose()?;
        let masked = |value: Value| match &filter {
            None => value,
            Some(holds) => {
                let expr = when(holds.clone()).then(value.expr.clone()).otherwise(lit(NULL));
                Value::over(expr, value.dtype.clone(), &[&value])
            }
        };
        for arg in args {
            let mut value = self.expression(arg, context)?.settled();
            if is_count_of_true {
                let yes = when(self.predicate(arg, context)?).then(lit(true)).otherwise(lit(NULL));
                value = Value::over(yes, DataType::Boolean, &[&value]);
            }
            // As a column, a literal has a value in each row of its group.
            aggregate.values.push(self.as_column(masked(value), context));
        }
        if aggregate.values.is_empty() {
            let every = masked(Value::new(lit(true), DataType::Boolean));
            aggregate.values.push(self.as_column(every, context));
        }
        for key in order {
            let value = self.expression(&key.expr, context)?;
            let value = self.as_column(value, context);
            if let Expr::Column(id) = value.expr {
                aggregate.order.push(id, &key.options);
            }
        }
        Ok(aggregate)
    }
}

/// Parses a number from 0 to 1.
fn fraction(ast: Option<&Ast>) -> Option<f64> {
    let Some(Ast::Value(value)) = ast else { return None };
    let Literal::Number(text, _) = &value.value else { return None };
    text.parse().ok().filter(|part| (0.0..=1.0).contains(part))
}

impl Aggregate {
    /// Computes the value of a group of rows.
    pub fn value(&self) -> Result<Value> {
        let first = &self.values[0];
        let rows = |expr: Expr| if self.is_distinct { expr.unique_stable() } else { expr };
        let whole = |expr: Expr| Value::new(expr.cast(DataType::Int64), DataType::Int64);
        let kept = |expr: Expr| Value::new(expr, first.dtype.clone());
        let float = |expr: Expr| Value::new(finite_or_null(expr), DataType::Float64);
        let value = match self.name.as_str() {
            "COUNT" => {
                self.takes(1)?;
                whole(rows(first.expr.clone()).count())
            }
            "SUM" => self.sum(rows)?,
            "AVG" | "MEAN" => float(rows(self.number()?).mean()),
            "MIN" => kept(self.one()?.min()),
            "MAX" => kept(self.one()?.max()),
            "MEDIAN" => float(rows(self.number()?).median()),
            "QUANTILE_CONT" | "PERCENTILE_CONT" => {
                float(rows(self.number()?).quantile(self.part()?, QuantileMethod::Linear))
            }
            "QUANTILE_DISC" | "PERCENTILE_DISC" => {
                let number = rows(self.number()?);
                let quantile = number.quantile(self.part()?, QuantileMethod::Equiprobable);
                kept(quantile.cast(first.dtype.clone()))
            }
            "STDDEV" | "STDDEV_SAMP" => float(rows(self.number()?).std(1)),
            "STDDEV_POP" => float(rows(self.number()?).std(0)),
            "VARIANCE" | "VAR_SAMP" => float(rows(self.number()?).var(1)),
            "VAR_POP" => float(rows(self.number()?).var(0)),
            "GEOMEAN" => {
                let logarithm = rows(self.number()?).log(lit(std::f64::consts::E));
                float(logarithm.mean().exp())
            }
            _ if self.is_distinct
                && !["ARRAY_AGG", "LIST", "STRING_AGG"].contains(&self.name.as_str()) =>
            {
                return Err(refused(format!("`{}`: leave out DISTINCT", self.text)));
            }
            "CORR" => {
                let [left, right] = self.pairs()?;
                float(pearson_corr(left, right))
            }
            "COVAR_SAMP" => {
                let [left, right] = self.pairs()?;
                float(cov(left, right, 1))
            }
            "COVAR_POP" => {
                let [left, right] = self.pairs()?;
                float(cov(left, right, 0))
            }
            "BOOL_AND" | "EVERY" => self.truth(|value| value.all(true))?,
            "BOOL_OR" => self.truth(|value| value.any(true))?,
            "ANY_VALUE" => kept(self.one()?.drop_nulls().first()),
            "FIRST" => kept(self.ordered(self.one()?).first()),
            "LAST" => kept(self.ordered(self.one()?).last()),
            "ARG_MAX" | "MAX_BY" => kept(self.at_the_end_of_the_order(true)?),
            "ARG_MIN" | "MIN_BY" => kept(self.at_the_end_of_the_order(false)?),
            "ARRAY_AGG" | "LIST" => {
                let list = rows(self.ordered(self.one()?)).implode(true);
                Value::new(list, DataType::List(Box::new(first.dtype.clone())))
            }
            "STRING_AGG" => {
                self.takes(1)?;
                let text = rows(self.ordered(first.clone().to(&DataType::String).expr));
                let separator = self.separator.as_deref().unwrap_or(",");
                let is_empty = first.expr.clone().count().eq(lit(0));
                let joined = text.str().join(separator, true);
                Value::new(when(is_empty).then(lit(NULL)).otherwise(joined), DataType::String)
            }
            name => return Err(refused(format!("`{}`: {name} is not supported", self.text))),
        };
        Ok(value)
    }

    fn sum(&self, rows: impl Fn(Expr) -> Expr) -> Result<Value> {
        let first = self.numbers()?;
        let is_whole = first.is_integer();
        let dtype = if is_whole { DataType::Int64 } else { DataType::Float64 };
        let of = rows(first.to(&dtype).expr);
        let sum = match is_whole {
            true => checked(of.clone().sum(), of.cast(DataType::Float64).sum()),
            false => of.sum(),
        };
        // SUM of no values is null.
        let is_empty = self.values[0].expr.clone().count().eq(lit(0));
        Ok(Value::new(when(is_empty).then(lit(NULL)).otherwise(sum), dtype))
    }

    /// Returns the argument as a number; truth values count as 0 and 1.
    pub fn numbers(&self) -> Result<Value> {
        self.takes(1)?;
        let first = &self.values[0];
        match first.dtype {
            DataType::Boolean => Ok(first.clone().to(&DataType::Int64)),
            DataType::Null => Ok(first.clone().to(&DataType::Float64)),
            _ if first.is_number() => Ok(first.clone()),
            _ => Err(refused(format!("`{}` is {}, not a number", self.text, kind(&first.dtype)))),
        }
    }

    fn number(&self) -> Result<Expr> {
        Ok(self.numbers()?.float())
    }

    fn one(&self) -> Result<Expr> {
        self.takes(1)?;
        Ok(self.values[0].expr.clone())
    }

    fn takes(&self, count: usize) -> Result<()> {
        match self.values.len() == count {
            true => Ok(()),
            false => Err(refused(format!("`{}`: {} takes {count} value(s)", self.text, self.name))),
        }
    }

    fn part(&self) -> Result<Expr> {
        let part = self.quantile.ok_or_else(|| {
            refused(format!("`{}`: {} takes a number from 0 to 1", self.text, self.name))
        });
        Ok(lit(part?))
    }

    fn truth(&self, reduce: fn(Expr) -> Expr) -> Result<Value> {
        let values = self.one()?;
        if self.values[0].dtype != DataType::Boolean {
            return Err(refused(format!("`{}`: {} takes a condition", self.text, self.name)));
        }
        let is_empty = values.clone().count().eq(lit(0));
        Ok(Value::new(when(is_empty).then(lit(NULL)).otherwise(reduce(values)), DataType::Boolean))
    }

    /// Returns the two arguments as floats, without the rows in which either is null.
    fn pairs(&self) -> Result<[Expr; 2]> {
        self.takes(2)?;
        if let Some(other) = self.values.iter().find(|value| !value.is_number()) {
            return Err(refused(format!("`{}` is of {}", self.text, kind(&other.dtype))));
        }
        let [left, right] = [self.values[0].float(), self.values[1].float()];
        let both = left.clone().is_not_null().and(right.clone().is_not_null());
        Ok([left, right].map(|value| value.filter(both.clone())))
    }

    fn ordered(&self, values: Expr) -> Expr {
        match self.order.by.is_empty() {
            true => values,
            false => values.sort_by(self.order.columns(), self.order.options()),
        }
    }

    /// Returns the first argument where the second is greatest or least.
    fn at_the_end_of_the_order(&self, greatest: bool) -> Result<Expr> {
        self.takes(2)?;
        let [value, key] = [&self.values[0], &self.values[1]].map(|value| value.expr.clone());
        let both = value.clone().is_not_null().and(key.clone().is_not_null());
        let options = SortMultipleOptions::default()
            .with_order_descending(greatest)
            .with_maintain_order(true);
        Ok(value.filter(both.clone()).sort_by([key.filter(both)], options).first())
    }
}
