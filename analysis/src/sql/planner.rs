//! The state of a plan: the tables that it has opened and the identifiers that it has given out.
//! Each module of a clause adds its methods to [`Planner`], and recursion between clauses goes
//! through them: no such module imports another for it.

use std::collections::HashMap;

use polars::prelude::*;
use sqlparser::ast::Ident;

use super::scope::{Output, Table, is_name};
use crate::error::{Error, Result};
use crate::results::Results;

/// Translates a statement into frames.
pub(super) struct Planner<'r> {
    results: Option<&'r Results>,
    /// Tables opened so far by the query.
    tables: HashMap<&'static str, Table>,
    columns: usize,
}

impl<'r> Planner<'r> {
    pub fn new(results: Option<&'r Results>) -> Planner<'r> {
        Planner { results, tables: HashMap::new(), columns: 0 }
    }

    /// Returns a unique identifier.
    pub fn fresh(&mut self) -> PlSmallStr {
        self.columns += 1;
        format!("#{}", self.columns).into()
    }

    /// Opens a table of the results.
    pub fn table(&mut self, name: &Ident) -> Result<(String, Table)> {
        let present = self.results.map_or(Ok(Vec::new()), Results::tables)?;
        let table = present.iter().find(|table| is_name(name, table));
        let (Some(&table), Some(results)) = (table, self.results) else {
            let available = present.into_iter().map(str::to_owned).collect();
            return Err(Error::UnknownTable { table: name.value.clone(), available });
        };
        if let Some(known) = self.tables.get(table) {
            return Ok((table.to_owned(), known.clone()));
        }
        let mut frame = results.table(table)?;
        let schema = frame.collect_schema()?;
        let column = |(name, dtype): (&PlSmallStr, &DataType)| Output {
            name: name.to_string(),
            id: name.clone(),
            dtype: dtype.clone(),
        };
        let opened = Table { columns: schema.iter().map(column).collect(), frame };
        self.tables.insert(table, opened.clone());
        Ok((table.to_owned(), opened))
    }
}
