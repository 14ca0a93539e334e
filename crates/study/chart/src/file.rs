//! Drawings as files: SVG or PNG, depending on the file name.

use super::png;
use std::fs;
use std::path::Path;
use warpmem_support::files::staged;

/// Returns whether the path names a PNG.
pub fn is_png(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png"))
}

/// Writes an SVG document to `path`, or a PNG of 300 dots per inch if the name ends in `.png`. The
/// file appears under its name only once complete.
///
/// # Errors
/// If the document cannot be drawn, or the file cannot be written.
pub fn save(path: &Path, svg: &str) -> anyhow::Result<()> {
    let bytes = if is_png(path) { png::encode(svg)? } else { svg.as_bytes().to_vec() };
    staged::write(path, |partial| Ok(fs::write(partial, bytes)?))
}
