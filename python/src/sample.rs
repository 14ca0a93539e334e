//! Representative parts of traces.

use crate::error::{Error, OrRaise};
use crate::watched::{Board, watched};
use anyhow::Context;
use pyo3::prelude::*;
use serde_json::Value;
use std::path::{Path, PathBuf};
use warpmem::files::claims::Claims;
use warpmem::study::sample::{
    Census, Design, Plan, Progress, Selection, Size, Taken, estimates, provenance, write,
};
use warpmem::trace::{Ranges, Trace, WriterOptions};

/// Options, as on the command line.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    kernels: Option<String>,
    kernel_name: Option<String>,
    longest: bool,
    ctas: Option<String>,
    /// Share of the CTAs, above 0 and at most 1.
    fraction: Option<f64>,
    ctas_per_kernel: Option<u32>,
    at_least: Option<u32>,
    run: Option<u32>,
    seed: u64,
}

impl Asked {
    fn selection(&self) -> PyResult<Selection> {
        Ok(Selection {
            kernels: ranges("kernels", self.kernels.as_deref())?,
            kernel_name: self.kernel_name.clone(),
            longest: self.longest,
            ctas: ranges("ctas", self.ctas.as_deref())?,
        })
    }

    /// Returns the design of a random sample; none if everything is taken.
    fn design(&self) -> PyResult<Option<Design>> {
        let size = match (self.fraction, self.ctas_per_kernel) {
            (Some(_), Some(_)) => {
                return Err(Error::new_err("give `fraction` or `ctas_per_kernel`, not both"));
            }
            (fraction, ctas) => fraction.map(Size::Fraction).or(ctas.map(Size::Ctas)),
        };
        if size.is_none() && (self.run.is_some() || self.at_least.is_some()) {
            let text = "`run` and `at_least` apply to random samples: give `fraction` or `ctas_per_kernel` too";
            return Err(Error::new_err(text));
        }
        if self.run == Some(0) || self.ctas_per_kernel == Some(0) {
            return Err(Error::new_err("`run` and `ctas_per_kernel` must be at least 1"));
        }
        Ok(size.map(|size| {
            let design = Design::of(size);
            Design { at_least: self.at_least.unwrap_or(design.at_least), run: self.run, ..design }
        }))
    }
}

fn ranges(name: &str, text: Option<&str>) -> PyResult<Ranges> {
    text.map_or(Ok(Ranges::all()), |text| {
        text.parse()
            .map_err(|error| Error::new_err(format!("`{name}` = `{text}` is not valid: {error}")))
    })
}

/// Writes a part of a trace; returns it as JSON.
#[pyfunction]
pub fn sample(
    py: Python<'_>,
    trace: PathBuf,
    output: PathBuf,
    asked: Asked,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (selection, design) = (asked.selection()?, asked.design()?);
    let mut files = Claims::default();
    files.read("trace", &trace);
    files.write("output", &output);
    files.check().or_raise()?;
    let trace = Trace::open(&trace).or_raise()?;
    let board = Board::default();
    let design = design.as_ref();
    let taken = watched(py, &board, progress, || {
        take(&trace, &output, &selection, design, asked.seed, &board)
    })?;
    taken.or_raise().map(|taken| taken.to_string())
}

/// Writes the selected part, or the part of it that the design draws.
fn take(
    trace: &Trace,
    output: &Path,
    selection: &Selection,
    design: Option<&Design>,
    seed: u64,
    board: &Board,
) -> anyhow::Result<Value> {
    let mut tell = |progress: Progress| {
        board.set(progress.done, progress.all);
        board.tell(progress.done)
    };
    let selected = selection.of(trace)?;
    let (part, estimates) = match design {
        None => (selected.clone(), Vec::new()),
        Some(design) => {
            let census = Census::of(trace, &selected, &mut tell)?;
            let plan = Plan::new(&selected, &census, design);
            let draw = plan.draw(seed);
            (plan.part(&selected, &draw), estimates(&plan, &census, &draw))
        }
    };
    let provenance = provenance(trace, selection, design, seed);
    let summary = write(trace, &part, output, provenance, WriterOptions::default(), &mut tell)
        .with_context(|| format!("failed to write {}", output.display()))?;
    Ok(Taken { trace, selected: &selected, part: &part, estimates, summary }.object())
}
