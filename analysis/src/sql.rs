//! SQL over the tables of results.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use polars::prelude::*;
use polars::sql::SQLContext;

use crate::error::{Error, Result};
use crate::frame::finite_or_null;
use crate::results::Results;

impl Results {
    /// The result of a `SELECT` over the tables, each under its name, in the SQL of polars. Only
    /// the tables that the query names are opened, and only the columns that it uses are read.
    /// Values of the result that are not finite numbers are null; within the query, `a / NULLIF(b,
    /// 0)` is null if the denominator is 0.
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
    /// If the query is not understood, names a table or a column that does not exist, or cannot be
    /// evaluated; or as [`Results::table`].
    pub fn query(&self, sql: &str) -> Result<DataFrame> {
        check_reads(sql)?;
        let mut context = SQLContext::new();
        let mut columns = BTreeSet::new();
        for table in self.tables()?.into_iter().filter(|table| mentions(sql, table)) {
            let mut frame = self.table(table)?;
            columns.extend(frame.collect_schema()?.iter_names().map(|name| name.to_string()));
            context.register(table, frame);
        }
        let evaluate = || {
            let mut frame = context.execute(sql)?;
            let schema = frame.collect_schema()?;
            let floats = schema.iter().filter(|(_, dtype)| dtype.is_float());
            let finite =
                floats.map(|(name, _)| finite_or_null(col(name.clone())).alias(name.clone()));
            frame.with_columns(finite.collect::<Vec<_>>()).collect()
        };
        // A function that this build of polars lacks may panic, and so may damaged values of a
        // table.
        let failed = |_| {
            Err(
                polars_err!(SQLInterface: "polars does not support this query, or a table of it is damaged"),
            )
        };
        let outcome = catch_unwind(AssertUnwindSafe(evaluate)).unwrap_or_else(failed);
        outcome.map_err(|error| self.explained(&error, columns))
    }

    /// Names of the existing tables, in the order of [`TABLES`](crate::TABLES).
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

    fn explained(&self, error: &PolarsError, columns: BTreeSet<String>) -> Error {
        let text = error.to_string();
        if let Some(table) = between(&text, "relation '", "' was not found") {
            let available = self.tables().unwrap_or_default().into_iter().map(str::to_owned);
            return Error::UnknownTable { table: table.to_owned(), available: available.collect() };
        }
        let column = match error {
            PolarsError::ColumnNotFound(_) => {
                between(&text, "\"", "\"").or(between(&text, "'", "'"))
            }
            _ => None,
        };
        match column {
            Some(column) if !columns.is_empty() && !columns.contains(column) => {
                let available = columns.into_iter().collect();
                Error::UnknownColumn { column: column.to_owned(), available }
            }
            // The rest of the message is polars' query plan.
            _ => Error::Query(text.lines().next().unwrap_or_default().to_owned()),
        }
    }
}

/// Refuses statements that would change tables: polars changes names in memory only, and says nothing.
fn check_reads(sql: &str) -> Result<()> {
    const CHANGES: [&str; 7] =
        ["alter", "create", "delete", "drop", "insert", "truncate", "update"];
    let first = sql.split_whitespace().next().unwrap_or_default();
    match CHANGES.iter().any(|change| first.eq_ignore_ascii_case(change)) {
        true => Err(Error::Query(format!("a query reads tables, and `{first}` would change them"))),
        false => Ok(()),
    }
}

/// Whether `word` occurs in the query as a separate word.
fn mentions(sql: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    sql.split(|c| !is_part(c)).any(|other| other == word)
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let rest = &text[text.find(start)? + start.len()..];
    Some(&rest[..rest.find(end)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_that_changes_tables_is_refused() {
        for sql in ["DROP TABLE runs", " truncate table runs", "DELETE FROM runs"] {
            assert!(check_reads(sql).unwrap_err().to_string().contains("would change"), "{sql}");
        }
        for sql in ["SELECT 1", "WITH a AS (SELECT 1) SELECT * FROM a", "SHOW TABLES", ""] {
            assert!(check_reads(sql).is_ok(), "{sql}");
        }
    }

    #[test]
    fn a_table_is_mentioned_by_a_word_of_its_own() {
        let sql = "SELECT loads.pc FROM \"runs\" JOIN loads";
        assert!(mentions(sql, "runs") && mentions(sql, "loads"));
        assert!(!mentions(sql, "load") && !mentions("SELECT runs_a FROM x", "runs"));
    }
}
