//! Bars of stacked parts.

use super::canvas::{Canvas, Drawing, INK, Rect};
use super::data::{self, Keys};
use super::groups::{Groups, Layout, Legends, Slot};
use super::kinds::StackedBars;
use super::legend::Sample;
use super::scale::{Ends, Scale, Span, figure};
use super::{Axis, Chart, frame, label};
use anyhow::bail;
use std::collections::BTreeMap;

/// Smallest width of a bar, and of a bar with a name below it, points.
const LEAST: f64 = 3.0;
const LEAST_NAMED: f64 = 8.2;
const TICKS: usize = 5;
/// Gap beside a bar, as a multiple of its width.
const ROOM: f64 = 0.12;

/// The parts of each bar, by category and series.
type Bars = BTreeMap<(usize, usize), Vec<Option<f64>>>;

pub fn draw(chart: &Chart, kind: &StackedBars) -> anyhow::Result<Drawing> {
    let categories = Keys::of(&chart.data, &kind.category)?;
    let series = Keys::of_any(&chart.data, kind.series.as_deref())?;
    let parts = Keys::of(&chart.data, &kind.part)?;
    let axis = match kind.are_shares {
        true => Axis::new(kind.axis.label.clone(), "%"),
        false => Axis { scale: Scale::Linear, ..kind.axis.clone() },
    };
    let values = data::values(&chart.data, &kind.value, &axis)?;
    let mut bars = bars([&categories, &series, &parts], &values)?;
    let drawn = bars.values().flatten().flatten().count();
    if kind.are_shares {
        bars.values_mut().for_each(|parts| to_shares(parts));
    }
    let heights = bars.values().map(|parts| sum(parts));
    let Some(span) = Span::fit(Scale::Linear, Ends::FromZero, heights, TICKS) else {
        return frame::nothing(chart);
    };
    let are_slots_named = series.names.len() > 1;
    let groups = Groups {
        format: chart.format,
        categories: label::short(&categories.names),
        full: &categories.names,
        set_apart: 0,
        slots: &series.names,
        marks: data::pairs(&categories, &series),
        are_slots_named,
        least: if are_slots_named { LEAST_NAMED } else { LEAST },
        axis: &axis,
        span,
        legend: Legends { names: &parts.names, sample: Sample::Bar },
        headroom: 0.0,
        title: None,
        note: data::note_of(values.len() - drawn, values.len(), "missing or below 0"),
    };
    let layout = groups.layout();
    let mut canvas = layout.canvas(chart);
    for (&(category, of), heights) in &bars {
        let names = [&*categories.names[category], &*series.names[of]];
        let bar = Bar { slot: layout.slot(category, of), names, parts: &parts.names, axis: &axis };
        bar.draw(&mut canvas, &layout, heights);
    }
    layout.finish(canvas, None)
}

/// Collects the values of each bar; negative values are omitted.
fn bars([categories, series, parts]: [&Keys; 3], values: &[Option<f64>]) -> anyhow::Result<Bars> {
    let mut bars = Bars::new();
    for (row, value) in values.iter().enumerate() {
        let Some(value) = value.filter(|value| *value >= 0.0) else { continue };
        let bar = bars.entry((categories.of[row], series.of[row]));
        let bar = bar.or_insert_with(|| vec![None; parts.names.len()]);
        if bar[parts.of[row]].replace(value).is_some() {
            let [category, series, part] =
                [categories, series, parts].map(|keys| &keys.names[keys.of[row]]);
            bail!("there are several values for `{part}` of `{category}` `{series}`");
        }
    }
    Ok(bars)
}

fn sum(parts: &[Option<f64>]) -> f64 {
    parts.iter().flatten().sum()
}

/// Converts parts to percentages of their sum; empty if the sum is zero.
fn to_shares(parts: &mut [Option<f64>]) {
    let sum = sum(parts);
    for part in parts.iter_mut().flatten() {
        *part = if sum > 0.0 { 100.0 * *part / sum } else { 0.0 };
    }
}

/// A bar being drawn.
struct Bar<'a> {
    slot: Slot,
    /// Index of its category and of its series.
    names: [&'a str; 2],
    parts: &'a [String],
    axis: &'a Axis,
}

impl Bar<'_> {
    fn draw(&self, canvas: &mut Canvas, layout: &Layout, heights: &[Option<f64>]) {
        let Slot { row, left, width } = self.slot;
        let room = ROOM * width;
        let mut below = 0.0;
        for (part, height) in heights.iter().enumerate() {
            let Some(height) = *height else { continue };
            let (bottom, top) = (layout.y(row, below), layout.y(row, below + height));
            let (left, width) = (left + room, width - 2.0 * room);
            let rect = Rect { left, top, width, height: bottom - top };
            let paint = canvas.fill_of(part).edged(INK, 0.3);
            canvas.rect(&rect, &paint, Some(&self.tip(part, height)));
            below += height;
        }
    }

    fn tip(&self, part: usize, height: f64) -> String {
        let names = self.names.into_iter().chain([&*self.parts[part]]);
        let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
        format!("{}: {}{}", names.join(", "), figure(height), self.axis.suffix())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_sum() {
        let mut parts = [Some(1.0), None, Some(3.0)];
        to_shares(&mut parts);
        assert_eq!(parts, [Some(25.0), None, Some(75.0)]);
        let mut nothing = [Some(0.0)];
        to_shares(&mut nothing);
        assert_eq!(nothing, [Some(0.0)]);
    }
}
