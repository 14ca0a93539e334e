//! Barriers in shared memory, and the copies that arrive at them.

use crate::op::AtomicOp;
use crate::types::Type;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mbarrier {
    Init,
    Invalidate,
    /// d = state; the source is the count, 1 without it, or the bytes to expect
    Arrive(Arrival),
    /// As `Arrive`, and one less is expected from the next phase on.
    ArriveDrop(Arrival),
    /// `mbarrier.expect_tx` and `.complete_tx`: bytes of asynchronous copies
    ExpectBytes,
    CompleteBytes,
    /// p = phase of this state, or of this parity, has completed
    TestWait {
        parity: bool,
    },
    TryWait {
        parity: bool,
    },
    PendingCount,
    /// `cp.async.mbarrier.arrive`
    AsyncArrive {
        increments: bool,
    },
}

/// `cp.async.bulk`, `cp.reduce.async.bulk`: one thread moves many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bulk {
    /// From global to shared memory: to, from, bytes, mbarrier at which the bytes complete.
    Load,
    /// From shared to global memory: to, from, bytes.
    Store,
    /// Combines global with shared memory, element by element: to, from, bytes.
    Reduce { op: AtomicOp, ty: Type },
    /// From global memory to L2: from, bytes.
    Prefetch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arrival {
    Plain,
    /// `.noComplete`: it must not complete the phase.
    NoComplete,
    /// `.expect_tx`: bytes are expected first.
    ExpectBytes,
}
