//! The tables of a run in memory, for programs that process them directly.

use crate::column::{Column, Values};
use crate::command_log::{self, TABLE as COMMANDS};
use crate::file::StreamedRow;
use crate::metrics::run_key_columns;
use crate::run::FinishedRun;
use crate::tables::{Tables, hand_out};
use crate::{Recorded, RunKey};
use std::borrow::Borrow;
use std::convert::Infallible;
use std::sync::Arc;
use warpmem_dram::{Command, CommandSink};
use warpmem_gpu::results::{IntervalRow, LoadRow, RequestRow, RunResult, RunSink, Wanted};

/// A table in memory, with the columns of its file.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryTable {
    pub name: &'static str,
    pub rows: usize,
    /// Leading columns with one value for all rows: in tables with a file per run, the key of the run.
    pub constants: Vec<(String, String)>,
    pub columns: Vec<(String, Values)>,
}

impl MemoryTable {
    fn new<R>(
        name: &'static str,
        constants: Vec<(String, String)>,
        columns: &[Column<R>],
        rows: &[impl Borrow<R>],
    ) -> MemoryTable {
        let columns = columns.iter().map(|column| (column.name.clone(), column.values(rows)));
        MemoryTable { name, rows: rows.len(), constants, columns: columns.collect() }
    }
}

/// Returns every table of finished runs, except those with a row per load, request or interval.
pub fn tables_of(runs: &[Arc<FinishedRun>]) -> Vec<MemoryTable> {
    let mut tables = Collected(Vec::new());
    let Ok(()) = hand_out(&mut tables, runs);
    tables.0
}

struct Collected(Vec<MemoryTable>);

impl Tables for Collected {
    type Error = Infallible;

    fn take<R, B: Borrow<R>>(
        &mut self,
        name: &'static str,
        columns: &[Column<R>],
        rows: impl Iterator<Item = B>,
    ) -> Result<(), Infallible> {
        let rows: Vec<B> = rows.collect();
        self.0.push(MemoryTable::new(name, Vec::new(), columns, &rows));
        Ok(())
    }
}

/// A recorder of a run in memory, fed by the engine during simulation.
#[derive(Default)]
pub struct MemoryRecorder {
    recorded: Recorded,
    loads: Rows<LoadRow>,
    requests: Rows<RequestRow>,
    intervals: Rows<IntervalRow>,
    /// DRAM commands of each channel, if recorded.
    commands: Option<Vec<Vec<Command>>>,
}

impl MemoryRecorder {
    /// Creates a recorder; `commands` adds a table `commands` of all DRAM commands.
    pub fn new(recorded: Recorded, commands: bool) -> MemoryRecorder {
        let commands = commands.then(Vec::new);
        MemoryRecorder { recorded, commands, ..MemoryRecorder::default() }
    }

    /// Returns all tables of the run.
    pub fn finish(self, key: &RunKey, result: &RunResult) -> Vec<MemoryTable> {
        let run = Arc::new(FinishedRun::new(key.clone(), result.clone()));
        let mut tables = tables_of(&[run]);
        let Recorded { loads, requests, intervals } = self.recorded;
        tables.extend(loads.then(|| self.loads.finish(key)));
        tables.extend(requests.map(|_| self.requests.finish(key)));
        tables.extend(intervals.map(|_| self.intervals.finish(key)));
        tables.extend(self.commands.map(|commands| {
            let rows = command_log::rows(&key.machine.dram, &commands);
            MemoryTable::new(COMMANDS, names_of(key), &command_log::columns(), &rows)
        }));
        tables
    }
}

impl RunSink for MemoryRecorder {
    fn wanted(&self) -> Wanted {
        let Recorded { intervals, requests, .. } = self.recorded;
        Wanted { intervals, requests, warps: false }
    }

    fn load(&mut self, row: &LoadRow) {
        if self.recorded.loads {
            self.loads.push(*row);
        }
    }

    fn request(&mut self, row: &RequestRow) {
        self.requests.push(*row);
    }

    fn interval(&mut self, row: &IntervalRow) {
        self.intervals.push(row.clone());
    }

    fn commands(&mut self) -> Option<&mut dyn CommandSink> {
        self.commands.as_mut().map(|log| log as &mut dyn CommandSink)
    }
}

/// Rows, converted to columns except for the latest ones.
struct Rows<R> {
    latest: Vec<R>,
    rows: usize,
    columns: Vec<(Column<R>, Values)>,
}

impl<R: StreamedRow> Default for Rows<R> {
    fn default() -> Rows<R> {
        let columns = R::columns().into_iter().map(|column| {
            let values = Values::of(&column);
            (column, values)
        });
        Rows { latest: Vec::new(), rows: 0, columns: columns.collect() }
    }
}

impl<R: StreamedRow> Rows<R> {
    fn push(&mut self, row: R) {
        self.latest.push(row);
        if self.latest.len() == R::GROUP_ROWS {
            self.convert();
        }
    }

    fn convert(&mut self) {
        for (column, values) in &mut self.columns {
            values.extend(column, &self.latest);
        }
        self.rows += self.latest.len();
        self.latest.clear();
    }

    fn finish(mut self, key: &RunKey) -> MemoryTable {
        self.convert();
        let columns = self.columns.into_iter().map(|(column, values)| (column.name, values));
        MemoryTable {
            name: R::TABLE,
            rows: self.rows,
            constants: names_of(key),
            columns: columns.collect(),
        }
    }
}

/// Returns the key columns of a run.
fn names_of(key: &RunKey) -> Vec<(String, String)> {
    let named = run_key_columns().into_iter().map(|column| {
        let value = column.text(key).unwrap_or_default().to_owned();
        (column.name, value)
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;
    use crate::tests::fixture;

    fn recorded() -> Recorded {
        Recorded { loads: true, intervals: std::num::NonZeroU64::new(100), requests: None }
    }

    #[test]
    fn tables_in_memory_have_the_columns_of_the_files() {
        let (key, result) = (fixture::key(), fixture::result());
        let mut recorder = MemoryRecorder::new(recorded(), true);
        recorder.load(&fixture::load_row(0));
        let tables = recorder.finish(&key, &result);
        let names: Vec<&str> = tables.iter().map(|table| table.name).collect();
        for described in schema() {
            let Some(table) = tables.iter().find(|table| table.name == described.name) else {
                assert_eq!(described.name, "requests", "{names:?}");
                continue;
            };
            let constants = table.constants.iter().map(|(name, _)| name);
            let columns: Vec<&String> =
                constants.chain(table.columns.iter().map(|(name, _)| name)).collect();
            let expected: Vec<&String> = described.columns.iter().map(|c| &c.name).collect();
            assert_eq!(columns, expected, "{}", table.name);
        }
        assert_eq!(names.last(), Some(&"commands"));
    }
}
