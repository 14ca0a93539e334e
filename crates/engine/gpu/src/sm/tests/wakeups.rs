//! An SM requests every step in which its state changes.

use super::*;
use crate::testing::machine;
use proptest::prelude::*;
use warpmem_testing::{Step, barrier, cases, compute, exit, fence, memory};
use warpmem_trace::OpClass::{Fp64, Integer};
use warpmem_trace::{CacheOp, Kind, Space};

/// A few sectors of a few lines, some in one set.
fn addresses() -> impl Strategy<Value = Vec<u64>> {
    let sector = prop_oneof![0u64..16, (0u64..8).prop_map(|line| 128 * line)];
    prop::collection::vec(sector.prop_map(|n| n * 32), 1..12)
}

fn memory_step() -> impl Strategy<Value = Step> {
    use Space::{Constant, Global, Shared};
    let kinds = prop_oneof![
        4 => Just((Kind::Load, Global, CacheOp::Default)),
        1 => Just((Kind::Load, Global, CacheOp::Global)),
        2 => Just((Kind::Store, Global, CacheOp::Default)),
        1 => Just((Kind::Atomic, Global, CacheOp::Default)),
        1 => Just((Kind::Reduction, Global, CacheOp::Default)),
        2 => Just((Kind::Load, Shared, CacheOp::Default)),
        1 => Just((Kind::Load, Constant, CacheOp::Default)),
    ];
    (kinds, addresses(), prop::option::of(0u32..4)).prop_map(
        |((kind, space, op), addresses, used)| {
            let step = memory(kind, space, &addresses).with(|i| i.cache_op = op);
            match (kind, used) {
                (Kind::Load | Kind::Atomic, Some(distance)) => step.used_after(distance),
                _ => step,
            }
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(compute(Integer, &[])),
        2 => Just(compute(Integer, &[1])),
        2 => Just(compute(Fp64, &[2])),
        6 => memory_step(),
        1 => Just(fence()),
        1 => Just(barrier(0)),
    ]
}

/// A warp starts with two instructions so that dependence distances are valid.
fn warp() -> impl Strategy<Value = WarpSteps> {
    prop::collection::vec(step(), 0..24)
        .prop_map(|steps| [vec![compute(Integer, &[]); 2], steps, vec![exit()]].concat())
}

fn key(name: &'static str, values: &'static [u32]) -> impl Strategy<Value = String> {
    prop::sample::select(values).prop_map(move |value| format!("{name}={value}"))
}

/// A machine with few resources of every kind.
fn overrides() -> impl Strategy<Value = Vec<String>> {
    let pipeline = (
        key("sm.schedulers", &[1, 2, 4]),
        key("sm.issue_interval", &[1, 1, 3]),
        key("sm.fetch_warps", &[0, 1, 2]),
        key("sm.operand_latency", &[4, 6]),
        key("sm.writeback_latency", &[0, 2]),
        key("sm.lsu_queue", &[1, 3]),
        key("sm.collectors", &[0, 1, 2]),
    );
    let l1 = (
        key("sm.max_requests", &[0, 1, 5]),
        key("l1.latency", &[1, 5, 30]),
        key("l1.banks", &[1, 4]),
        key("l1.cache.mshr_entries", &[1, 2, 8]),
        key("l1.cache.mshr_merges", &[1, 8]),
        key("l1.cache.miss_queue", &[2, 4]),
        key("l1.cache.size_bytes", &[256, 16384]),
        prop::sample::select(&["l1.cache.write=write-back", "l1.cache.write=write-through"][..]),
    );
    (pipeline, l1).prop_map(|(p, l)| {
        let write = [l.7.to_owned(), "l1.cache.write_allocate=fetch-on-write".to_owned()];
        // Without collectors, the operand latency may be 0.
        let operands = if p.6 == "sm.collectors=0" { &p.3.replace('6', "0") } else { &p.3 };
        [
            [p.0, p.1, p.2, operands.clone(), p.4, p.5, p.6].to_vec(),
            [l.0, l.1, l.2, l.3, l.4, l.5, l.6].to_vec(),
            write.to_vec(),
        ]
        .concat()
    })
}

/// Every warp scheduler, with limits low enough to hold warps back.
fn policy() -> impl Strategy<Value = String> {
    let texts = [
        "lrr",
        "gto",
        "oldest",
        "two-level(warps=2)",
        "two-level(warps=2,idle=lend)",
        "two-level-active(warps=1)",
        "two-level-active(warps=3)",
        "cta-aware(min_warps=1)",
        "cta-aware(min_warps=3,idle=lend)",
        "cta-aware(groups=residents,min_warps=1)",
        "cta-aware-locality(min_warps=2)",
        "cta-aware-locality(min_warps=1,idle=lend)",
        "cta-aware-locality(groups=slots,min_warps=1)",
        "cta-aware-locality-blp(min_warps=1)",
        "cta-aware-locality-blp(groups=residents,min_warps=2)",
        "swl(warps=1)",
        "swl(warps=2)",
        "ccws",
        "ccws(base=7,throttle=30,victims=2)",
        "caws",
        "mascar",
        "mascar(headroom=0)",
    ];
    prop::sample::select(texts.to_vec()).prop_map(|text| format!("policy.warp_scheduler={text}"))
}

/// A lasting reservation failure keeps the reason of its last lookup, which may have changed
/// since; only the sum over reasons is comparable.
fn sum_of_fails(mut result: SmResult) -> SmResult {
    let fails = &mut result.l1.reservation_fails;
    *fails = [fails.iter().sum(), 0, 0, 0];
    result
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 300, ..ProptestConfig::with_cases(cases(75)) })]

    #[test]
    fn stepping_in_every_cycle_changes_nothing(
        overrides in overrides(),
        policy in policy(),
        ctas in prop::collection::vec(prop::collection::vec(warp(), 1..4), 1..4),
        closed_until in prop::sample::select(&[0u64, 60, 300][..]),
    ) {
        let sectored = ["l1.cache.sector_bytes=32", "l2.cache.sector_bytes=32", "l1.cache.ways=2"];
        let dram = ["dram.bus_bytes=4", "dram.address.map=row:12 bank:4 column:7 burst:5"];
        let few = ["network.input_buffer=1", "sm.units.fp64={latency=9,interval=3}"];
        let fixed = sectored.iter().chain(&dram).chain(&few).copied();
        let all: Vec<&str> = fixed.chain(overrides.iter().chain([&policy]).map(String::as_str)).collect();
        let machine = machine(&all);
        let trace = trace(&[TestKernel::new(ctas)]);
        let run = |every_cycle| {
            let mut rig = Rig::new(&machine, MemoryStub { closed_until, ..MemoryStub::default() });
            rig.every_cycle = every_cycle;
            rig.launch(&trace, START);
            rig.run()
        };
        let (asked, every) = (run(false), run(true));
        prop_assert_eq!(&asked.issues, &every.issues);
        prop_assert_eq!(asked.traffic(), every.traffic());
        prop_assert_eq!(&asked.ended, &every.ended);
        prop_assert_eq!(&asked.loads, &every.loads);
        prop_assert_eq!(asked.counters, every.counters);
        prop_assert_eq!(sum_of_fails(asked.result), sum_of_fails(every.result));
    }
}
