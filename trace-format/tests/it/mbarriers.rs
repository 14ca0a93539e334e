//! Mbarriers: rules of the writer, and records of the assembler.

use crate::common::{one_warp, plain, verdict};
use warpmem_trace::*;

fn taken(kind: Kind, space: Space, mbarrier: Mbarrier) -> bool {
    verdict(&Instruction { mbarrier: Some(mbarrier), ..plain(kind, space, 8) }).is_ok()
}

#[test]
fn mbarrier_operations_require_matching_accesses() {
    use Kind::{AsyncCopy, Atomic, Load, Reduction, Store};
    use Space::{Cluster, Global, Shared};
    let init = Mbarrier::Init { arrivals: 1 };
    let arrive = Mbarrier::Arrive { arrivals: 1, bytes: 0 };
    let drop = Mbarrier::ArriveAndDrop { arrivals: 1, bytes: 0 };
    let after = Mbarrier::ArriveAfterCopies { increments: false };
    let wait = Mbarrier::Wait { parity: false };
    let signal = Mbarrier::Signal { offset: 0 };
    let accesses = |operation| -> Vec<(Kind, Space)> {
        let kinds = [Load, Store, Atomic, Reduction, AsyncCopy];
        let all = kinds.into_iter().flat_map(|kind| [Global, Shared, Cluster].map(|s| (kind, s)));
        all.filter(|&(kind, space)| taken(kind, space, operation)).collect()
    };
    assert_eq!(accesses(init), [(Store, Shared)]);
    assert_eq!(accesses(wait), [(Load, Shared)]);
    assert_eq!(accesses(after), [(Atomic, Shared), (Reduction, Shared)]);
    for operation in [arrive, drop] {
        let both = [(Atomic, Shared), (Atomic, Cluster), (Reduction, Shared), (Reduction, Cluster)];
        assert_eq!(accesses(operation), both, "{operation:?}");
    }
    let signalling =
        [(Store, Cluster), (Reduction, Cluster), (AsyncCopy, Global), (AsyncCopy, Cluster)];
    assert_eq!(accesses(signal), signalling);
}

#[test]
fn the_assembler_keeps_mbarrier_operations() {
    let trace = one_warp(|assembler| {
        let cache_op = CacheOp::Default;
        let op = MemoryOp { kind: Kind::Load, space: Space::Shared, width: 8, cache_op };
        let none = Registers::new(&[], &[]);
        for parity in [false, true, true] {
            assembler.memory(16, op, 1, none, &[64]);
            assembler.with_mbarrier(Mbarrier::Wait { parity });
        }
        assembler.memory(16, op, 1, none, &[64]);
    });
    let dictionary = trace.instructions(0).unwrap();
    let found: Vec<_> = dictionary.iter().map(|one| one.mbarrier).collect();
    let wait = |parity| Some(Mbarrier::Wait { parity });
    assert_eq!(found, [wait(false), wait(true), None]);
}
