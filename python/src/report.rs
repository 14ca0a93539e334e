//! Reports on directories of results.

use crate::error::{Error, OrRaise};
use crate::watched::{Board, watched};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use warpmem::files::claims::Claims;
use warpmem::record::is_part_of_results;
use warpmem_analysis::{MEANS, Mean};
use warpmem_report::{Outputs, Question, STEPS, Study, StyleFile, compose};

/// Destinations and options, as on the command line.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    directories: Vec<PathBuf>,
    /// Page of HTML; none for the usual one.
    output: Option<PathBuf>,
    markdown: Option<PathBuf>,
    plots: Option<PathBuf>,
    baseline: Option<String>,
    metrics: Option<Vec<String>>,
    mean: String,
    allow_mixed: bool,
    style: Option<PathBuf>,
    title: Option<String>,
}

impl Asked {
    /// Returns the page of HTML.
    fn page(&self) -> PyResult<PathBuf> {
        let usual = self.directories.first().map(|directory| Outputs::usual(directory));
        let none = || Error::new_err("no directory of results is given");
        self.output.clone().or(usual).ok_or_else(none)
    }

    /// Refuses outputs that would overwrite the results or the style.
    fn check_files(&self, page: &Path) -> PyResult<()> {
        let mut files = Claims::default();
        for directory in &self.directories {
            files.read_folder("results", directory, is_part_of_results);
        }
        self.style.iter().for_each(|style| files.read("style", style));
        files.write("output", page);
        self.markdown.iter().for_each(|markdown| files.write("markdown", markdown));
        files.check().or_raise()
    }

    fn question(self) -> PyResult<Question> {
        let mean = Mean::ALL.into_iter().find(|mean| mean.name() == self.mean);
        let unknown =
            || Error::new_err(format!("no mean `{}`; valid: {}", self.mean, MEANS.join(", ")));
        Ok(Question {
            mean: mean.ok_or_else(unknown)?,
            directories: self.directories,
            baseline: self.baseline,
            metrics: self.metrics,
            allow_mixed: self.allow_mixed,
            style: self.style.as_deref().map(StyleFile::read).transpose().or_raise()?,
        })
    }
}

/// Writes a report; returns the path of its page and notes on the style.
#[pyfunction]
pub fn report(
    py: Python<'_>,
    asked: Asked,
    progress: Option<Py<PyAny>>,
) -> PyResult<(PathBuf, Vec<String>)> {
    let page = asked.page()?;
    asked.check_files(&page)?;
    let outputs = Outputs::new(Some(page.clone()), asked.markdown.clone(), asked.plots.clone());
    let title = asked.title.clone();
    let question = asked.question()?;
    let board = Board::of(STEPS as u64);
    let step = || {
        board.add(1);
        board.check()
    };
    let notes = watched(py, &board, progress, || {
        let study = Study::open(&question)?;
        outputs.check()?;
        let document = compose(&study, title.as_deref(), step)?;
        if outputs.has_plots() {
            board.add_total(document.charts().count() as u64);
        }
        outputs.write(&document, &step)?;
        anyhow::Ok(study.notes)
    })?;
    notes.or_raise().map(|notes| (page, notes))
}
