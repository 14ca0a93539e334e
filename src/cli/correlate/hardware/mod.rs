//! `warpmem correlate --hardware`: measurements on a GPU against results of our machine.

mod ours;
mod table;

use super::Args;
use crate::cli::files::InputFile;
use crate::cli::format::{self, Format};
use crate::cli::output::{note, print};
use crate::device::device_of;
use crate::hardware::{
    Difference, Measured, ResultsFile, Row, differences, measurement, preset_of, rows, summary,
};
use crate::machine::{Machine, load};
use crate::slots::List;
use crate::study::correlate::WITHOUT_LAUNCHES;
use anyhow::{bail, ensure};
use clap::ValueHint;
use std::path::Path;

/// A GPU as the reference.
#[derive(clap::Args, Clone, Debug)]
pub struct Hardware {
    /// Measurements on a GPU, as `warpmem hardware` writes them
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["references", "machines", "dram_schedulers", "traces", "trace", "cache", "results", "speed", "orders", "kernels", "plot"])]
    pub hardware: Option<InputFile>,
    /// Compare even if the machine's SMs, L2 or DRAM differ from the GPU's
    #[arg(long, requires = "hardware")]
    other_machine: bool,
}

/// Relative difference below which clocks count as equal.
const SAME_CLOCK: f64 = 0.02;

pub fn execute(args: &Args, path: &Path) -> anyhow::Result<()> {
    let results = ResultsFile::read(path)?;
    let chosen = chosen(args, &results)?;
    let (name, machine) = machine(args, &results)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let ours = ours::run_all(args, &chosen, folder, (&name, &machine))?;
    note_clocks(&name, &machine, &chosen);
    let rows: Vec<Row> = chosen.iter().zip(&ours).flat_map(|(one, ours)| rows(one, ours)).collect();
    let compared = table::Compared {
        device: &results.device.name,
        machine: &name,
        summary: summary(&rows),
        rows,
    };
    print(&match args.format {
        Format::Table => compared.text(),
        Format::Json => compared.json()?,
        Format::Csv => format::csv(&compared.csv_rows()?),
    })
}

/// Returns the requested measurements of the file.
fn chosen<'r>(args: &Args, results: &'r ResultsFile) -> anyhow::Result<Vec<&'r Measured>> {
    let has = |name: &str| results.measurements.iter().any(|measured| measured.name == name);
    let named = |list: &Option<List>| list.as_ref().map(|List(names)| names.clone());
    let (only, exclude) = (named(&args.choice.only), named(&args.choice.exclude));
    let mut unknown = only.iter().chain(&exclude).flatten().filter(|name| !has(name));
    if let Some(name) = unknown.next() {
        let names: Vec<&str> =
            results.measurements.iter().map(|measured| measured.name.as_str()).collect();
        bail!("`{name}` was not measured; the file has: {}", names.join(", "));
    }
    let wanted = |measured: &&Measured| {
        only.as_ref().is_none_or(|only| only.contains(&measured.name))
            && !exclude.as_ref().is_some_and(|exclude| exclude.contains(&measured.name))
    };
    let chosen: Vec<&Measured> = results.measurements.iter().filter(wanted).collect();
    ensure!(!chosen.is_empty(), "no measurement is left");
    let built_in = chosen.iter().filter(|measured| measured.launch_file.is_none());
    built_in.map(|measured| measurement(&measured.name)).collect::<Result<Vec<_>, _>>()?;
    Ok(chosen)
}

/// Returns the machine that models the device, with its name.
fn machine(args: &Args, results: &ResultsFile) -> anyhow::Result<(String, Machine)> {
    let device = &results.device;
    let mapped = args.choice.map.iter().rev().find(|(name, _)| *name == device.name);
    let name = args.choice.machine.as_deref().or(mapped.map(|(_, machine)| machine.as_str()));
    let Some(name) = name.or_else(|| preset_of(&device.name)) else {
        bail!(
            "no machine is known for the GPU `{name}`: name one with --machine, or with \
             --map '{name}=MACHINE'",
            name = device.name
        );
    };
    let given = args.overrides.overrides.iter().cloned();
    let own = WITHOUT_LAUNCHES.map(str::to_owned);
    let overrides: Vec<String> = own.into_iter().chain(given).collect();
    let machine = load(name, &overrides)?;
    machine.validate_all_launches()?;
    let [major, minor] = device.compute_capability;
    let differences = differences(device, &device_of(&machine, (major, minor)));
    if !differences.is_empty() {
        let listed = listed(&differences, name);
        if !args.hardware.other_machine {
            bail!(
                "`{name}` differs from the GPU `{}`{listed}\n\
                 --set changes the machine, --other-machine compares anyway",
                device.name
            );
        }
        note(&format!("note: `{name}` differs from `{}`{listed}", device.name));
    }
    Ok((name.to_owned(), machine))
}

fn listed(differences: &[Difference], machine: &str) -> String {
    let line = |Difference { keys, device, machine: ours }: &Difference| {
        format!("\n  {keys}: {device} on the GPU, {ours} on `{machine}`")
    };
    differences.iter().map(line).collect()
}

/// Notes measurements at another SM clock, at which DRAM latency takes a different number of
/// cycles.
fn note_clocks(name: &str, machine: &Machine, chosen: &[&Measured]) {
    let ours = f64::from(machine.clocks.core_mhz);
    let clocks = chosen.iter().map(|measured| measured.samples.clock_mhz);
    let farthest = clocks.max_by(|a, b| (a - ours).abs().total_cmp(&(b - ours).abs()));
    let Some(mhz) = farthest.filter(|mhz| (mhz - ours).abs() > SAME_CLOCK * ours) else { return };
    note(&format!(
        "note: the SMs of the GPU ran at {mhz:.0} MHz, those of `{name}` run at {ours:.0} MHz: DRAM latencies differ in cycles; --set clocks.core_mhz={mhz:.0} removes the difference"
    ));
}
