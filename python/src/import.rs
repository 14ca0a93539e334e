//! Traces of other tools.

use crate::error::OrRaise;
use crate::watched::{Board, watched};
use pyo3::prelude::*;
use std::path::PathBuf;
use warpmem::import::{
    Assumptions, EmptyMasks, ImportOptions, MemTraceOptions, Progress, TableOptions,
    import_accel_sim as import, import_csv, import_jsonl, import_mem_trace as import_log,
    import_parquet,
};

/// Watches an import.
pub struct Importing<'a>(pub &'a Board);

impl Progress for Importing<'_> {
    fn total(&self, bytes: u64) {
        self.0.add_total(bytes);
    }

    fn advance(&self, bytes: u64) {
        self.0.add(bytes);
    }

    fn cancelled(&self) -> bool {
        self.0.is_stopped()
    }
}

/// Converts traces of Accel-Sim's tracer; returns notes on anomalies.
#[pyfunction]
pub fn import_accel_sim(
    py: Python<'_>,
    list: PathBuf,
    output: PathBuf,
    kernels: Option<(usize, usize)>,
    drop_empty_masks: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<String>> {
    let mut options = ImportOptions {
        kernels: kernels.map(|(first, last)| first..=last),
        command: format!("warpmem import accel-sim {}", list.display()),
        ..ImportOptions::default()
    };
    if drop_empty_masks {
        options.empty_masks = EmptyMasks::Drop;
    }
    let board = Board::default();
    let imported =
        watched(py, &board, progress, || import(&list, &output, &options, &Importing(&board)))?;
    Ok(imported.or_raise()?.notes)
}

/// Converts a table of accesses in `csv`, `jsonl` or `parquet`; returns notes on the values assumed for missing ones.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn import_table(
    py: Python<'_>,
    table: PathBuf,
    output: PathBuf,
    format: &str,
    ignored_columns: Vec<String>,
    use_distance: Option<u32>,
    gap: u32,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<String>> {
    let import = match format {
        "csv" => import_csv,
        "jsonl" => import_jsonl,
        _ => import_parquet,
    };
    let options = TableOptions {
        ignored_columns,
        assumptions: Assumptions { use_distance, gap },
        command: format!("warpmem import {format} {}", table.display()),
        ..TableOptions::default()
    };
    let board = Board::default();
    let imported =
        watched(py, &board, progress, || import(&table, &output, &options, &Importing(&board)))?;
    Ok(imported.or_raise()?.notes)
}

/// Converts a log of NVBit's `mem_trace`; returns notes on the values assumed for missing ones.
#[pyfunction]
pub fn import_mem_trace(
    py: Python<'_>,
    log: PathBuf,
    output: PathBuf,
    kernels: Option<(usize, usize)>,
    use_distance: Option<u32>,
    gap: u32,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<String>> {
    let options = MemTraceOptions {
        kernels: kernels.map(|(first, last)| first..=last),
        assumptions: Assumptions { use_distance, gap },
        command: format!("warpmem import mem-trace {}", log.display()),
        ..MemTraceOptions::default()
    };
    let board = Board::default();
    let imported =
        watched(py, &board, progress, || import_log(&log, &output, &options, &Importing(&board)))?;
    Ok(imported.or_raise()?.notes)
}
