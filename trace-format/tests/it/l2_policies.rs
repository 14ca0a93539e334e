//! L2 policies: rules of the writer, and records of the assembler.

use crate::common::{one_warp, plain, verdict};
use warpmem_trace::*;

#[test]
fn only_global_accesses_have_an_l2_policy() {
    let verdict_on = |kind, space, sixteenths| {
        let policy = L2Policy { sixteenths, ..L2Policy::of_all(Eviction::Last) };
        let width = if space == Space::None { 0 } else { 4 };
        verdict(&Instruction { l2_policy: Some(policy), ..plain(kind, space, width) })
    };
    for kind in [Kind::Load, Kind::Store, Kind::Atomic, Kind::Prefetch, Kind::AsyncCopy] {
        assert_eq!(verdict_on(kind, Space::Global, 1), Ok(()));
    }
    for sixteenths in [0, 17] {
        let error = verdict_on(Kind::Load, Space::Global, sixteenths).unwrap_err();
        let reason = format!("with a policy for {sixteenths} sixteenths of L2");
        assert!(error.contains(&reason), "{error}");
    }
    for (kind, space) in [(Kind::Load, Space::Shared), (Kind::Fence, Space::None)] {
        let error = verdict_on(kind, space, 16).unwrap_err();
        assert!(error.contains("with a policy for lines of L2"), "{error}");
    }
}

#[test]
fn the_assembler_keeps_l2_policies() {
    let policies = [Eviction::First, Eviction::Last].map(L2Policy::of_all);
    let trace = one_warp(|assembler| {
        let cache_op = CacheOp::Default;
        let op = MemoryOp { kind: Kind::Load, space: Space::Global, width: 4, cache_op };
        for policy in policies {
            assembler.memory(16, op, 1, Registers::new(&[], &[]), &[64]);
            assembler.with_l2_policy(policy);
        }
        assembler.memory(16, op, 1, Registers::new(&[], &[]), &[64]);
    });
    let dictionary = trace.instructions(0).unwrap();
    let found: Vec<_> = dictionary.iter().map(|one| one.l2_policy).collect();
    assert_eq!(found, [Some(policies[0]), Some(policies[1]), None]);
}
