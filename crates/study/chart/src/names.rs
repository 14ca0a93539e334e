//! Placement of names beside points, where they hide nothing.

use super::canvas::{Anchor, Canvas, Rect, Text};
use super::font::{self, LABEL, MIDDLE};

/// Half the extent of a point.
pub const POINT: f64 = 2.6;

/// A plot, and its occupied positions.
pub struct Names {
    plot: Rect,
    taken: Vec<Rect>,
    /// Positions used for a name only as a last resort.
    avoided: Vec<Rect>,
}

impl Names {
    /// Prepares the placement of names in `plot` with these points.
    pub fn new(plot: Rect, points: impl Iterator<Item = (f64, f64)>) -> Names {
        Names { plot, taken: points.map(around).collect(), avoided: Vec::new() }
    }

    /// Keeps names off a line through these points.
    pub fn cover_line(&mut self, points: &[(f64, f64)]) {
        self.taken.extend(along(points));
    }

    /// Keeps names off a line through these points if there is other room.
    pub fn avoid_line(&mut self, points: &[(f64, f64)]) {
        self.avoided.extend(along(points));
    }

    /// Writes a name beside the first of these points with room for it, if there is one.
    pub fn write(&mut self, canvas: &mut Canvas, name: &str, points: &[(f64, f64)]) {
        if name.is_empty() {
            return;
        }
        let width = font::width(name, LABEL);
        let is_off = |place: &Rect, rects: &[Rect]| !rects.iter().any(|rect| overlap(place, rect));
        let is_free = |place: &Rect| contains(&self.plot, place) && is_off(place, &self.taken);
        let places = points.iter().flat_map(|at| places(*at, width));
        let free: Vec<Rect> = places.filter(is_free).collect();
        let best = free.iter().find(|place| is_off(place, &self.avoided)).or(free.first());
        if let Some(&place) = best {
            let at = (place.left, place.top + place.height / 2.0);
            canvas.text(&Text::new(name, at, Anchor::Start), None);
            self.taken.push(place);
        }
    }
}

/// Returns positions along a line through these points, spaced so that no name fits between them.
fn along(points: &[(f64, f64)]) -> impl Iterator<Item = Rect> {
    points.windows(2).flat_map(|ends| {
        let ((x, y), (dx, dy)) = (ends[0], (ends[1].0 - ends[0].0, ends[1].1 - ends[0].1));
        let steps = (dx.hypot(dy) / POINT).ceil().max(1.0);
        let step = move |number: usize| number as f64 / steps;
        let spots = (0..=steps as usize).map(move |n| (x + step(n) * dx, y + step(n) * dy));
        spots.map(|(left, top)| Rect { left, top, width: 0.0, height: 0.0 })
    })
}

fn around((x, y): (f64, f64)) -> Rect {
    Rect { left: x - POINT, top: y - POINT, width: 2.0 * POINT, height: 2.0 * POINT }
}

/// Returns candidate positions of a text of the given width beside a point: right, left, above,
/// below and diagonal.
fn places((x, y): (f64, f64), width: f64) -> Vec<Rect> {
    let height = 2.0 * MIDDLE * LABEL + 1.5;
    let (right, left, middle) = (x + POINT + 0.5, x - POINT - 0.5 - width, x - width / 2.0);
    let (level, above, below) = (y - height / 2.0, y - POINT - height, y + POINT);
    let places = [
        (right, level),
        (left, level),
        (middle, above),
        (middle, below),
        (right, above),
        (right, below),
        (left, above),
        (left, below),
    ];
    places.map(|(left, top)| Rect { left, top, width, height }).to_vec()
}

fn contains(outer: &Rect, inner: &Rect) -> bool {
    let is_across = inner.left >= outer.left && inner.right() <= outer.right();
    is_across && inner.top >= outer.top && inner.bottom() <= outer.bottom()
}

fn overlap(one: &Rect, other: &Rect) -> bool {
    let is_across = one.left < other.right() && other.left < one.right();
    is_across && one.top < other.bottom() && other.top < one.bottom()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;

    const PLOT: Rect = Rect { left: 0.0, top: 0.0, width: 100.0, height: 40.0 };
    const AT: (f64, f64) = (50.0, 20.0);

    /// Returns the position of the name `a` of the point in the centre.
    fn place(prepare: impl FnOnce(&mut Names)) -> Option<Rect> {
        let mut names = Names::new(PLOT, [AT].into_iter());
        prepare(&mut names);
        let taken = names.taken.len();
        let size = (PLOT.width, PLOT.height);
        names.write(&mut Canvas::page(Format::PRINT, ["name", "title", ""], size), "a", &[AT]);
        names.taken.get(taken).copied()
    }

    #[test]
    fn names_avoid_lines_and_cover_arrows_only_as_a_last_resort() {
        let right = [AT, (100.0, 20.0)];
        let is_right = |place: Rect| place.left > AT.0 && place.top < AT.1 && place.bottom() > AT.1;
        assert!(is_right(place(|_| {}).unwrap()));
        assert!(!is_right(place(|names| names.avoid_line(&right)).unwrap()));
        assert!(!is_right(place(|names| names.cover_line(&right)).unwrap()));
        let everywhere: Vec<(f64, f64)> = (0..=20)
            .flat_map(|row| [(0.0, f64::from(2 * row)), (100.0, f64::from(2 * row))])
            .collect();
        assert!(is_right(place(|names| names.avoid_line(&everywhere)).unwrap()));
        assert_eq!(place(|names| names.cover_line(&everywhere)), None);
    }
}
