//! Bulk copies.

use warpmem_trace::{Instruction, Kind, Mbarrier, Record, Space, Trace};

use super::coverage::tests;
use super::{Machine, kernel, recorded, recorded_module, result, tids};
use crate::{Launch, Limits, Params};

tests!(
    a_tile_is_loaded_and_stored_completely,
    reductions_combine_global_with_shared_memory,
    prefetches_and_fences_have_no_effect
);

/// Code that lane 0 executes alone.
fn alone(code: &str) -> String {
    format!("setp.eq.u32 %p1, %r0, 0;\n@!%p1 bra END;\n{code}\nEND: bar.warp.sync -1;")
}

const LOAD: &str = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
const STORE: &str = "cp.async.bulk.global.shared::cta.bulk_group";
/// Initializes an mbarrier after the copied data.
const INIT: &str = "mbarrier.init.shared.b64 [tile+2048], 1;\nfence.mbarrier_init.release.cluster;\n\
    mbarrier.arrive.expect_tx.shared::cta.b64 %rd4, [tile+2048], 256;\n";
const WAIT: &str =
    "L: mbarrier.try_wait.parity.shared::cta.b64 %p2, [tile+2048], 0;\n@!%p2 bra L;\n";

#[test]
fn a_tile_is_loaded_and_stored_completely() {
    let a: Vec<u64> = (0..32).map(|n| n * n * n + 5).collect();
    for load in [
        format!("{LOAD} [tile], [%rd1], 256, [tile+2048];"),
        format!("{LOAD}.L2::cache_hint [tile], [%rd1], 256, [tile+2048], %rd5;"),
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%rd1], 256, [tile+2048];"
            .to_owned(),
    ] {
        for hint in ["", ".L2::cache_hint"] {
            let policy = if hint.is_empty() { "" } else { ", %rd5" };
            let code = format!(
                "mov.u64 %rd5, 0;\n{INIT}{load}\n{WAIT}fence.proxy.async.shared::cta;\n\
                 {STORE}{hint} [%rd3], [tile], 256{policy};\ncp.async.bulk.commit_group;\n\
                 cp.async.bulk.wait_group.read 0;\ncp.async.bulk.wait_group 0;"
            );
            assert_eq!(result(&alone(&code), &a, &[]), a, "{load} {hint}");
        }
    }
}

/// Reduces 256 bytes of `c`, all `old`, with bytes of `a`; returns the result.
fn reduced(operation: &str, old: u64, a: u64) -> u64 {
    let code = format!(
        "shl.b32 %r1, %r0, 3;\nmov.u32 %r2, tile;\nadd.u32 %r2, %r2, %r1;\nst.shared.u64 [%r2], {a};\n\
         st.global.u64 [%rd3], {old};\nbar.warp.sync -1;\n{}",
        alone(&format!(
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.{operation} [%rd3], [tile], 256;"
        ))
    );
    let got = result(&code, &[], &[]);
    assert!(got.iter().all(|&word| word == got[0]), "{got:?}");
    got[0]
}

#[test]
fn reductions_combine_global_with_shared_memory() {
    let (old, a) = (0x8000_0005_ffff_fffe, 0x0000_0003_0000_0003);
    let halves = |f: fn(u32, u32) -> u32| {
        u64::from(f((old >> 32) as u32, (a >> 32) as u32)) << 32
            | u64::from(f(old as u32, a as u32))
    };
    assert_eq!(reduced("add.u32", old, a), halves(u32::wrapping_add));
    assert_eq!(reduced("add.s32", old, a), halves(u32::wrapping_add));
    assert_eq!(reduced("add.u64", old, a), old.wrapping_add(a));
    assert_eq!(reduced("inc.u32", old, a), halves(|old, a| if old >= a { 0 } else { old + 1 }));
    assert_eq!(
        reduced("dec.u32", old, a),
        halves(|old, a| if old == 0 || old > a { a } else { old - 1 })
    );
    assert_eq!(reduced("min.u32", old, a), halves(u32::min));
    assert_eq!(reduced("max.u32", old, a), halves(u32::max));
    assert_eq!(reduced("min.s32", old, a), halves(|old, a| (old as i32).min(a as i32) as u32));
    assert_eq!(reduced("max.s64", old, a), a);
    assert_eq!(reduced("min.u64", old, a), a);
    assert_eq!(reduced("and.b32", old, a), old & a);
    assert_eq!(reduced("or.b64", old, a), old | a);
    assert_eq!(reduced("xor.b64", old, a), old ^ a);
    let [x, y] = [1.5f32, -0.25].map(|value| u64::from(value.to_bits()) << 32);
    assert_eq!(reduced("add.f32", x, y), u64::from(1.25f32.to_bits()) << 32);
    assert_eq!(reduced("add.f64", 1.5f64.to_bits(), 2.0f64.to_bits()), 3.5f64.to_bits());
    // 1.0 + 2.0 in four halves.
    assert_eq!(
        reduced("add.noftz.f16", 0x3c00_3c00_3c00_3c00, 0x4000_4000_4000_4000),
        0x4200_4200_4200_4200
    );
    assert_eq!(
        reduced("add.noftz.bf16", 0x3f80_3f80_3f80_3f80, 0x4000_4000_4000_4000),
        0x4040_4040_4040_4040
    );
}

#[test]
fn prefetches_and_fences_have_no_effect() {
    let code = "cp.async.bulk.prefetch.L2.global [%rd1], 256;\nmov.u64 %rd5, 0;\n\
        cp.async.bulk.prefetch.L2.global.L2::cache_hint [%rd1], 16, %rd5;\n\
        fence.proxy.async;\nfence.proxy.async.global;\nst.global.u64 [%rd3], 7;";
    assert_eq!(result(&alone(code), &tids(), &[])[..2], [7, 0]);
}

const PIPELINE: &str = include_str!("bulk_pipeline.ptx");
const TILE_WORDS: usize = 1024;

/// Runs the pipeline with two CTAs of five tiles; returns the result and the records of its warps.
fn pipeline() -> (Vec<u32>, Vec<Vec<(Instruction, Record)>>) {
    const TILES: u32 = 5;
    let words = 2 * TILES as usize * TILE_WORDS;
    let mut machine = Machine::new(words / 2);
    let input: Vec<u64> = (0..words as u64 / 2).map(|n| (6 * n + 3) << 32 | (6 * n)).collect();
    machine.set(0, &input);
    let [from, to] = [machine.arrays[0], machine.arrays[2]].map(|a| a.to_le_bytes().to_vec());
    let launch = Launch {
        kernel: "add_tiles".into(),
        params: Params(vec![from, to, TILES.to_le_bytes().to_vec(), 100u32.to_le_bytes().to_vec()]),
        ..machine.launch(2, 128)
    };
    let (_, bytes) = recorded_module(&mut machine, PIPELINE, &launch, Limits::default()).unwrap();
    let left = machine.get(2).iter().flat_map(|word| [*word as u32, (word >> 32) as u32]).collect();
    (left, records(&bytes))
}

/// Returns the records of each warp.
pub(super) fn records(trace: &[u8]) -> Vec<Vec<(Instruction, Record)>> {
    let trace = Trace::from_bytes("k.wmt", trace.to_vec()).unwrap();
    let instructions = trace.instructions(0).unwrap();
    let mut warps = Vec::new();
    for number in trace.kernels()[0].chunks.clone() {
        let chunk = trace.chunk(0, number).unwrap();
        for (cta, entry) in chunk.ctas().iter().enumerate() {
            for warp in 0..entry.warps.len() {
                let (mut cursor, mut record) = (chunk.warp(cta, warp), Record::new());
                let mut all = Vec::new();
                while cursor.next(&mut record).unwrap() {
                    let instruction = instructions[record.instruction.0 as usize].clone();
                    all.push((instruction, record.clone()));
                }
                warps.push(all);
            }
        }
    }
    warps
}

#[test]
fn a_two_stage_pipeline_processes_every_tile() {
    let (left, _) = pipeline();
    let expected = (0..left.len() as u32).map(|at| 3 * at + 100);
    assert_eq!(left, expected.collect::<Vec<_>>());
}

#[test]
fn pipelines_record_each_copy_and_its_wait() {
    let (_, warps) = pipeline();
    let wide = |warp: &[(Instruction, Record)], kind: Kind| {
        let of_kind = |(i, _): &&(Instruction, Record)| i.kind == kind && i.space == Space::Global;
        warp.iter().filter(of_kind).cloned().collect::<Vec<_>>()
    };
    assert_eq!(warps.len(), 8);
    for warp in [&warps[0], &warps[4]] {
        let (loads, stores) = (wide(warp, Kind::AsyncCopy), wide(warp, Kind::Store));
        assert_eq!((loads.len(), stores.len()), (5, 5));
        let both = || loads.iter().chain(&stores);
        assert!(both().all(|(i, record)| (i.width, record.mask) == (4096, 1)));
        for copies in [&loads, &stores] {
            let apart =
                |pair: &[(Instruction, Record)]| pair[1].1.addresses[0] - pair[0].1.addresses[0];
            assert!(copies.windows(2).all(|pair| apart(pair) == 4096), "tile after tile");
        }
        let signals = loads.iter().map(|(i, _)| i.mbarrier);
        let stages: Vec<_> = signals.collect();
        let signal = |stage: usize| Some(Mbarrier::Signal { offset: 2 * 4096 + 8 * stage as u32 });
        assert_eq!(stages, [0, 1, 0, 1, 0].map(signal));
        assert!(
            !warp.iter().any(|(i, _)| i.kind == Kind::Fence),
            "fences do not wait for the copies"
        );
    }
    // Every warp waits for each tile, phase by phase of both stages.
    for warp in &warps {
        let waits = warp.iter().filter_map(|(i, _)| match i.mbarrier {
            Some(Mbarrier::Wait { parity }) => Some(parity),
            _ => None,
        });
        assert_eq!(waits.collect::<Vec<_>>(), [false, false, true, true, false]);
    }
    assert!(wide(&warps[1], Kind::AsyncCopy).is_empty() && wide(&warps[1], Kind::Store).is_empty());
}

fn records_of(code: &str) -> Vec<(Instruction, Record)> {
    let mut machine = Machine::new(4096);
    let launch = machine.launch(1, 32);
    let (_, bytes) = recorded(&mut machine, code, &launch, Limits::default()).unwrap();
    records(&bytes).remove(0)
}

/// Returns kind, bytes and mask of the records outside shared memory.
fn bulk_records(code: &str) -> Vec<(Kind, u32, u32)> {
    let records = records_of(code);
    let bulk = records.iter().filter(|(i, _)| i.space == Space::Global);
    bulk.map(|(i, record)| (i.kind, i.width, record.mask)).collect()
}

#[test]
fn lanes_of_equal_size_share_a_record() {
    let prefetch = |sizes: &str| {
        bulk_records(&format!("{sizes}\ncp.async.bulk.prefetch.L2.global [%rd4], %r1;"))
    };
    let at =
        "mul.wide.u32 %rd4, %r0, 1024;\nadd.u64 %rd4, %rd4, %rd1;\nsub.u64 %rd4, %rd4, %rd0;\n";
    let equal = prefetch(&format!("{at}mov.u32 %r1, 512;"));
    assert_eq!(equal, [(Kind::Prefetch, 512, u32::MAX)]);
    let two = prefetch(&format!("{at}and.b32 %r1, %r0, 1;\nmad.lo.u32 %r1, %r1, 16, 512;"));
    assert_eq!(two, [(Kind::Prefetch, 512, 0x5555_5555), (Kind::Prefetch, 528, 0xaaaa_aaaa)]);
    let some = prefetch(&format!("{at}and.b32 %r1, %r0, 16;"));
    assert_eq!(some, [(Kind::Prefetch, 16, 0xffff_0000)], "the other lanes copy nothing");
    assert_eq!(prefetch(&format!("{at}mov.u32 %r1, 0;")), [(Kind::Prefetch, 16, 0)]);
}

/// ptxas issues one instruction for identical lanes, unless each lane changes memory.
#[test]
fn identical_lanes_merge_stores_and_prefetches_only() {
    let of_all = |code: &str| {
        bulk_records(&format!("sub.u64 %rd4, %rd1, %rd0;\nsub.u64 %rd5, %rd3, %rd0;\n{code}"))
    };
    let prefetch = "cp.async.bulk.prefetch.L2.global [%rd4], 512;";
    assert_eq!(of_all(prefetch), [(Kind::Prefetch, 512, 1)]);
    let two = format!(
        "and.b32 %r1, %r0, 4;\nmul.wide.u32 %rd6, %r1, 256;\nadd.u64 %rd4, %rd4, %rd6;\n{prefetch}"
    );
    assert_eq!(of_all(&two), [(Kind::Prefetch, 512, 0b1_0001)]);
    assert_eq!(of_all(&format!("{STORE} [%rd5], [tile], 256;")), [(Kind::Store, 256, 1)]);
    let load = format!(
        "setp.eq.u32 %p1, %r0, 0;\n@%p1 mbarrier.init.shared.b64 [tile+2048], 1;\n\
         bar.warp.sync -1;\n{LOAD} [tile], [%rd4], 256, [tile+2048];"
    );
    assert_eq!(of_all(&load), [(Kind::AsyncCopy, 256, u32::MAX)]);
    let reduce = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd5], [tile], 16;";
    assert_eq!(of_all(reduce), [(Kind::Reduction, 16, u32::MAX)]);
}

#[test]
fn large_copies_are_split_into_records() {
    let code = alone("cp.async.bulk.prefetch.L2.global [%rd1], 0x20010;");
    let whole = 1 << 16;
    let expected =
        [(Kind::Prefetch, whole, 1), (Kind::Prefetch, whole, 1), (Kind::Prefetch, 16, 1)];
    assert_eq!(bulk_records(&code), expected);
    let records = records_of(&code);
    let prefetches = records.iter().filter(|(i, _)| i.kind == Kind::Prefetch);
    let addresses: Vec<u64> = prefetches.map(|(_, record)| record.addresses[0]).collect();
    assert_eq!(addresses, [0, 1, 2].map(|part| addresses[0] + (part << 16)));
}

#[test]
fn copies_complete_at_their_own_mbarrier() {
    let code = alone(&format!(
        "mbarrier.init.shared.b64 [tile+2048], 1;\nmbarrier.init.shared.b64 [tile+2056], 1;\n\
         mbarrier.arrive.expect_tx.shared.b64 %rd4, [tile+2048], 256;\n\
         mbarrier.arrive.expect_tx.shared.b64 %rd4, [tile+2056], 512;\n\
         {LOAD} [tile], [%rd1], 256, [tile+2048];\n{LOAD} [tile+256], [%rd1], 512, [tile+2056];\n\
         mbarrier.test_wait.parity.shared.b64 %p2, [tile+2056], 0;\nadd.u32 %r1, %r1, 1;\n\
         mbarrier.test_wait.parity.shared.b64 %p2, [tile+2048], 0;\nadd.u32 %r1, %r1, 1;"
    ));
    let records = records_of(&code);
    let copies = records.iter().filter(|(i, _)| i.kind == Kind::AsyncCopy);
    let signals: Vec<_> = copies.map(|(i, _)| (i.width, i.mbarrier)).collect();
    let signal = |offset| Some(Mbarrier::Signal { offset });
    assert_eq!(signals, [(256, signal(2048)), (512, signal(2056))]);
    let wait = Some(Mbarrier::Wait { parity: false });
    let waits = records.iter().filter(|(i, _)| i.mbarrier == wait);
    let waits: Vec<_> = waits.map(|(_, record)| record.active_addresses()[0]).collect();
    assert_eq!(waits, [2056, 2048]);
}

#[test]
fn misaligned_and_invalid_copies_stop_the_kernel() {
    let load = |operands: &str| format!("{INIT}{LOAD} {operands};");
    for (code, reason) in [
        (
            load("[tile], [%rd1], 24, [tile+2048]"),
            "bulk copy of 24 bytes, which is not a multiple of 16",
        ),
        (
            load("[tile+8], [%rd1], 16, [tile+2048]"),
            "bulk copy to 0x8, which is not a multiple of 16",
        ),
        (load("[tile], [%rd1+8], 16, [tile+2048]"), "bulk copy from 0x"),
        (load("[tile], [%rd1], 16, [tile+2052]"), "at the misaligned address"),
        (load("[tile], [%rd1], 16, [tile+1024]"), "there is no initialised mbarrier"),
        (load("[tile+3840], [%rd1], 512, [tile+2048]"), "of shared memory is out of bounds"),
        (load("[tile], [%rd1], 1024, [tile+2048]"), "of global memory is out of bounds"),
        (format!("{STORE} [%rd3+8], [tile], 16;"), "bulk copy to 0x"),
        (format!("{STORE} [%rd3], [tile], 8;"), "bulk copy of 8 bytes"),
    ] {
        let error = Machine::new(64).run(&kernel(&alone(&code)), 1, 32).unwrap_err().to_string();
        assert!(error.contains(reason) && error.contains("line "), "{code}: {error}");
    }
}

/// CTAs whose bulk reductions overlap cannot be executed independently.
#[test]
fn reductions_of_all_ctas_add_up() {
    let code = alone(
        "st.shared.u64 [tile], 1;\nst.shared.u64 [tile+8], 2;\n\
         cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64 [%rd3], [tile], 16;",
    );
    let mut machine = Machine::new(64);
    machine.run(&kernel(&code), 40, 32).unwrap();
    assert_eq!(machine.get(2)[..2], [40, 80]);
}
