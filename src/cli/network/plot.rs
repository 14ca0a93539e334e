//! Latency against load as a picture: a line for each network.

use super::super::picture::{COLOURS, FONT, Picture};
use super::rows::names;
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use warpmem::network::alone::Point;

/// Heights of text, pixels: readable when the picture is as wide as a column of print.
const TEXT: u32 = 22;
const LABEL: u32 = 20;
const RADIUS: i32 = 5;
/// Width and height of the chart; names stand beside it.
const CHART: (u32, u32) = (800, 600);
const MARGIN: u32 = 16;
/// From one name to the next.
const LINE: u32 = 26;
/// Kinds of marks.
const SHAPES: usize = 3;
/// The picture ends at so many times the latency of the empty network, the slowest one's.
const TALL: f64 = 5.0;

type Chart<'a, D> = ChartContext<'a, D, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Mean latency of the points of each curve.
pub struct Plot<'a>(pub &'a [Vec<Point>]);

impl Picture for Plot<'_> {
    fn size(&self) -> (u32, u32) {
        let lines = self.0.len() as u32 * LINE;
        (CHART.0 + self.legend(), CHART.1.max(lines + 2 * MARGIN))
    }

    fn draw<D: DrawingBackend>(&self, area: &DrawingArea<D, Shift>) -> anyhow::Result<()>
    where
        D::ErrorType: 'static,
    {
        let points = || self.0.iter().flatten();
        let right = points().map(|point| point.load).fold(0.0, f64::max);
        let slowest = points().map(Point::zero_load_latency).fold(0.0, f64::max);
        let top = TALL * slowest.max(1.0);
        let mut chart = ChartBuilder::on(area)
            .margin(MARGIN)
            .margin_right(MARGIN + self.legend())
            .x_label_area_size(56)
            .y_label_area_size(72)
            .build_cartesian_2d(0.0..right.max(f64::MIN_POSITIVE), 0.0..top)?;
        chart
            .configure_mesh()
            .light_line_style(RGBColor(243, 243, 243))
            .bold_line_style(RGBColor(225, 225, 225))
            .x_desc("offered load, flits per source and cycle")
            .y_desc("mean latency, network cycles")
            .label_style((FONT, LABEL))
            .axis_desc_style((FONT, TEXT))
            .y_label_formatter(&|latency| format!("{latency:.0}"))
            .draw()?;
        for (number, (curve, name)) in self.0.iter().zip(names(self.0)).enumerate() {
            draw_curve(&mut chart, number, curve, top)?;
            let at = ((CHART.0 + MARGIN) as i32, (MARGIN + number as u32 * LINE + LINE / 2) as i32);
            area.draw(&mark(at, number))?;
            let style = (FONT, LABEL).into_text_style(area).pos(Pos::new(HPos::Left, VPos::Center));
            area.draw_text(&name, &style, (at.0 + MARGIN as i32, at.1))?;
        }
        Ok(())
    }
}

impl Plot<'_> {
    /// Width of the names beside the chart, which would hide curves within it; pixels.
    fn legend(&self) -> u32 {
        let longest = names(self.0).iter().map(|name| name.chars().count()).max().unwrap_or(0);
        4 * MARGIN + longest as u32 * LABEL / 2
    }
}

/// A line from the empty network through the points, as far as the picture goes; marks where the network keeps up.
fn draw_curve<'a, D: DrawingBackend + 'a>(
    chart: &mut Chart<'a, D>,
    number: usize,
    curve: &[Point],
    top: f64,
) -> anyhow::Result<()>
where
    D::ErrorType: 'static,
{
    let Some(first) = curve.first() else { return Ok(()) };
    let place = |point: &Point| Some((point.load, point.latency()?));
    let measured = curve.iter().map_while(place);
    let line = clipped(std::iter::once((0.0, first.zero_load_latency())).chain(measured), top);
    chart.draw_series(LineSeries::new(line, look(number).0.stroke_width(3)))?;
    let kept = curve.iter().filter(|point| !point.is_saturated()).filter_map(place);
    let inside = kept.filter(|&(_, latency)| latency <= top);
    chart.draw_series(inside.map(|at| mark(at, number)))?;
    Ok(())
}

/// Colour and shape of a curve's marks: both change from one to the next, and no two of the first 18 curves share both.
fn look(number: usize) -> (RGBColor, usize) {
    let round = number / COLOURS.len();
    (COLOURS[number % COLOURS.len()], (number + round) % SHAPES)
}

/// A disc, a triangle or a cross, so that colours are not all that tells curves apart.
fn mark<'a, C, D>(at: C, number: usize) -> DynElement<'a, D, C>
where
    C: Clone,
    D: DrawingBackend,
    Circle<C, i32>: IntoDynElement<'a, D, C>,
    TriangleMarker<C, i32>: IntoDynElement<'a, D, C>,
    Cross<C, i32>: IntoDynElement<'a, D, C>,
{
    let (colour, shape) = look(number);
    match shape {
        0 => Circle::new(at, RADIUS, colour.filled()).into_dyn(),
        1 => TriangleMarker::new(at, RADIUS + 2, colour.filled()).into_dyn(),
        _ => Cross::new(at, RADIUS, colour.stroke_width(3)).into_dyn(),
    }
}

/// A rising line up to `top`.
fn clipped(line: impl Iterator<Item = (f64, f64)>, top: f64) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for (x, y) in line {
        if y <= top {
            kept.push((x, y));
            continue;
        }
        if let Some(&(x0, y0)) = kept.last() {
            kept.push((x0 + (x - x0) * (top - y0) / (y - y0), top));
        }
        break;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_differ() {
        let looks: Vec<_> = (0..18).map(look).collect();
        let is_new = |(number, look)| !looks[..number].contains(look);
        assert!(looks.iter().enumerate().all(is_new));
    }

    #[test]
    fn lines_end_at_the_top() {
        let line = [(0.0, 10.0), (0.2, 20.0), (0.4, 60.0), (0.6, 70.0)];
        let whole = clipped(line.into_iter(), 80.0);
        assert_eq!(whole, line);
        let cut = clipped(line.into_iter(), 40.0);
        assert_eq!(cut[..2], line[..2]);
        assert_eq!(cut.len(), 3);
        assert!((cut[2].0 - 0.3).abs() < 1e-12 && cut[2].1 == 40.0);
    }
}
