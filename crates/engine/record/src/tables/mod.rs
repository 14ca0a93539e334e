//! The tables of a run, column by column.

mod histograms;
mod intervals;
mod loads;
mod ncu;
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

pub use ncu::{NcuMetric, ncu_metrics, ncu_rows_json};
pub(crate) use runs::COMMAND;
pub use runs::{run_columns, run_row_json};
pub use schema::{ColumnInfo, Table, schema};

/// Returns the rows of `kernels` for one run, in the form of [`run_row_json`].
pub fn kernel_rows_json(key: &RunKey, result: &RunResult) -> Vec<Map<String, Value>> {
    let run = Arc::new(FinishedRun::new(key.clone(), result.clone()));
    rows_json(&kernel_columns(), UnitRow::kernels(&run))
}

fn rows_json(
    columns: &[Column<UnitRow>],
    rows: impl Iterator<Item = UnitRow>,
) -> Vec<Map<String, Value>> {
    let row = |row| columns.iter().map(|column| (column.name.clone(), column.json(&row))).collect();
    rows.map(row).collect()
}

/// A consumer of tables.
pub(crate) trait Tables {
    type Error;

    /// Takes the table `name`.
    fn take<R, B: Borrow<R>>(
        &mut self,
        name: &'static str,
        columns: &[Column<R>],
        rows: impl Iterator<Item = B>,
    ) -> Result<(), Self::Error>;
}

/// Passes every table of the runs to `tables`, except those with a file per run.
pub(crate) fn hand_out<T: Tables>(
    tables: &mut T,
    runs: &[Arc<FinishedRun>],
) -> Result<(), T::Error> {
    let runs = || runs.iter();
    tables.take("runs", &run_columns(), runs().cloned())?;
    tables.take("kernels", &kernel_columns(), runs().flat_map(UnitRow::kernels))?;
    tables.take("sms", &sm_columns(), runs().flat_map(UnitRow::sms))?;
    tables.take("slices", &slice_columns(), runs().flat_map(UnitRow::slices))?;
    tables.take("channels", &channel_columns(), runs().flat_map(UnitRow::channels))?;
    tables.take("banks", &bank_columns(), runs().flat_map(BankRow::all))?;
    tables.take("networks", &network_columns(), runs().flat_map(UnitRow::networks))?;
    tables.take("network_nodes", &node_columns(), runs().flat_map(NodeRow::all))?;
    tables.take("network_links", &link_columns(), runs().flat_map(LinkRow::all))?;
    tables.take("histograms", &histogram_columns(), runs().flat_map(HistogramRow::all))?;
    tables.take("policy_counters", &counter_columns(), runs().flat_map(CounterRow::all))
}

/// Writes every table of the runs into `folder`, except those with a file per run.
pub(crate) fn write_tables(folder: &Path, runs: &[Arc<FinishedRun>]) -> Result<(), ResultsError> {
    hand_out(&mut Files(folder), runs)
}

/// Writes one file per table.
struct Files<'a>(&'a Path);

impl Tables for Files<'_> {
    type Error = ResultsError;

    fn take<R, B: Borrow<R>>(
        &mut self,
        name: &'static str,
        columns: &[Column<R>],
        mut rows: impl Iterator<Item = B>,
    ) -> Result<(), ResultsError> {
        let path = self.0.join(format!("{name}.parquet"));
        let mut file = TableFile::create(&path, name, &Field::all(columns))?;
        loop {
            let group: Vec<B> = rows.by_ref().take(GROUP_ROWS).collect();
            if group.is_empty() {
                return file.close();
            }
            file.write(columns, &group)?;
        }
    }
}
