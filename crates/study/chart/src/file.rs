//! Drawings as files: SVG, PDF or PNG, depending on the file name.

use super::{pdf, png};
use resvg::usvg::fontdb::Database;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use warpmem_support::files::staged;

/// Endings of the names of drawings.
pub const ENDINGS: [&str; 3] = ["svg", "pdf", "png"];

/// Returns whether the path names an SVG, a PDF or a PNG.
pub fn is_drawing(path: &Path) -> bool {
    ENDINGS.iter().any(|ending| has_ending(path, ending))
}

/// Returns whether the path names a PNG.
pub fn is_png(path: &Path) -> bool {
    has_ending(path, "png")
}

/// Returns whether the path names a PDF.
pub fn is_pdf(path: &Path) -> bool {
    has_ending(path, "pdf")
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(ending))
}

/// Writes an SVG document to `path`, as a PDF if the name ends in `.pdf`, as a PNG of 300 dots per
/// inch if it ends in `.png`. The file appears under its name only once complete.
///
/// # Errors
/// If the document cannot be drawn, or the file cannot be written.
pub fn save(path: &Path, svg: &str) -> anyhow::Result<()> {
    save_with(path, svg, &png::FONTS)
}

/// Does the same with these fonts.
pub(super) fn save_with(path: &Path, svg: &str, fonts: &Arc<Database>) -> anyhow::Result<()> {
    let bytes = match path {
        path if is_png(path) => png::encode(svg, fonts.clone())?,
        path if is_pdf(path) => pdf::encode(svg, fonts.clone())?,
        _ => svg.as_bytes().to_vec(),
    };
    staged::write(path, |partial| Ok(fs::write(partial, bytes)?))
}
