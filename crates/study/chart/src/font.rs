//! The font of PNGs, and the widths of its characters.
//!
//! An SVG requests this font first, then others. Widths are those of the wider of this font and
//! DejaVu Sans, so text that fits here fits with any of them.

use notosans::REGULAR_TTF;
use std::collections::BTreeSet;
use std::sync::LazyLock;
use ttf_parser::Face;

/// Font families of an SVG, in order of preference.
pub const FAMILIES: &str = "Noto Sans, Arial, Helvetica, Liberation Sans, sans-serif";

/// Text heights in points, legible if a chart is printed at its own width.
pub const LABEL: f64 = 7.0;
pub const TITLE: f64 = 7.5;

/// Line spacing, as a multiple of the text height.
pub const LINE: f64 = 1.3;

/// Height of the middle of digits above the baseline, as a multiple of the text height.
pub const MIDDLE: f64 = 0.36;

/// Width of a character missing from the font, as a multiple of the text height: that of a wide
/// character.
const UNKNOWN: f64 = 1.0;

static FACE: LazyLock<Option<Face<'static>>> = LazyLock::new(|| Face::parse(REGULAR_TTF, 0).ok());

/// Widths of the printable ASCII characters of DejaVu Sans, which is the only font of many systems
/// and wider than most, in thousandths of the text height.
const DEJAVU: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];
/// Width of any other character of DejaVu Sans, as a multiple of its width in Noto Sans; that of the
/// minus sign is the largest in charts.
const WIDER: f64 = 1.47;

/// Returns the width of a single-line text in the wider of both fonts, in the unit of `size`.
pub fn width(text: &str, size: f64) -> f64 {
    size * text.chars().map(advance).sum::<f64>()
}

fn advance(character: char) -> f64 {
    let Some(face) = &*FACE else { return UNKNOWN };
    let glyph = face.glyph_index(character).and_then(|glyph| face.glyph_hor_advance(glyph));
    let own = glyph.map(|advance| f64::from(advance) / f64::from(face.units_per_em()));
    let place = u32::from(character).checked_sub(u32::from(' '));
    let dejavu = place.and_then(|place| DEJAVU.get(place as usize));
    match (own, dejavu) {
        (Some(own), Some(dejavu)) => own.max(f64::from(*dejavu) / 1000.0),
        (Some(own), None) => WIDER * own,
        (None, _) => UNKNOWN,
    }
}

/// Returns the distinct characters of a text that the font lacks; a PNG shows boxes instead.
pub fn lacking(text: &str) -> BTreeSet<char> {
    let Some(face) = &*FACE else { return BTreeSet::new() };
    let is_lacking = |c: &char| !c.is_control() && face.glyph_index(*c).is_none();
    text.chars().filter(is_lacking).collect()
}

/// Shortens the text to `room`: its beginning and end, joined by `…`.
pub fn fit(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let characters: Vec<char> = text.chars().collect();
    // The beginning keeps one character more than the end; names differ at both ends.
    let cut = |kept: usize| {
        let (head, tail) = (kept.div_ceil(2), kept / 2);
        let ends = [&characters[..head], &['…'], &characters[characters.len() - tail..]];
        ends.concat().into_iter().collect::<String>()
    };
    let fits = |kept: &usize| width(&cut(*kept), size) <= room;
    cut((0..characters.len()).rev().find(fits).unwrap_or(0))
}

/// Breaks the text into lines of whole words that fit in `room`; longer words are truncated.
pub fn wrap(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| fit(line, size, room)).collect()
}

/// Breaks a name into lines that fit in `room`, after the characters that separate its parts; a
/// longer part is shortened.
pub fn wrap_name(name: &str, size: f64, room: f64) -> Vec<String> {
    if width(name, size) <= room {
        return vec![name.to_owned()];
    }
    let mut lines: Vec<String> = Vec::new();
    for part in name.split_inclusive(['/', ',', '(', ';', ' ', '_', '-']) {
        match lines.last_mut() {
            Some(line) if width(&format!("{line}{part}"), size) <= room => line.push_str(part),
            _ => lines.push(part.to_owned()),
        }
    }
    lines.iter().map(|line| fit(line, size, room)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_covers_the_characters_of_charts() {
        for character in "0123456789×·µ−–…≤%()/,.".chars() {
            let face = FACE.as_ref().expect("the font is sound");
            assert!(face.glyph_index(character).is_some(), "{character}");
        }
        assert!(width("wide", 7.0) > width("in", 7.0));
    }

    #[test]
    fn characters_missing_from_the_font_are_reported() {
        assert!(lacking("<svg>\n\tgraph-é-ж-λ…</svg>").is_empty());
        assert_eq!(lacking("数-日本 日").into_iter().collect::<String>(), "数日本");
    }

    #[test]
    fn truncation_keeps_both_ends_of_a_text() {
        assert_eq!(fit("short", 7.0, 100.0), "short");
        let text = fit("a-long-name-of-a-workload-with-an-end", 7.0, 60.0);
        assert!(
            text.starts_with("a-long") && text.ends_with("-end") && text.contains('…'),
            "{text}"
        );
        assert!(width(&text, 7.0) <= 60.0);
        assert_eq!(fit("anything", 7.0, 0.0), "…");
    }

    #[test]
    fn wrapping_keeps_words_whole() {
        assert_eq!(wrap("row hits over fr-fcfs", 7.0, 1000.0), ["row hits over fr-fcfs"]);
        let room = width("hits over", 7.0);
        assert_eq!(wrap("row hits over fr", 7.0, room), ["row hits", "over fr"]);
        let cut = wrap("a word-without-an-end", 7.0, room);
        assert!(cut[0] == "a" && cut[1].contains('…'), "{cut:?}");
    }
}
