//! Plain tables: named columns with nulls.

use crate::cell::{Cell, rows_to_csv, rows_to_json};
use std::convert::Infallible;

/// Values of a column, row by row.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    Text(Vec<Option<String>>),
    Count(Vec<Option<i64>>),
    Float(Vec<Option<f64>>),
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Values::Text(values) => values.len(),
            Values::Count(values) => values.len(),
            Values::Float(values) => values.len(),
        }
    }

    /// Returns the value in `row` for printing.
    pub fn cell(&self, row: usize) -> Cell {
        match self {
            Values::Text(values) => values[row].clone().map_or(Cell::Null, Cell::Text),
            Values::Count(values) => values[row].map_or(Cell::Null, |n| Cell::Integer(n.into())),
            Values::Float(values) => Cell::float(values[row]),
        }
    }

    /// Returns the value in `row` as text.
    pub(crate) fn text(&self, row: usize) -> Option<String> {
        match self {
            Values::Text(values) => values[row].clone(),
            Values::Count(values) => values[row].map(|value| value.to_string()),
            Values::Float(values) => values[row].map(|value| value.to_string()),
        }
    }

    /// Returns the values as numbers; none if the column holds text.
    pub fn numbers(&self) -> Option<Vec<Option<f64>>> {
        match self {
            Values::Text(_) => None,
            Values::Count(values) => {
                Some(values.iter().map(|value| value.map(|value| value as f64)).collect())
            }
            Values::Float(values) => Some(values.clone()),
        }
    }

    /// Returns the values of the given rows.
    fn at(&self, rows: &[usize]) -> Values {
        match self {
            Values::Text(values) => Values::Text(rows.iter().map(|&r| values[r].clone()).collect()),
            Values::Count(values) => Values::Count(rows.iter().map(|&r| values[r]).collect()),
            Values::Float(values) => Values::Float(rows.iter().map(|&r| values[r]).collect()),
        }
    }

    fn nulls_like(&self, rows: usize) -> Values {
        match self {
            Values::Text(_) => Values::Text(vec![None; rows]),
            Values::Count(_) => Values::Count(vec![None; rows]),
            Values::Float(_) => Values::Float(vec![None; rows]),
        }
    }

    fn append(&mut self, other: Values) {
        match (self, other) {
            (Values::Text(all), Values::Text(more)) => all.extend(more),
            (Values::Count(all), Values::Count(more)) => all.extend(more),
            (Values::Float(all), Values::Float(more)) => all.extend(more),
            _ => unreachable!("columns of the same name have one type"),
        }
    }
}

/// Named columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    columns: Vec<(String, Values)>,
}

impl Table {
    /// Makes a table of columns.
    ///
    /// # Panics
    /// If the columns differ in length.
    pub fn new(columns: Vec<(String, Values)>) -> Table {
        assert!(columns.windows(2).all(|pair| pair[0].1.len() == pair[1].1.len()));
        Table { columns }
    }

    /// Returns the number of rows.
    pub fn height(&self) -> usize {
        self.columns.first().map_or(0, |(_, values)| values.len())
    }

    pub fn columns(&self) -> &[(String, Values)] {
        &self.columns
    }

    /// Returns the names of the columns, in order.
    pub fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|(name, _)| name.as_str()).collect()
    }

    pub fn column(&self, name: &str) -> Option<&Values> {
        self.columns.iter().find(|(column, _)| column == name).map(|(_, values)| values)
    }

    /// Returns the values of a column of numbers; none if there is no such column.
    pub(crate) fn numbers_or_none(&self, name: &str) -> Vec<Option<f64>> {
        self.column(name).and_then(Values::numbers).unwrap_or_default()
    }

    /// Returns the rows whose text in `column` is one of `texts`; none if there is no such column.
    pub fn with_text(&self, column: &str, texts: &[&str]) -> Table {
        let is_one = |text: Option<String>| text.is_some_and(|text| texts.contains(&text.as_str()));
        let keeps = |row: &usize| self.column(column).is_some_and(|of| is_one(of.text(*row)));
        let rows: Vec<usize> = (0..self.height()).filter(keeps).collect();
        let columns = self.columns.iter().map(|(name, values)| (name.clone(), values.at(&rows)));
        Table { columns: columns.collect() }
    }

    /// Stacks tables. The columns are in order of first appearance; a column that a table lacks is
    /// null in its rows. Columns of the same name have one type.
    pub fn stacked(tables: &[Table]) -> Table {
        let mut all = Table::default();
        for (name, values) in tables.iter().flat_map(|table| &table.columns) {
            if all.column(name).is_none() {
                all.columns.push((name.clone(), values.nulls_like(0)));
            }
        }
        for (name, values) in &mut all.columns {
            for table in tables {
                let missing = || values.nulls_like(table.height());
                let more = table.column(name).cloned().unwrap_or_else(missing);
                values.append(more);
            }
        }
        all
    }

    fn rows(&self) -> impl Iterator<Item = Result<Vec<Cell>, Infallible>> {
        (0..self.height()).map(|row| Ok(self.columns.iter().map(|(_, of)| of.cell(row)).collect()))
    }

    /// Formats the table as CSV, as [`rows_to_csv`] does.
    pub fn to_csv(&self) -> String {
        let Ok(text) = rows_to_csv(&self.names(), self.rows());
        text
    }

    /// Formats the table as JSON, as [`rows_to_json`] does.
    pub fn to_json(&self) -> String {
        let Ok(text) = rows_to_json(&self.names(), self.rows());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(name: &str, values: &[&str]) -> (String, Values) {
        (name.to_owned(), Values::Text(values.iter().map(|v| Some((*v).to_owned())).collect()))
    }

    #[test]
    fn stacked_tables_are_null_in_the_columns_they_lack() {
        let one = Table::new(vec![texts("a", &["x"]), ("n".into(), Values::Count(vec![Some(1)]))]);
        let two =
            Table::new(vec![("f".into(), Values::Float(vec![Some(0.5)])), texts("a", &["y"])]);
        assert_eq!(Table::stacked(&[one, two]).to_csv(), "a,n,f\nx,1,\ny,,0.5\n");
    }

    #[test]
    fn rows_are_selected_by_their_text() {
        let table = Table::new(vec![
            texts("a", &["x", "y", "z"]),
            ("n".into(), Values::Count(vec![Some(1), None, Some(3)])),
        ]);
        assert_eq!(table.with_text("a", &["z", "y"]).to_csv(), "a,n\ny,\nz,3\n");
        assert_eq!(table.with_text("b", &["z"]).height(), 0);
    }
}
