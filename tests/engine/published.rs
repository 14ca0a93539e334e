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
use warpmem_testing::documents::{assert_parts, table};
use warpmem_trace::{CacheOp, Trace};

/// Latencies in cycles of an L1 hit, a near L2 hit, and a DRAM access, as published and configured.
const MACHINES: [(&str, [u64; 3]); 6] = [
    ("a100", [36, 213, 570]),
    ("h100", [40, 281, 690]),
    ("h200", [40, 281, 690]),
    ("b200", [40, 295, 860]),
    ("l40s", [36, 277, 631]),
    ("rtx4090", [40, 296, 636]),
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

fn latencies(machine: &Machine) -> [f64; 3] {
    [("l1", 1024), ("l2", 1 << 12), ("dram", 1 << 15)]
        .map(|(level, hops)| chase(machine, level, hops))
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

/// A refresh delays some loads, and closes rows that others find open on a machine without it.
#[test]
fn load_latencies_match_the_configuration() {
    for (name, published) in MACHINES {
        let machine = machine(name, &NO_REFRESH);
        let [l1, l2, dram] = published.map(|cycles| cycles as f64);
        let found = latencies(&machine);
        assert_eq!(found[0], l1, "{name}");
        assert!((found[2] - dram).abs() < 1.0, "{name}: {}", found[2]);
        if machine.gpcs().is_some() {
            assert_eq!(load_from_other_sm(&machine), OTHER_SM, "{name}");
        }
        if !machine.l2.copies {
            assert_eq!(found[1], l2, "{name}");
            continue;
        }
        let sides = [Side::Near, Side::Far].map(|side| hop_in_l2(&machine, side));
        assert_eq!(sides, [l2, l2], "{name}: with copies, both sides are near");
        // The latency between peer slices is a whole number of cycles, equal in both directions.
        let crossing = hop_without_copy(&machine) - l2;
        assert!((crossing - f64::from(CROSSING)).abs() <= 1.0, "{name}: {crossing}");
    }
}

#[test]
fn the_page_matches_the_machines() {
    let rows = MACHINES.map(|(name, _)| {
        let machine = machine(name, &[]);
        let [l1, l2, dram] = latencies(&machine).map(|cycles| format!("{cycles:.0}"));
        let peak = format!("{:.0}", machine.peak_bytes_per_second() as f64 / 1e9);
        let [triad, copy] = ["triad", "copy"].map(|op| format!("{:.1}", of_peak(&machine, op)));
        let read = format!("{:.0}", bytes_of_l2(&machine));
        let if_parted = |of: &dyn Fn() -> f64| match machine.l2.copies {
            true => format!("{:.0}", of()),
            false => String::new(),
        };
        let near = if_parted(&|| hop_in_l2(&machine, Side::Near));
        let far = if_parted(&|| hop_without_copy(&machine));
        let [read_near, read_far] =
            [Side::Near, Side::Far].map(|side| if_parted(&|| bytes_of_side(&machine, side)));
        let in_gpcs = |of: &dyn Fn() -> f64| match machine.gpcs() {
            Some(_) => format!("{:.1}", of()),
            None => String::new(),
        };
        let other = in_gpcs(&|| load_from_other_sm(&machine) as f64);
        let bytes_of_other = in_gpcs(&|| bytes_from_other_sm(&machine));
        let name = format!("`{name}`");
        vec![
            name,
            l1,
            near,
            far,
            l2,
            dram,
            peak,
            triad,
            copy,
            read,
            read_near,
            read_far,
            other,
            bytes_of_other,
        ]
    });
    let heading = [
        "machine",
        "L1, cycles",
        "L2 near, cycles",
        "L2 far without a copy, cycles",
        "L2, cycles",
        "DRAM, cycles",
        "peak, GB/s",
        "triad, % of the peak",
        "copy, % of the peak",
        "L2, bytes a cycle",
        "L2 near, bytes a cycle",
        "L2 far, bytes a cycle",
        "another SM, cycles",
        "another SM, bytes a cycle and SM",
    ];
    assert_parts("docs/lab/microbenchmarks.md", &[("ours", table(&heading, rows))]);
}
