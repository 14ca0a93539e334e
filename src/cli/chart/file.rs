//! Drawings as files: SVG or PNG, by the name's ending.

use super::super::staged;
use super::png;
use std::fs;
use std::path::{Path, PathBuf};

/// A file to draw to, its kind said by its name.
pub fn parse_path(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let is_drawn = ["svg", "png"].iter().any(|kind| is(&path, kind));
    is_drawn.then_some(path).ok_or_else(|| "expected a name that ends in .svg or .png".to_owned())
}

fn is(path: &Path, kind: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(kind))
}

/// Writes an SVG document to `path`, as a PNG of 300 dots per inch where it ends so; it has its name only when it
/// is whole.
pub fn write(path: &Path, svg: &str) -> anyhow::Result<()> {
    let bytes = if is(path, "png") { png::encode(svg)? } else { svg.as_bytes().to_vec() };
    staged::write(path, |partial| Ok(fs::write(partial, bytes)?))
}
