//! An SVG document: shapes and text, with coordinates in points from the left and the top.

use super::font::{FAMILIES, LABEL, MIDDLE};
use super::look::{HATCHES, Hatch, Look, looks_of};
use super::{Chart, Format};
use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;
use quick_xml::Writer;
use quick_xml::events::{BytesEnd, BytesStart, BytesText, Event};
use std::borrow::Cow;
use std::io;

/// Points per inch.
const INCH: f64 = 72.0;
/// Pixels per inch in an SVG (CSS).
pub const CSS_INCH: f64 = 96.0;

/// Colours of axes and text, of grid lines, and of marks that belong to no series.
pub const INK: &str = "#222222";
pub const GRID: &str = "#dddddd";
pub const GREY: &str = "#777777";

/// Widths of lines.
pub const THIN: f64 = 0.5;
pub const THICK: f64 = 1.1;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Rect {
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

/// Style of a shape.
#[derive(Clone, Debug)]
pub struct Paint {
    fill: Cow<'static, str>,
    stroke: Cow<'static, str>,
    width: f64,
    dash: &'static str,
}

impl Paint {
    pub fn fill(fill: impl Into<Cow<'static, str>>) -> Paint {
        Paint { fill: fill.into(), stroke: "none".into(), width: 0.0, dash: "" }
    }

    pub fn stroke(stroke: impl Into<Cow<'static, str>>, width: f64) -> Paint {
        Paint::fill("none").edged(stroke, width)
    }

    pub fn edged(self, stroke: impl Into<Cow<'static, str>>, width: f64) -> Paint {
        Paint { stroke: stroke.into(), width, ..self }
    }

    pub fn dashed(self, dash: &'static str) -> Paint {
        Paint { dash, ..self }
    }
}

/// Point of a text that is placed at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// A single-line text.
#[derive(Clone, Debug)]
pub struct Text<'a> {
    pub text: &'a str,
    /// Position of the anchor, at half the height of digits.
    pub at: (f64, f64),
    pub anchor: Anchor,
    pub size: f64,
    /// Rotation in degrees clockwise around `at`.
    pub turn: f64,
    pub colour: &'static str,
}

impl<'a> Text<'a> {
    pub fn new(text: &'a str, at: (f64, f64), anchor: Anchor) -> Text<'a> {
        Text { text, at, anchor, size: LABEL, turn: 0.0, colour: INK }
    }

    pub fn size(self, size: f64) -> Text<'a> {
        Text { size, ..self }
    }

    pub fn turned(self, turn: f64) -> Text<'a> {
        Text { turn, ..self }
    }

    pub fn coloured(self, colour: &'static str) -> Text<'a> {
        Text { colour, ..self }
    }
}

type Attribute<'a> = (&'a str, String);

/// A whole document, and its size in points.
pub struct Drawing {
    pub svg: String,
    pub size: (f64, f64),
}

impl Drawing {
    /// Returns whether the drawing is wider than a column of its format.
    pub fn is_wide(&self, format: Format) -> bool {
        self.size.0 > format.width(false)
    }
}

/// An SVG document under construction; its ids begin with the chart's name.
pub struct Canvas {
    writer: Writer<Vec<u8>>,
    name: String,
    size: (f64, f64),
    /// Appearances of the series.
    looks: Vec<Look>,
    has_tips: bool,
}

impl Canvas {
    /// Makes a white page of the given size, described by the chart's title and caption, for marks
    /// of these series.
    pub fn new(chart: &Chart, size: (f64, f64), series: &[String]) -> Canvas {
        let about = [&*chart.name, &chart.title, &chart.caption];
        let mut canvas = Canvas::start(chart.format, about, size, chart.style.families());
        canvas.looks = looks_of(series, &chart.style.looks);
        canvas
    }

    /// Makes the same page for areas, with the hatches that fill them.
    pub fn with_fills(chart: &Chart, size: (f64, f64), series: &[String]) -> Canvas {
        let mut canvas = Canvas::new(chart, size, series);
        canvas.open("defs", &[]);
        (0..series.len()).for_each(|number| canvas.hatch(number));
        canvas.close("defs");
        canvas
    }

    /// Makes a white page of the given size.
    pub fn page(format: Format, about: [&str; 3], size: (f64, f64)) -> Canvas {
        Canvas::start(format, about, size, FAMILIES.to_owned())
    }

    fn start(
        format: Format,
        [name, title, caption]: [&str; 3],
        (width, height): (f64, f64),
        families: String,
    ) -> Canvas {
        let (name, size) = (identifier(format.prefix, name), (width, height));
        let mut canvas = Canvas {
            writer: Writer::new(Vec::new()),
            name,
            size,
            looks: Vec::new(),
            has_tips: format.has_tips,
        };
        let root = vec![
            ("xmlns", "http://www.w3.org/2000/svg".to_owned()),
            ("width", format!("{}in", number(width / INCH))),
            ("height", format!("{}in", number(height / INCH))),
            ("viewBox", format!("0 0 {} {}", number(width), number(height))),
            ("role", "img".to_owned()),
            ("aria-label", title.to_owned()),
            ("font-family", families),
        ];
        canvas.open("svg", &root);
        canvas.text_element("desc", &[title, caption].join(". "));
        let page = Rect { left: 0.0, top: 0.0, width, height };
        canvas.rect(&page, &Paint::fill("#ffffff"), None);
        canvas
    }

    /// Returns the complete document.
    pub fn finish(mut self) -> anyhow::Result<Drawing> {
        self.close("svg");
        let svg = String::from_utf8(self.writer.into_inner())? + "\n";
        Ok(Drawing { svg, size: self.size })
    }

    /// Embeds a whole document with its top left corner at the given point.
    pub fn embed(&mut self, drawing: &Drawing, (x, y): (f64, f64)) {
        // A document states its size in inches; embedded in another one it must be in pixels.
        let scale = number(INCH / CSS_INCH);
        let place = format!("translate({} {}) scale({scale})", number(x), number(y));
        self.open("g", &[("transform", place)]);
        in_memory(self.writer.write_event(Event::Text(BytesText::from_escaped(&*drawing.svg))));
        self.close("g");
    }

    /// Returns the appearance of a series.
    pub fn look(&self, number: usize) -> &Look {
        &self.looks[number]
    }

    /// Returns the fill of a series: its colour, hatched.
    pub fn fill_of(&self, number: usize) -> Paint {
        let look = self.look(number);
        match look.hatch() {
            Hatch::None => Paint::fill(look.colour()),
            _ => Paint::fill(format!("url(#{}-hatch-{number})", self.name)),
        }
    }

    pub fn rect(&mut self, rect: &Rect, paint: &Paint, tip: Option<&str>) {
        let mut attributes = vec![
            ("x", number(rect.left)),
            ("y", number(rect.top)),
            ("width", number(rect.width.max(0.0))),
            ("height", number(rect.height.max(0.0))),
        ];
        painted(&mut attributes, paint);
        self.element("rect", &attributes, tip);
    }

    /// Draws a PNG over `rect`, each of its pixels as a sharp rectangle.
    pub fn image(&mut self, rect: &Rect, png: &[u8], tip: &str) {
        let attributes = [
            ("x", number(rect.left)),
            ("y", number(rect.top)),
            ("width", number(rect.width)),
            ("height", number(rect.height)),
            ("preserveAspectRatio", "none".to_owned()),
            ("style", "image-rendering:pixelated".to_owned()),
            ("href", format!("data:image/png;base64,{}", STANDARD.encode(png))),
        ];
        self.element("image", &attributes, Some(tip));
    }

    pub fn circle(&mut self, (x, y): (f64, f64), radius: f64, paint: &Paint, tip: Option<&str>) {
        let mut attributes = vec![("cx", number(x)), ("cy", number(y)), ("r", number(radius))];
        painted(&mut attributes, paint);
        self.element("circle", &attributes, tip);
    }

    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), paint: &Paint) {
        self.path(&[from, to], false, paint, None);
    }

    /// Draws a path through points; a closed one returns to the first.
    pub fn path(
        &mut self,
        points: &[(f64, f64)],
        is_closed: bool,
        paint: &Paint,
        tip: Option<&str>,
    ) {
        let name = if is_closed { "polygon" } else { "polyline" };
        let points: Vec<String> =
            points.iter().map(|&(x, y)| format!("{},{}", tenths(x), tenths(y))).collect();
        let mut attributes = vec![("points", points.join(" "))];
        painted(&mut attributes, paint);
        self.element(name, &attributes, tip);
    }

    /// Writes a text; `tip` is the full text of an abbreviation.
    pub fn text(&mut self, text: &Text, tip: Option<&str>) {
        let (x, y) = text.at;
        // Below the line through `at`, in the rotated direction.
        let (sine, cosine) = text.turn.to_radians().sin_cos();
        let drop = MIDDLE * text.size;
        let (x, y) = (x - sine * drop, y + cosine * drop);
        let mut attributes = vec![
            ("x", number(x)),
            ("y", number(y)),
            ("font-size", number(text.size)),
            ("fill", text.colour.to_owned()),
        ];
        match text.anchor {
            Anchor::Start => {}
            Anchor::Middle => attributes.push(("text-anchor", "middle".to_owned())),
            Anchor::End => attributes.push(("text-anchor", "end".to_owned())),
        }
        if text.turn != 0.0 {
            let turn = format!("rotate({} {} {})", number(text.turn), number(x), number(y));
            attributes.push(("transform", turn));
        }
        self.open("text", &attributes);
        self.write_text(text.text);
        if let Some(tip) = tip.filter(|_| self.has_tips) {
            self.text_element("title", tip);
        }
        self.close("text");
    }

    /// Defines a pattern of white lines on a series' colour.
    fn hatch(&mut self, series: usize) {
        let (hatch, colour) = (self.look(series).hatch(), self.look(series).colour());
        let Some(&(_, tile, lines)) = HATCHES.iter().find(|(known, ..)| *known == hatch) else {
            return;
        };
        let attributes = vec![
            ("id", format!("{}-hatch-{series}", self.name)),
            ("patternUnits", "userSpaceOnUse".to_owned()),
            ("width", number(tile)),
            ("height", number(tile)),
        ];
        self.open("pattern", &attributes);
        let ground = Rect { left: 0.0, top: 0.0, width: tile, height: tile };
        self.rect(&ground, &Paint::fill(colour), None);
        let white = vec![
            ("d", lines.to_owned()),
            ("stroke", "#ffffff".to_owned()),
            ("stroke-width", "0.7".to_owned()),
            ("fill", "none".to_owned()),
        ];
        self.element("path", &white, None);
        self.close("pattern");
    }

    fn element(&mut self, name: &str, attributes: &[Attribute], tip: Option<&str>) {
        let attributes = attributes.iter().map(|(key, value)| (*key, value.as_str()));
        let element = self.writer.create_element(name).with_attributes(attributes);
        let written = match tip.filter(|_| self.has_tips) {
            None => element.write_empty().map(drop),
            Some(tip) => element
                .write_inner_content(|writer| {
                    let title = writer.create_element("title");
                    title.write_text_content(BytesText::new(&printable(tip))).map(drop)
                })
                .map(drop),
        };
        in_memory(written);
    }

    fn text_element(&mut self, name: &str, text: &str) {
        self.open(name, &[]);
        self.write_text(text);
        self.close(name);
    }

    fn write_text(&mut self, text: &str) {
        let text = printable(text);
        in_memory(self.writer.write_event(Event::Text(BytesText::new(&text))));
    }

    fn open(&mut self, name: &str, attributes: &[Attribute]) {
        let attributes: Vec<Attribute> =
            attributes.iter().map(|(key, value)| (*key, printable(value))).collect();
        let attributes = attributes.iter().map(|(key, value)| (*key, value.as_str()));
        let start = BytesStart::new(name).with_attributes(attributes);
        in_memory(self.writer.write_event(Event::Start(start)));
    }

    fn close(&mut self, name: &str) {
        let end = BytesEnd::new(name);
        in_memory(self.writer.write_event(Event::End(end)));
    }
}

fn in_memory(written: io::Result<()>) {
    written.expect("memory takes what is written");
}

fn painted(attributes: &mut Vec<Attribute>, paint: &Paint) {
    attributes.push(("fill", paint.fill.to_string()));
    if paint.width > 0.0 {
        attributes.push(("stroke", paint.stroke.to_string()));
        attributes.push(("stroke-width", number(paint.width)));
    }
    if !paint.dash.is_empty() {
        attributes.push(("stroke-dasharray", paint.dash.to_owned()));
    }
}

/// Formats a coordinate, to a hundredth of a point.
fn number(value: f64) -> String {
    let rounded = (value * 100.0).round() / 100.0;
    // Minus zero is zero.
    format!("{}", rounded + 0.0)
}

/// Formats a coordinate of a path, which may have many, to a tenth of a point.
fn tenths(value: f64) -> String {
    number((value * 10.0).round() / 10.0)
}

/// Removes the characters that XML cannot contain.
fn printable(text: &str) -> String {
    let is_allowed = |c: &char| matches!(c, '\t' | '\n' | ' '..='\u{fffd}' | '\u{10000}'..);
    text.chars().filter(is_allowed).collect()
}

/// Combines a prefix and a name into the beginning of an id.
fn identifier(prefix: &str, name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    format!("{prefix}-{}", name.chars().map(keep).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let numbers = [1.0, 0.125, -0.001, 12.345].map(number);
        assert_eq!(numbers, ["1", "0.13", "0", "12.35"]);
    }
}
