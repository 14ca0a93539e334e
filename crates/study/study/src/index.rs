//! The index of a trace: its origin, its sizes, and its kernels, without reading the records.

use crate::traces::NamedTrace;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use warpmem_trace::{Kernel, KindCount, OpClass};

/// Sizes of a trace as a whole.
#[derive(Clone, Copy, Debug)]
pub struct Totals {
    pub ctas: u64,
    pub warps: u64,
    pub warp_instructions: u64,
    pub thread_instructions: u64,
    pub records: u64,
    pub memory_records: u64,
    pub file_bytes: u64,
}

impl Totals {
    pub fn of(trace: &NamedTrace) -> Totals {
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

    /// Returns the bytes of the file per record with addresses; none without such records.
    pub fn bytes_per_memory_record(&self) -> Option<f64> {
        (self.memory_records > 0).then(|| self.file_bytes as f64 / self.memory_records as f64)
    }
}

/// Returns the contents of the index as an object: its origin, its sizes, and `kernels`.
pub fn object(trace: &NamedTrace) -> Value {
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
        "l2_resets": header.l2_resets,
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
            "kind": spelled(count.kind),
            "space": spelled(count.space),
            "records": count.records,
            "lanes": count.lanes,
        })
    });
    json!({
        "name": kernel.info.name,
        "stream": kernel.info.stream,
        "grid": kernel.info.grid,
        "block": kernel.info.block,
        "cluster": kernel.info.cluster,
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

/// Counts the records with addresses by kind and space; combinations that do not occur are omitted.
pub fn memory_counts(kernel: &Kernel) -> impl Iterator<Item = &KindCount> {
    kernel.records_by_kind.iter().filter(|count| count.kind.is_memory() && count.records > 0)
}

/// Counts compute instructions by class; classes that do not occur are omitted.
fn compute_counts(kernel: &Kernel) -> impl Iterator<Item = (&'static str, u64)> {
    let counts = OpClass::ALL.into_iter().zip(kernel.compute_by_class);
    counts.filter(|&(_, count)| count > 0).map(|(class, count)| (class.name(), count))
}

/// Spells the name of a variant in lower case.
pub fn spelled(variant: impl std::fmt::Debug) -> String {
    format!("{variant:?}").to_lowercase()
}
