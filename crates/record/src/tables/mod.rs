//! The tables that a run leaves, column by column.

mod histograms;
mod intervals;
mod loads;
pub(crate) mod networks;
mod requests;
pub(crate) mod rows;
mod runs;
mod schema;
pub(crate) mod units;

use crate::column::Column;
use crate::file::{Field, GROUP_ROWS, TableFile};
use crate::run::FinishedRun;
use crate::{ResultsError, RunKey};
use histograms::{HistogramRow, histogram_columns};
use networks::{link_columns, network_columns, node_columns};
use rows::{BankRow, CounterRow, LinkRow, NodeRow, UnitRow};
use serde_json::{Map, Value};
use std::borrow::Borrow;
use std::path::Path;
use std::sync::Arc;
use units::{
    bank_columns, channel_columns, counter_columns, kernel_columns, slice_columns, sm_columns,
};
use warpmem_gpu::results::RunResult;

pub(crate) use runs::COMMAND;
pub use runs::{run_columns, run_row_json};
pub use schema::{ColumnInfo, Table, schema};

/// The rows of `kernels` for one run, as [`run_row_json`].
pub fn kernel_rows_json(key: &RunKey, result: &RunResult) -> Vec<Map<String, Value>> {
    let run = Arc::new(FinishedRun::new(key.clone(), result.clone()));
    let columns = kernel_columns();
    let row = |row: UnitRow| columns.iter().map(|c| (c.name.clone(), c.json(&row))).collect();
    UnitRow::kernels(&run).map(row).collect()
}

/// Writes every table of the runs into `folder`, except those with a file per run.
pub(crate) fn write_tables(folder: &Path, runs: &[Arc<FinishedRun>]) -> Result<(), ResultsError> {
    let runs = || runs.iter();
    write(folder, "runs", &run_columns(), runs().cloned())?;
    write(folder, "kernels", &kernel_columns(), runs().flat_map(UnitRow::kernels))?;
    write(folder, "sms", &sm_columns(), runs().flat_map(UnitRow::sms))?;
    write(folder, "slices", &slice_columns(), runs().flat_map(UnitRow::slices))?;
    write(folder, "channels", &channel_columns(), runs().flat_map(UnitRow::channels))?;
    write(folder, "banks", &bank_columns(), runs().flat_map(BankRow::all))?;
    write(folder, "networks", &network_columns(), runs().flat_map(UnitRow::networks))?;
    write(folder, "network_nodes", &node_columns(), runs().flat_map(NodeRow::all))?;
    write(folder, "network_links", &link_columns(), runs().flat_map(LinkRow::all))?;
    write(folder, "histograms", &histogram_columns(), runs().flat_map(HistogramRow::all))?;
    write(folder, "policy_counters", &counter_columns(), runs().flat_map(CounterRow::all))
}

/// Writes the table `name` into `folder`.
fn write<R, B: Borrow<R>>(
    folder: &Path,
    name: &str,
    columns: &[Column<R>],
    mut rows: impl Iterator<Item = B>,
) -> Result<(), ResultsError> {
    let path = folder.join(format!("{name}.parquet"));
    let mut file = TableFile::create(&path, name, &Field::all(columns))?;
    loop {
        let group: Vec<B> = rows.by_ref().take(GROUP_ROWS).collect();
        if group.is_empty() {
            return file.close();
        }
        file.write(columns, &group)?;
    }
}
