//! The operations of barriers in shared memory.

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arrival {
    Plain,
    /// `.noComplete`: it must not complete the phase.
    NoComplete,
    /// `.expect_tx`: bytes are expected first.
    ExpectBytes,
}
