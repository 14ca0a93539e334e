//! A profile as a sheet of charts.

use super::profile::{in_ranges, name};
use super::text::{cut, size};
use crate::cli::tables::write_plot;
use crate::study::profile::{InstructionKind, Profile, Reuse, SharedBin};
use std::iter::once;
use std::path::Path;
use warpmem_analysis::polars::df;
use warpmem_chart::{Axis, Bars, Chart, Lines, Sheet};

/// Maximum number of instruction kinds drawn.
const KINDS: usize = 10;
/// Smallest cache whose misses are drawn, lines.
const SMALLEST: u64 = 8;

/// Draws the figures of a trace, given its name, into a file.
pub fn draw(path: &Path, (name, profile): (&str, &Profile)) -> anyhow::Result<()> {
    write_plot(path, &sheet(name, profile)?.svg()?)
}

fn sheet(name: &str, profile: &Profile) -> anyhow::Result<Sheet> {
    let charts = vec![
        mix(profile)?,
        divergence(profile)?,
        reuse(profile)?,
        misses(profile)?,
        sharing(profile)?,
        channels(profile)?,
    ];
    Ok(Sheet { name: "trace".to_owned(), title: format!("{name}: accesses of the trace"), charts })
}

/// Bar chart of shares, by category and series.
#[derive(Default)]
struct Shares {
    category: Vec<String>,
    series: Vec<&'static str>,
    share: Vec<f64>,
}

impl Shares {
    fn push(&mut self, category: impl Into<String>, series: &'static str, share: f64) {
        self.category.push(category.into());
        self.series.push(series);
        self.share.push(share);
    }

    fn bars(whole: &str) -> Bars {
        Bars::new("category", "series", "share", Axis::percent(whole)).whole()
    }

    fn chart(self, name: &str, title: impl Into<String>, bars: Bars) -> anyhow::Result<Chart> {
        let Shares { category, series, share } = self;
        let data = df!("category" => category, "series" => series, "share" => share)?;
        Ok(Chart::new(name, title, "", data, bars))
    }
}

fn mix(profile: &Profile) -> anyhow::Result<Chart> {
    let kinds = &profile.all.mix.kinds;
    let (drawn, rest) = kinds.split_at(kinds.len().min(KINDS));
    let share = |kind: &InstructionKind| kind.share;
    let mut shares = Shares::default();
    drawn.iter().for_each(|kind| shares.push(&kind.name, "instructions", share(kind)));
    if !rest.is_empty() {
        shares.push("the rest", "instructions", rest.iter().map(share).sum());
    }
    shares.chart("mix", "Instructions", Shares::bars("of warp instructions"))
}

fn divergence(profile: &Profile) -> anyhow::Result<Chart> {
    let mut shares = Shares::default();
    for divergence in profile.all.divergence.iter().filter(|d| d.instructions > 0) {
        for (range, count) in in_ranges(divergence) {
            let share = count as f64 / divergence.instructions as f64;
            shares.push(range, name(divergence.access), share);
        }
    }
    let across = format!("distinct lines of {} bytes per warp instruction", profile.line_bytes);
    let bars = Shares::bars("of these instructions").across(across);
    shares.chart("lines", "Requests of a global access", bars)
}

/// Returns the shares of distances by powers of two: 0, 1, 2 to 3, 4 to 7 and so on.
fn powers(reuse: &Reuse) -> Vec<f64> {
    let mut shares = Vec::new();
    for bin in &reuse.histogram {
        let power = bin.from.checked_ilog2().map_or(0, |log| log as usize + 1);
        shares.resize(shares.len().max(power + 1), 0.0);
        shares[power] += bin.share;
    }
    shares
}

fn reuse(profile: &Profile) -> anyhow::Result<Chart> {
    let mut shares = Shares::default();
    for (power, share) in powers(&profile.reuse).into_iter().enumerate() {
        // `4` stands for 4 to 7.
        let from = if power < 2 { power as u64 } else { 1 << (power - 1) };
        shares.push(short(from), "accesses", share);
    }
    if let Some(share) = profile.reuse.cold_share {
        shares.push("first", "accesses", share);
    }
    let bars = Shares::bars("of accesses").across("other lines since the last access, from");
    shares.chart("reuse", "Reuse of global lines", bars)
}

/// Formats powers of two: `512`, `4k`, `2M`.
fn short(number: u64) -> String {
    match number.checked_ilog2().unwrap_or(0) {
        0..10 => number.to_string(),
        10..20 => format!("{}k", number >> 10),
        _ => format!("{}M", number >> 20),
    }
}

/// Draws miss ratios by cache size; the named sizes are marked.
fn misses(profile: &Profile) -> anyhow::Result<Chart> {
    let reuse = &profile.reuse;
    let bytes = |lines: u64| lines * u64::from(profile.line_bytes);
    let largest = reuse.caches.iter().map(|cache| cache.bytes);
    let end = largest.chain(reuse.histogram.last().map(|bin| bytes(bin.to))).max().unwrap_or(0);
    let curve = curve(reuse).into_iter().map(|(lines, ratio)| (bytes(lines), Some(ratio), None));
    let last = (end, reuse.cold_share, None);
    // A labelled mark.
    let caches = reuse.caches.iter();
    let caches = caches.map(|cache| (cache.bytes, cache.miss_ratio, Some(size(cache.bytes))));
    let points =
        curve.chain([last]).chain(caches).filter(|point| point.0 <= end && point.1.is_some());
    let (mut sizes, mut ratios, mut names) = (vec![], vec![], vec![]);
    for (size, ratio, name) in points {
        sizes.push(size);
        ratios.push(ratio);
        names.push(name);
    }
    let series = vec!["LRU"; sizes.len()];
    let data = df!("size" => sizes, "misses" => ratios, "cache" => names, "series" => series)?;
    let (x, y) = (Axis::new("cache size", "").log(), Axis::percent("of accesses"));
    let lines = Lines::new("size", "misses", "series", x, y)
        .marks("cache")
        .ticks(sizes_along())
        .with_zero();
    Ok(Chart::new("misses", "Misses of a fully associative LRU cache", "", data, lines))
}

/// Returns every other power of two.
fn sizes_along() -> impl Iterator<Item = (f64, String)> {
    (0..32).map(|power| 1u64 << (2 * power)).map(|bytes| (bytes as f64, size(bytes)))
}

/// Returns cache sizes in lines and their known miss ratios, from the smallest drawn.
fn curve(reuse: &Reuse) -> Vec<(u64, f64)> {
    let first = SMALLEST.max(reuse.least_cache_lines());
    let known = reuse.histogram.iter().filter_map(|bin| Some((bin.to, bin.miss_ratio?)));
    let (before, behind): (Vec<_>, Vec<_>) = known.partition(|&(lines, _)| lines <= first);
    // A cache smaller than every distance always misses.
    let start = (first, before.last().map_or(1.0, |&(_, ratio)| ratio));
    once(start).chain(behind).collect()
}

fn sharing(profile: &Profile) -> anyhow::Result<Chart> {
    let (lines, rows) = (&profile.line_sharing.by_ctas, &profile.spread.row_sharing.by_ctas);
    let longest = if lines.len() >= rows.len() { lines } else { rows };
    let label = |bin: &SharedBin| match bin.to_ctas - bin.from_ctas {
        0 => bin.from_ctas.to_string(),
        _ => format!("≤ {}", short(bin.to_ctas)),
    };
    let mut shares = Shares::default();
    for (at, category) in longest.iter().map(label).enumerate() {
        let of = |bins: &[SharedBin], of: fn(&SharedBin) -> f64| bins.get(at).map_or(0.0, of);
        shares.push(&category, "lines", of(lines, |bin| bin.share));
        shares.push(&category, "accesses to lines", of(lines, |bin| bin.access_share));
        shares.push(&category, "rows", of(rows, |bin| bin.share));
    }
    let bars = Shares::bars("of all").across("CTAs that access a line or a DRAM row");
    shares.chart("sharing", "Sharing among CTAs", bars)
}

fn channels(profile: &Profile) -> anyhow::Result<Chart> {
    let spread = &profile.spread;
    let (lines, accesses) = (&spread.lines_per_channel, &profile.all.spread.accesses_per_channel);
    let share = |counts: &[u64], channel: usize| {
        counts[channel] as f64 / counts.iter().sum::<u64>().max(1) as f64
    };
    let mut shares = Shares::default();
    for channel in 0..lines.len() {
        shares.push(channel.to_string(), "distinct lines", share(lines, channel));
        shares.push(channel.to_string(), "accesses", share(accesses, channel));
    }
    let bars = Shares::bars("of all").across("channel").reference(100.0 / lines.len() as f64);
    shares.chart("channels", format!("Channels of {}", cut(&spread.machine)), bars)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::profile::ReuseBin;

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
        // Every second line is tracked, so caches of 16 lines are the smallest with a known ratio.
        let sampled = Reuse { lines_per_followed: 2, ..reuse };
        assert_eq!(curve(&sampled), [(16, 0.25)]);
    }
}
