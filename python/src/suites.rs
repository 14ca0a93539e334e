//! Suites of workloads.

use crate::error::OrRaise;
use crate::sweep::Generating;
use crate::watched::{Board, watched};
use pyo3::prelude::*;
use serde_json::json;
use std::path::{Path, PathBuf};
use warpmem::files::claims::Claims;
use warpmem::study::suite::{Generation, MANIFEST, Suite, suites as built_in};

/// Lists the built-in suites, or the workloads of a suite, as JSON.
#[pyfunction]
pub fn suites(name: Option<&str>) -> PyResult<String> {
    let rows = match name {
        Some(name) => Suite::find(name).or_raise()?.rows(),
        None => built_in(),
    };
    Ok(json!(rows).to_string())
}

/// Generates the traces of a suite and their manifest; returns their paths.
#[pyfunction]
pub fn suite(
    py: Python<'_>,
    name: &str,
    folder: Option<PathBuf>,
    size: Option<&str>,
    only: Vec<String>,
    jobs: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<PathBuf>> {
    let suite = Suite::find(name).or_raise()?;
    let size = size.or(Suite::usual_size(name));
    let planned = suite.plan(size, &only).or_raise()?;
    let folder = folder.unwrap_or_else(|| suite.usual_folder(size));
    check_files(name, &folder)?;
    let work = Generation {
        name: &suite.name,
        planned: &planned,
        folder: &folder,
        jobs,
        is_part: !only.is_empty(),
    };
    let board = Board::of(planned.len() as u64);
    let made = watched(py, &board, progress, || work.run(&Generating(&board)))?.or_raise()?;
    Ok(made.into_iter().map(|made| made.path).collect())
}

/// Refuses a folder whose manifest would overwrite the suite's file.
fn check_files(name: &str, folder: &Path) -> PyResult<()> {
    let mut files = Claims::default();
    if !Suite::is_built_in(name) {
        files.read("suite", Path::new(name));
    }
    files.write("manifest", &folder.join(MANIFEST));
    files.check().or_raise()
}
