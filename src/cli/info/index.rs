//! The index of a trace as text.

use super::text::{kernel as label, words};
use crate::study::index::{Totals, memory_counts, spelled};
use crate::study::traces::NamedTrace;
use std::collections::BTreeMap;
use warpmem_support::text::aligned;
use warpmem_trace::{Header, Kernel, Kind, OpClass, Space};

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
            vec![kernel.label(), spelled(kind), spelled(space), records.to_string(), lanes]
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

fn dimensions([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (1, 1) => x.to_string(),
        (_, 1) => format!("{x}x{y}"),
        _ => format!("{x}x{y}x{z}"),
    }
}
