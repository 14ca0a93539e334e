//! Generated traces.

use crate::error::{Error, OrRaise};
use crate::watched::{Board, watched};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use warpmem::trace::Ranges;
use warpmem::workload::{Progress, Request};

/// Writes the trace of a generator; returns notes on its input.
#[pyfunction]
pub fn generate(
    py: Python<'_>,
    kernel: String,
    output: PathBuf,
    parameters: BTreeMap<String, String>,
    seed: u64,
    launches: Option<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<String>> {
    let launches = launches.map(|text| {
        text.parse::<Ranges>()
            .map_err(|error| Error::new_err(format!("`launches` = `{text}` is not valid: {error}")))
    });
    let launches = launches.transpose()?.unwrap_or_else(Ranges::all);
    let request = Request { kernel, parameters, seed, launches };
    request.check().or_raise()?;
    let board = Board::default();
    let generated = watched(py, &board, progress, || {
        let mut tell = |progress: &Progress| {
            board.set(progress.ctas_done, progress.ctas);
            match board.is_stopped() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        request.generate_until(&board.generator_stop(), &output, &mut tell)
    })?;
    Ok(generated.or_raise()?.notes)
}
