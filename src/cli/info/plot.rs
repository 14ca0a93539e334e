//! A profile as a picture of several panels.

use super::super::picture::{COLOURS, FONT, Picture};
use super::text::{cut, size};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::iter::once;
use warpmem::profile::{Access, Bin, Divergence, Profile, Reuse, SharedBin};

/// Heights of text, pixels.
const TITLE: u32 = 21;
const TEXT: u32 = 17;
const LABEL: u32 = 15;
/// Width and height of a panel, and of the line above all.
const PANEL: (u32, u32) = (720, 420);
const HEADING: u32 = 48;
const PANELS: (usize, usize) = (3, 2);
/// Kinds of instructions that are drawn.
const KINDS: usize = 10;

/// The figures of a trace.
pub struct Panels<'a> {
    pub name: &'a str,
    pub profile: &'a Profile,
}

impl Picture for Panels<'_> {
    fn size(&self) -> (u32, u32) {
        (PANEL.0 * PANELS.1 as u32, PANEL.1 * PANELS.0 as u32 + HEADING)
    }

    fn draw<D: DrawingBackend>(&self, area: &DrawingArea<D, Shift>) -> anyhow::Result<()>
    where
        D::ErrorType: 'static,
    {
        let (heading, panels) = area.split_vertically(HEADING);
        let style =
            (FONT, TITLE + 5).into_text_style(area).pos(Pos::new(HPos::Center, VPos::Center));
        let title = format!("{}: what the trace asks for", cut(self.name));
        heading.draw_text(&title, &style, (PANEL.0 as i32, HEADING as i32 / 2))?;
        let panels = panels.split_evenly(PANELS);
        let profile = self.profile;
        bars(&panels[0], &mix(profile))?;
        bars(&panels[1], &divergence(profile))?;
        bars(&panels[2], &reuse(profile))?;
        draw_misses(&panels[3], profile)?;
        bars(&panels[4], &sharing(profile))?;
        bars(&panels[5], &channels(profile))
    }
}

/// Groups of bars side by side, all shares in percent.
struct Bars {
    title: String,
    x: String,
    y: &'static str,
    /// One for each group; an empty one is not written.
    labels: Vec<String>,
    /// Names, empty where there is one series, and a bar for each group.
    series: Vec<(String, Vec<f64>)>,
    /// A level that is drawn across.
    level: Option<f64>,
}

fn percent(shares: impl Iterator<Item = f64>) -> Vec<f64> {
    shares.map(|share| 100.0 * share).collect()
}

fn mix(profile: &Profile) -> Bars {
    let kinds = &profile.all.mix.kinds;
    let (drawn, rest) = kinds.split_at(kinds.len().min(KINDS));
    let mut bars: Vec<(String, f64)> = drawn.iter().map(|k| (k.name.clone(), k.share)).collect();
    if !rest.is_empty() {
        bars.push(("the rest".to_owned(), rest.iter().map(|kind| kind.share).sum()));
    }
    let (labels, shares): (Vec<_>, Vec<_>) = bars.into_iter().unzip();
    Bars {
        title: "Instructions".to_owned(),
        x: String::new(),
        y: "of warp instructions, %",
        labels,
        series: vec![(String::new(), percent(shares.into_iter()))],
        level: None,
    }
}

fn divergence(profile: &Profile) -> Bars {
    let occurring =
        || profile.all.divergence.iter().filter(|divergence| divergence.instructions > 0);
    let most = occurring().filter_map(|divergence| divergence.lines.max).max().unwrap_or(1).max(32);
    let share = |divergence: &Divergence, lines: u32| {
        let bin = divergence.lines.histogram.iter().find(|bin| bin.value == lines);
        bin.map_or(0.0, |&Bin { count, .. }| count as f64 / divergence.instructions as f64)
    };
    let is_named = |lines: &u32| *lines < 3 || lines.is_multiple_of(4);
    let name = |access| match access {
        Access::Load => "loads",
        Access::Store => "stores",
        Access::Atomic => "atomics",
    };
    Bars {
        title: "Requests of a global access".to_owned(),
        x: format!("different lines of {} bytes of a warp instruction", profile.line_bytes),
        y: "of these instructions, %",
        labels: (1..=most)
            .map(|n| if is_named(&n) { n.to_string() } else { String::new() })
            .collect(),
        series: occurring()
            .map(|d| (name(d.access).to_owned(), percent((1..=most).map(|lines| share(d, lines)))))
            .collect(),
        level: None,
    }
}

/// The shares of distances by powers of two, from 0, 1, 2 to 3, 4 to 7 on.
fn powers(reuse: &Reuse) -> Vec<f64> {
    let mut shares = Vec::new();
    for bin in &reuse.histogram {
        let power = bin.from.checked_ilog2().map_or(0, |log| log as usize + 1);
        shares.resize(shares.len().max(power + 1), 0.0);
        shares[power] += bin.share;
    }
    shares
}

fn reuse(profile: &Profile) -> Bars {
    let shares = powers(&profile.reuse);
    // `4` stands for 4 to 7.
    let labels = (0..shares.len()).map(|power| match power {
        0 | 1 => power.to_string(),
        _ => short(1 << (power - 1)),
    });
    Bars {
        title: "Reuse of global lines".to_owned(),
        x: "other lines since the last access, from".to_owned(),
        y: "of accesses, %",
        labels: labels.chain(once("first".to_owned())).collect(),
        series: vec![(
            String::new(),
            percent(shares.iter().copied().chain(profile.reuse.cold_share)),
        )],
        level: None,
    }
}

/// `512`, `4k`, `2M`: powers of two, in units of them.
fn short(number: u64) -> String {
    match number.checked_ilog2().unwrap_or(0) {
        0..10 => number.to_string(),
        10..20 => format!("{}k", number >> 10),
        _ => format!("{}M", number >> 20),
    }
}

fn sharing(profile: &Profile) -> Bars {
    let (lines, rows) = (&profile.line_sharing.by_ctas, &profile.spread.row_sharing.by_ctas);
    let groups = lines.len().max(rows.len());
    let longest = if lines.len() == groups { lines } else { rows };
    let label = |bin: &SharedBin| match bin.to_ctas - bin.from_ctas {
        0 => bin.from_ctas.to_string(),
        _ => format!("≤ {}", short(bin.to_ctas)),
    };
    let series = |name: &str, bins: &[SharedBin], of: fn(&SharedBin) -> f64| {
        (name.to_owned(), percent((0..groups).map(|at| bins.get(at).map_or(0.0, of))))
    };
    Bars {
        title: "Sharing among CTAs".to_owned(),
        x: "CTAs that touch a line or a DRAM row".to_owned(),
        y: "of all, %",
        labels: longest.iter().map(label).collect(),
        series: vec![
            series("lines", lines, |bin| bin.share),
            series("accesses to lines", lines, |bin| bin.access_share),
            series("rows", rows, |bin| bin.share),
        ],
        level: None,
    }
}

fn channels(profile: &Profile) -> Bars {
    let shares = |counts: &[u64]| {
        let sum = counts.iter().sum::<u64>().max(1) as f64;
        percent(counts.iter().map(|&count| count as f64 / sum))
    };
    let (lines, accesses) =
        (&profile.spread.lines_per_channel, &profile.all.spread.accesses_per_channel);
    let every = lines.len().div_ceil(32);
    let label = |channel: usize| {
        if channel.is_multiple_of(every) { channel.to_string() } else { String::new() }
    };
    Bars {
        title: format!("Channels of {}", cut(&profile.spread.machine)),
        x: "channel".to_owned(),
        y: "of all, %",
        labels: (0..lines.len()).map(label).collect(),
        series: vec![
            ("distinct lines".to_owned(), shares(lines)),
            ("accesses".to_owned(), shares(accesses)),
        ],
        level: Some(100.0 / lines.len() as f64),
    }
}

fn grey(shade: u8) -> RGBColor {
    RGBColor(shade, shade, shade)
}

fn bars<D: DrawingBackend>(area: &DrawingArea<D, Shift>, bars: &Bars) -> anyhow::Result<()>
where
    D::ErrorType: 'static,
{
    let groups = bars.labels.len();
    let tallest = bars.series.iter().flat_map(|(_, values)| values).copied().fold(0.0, f64::max);
    let has_legend = bars.series.iter().any(|(name, _)| !name.is_empty());
    let room = if has_legend { 1.08 + 0.09 * bars.series.len() as f64 } else { 1.08 };
    let top = tallest.max(bars.level.unwrap_or(0.0)).max(1e-3) * room;
    let mut chart = ChartBuilder::on(area)
        .caption(&bars.title, (FONT, TITLE))
        .margin(12)
        .margin_right(20)
        .x_label_area_size(58)
        .y_label_area_size(70)
        .build_cartesian_2d(0.0..groups.max(1) as f64, 0.0..top)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(grey(243))
        .bold_line_style(grey(225))
        .x_labels(0)
        .max_light_lines(1)
        .x_desc(&bars.x)
        .y_desc(bars.y)
        .label_style((FONT, LABEL))
        .axis_desc_style((FONT, TEXT))
        .y_label_formatter(&|&share| if share > 100.0 { String::new() } else { format!("{share}") })
        .draw()?;
    let width = 0.8 / bars.series.len().max(1) as f64;
    for (number, (name, values)) in bars.series.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let left = move |group: usize| group as f64 + 0.1 + width * number as f64;
        let drawn = values.iter().enumerate().filter(|(_, value)| **value > 0.0);
        let rectangles = drawn.map(|(group, &value)| {
            Rectangle::new([(left(group), 0.0), (left(group) + width, value)], colour.filled())
        });
        let series = chart.draw_series(rectangles)?;
        if !name.is_empty() {
            let key = move |(x, y)| Rectangle::new([(x, y - 6), (x + 14, y + 6)], colour.filled());
            series.label(name).legend(key);
        }
    }
    if let Some(level) = bars.level {
        let line = [(0.0, level), (groups as f64, level)];
        chart.draw_series(LineSeries::new(line, BLACK.stroke_width(1)))?;
    }
    if has_legend {
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .label_font((FONT, LABEL))
            .background_style(WHITE.mix(0.85))
            .border_style(grey(200))
            .draw()?;
    }
    let (left, above) = area.get_base_pixel();
    let style = (FONT, LABEL).into_text_style(area).pos(Pos::new(HPos::Center, VPos::Top));
    let room = f64::from(PANEL.0 - 120) / groups.max(1) as f64;
    for (group, label) in bars.labels.iter().enumerate() {
        let (x, y) = chart.backend_coord(&(group as f64 + 0.5, 0.0));
        for (line, word) in lines(label, room).into_iter().enumerate() {
            let at = (x - left, y - above + 6 + line as i32 * (LABEL as i32 + 1));
            area.draw_text(word, &style, at)?;
        }
    }
    Ok(())
}

/// A label in one line, or word by word where it would not fit.
fn lines(label: &str, room: f64) -> Vec<&str> {
    let fits = label.chars().count() as f64 * f64::from(LABEL) * 0.5 < room;
    if fits { vec![label] } else { label.split(' ').collect() }
}

/// Lines of caches and the miss ratios that are known of them.
fn curve(reuse: &Reuse) -> Vec<(u64, f64)> {
    reuse.histogram.iter().filter_map(|bin| Some((bin.to, bin.miss_ratio?))).collect()
}

/// Miss ratios by cache size, with the sizes that are named marked.
fn draw_misses<D: DrawingBackend>(
    area: &DrawingArea<D, Shift>,
    profile: &Profile,
) -> anyhow::Result<()>
where
    D::ErrorType: 'static,
{
    let reuse = &profile.reuse;
    let bytes = |lines: u64| lines as f64 * f64::from(profile.line_bytes);
    let largest = reuse.caches.iter().map(|cache| cache.bytes as f64);
    let end = largest.chain(reuse.histogram.last().map(|bin| bytes(bin.to))).fold(1.0, f64::max);
    let start = bytes(8);
    let mut chart = ChartBuilder::on(area)
        .caption("Misses of a fully associative LRU cache", (FONT, TITLE))
        .margin(12)
        .margin_right(20)
        .x_label_area_size(58)
        .y_label_area_size(70)
        .build_cartesian_2d(
            (start..end.max(2.0 * start) * 2.0).log_scale().base(2.0),
            0.0..104.0,
        )?;
    chart
        .configure_mesh()
        .light_line_style(grey(243))
        .bold_line_style(grey(225))
        .x_desc("cache size")
        .y_desc("of accesses, %")
        .label_style((FONT, LABEL))
        .axis_desc_style((FONT, TEXT))
        .max_light_lines(1)
        .x_label_formatter(&|bytes| size(*bytes as u64))
        .y_label_formatter(&|share| format!("{share:.0}"))
        .draw()?;
    let curve = curve(reuse).into_iter().map(|(lines, ratio)| (bytes(lines), 100.0 * ratio));
    let first = start.max(bytes(reuse.least_cache_lines()));
    let (before, behind): (Vec<_>, Vec<_>) = curve.partition(|&(size, _)| size <= first);
    // A cache that is smaller than every distance misses all.
    let first = (first, before.last().map_or(100.0, |&(_, misses)| misses));
    let last = reuse.cold_share.map(|ratio| (end, 100.0 * ratio));
    let curve = once(first).chain(behind).chain(last).filter(|&(size, _)| size <= end);
    chart.draw_series(LineSeries::new(curve, COLOURS[0].stroke_width(2)))?;
    let marked = reuse.caches.iter().filter_map(|cache| {
        Some((cache.bytes as f64, 100.0 * cache.miss_ratio?, size(cache.bytes)))
    });
    let right = Pos::new(HPos::Left, VPos::Bottom);
    let style = (FONT, LABEL).into_text_style(area).pos(right);
    chart.draw_series(marked.map(|(bytes, misses, name)| {
        EmptyElement::at((bytes, misses))
            + Circle::new((0, 0), 5, COLOURS[1].filled())
            // Below the dot where there is no room above.
            + Text::new(name, (6, if misses > 92.0 { 20 } else { -5 }), style.clone())
    }))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem::profile::ReuseBin;

    #[test]
    fn numbers_of_lines_are_short() {
        assert_eq!([1, 512, 1024, 65_536, 1 << 20].map(short), ["1", "512", "1k", "64k", "1M"]);
    }

    #[test]
    fn the_curve_begins_where_the_sample_is_fine_enough() {
        let bin = |from, to, miss_ratio| ReuseBin { from, to, share: 0.25, miss_ratio };
        let histogram = vec![bin(0, 4, None), bin(4, 8, Some(0.5)), bin(8, 16, Some(0.25))];
        let reuse = Reuse {
            followed_accesses: 4,
            lines_per_followed: 1,
            cold_share: Some(0.25),
            histogram,
            caches: Vec::new(),
        };
        assert_eq!(curve(&reuse), [(8, 0.5), (16, 0.25)]);
    }

    #[test]
    fn a_long_label_is_written_word_by_word() {
        assert_eq!(lines("load global", 200.0), ["load global"]);
        assert_eq!(lines("load global", 60.0), ["load", "global"]);
    }
}
