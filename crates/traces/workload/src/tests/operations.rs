//! Results of operations in every lane, and the instructions they issue.

use std::f32::consts::{LN_2, LOG2_E};

use half::f16;
use warpmem_trace::{CacheOp, Instruction, Kind, OpClass, Record, Space};

use super::{ALL, count, masks, run_cta};
use crate::gpu::{Gpu, Launch};
use crate::kernels::prelude::grid_of;
use crate::kernels::testing::run;
use crate::pointer::Pointer;
use crate::warp::Warp;
use crate::warp::lanes::Lanes;
use crate::warp::memory::Array;
use crate::warp::predicate::Predicate;

/// Returns the results of `operation` in all lanes, and its number of instructions of `class`.
fn unary(
    class: OpClass,
    operation: impl for<'w> Fn(Lanes<'w, u32>) -> Lanes<'w, u32>,
) -> (Vec<u32>, usize) {
    let with = run_cta(32, async |w, out| out.store(w.thread_x(), operation(w.thread_x())));
    let without = run_cta(32, async |w, out| out.store(w.thread_x(), w.thread_x()));
    let instructions = count(&with.warp(0), class) - count(&without.warp(0), class);
    (with.result, instructions)
}

fn lanes(of: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..32).map(of).collect()
}

#[test]
fn integer_operations_are_one_instruction() {
    type Operation = for<'w> fn(Lanes<'w, u32>) -> Lanes<'w, u32>;
    type Expected = fn(u32) -> u32;
    let operations: [(Operation, Expected); 15] = [
        (|x| x + 5, |x| x + 5),
        (|x| x - 5, |x| x.wrapping_sub(5)),
        (|x| x * 5, |x| x * 5),
        (|x| x & 5, |x| x & 5),
        (|x| x | 5, |x| x | 5),
        (|x| x ^ 5, |x| x ^ 5),
        (|x| x << 3, |x| x << 3),
        (|x| x >> 3, |x| x >> 3),
        (|x| x << x, |x| x << x),
        (|x| x >> x, |x| x >> x),
        (|x| x.min(9), |x| x.min(9)),
        (|x| x.max(9), |x| x.max(9)),
        (|x| x.mad(3, 4), |x| 3 * x + 4),
        (|x| x.quotient(8), |x| x / 8),
        (|x| x.remainder(8), |x| x % 8),
    ];
    for (index, (operation, expected)) in operations.into_iter().enumerate() {
        assert_eq!(unary(OpClass::Integer, operation), (lanes(expected), 1), "{index}");
    }
}

#[test]
fn division_by_a_constant_is_a_product_and_a_shift() {
    assert_eq!(unary(OpClass::Integer, |x| x.quotient(7)), (lanes(|x| x / 7), 2));
    assert_eq!(unary(OpClass::Integer, |x| x.remainder(7)), (lanes(|x| x % 7), 3));
}

#[test]
fn the_upper_half_of_a_product_is_one_instruction() {
    let high = |x| unary(OpClass::Integer, |lane| (lane + u32::MAX - 31).mul_high(x));
    assert_eq!(high(1 << 31).0, lanes(|x| (u32::MAX - 31 + x) >> 1));
    assert_eq!(unary(OpClass::Integer, |x| x.mul_high(1 << 31)), (lanes(|x| x >> 1), 1));
}

#[test]
fn bits_are_counted_and_found() {
    assert_eq!(unary(OpClass::Integer, |x| x.count_ones()), (lanes(u32::count_ones), 1));
    assert_eq!(
        unary(OpClass::Integer, |x| (x + 1).lowest_bit()).0,
        lanes(|x| (x + 1).trailing_zeros())
    );
    assert_eq!(unary(OpClass::Integer, |x| x.lowest_bit()).1, 2);
}

#[test]
fn conditions_are_per_lane() {
    type Condition = for<'w> fn(Lanes<'w, u32>) -> Predicate<'w>;
    type Holds = fn(u32) -> bool;
    let conditions: [(Condition, Holds); 9] = [
        (|x| x.lt(7), |x| x < 7),
        (|x| x.le(7), |x| x <= 7),
        (|x| x.gt(7), |x| x > 7),
        (|x| x.ge(7), |x| x >= 7),
        (|x| x.eq(7), |x| x == 7),
        (|x| x.ne(7), |x| x != 7),
        (|x| !x.lt(7), |x| x >= 7),
        (|x| x.gt(3) & x.lt(7), |x| x > 3 && x < 7),
        (|x| x.lt(3) | x.gt(7), |x| !(3..=7).contains(&x)),
    ];
    for (index, (condition, holds)) in conditions.into_iter().enumerate() {
        let chosen = unary(OpClass::Integer, |x| condition(x).select(x, 1000)).0;
        assert_eq!(chosen, lanes(|x| if holds(x) { x } else { 1000 }), "{index}");
    }
}

#[test]
fn ballots_are_of_active_lanes() {
    let run = run_cta(32, async |w, out| {
        let x = w.thread_x();
        w.when(x.lt(8), || {
            out.store(x, x.ge(4).ballot());
        });
    });
    assert_eq!(run.result, lanes(|x| if x < 8 { 0xf0 } else { 0 }));
}

#[test]
fn shuffles_return_values_of_active_lanes() {
    let shuffled = |with: for<'w> fn(Lanes<'w, u32>) -> Lanes<'w, u32>| {
        let run = run_cta(32, async |w, out| {
            let x = w.thread_x();
            w.when(x.lt(30), || out.store(x, with(x)));
        });
        run.result[..30].to_vec()
    };
    let below_30 = |of: fn(u32) -> u32| (0..30).map(of).collect::<Vec<_>>();
    assert_eq!(shuffled(|x| x.shuffle_down(4)), below_30(|x| if x < 26 { x + 4 } else { x }));
    assert_eq!(shuffled(|x| x.shuffle_up(4)), below_30(|x| if x < 4 { x } else { x - 4 }));
    assert_eq!(shuffled(|x| x.shuffle_xor(2)), below_30(|x| if x < 28 { x ^ 2 } else { x }));
    assert_eq!(
        shuffled(|x| x.shuffle(x * 2 + 1)),
        below_30(|x| match (2 * x + 1) % 32 {
            from if from < 30 => from,
            _ => x,
        })
    );
    assert_eq!(unary(OpClass::Integer, |x| x.shuffle(3)), (vec![3; 32], 1));
}

#[test]
fn active_masks_and_lower_lane_masks_are_correct() {
    let run = run_cta(64, async |w, out| {
        let x = w.thread_x();
        w.when(x.lt(38), || out.store(x, w.active_mask() & w.lanes_below()));
    });
    let below = |x: u32| (1 << (x % 32)) - 1;
    assert_eq!(run.result[..38], (0..38).map(below).collect::<Vec<_>>());
    assert_eq!(unary(OpClass::Integer, |x| x & x.warp().active_mask()), (lanes(|x| x), 2));
}

/// Runs `kernel` on an array of 32 numbers 0, 1, 2…
fn floats(
    kernel: impl for<'w> Fn(Lanes<'w, f32>) -> Lanes<'w, f32>,
) -> (Vec<f32>, Vec<(Instruction, Record)>) {
    let run = run(|gpu: &mut Gpu| {
        let numbers: Array<f32> = gpu.upload(&(0..32).map(|x| x as f32).collect::<Vec<_>>());
        gpu.launch(&grid_of("test", 1, 32, 8), async |w| {
            let at = numbers.at(w.thread_x());
            at.store(kernel(at.load()));
        })?;
        Ok(gpu.download(numbers))
    });
    let executed = run.warp(0);
    (run.result, executed)
}

#[test]
fn functions_are_exact_and_have_the_instructions_of_compiled_code() {
    let of = |with: fn(f32) -> f32| (0..32).map(|x| with(x as f32)).collect::<Vec<_>>();
    let mix = |executed: &Vec<_>| {
        [OpClass::Fp32, OpClass::Sfu, OpClass::Control].map(|class| count(executed, class))
    };
    let (distances, executed) = floats(|x| (x - 9.0).abs());
    assert_eq!(distances, of(|x| (x - 9.0).abs()));
    assert_eq!(mix(&executed), [1, 0, 0]);
    let (quotients, executed) = floats(|x| x.divided_by(3.0));
    assert_eq!((quotients, mix(&executed)), (of(|x| x / 3.0), [6, 1, 1]));
    let (powers, executed) = floats(|x| (x - 31.0).exp());
    let power = |x: f32| libm::exp2(((x - 31.0) * LOG2_E).into()) as f32;
    assert_eq!((powers, mix(&executed)), (of(power), [2, 1, 0]));
    let (roots, executed) = floats(|x| x.sqrt());
    assert_eq!((roots, mix(&executed)), (of(f32::sqrt), [4, 1, 1]));
    let (logarithms, executed) = floats(|x| (x + 1.0).ln());
    let logarithm = |x: f32| libm::log2((x + 1.0).into()) as f32 * LN_2;
    assert_eq!((logarithms, mix(&executed)), (of(logarithm), [2, 1, 0]));
    let (negated, executed) = floats(|x| -x + 0.5);
    assert_eq!((negated, mix(&executed)), (of(|x| 0.5 - x), [1, 0, 0]));
    assert_eq!(floats(|x| (x * 7.5).to_u8().to_f32()).0, of(|x| (x * 7.5).round_ties_even()));
    assert_eq!(floats(|x| (x * -8.5).to_i16().to_f32()).0, of(|x| (x * -8.5).round_ties_even()));
    assert_eq!(floats(|x| x.mad(2.0, 0.5)).0, of(|x| 2.0 * x + 0.5));
    assert_eq!(floats(|x| (x * 0.3).to_f16().to_f32()).0, of(|x| f16::from_f32(x * 0.3).to_f32()));
}

#[test]
fn packed_halves_round_every_operation() {
    let half = |x: f32| f16::from_f32(x).to_f32();
    let of = |with: &dyn Fn(f32) -> f32| (0..32).map(|x| with(x as f32)).collect::<Vec<_>>();
    let mix = |executed: &Vec<_>| [OpClass::Fp16, OpClass::Integer].map(|c| count(executed, c));
    let (_, bare) = floats(|x| x);
    let (same, executed) = floats(|x| x.to_f16().pack((x * 0.1).to_f16()).part(1).to_f32());
    assert_eq!(same, of(&|x| half(x * 0.1)));
    assert_eq!(mix(&executed), [1, mix(&bare)[1] + 3]);
    let (products, executed) = floats(|x| {
        let pair = (x * 0.1).pack(x);
        pair.hmul2(pair).part(0).to_f32() + pair.hadd2(pair.hmul2(pair)).part(1).to_f32()
    });
    let lower = |x: f32| half(half(x * 0.1) * half(x * 0.1));
    assert_eq!(products, of(&|x| lower(x) + half(x + half(x * x))));
    assert_eq!(mix(&executed), [5, mix(&bare)[1] + 1]);
    let (inverses, executed) = floats(|x| (x + 3.0).reciprocal());
    assert_eq!((inverses, count(&executed, OpClass::Sfu)), (of(&|x| 1.0 / (x + 3.0)), 1));
}

#[test]
fn atomics_return_the_old_value_and_store_the_new_one() {
    let run = run_cta(32, async |w, out| {
        let x = w.thread_x();
        w.when(x.lt(4), || out.store(x + 8, out.first(w).fetch_add(x)));
        w.when(x.lt(4), || out.at(x + 20).store(out.at(x - x + 1).fetch_add(x * 2)));
        w.when(x.eq(0), || {
            out.store(x + 16, out.first(w).exchange(70));
            out.store(x + 17, out.first(w).compare_exchange(70, 71));
            out.store(x + 18, out.first(w).compare_exchange(70, 72));
            out.first(w).offset(2).or(5);
            out.first(w).offset(2).xor(4);
            out.first(w).offset(3).store(9);
            out.store(x + 19, out.first(w).offset(3).fetch_min(3));
            out.store(x + 24, out.first(w).offset(3).fetch_min(5));
        });
    });
    assert_eq!(run.result[..4], [71, 12, 1, 3]);
    assert_eq!(run.result[8..12], [0, 0, 1, 3], "lanes take their turns lowest first");
    assert_eq!(run.result[20..24], [0, 0, 2, 6]);
    assert_eq!(run.result[16..20], [6, 70, 71, 9]);
    assert_eq!(run.result[24], 3);
    let executed = run.warp(0);
    assert_eq!(
        (masks(&executed, Kind::Atomic).len(), masks(&executed, Kind::Reduction).len()),
        (7, 2)
    );
    let at_l2 = |(i, _): &(Instruction, Record)| i.cache_op == CacheOp::StrongGpu;
    assert!(
        executed
            .iter()
            .filter(|(i, _)| matches!(i.kind, Kind::Atomic | Kind::Reduction))
            .all(at_l2)
    );
}

#[test]
fn an_atomic_is_awaited_at_the_use_of_its_result() {
    let run = run_cta(32, async |w, out| {
        let x = w.thread_x();
        let old = out.first(w).fetch_add(1);
        out.store(old, x);
    });
    let executed = run.warp(0);
    assert_eq!((executed[0].0.kind, executed[0].0.use_distance), (Kind::Atomic, Some(0)));
}

#[test]
fn each_lane_runs_one_of_two_bodies() {
    let run = run_cta(32, async |w, out| {
        let x = w.thread_x();
        w.when_else(x.lt(10), || out.store(x, 1), || out.store(x, 2));
        out.at(x).add(10);
    });
    assert_eq!(run.result, lanes(|x| if x < 10 { 11 } else { 12 }));
    let executed = run.warp(0);
    assert_eq!(masks(&executed, Kind::Store), [0x3ff, !0x3ff]);
    assert_eq!(masks(&executed, Kind::Reduction), [ALL]);
    // Convergence barrier, branch to the second body, branch around it, reconvergence.
    assert_eq!(count(&executed, OpClass::Control), 4);
}

#[test]
fn lanes_that_exit_in_one_body_do_not_enter_the_other() {
    let run = run_cta(32, async |w, out| {
        let x = w.thread_x();
        w.when_else(x.lt(10), || w.exit_unless(x.lt(5)), || out.store(x, 2));
        out.at(x).add(10);
    });
    assert_eq!(run.result, lanes(|x| [10, 0, 12][usize::from(x >= 5) + usize::from(x >= 10)]));
}

#[test]
fn a_while_loop_tests_before_every_iteration() {
    let run = run_cta(32, async |w, out| {
        let (x, left) = (w.thread_x(), w.var(w.thread_x() & 3));
        w.while_loop(
            || left.get().ne(0),
            || {
                out.at(x).add(1);
                left.set(left.get() - 1);
            },
        );
    });
    assert_eq!(run.result, lanes(|x| x & 3));
    assert_eq!(masks(&run.warp(0), Kind::Reduction), [0xeeee_eeee, 0xcccc_cccc, 0x8888_8888]);
}

#[test]
fn a_range_may_step_by_a_value() {
    let run = run_cta(32, async |w, out| {
        let x = w.thread_x();
        w.range(0, 12, x + 1, |_| out.at(x).add(1));
    });
    assert_eq!(run.result, lanes(|x| 12u32.div_ceil(x + 1)));
}

#[test]
fn warps_iterate_loops_with_barriers_together() {
    let run = run_cta(64, async |w, out| {
        let (x, tile) = (w.thread_x(), w.shared::<u32>(64));
        w.range_in_step(0, 3, 1, async |_| {
            tile.at(x).store(out.load(x) + 1);
            w.barrier().await;
            out.store(x, tile.at((x + 32) & 63).load());
            w.barrier().await;
        })
        .await;
        w.when_in_step(x.ge(0), async || w.barrier().await).await;
    });
    assert_eq!(run.result, [3; 64]);
    assert_eq!(masks(&run.warp(1), Kind::Barrier).len(), 7);
}

#[test]
fn thread_and_block_indices_are_correct() {
    let run = run(|gpu| {
        let seen: Array<u32> = gpu.zeros(2 * 3 * 2 * 2);
        let launch = Launch { grid: [2, 2, 1], block: [2, 3, 1], ..grid_of("test", 0, 0, 8) };
        gpu.launch(&launch, async |w: &Warp| {
            let thread = w.thread_y().mad(2, w.thread_x());
            let cta = w.block_y().mad(w.grid_width(), w.block_x());
            let place = w.global_y().mad(100, w.global_x()).mad(100, w.lane());
            seen.store(cta.mad(6, thread), place);
        })?;
        Ok(gpu.download(seen))
    });
    for (index, &place) in run.result.iter().enumerate() {
        let (cta, thread) = (index / 6, index % 6);
        let (x, y) = (cta % 2 * 2 + thread % 2, cta / 2 * 3 + thread / 2);
        assert_eq!(place as usize, (y * 100 + x) * 100 + thread, "{index}");
    }
}

#[test]
fn threads_are_numbered_along_x_then_y_then_z() {
    let run = run(|gpu| {
        let seen: Array<u32> = gpu.zeros(2 * 3 * 4);
        let launch = Launch { block: [2, 3, 4], ..grid_of("test", 1, 0, 8) };
        gpu.launch(&launch, async |w: &Warp| {
            let thread = w.thread_z().mad(3, w.thread_y()).mad(2, w.thread_x());
            seen.store(thread, w.lane());
        })?;
        Ok(gpu.download(seen))
    });
    assert_eq!(run.result, (0..24).collect::<Vec<u32>>());
}

#[test]
fn loads_carry_their_cache_operator_and_shared_arrays_their_base() {
    let run = run_cta(32, async |w, out| {
        let (_first, second) = (w.shared::<u32>(3), w.shared::<u32>(4));
        second.first(w).offset(1).store(9);
        let x = w.thread_x();
        let value = out.at(x).load_as(CacheOp::ReadOnly) + second.at(x - x + 1).load();
        out.store(x, value);
    });
    assert_eq!(run.result, [9; 32]);
    let executed = run.warp(0);
    let ops: Vec<_> = executed
        .iter()
        .take(3)
        .map(|(i, r)| (i.space, i.cache_op, r.active_addresses()[0]))
        .collect();
    assert_eq!(ops[0], (Space::Shared, CacheOp::Default, 16 + 4));
    assert_eq!((ops[1].0, ops[1].1), (Space::Global, CacheOp::ReadOnly));
    assert_eq!(ops[2], (Space::Shared, CacheOp::Default, 16 + 4));
}

#[test]
fn pointer_offsets_and_casts_issue_no_instructions() {
    let run = run_cta(32, async |w, out| {
        let x = w.thread_x();
        let own = out.at(x);
        own.store(x);
        w.when(x.ge(1), || own.store(own.before(1).load()));
        w.when(x.lt(8), || own.cast::<f32>().store(1.0));
    });
    let expected = |x: u32| if x < 8 { 1f32.to_bits() } else { x - 1 };
    assert_eq!(run.result, lanes(expected));
    let executed = run.warp(0);
    let between = |kind| executed.iter().find(|(i, _)| i.kind == kind).unwrap().0.compute.len();
    // Compare, convergence barrier, branch; no instruction for the address.
    assert_eq!(between(Kind::Load), 3);
}

#[test]
fn pointer_selection_is_one_instruction() {
    let run = run_cta(32, async |w, out| {
        let (x, tile) = (w.thread_x(), w.shared::<u32>(32));
        let own = tile.at(x);
        own.store(x);
        let left = Pointer::select(x.eq(0), own.offset(31), own.before(1));
        out.store(x, left.load());
    });
    assert_eq!(run.result, lanes(|x| (x + 31) % 32));
    let executed = run.warp(0);
    let load = executed.iter().find(|(i, _)| i.kind == Kind::Load).unwrap();
    let classes: Vec<OpClass> = load.0.compute.iter().map(|compute| compute.class).collect();
    assert_eq!(classes, [OpClass::Integer; 2], "the comparison and the selection");
}

#[test]
fn predicated_bodies_run_for_selected_lanes_without_a_branch() {
    let run = run_cta(32, async |w, out| {
        let x = w.thread_x();
        let (value, kept) = (w.var(7), x + 1);
        w.predicated(x.lt(8), || value.set(kept));
        w.predicated(x.lt(0), || out.store(x, 99));
        let loaded = w.predicated(x.ge(4), || out.load(x));
        w.predicated(x.ge(4), || value.set(loaded + &value + 2));
        out.store(x, &value);
    });
    let expected = |x: u32| if x < 8 { x + 1 } else { 7 };
    assert_eq!(run.result, lanes(|x| expected(x) + 2 * u32::from(x >= 4)));
    let executed = run.warp(0);
    assert_eq!(masks(&executed, Kind::Load), [ALL << 4]);
    assert_eq!(masks(&executed, Kind::Store), [ALL]);
    assert_eq!(count(&executed, OpClass::Control), 0);
}

#[test]
fn bits_of_floats_are_read_without_an_instruction() {
    for class in [OpClass::Integer, OpClass::Fp32] {
        assert_eq!(unary(class, |x| x.as_f32().as_u32()), (lanes(|x| x), 0));
    }
}
