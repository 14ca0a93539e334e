//! The files of a report: a page of HTML, a page of Markdown, a folder of charts and tables.

use crate::document::Document;
use crate::table::Table;
use crate::{html, markdown};
use anyhow::Context;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use warpmem_chart::lacking;
use warpmem_support::files::staged;

/// Destinations of a report.
#[derive(Clone, Debug)]
pub struct Outputs {
    html: Option<PathBuf>,
    markdown: Option<PathBuf>,
    plots: Option<PathBuf>,
}

impl Outputs {
    /// Makes the destinations. Pictures of a Markdown page without `plots` go beside it, to a folder
    /// named after it with `-plots` appended.
    pub fn new(
        html: Option<PathBuf>,
        markdown: Option<PathBuf>,
        plots: Option<PathBuf>,
    ) -> Outputs {
        let plots = plots.or(markdown.as_deref().map(plots_beside));
        Outputs { html, markdown, plots }
    }

    /// Returns the name of the page in a directory of results where no destination is named.
    pub fn usual(directory: &Path) -> PathBuf {
        directory.join("report.html")
    }

    /// Returns the paths of the pages and of the folder.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        [&self.html, &self.markdown, &self.plots].into_iter().flatten().map(PathBuf::as_path)
    }

    /// Returns whether charts and tables are written as files of their own.
    pub fn has_plots(&self) -> bool {
        self.plots.is_some()
    }

    /// Makes the folder, and fails if a destination cannot be written, before any work is done.
    ///
    /// # Errors
    /// If a destination cannot be written.
    pub fn check(&self) -> anyhow::Result<()> {
        self.html.iter().chain(&self.markdown).try_for_each(|path| staged::check(path))?;
        self.plots.iter().try_for_each(|folder| {
            fs::create_dir_all(folder)
                .with_context(|| format!("failed to create directory {}", folder.display()))
        })
    }

    /// Writes the files, and returns the characters that PDFs and PNGs cannot show. `step` is called
    /// before each chart of the folder, and may abort with an error.
    ///
    /// # Errors
    /// If a file cannot be written, or as `step`.
    pub fn write(
        &self,
        document: &Document,
        step: &(dyn Fn() -> anyhow::Result<()> + Sync),
    ) -> anyhow::Result<BTreeSet<char>> {
        if let Some(path) = &self.html {
            let page = html::render(document)?;
            staged::write(path, |partial| Ok(fs::write(partial, page)?))?;
        }
        if let (Some(path), Some(plots)) = (&self.markdown, &self.plots) {
            let text = markdown::render(document, &link(path, plots)?)?;
            staged::write(path, |partial| Ok(fs::write(partial, text)?))?;
        }
        let Some(folder) = &self.plots else { return Ok(BTreeSet::new()) };
        let lacking = write_charts(document, folder, step)?;
        document.tables().try_for_each(|table| write_table(table, folder))?;
        Ok(lacking)
    }
}

/// Returns the folder of a report's pictures: `report-plots` for `report.md`.
fn plots_beside(markdown: &Path) -> PathBuf {
    let mut name = markdown.file_stem().unwrap_or_default().to_owned();
    name.push("-plots");
    markdown.with_file_name(name)
}

/// Returns the relative link from the file `from` to `folder`.
fn link(from: &Path, folder: &Path) -> anyhow::Result<String> {
    let from = std::path::absolute(from)?;
    let folder = std::path::absolute(folder)?;
    let way = from.parent().and_then(|parent| pathdiff::diff_paths(&folder, parent));
    Ok(markdown::link(&way.unwrap_or(folder)))
}

fn write_charts(
    document: &Document,
    folder: &Path,
    step: &(dyn Fn() -> anyhow::Result<()> + Sync),
) -> anyhow::Result<BTreeSet<char>> {
    let charts: Vec<_> = document.charts().collect();
    let lacking = charts.par_iter().map(|chart| {
        step()?;
        anyhow::Ok(lacking(&chart.write_all(folder)?))
    });
    let lacking = lacking.collect::<anyhow::Result<Vec<_>>>()?;
    Ok(lacking.into_iter().flatten().collect())
}

/// Writes all rows of a table as CSV, LaTeX and Markdown.
fn write_table(table: &Table, folder: &Path) -> anyhow::Result<()> {
    let texts = [("csv", table.csv()?), ("tex", table.latex()?), ("md", table.markdown()?)];
    texts.into_iter().try_for_each(|(ending, text)| {
        let path = folder.join(format!("{}.{ending}", table.name));
        staged::write(&path, |partial| Ok(fs::write(partial, text)?))
    })
}
