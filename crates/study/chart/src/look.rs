//! Visual distinction of series: by colour, and redundantly by hatches, dashes and shapes.

/// Colours distinguishable with any colour vision (Okabe and Ito 2008), without yellow, which is
/// too light for lines on white, and black, which is used for axes; then a grey.
const COLOURS: [&str; 7] =
    ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#8c8c8c"];

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

/// Number of distinct looks; any two series differ in colour, hatch, dash or shape.
#[cfg(test)]
const DIFFERENT: usize = COLOURS.len() * ORDER.len();

pub fn colour(number: usize) -> &'static str {
    COLOURS[number % COLOURS.len()]
}

/// Returns an index into a list of `len`, shifted by one with each round of colours, so that pairs
/// repeat late.
fn shifted(number: usize, len: usize) -> usize {
    (number + number / COLOURS.len()) % len
}

pub fn hatch(number: usize) -> Hatch {
    // Without a shift, pairs of seven colours and eight hatches repeat after 56.
    ORDER[number % ORDER.len()]
}

pub fn shape(number: usize) -> Shape {
    SHAPES[number % SHAPES.len()]
}

pub fn dash(number: usize) -> &'static str {
    DASHES[shifted(number, DASHES.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_differ_even_in_grey_for_eight_and_in_colour_for_many() {
        let looks: Vec<_> = (0..DIFFERENT).map(|n| (colour(n), hatch(n), shape(n))).collect();
        assert!((0..DIFFERENT).all(|n| !looks[..n].contains(&looks[n])));
        let in_grey: Vec<_> = (0..8).map(|n| (hatch(n), shape(n))).collect();
        assert!(
            (0..8).all(|n| in_grey[..n].iter().all(|l| l.0 != in_grey[n].0 && l.1 != in_grey[n].1))
        );
        let dashes: Vec<_> = (0..6).map(dash).collect();
        assert!((0..6).all(|n| !dashes[..n].contains(&dashes[n])));
    }
}
