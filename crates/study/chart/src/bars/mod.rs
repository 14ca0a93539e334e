//! Grouped vertical bars.

mod horizontal;

use crate::canvas::{Anchor, Canvas, Drawing, INK, Paint, Rect, Text};
use crate::data::{self, Keys};
use crate::font::{self, LABEL};
use crate::groups::{Groups, Layout, Legends};
use crate::kinds::Bars;
use crate::legend::Sample;
use crate::scale::{Ends, Scale, Span, figure};
use crate::{Chart, frame, label};
use anyhow::bail;
use horizontal::HorizontalBars;
use std::collections::HashSet;

/// Smallest width of a bar, points.
const LEAST: f64 = 2.2;
/// Number of ticks of the axis.
const TICKS: usize = 5;
/// Fraction of the bars that must end within the axis if the largest is more than `FAR` times as
/// long; the axis then leaves this headroom above.
const MOST: f64 = 0.9;
const FAR: f64 = 2.5;
const ROOM: f64 = 1.25;
/// Below this number of bars, all are drawn in full.
const FEW: usize = 8;
/// Shortest whisker drawn, points; the baseline's own has no length.
const SHORTEST: f64 = 0.5;
/// Half the longest cap of a whisker.
const CAP: f64 = 2.4;
/// Distance between two rotated values.
const PITCH: f64 = 1.1 * LABEL;

/// A value, and the index of its bar.
pub struct Bar {
    pub category: usize,
    pub series: usize,
    pub value: f64,
    /// Ends of the whisker.
    pub range: Option<[f64; 2]>,
}

impl Bar {
    pub fn tip(&self, categories: &Keys, series: &Keys, kind: &Bars) -> String {
        let (category, series) = (&categories.names[self.category], &series.names[self.series]);
        let range = self.range.map_or_else(String::new, |range| {
            let [least, greatest] = range.map(figure);
            format!(" ({least} to {greatest})")
        });
        format!("{category}, {series}: {}{}{range}", figure(self.value), kind.axis.suffix())
    }
}

pub fn draw(chart: &Chart, kind: &Bars) -> anyhow::Result<Drawing> {
    let mut categories = Keys::of(&chart.data, &kind.category)?;
    let series = Keys::of(&chart.data, &kind.series)?;
    let set_apart = move_to_end(&mut categories, &kind.set_apart);
    let values = data::values(&chart.data, &kind.value, &kind.axis)?;
    let ranges = data::ends(&chart.data, kind.range.as_ref(), &kind.axis)?;
    let bars = bars(&categories, &series, &values, &ranges)?;
    let Some(span) = span(&bars, kind) else { return frame::nothing(chart) };
    if kind.are_horizontal {
        let note = data::note(values.len() - bars.len(), values.len(), &[&kind.axis]);
        return HorizontalBars { kind, categories: &categories, series: &series, bars, span, note }
            .draw(chart);
    }
    let beyond: Vec<&Bar> = bars.iter().filter(|bar| bar.value > span.high).collect();
    let high = span.high;
    let longest =
        beyond.iter().map(|bar| font::width(&figure(bar.value), LABEL)).fold(0.0, f64::max);
    let groups = Groups {
        format: chart.format,
        categories: label::short(&categories.names),
        full: &categories.names,
        set_apart,
        slots: &series.names,
        marks: data::pairs(&categories, &series),
        are_slots_named: false,
        least: LEAST,
        axis: &kind.axis,
        span,
        legend: Legends { names: &series.names, sample: Sample::Bar },
        headroom: if beyond.is_empty() { 0.0 } else { longest + 2.0 },
        title: kind.across.as_deref(),
        note: data::note(values.len() - bars.len(), values.len(), &[&kind.axis]),
    };
    let layout = groups.layout();
    let mut canvas = layout.canvas(chart);
    for bar in &bars {
        draw_bar(&mut canvas, &layout, bar, &bar.tip(&categories, &series, kind));
        draw_whisker(&mut canvas, &layout, bar, high);
    }
    for row in 0..layout.plots().len() {
        let of_row = beyond.iter().filter(|bar| layout.slot(bar.category, bar.series).row == row);
        write_beyond(&mut canvas, &layout, row, &of_row.copied().collect::<Vec<_>>());
    }
    layout.finish(canvas, kind.reference)
}

/// Returns the bars that have a value, each once.
fn bars(
    categories: &Keys,
    series: &Keys,
    values: &[Option<f64>],
    ranges: &[Option<[f64; 2]>],
) -> anyhow::Result<Vec<Bar>> {
    let mut seen = HashSet::new();
    let mut bars = Vec::new();
    for (row, value) in values.iter().enumerate() {
        let Some(value) = *value else { continue };
        let bar =
            Bar { category: categories.of[row], series: series.of[row], value, range: ranges[row] };
        if !seen.insert((bar.category, bar.series)) {
            let (category, series) = (&categories.names[bar.category], &series.names[bar.series]);
            bail!("there are several values for `{series}` of `{category}`");
        }
        bars.push(bar);
    }
    Ok(bars)
}

/// Returns the axis of the bars; none if there are none.
fn span(bars: &[Bar], kind: &Bars) -> Option<Span> {
    let is_limited = kind.axis.scale == Scale::Linear && !kind.are_whole && !kind.are_horizontal;
    let limit = limit(bars).filter(|_| is_limited).unwrap_or(f64::INFINITY);
    let ends =
        bars.iter().flat_map(|bar| [bar.value].into_iter().chain(bar.range.into_iter().flatten()));
    let heights = ends.map(|end| end.min(limit));
    let reference = kind.reference.filter(|_| !bars.is_empty());
    Span::fit(kind.axis.scale, Ends::FromZero, heights.chain(reference), TICKS)
}

fn draw_bar(canvas: &mut Canvas, layout: &Layout, bar: &Bar, tip: &str) {
    let slot = layout.slot(bar.category, bar.series);
    let (zero, end) = (layout.zero(slot.row), layout.y(slot.row, bar.value));
    let rect =
        Rect { left: slot.left, top: zero.min(end), width: slot.width, height: (zero - end).abs() };
    let edge = if slot.width > 4.0 { 0.35 } else { 0.2 };
    canvas.rect(&rect, &canvas.fill_of(bar.series).edged(INK, edge), Some(tip));
}

/// Draws the whisker of a bar over it, with white sides so that it is visible on any fill.
fn draw_whisker(canvas: &mut Canvas, layout: &Layout, bar: &Bar, high: f64) {
    let Some(range) = bar.range else { return };
    let slot = layout.slot(bar.category, bar.series);
    let [least, greatest] = range.map(|end| layout.y(slot.row, end));
    if least - greatest < SHORTEST {
        return;
    }
    let (middle, cap) = (slot.middle(), (slot.width / 5.0).min(CAP));
    for paint in [Paint::stroke("#ffffff", 1.6), Paint::stroke(INK, 0.7)] {
        canvas.line((middle, least), (middle, greatest), &paint);
        // An end beyond the axis gets no cap.
        for end in range.into_iter().filter(|end| *end <= high) {
            let end = layout.y(slot.row, end);
            canvas.line((middle - cap, end), (middle + cap, end), &paint);
        }
    }
}

/// Moves the categories in `last` to the end, in that order, and returns their number.
fn move_to_end(categories: &mut Keys, last: &[String]) -> usize {
    let place = |name: &String| last.iter().position(|other| other == name);
    let mut order: Vec<usize> = (0..categories.names.len()).collect();
    order.sort_by_key(|&key| place(&categories.names[key]).map_or(0, |place| place + 1));
    categories.reorder(&order);
    categories.names.iter().filter(|name| last.contains(name)).count()
}

/// Chooses the end of the axis so that a few far larger bars do not shrink all others.
fn limit(bars: &[Bar]) -> Option<f64> {
    let mut values: Vec<f64> = bars.iter().map(|bar| bar.value).collect();
    values.sort_by(f64::total_cmp);
    let (least, greatest) = (*values.first()?, *values.last()?);
    let most = values[((values.len() - 1) as f64 * MOST) as usize].max(-least);
    (values.len() >= FEW && most > 0.0 && greatest > FAR * most).then_some(ROOM * most)
}

/// Writes upright values above the bars that end beyond the axis; if there are too many, only above
/// the largest.
fn write_beyond(canvas: &mut Canvas, layout: &Layout, row: usize, bars: &[&Bar]) {
    let plot = &layout.plots()[row];
    let mut bars: Vec<(f64, f64)> = bars
        .iter()
        .map(|bar| (layout.slot(bar.category, bar.series).middle(), bar.value))
        .collect();
    bars.sort_by(|a, b| b.1.total_cmp(&a.1));
    bars.truncate((plot.width / PITCH) as usize);
    bars.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut at: Vec<f64> = bars.iter().map(|bar| bar.0).collect();
    spread(&mut at, PITCH, (plot.left + PITCH / 2.0, plot.right() - PITCH / 2.0));
    for (x, (bar, value)) in at.into_iter().zip(bars) {
        canvas.line((bar, plot.top - 0.5), (x, plot.top - 1.5), &Paint::stroke(INK, 0.3));
        let text = figure(value);
        canvas.text(&Text::new(&text, (x, plot.top - 2.0), Anchor::Start).turned(-90.0), None);
    }
}

/// Spreads ascending positions between `left` and `right`, moving the first as little as possible.
fn spread(places: &mut [f64], pitch: f64, (left, right): (f64, f64)) {
    let mut least = left;
    for place in places.iter_mut() {
        *place = place.max(least);
        least = *place + pitch;
    }
    let mut limit = right;
    for place in places.iter_mut().rev() {
        *place = place.min(limit);
        limit = *place - pitch;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_values_are_spread_within_the_chart() {
        let mut places = [10.0, 11.0, 40.0, 58.0, 59.0];
        spread(&mut places, 5.0, (12.0, 60.0));
        assert_eq!(places, [12.0, 17.0, 40.0, 55.0, 60.0]);
    }

    #[test]
    fn only_outlying_bars_exceed_the_axis() {
        let bars = |values: &[f64]| -> Vec<Bar> {
            values.iter().map(|&value| Bar { category: 0, series: 0, value, range: None }).collect()
        };
        assert_eq!(limit(&bars(&[1.0; 10])), None);
        let mut far = [1.0; 11];
        far[3] = 40.0;
        assert_eq!(limit(&bars(&far)), Some(1.25));
        assert_eq!(limit(&bars(&[1.0, 1.0, 40.0])), None);
        far[0] = -20.0;
        assert_eq!(limit(&bars(&far)), None);
    }
}
