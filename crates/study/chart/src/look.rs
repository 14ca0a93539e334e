//! Visual distinction of series: by colour, and redundantly by hatches, dashes and shapes.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// Number of colours of series.
pub const COLOUR_COUNT: usize = COLOURS.len();

/// Colours of series: first those distinguishable with any colour vision (Okabe and Ito 2008),
/// without yellow, which is too light for lines on white, and black, which is used for axes; then a
/// grey; then colours that differ from these in hue or lightness, on white and on black.
const COLOURS: [&str; 19] = [
    "#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#8c8c8c", "#7b5fb8",
    "#a6761d", "#66a61e", "#e7298a", "#17b5b5", "#b2182b", "#8da0cb", "#a9a81f", "#f08a83",
    "#2a8c82", "#b58fd0", "#5b7c99",
];

/// Appearance of a series: a colour, and a texture that is also visible in grey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    colour: Cow<'static, str>,
    texture: usize,
}

/// Appearances of series by their names.
pub type Looks = BTreeMap<String, Look>;

impl Look {
    /// Returns the appearance with the given number; the first 152 differ.
    pub fn numbered(number: usize) -> Look {
        Look { colour: COLOURS[number % COLOURS.len()].into(), texture: number }
    }

    /// Replaces the colour by another one of an SVG: `#0072b2`.
    pub fn coloured(self, colour: impl Into<String>) -> Look {
        Look { colour: Cow::Owned(colour.into()), ..self }
    }

    pub fn colour(&self) -> Cow<'static, str> {
        self.colour.clone()
    }

    pub(super) fn hatch(&self) -> Hatch {
        ORDER[self.texture % ORDER.len()]
    }

    pub(super) fn shape(&self) -> Shape {
        SHAPES[self.texture % SHAPES.len()]
    }

    pub(super) fn dash(&self) -> &'static str {
        DASHES[self.texture % DASHES.len()]
    }
}

/// Returns the appearances of these series: those in `known` as stated there, all others by their
/// place.
pub(super) fn looks_of(names: &[String], known: &Looks) -> Vec<Look> {
    let look = |(place, name)| known.get(name).cloned().unwrap_or_else(|| Look::numbered(place));
    names.iter().enumerate().map(look).collect()
}

/// Lines on the fill of a bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hatch {
    None,
    Rising,
    Falling,
    Across,
    Crossed,
    Upright,
    Dotted,
    Checked,
}

/// The kinds of hatches in the order of their use.
const ORDER: [Hatch; 8] = [
    Hatch::None,
    Hatch::Rising,
    Hatch::Falling,
    Hatch::Across,
    Hatch::Crossed,
    Hatch::Upright,
    Hatch::Dotted,
    Hatch::Checked,
];

/// Hatches as tiles: the side length in points, and the lines as SVG path data. A side is a whole
/// number of pixels at 300 dots per inch; other tiles would show seams.
pub const HATCHES: [(Hatch, f64, &str); 7] = [
    (Hatch::Rising, 2.88, "M-1,1 l2,-2 M0,2.88 l2.88,-2.88 M1.88,3.88 l2,-2"),
    (Hatch::Falling, 2.88, "M-1,1.88 l2,2 M0,0 l2.88,2.88 M1.88,-1 l2,2"),
    (Hatch::Across, 2.4, "M0,1.2 h2.4"),
    (Hatch::Crossed, 2.88, "M0,2.88 l2.88,-2.88 M0,0 l2.88,2.88"),
    (Hatch::Upright, 2.4, "M1.2,0 v2.4"),
    (Hatch::Dotted, 2.4, "M0.8,1.2 h0.8"),
    (Hatch::Checked, 2.88, "M0,1.44 h2.88 M1.44,0 v2.88"),
];

/// Dashes of lines, as in SVG; empty for a solid line.
const DASHES: [&str; 6] =
    ["", "4 1.6", "1.2 1.4", "5 1.4 1.2 1.4", "2.4 1.2", "6 1.2 1.2 1.2 1.2 1.2"];

/// Shapes of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Disc,
    Square,
    Triangle,
    Diamond,
    Wedge,
    Cross,
    Plus,
    Pentagon,
}

const SHAPES: [Shape; 8] = [
    Shape::Disc,
    Shape::Square,
    Shape::Triangle,
    Shape::Diamond,
    Shape::Wedge,
    Shape::Cross,
    Shape::Plus,
    Shape::Pentagon,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_differ_even_in_grey_for_eight_and_in_colour_for_many() {
        let looks: Vec<_> = (0..152)
            .map(Look::numbered)
            .map(|look| (look.colour(), look.hatch(), look.shape()))
            .collect();
        assert!((0..looks.len()).all(|n| !looks[..n].contains(&looks[n])));
        let in_grey = &looks[..8];
        assert!(
            (0..8).all(|n| in_grey[..n].iter().all(|l| l.1 != looks[n].1 && l.2 != looks[n].2))
        );
        let dashes: Vec<_> = (0..6).map(|n| Look::numbered(n).dash()).collect();
        assert!((0..6).all(|n| !dashes[..n].contains(&dashes[n])));
    }

    #[test]
    fn a_known_series_keeps_its_look_wherever_it_stands() {
        let names = ["a", "b"].map(str::to_owned);
        let known = Looks::from([("b".to_owned(), Look::numbered(9).coloured("#123456"))]);
        let looks = looks_of(&names, &known);
        assert_eq!(looks[0], Look::numbered(0));
        assert_eq!((looks[1].colour().as_ref(), looks[1].shape()), ("#123456", SHAPES[1]));
    }
}
