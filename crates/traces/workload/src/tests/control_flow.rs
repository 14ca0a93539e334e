//! Divergence and reconvergence of lanes, observed in memory and in the trace.

use warpmem_trace::{CacheOp, Kind, OpClass, Space};

use super::{ALL, count, masks, run_cta};
use crate::gpu::Launch;
use crate::kernels::prelude::grid_of;
use crate::kernels::testing::run;
use crate::warp::Warp;
use crate::warp::memory::Array;

#[test]
fn lanes_diverge_at_a_branch_and_reconverge_after_it() {
    let run = run_cta(32, async |w, out| {
        let x = w.thread_x();
        w.when(x.lt(10), || {
            w.when(x.lt(4), || out.store(x, 100));
            out.store(x, 7);
        });
        out.at(x).add(1);
    });
    let expected: Vec<u32> = (0..32).map(|x| if x < 10 { 8 } else { 1 }).collect();
    assert_eq!(run.result, expected);
    let executed = run.warp(0);
    assert_eq!(masks(&executed, Kind::Store), [0xf, 0x3ff]);
    assert_eq!(masks(&executed, Kind::Reduction), [ALL]);
    assert_eq!(masks(&executed, Kind::Exit), [ALL]);
}

#[test]
fn a_branch_counts_the_lanes_that_jump() {
    let run = run_cta(32, async |w, out| {
        let x = w.thread_x();
        w.when(x.lt(10), || out.store(x, 1));
    });
    let store = &run.warp(0)[0];
    assert_eq!(store.0.kind, Kind::Store);
    // Before the store: the convergence barrier by all lanes, the branch by the 22 that skip it.
    assert_eq!(store.1.compute_lanes[OpClass::Control as usize], 32 + 22);
}

#[test]
fn lanes_that_exit_never_come_back() {
    let run = run_cta(32, async |w, out| {
        let x = w.thread_x();
        w.when(x.lt(16), || {
            w.exit_unless(x.lt(8));
            out.store(x, 1);
        });
        out.at(x).add(10);
    });
    let expected: Vec<u32> = (0..32)
        .map(|x| {
            if x < 8 {
                11
            } else if x < 16 {
                0
            } else {
                10
            }
        })
        .collect();
    assert_eq!(run.result, expected);
    assert_eq!(masks(&run.warp(0), Kind::Exit), [0x0000_ff00, 0xffff_00ff]);
}

#[test]
fn nothing_is_recorded_after_all_lanes_exit() {
    let run = run_cta(32, async |w, out| {
        let x = w.thread_x();
        w.exit_unless(x.lt(0));
        w.range(x, 5, 1, |_| out.store(x, 1));
        w.barrier().await;
        out.store(x, 2);
    });
    assert_eq!(run.result, [0; 32]);
    let executed = run.warp(0);
    assert_eq!(executed.len(), 1);
    assert_eq!((executed[0].0.kind, executed[0].1.mask), (Kind::Exit, ALL));
}

#[test]
fn lanes_iterate_independently() {
    let run = run_cta(32, async |w, out| {
        let x = w.thread_x();
        let trips = x & 3;
        w.range(0, trips, 1, |_| out.at(x).add(1));
        out.at(x).add(10);
    });
    assert!((0..32).all(|x| run.result[x] == 10 + x as u32 % 4));
    assert_eq!(masks(&run.warp(0), Kind::Reduction), [0xeeee_eeee, 0xcccc_cccc, 0x8888_8888, ALL]);
}

#[test]
fn a_program_counter_is_a_code_position_on_every_path() {
    let run = run_cta(96, async |w, out| {
        let x = w.thread_x();
        w.when(x.lt(40), || {
            out.store(x, 1);
            w.range(0, x & 1, 1, |_| out.store(x, 2));
            w.exit_unless(x.lt(33));
        });
        out.at(x).add(1);
    });
    let pc_of_end = |warp: usize| {
        let executed = run.warp(warp);
        let (add, _) = executed.iter().find(|(i, _)| i.kind == Kind::Reduction).unwrap();
        add.pc
    };
    assert_eq!(pc_of_end(0), pc_of_end(1));
    assert_eq!(pc_of_end(0), pc_of_end(2));
    let pcs: Vec<u64> = run.warp(0).iter().map(|(i, _)| i.pc).collect();
    assert!(pcs.is_sorted() && pcs.iter().all(|pc| pc % 16 == 0), "{pcs:?}");
}

#[test]
fn a_loop_runs_the_same_program_counters_again() {
    let run = run_cta(32, async |w, out| {
        let x = w.thread_x();
        w.range(0, 3, 1, |_| out.at(x).add(1));
    });
    let pcs: Vec<u64> = run.warp(0).iter().map(|(i, _)| i.pc).collect();
    assert_eq!(pcs.len(), 4);
    assert!(pcs[0] == pcs[1] && pcs[1] == pcs[2] && pcs[2] < pcs[3]);
}

#[test]
fn a_variable_changes_only_in_active_lanes() {
    let run = run_cta(32, async |w, out| {
        let x = w.thread_x();
        let value = w.var(5);
        w.when(x.lt(3), || value.set(x + 100));
        out.store(x, &value);
    });
    assert_eq!(run.result[..5], [100, 101, 102, 5, 5]);
}

#[test]
fn a_value_just_computed_is_written_directly_to_the_variable() {
    let integers = |kernel: fn(&Warp, Array<u32>)| {
        let run = run_cta(32, async |w, out| kernel(w, out));
        count(&run.warp(0), OpClass::Integer)
    };
    let direct = integers(|w, out| {
        let (x, value) = (w.thread_x(), w.var(0));
        value.set(x + 1);
        out.store(x, &value);
    });
    let moved = integers(|w, out| {
        let (x, value) = (w.thread_x(), w.var(0));
        let sum = x + 1;
        out.store(x, 3);
        value.set(sum);
        out.store(x, &value);
    });
    // MOV R1, S2R, MOV, IADD3, IMAD.WIDE; the second also computes the other store's address and
    // moves.
    assert_eq!((direct, moved), (5, 7));
}

#[test]
fn a_variable_depends_on_its_last_writer() {
    let run = run_cta(32, async |w, out| {
        let x = w.thread_x();
        let value = w.var(0);
        w.when(x.lt(3), || value.set(out.load(x)));
        out.store(x, &value);
    });
    let (load, _) = &run.warp(0)[0];
    // BSYNC and the store's IMAD.WIDE are in between.
    assert_eq!((load.kind, load.use_distance), (Kind::Load, Some(2)));
}

#[test]
fn values_from_before_a_loop_are_moved_in_every_iteration() {
    let run = run_cta(32, async |w, out| {
        let (x, value, k) = (w.thread_x(), w.var(0), w.var(0u32));
        let loaded = out.load(x);
        w.do_while(|| {
            value.set(loaded);
            k.set(k.get() + 1);
            k.get().lt(3)
        });
        out.store(x, &value);
    });
    let executed = run.warp(0);
    let (store, _) = executed.iter().find(|(i, _)| i.kind == Kind::Store).unwrap();
    let class = |class| store.compute.iter().filter(|c| c.class == class).count();
    // Three rounds of move, add, compare and branch; the store's address.
    assert_eq!((class(OpClass::Integer), class(OpClass::Control)), (3 * 3 + 1, 3));
}

#[test]
fn threads_beyond_the_block_do_not_exist() {
    let run = run_cta(40, async |w, out| {
        let x = w.thread_x();
        out.store(x, x + 1);
    });
    assert_eq!(run.result, (1..=40).collect::<Vec<u32>>());
    assert_eq!(masks(&run.warp(1), Kind::Store), [0xff]);
}

#[test]
fn no_warp_passes_a_barrier_before_all_arrive() {
    let run = run_cta(96, async |w, out| {
        let tile = w.shared::<u32>(96);
        let x = w.thread_x();
        let other = w.var(95).get() - x;
        tile.at(x).store(x);
        w.barrier().await;
        let mirrored = tile.at(other).load();
        w.barrier().await;
        tile.at(x).store(mirrored);
        out.store(x, tile.at(x).load());
    });
    assert_eq!(run.result, (0..96).rev().collect::<Vec<u32>>());
    for warp in 0..3 {
        assert_eq!(masks(&run.warp(warp), Kind::Barrier), [ALL, ALL]);
    }
}

#[test]
fn addresses_are_those_of_the_active_lanes_lowest_first() {
    let run = run_cta(32, async |w, out| {
        let x = w.thread_x();
        w.when((x & 7).eq(3), || out.store(w.var(31).get() - x, x));
    });
    let (_, store) = &run.warp(0)[0];
    let base = *run.addresses(Kind::Store).first().unwrap() - 4 * 4;
    assert_eq!(store.mask, 0x0808_0808);
    assert_eq!(store.active_addresses(), [28, 20, 12, 4].map(|index| base + 4 * index));
    assert_eq!(run.result[4..=28].iter().step_by(8).copied().collect::<Vec<_>>(), [27, 19, 11, 3]);
}

#[test]
fn ctas_and_threads_are_numbered_x_first() {
    let run = run(|gpu| {
        let seen = gpu.zeros::<u32>(96);
        let launch = Launch { grid: [3, 2, 2], block: [4, 4, 1], ..grid_of("test", 0, 0, 8) };
        gpu.launch(&launch, async |w| seen.at(w.global_x()).add(1))?;
        Ok(gpu.download(seen))
    });
    assert_eq!(run.result[..13], [16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 0]);
    let trace = run.trace();
    let chunk = trace.chunk(0, 0).unwrap();
    let blocks: Vec<[u32; 3]> = chunk.ctas().iter().map(|cta| cta.block).collect();
    assert_eq!(blocks.len(), 12);
    assert_eq!(blocks[2..5], [[2, 0, 0], [0, 1, 0], [1, 1, 0]]);
    assert_eq!(blocks[5..8], [[2, 1, 0], [0, 0, 1], [1, 0, 1]]);
}

#[test]
fn shuffles_read_the_lane_above() {
    let run = run_cta(32, async |w, out| {
        let x = w.thread_x();
        w.exit_unless(x.lt(30));
        out.store(x, x.shuffle_down(4));
    });
    let expected: Vec<u32> = (0..32)
        .map(|x| {
            if x >= 30 {
                0
            } else if x < 26 {
                x + 4
            } else {
                x
            }
        })
        .collect();
    assert_eq!(run.result, expected);
}

#[test]
fn atomics_on_one_address_all_count() {
    let run = run_cta(64, async |w, out| {
        let (x, counter) = (w.thread_x(), w.shared::<u32>(1));
        out.first(w).add(1);
        out.at(x & 1).add(1);
        counter.at(x & 0x100).add(1);
        w.barrier().await;
        w.exit_unless(x.eq(2));
        out.store(x, counter.at(x & 0x100).load());
    });
    assert_eq!(run.result[..4], [64 + 32, 32, 64, 0]);
    let executed = run.warp(0);
    let reductions = executed.iter().filter(|(i, _)| i.kind == Kind::Reduction);
    let served: Vec<_> = reductions.map(|(i, _)| (i.space, i.cache_op)).collect();
    assert_eq!(
        served,
        [
            (Space::Global, CacheOp::StrongGpu),
            (Space::Global, CacheOp::StrongGpu),
            (Space::Shared, CacheOp::Default)
        ]
    );
}

#[test]
fn vecadd_has_the_instructions_of_its_compiled_code() {
    let run = run_cta(32, async |w, out| {
        let i = w.global_x();
        w.exit_unless(i.lt(32));
        out.store(i, out.load(i) + out.load(i));
    });
    // MOV S2R S2R IMAD ISETP EXIT IMAD.WIDE LDG IMAD.WIDE LDG IADD IMAD.WIDE STG EXIT.
    let kernel = &run.trace().kernels()[0];
    assert_eq!((kernel.warp_instructions, kernel.records), (14, 4));
    let executed = run.warp(0);
    assert_eq!(executed[0].0.use_distance, Some(2));
    assert_eq!(executed[1].0.use_distance, Some(0));
    assert_eq!(executed[2].0.deps, [1, 2], "the store waits for its address and for the sum");
}
