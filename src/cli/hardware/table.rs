//! Measurements as a printed table and as rows.

use crate::hardware::{DeviceInfo, MEASUREMENTS, Measured, MeasuredFigure, ResultsFile};
use serde_json::{Map, Value, json};
use warpmem_support::text::aligned;

/// Lists the built-in measurements, one per line.
pub fn list() -> String {
    let lines: Vec<Vec<String>> = MEASUREMENTS
        .iter()
        .map(|measurement| vec![measurement.name.to_owned(), measurement.summary.to_owned()])
        .collect();
    aligned(&lines, &[])
}

/// Describes a device: `NVIDIA L40S: compute capability 8.9, 142 SMs, …`.
pub fn device(device: &DeviceInfo) -> String {
    let [major, minor] = device.compute_capability;
    format!(
        "{}: compute capability {major}.{minor}, {} SMs, L2 {} MiB, DRAM {:.0} GB/s, CUDA {}.{}",
        device.name,
        device.sms,
        device.l2_bytes >> 20,
        device.peak_bytes_per_second() / 1e9,
        device.driver_version / 1000,
        device.driver_version % 1000 / 10
    )
}

/// Formats all figures with their ranges.
pub fn results(results: &ResultsFile) -> String {
    let heading = ["measurement", "figure", "unit", "median", "least", "most", "SM clock, MHz"];
    let mut lines = vec![heading.map(str::to_owned).to_vec()];
    for (measured, figure) in figures(results) {
        let [least, most] = figure.range();
        let numbers = [figure.median, least, most].map(|value| figure.unit.shown(value));
        let names = [&measured.name, &figure.name, figure.unit.name()].map(str::to_owned);
        let clock = format!("{:.0}", measured.samples.clock_mhz);
        lines.push(names.into_iter().chain(numbers).chain([clock]).collect());
    }
    aligned(&lines, &[3, 4, 5, 6])
}

/// Makes a row for each figure.
pub fn rows(results: &ResultsFile) -> Vec<Map<String, Value>> {
    let row = |(measured, figure): (&Measured, &MeasuredFigure)| {
        let [least, most] = figure.range();
        let values = [
            ("measurement", json!(measured.name)),
            ("figure", json!(figure.name)),
            ("unit", json!(figure.unit)),
            ("median", json!(figure.median)),
            ("least", json!(least)),
            ("most", json!(most)),
            ("samples", json!(figure.samples.len())),
            ("clock_mhz", json!(measured.samples.clock_mhz)),
        ];
        values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    };
    figures(results).map(row).collect()
}

fn figures(results: &ResultsFile) -> impl Iterator<Item = (&Measured, &MeasuredFigure)> {
    results
        .measurements
        .iter()
        .flat_map(|measured| measured.samples.figures.iter().map(move |figure| (measured, figure)))
}
