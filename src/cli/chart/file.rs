//! Drawings as files: SVG or PNG, by the name's ending.

use super::super::output::note;
use super::super::staged;
use super::{font, png};
use std::collections::BTreeSet;
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

/// As [`save`], and says on standard error which letters a PNG does not show.
pub fn write(path: &Path, svg: &str) -> anyhow::Result<()> {
    save(path, svg)?;
    if is(path, "png") {
        note_boxes(&font::lacking(svg));
    }
    Ok(())
}

/// Says on standard error that PNGs do not show these letters.
pub fn note_boxes(lacking: &BTreeSet<char>) {
    if !lacking.is_empty() {
        let letters: String = lacking.iter().collect();
        note(&format!("the font of PNGs lacks {letters}: there they are boxes, but not in SVGs"));
    }
}

/// Writes an SVG document to `path`, as a PNG of 300 dots per inch where it ends so; it has its name only when it
/// is whole.
pub fn save(path: &Path, svg: &str) -> anyhow::Result<()> {
    let bytes = if is(path, "png") { png::encode(svg)? } else { svg.as_bytes().to_vec() };
    staged::write(path, |partial| Ok(fs::write(partial, bytes)?))
}
