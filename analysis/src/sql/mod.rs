//! SQL over the tables of results.
//!
//! A statement is parsed by `sqlparser` and planned here, over polars' lazy frames: names become
//! unique columns ([`scope`]), FROM becomes joins ([`from`]), and expressions become polars'
//! ([`expression`]). A statement is answered as the SQL standard requires, or refused with a
//! message.
//!
//! ```text
//! FROM, JOIN ── WHERE ── GROUP BY, aggregates ── HAVING ── windows ── QUALIFY ── SELECT
//!     from               group, aggregate                  window               select
//! ```

mod aggregate;
mod answer;
mod cast;
mod expression;
mod from;
mod function;
mod group;
mod order;
mod planner;
mod scope;
mod select;
mod set;
mod subquery;
mod syntax;
mod value;
mod window;

use std::thread;

use polars::prelude::*;
use sqlparser::ast::{Query, Statement};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, Tokenizer};

use crate::error::{Error, Result, refused};
use crate::results::Results;
use answer::{collect, finite, named};
use planner::Planner;
use scope::{Column, Context, Env, Relation};

/// Longest accepted query, in tokens. The planner's stack holds an expression of that height.
const LONGEST: usize = 20_000;
const STACK: usize = 256 << 20;

impl Results {
    /// Evaluates a `SELECT` over the tables, each under its name. Only the tables named by the
    /// query are opened, and only the columns used are read. Result values that are not finite
    /// numbers are null, as is a quotient whose denominator is 0.
    ///
    /// ```no_run
    /// use warpmem_analysis::{Results, table_to_string};
    ///
    /// let results = Results::open("results")?;
    /// let table = results.query("SELECT trace, max(ipc_thread) AS best FROM runs GROUP BY trace ORDER BY best DESC")?;
    /// print!("{}", table_to_string(&table, 120)?);
    /// # Ok::<(), warpmem_analysis::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the query does not parse, names a table or a column that does not exist, or cannot be
    /// evaluated; or as [`Results::table`].
    pub fn query(&self, sql: &str) -> Result<DataFrame> {
        on_a_deep_stack(|| {
            let query = parse(sql)?;
            let mut planner = Planner::new(Some(self));
            let answer = planner.query(&query, Env { named: &[], outer: None })?;
            finite(collect(named(answer))?)
        })
    }

    /// Returns the names of the existing tables, in the order of [`TABLES`](crate::TABLES).
    ///
    /// # Errors
    /// If a directory cannot be read.
    pub fn tables(&self) -> Result<Vec<&'static str>> {
        let mut present = Vec::new();
        for table in crate::results::TABLES {
            if self.has(table)? {
                present.push(table);
            }
        }
        Ok(present)
    }
}

/// Adds a column to the frame: the value of an SQL expression over its columns, as a float.
///
/// # Errors
/// If the expression does not parse, or names a column that the frame lacks.
pub fn with_expression(mut frame: LazyFrame, sql: &str, name: &str) -> Result<LazyFrame> {
    on_a_deep_stack(|| {
        let text = tokens(sql)?;
        let mut parser = Parser::new(&GenericDialect).with_tokens(text);
        let ast = parser.parse_expr().map_err(|error| not_parsed(&error))?;
        if parser.peek_token().token != Token::EOF {
            return Err(refused(format!("`{sql}` is more than one expression")));
        }
        let schema = frame.collect_schema()?;
        let columns = schema.iter().map(|(name, dtype)| Column {
            table: None,
            name: name.to_string(),
            id: name.clone(),
            dtype: dtype.clone(),
            is_bare: true,
        });
        let rows = Relation { frame: frame.clone(), columns: columns.collect() };
        let env = Env { named: &[], outer: None };
        let mut context = Context::new(rows, env, "an expression");
        let value = Planner::new(None).expression(&ast, &mut context)?.settled();
        let kept = schema.iter_names().filter(|kept| kept.as_str() != name);
        let kept = kept.map(|name| col(name.clone()));
        let kept: Vec<Expr> = kept.chain([value.float().alias(name)]).collect();
        Ok(context.rows.frame.select(kept))
    })
}

/// Runs `plan` on a thread with a stack deep enough for the recursion over any query.
fn on_a_deep_stack<T: Send>(plan: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let failed = || refused("an expression cannot be evaluated, or a table is damaged".to_owned());
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, plan);
        let thread = thread.map_err(|error| refused(format!("no thread for it: {error}")))?;
        // A damaged value of a table can make polars panic.
        thread.join().unwrap_or_else(|_| Err(failed()))
    })
}

fn tokens(sql: &str) -> Result<Vec<Token>> {
    let tokens = Tokenizer::new(&GenericDialect, sql).tokenize();
    let tokens = tokens.map_err(|error| refused(error.to_string()))?;
    let words = tokens.iter().filter(|token| !matches!(token, Token::Whitespace(_))).count();
    if words > LONGEST {
        return Err(refused(format!(
            "it has {words} tokens; at most {LONGEST} are supported: write it as several queries"
        )));
    }
    Ok(tokens)
}

fn parse(sql: &str) -> Result<Query> {
    const CHANGES: [&str; 7] =
        ["alter", "create", "delete", "drop", "insert", "truncate", "update"];
    let first = sql.split_whitespace().next().unwrap_or_default();
    if CHANGES.iter().any(|change| first.eq_ignore_ascii_case(change)) {
        return Err(refused(format!("a query reads tables, and `{first}` would change them")));
    }
    tokens(sql)?;
    let parser = Parser::new(&GenericDialect).try_with_sql(sql);
    let statements = parser.and_then(|mut parser| parser.parse_statements());
    let mut statements = statements.map_err(|error| not_parsed(&error))?;
    match (statements.pop(), statements.len()) {
        (Some(Statement::Query(query)), 0) => Ok(*query),
        (None, _) => Err(refused("it is empty: write a SELECT".to_owned())),
        (Some(_), 0) => Err(refused(format!("`{first}` is not a query: write a SELECT"))),
        (Some(_), _) => Err(refused("it has several statements: give one".to_owned())),
    }
}

fn not_parsed(error: &ParserError) -> Error {
    match error {
        ParserError::RecursionLimitExceeded => {
            refused("its parentheses are nested too deeply: write parts of it as WITH".to_owned())
        }
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => refused(text.clone()),
    }
}
