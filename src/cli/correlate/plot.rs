//! Both sides' cycles as a picture: a point for each run, on logarithmic axes.

use super::super::picture::{COLOURS, FONT, Picture};
use plotters::coord::Shift;
use plotters::coord::combinators::LogCoord;
use plotters::prelude::*;
use std::ops::Range;
use warpmem::correlate::{Comparison, FIFO};

/// Heights of text, pixels.
const TITLE: u32 = 24;
const TEXT: u32 = 18;
const LABEL: u32 = 15;
const RADIUS: i32 = 5;
/// Bands around the diagonal, ours so much above or below the reference, and their shade.
const BANDS: [(f64, u8); 3] = [(0.1, 120), (0.2, 165), (0.5, 205)];
/// Runs further off than this are named.
const NAMED: f64 = 0.2;

type Axis = LogCoord<f64>;
type Chart<'a, D> = ChartContext<'a, D, Cartesian2d<Axis, Axis>>;

/// The cycles of these runs, machines in colours of their own.
pub struct Cycles<'a>(pub &'a [Comparison]);

impl Picture for Cycles<'_> {
    fn size(&self) -> (u32, u32) {
        (960, 900)
    }

    fn draw<D: DrawingBackend>(&self, area: &DrawingArea<D, Shift>) -> anyhow::Result<()>
    where
        D::ErrorType: 'static,
    {
        draw(area, self.0)
    }
}

fn draw<D: DrawingBackend>(area: &DrawingArea<D, Shift>, runs: &[Comparison]) -> anyhow::Result<()>
where
    D::ErrorType: 'static,
{
    let range = range(runs);
    let mut chart = ChartBuilder::on(area)
        .caption("Cycles: ours and the reference's", (FONT, TITLE))
        .margin(16)
        .x_label_area_size(56)
        .y_label_area_size(84)
        .build_cartesian_2d(range.clone().log_scale(), range.clone().log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(RGBColor(243, 243, 243))
        .bold_line_style(RGBColor(225, 225, 225))
        .x_desc("reference, core cycles without launches")
        .y_desc("ours, core cycles")
        .label_style((FONT, LABEL))
        .axis_desc_style((FONT, TEXT))
        .x_label_formatter(&shown)
        .y_label_formatter(&shown)
        .draw()?;
    draw_bands(&mut chart, &range)?;
    draw_points(&mut chart, runs)?;
    draw_names(&chart, area, runs)?;
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .margin(12)
        .label_font((FONT, TEXT))
        .background_style(WHITE.mix(0.9))
        .border_style(RGBColor(200, 200, 200))
        .draw()?;
    Ok(())
}

/// All cycles of both sides, with room around them.
fn range(runs: &[Comparison]) -> Range<f64> {
    let cycles = runs.iter().flat_map(|run| [run.ours.cycles, run.reference.cycles]);
    let (least, most) = cycles
        .fold((u64::MAX, 1), |(least, most), cycles| (least.min(cycles.max(1)), most.max(cycles)));
    least as f64 / 1.6..most as f64 * 1.6
}

/// `20 k`, `1.5 M`
fn shown(cycles: &f64) -> String {
    match *cycles {
        cycles if cycles >= 1e6 => format!("{} M", cycles / 1e6),
        cycles if cycles >= 1e3 => format!("{} k", cycles / 1e3),
        cycles => format!("{cycles}"),
    }
}

fn draw_bands<D: DrawingBackend>(chart: &mut Chart<'_, D>, range: &Range<f64>) -> anyhow::Result<()>
where
    D::ErrorType: 'static,
{
    // Ours is `factor` times the reference, as far as both are on the picture.
    let line = |factor: f64, style: ShapeStyle| {
        let from = range.start / factor.min(1.0);
        let to = range.end / factor.max(1.0);
        LineSeries::new([from, to].map(|x| (x, x * factor)), style)
    };
    let key = |style: ShapeStyle| move |(x, y)| PathElement::new([(x, y), (x + 22, y)], style);
    let style = BLACK.stroke_width(2);
    chart.draw_series(line(1.0, style))?.label("equal").legend(key(style));
    for (band, shade) in BANDS {
        let style = RGBColor(shade, shade, shade).stroke_width(1);
        chart.draw_series(line(1.0 - band, style))?;
        let series = chart.draw_series(line(1.0 + band, style))?;
        series.label(format!("± {:.0} %", band * 100.0)).legend(key(style));
    }
    Ok(())
}

/// A colour for each machine, a disc for its own scheduler and a triangle for FIFO.
fn draw_points<D: DrawingBackend>(
    chart: &mut Chart<'_, D>,
    runs: &[Comparison],
) -> anyhow::Result<()>
where
    D::ErrorType: 'static,
{
    let mut machines: Vec<&str> = Vec::new();
    let mut kinds: Vec<(&str, &str)> = Vec::new();
    for run in runs {
        if !machines.contains(&run.machine.as_str()) {
            machines.push(&run.machine);
        }
        let kind = (run.machine.as_str(), run.dram_scheduler.as_str());
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    for (machine, scheduler) in kinds {
        let colour = machines.iter().position(|name| *name == machine).unwrap_or(0);
        let colour = COLOURS[colour % COLOURS.len()];
        let of_kind =
            runs.iter().filter(|run| run.machine == machine && run.dram_scheduler == scheduler);
        let points = of_kind.map(point);
        let name = format!("{machine}, {scheduler}");
        if scheduler == FIFO {
            let marks =
                points.map(|at| TriangleMarker::new(at, RADIUS + 1, colour.stroke_width(2)));
            let legend =
                move |(x, y)| TriangleMarker::new((x + 11, y), RADIUS + 1, colour.stroke_width(2));
            chart.draw_series(marks)?.label(name).legend(legend);
        } else {
            let marks = points.map(|at| Circle::new(at, RADIUS, colour.mix(0.8).filled()));
            let legend = move |(x, y)| Circle::new((x + 11, y), RADIUS, colour.mix(0.8).filled());
            chart.draw_series(marks)?.label(name).legend(legend);
        }
    }
    Ok(())
}

fn point(run: &Comparison) -> (f64, f64) {
    (run.reference.cycles.max(1) as f64, run.ours.cycles.max(1) as f64)
}

/// Names the runs that are furthest off where there is room beside them.
fn draw_names<D: DrawingBackend>(
    chart: &Chart<'_, D>,
    area: &DrawingArea<D, Shift>,
    runs: &[Comparison],
) -> anyhow::Result<()>
where
    D::ErrorType: 'static,
{
    let style = (FONT, LABEL).into_text_style(area).color(&RGBColor(60, 60, 60));
    let off = |run: &&Comparison| {
        let (reference, ours) = point(run);
        (ours / reference - 1.0).abs()
    };
    let mut named: Vec<&Comparison> = runs.iter().filter(|run| off(run) > NAMED).collect();
    named.sort_by(|a, b| off(b).total_cmp(&off(a)));
    let mark = |run: &Comparison| {
        let (x, y) = chart.backend_coord(&point(run));
        Place { x: x - RADIUS, y: y - RADIUS, width: 2 * RADIUS, height: 2 * RADIUS }
    };
    let mut taken: Vec<Place> = runs.iter().map(mark).collect();
    for run in named {
        let (x, y) = chart.backend_coord(&point(run));
        let (width, height) = area.estimate_text_size(&run.trace, &style)?;
        let (width, height) = (width as i32, height as i32);
        let right = x + RADIUS + 5;
        let left = x - RADIUS - 5 - width;
        let at = |x, y| Place { x, y, width, height };
        let middle = y - height / 2;
        let choices = [
            at(right, middle),
            at(left, middle),
            at(right, middle - height),
            at(left, middle - height),
            at(right, middle + height),
            at(left, middle + height),
        ];
        let free = choices.into_iter().find(|place| !taken.iter().any(|other| other.meets(place)));
        if let Some(place) = free {
            area.draw_text(&run.trace, &style, (place.x, place.y))?;
            taken.push(place);
        }
    }
    Ok(())
}

/// A rectangle of the picture, pixels.
#[derive(Clone, Copy)]
struct Place {
    x: i32,
    y: i32,
    width: i32,
    height: i32,
}

impl Place {
    fn meets(&self, other: &Place) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }
}
