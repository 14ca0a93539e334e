//! Machines, workloads and policies, and the commands that repeat each run.

use crate::columns::OVERRIDES;
use crate::document::Section;
use crate::frame::distinct;
use crate::limits::Shown;
use crate::prose::Prose;
use crate::study::{Study, name_in};
use crate::table::{Table, spelled};
use anyhow::Context;
use polars::prelude::*;
use serde_json::{Map, Value};
use warpmem_analysis::polars;
use warpmem_gpu::slots::SLOTS;
use warpmem_support::text::counted;

pub fn section(study: &Study, shown: &Shown) -> anyhow::Result<Section> {
    let setups = setups(study)?;
    let section = Section::new("runs", "What was run").text(summary(study)?);
    let section =
        if study.slots.len() < SLOTS.len() { section.text(held(study)?) } else { section };
    Ok(section
        .table(machines(&setups)?)
        .table(workloads(study)?)
        .table(parameters(study, &setups, shown)?)
        .table(commands(study)?))
}

fn summary(study: &Study) -> anyhow::Result<Prose> {
    let versions = distinct(&study.runs, "engine_version")?;
    let mut prose = Prose::new(format!("{} of ", counted(study.runs.height(), "run")))
        .words(counted(study.workload_names.len(), "workload"))
        .words(" on ")
        .codes(distinct(&study.runs, "machine")?)
        .words(", made by Warpmem ")
        .codes(versions)
        .words(".");
    for slot in &study.slots {
        let policies =
            distinct(&study.runs.clone().lazy().select([name_in(slot)]).collect()?, slot)?;
        let count = match slot.as_str() {
            OVERRIDES => format!("{} of parameters", counted(policies.len(), "setting")),
            slot => counted(policies.len(), &spelled(slot)),
        };
        prose = prose.words(format!(" {count}: ")).codes(policies).words(".");
    }
    let seeds = study.runs.column("seed")?;
    let seeds = seeds.unique_stable()?;
    let seeds: Vec<String> = seeds.i64()?.iter().flatten().map(|seed| seed.to_string()).collect();
    Ok(match seeds.is_empty() {
        true => {
            prose.words(" Policies that use random numbers have a fixed seed: the same command gives the same run.")
        }
        false => prose.words(" Seeds of generators: ").codes(seeds).words("."),
    })
}

/// Describes the policies of slots that are not compared: one for all runs, or one for each
/// machine.
fn held(study: &Study) -> anyhow::Result<Prose> {
    let is_compared = |name: &str| study.slots.iter().any(|slot| slot == name);
    let (mut same, mut of_machines) = (Prose::new("The same in all runs:"), Prose::default());
    let mut between = " ";
    for slot in SLOTS.iter().map(|slot| slot.name).filter(|name| !is_compared(name)) {
        let policies = distinct(&study.runs, slot)?;
        if policies.len() > 1 {
            of_machines = own(study, slot, of_machines)?;
            continue;
        }
        same = same.words(between).words(spelled(slot) + " ").codes(policies);
        between = ", ";
    }
    same = same.words(".");
    same.0.extend(of_machines.0);
    Ok(same)
}

/// Appends a sentence: the policy of each machine in the slot.
fn own(study: &Study, slot: &str, prose: Prose) -> anyhow::Result<Prose> {
    let mut prose = prose.words(format!(" By machine, the {} is ", spelled(slot)));
    let machines = distinct(&study.runs, "machine")?;
    for (at, machine) in machines.iter().enumerate() {
        let runs = study.runs.clone().lazy().filter(col("machine").eq(lit(machine.as_str())));
        let policies = distinct(&runs.collect()?, slot)?;
        let between = if at > 0 { "; " } else { "" };
        prose = prose.words(between).codes(policies).words(" on ").code(machine);
    }
    Ok(prose.words("."))
}

/// A parameter that readers look for first: title, unit, definition, value.
struct Figure {
    title: &'static str,
    unit: &'static str,
    definition: &'static str,
    of: fn(&Map<String, Value>) -> Option<f64>,
}

const FIGURES: [Figure; 9] = [
    Figure {
        title: "SMs",
        unit: "",
        definition: "Streaming multiprocessors.",
        of: |p| number(p, "sm.count"),
    },
    Figure {
        title: "core clock",
        unit: "MHz",
        definition: "Clock of the SMs.",
        of: |p| number(p, "clocks.core_mhz"),
    },
    Figure {
        title: "L1",
        unit: "KiB per SM",
        definition: "Size of the L1 data cache of an SM.",
        of: |p| Some(number(p, "l1.cache.size_bytes")? / 1024.0),
    },
    Figure {
        title: "L2",
        unit: "KiB",
        definition: "Size of all L2 slices together.",
        of: |p| {
            Some(
                number(p, "l2.cache.size_bytes")?
                    * number(p, "l2.slices_per_channel")?
                    * number(p, "dram.channels")?
                    / 1024.0,
            )
        },
    },
    Figure {
        title: "channels",
        unit: "",
        definition: "DRAM channels.",
        of: |p| number(p, "dram.channels"),
    },
    Figure {
        title: "banks",
        unit: "per channel",
        definition: "Banks of a DRAM channel.",
        of: |p| number(p, "dram.banks"),
    },
    Figure {
        title: "read queue",
        unit: "requests",
        definition: "Entries of a DRAM channel's read queue.",
        of: |p| number(p, "dram.read_queue"),
    },
    Figure {
        title: "DRAM clock",
        unit: "MHz",
        definition: "Command clock of DRAM.",
        of: |p| number(p, "clocks.dram_mhz"),
    },
    Figure {
        title: "peak bandwidth",
        unit: "GB/s",
        definition: "Bus width times transfers per second of all DRAM channels; 1 GB is 10^9 bytes.",
        of: |p| {
            let channel = number(p, "dram.bus_bytes")?
                * number(p, "dram.transfers_per_clock")?
                * number(p, "clocks.dram_mhz")?;
            Some(channel * number(p, "dram.channels")? / 1000.0)
        },
    },
];

fn number(parameters: &Map<String, Value>, key: &str) -> Option<f64> {
    parameters.get(key)?.as_f64()
}

/// The configuration of some of the runs.
struct Setup {
    machine: String,
    overrides: String,
    /// Parameters without policies.
    parameters: Map<String, Value>,
    runs: u32,
}

/// Collects the setups of the runs in order of first appearance.
fn setups(study: &Study) -> anyhow::Result<Vec<Setup>> {
    let keys = ["machine", OVERRIDES, "parameters"].map(col);
    let runs = study.runs.clone().lazy().group_by_stable(keys).agg([len().alias("runs")]);
    let runs = runs.collect()?;
    let text = |name: &str, row: usize| -> anyhow::Result<String> {
        Ok(runs.column(name)?.str()?.get(row).unwrap_or_default().to_owned())
    };
    let counts = runs.column("runs")?.u32()?;
    let mut setups: Vec<Setup> = Vec::new();
    for (row, count) in counts.iter().enumerate() {
        let (machine, overrides) = (text("machine", row)?, text(OVERRIDES, row)?);
        let parameters = parsed(&text("parameters", row)?)?;
        let runs = count.unwrap_or_default();
        let is_alike = |setup: &&mut Setup| {
            (&setup.machine, &setup.overrides, &setup.parameters)
                == (&machine, &overrides, &parameters)
        };
        match setups.iter_mut().find(is_alike) {
            Some(setup) => setup.runs += runs,
            None => setups.push(Setup { machine, overrides, parameters, runs }),
        }
    }
    Ok(setups)
}

/// Parses the parameters, without the policies, which are compared.
fn parsed(text: &str) -> anyhow::Result<Map<String, Value>> {
    let text = if text.is_empty() { "{}" } else { text };
    let parameters: Map<String, Value> = serde_json::from_str(text)
        .context("the column `parameters` of `runs` is not a JSON object")?;
    Ok(parameters.into_iter().filter(|(key, _)| !key.starts_with("policy.")).collect())
}

/// Makes a table with a row per machine, overrides and parameters.
fn machines(setups: &[Setup]) -> anyhow::Result<Table> {
    let standard =
        |p: &Map<String, Value>| p.get("dram.standard").and_then(Value::as_str).map(str::to_owned);
    let standards = setups.iter().map(|setup| standard(&setup.parameters));
    let mut frame = df!(
        "machine" => setups.iter().map(|setup| setup.machine.as_str()).collect::<Vec<_>>(),
        OVERRIDES => setups.iter().map(|setup| setup.overrides.as_str()).collect::<Vec<_>>(),
        "runs" => setups.iter().map(|setup| setup.runs).collect::<Vec<_>>(),
        "DRAM standard" => standards.collect::<Vec<_>>(),
    )?;
    for Figure { title, of, .. } in &FIGURES {
        let values: Vec<Option<f64>> = setups.iter().map(|setup| of(&setup.parameters)).collect();
        frame.with_column(Column::new((*title).into(), values))?;
    }
    let mut table = Table::new("machines", "Machines", frame);
    for Figure { title, unit, definition, .. } in &FIGURES {
        table.describe(title, unit, definition, 0);
    }
    table.describe("runs", "", "Runs on this machine with these overrides and parameters.", 0);
    table.describe("peak bandwidth", "GB/s", FIGURES[8].definition, 1);
    Ok(table)
}

/// Makes a table with a row per trace, whose contents are equal in all its runs.
fn workloads(study: &Study) -> anyhow::Result<Table> {
    let of_trace =
        ["kernels", "ctas", "warp_instructions", "thread_instructions", "memory_instructions"];
    let columns: Vec<Expr> = of_trace.map(|name| col(name).first()).into();
    let keys = ["trace", "trace_hash"].map(col);
    let frame = study.runs.clone().lazy().group_by_stable(keys).agg(columns).collect()?;
    Ok(Table::new("workloads", "Workloads", frame))
}

/// Makes a table with a row per parameter and a column per setting.
fn parameters(study: &Study, setups: &[Setup], shown: &Shown) -> anyhow::Result<Table> {
    let mut keys: Vec<&String> = setups.iter().flat_map(|setup| setup.parameters.keys()).collect();
    keys.retain(|key| *key != "name");
    keys.sort();
    keys.dedup();
    let mut columns = vec![Column::new(
        "parameter".into(),
        keys.iter().map(|key| key.as_str()).collect::<Vec<_>>(),
    )];
    for setting in &shown.settings {
        let is_its = |setup: &&Setup| study.setting(&setup.machine, &setup.overrides) == *setting;
        let its: Vec<&Setup> = setups.iter().filter(is_its).collect();
        let values: Vec<Option<String>> = keys.iter().map(|key| values(&its, key)).collect();
        columns.push(Column::new(setting.as_str().into(), values));
    }
    let frame = DataFrame::new(keys.len(), columns)?;
    Ok(Table::new("parameters", "All parameters of the machines", frame).folded())
}

/// Formats the values of a parameter within a setting, if its runs differ in it; the first few of
/// many.
fn values(setups: &[&Setup], key: &str) -> Option<String> {
    const TOLD: usize = 4;
    let value = |setup: &&Setup| match setup.parameters.get(key) {
        Some(Value::String(text)) => Some(text.clone()),
        other => other.map(Value::to_string),
    };
    let mut values: Vec<String> = Vec::new();
    for value in setups.iter().filter_map(value) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let more = values.len().saturating_sub(TOLD);
    values.truncate(TOLD);
    let told = (!values.is_empty()).then(|| values.join(" or "));
    told.map(|told| if more > 0 { format!("{told} or {more} others") } else { told })
}

fn commands(study: &Study) -> anyhow::Result<Table> {
    let columns = study.keys().into_iter().chain(["run_id", "engine_version", "command"]);
    let frame = study.runs.select(columns.collect::<Vec<_>>())?;
    Ok(Table::new("commands", "The command that repeats each run", frame).folded())
}
