//! Machines, workloads and policies, and how to run each again.

use crate::cli::report::document::{Prose, Section};
use crate::cli::report::frame::{distinct, is_one_of};
use crate::cli::report::limits::Shown;
use crate::cli::report::study::{SETTING, Study};
use crate::cli::report::table::{Table, spelled};
use crate::cli::slots::SLOTS;
use anyhow::Context;
use polars::prelude::*;
use serde_json::{Map, Value};
use warpmem_analysis::polars;

pub fn section(study: &Study, shown: &Shown) -> anyhow::Result<Section> {
    let section = Section::new("runs", "What was run").text(summary(study)?);
    let section =
        if study.slots.len() < SLOTS.len() { section.text(held(study)?) } else { section };
    Ok(section
        .table(machines(study)?)
        .table(workloads(study)?)
        .table(parameters(study, shown)?)
        .table(commands(study)?))
}

fn summary(study: &Study) -> anyhow::Result<Prose> {
    let versions = distinct(&study.runs, "engine_version")?;
    let mut prose = Prose::new(format!("{} of ", counted(study.runs.height(), "run")))
        .words(counted(study.traces.len(), "workload"))
        .words(" on ")
        .codes(distinct(&study.runs, "machine")?)
        .words(", made by Warpmem ")
        .codes(versions)
        .words(".");
    for slot in &study.slots {
        let policies = distinct(&study.runs, slot)?;
        let count = counted(policies.len(), &spelled(slot));
        prose = prose.words(format!(" {count}: ")).codes(policies).words(".");
    }
    let seeds = study.runs.column("seed")?;
    let seeds = seeds.unique_stable()?;
    let seeds: Vec<String> = seeds.i64()?.iter().flatten().map(|seed| seed.to_string()).collect();
    Ok(match seeds.is_empty() {
        true => {
            prose.words(" No policy draws numbers, so that the same command gives the same run.")
        }
        false => prose.words(" Seeds: ").codes(seeds).words("."),
    })
}

/// `1 run`, `2 policies`
pub fn counted(count: usize, what: &str) -> String {
    match (count, what.strip_suffix('y')) {
        (1, _) => format!("1 {what}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        _ => format!("{count} {what}s"),
    }
}

/// Policies of the slots that do not vary.
fn held(study: &Study) -> anyhow::Result<Prose> {
    let mut prose = Prose::new("The same in all runs:");
    let mut between = " ";
    for slot in SLOTS
        .iter()
        .map(|slot| slot.name)
        .filter(|name| !study.slots.iter().any(|slot| slot == name))
    {
        prose = prose.words(between).words(spelled(slot) + " ").codes(distinct(&study.runs, slot)?);
        between = ", ";
    }
    Ok(prose.words("."))
}

/// Parameters of machines that readers look for first: title, unit, definition, value.
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
        title: "LLC",
        unit: "KiB",
        definition: "Size of all LLC slices together.",
        of: |p| {
            Some(
                number(p, "llc.cache.size_bytes")?
                    * number(p, "llc.slices_per_channel")?
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
        definition: "Places of a DRAM channel's read queue.",
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

/// A row per machine and set of overrides.
fn machines(study: &Study) -> anyhow::Result<Table> {
    let keys = [col("machine"), col("overrides")];
    let settings = study
        .runs
        .clone()
        .lazy()
        .group_by_stable(keys)
        .agg([len().alias("runs"), col("parameters").first()]);
    let settings = settings.collect()?;
    let parameters = settings.column("parameters")?.str()?.iter().map(parsed);
    let parameters = parameters.collect::<anyhow::Result<Vec<_>>>()?;
    let standard =
        |p: &Map<String, Value>| p.get("dram.standard").and_then(Value::as_str).map(str::to_owned);
    let standards: Vec<Option<String>> = parameters.iter().map(standard).collect();
    let mut frame = settings.drop("parameters")?;
    frame.with_column(Column::new("DRAM standard".into(), standards))?;
    for Figure { title, of, .. } in &FIGURES {
        let values: Vec<Option<f64>> = parameters.iter().map(of).collect();
        frame.with_column(Column::new((*title).into(), values))?;
    }
    let mut table = Table::new("machines", "Machines", frame);
    for Figure { title, unit, definition, .. } in &FIGURES {
        table.describe(title, unit, definition, 0);
    }
    table.describe("runs", "", "Runs on this machine with these overrides.", 0);
    table.describe("peak bandwidth", "GB/s", FIGURES[8].definition, 1);
    Ok(table)
}

fn parsed(parameters: Option<&str>) -> anyhow::Result<Map<String, Value>> {
    let text = parameters.unwrap_or("{}");
    serde_json::from_str(text).context("the column `parameters` of `runs` is not a JSON object")
}

/// A row per trace. What a trace holds is the same in all its runs.
fn workloads(study: &Study) -> anyhow::Result<Table> {
    let of_trace =
        ["kernels", "ctas", "warp_instructions", "thread_instructions", "memory_instructions"];
    let columns: Vec<Expr> = of_trace.map(|name| col(name).first()).into();
    let keys = ["trace", "trace_hash"].map(col);
    let frame = study.runs.clone().lazy().group_by_stable(keys).agg(columns).collect()?;
    Ok(Table::new("workloads", "Workloads", frame))
}

/// A row per parameter, a column per machine.
fn parameters(study: &Study, shown: &Shown) -> anyhow::Result<Table> {
    let of_settings = study.runs.clone().lazy().filter(is_one_of(SETTING, &shown.settings));
    let of_settings =
        of_settings.group_by_stable([col(SETTING)]).agg([col("parameters").first()]).collect()?;
    let names = distinct(&of_settings, SETTING)?;
    let all = of_settings.column("parameters")?.str()?.iter().map(parsed);
    let all = all.collect::<anyhow::Result<Vec<_>>>()?;
    let is_machines = |key: &&String| !key.starts_with("policy.") && *key != "name";
    let mut keys: Vec<&String> = all.iter().flat_map(Map::keys).filter(is_machines).collect();
    keys.sort();
    keys.dedup();
    let value = |parameters: &Map<String, Value>, key: &String| match parameters.get(key) {
        Some(Value::String(text)) => Some(text.clone()),
        other => other.map(Value::to_string),
    };
    let mut columns = vec![Column::new(
        "parameter".into(),
        keys.iter().map(|key| key.as_str()).collect::<Vec<_>>(),
    )];
    for (name, parameters) in names.iter().zip(&all) {
        let values: Vec<Option<String>> = keys.iter().map(|key| value(parameters, key)).collect();
        columns.push(Column::new(name.as_str().into(), values));
    }
    let frame = DataFrame::new(keys.len(), columns)?;
    Ok(Table::new("parameters", "All parameters of the machines", frame).folded())
}

fn commands(study: &Study) -> anyhow::Result<Table> {
    let columns = study.keys().into_iter().chain(["run_id", "engine_version", "command"]);
    let frame = study.runs.select(columns.collect::<Vec<_>>())?;
    Ok(Table::new("commands", "The command that makes each run", frame).folded())
}
