//! Drawings as files: SVG or PNG, by the name's ending.

use super::png;
use std::fs;
use std::path::Path;
use warpmem_files::staged;

/// Whether a drawing at `path` is made of pixels.
pub fn is_png(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png"))
}

/// Writes an SVG document to `path`, as a PNG of 300 dots per inch where it ends so; it has its name only when it
/// is whole.
///
/// # Errors
/// If the document is not one that can be drawn, or the file cannot be written.
pub fn save(path: &Path, svg: &str) -> anyhow::Result<()> {
    let bytes = if is_png(path) { png::encode(svg)? } else { svg.as_bytes().to_vec() };
    staged::write(path, |partial| Ok(fs::write(partial, bytes)?))
}
