//! The index of a trace as text.

use super::text::{kernel as label, words};
use crate::study::traces::NamedTrace;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use warpmem_support::text::aligned;
use warpmem_trace::{Header, Kernel, Kind, KindCount, OpClass, Space};

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

/// Formats the origin and the sizes of a trace.
pub fn head(trace: &NamedTrace) -> String {
    let kernels = trace.trace.kernels();
    [
        aligned(&about(trace, trace.trace.header()), &[]),
        "\nKernels\n".to_owned(),
        aligned(&kernel_rows(&named(kernels)), &[0, 4, 5, 6, 7]),
        "\nIn all\n".to_owned(),
        aligned(&total_rows(trace), &[1]),
    ]
    .concat()
}

/// Formats all contents of the index.
pub fn brief(trace: &NamedTrace) -> String {
    let kernels = named(trace.trace.kernels());
    [
        head(trace),
        "\nRecords with addresses, by kernel\n".to_owned(),
        aligned(&kind_rows(&kernels), &[3, 4]),
        "\nCompute instructions by class, by kernel\n".to_owned(),
        aligned(&class_rows(&kernels), &[2]),
    ]
    .concat()
}

/// Launches with the same kernel name.
struct Named<'a> {
    launches: Vec<&'a Kernel>,
}

impl Named<'_> {
    fn label(&self) -> String {
        label(&self.launches[0].info.name, self.launches.len() as u64)
    }

    fn sum(&self, of: impl Fn(&Kernel) -> u64) -> u64 {
        self.launches.iter().map(|kernel| of(kernel)).sum()
    }

    /// Returns the value common to all launches, if they agree.
    fn same(&self, of: impl Fn(&Kernel) -> [u32; 3]) -> String {
        let first = of(self.launches[0]);
        match self.launches.iter().all(|kernel| of(kernel) == first) {
            true => dimensions(first),
            false => "various".to_owned(),
        }
    }
}

/// Groups launches by name, in order of first appearance.
fn named(kernels: &[Kernel]) -> Vec<Named<'_>> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut all: Vec<Named> = Vec::new();
    for kernel in kernels {
        let at = *places.entry(&kernel.info.name).or_insert(all.len());
        match all.get_mut(at) {
            Some(named) => named.launches.push(kernel),
            None => all.push(Named { launches: vec![kernel] }),
        }
    }
    all
}

fn about(trace: &NamedTrace, header: &Header) -> Vec<Vec<String>> {
    let (major, minor) = header.version;
    let mut about = vec![
        words(["trace", &trace.trace.path().display().to_string()]),
        words(["made by", &header.provenance.tool]),
        words(["from", &header.provenance.source]),
        words(["command", &header.provenance.command]),
        words(["format", &format!("{major}.{minor}")]),
        words(["content", &format!("{:016x}", header.content_hash)]),
        words(["copies", &format!("{} from host to device", header.memcpys.len())]),
    ];
    if !header.l2_resets.is_empty() {
        let resets = format!("{} of persisting lines", header.l2_resets.len());
        about.push(words(["L2 resets", &resets]));
    }
    about
}

/// Position of the cluster column, after the block column.
const CLUSTER_COLUMN: usize = 4;

fn kernel_rows(kernels: &[Named]) -> Vec<Vec<String>> {
    let mut heading =
        words(["#", "name", "grid", "block", "CTAs", "warps", "instructions", "memory records"]);
    let mut launches = kernels.iter().flat_map(|kernel| &kernel.launches);
    // The column is omitted if no kernel has clusters.
    let has_clusters = launches.any(|kernel| kernel.info.cluster.is_some());
    let cluster = |kernel: &Named| {
        has_clusters.then(|| kernel.same(|kernel| kernel.info.cluster.unwrap_or([1; 3])))
    };
    if has_clusters {
        heading.insert(CLUSTER_COLUMN, "cluster".to_owned());
    }
    let row = |(number, kernel): (usize, &Named)| {
        let mut row = vec![number.to_string(), kernel.label()];
        row.push(kernel.same(|kernel| kernel.info.grid));
        row.push(kernel.same(|kernel| kernel.info.block));
        row.extend(cluster(kernel));
        row.extend([
            kernel.sum(|kernel| kernel.ctas.into()).to_string(),
            kernel.sum(|kernel| kernel.warps).to_string(),
            kernel.sum(|kernel| kernel.warp_instructions).to_string(),
            kernel.sum(Kernel::memory_records).to_string(),
        ]);
        row
    };
    [heading].into_iter().chain(kernels.iter().enumerate().map(row)).collect()
}

fn kind_rows(kernels: &[Named]) -> Vec<Vec<String>> {
    let heading = words(["name", "kind", "space", "records", "lanes"]);
    let rows = kernels.iter().flat_map(|kernel| {
        let mut sums: Vec<(Kind, Space, u64, u64)> = Vec::new();
        for count in kernel.launches.iter().flat_map(|kernel| memory_counts(kernel)) {
            match sums.iter_mut().find(|sum| (sum.0, sum.1) == (count.kind, count.space)) {
                Some(sum) => (sum.2, sum.3) = (sum.2 + count.records, sum.3 + count.lanes),
                None => sums.push((count.kind, count.space, count.records, count.lanes)),
            }
        }
        sums.into_iter().map(|(kind, space, records, lanes)| {
            let lanes = format!("{:.1}", lanes as f64 / records as f64);
            vec![kernel.label(), name(kind), name(space), records.to_string(), lanes]
        })
    });
    [heading].into_iter().chain(rows).collect()
}

fn class_rows(kernels: &[Named]) -> Vec<Vec<String>> {
    let heading = words(["name", "class", "instructions"]);
    let rows = kernels.iter().flat_map(|kernel| {
        let of_class = |(at, class): (usize, OpClass)| {
            let count = kernel.sum(|kernel| kernel.compute_by_class[at]);
            (count > 0).then(|| vec![kernel.label(), class.name().to_owned(), count.to_string()])
        };
        OpClass::ALL.into_iter().enumerate().filter_map(of_class).collect::<Vec<_>>()
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

/// Counts compute instructions by class; classes that do not occur are omitted.
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
