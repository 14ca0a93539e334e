//! Random kernels on machines with minimal queues, caches and miss registers: no run deadlocks,
//! every invariant holds, and no unit needs a step that it did not request.

mod shapes;

use crate::clusters::exchange;
use crate::mbarriers::pipeline;
use crate::recording::{Everything, bandwidth_over_peak};
use crate::trace::{ALL, Access, Kernel, Step, Warp, machine as load, mixed, write};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;
use shapes::SHAPES;
use std::fmt::Debug;
use warpmem::gpu::engine::Simulation;
use warpmem::gpu::results::{Discard, RunResult, RunSink};
use warpmem::machine;
use warpmem::machine::Machine;
use warpmem_testing::cases;
use warpmem_trace::{Barrier, CacheOp, ClusterAddress, Eviction, Kind, L2Policy, OpClass, Space};

/// Pattern of the lanes' addresses.
#[derive(Clone, Debug)]
enum Pattern {
    Stride { base: u64, stride: u64 },
    Scattered { seed: u64, span: u64 },
}

impl Pattern {
    fn addresses(&self, lanes: u32, width: u64) -> Vec<u64> {
        let lane_address = |lane: u64| match *self {
            Pattern::Stride { base, stride } => base + lane * stride,
            // A multiplicative hash of the lane: irregular but deterministic.
            Pattern::Scattered { seed, span } => {
                ((seed + lane).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % span
            }
        };
        (0..u64::from(lanes)).map(|lane| lane_address(lane) / width * width).collect()
    }
}

fn pattern() -> impl Strategy<Value = Pattern> {
    // Spans: a few lines, more than the small caches hold, many rows.
    let base = select(vec![0u64, 64, 4096, 1 << 16, 1 << 20]);
    let stride = select(vec![0u64, 4, 8, 64, 128, 4096]);
    prop_oneof![
        (base, stride).prop_map(|(base, stride)| Pattern::Stride { base, stride }),
        (0u64..64, select(vec![512u64, 8192, 1 << 22]))
            .prop_map(|(seed, span)| Pattern::Scattered { seed, span }),
    ]
}

fn operation() -> impl Strategy<Value = (Kind, Space)> {
    use Kind::{AsyncCopy, Atomic, Load, Prefetch, Reduction, Store};
    use Space::{Cluster, Constant, Global, Local, Shared, Texture};
    prop_oneof![
        6 => select(vec![(Load, Global), (Load, Local), (Load, Texture)]),
        4 => select(vec![(Store, Global), (Store, Local)]),
        2 => select(vec![(Atomic, Global), (Reduction, Global)]),
        2 => select(vec![(Load, Shared), (Store, Shared), (Load, Constant)]),
        1 => select(vec![(AsyncCopy, Global), (Prefetch, Global)]),
        2 => select(vec![(Load, Cluster), (Store, Cluster), (Atomic, Cluster), (AsyncCopy, Cluster)]),
    ]
}

/// CTAs per cluster, where there are clusters.
const CLUSTER: u64 = 2;

/// Maps to an address in the shared memory of a cluster.
fn in_cluster(address: u64) -> u64 {
    let offset = (address >> 4) as u32 % (12 << 10);
    ClusterAddress { rank: (address >> 2 & (CLUSTER - 1)) as u32, offset: offset / 16 * 16 }
        .encode()
}

/// Bytes per lane of a bulk copy: a few sectors, the last partial.
const BULK: u32 = 400;

fn access() -> impl Strategy<Value = Access> {
    let mask = prop_oneof![4 => Just(ALL), 2 => any::<u32>(), 1 => select(vec![0, 1, 1 << 31])];
    let cache_op = select(vec![CacheOp::Default, CacheOp::Default, CacheOp::Global]);
    let registers = (prop::option::of(0u16..4), prop::option::of(0u16..4));
    let width = prop_oneof![9 => select(vec![1u32, 4, 8, 16]), 1 => Just(BULK)];
    (operation(), pattern(), mask, width, cache_op, registers).prop_map(
        |((kind, space), pattern, mask, width, cache_op, (dest, source))| {
            let returns = matches!(kind, Kind::Load | Kind::Atomic);
            let is_bulk = space == Space::Global && !returns
                || space == Space::Cluster && kind == Kind::AsyncCopy;
            let width = if is_bulk { width } else { width.min(16) };
            let mut addresses = pattern.addresses(mask.count_ones(), width.into());
            if space == Space::Cluster {
                addresses.iter_mut().for_each(|address| *address = in_cluster(*address));
            }
            Access {
                kind,
                space,
                cache_op,
                width,
                mask,
                dest: dest.filter(|_| returns),
                source,
                addresses,
            }
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let compute = (select(OpClass::ALL.to_vec()), 0u16..4, 0u16..4)
        .prop_map(|(class, dest, source)| Step::Compute { class, dest, source });
    let copy = (0u16..1 << CLUSTER, access()).prop_map(|(destinations, access)| {
        let (kind, space) = (Kind::AsyncCopy, Space::Global);
        Step::CopyTo(destinations, Access { kind, space, dest: None, ..access })
    });
    let eviction = || select(Eviction::ALL.map(|(_, eviction)| eviction).to_vec());
    let policy = (eviction(), 1u8..=16, eviction())
        .prop_map(|(primary, sixteenths, secondary)| L2Policy { primary, sixteenths, secondary });
    let with_policy = (policy, access()).prop_map(|(policy, access)| match access.space {
        Space::Global => Step::L2(policy, access),
        _ => Step::Memory(access),
    });
    prop_oneof![
        8 => access().prop_map(Step::Memory),
        2 => with_policy,
        1 => copy,
        3 => compute,
        1 => select(vec![Step::Fence, Step::WaitAsync]),
    ]
}

/// Number of barriers between the stretches of a warp's steps.
const BETWEEN: usize = 3;

/// Whether the CTAs of a kernel synchronize at the cluster barrier there, instead of their own.
type Meetings = [bool; BETWEEN];

/// Role of a warp at a barrier for some warps of its CTA.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Waits,
    Arrives,
    None,
}

/// A warp: its stretches of steps, and its role at the partial barriers between them.
type Stretches = (Vec<Vec<Step>>, [Part; BETWEEN]);

fn stretches() -> impl Strategy<Value = Stretches> {
    let stretch = prop::collection::vec(step(), 0..6);
    let part = select(vec![Part::Waits, Part::Arrives, Part::None]);
    (prop::collection::vec(stretch, 1..=BETWEEN), prop::array::uniform(part))
}

/// Returns the step of a warp at a partial barrier, whose id is its position between the stretches.
fn at_barrier_for_some(id: usize, warps: &[Stretches], part: Part) -> Option<Step> {
    let takes_part =
        |(stretches, parts): &&Stretches| stretches.len() > id && parts[id] != Part::None;
    let count = warps.iter().filter(takes_part).count();
    let barrier = Barrier::of_warps(id as u8, count as u8);
    match part {
        Part::Waits => Some(Step::Barrier(barrier)),
        Part::Arrives => Some(Step::BarrierArrive(barrier)),
        Part::None => None,
    }
}

/// Generates a CTA: warps whose stretches of steps lie between barriers; a warp with fewer
/// stretches ends early. Barriers without an id are partial.
fn cta(meetings: Meetings) -> impl Strategy<Value = Vec<Warp>> {
    let barriers = prop::array::uniform(prop::option::of(0u8..16));
    (prop::collection::vec(stretches(), 1..5), barriers, any::<bool>()).prop_map(
        move |(warps, barriers, exits): (Vec<Stretches>, [Option<u8>; BETWEEN], bool)| {
            let flatten = |(stretches, parts): &Stretches| {
                let mut warp: Warp = Vec::new();
                for (at, stretch) in stretches.iter().enumerate() {
                    match barriers[at] {
                        _ if at == 0 => {}
                        _ if meetings[at] => {
                            warp.extend([Step::ClusterArrive, Step::ClusterWait]);
                        }
                        Some(id) => warp.push(Step::Barrier(Barrier::of_cta(id))),
                        None => warp.extend(at_barrier_for_some(at, &warps, parts[at])),
                    }
                    warp.extend_from_slice(stretch);
                }
                if exits {
                    warp.push(Step::Exit);
                }
                warp
            };
            warps.iter().map(flatten).collect()
        },
    )
}

/// Generates a kernel of a few distinct CTAs, each repeated; an even number may form clusters.
fn kernel() -> impl Strategy<Value = Kernel> {
    let ctas =
        any::<Meetings>().prop_flat_map(|meetings| prop::collection::vec(cta(meetings), 1..3));
    let shared_bytes = select(vec![0u32, 16 << 10]);
    (0u64..3, shared_bytes, ctas, 1usize..4, any::<[bool; 2]>()).prop_map(
        |(stream, shared_bytes, ctas, copies, [in_clusters, resets_l2])| {
            let ctas: Vec<_> = std::iter::repeat_n(ctas, copies).flatten().collect();
            let is_even = ctas.len().is_multiple_of(CLUSTER as usize);
            let cluster = (in_clusters && is_even).then_some([CLUSTER as u32, 1, 1]);
            let registers = 16;
            let kernel = Kernel {
                stream,
                shared_bytes,
                registers,
                cluster,
                resets_l2,
                ctas,
                ..Kernel::default()
            };
            if cluster.is_some() { kernel } else { alone(kernel) }
        },
    )
}

/// Makes the CTAs of a kernel independent of each other.
fn alone(mut kernel: Kernel) -> Kernel {
    kernel.cluster = None;
    for step in kernel.ctas.iter_mut().flatten().flatten() {
        match step {
            Step::CopyTo(_, access) => *step = Step::Memory(access.clone()),
            Step::Memory(access) if access.space == Space::Cluster => {
                let own = |address: u64| ClusterAddress { rank: 0, ..ClusterAddress::of(address) };
                access.addresses.iter_mut().for_each(|address| *address = own(*address).encode());
            }
            _ => {}
        }
    }
    kernel
}

/// A preset and overrides.
#[derive(Clone, Debug)]
struct Small {
    preset: &'static str,
    overrides: Vec<String>,
}

/// Generates a preset with some shapes; in each group, none is as likely as all of its lines
/// together.
fn small_machine() -> impl Strategy<Value = Small> {
    let choices = prop::collection::vec(prop::option::weighted(0.3, any::<Index>()), SHAPES.len());
    (select(machine::preset_names().collect::<Vec<_>>()), choices).prop_map(|(preset, choices)| {
        let chosen = SHAPES
            .iter()
            .zip(choices)
            .filter_map(|(lines, at)| Some(lines[at?.index(lines.len())]));
        let few_sms = std::iter::once("sm.count=4 network.memory_nodes=[] cluster.gpcs=1");
        let overrides: Vec<String> =
            few_sms.chain(chosen).flat_map(str::split_whitespace).map(str::to_owned).collect();
        Small { preset, overrides }
    })
}

/// Returns the counts in which two results differ, except the number of unit steps.
fn differences(one: &RunResult, other: &RunResult) -> Vec<String> {
    let json = |result| serde_json::to_value(result).unwrap();
    let mut found = Vec::new();
    compare("", &json(one), &json(other), &mut found);
    found.retain(|line| !line.starts_with(".steps:"));
    found
}

fn compare(path: &str, one: &Value, other: &Value, found: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
            a.iter()
                .for_each(|(key, value)| compare(&format!("{path}.{key}"), value, &b[key], found));
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let pairs = a.iter().zip(b).enumerate();
            pairs.for_each(|(at, (a, b))| compare(&format!("{path}.{at}"), a, b, found));
        }
        (a, b) if a != b => found.push(format!("{path}: {a} / {b}")),
        _ => {}
    }
}

/// Fails if the run deadlocks, if a second, fully recorded one differs, if the recording does not
/// add up or DRAM exceeds its bandwidth, or if the result differs on several threads or when every
/// unit is stepped in every cycle.
fn check(machine: &Machine, kernels: &[Kernel], threads: &[usize]) -> Result<(), TestCaseError> {
    let file = write(kernels);
    let simulation = || Simulation::new(machine, &file.trace);
    let run = |sink: &mut dyn RunSink| simulation().run(sink);
    let asked = run(&mut Discard).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let mut rows = Everything::of(100);
    prop_assert!(asked == run(&mut rows).unwrap(), "the second run differs");
    rows.check(&asked, kernels);
    let share = bandwidth_over_peak(machine, &asked);
    prop_assert!(share <= 1.0, "{} of the peak bandwidth", share);
    let mut polled_rows = Everything::of(100);
    let polled = simulation().every_cycle().run(&mut polled_rows).unwrap();
    prop_assert!(asked.steps <= polled.steps);
    prop_assert_eq!(differences(&asked, &polled), Vec::<String>::new());
    for &threads in threads {
        let mut sink = Everything::but_requests(100);
        let result = simulation().threads(threads).run(&mut sink);
        prop_assert!(asked == result.unwrap(), "with {} threads", threads);
        check_rows("loads of threads", &rows.loads, &sink.loads)?;
        check_rows("intervals of threads", &rows.intervals, &sink.intervals)?;
        check_rows("warps of threads", &rows.warps, &sink.warps)?;
    }
    let (rows, polled_rows) = (rows.without_retries(), polled_rows.without_retries());
    check_rows("loads", &rows.loads, &polled_rows.loads)?;
    check_rows("requests", &rows.requests, &polled_rows.requests)?;
    check_rows("intervals", &rows.intervals, &polled_rows.intervals)?;
    check_rows("warps", &rows.warps, &polled_rows.warps)
}

/// Fails if the run deadlocks, if weighted counts do not add up, or if the result differs on
/// several threads or when every unit is stepped in every cycle.
fn check_weighed(machine: &Machine, kernels: &[Kernel]) -> Result<(), TestCaseError> {
    let file = write(kernels);
    let simulation = || Simulation::new(machine, &file.trace);
    let asked =
        simulation().run(&mut Discard).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let launches: u32 = asked.kernels.iter().map(|kernel| kernel.stands_for).sum();
    let skipped = machine.run.fast_forward as usize;
    prop_assert_eq!(launches as usize, kernels.len() - skipped);
    let counted = file.trace.kernels().iter().skip(skipped);
    let expected: u64 = counted.map(|kernel| kernel.warp_instructions).sum();
    let issued: u64 = asked.sms.iter().map(|sm| sm.warp_instructions).sum();
    prop_assert!(issued.abs_diff(expected) * 20 <= expected, "{} for {}", issued, expected);
    let polled = simulation().every_cycle().run(&mut Discard).unwrap();
    // An access that is retried over the end of a launch counts its wait at the next retry, with the
    // weight of that launch; in every cycle there is a retry.
    let mut found = differences(&asked, &polled);
    found.retain(|line| !line.contains(".reservation_fails."));
    prop_assert_eq!(found, Vec::<String>::new());
    let threads = simulation().threads(2).run(&mut Discard);
    prop_assert!(asked == threads.unwrap(), "with threads");
    Ok(())
}

/// Fails with the first differing rows.
fn check_rows<R: PartialEq + Debug>(
    table: &str,
    asked: &[R],
    polled: &[R],
) -> Result<(), TestCaseError> {
    let differing = asked.iter().zip(polled).find(|(asked, polled)| asked != polled);
    prop_assert!(differing.is_none(), "{table}: {differing:?}");
    prop_assert_eq!(asked.len(), polled.len(), "{}", table);
    Ok(())
}

#[test]
fn units_request_every_step_on_each_small_machine() {
    let kernels = [mixed(3, 3, 1 << 18), exchange(2), pipeline(2)];
    for line in SHAPES.concat() {
        let base = ["sm.count=2", "cluster.gpcs=1"];
        let overrides: Vec<&str> = base.into_iter().chain(line.split(' ')).collect();
        let result = check(&load("li2015", &overrides), &kernels, &[2]);
        result.unwrap_or_else(|error| panic!("{line}: {error}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(6)))]

    #[test]
    fn units_request_every_step_that_they_need(
        small in small_machine(),
        kernels in prop::collection::vec(kernel(), 1..3),
    ) {
        let machine = machine::load(small.preset, &small.overrides).unwrap();
        // A single SM may have no room for a cluster.
        let kernels = if machine.sm.count > 1 { kernels } else { kernels.into_iter().map(alone).collect() };
        check(&machine, &kernels, &[2, 3])?;
    }

    #[test]
    fn extrapolated_launches_do_not_depend_on_stepping(
        small in small_machine(),
        kernels in prop::collection::vec(kernel().prop_map(alone), 1..3),
        times in 8usize..14,
        skipped in 0u32..3,
    ) {
        let mut overrides = small.overrides;
        let excluded = ["run.concurrent_kernels=true", "run.launch_instructions"];
        overrides.retain(|text| excluded.iter().all(|other| !text.starts_with(other)));
        overrides.extend(["run.error_permille=100".to_owned(), format!("run.fast_forward={skipped}")]);
        let machine = machine::load(small.preset, &overrides).unwrap();
        check_weighed(&machine, &vec![kernels; times].concat())?;
    }
}
