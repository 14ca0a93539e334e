//! State that the schedulers of all channels share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Access to state that the schedulers of several channels share. It is seen and changed in the order
/// in which the channels are stepped, so that its family says [`Family::share_state`] and one thread
/// steps them all; no scheduler ever waits for another.
///
/// [`Family::share_state`]: super::Family::share_state
pub(super) struct Shared<T>(Arc<Mutex<T>>);

impl<T> Shared<T> {
    pub fn new(state: T) -> Shared<T> {
        Shared(Arc::new(Mutex::new(state)))
    }

    /// The state, until the guard is dropped, which must be before the next call.
    #[inline]
    pub fn get(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Shared<T> {
        Shared(Arc::clone(&self.0))
    }
}
