//! Printed summary of a capture.

use crate::capture::{Captured, Launched, ProgramCapture, PtxModule};
use crate::trace::TraceSummary;
use indicatif::HumanCount;
use serde_json::{Value, json};
use warpmem_support::text::{aligned, counted, shortened};

use super::super::format::TextFormat;

/// Maximum length of a kernel's name in the table of a program's kernels, characters.
const NAME: usize = 60;

/// Formats the kernels of a module.
pub fn kernels(module: &PtxModule, format: TextFormat) -> anyhow::Result<String> {
    let kernels = module.kernels();
    if format == TextFormat::Json {
        return Ok(format!("{:#}\n", serde_json::to_value(kernels)?));
    }
    let mut text = format!(
        "{}: PTX {}.{} for {}\n",
        module.path.display(),
        module.module.version.0,
        module.module.version.1,
        module.module.target
    );
    for kernel in &kernels {
        text.push_str(&format!(
            "{}({})  {} instructions, {} registers (estimated)\n",
            kernel.name,
            kernel.parameters.join(", "),
            kernel.instructions,
            kernel.registers
        ));
        text.extend(kernel.unsupported.iter().map(|what| format!("  not supported: {what}\n")));
    }
    Ok(text)
}

/// Formats the launches of a capture.
pub fn launches(captured: &Captured, format: TextFormat) -> anyhow::Result<String> {
    if format == TextFormat::Json {
        let trace = captured.trace.as_ref().map(trace);
        let value: Value = json!({ "launches": captured.launches, "trace": trace });
        return Ok(format!("{value:#}\n"));
    }
    Ok(table(&captured.launches))
}

fn trace(trace: &TraceSummary) -> Value {
    json!({
        "file": trace.path.display().to_string(),
        "bytes": trace.file_bytes,
        "kernels": trace.kernels,
        "warp_instructions": trace.warp_instructions,
        "thread_instructions": trace.thread_instructions,
    })
}

fn table(launches: &[Launched]) -> String {
    let heading = [
        "launch",
        "kernel",
        "grid",
        "block",
        "registers",
        "shared bytes",
        "warps",
        "warp instructions",
        "recorded",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    rows.extend(launches.iter().map(row));
    aligned(&rows, &[0, 4, 5, 6, 7])
}

/// Formats the kernels of a program, or with `each` its launches.
pub fn program(
    captured: &ProgramCapture,
    format: TextFormat,
    each: bool,
) -> anyhow::Result<String> {
    if format == TextFormat::Json {
        let trace = captured.trace.as_ref().map(trace);
        let value = json!({
            "launches": captured.launches,
            "kernels": captured.kernels,
            "trace": trace,
        });
        return Ok(format!("{value:#}\n"));
    }
    let mut text = if each { table(&captured.launches) } else { kernels_table(captured) };
    for kernel in &captured.kernels {
        let (name, failed) = (&kernel.kernel, kernel.failed);
        let failure = kernel.failure.iter().map(|why| format!("{name}: {failed} failed: {why}\n"));
        text.extend(failure);
        let unsupported = kernel.unsupported.iter();
        text.extend(unsupported.map(|what| format!("{name}: not supported: {what}\n")));
    }
    Ok(text)
}

fn kernels_table(captured: &ProgramCapture) -> String {
    let heading = ["kernel", "launches", "recorded", "failed", "warp instructions"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    let (launched, others): (Vec<_>, Vec<_>) =
        captured.kernels.iter().partition(|kernel| kernel.launches > 0);
    rows.extend(launched.iter().map(|kernel| {
        let numbers = [kernel.launches, kernel.recorded, kernel.failed, kernel.warp_instructions];
        let numbers = numbers.into_iter().map(|number| number.to_string());
        std::iter::once(shortened(&kernel.kernel, NAME)).chain(numbers).collect()
    }));
    let mut text = aligned(&rows, &[1, 2, 3, 4]);
    if !others.is_empty() {
        text.push_str(&format!("not launched: {}\n", counted(others.len(), "kernel")));
    }
    text
}

/// Formats the final line of a program's capture.
pub fn line_of_program(captured: &ProgramCapture, seconds: f64) -> String {
    ending(&captured.launches, captured.trace.as_ref(), seconds)
}

fn row(launched: &Launched) -> Vec<String> {
    let sizes = |[x, y, z]: [u32; 3]| format!("{x},{y},{z}");
    vec![
        launched.number.to_string(),
        launched.kernel.clone(),
        sizes(launched.grid),
        sizes(launched.block),
        launched.registers_per_thread.to_string(),
        launched.shared_bytes.to_string(),
        launched.warps.to_string(),
        launched.warp_instructions.to_string(),
        if launched.recorded { "yes" } else { "no" }.to_owned(),
    ]
}

/// Formats the final line of a capture.
pub fn line(captured: &Captured, seconds: f64) -> String {
    ending(&captured.launches, captured.trace.as_ref(), seconds)
}

fn ending(launches: &[Launched], trace: Option<&TraceSummary>, seconds: f64) -> String {
    let executed: u64 = launches.iter().map(|launch| launch.warp_instructions).sum();
    let rate = HumanCount((executed as f64 / seconds) as u64);
    let executed = HumanCount(executed);
    let work = format!("{executed} warp instructions in {seconds:.1} s, {rate} per second");
    match trace {
        None => work,
        Some(trace) => format!(
            "{}: kernels {}, records {}, thread instructions {}, bytes {}; {work}",
            trace.path.display(),
            trace.kernels,
            HumanCount(trace.records),
            HumanCount(trace.thread_instructions),
            HumanCount(trace.file_bytes)
        ),
    }
}
