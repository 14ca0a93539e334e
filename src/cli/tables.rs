//! Parts shared by commands that need dataframes and charts. `no_tables.rs` replaces this file in builds without
//! the feature `tables`.

use super::files::OutputFile;
use super::output::note;
use crate::files::staged;
use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use warpmem_analysis::Results;

/// File of a chart.
pub type PlotFile = OutputFile;

/// Parses the path of a chart file, whose extension determines the format.
pub fn parse_plot(text: &str) -> Result<PlotFile, String> {
    let path = PathBuf::from(text);
    warpmem_chart::is_drawing(&path)
        .then(|| path.into())
        .ok_or_else(|| "expected a name that ends in .svg, .pdf or .png".to_owned())
}

/// Checks that the chart file can be written, if there is one.
pub fn check_plot(plot: Option<&PlotFile>) -> anyhow::Result<()> {
    plot.map_or(Ok(()), |path| staged::check(path))
}

/// Writes a drawing, and reports on standard error the characters that a PDF or PNG cannot show.
pub fn write_plot(path: &Path, svg: &str) -> anyhow::Result<()> {
    warpmem_chart::save(path, svg)?;
    if warpmem_chart::is_png(path) || warpmem_chart::is_pdf(path) {
        note_boxes(&warpmem_chart::lacking(svg));
    }
    Ok(())
}

/// Reports on standard error the characters that PDFs and PNGs cannot show.
pub fn note_boxes(lacking: &BTreeSet<char>) {
    if !lacking.is_empty() {
        let letters: String = lacking.iter().collect();
        note(&format!(
            "the font of PDFs and PNGs lacks {letters}: there they are boxes, but not in SVGs"
        ));
    }
}

/// Names the tables read without a checksum.
pub fn note_without_checksum(results: &Results) {
    let files = results.without_checksum();
    let Some(first) = files.first() else { return };
    let others = match files.len() {
        1 => "has".to_owned(),
        tables => format!("and {} other tables have", tables - 1),
    };
    note(&format!(
        "note: {} {others} no checksum, because an earlier version or another program wrote them: damage goes undetected",
        first.display()
    ));
}

/// Silences warnings of polars, which are meant for its own callers.
pub fn keep_libraries_quiet() {
    warpmem_analysis::polars::error::set_warning_function(|_, _| {});
}

/// Returns whether the error is a fault of the program.
pub fn is_fault(error: &(dyn Error + 'static)) -> bool {
    matches!(error.downcast_ref(), Some(warpmem_analysis::Error::Frame(_)))
        || error.downcast_ref().is_some_and(warpmem_reproduce::Error::is_fault)
}
