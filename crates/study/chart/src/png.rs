//! Rasterization of SVGs.

use super::canvas::CSS_INCH;
use super::font;
use anyhow::anyhow;
use notosans::REGULAR_TTF;
use png::{BitDepth, ColorType, PixelDimensions, Unit};
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use std::sync::{Arc, LazyLock};

/// Dots per inch of a PNG.
const DPI: f64 = 300.0;
const INCHES_OF_METRE: f64 = 1.0 / 0.0254;

/// The font is built in, so that pictures are the same on every system.
pub static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(REGULAR_TTF.to_vec());
    Arc::new(fonts)
});

/// Returns the options to read an SVG with text in these fonts.
pub fn options(fonts: Arc<fontdb::Database>) -> Options<'static> {
    let family = font::FAMILIES.split(',').next().unwrap_or_default().to_owned();
    Options { fontdb: fonts, font_family: family, ..Options::default() }
}

/// Renders the SVG as a PNG of 300 dots per inch, which the PNG also states.
pub fn encode(svg: &str, fonts: Arc<fontdb::Database>) -> anyhow::Result<Vec<u8>> {
    let tree = Tree::from_str(svg, &options(fonts))?;
    let scale = (DPI / CSS_INCH) as f32;
    let [width, height] =
        [tree.size().width(), tree.size().height()].map(|length| (length * scale).round() as u32);
    let mut pixels = Pixmap::new(width, height)
        .ok_or_else(|| anyhow!("cannot draw a picture of {width} × {height} pixels"))?;
    pixels.fill(Color::WHITE);
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    let mut encoded = Vec::new();
    let mut encoder = png::Encoder::new(&mut encoded, width, height);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    let density = (DPI * INCHES_OF_METRE).round() as u32;
    encoder.set_pixel_dims(Some(PixelDimensions {
        xppu: density,
        yppu: density,
        unit: Unit::Meter,
    }));
    // The page is white, so every pixel is opaque.
    let colours: Vec<u8> =
        pixels.pixels().iter().flat_map(|p| [p.red(), p.green(), p.blue()]).collect();
    encoder.write_header()?.write_image_data(&colours)?;
    Ok(encoded)
}
