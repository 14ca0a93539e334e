//! The formats of profiles: the columns from which the launches are read.

use super::error::ProfileError;
use super::launch::{Extent, Launch};
use super::number::DecimalMark;
use super::readings::{Name, Readings};
use super::table::{Row, Table};
use csv::StringRecord;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

/// The program that made a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Profiler {
    NsightCompute,
    Nvprof,
}

#[derive(Clone, Copy)]
enum Format {
    /// Nsight Compute, a row per metric (`--csv`).
    Long,
    /// Nsight Compute, a row per launch (`--page raw --csv`).
    Wide,
    /// nvprof, a row per launch (`--print-gpu-trace --csv`).
    Trace,
    /// nvprof, a row per kernel and metric (`--metrics … --csv`).
    Metrics,
}

impl Format {
    /// Recognizes a header.
    fn of(header: &StringRecord) -> Option<Format> {
        let has = |name: &str| header.iter().any(|column| column == name);
        let has_all = |names: &[&str]| names.iter().all(|name| has(name));
        if has_all(&["ID", "Kernel Name", "Metric Name"]) {
            Some(Format::Long)
        } else if has_all(&["ID", "Kernel Name"]) {
            Some(Format::Wide)
        } else if has_all(&["Duration", "Grid X", "Name"]) {
            Some(Format::Trace)
        } else if has_all(&["Kernel", "Invocations", "Metric Name"]) {
            Some(Format::Metrics)
        } else {
            None
        }
    }
}

/// Reads the launches of a profile in the order of their first rows.
pub(super) fn launches(path: &Path, text: &str) -> Result<(Profiler, Vec<Launch>), ProfileError> {
    let table = Table::read(path, text, |header| Format::of(header).is_some())?;
    let names: StringRecord = table.columns().map(|(_, name)| name).collect();
    let format = Format::of(&names).expect("the header was recognized");
    let (profiler, launches) = match format {
        Format::Long => (Profiler::NsightCompute, long(&table)?),
        Format::Wide => (Profiler::NsightCompute, wide(&table)?),
        Format::Trace => (Profiler::Nvprof, trace(&table)?),
        Format::Metrics => (Profiler::Nvprof, metrics(&table)?),
    };
    let launches: Vec<Launch> =
        launches.into_iter().filter(|launch| !launch.readings.is_empty()).collect();
    if launches.is_empty() {
        return Err(ProfileError::NoLaunch { path: path.to_owned() });
    }
    Ok((profiler, launches))
}

fn long(table: &Table) -> Result<Vec<Launch>, ProfileError> {
    let [id, name] = [table.required("ID")?, table.required("Kernel Name")?];
    let metric = table.required("Metric Name")?;
    let [unit, value] = [table.required("Metric Unit")?, table.required("Metric Value")?];
    let process = table.column("Process ID");
    let sizes = Sizes::of(table);
    let cells = table.rows.iter().map(|row| (row, row.field(metric), row.field(value)));
    let values = Values::of(table.path, cells)?;
    let mut launches: Vec<Launch> = Vec::new();
    let mut known: HashMap<(usize, &str, &str, &str), usize> = HashMap::new();
    for row in &table.rows {
        let process = process.map_or("", |column| row.field(column));
        let launch = match known.entry((row.section, process, row.field(id), row.field(name))) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                launches.push(sizes.launch(row, row.field(name)));
                *new.insert(launches.len() - 1)
            }
        };
        let (metric, value) = (row.field(metric), row.field(value));
        launches[launch].add_size(metric, value);
        values.add(&mut launches[launch].readings, row, metric, row.field(unit), value)?;
    }
    Ok(launches)
}

fn wide(table: &Table) -> Result<Vec<Launch>, ProfileError> {
    let [id, name] = [table.required("ID")?, table.required("Kernel Name")?];
    let sizes = Sizes::of(table);
    let metrics: Vec<(usize, &str)> = table.columns().collect();
    let is_launch = |row: &&Row| !row.field(id).is_empty();
    let cells = table.rows.iter().filter(is_launch);
    let cells =
        cells.flat_map(|row| metrics.iter().map(move |&(at, name)| (row, name, row.field(at))));
    let values = Values::of(table.path, cells)?;
    let mut launches = Vec::new();
    // The row of units has no ID.
    let mut units: Option<&Row> = None;
    for row in &table.rows {
        if !is_launch(&row) {
            units = Some(row);
            continue;
        }
        let mut launch = sizes.launch(row, row.field(name));
        for &(at, metric) in &metrics {
            let unit = units.map_or("", |units| units.field(at));
            launch.add_size(metric, row.field(at));
            values.add(&mut launch.readings, row, metric, unit, row.field(at))?;
        }
        launches.push(launch);
    }
    Ok(launches)
}

fn trace(table: &Table) -> Result<Vec<Launch>, ProfileError> {
    let [duration, name] = [table.required("Duration")?, table.required("Name")?];
    let grid = columns(table, ["Grid X", "Grid Y", "Grid Z"])?;
    let block = columns(table, ["Block X", "Block Y", "Block Z"])?;
    let values = Values { path: table.path, mark: DecimalMark::Point };
    let extent = |row: &Row, columns: [usize; 3]| {
        let sizes = columns.map(|column| row.field(column).parse().ok());
        let [Some(x), Some(y), Some(z)] = sizes else { return None };
        Some(Extent::Dimensions([x, y, z]))
    };
    let (mut launches, mut unit) = (Vec::new(), "");
    for row in &table.rows {
        let kernel = row.field(name);
        if kernel.is_empty() {
            unit = row.field(duration);
            continue;
        }
        // Copies and memsets are `[CUDA memcpy HtoD]`.
        if kernel.starts_with('[') {
            continue;
        }
        let (grid, block) = (extent(row, grid), extent(row, block));
        let mut launch = Launch { grid, block, ..launch(without_number(kernel)) };
        values.add(&mut launch.readings, row, "Duration", unit, row.field(duration))?;
        launches.push(launch);
    }
    Ok(launches)
}

/// Removes the number of the launch: `add(float*) [115]`.
fn without_number(name: &str) -> &str {
    let number = name.strip_suffix(']').and_then(|name| name.rsplit_once(" ["));
    match number {
        Some((name, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    }
}

fn metrics(table: &Table) -> Result<Vec<Launch>, ProfileError> {
    let [kernel, invocations] = [table.required("Kernel")?, table.required("Invocations")?];
    let [metric, average] = [table.required("Metric Name")?, table.required("Avg")?];
    let values = Values { path: table.path, mark: DecimalMark::Point };
    let mut launches: Vec<Launch> = Vec::new();
    for row in &table.rows {
        let name = row.field(kernel);
        let known = launches.iter().position(|launch| launch.name == name);
        let at = known.unwrap_or_else(|| {
            let mean_of = Some(row.field(invocations).parse().unwrap_or(1));
            launches.push(Launch { mean_of, ..launch(name) });
            launches.len() - 1
        });
        let (value, unit) = match row.field(average).strip_suffix('%') {
            Some(value) => (value, "%"),
            None => (row.field(average), ""),
        };
        values.add(&mut launches[at].readings, row, row.field(metric), unit, value)?;
    }
    Ok(launches)
}

fn columns(table: &Table, names: [&'static str; 3]) -> Result<[usize; 3], ProfileError> {
    let [x, y, z] = names;
    Ok([table.required(x)?, table.required(y)?, table.required(z)?])
}

fn launch(name: &str) -> Launch {
    let readings = Readings::default();
    Launch { name: name.to_owned(), grid: None, block: None, mean_of: None, readings }
}

/// Columns of grid and block, which old versions lack.
struct Sizes {
    grid: Option<usize>,
    block: Option<usize>,
}

impl Sizes {
    fn of(table: &Table) -> Sizes {
        Sizes { grid: table.column("Grid Size"), block: table.column("Block Size") }
    }

    fn launch(&self, row: &Row, name: &str) -> Launch {
        let extent = |column: Option<usize>| Extent::parse(row.field(column?));
        Launch { grid: extent(self.grid), block: extent(self.block), ..launch(name) }
    }
}

impl Launch {
    /// Takes the size of grid or block from a metric, if no column has it.
    fn add_size(&mut self, metric: &str, value: &str) {
        let known = match metric {
            "launch__grid_size" | "Grid Size" => &mut self.grid,
            "launch__block_size" | "Block Size" => &mut self.block,
            _ => return,
        };
        let total = || value.replace([',', '.', ' '], "").parse().ok().map(Extent::Total);
        *known = known.take().or_else(total);
    }
}

/// The values of metrics in a file.
struct Values<'a> {
    path: &'a Path,
    mark: DecimalMark,
}

impl<'a> Values<'a> {
    /// Determines the decimal mark from the values of known metrics.
    fn of<'t>(
        path: &'a Path,
        cells: impl Iterator<Item = (&'t Row, &'t str, &'t str)>,
    ) -> Result<Values<'a>, ProfileError> {
        let known = cells.filter(|(_, metric, _)| Name::find(metric).is_some());
        let mut proof: Option<(DecimalMark, u64, &str)> = None;
        for (row, _, value) in known {
            let Some(mark) = DecimalMark::proved_by(plain(value)) else { continue };
            match proof {
                Some((before, line, text)) if before != mark => {
                    return Err(ProfileError::DecimalMarks {
                        path: path.to_owned(),
                        line: row.line,
                        found: shown(value),
                        other: line,
                        before: shown(text),
                    });
                }
                Some(_) => {}
                None => proof = Some((mark, row.line, value)),
            }
        }
        Ok(Values { path, mark: proof.map_or(DecimalMark::Point, |(mark, ..)| mark) })
    }

    /// Adds a value in base units, unless the comparison does not use its metric.
    fn add(
        &self,
        readings: &mut Readings,
        row: &Row,
        metric: &str,
        unit: &str,
        value: &str,
    ) -> Result<(), ProfileError> {
        let Some(name) = Name::find(metric).filter(|_| !is_missing(value)) else { return Ok(()) };
        let path = || self.path.to_owned();
        let Some(factor) = name.quantity.factor(unit) else {
            // A share of the peak, which the details page prints under the same name.
            if unit == "%" {
                return Ok(());
            }
            return Err(ProfileError::Unit {
                path: path(),
                line: row.line,
                metric: shown(metric),
                found: shown(unit),
                expected: name.quantity.expected(),
            });
        };
        let number = self.mark.parse(plain(value)).filter(|&number| number >= 0.0);
        let Some(number) = number else {
            return Err(ProfileError::Value {
                path: path(),
                line: row.line,
                metric: shown(metric),
                found: shown(value),
                expected: "a number",
            });
        };
        readings.add(name, number * factor);
        Ok(())
    }
}

/// Removes the values of instances: `12 (3; 4; 5)`.
fn plain(value: &str) -> &str {
    value.split_once(" (").map_or(value, |(value, _)| value).trim()
}

/// Whether the profiler had no value.
fn is_missing(value: &str) -> bool {
    let value = value.trim_start_matches("(!)").trim();
    let words = ["", "n/a", "nan", "-nan", "inf", "-inf", "no data", "<overflow>"];
    words.iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// Longest text quoted by a message, characters.
const SHOWN: usize = 60;

fn shown(text: &str) -> String {
    text.chars().take(SHOWN).collect::<String>().escape_debug().to_string()
}
