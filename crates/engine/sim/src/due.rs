//! A request with a time.

use crate::{RequestId, Ticks};

/// A request and the time at which it becomes due.
///
/// In 12 bytes instead of 16: the queues and delay lines of a large machine exceed the host's
/// caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, packed(4))]
pub struct Due {
    pub at: Ticks,
    pub request: RequestId,
}

const _: () = assert!(size_of::<Due>() == 12);
