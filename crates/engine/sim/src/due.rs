//! A request and a time.

use crate::{RequestId, Ticks};

/// A request, and the time from which it may go on.
///
/// In 12 bytes, not in 16: what is in the queues and delays of a large machine has left the host's
/// caches before its time comes, and has to be fetched again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, packed(4))]
pub struct Due {
    pub at: Ticks,
    pub request: RequestId,
}

const _: () = assert!(size_of::<Due>() == 12);
