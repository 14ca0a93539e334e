//! Rows on suites and their workloads.

use super::{Suite, Workload};
use serde_json::{Map, Value};

/// A row, by column.
type Row = Map<String, Value>;

/// Returns a row for each built-in suite: name, version, number of workloads, sizes, sizes with recorded
/// hashes, and what it is about.
pub fn suites() -> Vec<Row> {
    Suite::names().filter_map(Suite::named).map(|suite| of_suite(&suite)).collect()
}

impl Suite {
    /// Returns a row for each workload: name, kernel, what it is about, and its recorded hash in each size.
    pub fn rows(&self) -> Vec<Row> {
        self.workloads.iter().map(|workload| of_workload(self, workload)).collect()
    }
}

fn row<const N: usize>(cells: [(&str, Value); N]) -> Row {
    cells.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn of_suite(suite: &Suite) -> Row {
    row([
        ("name", suite.name.as_str().into()),
        ("version", suite.version.into()),
        ("workloads", suite.workloads.len().into()),
        ("sizes", suite.sizes().join(", ").into()),
        ("checked", suite.recorded_sizes().join(", ").into()),
        ("about", suite.about.as_str().into()),
    ])
}

fn of_workload(suite: &Suite, workload: &Workload) -> Row {
    let texts =
        [("name", &workload.name), ("kernel", &workload.kernel), ("about", &workload.about)];
    let mut row = row(texts.map(|(name, text)| (name, text.as_str().into())));
    for size in suite.sizes() {
        let recorded = suite.recorded(size, &workload.name);
        row.insert(format!("hash_{size}"), recorded.map(|recorded| recorded.hash).into());
    }
    row
}
