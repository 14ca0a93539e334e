//! Barriers: rules of the writer, and records of the assembler.

use crate::common::{one_warp, plain, verdict};
use warpmem_trace::*;

/// Returns the writer's verdict on an instruction without addresses.
fn verdict_on(kind: Kind, barrier: Option<Barrier>) -> Result<(), String> {
    verdict(&Instruction { pc: 32, barrier, ..plain(kind, Space::None, 0) })
}

#[test]
fn only_barrier_kinds_name_a_barrier_and_arrivals_name_a_warp_count() {
    let (of_cta, of_warps) = (Some(Barrier::of_cta(3)), Some(Barrier::of_warps(3, 4)));
    assert_eq!(verdict_on(Kind::Barrier, of_cta), Ok(()));
    assert_eq!(verdict_on(Kind::Barrier, of_warps), Ok(()));
    assert_eq!(verdict_on(Kind::BarrierArrive, of_warps), Ok(()));
    assert_eq!(verdict_on(Kind::Fence, None), Ok(()));
    for (kind, barrier, reason) in [
        (Kind::Barrier, None, "Barrier at pc 0x20 without a barrier"),
        (Kind::BarrierArrive, None, "BarrierArrive at pc 0x20 without a barrier"),
        (Kind::BarrierArrive, of_cta, "BarrierArrive at pc 0x20 at barrier 3 for all warps"),
        (Kind::Fence, of_cta, "Fence at pc 0x20 at barrier 3 for all warps"),
        (Kind::Fence, of_warps, "Fence at pc 0x20 at barrier 3 for 4 warps"),
    ] {
        assert!(verdict_on(kind, barrier).unwrap_err().contains(reason), "{kind:?} {barrier:?}");
    }
    for kind in [Kind::Barrier, Kind::BarrierArrive] {
        let error = verdict_on(kind, Some(Barrier::of_warps(3, 0))).unwrap_err();
        assert!(error.contains("at barrier 3 for 0 warps"), "{error}");
    }
}

#[test]
fn the_assembler_keeps_barriers_and_arrivals() {
    let barriers = [Barrier::of_cta(0), Barrier::of_cta(1), Barrier::of_warps(1, 2)];
    let trace = one_warp(|assembler| {
        barriers.iter().for_each(|&barrier| assembler.barrier(16, barrier, 0xff));
        assembler.barrier_arrive(16, Barrier::of_warps(1, 2), 0xf);
    });
    let dictionary = trace.instructions(0).unwrap();
    let found: Vec<_> = dictionary.iter().map(|one| (one.kind, one.barrier)).collect();
    let [first, second, third] = barriers.map(|barrier| (Kind::Barrier, Some(barrier)));
    let arrival = (Kind::BarrierArrive, Some(Barrier::of_warps(1, 2)));
    assert_eq!(found, [first, second, third, arrival]);
    assert_eq!(trace.kernels()[0].warp_instructions, 4);
    assert_eq!(trace.kernels()[0].thread_instructions, 3 * 8 + 4);
}
