//! Measurements of chips, repeated on the machines without a reference simulator.
//! `docs/lab/microbenchmarks.md` compares them with the published figures and states which figures
//! are inputs.

use crate::closed_forms::is_near;
use crate::clusters::{bytes_from_other_sm, load_from_other_sm};
use crate::trace::{Access, Kernel, NO_REFRESH, Step, machine, run, write};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::LazyLock;
use tempfile::TempDir;
use warpmem::dram::ChannelResult;
use warpmem::gpu::results::RunResult;
use warpmem::machine::Machine;
use warpmem::workload::{Progress, generate};
use warpmem_testing::documents::{assert_parts, is_updating, read, table};
use warpmem_testing::{is_long, is_sampled};
use warpmem_trace::{CacheOp, Trace};

/// Latencies in cycles of an L1 hit, a near L2 hit, and a DRAM access, as published and configured.
const MACHINES: [(&str, [u64; 3]); 6] = [
    ("a100", [36, 213, 586]),
    ("h100", [34, 265, 675]),
    ("h200", [34, 265, 667]),
    ("b200", [40, 295, 852]),
    ("l40s", [36, 277, 666]),
    ("rtx4090", [40, 297, 672]),
];

/// Additional cycles of a far L2 hit, as published and configured, on machines with two partitions.
const CROSSING: u32 = 200;

/// Cycles of a load from the shared memory of another SM, as published and configured, on machines
/// with clusters.
const OTHER_SM: u64 = 180;

/// L2 lines read by an SM: of its own partition, or of the other.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Near,
    Far,
}

/// Traces of this module, each made once.
struct Traces {
    folder: TempDir,
    traces: BTreeMap<&'static str, Trace>,
}

const CHASE: &str = "pointer-chase";

static TRACES: LazyLock<Traces> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let chase = |nodes, hops| (CHASE, vec![("nodes", nodes), ("hops", hops)]);
    let stream = |op| ("stream", vec![("op", op), ("n", "2^19"), ("grid", "512")]);
    let plan = [
        ("l1", chase("64", "1024")),
        ("l1 longer", chase("64", "2048")),
        ("l2", chase("2^12", "2^12")),
        ("l2 longer", chase("2^12", "2^13")),
        ("dram", chase("2^20", "2^15")),
        ("dram longer", chase("2^20", "2^16")),
        ("triad", stream("triad")),
        ("copy", stream("copy")),
    ];
    let traces = plan.into_iter().map(|(name, (generator, parameters))| {
        let parameters = parameters.into_iter().map(|(key, value)| (key.into(), value.into()));
        let path = folder.path().join(format!("{name}.wmt"));
        let mut progress = |_: &Progress| ControlFlow::Continue(());
        generate(generator, &parameters.collect(), 1, &path, &mut progress).unwrap();
        (name, Trace::open(&path).unwrap())
    });
    let traces = traces.collect();
    Traces { folder, traces }
});

fn result(machine: &Machine, trace: &str) -> RunResult {
    assert!(TRACES.folder.path().exists());
    run(machine, &TRACES.traces[trace])
}

/// Returns the core cycles per hop of a single-warp pointer chase over lines: the second half of a
/// longer chase. 64 lines fit in L1, 512 KB in L2; of 128 MB, no line is read twice, and nearly all
/// banks have a row open.
fn chase(machine: &Machine, level: &str, hops: u32) -> f64 {
    let [whole, half] = [format!("{level} longer"), level.to_owned()]
        .map(|trace| result(machine, &trace).core_cycles);
    (whole - half) as f64 / f64::from(hops)
}

#[derive(Clone, Copy)]
enum Level {
    L1,
    L2,
    Dram,
}

/// Returns the core cycles per hop of a chase over lines that the level holds.
fn latency(machine: &Machine, level: Level) -> f64 {
    match level {
        Level::L1 => chase(machine, "l1", 1024),
        Level::L2 => chase(machine, "l2", 1 << 12),
        Level::Dram => chase(machine, "dram", 1 << 15),
    }
}

/// Returns addresses of blocks of 256 bytes, each within one slice, on one side of SM 0, or of an
/// SM in the other partition if `swapped`.
fn blocks(machine: &Machine, side: Side, swapped: bool, count: usize) -> Vec<u64> {
    let map = machine.address_map().unwrap();
    let wants_near = (side == Side::Near) != swapped;
    let all = (0..).map(|block| block * 256);
    all.filter(|&block| is_near(machine, map.locate(block).slice) == wants_near)
        .take(count)
        .collect()
}

/// Returns the core cycles per hop of a warp of SM 0 over lines of one side, as [`chase`]; they
/// exceed L1.
fn hop_in_l2(machine: &Machine, side: Side) -> f64 {
    const HOPS: usize = 1 << 12;
    let lines = blocks(machine, side, false, HOPS);
    let hop = |&line: &u64| {
        let load = Access::load(4, vec![line]);
        Step::Memory(Access { dest: Some(1), source: Some(1), ..load })
    };
    // The first pass brings all lines into L2.
    let [half, whole] = [2, 3].map(|passes| {
        let warp = lines.iter().map(hop).cycle().take(passes * HOPS).collect();
        let kernel = Kernel { ctas: vec![vec![warp]], ..Kernel::default() };
        run(machine, &write(&[kernel]).trace).core_cycles
    });
    (whole - half) as f64 / HOPS as f64
}

/// Returns the core cycles per hop of a warp of SM 0 over lines of the other side's L2, each
/// accessed by it for the first time: SM 1, in that partition, has read them.
fn hop_without_copy(machine: &Machine) -> f64 {
    const HOPS: usize = 1 << 12;
    let lines = blocks(machine, Side::Far, false, 2 * HOPS);
    let load = |&line: &u64| Access::load(4, vec![line]);
    let fetch = lines.iter().map(|line| Step::Memory(load(line))).collect();
    let first = Kernel { ctas: vec![vec![vec![]], vec![fetch]], ..Kernel::default() };
    let hop = |line| Step::Memory(Access { dest: Some(1), source: Some(1), ..load(line) });
    let [half, whole] = [HOPS, 2 * HOPS].map(|hops| {
        let warp = lines.iter().take(hops).map(hop).collect();
        let chase = Kernel { ctas: vec![vec![warp]], ..Kernel::default() };
        run(machine, &write(&[first.clone(), chase]).trace).core_cycles
    });
    (whole - half) as f64 / HOPS as f64
}

/// Returns the utilization of the DRAM data buses in percent.
fn of_peak(machine: &Machine, trace: &str) -> f64 {
    let channels = result(machine, trace).channels;
    let sum = |of: fn(&ChannelResult) -> u64| channels.iter().map(of).sum::<u64>() as f64;
    100.0 * sum(|channel| channel.data_bus_busy_cycles) / sum(|channel| channel.cycles)
}

const CTAS: u64 = 160;
const CTA_BYTES: u64 = 28 << 10;

/// Makes CTAs that read 28 KB each, bypassing L1, in eight warps of seven loads of 512 bytes, until
/// the shared 4.4 MB have been read `passes` times. CTAs starting at powers of two would all begin
/// at the same few channels of an interleaved map.
fn reads(passes: u64) -> Kernel {
    let load = |piece: u64| {
        let load = Access::load(16, (0..32).map(|lane| 512 * piece + 16 * lane).collect());
        Step::Memory(Access { cache_op: CacheOp::Global, ..load })
    };
    let warp = |first: u64| (0..7).map(|step| load(first + 8 * step)).collect();
    let cta =
        |cta: u64| (0..8).map(|number| warp(cta % CTAS * (CTA_BYTES / 512) + number)).collect();
    Kernel { ctas: (0..passes * CTAS).map(cta).collect(), ..Kernel::default() }
}

/// Returns the read bandwidth of L2 in bytes per core cycle.
fn bytes_of_l2(machine: &Machine) -> f64 {
    let [half, whole] = [8, 16].map(|passes| {
        let file = write(&[reads(passes)]);
        run(machine, &file.trace).core_cycles
    });
    (8 * CTAS * CTA_BYTES) as f64 / (whole - half) as f64
}

/// Returns the L2 read bandwidth of one side in bytes per core cycle: a CTA per SM, whose sixteen
/// warps read its share of 2.2 MB repeatedly, as in [`reads`].
fn bytes_of_side(machine: &Machine, side: Side) -> f64 {
    const WARPS: usize = 16;
    const LOADS: usize = 7;
    let sms = machine.sm.count as usize;
    let lists = [false, true].map(|swapped| blocks(machine, side, swapped, 8640));
    let load = |sm: usize, number: usize| {
        let list = &lists[sm % 2];
        // An odd distance, so that SMs begin at all channels.
        let block = |half: usize| list[(sm * 131 + 2 * number + half) % list.len()];
        let lanes = (0..32).map(|lane| block(lane / 16) + 16 * (lane as u64 % 16)).collect();
        Step::Memory(Access { cache_op: CacheOp::Global, ..Access::load(16, lanes) })
    };
    let [half, whole] = [2, 4].map(|passes| {
        let warp = |sm: usize, warp: usize| {
            let numbers = (0..passes).flat_map(|_| (0..LOADS).map(move |step| step * WARPS + warp));
            numbers.map(|number| load(sm, number)).collect()
        };
        let cta = |sm: usize| (0..WARPS).map(|number| warp(sm, number)).collect();
        let kernel = Kernel { ctas: (0..sms).map(cta).collect(), ..Kernel::default() };
        run(machine, &write(&[kernel]).trace).core_cycles
    });
    (2 * sms * WARPS * LOADS * 512) as f64 / (whole - half) as f64
}

/// A refresh delays some loads, and closes rows that others find open on a machine without it. Each machine is
/// measured at one of three levels, other ones on the next machine.
#[test]
fn load_latencies_match_the_configuration() {
    for (row, (name, published)) in MACHINES.into_iter().enumerate() {
        let machine = machine(name, &NO_REFRESH);
        let [l1, l2, dram] = published.map(|cycles| cycles as f64);
        assert_eq!(latency(&machine, Level::L1), l1, "{name}");
        if machine.gpcs().is_some() {
            assert_eq!(load_from_other_sm(&machine), OTHER_SM, "{name}");
        }
        if is_sampled(row, 0, 3) {
            let found = latency(&machine, Level::Dram);
            assert!((found - dram).abs() < 1.0, "{name}: {found}");
        }
        if is_sampled(row, 1, 3) && machine.l2.copies {
            let sides = [Side::Near, Side::Far].map(|side| hop_in_l2(&machine, side));
            // The clock of the slices is no multiple of the SMs' on all of them.
            let is_near = |side: &f64| (side - l2).abs() < 1.0;
            assert!(sides.iter().all(is_near), "{name}: {sides:?}; with copies, both are near");
        }
        if is_sampled(row, 1, 3) && !machine.l2.copies {
            let found = latency(&machine, Level::L2);
            assert!((found - l2).abs() < 1.0, "{name}: {found}");
        }
        if is_sampled(row, 2, 3) && machine.l2.copies {
            // The latency between peer slices is a whole number of cycles, equal in both directions.
            let crossing = hop_without_copy(&machine) - l2;
            // A crossing waits for an edge of the slices' clock, which may be slower than the SMs'.
            assert!((crossing - f64::from(CROSSING)).abs() < 2.0, "{name}: {crossing}");
        }
    }
}

/// A column of the page's table: its heading, the machines that have its figure, and the figure.
type Column = (&'static str, fn(&Machine) -> bool, fn(&Machine) -> String);

fn any(_: &Machine) -> bool {
    true
}

fn with_copies(machine: &Machine) -> bool {
    machine.l2.copies
}

fn with_clusters(machine: &Machine) -> bool {
    machine.gpcs().is_some()
}

const COLUMNS: [Column; 13] = [
    ("L1, cycles", any, |machine| format!("{:.0}", latency(machine, Level::L1))),
    ("L2 near, cycles", with_copies, |machine| format!("{:.0}", hop_in_l2(machine, Side::Near))),
    ("L2 far without a copy, cycles", with_copies, |machine| {
        format!("{:.0}", hop_without_copy(machine))
    }),
    ("L2, cycles", any, |machine| format!("{:.0}", latency(machine, Level::L2))),
    ("DRAM, cycles", any, |machine| format!("{:.0}", latency(machine, Level::Dram))),
    ("peak, GB/s", any, |machine| format!("{:.0}", machine.peak_bytes_per_second() as f64 / 1e9)),
    ("triad, % of the peak", any, |machine| format!("{:.1}", of_peak(machine, "triad"))),
    ("copy, % of the peak", any, |machine| format!("{:.1}", of_peak(machine, "copy"))),
    ("L2, bytes a cycle", any, |machine| format!("{:.0}", bytes_of_l2(machine))),
    ("L2 near, bytes a cycle", with_copies, |machine| {
        format!("{:.0}", bytes_of_side(machine, Side::Near))
    }),
    ("L2 far, bytes a cycle", with_copies, |machine| {
        format!("{:.0}", bytes_of_side(machine, Side::Far))
    }),
    ("another SM, cycles", with_clusters, |machine| {
        format!("{:.1}", load_from_other_sm(machine) as f64)
    }),
    ("another SM, bytes a cycle and SM", with_clusters, |machine| {
        format!("{:.1}", bytes_from_other_sm(machine))
    }),
];

const PAGE: &str = "docs/lab/microbenchmarks.md";

/// Returns the cells of a machine's row on the page.
fn row_of_page(page: &str, name: &str) -> Vec<String> {
    let (_, part) = page.split_once("<!-- generated: ours -->").unwrap();
    let start = format!("| `{name}` |");
    let row = part.lines().find_map(|line| line.strip_prefix(&start)).unwrap();
    row.trim_end_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
}

/// Each column is measured on one of the machines that have its figure, other ones for the next column, and all
/// figures in a [long](is_long) run, and where the page is written.
#[test]
fn the_page_matches_the_machines() {
    let page = read(PAGE);
    let machines = MACHINES.map(|(name, _)| (name, machine(name, &[])));
    let mut rows = machines.each_ref().map(|(name, _)| match is_updating() {
        true => vec![String::new(); COLUMNS.len()],
        false => row_of_page(&page, name),
    });
    let mut is_measured = [false; MACHINES.len()];
    for (column, (_, has_it, figure)) in COLUMNS.iter().enumerate() {
        let with_it: Vec<usize> =
            (0..machines.len()).filter(|&row| has_it(&machines[row].1)).collect();
        let sampled = with_it[column % with_it.len()];
        for row in with_it {
            if row == sampled || is_long() || is_updating() {
                rows[row][column] = figure(&machines[row].1);
                is_measured[row] = true;
            }
        }
    }
    assert_eq!(is_measured, [true; MACHINES.len()]);
    let heading: Vec<&str> =
        std::iter::once("machine").chain(COLUMNS.iter().map(|(heading, ..)| *heading)).collect();
    let rows = machines.iter().zip(rows).map(|((name, _), cells)| {
        std::iter::once(format!("`{name}`")).chain(cells).collect::<Vec<_>>()
    });
    assert_parts(PAGE, &[("ours", table(&heading, rows))]);
}
