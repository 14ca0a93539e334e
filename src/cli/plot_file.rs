//! Chart files.

use super::output::note;
use crate::cli::files::OutputFile;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Parses the path of a chart file, whose extension determines the format.
pub fn parse_path(text: &str) -> Result<OutputFile, String> {
    let path = PathBuf::from(text);
    let is_svg = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg"));
    let is_drawn = is_svg || warpmem_chart::is_png(&path);
    is_drawn
        .then(|| path.into())
        .ok_or_else(|| "expected a name that ends in .svg or .png".to_owned())
}

/// Writes a drawing, and reports on standard error the characters that a PNG cannot show.
pub fn write(path: &Path, svg: &str) -> anyhow::Result<()> {
    warpmem_chart::save(path, svg)?;
    if warpmem_chart::is_png(path) {
        note_boxes(&warpmem_chart::lacking(svg));
    }
    Ok(())
}

/// Reports on standard error the characters that PNGs cannot show.
pub fn note_boxes(lacking: &BTreeSet<char>) {
    if !lacking.is_empty() {
        let letters: String = lacking.iter().collect();
        note(&format!("the font of PNGs lacks {letters}: there they are boxes, but not in SVGs"));
    }
}
