//! The columns of `runs`: one row per run.

use crate::column::{Column, count, maybe_count, ratio, text};
use crate::metrics::{self, SM_CYCLES, dram, energy, l2, latency, loads, network, quotient};
use crate::run::FinishedRun;
use crate::{ENGINE_VERSION, RunKey};
use serde_json::{Map, Value};
use warpmem_gpu::results::{CyclesError, RunResult};

/// The column of `runs` with file names.
pub(crate) const COMMAND: &str = "command";

/// Returns the columns of `runs`: key, provenance, and all scalar metrics.
pub fn run_columns() -> Vec<Column<FinishedRun>> {
    let mut columns = metrics::key::<FinishedRun>(|run| &run.key);
    columns.extend(provenance());
    columns.push(count(
        "cycles",
        "core cycles",
        "Cycles from the first CTA launch to the last CTA completion.",
        |run: &FinishedRun| run.result.core_cycles,
    ));
    columns.extend(metrics::instructions::<FinishedRun>(
        |run| run.sms.warp_instructions,
        |run| run.sms.thread_instructions,
        |run| run.result.core_cycles,
    ));
    columns.extend(launches());
    columns.extend(metrics::work::<FinishedRun>(|run| &run.sms));
    columns.extend(SM_CYCLES.into_iter().map(|(name, doc, get)| {
        ratio(name, "core cycles per SM", doc, move |run: &FinishedRun| {
            quotient(get(&run.sms), run.result.sms.len() as u64)
        })
    }));
    columns.push(metrics::schedulable_warps::<FinishedRun>(|run| &run.sms));
    columns.push(metrics::warp_fairness());
    columns.extend(loads());
    columns.extend(latency());
    columns.extend(network::run_network_columns());
    columns.extend(metrics::cache::<FinishedRun>("l1", |run| &run.sms.l1));
    columns.extend(metrics::tlb::<FinishedRun>(|run| &run.sms.tlb));
    columns.extend(metrics::walks());
    columns.extend(l2::<FinishedRun>(|run| &run.slices));
    columns.extend(dram::bank::<FinishedRun>(|run| run.banks.clone()));
    columns.extend(dram::row_sharing());
    columns.extend(dram::channel::<FinishedRun>(|run| &run.channels));
    columns.extend(dram::data::<FinishedRun>(
        |run| run.banks.clone(),
        |run| run,
        FinishedRun::dram_cycles,
    ));
    columns.extend(energy::<FinishedRun>(
        |run| run.energy(&run.channels, &run.banks),
        |run| run.bytes(&run.banks),
    ));
    columns.extend(metrics::gpu_energy());
    columns
}

/// Returns the row of `runs` for one run, with columns in order and numbers as numbers.
pub fn run_row_json(key: &RunKey, result: &RunResult) -> Map<String, Value> {
    let run = FinishedRun::new(key.clone(), result.clone());
    run_columns()
        .into_iter()
        .map(|column| {
            let value = column.json(&run);
            (column.name, value)
        })
        .collect()
}

fn launches() -> Vec<Column<FinishedRun>> {
    vec![
        count("kernels", "launches", "Kernel launches.", |run: &FinishedRun| {
            run.result.kernels.iter().map(|kernel| u64::from(kernel.stands_for)).sum()
        }),
        count(
            "simulated_kernels",
            "launches",
            "Simulated launches; the others are extrapolated from them ([sampled runs](sampling.md#sampled-runs)).",
            |run: &FinishedRun| run.result.kernels.len() as u64,
        ),
        count(
            "simulated_ctas",
            "CTAs",
            "Simulated CTAs; the others are extrapolated from them.",
            |run: &FinishedRun| run.result.kernels.iter().map(|k| k.simulated_ctas).sum(),
        ),
        ratio(
            "cycles_error",
            "fraction",
            "Standard error of `cycles` of a sampled run, from the differences among the launches and CTAs \
             drawn; null if the run simulates everything, or where a single one was drawn.",
            |run: &FinishedRun| error_fraction(run, |error| error.standard),
        ),
        ratio(
            "cycles_interval",
            "fraction",
            "Half of the 95 % confidence interval of `cycles` of a sampled run.",
            |run: &FinishedRun| error_fraction(run, |error| error.half_interval),
        ),
    ]
}

/// Returns an error of the cycles of a sampled run as a fraction of them.
fn error_fraction(run: &FinishedRun, of: fn(&CyclesError) -> f64) -> Option<f64> {
    let cycles = run.result.core_cycles as f64;
    run.result.cycles_error.as_ref().filter(|_| cycles > 0.0).map(|error| of(error) / cycles)
}

fn provenance() -> Vec<Column<FinishedRun>> {
    vec![
        text("trace_hash", "Hash of the trace's content, in hexadecimal.", |run: &FinishedRun| {
            &run.key.trace_hash
        }),
        text(
            "engine_version",
            "Version of Warpmem, followed by `+` and a hash of the engine's source.",
            |_| ENGINE_VERSION,
        ),
        text(
            COMMAND,
            "Command that reproduces the run, with files as given; in a sweep, relative to the folder of the plan.",
            |run: &FinishedRun| &run.key.command,
        ),
        text(
            "workload",
            "Name shared by the repeats of a workload: the command of the trace's generator without its seed, or \
             the name of a trace that no generator made.",
            |run: &FinishedRun| &run.key.workload,
        ),
        maybe_count(
            "seed",
            "",
            "Seed of the trace's generator; null if no generator made the trace. The policies take no seed: runs \
             are deterministic.",
            |run: &FinishedRun| run.key.seed,
        ),
        count(
            "variant",
            "",
            "Number of the irrelevant variant of the machine ([repeats](run.md#repeats)); 0 is the machine itself.",
            |run: &FinishedRun| run.key.variant.into(),
        ),
        text(
            "bound",
            "Ideal mode under which the workload ran once more, to bound the effect of the compared policies; \
             empty if it did not.",
            |run: &FinishedRun| run.key.bound.as_ref().map_or("", |bound| &bound.ideal),
        ),
        ratio(
            "bound_ipc_thread",
            "1/cycle",
            "`ipc_thread` under the ideal mode `bound`.",
            |run: &FinishedRun| run.key.bound.as_ref().map(|bound| bound.ipc_thread),
        ),
        text(
            "parameters",
            "All machine parameters after overrides: a JSON object with dotted names.",
            |run: &FinishedRun| run.key.parameters(),
        ),
    ]
}
