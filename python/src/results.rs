//! Directories of results.

use crate::comparison::Comparison;
use crate::error::OrRaise;
use crate::frame::Frame;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use warpmem_analysis::{self as analysis, CompareOptions};

/// Tables of runs in directories.
#[pyclass(frozen, module = "warpmem")]
pub struct Results(analysis::Results);

#[pymethods]
impl Results {
    #[new]
    fn new(directories: Vec<PathBuf>) -> PyResult<Results> {
        analysis::Results::open_all(&directories).or_raise().map(Results)
    }

    fn tables(&self) -> PyResult<Vec<&'static str>> {
        self.0.tables().or_raise()
    }

    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Frame> {
        py.detach(|| self.0.table(name).or_raise()?.collect().or_raise()).map(Frame)
    }

    fn query(&self, py: Python<'_>, sql: &str) -> PyResult<Frame> {
        py.detach(|| self.0.query(sql).or_raise()).map(Frame)
    }

    fn compare(
        &self,
        py: Python<'_>,
        baseline: &str,
        metrics: Option<Vec<String>>,
    ) -> PyResult<Comparison> {
        let mut options = CompareOptions::new(baseline);
        py.detach(|| {
            options.launches = self.0.launches().or_raise()?;
            Comparison::of(self.0.runs().or_raise()?, options, metrics, BTreeMap::new())
        })
    }
}
