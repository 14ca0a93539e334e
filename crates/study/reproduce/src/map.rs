//! Maps: the gain as a function of two axes, and the positions of workloads.
//!
//! An axis is the quantity that positions a workload: a metric of its run on the plain machine, or
//! a machine key. The metric at each value of the axis is the mean over the other axis. A
//! workload's position is the linear interpolation of its own metric between two values, or the end
//! of the axis. Its gain is interpolated between the four nearest points.

use crate::claims::number;
use crate::error::{Error, Result};
use crate::line::signed;
use crate::noise::Measured;
use crate::report;
use crate::samples::Samples;
use crate::study::Study;
use std::collections::HashMap;
use std::path::Path;
use warpmem_analysis::polars::df;
use warpmem_analysis::polars::prelude::{Column, DataFrame};
use warpmem_analysis::write_csv;
use warpmem_chart::{Chart, HeatMap, Mark};
use warpmem_machine::{Machine, flatten};
use warpmem_report::{Prose, Section, Table};
use warpmem_study::reproduce::{Axis, Map, Paper, Place, Runs, Shown};

/// Files of the tables.
const GAINS: &str = "map.csv";
const PLACED: &str = "placed.csv";

/// Tolerance in percentage points within which a workload's gain agrees with the map even if both
/// are measured exactly, because positions are interpolated.
const NEAR: f64 = 1.0;

/// Gains of a map.
pub struct Mapped {
    /// Gains row by row from the lowest, %.
    gains: Vec<Measured>,
    across: Scale,
    up: Scale,
}

/// Values of an axis, and the metric at each.
struct Scale {
    texts: Vec<String>,
    metric: Vec<f64>,
}

/// A workload on a map.
#[derive(Clone, Debug)]
pub struct Placed {
    pub workload: String,
    /// Metric on each axis; none if nothing was counted.
    pub metrics: [Option<f64>; 2],
    /// Position in values of the axes, counted from 0.
    pub at: [f64; 2],
    /// Whether the position is beyond an end of an axis.
    pub is_beyond: bool,
    /// Gain of the map at the position, %.
    pub mapped: f64,
    /// Measured gain, %.
    pub measured: Measured,
}

/// Computes the gains from the runs of `study`, which are those of `paper` on its map.
///
/// # Errors
/// If a run is missing.
pub fn mapped(paper: &Paper, map: &Map, study: &Study) -> Result<Mapped> {
    let places = paper.places(map);
    let mut gains = Vec::new();
    for place in &places {
        let of_all = gains_of(paper, study, &map.gain(&map.settings(place)))?;
        gains.push(*of_all.get(&place.workload).ok_or(Error::NothingToCompare)?);
    }
    let scale = |axis: &Axis, value: fn(&Place) -> &str| -> Result<Scale> {
        let texts = paper.along(axis).to_vec();
        let at = |text: &String| -> Result<f64> {
            let Some(metric) = &axis.metric else { return number(text) };
            let own: Vec<&Place> = places.iter().filter(|place| value(place) == text).collect();
            let values = own.iter().map(|place| {
                let plain = format!("{}{}", map.over, map.settings(place));
                let of_all = study.metric(&plain, metric)?;
                of_all.get(&place.workload).copied().ok_or(Error::NothingToCompare)
            });
            let values = values.collect::<Result<Vec<f64>>>()?;
            Ok(values.iter().sum::<f64>() / values.len() as f64)
        };
        let metric = texts.iter().map(at).collect::<Result<Vec<f64>>>()?;
        Ok(Scale { texts, metric })
    };
    let across = scale(&map.across, |place| &place.across)?;
    let up = scale(&map.up, |place| &place.up)?;
    Ok(Mapped { gains, across, up })
}

/// Positions the workloads of `study`, whose runs are those of `paper` off its map.
///
/// # Errors
/// If an expression does not fit the results.
pub fn placed(
    paper: &Paper,
    map: &Map,
    machine: &Machine,
    mapped: &Mapped,
    study: &Study,
) -> Result<Vec<Placed>> {
    let metrics = [&map.across, &map.up].map(|axis| metric_of(map, axis, machine, study));
    let [across, up] = metrics;
    let (across, up) = (across?, up?);
    let mut all = Vec::new();
    let gains = gains_of(paper, study, &map.gain(""))?;
    for workload in study.workloads() {
        let Some(&measured) = gains.get(workload) else { continue };
        let metrics = [across.get(workload).copied(), up.get(workload).copied()];
        let (x, y) = (mapped.across.locate(metrics[0]), mapped.up.locate(metrics[1]));
        all.push(Placed {
            workload: workload.clone(),
            metrics,
            at: [x.0, y.0],
            is_beyond: x.1 || y.1,
            mapped: mapped.at(x.0, y.0),
            measured,
        });
    }
    Ok(all)
}

/// Computes the gain of `runs` for each workload, %.
fn gains_of(paper: &Paper, study: &Study, runs: &Runs) -> Result<HashMap<String, Measured>> {
    Ok(Samples::of(paper, study, runs)?.measured_each(Shown::Change).collect())
}

/// Returns the quantity that positions each workload on an axis.
fn metric_of(
    map: &Map,
    axis: &Axis,
    machine: &Machine,
    study: &Study,
) -> Result<HashMap<String, f64>> {
    if let Some(metric) = &axis.metric {
        return study.metric(&map.over, metric);
    }
    let key = axis.key.as_deref().unwrap_or_default();
    let found = flatten(machine).into_iter().find(|(known, _)| known == key);
    let value = found.and_then(|(_, value)| value.as_integer()).map(|value| value as f64);
    let of = |name: &String| Some((name.clone(), value?));
    Ok(study.workloads().iter().filter_map(of).collect())
}

impl Scale {
    /// Finds the position of a metric in values of the axis, counted from 0, and whether it is
    /// beyond an end. Without a metric, the lowest end.
    fn locate(&self, value: Option<f64>) -> (f64, bool) {
        let Some(value) = value else { return (0.0, true) };
        let last = self.metric.len() - 1;
        let is_falling = self.metric[last] < self.metric[0];
        let sign = if is_falling { -1.0 } else { 1.0 };
        let metric = |at: usize| sign * self.metric[at];
        let value = sign * value;
        if value <= metric(0) {
            return (0.0, value < metric(0));
        }
        for at in 0..last {
            let (low, high) = (metric(at), metric(at + 1));
            if value <= high && high > low {
                return (at as f64 + (value - low).max(0.0) / (high - low), false);
            }
        }
        (last as f64, value > metric(last))
    }
}

impl Mapped {
    /// Interpolates the gain between points, %.
    fn at(&self, x: f64, y: f64) -> f64 {
        let (columns, rows) = (self.across.texts.len(), self.up.texts.len());
        let of = |column: usize, row: usize| {
            self.gains[row.min(rows - 1) * columns + column.min(columns - 1)].mean
        };
        let (column, row) = (x.floor() as usize, y.floor() as usize);
        let (dx, dy) = (x - x.floor(), y - y.floor());
        let along = |row| of(column, row) * (1.0 - dx) + of(column + 1, row) * dx;
        along(row) * (1.0 - dy) + along(row + 1) * dy
    }

    fn frame(&self, map: &Map) -> Result<DataFrame> {
        let columns = self.across.texts.len();
        let across = |at: usize| self.across.texts[at % columns].clone();
        let up = |at: usize| self.up.texts[at / columns].clone();
        let all = 0..self.gains.len();
        let mut frame = df!(
            "across" => all.clone().map(across).collect::<Vec<_>>(),
            "up" => all.clone().map(up).collect::<Vec<_>>(),
            "gain" => self.gains.iter().map(|gain| gain.mean).collect::<Vec<_>>(),
            "noise" => self.gains.iter().map(|gain| gain.noise).collect::<Vec<_>>(),
        )?;
        for (name, label) in [("across", &map.across.label), ("up", &map.up.label)] {
            frame.rename(name, label.as_str().into())?;
        }
        Ok(frame)
    }

    /// Formats the gains as rows of text, the highest row first, as the map is drawn.
    pub fn rows(&self, map: &Map) -> Vec<Vec<String>> {
        let columns = self.across.texts.len();
        let heading = format!("{} \\ {}", map.up.label, map.across.label);
        let mut rows = vec![[vec![heading], self.across.texts.clone()].concat()];
        for (at, gains) in self.gains.chunks(columns).enumerate().rev() {
            let cell = |gain: &Measured| {
                let noise = gain.noise.map_or(String::new(), |noise| format!(" ± {noise:.1}"));
                format!("{}{noise} %", signed(gain.mean))
            };
            let cells = gains.iter().map(cell).collect();
            rows.push([vec![self.up.texts[at].clone()], cells].concat());
        }
        rows
    }

    fn chart(&self, paper: &Paper, map: &Map, placed: &[Placed]) -> Result<Chart> {
        let mut frame = self.frame(map)?;
        let shown: Vec<f64> = self.gains.iter().map(|gain| tenths(gain.mean)).collect();
        frame.with_column(Column::new("gain".into(), shown))?;
        let caption = format!(
            "IPC, {} over {}, of the kernel `{}` on `{}`. Numbers mark workloads.",
            map.of, map.over, map.kernel, paper.machine
        );
        let axis = |label: &str| warpmem_chart::Axis::new(label, "");
        let marks = placed
            .iter()
            .map(|one| Mark { label: one.workload.clone(), at: (one.at[0], one.at[1]) });
        let kind = HeatMap::new(
            map.across.label.as_str(),
            map.up.label.as_str(),
            "gain",
            axis(&map.across.label),
            axis(&map.up.label),
            warpmem_chart::Axis::new("change of IPC", "%"),
        );
        let kind = kind.marks(marks);
        let title = format!("Where {} gains", map.of);
        Ok(Chart::new("map", title, caption, frame, kind))
    }
}

/// Rounds a gain to the precision of a cell; further digits are below the noise.
fn tenths(gain: f64) -> f64 {
    (10.0 * gain).round() / 10.0
}

/// A map with the workloads on it.
pub struct MapResults<'a> {
    pub paper: &'a Paper,
    pub map: &'a Map,
    pub mapped: &'a Mapped,
    pub placed: &'a [Placed],
}

impl MapResults<'_> {
    /// Makes a frame with a row for each point: its values, the gain and its noise, %.
    ///
    /// # Errors
    /// If the dataframe engine fails.
    pub fn gains(&self) -> Result<DataFrame> {
        self.mapped.frame(self.map)
    }

    /// Makes a frame with a row for each workload: its number on the map, the metrics that position
    /// it, and the gain of the map next to the measured one, %.
    ///
    /// # Errors
    /// If the dataframe engine fails.
    pub fn workloads(&self) -> Result<DataFrame> {
        let MapResults { map, placed, .. } = self;
        let numbers = |of: fn(&Placed) -> Option<f64>| placed.iter().map(of).collect::<Vec<_>>();
        let mut frame = df!(
            "number" => (1..=placed.len() as u64).collect::<Vec<_>>(),
            "workload" => placed.iter().map(|one| one.workload.as_str()).collect::<Vec<_>>(),
            "across" => numbers(|one| one.metrics[0]),
            "up" => numbers(|one| one.metrics[1]),
            "is_beyond" => placed.iter().map(|one| one.is_beyond).collect::<Vec<_>>(),
            "mapped" => numbers(|one| Some(one.mapped)),
            "measured" => numbers(|one| Some(one.measured.mean)),
            "noise" => numbers(|one| one.measured.noise),
            "is_as_mapped" => placed.iter().map(Placed::is_as_mapped).collect::<Vec<_>>(),
        )?;
        for (name, axis) in [("across", &map.across), ("up", &map.up)] {
            let metric = axis.metric.as_ref().or(axis.key.as_ref()).unwrap_or(&axis.label);
            frame.rename(name, metric.as_str().into())?;
        }
        Ok(frame)
    }

    fn sections(&self) -> Result<Vec<Section>> {
        let about = Prose::new(self.map.about.trim());
        let gains = Table::new("map", "Change of IPC, %", self.gains()?);
        let mut sections = vec![Section::new("map", "Map").text(about).table(gains)];
        if !self.placed.is_empty() {
            let workloads = Table::new("workloads", "Workloads on the map", self.workloads()?);
            sections.push(Section::new("workloads", "Workloads").table(workloads));
        }
        Ok(sections)
    }
}

/// Writes the map and the workloads as CSV, the chart, and a page with everything.
///
/// # Errors
/// If a file cannot be written.
pub fn write_map(results: &MapResults<'_>, directory: &Path) -> Result<()> {
    write_csv(&results.gains()?, directory.join(GAINS))?;
    if !results.placed.is_empty() {
        write_csv(&results.workloads()?, directory.join(PLACED))?;
    }
    let chart = results.mapped.chart(results.paper, results.map, results.placed)?;
    report::page(results.paper, results.sections()?, vec![chart], directory)
}

impl Placed {
    /// Returns whether the measured gain equals that of the map, within its noise and a percentage
    /// point, or both are gains or both losses beyond that.
    pub fn is_as_mapped(&self) -> bool {
        let margin = NEAR + self.measured.noise.unwrap_or(0.0);
        let (mapped, measured) = (self.mapped, self.measured.mean);
        let is_near = (mapped - measured).abs() <= margin;
        is_near || mapped.abs() > NEAR && measured.abs() > margin && mapped * measured > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(metric: &[f64]) -> Scale {
        let texts = metric.iter().map(f64::to_string).collect();
        Scale { texts, metric: metric.to_vec() }
    }

    #[test]
    fn workload_is_placed_by_its_own_metric() {
        let rising = scale(&[0.0, 10.0, 30.0]);
        assert_eq!(rising.locate(Some(5.0)), (0.5, false));
        assert_eq!(rising.locate(Some(20.0)), (1.5, false));
        assert_eq!(rising.locate(Some(30.0)), (2.0, false));
        assert_eq!(rising.locate(Some(40.0)), (2.0, true));
        assert_eq!(rising.locate(Some(-1.0)), (0.0, true));
        assert_eq!(rising.locate(None), (0.0, true));
        assert_eq!(scale(&[30.0, 10.0, 0.0]).locate(Some(20.0)), (0.5, false));
    }

    /// A metric need not be monotonic: the first position with the value counts.
    #[test]
    fn non_monotonic_axes_use_the_first_matching_position() {
        let level = scale(&[0.0, 0.0, 10.0, 8.0, 20.0]);
        assert_eq!(level.locate(Some(5.0)), (1.5, false));
        assert_eq!(level.locate(Some(14.0)), (3.5, false));
    }

    #[test]
    fn gains_between_places_are_interpolated() {
        let of = |mean| Measured { mean, noise: None };
        let gains = [0.0, 10.0, 20.0, 50.0].map(of).to_vec();
        let mapped = Mapped { gains, across: scale(&[1.0, 2.0]), up: scale(&[1.0, 2.0]) };
        assert_eq!(mapped.at(0.5, 0.0), 5.0);
        assert_eq!(mapped.at(0.5, 1.0), 35.0);
        assert_eq!(mapped.at(0.5, 0.5), 20.0);
        assert_eq!(mapped.at(1.0, 1.0), 50.0);
    }

    #[test]
    fn mapped_gain_agrees_in_size_or_sign() {
        let of = |mapped, mean| Placed {
            workload: String::new(),
            metrics: [None; 2],
            at: [0.0; 2],
            is_beyond: false,
            mapped,
            measured: Measured { mean, noise: Some(0.5) },
        };
        assert!(of(0.2, 1.5).is_as_mapped());
        assert!(of(12.0, 4.0).is_as_mapped());
        assert!(!of(12.0, 0.5).is_as_mapped());
        assert!(!of(3.0, -3.0).is_as_mapped());
        assert!(!of(0.0, 5.0).is_as_mapped());
    }
}
