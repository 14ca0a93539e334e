//! Traces of other tools.

use crate::error::OrRaise;
use crate::watched::{Board, watched};
use pyo3::prelude::*;
use std::path::PathBuf;
use warpmem::import::{EmptyMasks, ImportOptions, Progress, import_accel_sim as import};

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

/// Converts traces of Accel-Sim's tracer; the notes on what was found.
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
