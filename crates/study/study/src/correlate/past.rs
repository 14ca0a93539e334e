//! Our side of the comparison, from the tables of earlier runs.

use super::error::NoColumn;
use super::figures::{Figures, KernelFigures};
use super::plan::Planned;
use serde_json::{Map, Value};
use std::path::PathBuf;
use warpmem_record::RunKey;

type Row = Map<String, Value>;

/// Rows of the tables `runs` and `kernels` in a directory.
pub struct Past {
    pub directory: PathBuf,
    pub runs: Vec<Row>,
    pub kernels: Vec<Row>,
}

impl Past {
    /// Finds the run of the same trace on the same machine with the same parameters, or explains
    /// why there is none.
    ///
    /// # Errors
    /// If a row lacks a column.
    pub fn find(&self, run: &Planned) -> Result<Result<Figures, String>, NoColumn> {
        let is_named = |row: &&Row| {
            text(row, "trace") == run.trace && text(row, "machine") == run.machine.name
        };
        let key = RunKey::new(&run.trace, 0, run.machine.clone(), "");
        let mut named = self.runs.iter().filter(is_named).peekable();
        let Some(&first) = named.peek() else {
            let directory = self.directory.display();
            return Ok(Err(format!("{directory} has no run of this trace and machine")));
        };
        let Some(row) = named.find(|row| text(row, "parameters") == key.parameters()) else {
            let keys = differing(text(first, "parameters"), key.parameters());
            let directory = self.directory.display();
            return Ok(Err(format!("its run in {directory} differs in {keys}")));
        };
        let id = text(row, "run_id");
        let kernels = self.kernels.iter().filter(|kernel| text(kernel, "run_id") == id);
        let kernels: Vec<KernelFigures> =
            kernels.map(KernelFigures::of_row).collect::<Result<_, _>>()?;
        Ok(Ok(Figures::of_row(row, kernels)?))
    }
}

fn text<'a>(row: &'a Row, column: &str) -> &'a str {
    row.get(column).and_then(Value::as_str).unwrap_or_default()
}

/// Names the parameters in which two machines differ.
fn differing(one: &str, other: &str) -> String {
    let parse = |text| serde_json::from_str::<Row>(text).unwrap_or_default();
    let (one, other) = (parse(one), parse(other));
    let keys = one.keys().chain(other.keys().filter(|key| !one.contains_key(*key)));
    let keys: Vec<&str> =
        keys.filter(|key| one.get(*key) != other.get(*key)).map(String::as_str).collect();
    keys.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_that_differ_are_named() {
        let keys = differing(r#"{"a":1,"b":2,"c":3}"#, r#"{"a":1,"b":5,"d":3}"#);
        assert_eq!(keys, "b, c, d");
    }
}
