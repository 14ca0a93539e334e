//! Conversion of SVGs to PDFs, with text as text in an embedded font.

use super::canvas::CSS_INCH;
use super::png;
use anyhow::anyhow;
use resvg::usvg::Tree;
use resvg::usvg::fontdb::Database;
use std::sync::Arc;
use svg2pdf::{ConversionOptions, PageOptions};

/// Converts the SVG to a PDF of one page, of the size of the drawing.
pub fn encode(svg: &str, fonts: Arc<Database>) -> anyhow::Result<Vec<u8>> {
    let tree = Tree::from_str(svg, &png::options(fonts))?;
    let page = PageOptions { dpi: CSS_INCH as f32 };
    svg2pdf::to_pdf(&tree, ConversionOptions::default(), page)
        .map_err(|error| anyhow!("failed to make a PDF: {error}"))
}
