//! `warpmem info`: what a trace holds.

use super::format::{TextFormat, aligned};
use super::output::print;
use super::traces::NamedTrace;
use clap::ValueHint;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use warpmem_trace::{Header, Kernel, KindCount, OpClass};

/// Describe a trace: where it comes from, its kernels, what they add up to
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Trace to describe
    #[arg(value_name = "TRACE", value_hint = ValueHint::FilePath)]
    trace: PathBuf,
    /// What to print
    #[arg(long, value_enum, default_value_t = TextFormat::Table)]
    format: TextFormat,
}

const AFTER_HELP: &str = "\
Examples:
  warpmem info sample-traces/bfs-rmat.wmt
  warpmem info k.wmt --format json";

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let trace = NamedTrace::open(&args.trace)?;
    print(&match args.format {
        TextFormat::Table => text(&trace),
        TextFormat::Json => format!("{:#}\n", object(&trace)),
    })
}

/// Sizes of a trace as a whole.
struct Totals {
    ctas: u64,
    warps: u64,
    warp_instructions: u64,
    thread_instructions: u64,
    records: u64,
    memory_records: u64,
    file_bytes: u64,
}

impl Totals {
    fn of(trace: &NamedTrace) -> Totals {
        Totals {
            ctas: trace.ctas(),
            warps: trace.sum(|kernel| kernel.warps),
            warp_instructions: trace.warp_instructions(),
            thread_instructions: trace.sum(|kernel| kernel.thread_instructions),
            records: trace.sum(|kernel| kernel.records),
            memory_records: trace.sum(Kernel::memory_records),
            file_bytes: trace.trace.file_bytes(),
        }
    }

    fn bytes_per_memory_record(&self) -> Option<f64> {
        (self.memory_records > 0).then(|| self.file_bytes as f64 / self.memory_records as f64)
    }
}

fn text(trace: &NamedTrace) -> String {
    let header = trace.trace.header();
    let kernels = trace.trace.kernels();
    [
        aligned(&about(trace, header), &[]),
        "\nKernels\n".to_owned(),
        aligned(&kernel_rows(kernels), &[0, 4, 5, 6, 7]),
        "\nRecords with addresses, by kernel\n".to_owned(),
        aligned(&kind_rows(kernels), &[0, 3, 4]),
        "\nCompute instructions by class, by kernel\n".to_owned(),
        aligned(&class_rows(kernels), &[0, 2]),
        "\nIn all\n".to_owned(),
        aligned(&total_rows(trace), &[1]),
    ]
    .concat()
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

fn about(trace: &NamedTrace, header: &Header) -> Vec<Vec<String>> {
    let (major, minor) = header.version;
    vec![
        words(["trace", &trace.trace.path().display().to_string()]),
        words(["made by", &header.provenance.tool]),
        words(["from", &header.provenance.source]),
        words(["command", &header.provenance.command]),
        words(["format", &format!("{major}.{minor}")]),
        words(["content", &format!("{:016x}", header.content_hash)]),
        words(["copies", &format!("{} from host to device", header.memcpys.len())]),
    ]
}

fn kernel_rows(kernels: &[Kernel]) -> Vec<Vec<String>> {
    let heading =
        words(["#", "name", "grid", "block", "CTAs", "warps", "instructions", "memory records"]);
    let row = |(index, kernel): (usize, &Kernel)| {
        vec![
            index.to_string(),
            kernel.info.name.clone(),
            dimensions(kernel.info.grid),
            dimensions(kernel.info.block),
            kernel.ctas.to_string(),
            kernel.warps.to_string(),
            kernel.warp_instructions.to_string(),
            kernel.memory_records().to_string(),
        ]
    };
    [heading].into_iter().chain(kernels.iter().enumerate().map(row)).collect()
}

fn kind_rows(kernels: &[Kernel]) -> Vec<Vec<String>> {
    let heading = words(["#", "kind", "space", "records", "lanes"]);
    let rows = kernels.iter().enumerate().flat_map(|(index, kernel)| {
        memory_counts(kernel).map(move |count| {
            vec![
                index.to_string(),
                name(count.kind),
                name(count.space),
                count.records.to_string(),
                format!("{:.1}", count.lanes as f64 / count.records as f64),
            ]
        })
    });
    [heading].into_iter().chain(rows).collect()
}

fn class_rows(kernels: &[Kernel]) -> Vec<Vec<String>> {
    let heading = words(["#", "class", "instructions"]);
    let rows = kernels.iter().enumerate().flat_map(|(index, kernel)| {
        compute_counts(kernel)
            .map(move |(class, count)| vec![index.to_string(), class.to_owned(), count.to_string()])
    });
    [heading].into_iter().chain(rows).collect()
}

fn total_rows(trace: &NamedTrace) -> Vec<Vec<String>> {
    let totals = Totals::of(trace);
    let bytes = totals.bytes_per_memory_record().map_or("–".to_owned(), |b| format!("{b:.2}"));
    vec![
        words(["CTAs", &totals.ctas.to_string()]),
        words(["warps", &totals.warps.to_string()]),
        words(["warp instructions", &totals.warp_instructions.to_string()]),
        words(["thread instructions", &totals.thread_instructions.to_string()]),
        words(["records", &totals.records.to_string()]),
        words(["records with addresses", &totals.memory_records.to_string()]),
        words(["bytes", &totals.file_bytes.to_string()]),
        words(["bytes per record with addresses", &bytes]),
    ]
}

fn memory_counts(kernel: &Kernel) -> impl Iterator<Item = &KindCount> {
    kernel.records_by_kind.iter().filter(|count| count.kind.is_memory() && count.records > 0)
}

/// Compute instructions by class; classes that do not occur are left out.
fn compute_counts(kernel: &Kernel) -> impl Iterator<Item = (&'static str, u64)> {
    let counts = OpClass::ALL.into_iter().zip(kernel.compute_by_class);
    counts.filter(|&(_, count)| count > 0).map(|(class, count)| (class.name(), count))
}

fn dimensions([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (1, 1) => x.to_string(),
        (_, 1) => format!("{x}x{y}"),
        _ => format!("{x}x{y}x{z}"),
    }
}

fn name(variant: impl std::fmt::Debug) -> String {
    format!("{variant:?}").to_lowercase()
}

fn object(trace: &NamedTrace) -> Value {
    let header = trace.trace.header();
    let totals = Totals::of(trace);
    json!({
        "trace": trace.name,
        "path": trace.trace.path().display().to_string(),
        "format_version": format!("{}.{}", header.version.0, header.version.1),
        "trace_hash": format!("{:016x}", header.content_hash),
        "tool": header.provenance.tool,
        "source": header.provenance.source,
        "command": header.provenance.command,
        "memcpys": header.memcpys.len(),
        "ctas": totals.ctas,
        "warps": totals.warps,
        "warp_instructions": totals.warp_instructions,
        "thread_instructions": totals.thread_instructions,
        "records": totals.records,
        "memory_records": totals.memory_records,
        "file_bytes": totals.file_bytes,
        "bytes_per_memory_record": totals.bytes_per_memory_record(),
        "kernels": trace.trace.kernels().iter().map(kernel_object).collect::<Vec<_>>(),
    })
}

fn kernel_object(kernel: &Kernel) -> Value {
    let counts = memory_counts(kernel).map(|count| {
        json!({
            "kind": name(count.kind),
            "space": name(count.space),
            "records": count.records,
            "lanes": count.lanes,
        })
    });
    json!({
        "name": kernel.info.name,
        "stream": kernel.info.stream,
        "grid": kernel.info.grid,
        "block": kernel.info.block,
        "registers_per_thread": kernel.info.registers_per_thread,
        "shared_bytes": kernel.info.shared_bytes,
        "ctas": kernel.ctas,
        "warps": kernel.warps,
        "warp_instructions": kernel.warp_instructions,
        "thread_instructions": kernel.thread_instructions,
        "records": kernel.records,
        "compute": compute_counts(kernel).collect::<BTreeMap<_, _>>(),
        "memory_records": counts.collect::<Vec<_>>(),
    })
}
