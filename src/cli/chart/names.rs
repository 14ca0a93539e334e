//! Names beside points, where they cover nothing.

use super::canvas::{Anchor, Canvas, Rect, Text};
use super::font::{self, LABEL, MIDDLE};

/// Room that a point takes to each side.
pub const POINT: f64 = 2.6;

/// A plot, and what is covered there.
pub struct Names {
    plot: Rect,
    taken: Vec<Rect>,
}

impl Names {
    /// For names in `plot`, where these points stand.
    pub fn new(plot: Rect, points: impl Iterator<Item = (f64, f64)>) -> Names {
        Names { plot, taken: points.map(around).collect() }
    }

    /// Keeps names off a line through these points.
    pub fn cover_line(&mut self, points: &[(f64, f64)]) {
        for ends in points.windows(2) {
            let ((x, y), (dx, dy)) = (ends[0], (ends[1].0 - ends[0].0, ends[1].1 - ends[0].1));
            let steps = (dx.hypot(dy) / POINT).ceil().max(1.0);
            let step = |number: usize| number as f64 / steps;
            let along = (0..=steps as usize).map(|n| (x + step(n) * dx, y + step(n) * dy));
            self.taken.extend(along.map(|(left, top)| Rect { left, top, width: 0.0, height: 0.0 }));
        }
    }

    /// Writes a name beside the first of these points that has room for it; nowhere where none has.
    pub fn write(&mut self, canvas: &mut Canvas, name: &str, points: &[(f64, f64)]) {
        if name.is_empty() {
            return;
        }
        let width = font::width(name, LABEL);
        let is_free = |place: &Rect| {
            contains(&self.plot, place) && self.taken.iter().all(|other| !overlap(place, other))
        };
        let free = points.iter().flat_map(|at| places(*at, width)).find(is_free);
        if let Some(place) = free {
            let at = (place.left, place.top + place.height / 2.0);
            canvas.text(&Text::new(name, at, Anchor::Start), None);
            self.taken.push(place);
        }
    }
}

fn around((x, y): (f64, f64)) -> Rect {
    Rect { left: x - POINT, top: y - POINT, width: 2.0 * POINT, height: 2.0 * POINT }
}

/// Where a text of this width may stand beside a point: right, left, above, below and between.
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
