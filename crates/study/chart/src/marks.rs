//! Points in the shape of their series.

use super::canvas::{Canvas, Paint, THICK};
use super::look::Shape;

/// Half the width of a point.
const RADIUS: f64 = 1.9;

/// Draws a point of series `number`.
pub fn point(canvas: &mut Canvas, (x, y): (f64, f64), number: usize, tip: Option<&str>) {
    let (shape, colour) = (canvas.look(number).shape(), canvas.look(number).colour());
    let corners: Vec<(f64, f64)> =
        corners(shape).iter().map(|&(dx, dy)| (x + RADIUS * dx, y + RADIUS * dy)).collect();
    let filled = Paint::fill(colour.clone()).edged("#ffffff", 0.3);
    match shape {
        Shape::Disc => canvas.circle((x, y), RADIUS, &filled, tip),
        Shape::Cross | Shape::Plus => {
            canvas.path(&corners, false, &Paint::stroke(colour, THICK), tip);
        }
        _ => canvas.path(&corners, true, &filled, tip),
    }
}

/// Returns the corners around the centre for a radius of one; all shapes look equally large.
fn corners(shape: Shape) -> &'static [(f64, f64)] {
    match shape {
        Shape::Disc => &[],
        Shape::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        Shape::Triangle => &[(0.0, -1.2), (1.15, 0.9), (-1.15, 0.9)],
        Shape::Diamond => &[(0.0, -1.35), (1.1, 0.0), (0.0, 1.35), (-1.1, 0.0)],
        Shape::Wedge => &[(0.0, 1.2), (1.15, -0.9), (-1.15, -0.9)],
        Shape::Cross => &[(-1.0, -1.0), (1.0, 1.0), (0.0, 0.0), (-1.0, 1.0), (1.0, -1.0)],
        Shape::Plus => &[(-1.2, 0.0), (1.2, 0.0), (0.0, 0.0), (0.0, -1.2), (0.0, 1.2)],
        Shape::Pentagon => {
            &[(0.0, -1.2), (1.14, -0.37), (0.71, 0.97), (-0.71, 0.97), (-1.14, -0.37)]
        }
    }
}
