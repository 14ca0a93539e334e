//! Operations of barriers in shared memory.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mbarrier {
    Init,
    Invalidate,
    /// d = state; the source is the count, 1 by default, or the bytes to expect
    Arrive(Arrival),
    /// `Arrive` that also lowers the expected count of later phases by one.
    ArriveDrop(Arrival),
    /// `mbarrier.expect_tx` and `.complete_tx`: bytes of asynchronous copies.
    ExpectBytes,
    CompleteBytes,
    /// p = whether the phase of this state, or of this parity, is complete
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
    /// `.noComplete`: must not complete the phase.
    NoComplete,
    /// `.expect_tx`: first expects bytes.
    ExpectBytes,
}
