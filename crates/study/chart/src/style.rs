//! Appearance of charts: colours of series, font, and widths in print.

use super::font::FAMILIES;
use super::look::Looks;
use super::{Format, png};
use anyhow::{Context, anyhow};
use resvg::usvg::fontdb::{Database, Family, Query};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Points per inch.
const INCH: f64 = 72.0;

/// Appearance shared by several charts.
#[derive(Clone, Debug, Default)]
pub struct Style {
    /// Appearances of series by name; a series without one has that of its place.
    pub looks: Looks,
    /// Font of text, otherwise Noto Sans.
    pub font: Option<Font>,
    /// Widths in inches of charts in files: in a column, and as wide as a page.
    pub column: Option<f64>,
    pub page: Option<f64>,
}

/// A font for PNGs and PDFs, which SVGs request by its name.
#[derive(Clone)]
pub struct Font {
    family: String,
    fonts: Arc<Database>,
}

impl fmt::Debug for Font {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Font").field(&self.family).finish()
    }
}

impl Font {
    /// Finds a font of this system.
    ///
    /// # Errors
    /// If it has none of this name.
    pub fn installed(family: &str) -> anyhow::Result<Font> {
        let mut fonts = (*png::FONTS).as_ref().clone();
        fonts.load_system_fonts();
        let query = Query { families: &[Family::Name(family)], ..Query::default() };
        fonts.query(&query).with_context(|| format!("this system has no font `{family}`"))?;
        Ok(Font { family: family.to_owned(), fonts: Arc::new(fonts) })
    }

    /// Reads a font file, TrueType or OpenType.
    ///
    /// # Errors
    /// If the file cannot be read, or holds no font.
    pub fn of_file(path: &Path) -> anyhow::Result<Font> {
        let mut fonts = (*png::FONTS).as_ref().clone();
        let before = fonts.len();
        fonts.load_font_file(path).map_err(|error| anyhow!("{}: {error}", path.display()))?;
        let face = fonts.faces().nth(before).and_then(|face| face.families.first());
        let family = face.map(|(family, _)| family.clone());
        let family = family.with_context(|| format!("{} holds no font", path.display()))?;
        Ok(Font { family, fonts: Arc::new(fonts) })
    }
}

impl Style {
    /// Returns the size of charts in files.
    pub(super) fn print(&self) -> Format {
        let usual = Format::PRINT;
        let points = |inches: Option<f64>, usual: f64| inches.map_or(usual, |width| width * INCH);
        Format {
            column: points(self.column, usual.column),
            page: points(self.page, usual.page),
            ..usual
        }
    }

    /// Returns the font families of an SVG, in order of preference.
    pub(super) fn families(&self) -> String {
        match &self.font {
            Some(font) => format!("{}, {FAMILIES}", quoted(&font.family)),
            None => FAMILIES.to_owned(),
        }
    }

    pub(super) fn fonts(&self) -> Arc<Database> {
        self.font.as_ref().map_or_else(|| png::FONTS.clone(), |font| font.fonts.clone())
    }
}

/// Quotes a family's name, whose characters may have a meaning in a list.
fn quoted(family: &str) -> String {
    format!("'{}'", family.replace(['\'', '\\'], ""))
}
