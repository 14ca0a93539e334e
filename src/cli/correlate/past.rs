//! Our side of the comparison, from the tables of earlier runs.

use super::super::output::note_without_checksum;
use super::ours::Outcome;
use super::plan::{Planned, Skipped};
use anyhow::Context;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use warpmem::record::RunKey;
use warpmem::study::correlate::{Figures, KernelFigures};
use warpmem_analysis::polars::prelude::LazyFrame;
use warpmem_analysis::{Results, table_to_json};

type Row = Map<String, Value>;

/// Tables of `run` or `compare`.
pub struct Past {
    directory: PathBuf,
    runs: Vec<Row>,
    kernels: Vec<Row>,
}

impl Past {
    pub fn open(directory: &Path) -> anyhow::Result<Past> {
        let results = Results::open(directory)?;
        let (runs, kernels) = (rows(results.runs()?)?, rows(results.table("kernels")?)?);
        note_without_checksum(&results);
        Ok(Past { directory: directory.to_owned(), runs, kernels })
    }

    /// Our results for every run that the tables have; `skipped` names the others.
    pub fn find_all(
        &self,
        planned: Vec<Planned>,
        skipped: &mut Skipped,
    ) -> anyhow::Result<Outcome> {
        let mut outcome = Outcome { comparisons: Vec::new(), refused: Vec::new(), failure: None };
        for run in planned {
            let figures = match self.find(&run)? {
                Ok(figures) => figures,
                Err(reason) => {
                    skipped.add(run.label(), reason);
                    continue;
                }
            };
            match run.refusal(&self.directory, &figures.kernels) {
                Some(refusal) => outcome.refused.push(refusal),
                None => outcome.comparisons.push(run.beside(figures)),
            }
        }
        Ok(outcome)
    }

    /// The run of the same trace on the same machine with the same parameters, or why there is
    /// none.
    fn find(&self, run: &Planned) -> anyhow::Result<Result<Figures, String>> {
        let is_named = |row: &&Row| {
            text(row, "trace") == run.trace && text(row, "machine") == run.machine.name
        };
        let key = RunKey::new(&run.trace, 0, run.machine.clone(), "", None);
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

fn rows(table: LazyFrame) -> anyhow::Result<Vec<Row>> {
    let frame = table.collect().map_err(warpmem_analysis::Error::from)?;
    serde_json::from_str(&table_to_json(&frame)?).context("failed to read a table back")
}

fn text<'a>(row: &'a Row, column: &str) -> &'a str {
    row.get(column).and_then(Value::as_str).unwrap_or_default()
}

/// Names of the parameters in which two machines differ.
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
